//! S14: the deployment's places, over streams and tenants, through every way a call can fail.

use std::sync::Arc;

use tidegate_seats::{SettingsRefusal, TenantId};
use tidegate_store::{Catalogue, CatalogueError, EmbeddedSettings};

use crate::support::*;

async fn with_places(max_places: u64) -> Fixture {
    Fixture::with(EmbeddedSettings { max_places, ..Default::default() }).await
}

#[tokio::test]
async fn s14_creation_takes_places_and_ending_or_deleting_gives_them_back() {
    let Fixture { store, dir } = with_places(100).await;
    store.open_stream(&acme(), &stream_id("a"), stream_settings(30, 10)).await.unwrap();
    store.open_stream(&acme(), &stream_id("b"), stream_settings(20, 40)).await.unwrap();
    assert_eq!(store.places_used(), 100);
    let full = store.open_stream(&acme(), &stream_id("c"), stream_settings(1, 0)).await.unwrap_err();
    assert_eq!(full, CatalogueError::TooManyPlaces { asked: 1, free: 0, max: 100 });
    store.open_stream(&acme(), &stream_id("c"), stream_settings(0, 0)).await.unwrap();

    store.end_stream(&acme(), &stream_id("a")).await.unwrap();
    assert_eq!(store.places_used(), 60);
    store.end_stream(&acme(), &stream_id("a")).await.unwrap();
    store.delete_stream(&acme(), &stream_id("a")).await.unwrap();
    assert_eq!(store.places_used(), 60, "given back once");
    store.delete_stream(&acme(), &stream_id("b")).await.unwrap();
    assert_eq!(store.places_used(), 0);

    store.open_stream(&acme(), &stream_id("d"), stream_settings(50, 20)).await.unwrap();
    store.close().await.unwrap();
    let back = open(dir.path());
    assert_eq!(back.places_used(), 70);
}

#[tokio::test]
async fn s14_a_change_takes_or_gives_back_the_difference() {
    let Fixture { store, .. } = with_places(100).await;
    let (a, b) = (stream_id("a"), stream_id("b"));
    store.open_stream(&acme(), &a, stream_settings(40, 0)).await.unwrap();
    store.open_stream(&acme(), &b, stream_settings(50, 0)).await.unwrap();
    let full = store.change_stream(&acme(), &a, stream_settings(45, 6)).await.unwrap_err();
    assert_eq!(full, CatalogueError::TooManyPlaces { asked: 11, free: 10, max: 100 });
    store.change_stream(&acme(), &a, stream_settings(45, 5)).await.unwrap();
    assert_eq!(store.places_used(), 100);
    store.change_stream(&acme(), &b, stream_settings(10, 5)).await.unwrap();
    assert_eq!(store.places_used(), 65);

    store.set_max_places(10);
    store.change_stream(&acme(), &a, stream_settings(50, 0)).await.unwrap();
    store.change_stream(&acme(), &a, stream_settings(50, 1)).await.unwrap_err();
    assert_eq!(store.places_used(), 65, "a lowered bound takes nothing away");
}

#[tokio::test]
async fn s14_a_refused_call_takes_no_places() {
    let Fixture { store, .. } = with_places(10_000).await;
    let id = stream_id("a");
    let over = store.open_stream(&acme(), &id, stream_settings(5_001, 0)).await.unwrap_err();
    assert_eq!(over, CatalogueError::Settings(SettingsRefusal::OverTenantCap { limit: 5_000 }));
    let both = store.open_stream(&acme(), &id, stream_settings(20_000, 0)).await.unwrap_err();
    assert_eq!(both.to_string(), "viewer_cap: at most 5000, this tenant's viewer cap");
    let nobody = TenantId::parse("nobody").unwrap();
    let none = store.open_stream(&nobody, &id, stream_settings(1, 0)).await.unwrap_err();
    assert_eq!(none, CatalogueError::TenantNotFound);
    assert_eq!(store.places_used(), 0);

    store.open_stream(&acme(), &id, stream_settings(10, 0)).await.unwrap();
    assert_eq!(store.open_stream(&acme(), &id, stream_settings(10, 0)).await.unwrap_err(), CatalogueError::IdTaken);
    store.change_stream(&acme(), &id, stream_settings(5_001, 0)).await.unwrap_err();
    assert_eq!(store.places_used(), 10);
    store.end_stream(&acme(), &id).await.unwrap();
    let ended = store.change_stream(&acme(), &id, stream_settings(9_000, 9_000)).await.unwrap_err();
    assert_eq!(ended, CatalogueError::Settings(SettingsRefusal::StreamEnded));
    assert_eq!(store.places_used(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s14_parallel_creations_never_pass_the_bound() {
    let Fixture { store, .. } = with_places(100).await;
    let opened: Vec<_> = (0..50)
        .map(|n| {
            let store = Arc::clone(&store);
            let id = stream_id(&format!("s{n}"));
            tokio::spawn(async move { store.open_stream(&acme(), &id, stream_settings(5, 2)).await.is_ok() })
        })
        .collect();
    let mut made = 0;
    for opened in opened {
        made += u64::from(opened.await.unwrap());
    }
    assert_eq!((made, store.places_used()), (14, 98));
}
