//! Tenants, keys and streams: one id names one thing, and every change is kept.

use tidegate_seats::{SettingsRefusal, TenantId};
use tidegate_store::{Catalogue, CatalogueError, Seats, Tenant, TenantSettings};

use crate::support::*;

fn other() -> TenantId {
    TenantId::parse("other").unwrap()
}

#[tokio::test]
async fn s23_tenants_and_their_settings_are_kept() {
    let Fixture { store, dir } = Fixture::with_stream(2, 0).await;
    let settings = TenantSettings { max_sessions: Some(9), publishers: 3, ..tenant_settings(77) };
    store.add_tenant(&other(), tenant_settings(7), [2; 32]).await.unwrap();
    store.set_tenant(&other(), settings.clone()).await.unwrap();
    seated(&store.ask(&live(), newcomer()).await.unwrap());
    let taken = store.add_tenant(&other(), tenant_settings(7), [3; 32]).await.unwrap_err();
    assert_eq!(taken, CatalogueError::IdTaken);
    let nobody = store.set_tenant(&TenantId::parse("nobody").unwrap(), settings.clone()).await.unwrap_err();
    assert_eq!(nobody, CatalogueError::TenantNotFound);
    store.close().await.unwrap();
    drop(store);

    let back = open(dir.path());
    let expected = [
        Tenant { id: acme(), settings: tenant_settings(5_000), seats_used: 1, keys: 1 },
        Tenant { id: other(), settings, seats_used: 0, keys: 1 },
    ];
    assert_eq!(back.tenants().await, expected);
    assert_eq!(back.tenant(&other()).await.as_ref(), expected.get(1));
}

#[tokio::test]
async fn s12_a_tenants_lowered_cap_holds_for_its_next_stream_also_after_a_restart() {
    let Fixture { store, dir } = Fixture::new().await;
    store.set_tenant(&acme(), tenant_settings(10)).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let back = open(dir.path());
    let over = back.open_stream(&acme(), &live(), stream_settings(11, 0)).await.unwrap_err();
    assert_eq!(over, CatalogueError::Settings(SettingsRefusal::OverTenantCap { limit: 10 }));
}

#[tokio::test]
async fn o1_keys_open_their_tenant_until_they_are_replaced() {
    let Fixture { store, dir } = Fixture::new().await;
    store.add_tenant(&other(), tenant_settings(7), [2; 32]).await.unwrap();
    store.add_key(&acme(), [3; 32], false).await.unwrap();
    store.add_key(&acme(), [3; 32], false).await.unwrap();
    assert_eq!(store.tenant(&acme()).await.unwrap().keys, 2);
    assert_eq!(store.tenant_of_key(&[1; 32]).await, Some(acme()));
    assert_eq!(store.tenant_of_key(&[3; 32]).await, Some(acme()));
    assert_eq!(store.add_key(&other(), [3; 32], true).await.unwrap_err(), CatalogueError::KeyTaken);
    let stolen = store.add_tenant(&TenantId::parse("third").unwrap(), tenant_settings(7), [3; 32]).await;
    assert_eq!(stolen.unwrap_err(), CatalogueError::KeyTaken);

    store.add_key(&acme(), [4; 32], true).await.unwrap();
    store.close().await.unwrap();
    for store in [store, open(dir.path())] {
        let mut owners = Vec::new();
        for key in 1..=4 {
            owners.push(store.tenant_of_key(&[key; 32]).await);
        }
        assert_eq!(owners, [None, Some(other()), None, Some(acme())]);
        assert_eq!(store.tenant(&acme()).await.unwrap().keys, 1);
    }
}

#[tokio::test]
async fn s25_streams_are_listed_by_creation_and_belong_to_one_tenant() {
    let Fixture { store, dir } = Fixture::new().await;
    store.add_tenant(&other(), tenant_settings(7), [2; 32]).await.unwrap();
    let (one, two) = (stream_id("one"), stream_id("two"));
    let made = store.open_stream(&acme(), &one, stream_settings(1, 2)).await.unwrap();
    assert_eq!((made.ended_at, made.ingest_token_at, made.peak), (None, None, 0));
    store.open_stream(&acme(), &two, stream_settings(3, 4)).await.unwrap();
    let taken = store.open_stream(&other(), &one, stream_settings(1, 0)).await.unwrap_err();
    assert_eq!(taken, CatalogueError::IdTaken);

    // Another tenant's stream is as unknown as none.
    let hidden = CatalogueError::Settings(SettingsRefusal::StreamNotFound);
    assert_eq!(store.stream(&other(), &one).await, None);
    assert_eq!(store.end_stream(&other(), &one).await.unwrap_err(), hidden);
    assert_eq!(store.delete_stream(&other(), &one).await.unwrap_err(), hidden);
    assert_eq!(store.note_ingest_token(&other(), &one).await.unwrap_err(), hidden);
    assert_eq!(store.change_stream(&other(), &one, stream_settings(1, 0)).await.unwrap_err(), hidden);

    let noted = store.note_ingest_token(&acme(), &one).await.unwrap();
    assert!(noted.ingest_token_at.is_some());
    let region = Some("eu".to_owned());
    let settings = tidegate_seats::StreamSettings { public: false, region, estimate: true, ..stream_settings(2, 2) };
    let changed = store.change_stream(&acme(), &two, settings.clone()).await.unwrap();
    assert_eq!(changed.settings, settings);
    let ended = store.end_stream(&acme(), &one).await.unwrap();
    assert!(ended.ended_at.is_some());
    let listed = store.streams(&acme()).await;
    assert_eq!(listed, [ended, changed]);
    store.close().await.unwrap();
    assert_eq!(open(dir.path()).streams(&acme()).await, listed);
}

#[tokio::test]
async fn s25_a_deleted_streams_id_may_be_used_again_and_inherits_nothing() {
    let fixture = Fixture::with_stream(1, 1).await;
    let store = &fixture.store;
    let seat = seated(&fixture.ask(newcomer()).await);
    let (place, _) = waiting(&fixture.ask(newcomer()).await);
    store.leave(&live(), place).await.unwrap();
    store.delete_stream(&acme(), &live()).await.unwrap();
    assert_eq!(store.tenant_of(&live()).await, None);
    assert_eq!(store.stream(&acme(), &live()).await, None);
    store.open_stream(&acme(), &live(), stream_settings(1, 0)).await.unwrap();

    let image = fixture.crash_image();
    let back = open(image.path());
    let stats = back.stats(&live()).await.unwrap();
    assert_eq!((stats.seats, stats.queued, stats.peak), (0, 0, 0));
    let answer = back.ask(&live(), again(seat)).await.unwrap();
    assert!(matches!(answer, tidegate_seats::Answer::In { lost: Some(tidegate_seats::Lost::Unknown), .. }));
}
