//! E1, E2, E3, E4, O9: who is let in, and whose session ends.

use std::time::Duration;

use tidegate_relay::{RelaySettings, Removal};
use tidegate_token::{KeySet, Role, Seed};

use crate::stage::{FRESH, Says, Stage, Way, closed, token_of};

const UNAUTHORIZED: u32 = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_no_valid_token_no_session() {
    let stage = Stage::new();
    let stranger = KeySet::generate(Seed([8; 32]), 0);
    let expired = Says { life_s: -1, ..FRESH };
    let viewer = stage.viewer("a");
    // In the middle of the signature: its last characters may stand for the same bytes.
    let (signed, signature) = viewer.rsplit_once('.').unwrap();
    let other = if signature.as_bytes()[40] == b'A' { "B" } else { "A" };
    let tampered = format!("{signed}.{}{other}{}", &signature[..40], &signature[41..]);
    let cases = [
        ("/launch", "expired", stage.token(Role::Viewer, "launch", "a", expired)),
        ("/launch", "of another stream", stage.token(Role::Viewer, "other", "a", FRESH)),
        ("/launch", "a peer's, at a stream", stage.token(Role::Peer, "launch", "r", FRESH)),
        ("/", "a viewer's, at the root", viewer.clone()),
        ("/", "a publisher's, at the root", stage.publisher()),
        ("/launch", "forged", tampered),
        ("/launch", "no token at all", "x".to_owned()),
        ("/launch", "an empty one", String::new()),
        ("/launch", "as long as a book", "a".repeat(5000)),
        ("/launch/live", "good, of no stream", viewer),
        ("/launch", "of a foreign key", token_of(&stranger, Role::Viewer, "launch", "a", FRESH)),
    ];
    for (path, what, token) in cases {
        let (code, reason) = stage.refusal(Way::Web, path, &token).await;
        assert_eq!(code, UNAUTHORIZED, "{what}: {reason}");
        assert!(reason.starts_with("UNAUTHORIZED ") && !reason.contains("eyJ"), "{what}: {reason}");
    }
    let token = stage.token(Role::Viewer, "other", "a", FRESH);
    assert_eq!(stage.refusal(Way::Raw, "/launch", &token).await.0, UNAUTHORIZED, "raw QUIC is told the same");
    assert_eq!(stage.relay.standing().sessions, 0);
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e2_a_second_session_on_a_token_is_refused_and_the_first_goes_on() {
    let stage = Stage::new();
    let _live = stage.publish().await;
    let token = stage.viewer("a");
    let first = stage.watch(Way::Web, &token).await;
    first.frames(1).await;
    for way in [Way::Web, Way::Raw] {
        assert_eq!(stage.refusal(way, "/launch", &token).await, (0x5747, "TOKEN_IN_USE".to_owned()));
    }
    first.frames(2).await;
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e3_a_tenant_whose_sessions_are_used_up_is_refused() {
    let stage = Stage::new();
    stage.relay.set_shares([("acme".into(), 1)]);
    let _live = stage.publish().await;
    assert_eq!(stage.refusal(Way::Web, "/launch", &stage.viewer("a")).await.1, "scope full");
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e4_t6_a_kick_ends_the_session_and_kills_the_seats_tokens() {
    let stage = Stage::new();
    let _live = stage.publish().await;
    let kicked = stage.watch(Way::Web, &stage.viewer("a")).await;
    let stays = stage.watch(Way::Raw, &stage.viewer("b")).await;
    kicked.frames(1).await;
    stays.frames(1).await;
    stage.relay.remove(Removal::Seat("a".into()), Duration::from_secs(60));
    let told = tokio::time::timeout(Duration::from_secs(2), closed(&kicked.session)).await;
    assert_eq!(told.expect("E4: within 2 s"), (0x5749, "REMOVED".to_owned()));
    let renewed = stage.token(Role::Viewer, "launch", "a", Says { token: 2, ..FRESH });
    assert_eq!(stage.refusal(Way::Web, "/launch", &renewed).await.1, "REMOVED");
    stays.frames(2).await;
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t3_a_renewal_is_a_second_session_of_the_seat_and_a_third_ends_the_first() {
    let stage = Stage::new();
    let _live = stage.publish().await;
    let mut watching = Vec::new();
    for token in 1..=3 {
        let token = stage.token(Role::Viewer, "launch", "a", Says { token, ..FRESH });
        let viewer = stage.watch(Way::Web, &token).await;
        viewer.frames(1).await;
        watching.push(viewer);
    }
    assert_eq!(closed(&watching[0].session).await, (0x574b, "RENEWED".to_owned()));
    watching[1].frames(1).await;
    watching[2].frames(1).await;
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o9_a_stop_tells_every_session() {
    let stage = Stage::new();
    let live = stage.publish().await;
    let viewer = stage.watch(Way::Raw, &stage.viewer("a")).await;
    viewer.frames(1).await;
    stage.stop().await;
    for session in [&live.session, &viewer.session] {
        assert_eq!(closed(session).await, (0x574d, "STOPPING".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_of_one_address_are_bounded() {
    let stage = Stage::with(&RelaySettings { connections_per_address: 1, ..RelaySettings::default() });
    let live = stage.publish().await;
    let endpoint = web_transport_moq::noq::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let connecting = endpoint.connect_with(crate::trust::raw_config(), stage.address, "localhost").unwrap();
    assert!(connecting.await.is_err(), "a second one was taken");
    assert!(live.session.close_reason().is_none());
    stage.stop().await;
}
