//! Every body as it goes out: status, media type, retry time, JSON.

use std::time::Duration;

use insta::assert_snapshot;
use tidegate_wire::play::{Kept, Lost, NotYet, Relay, Renewed, Seated, State, WaitEstimate};
use tidegate_wire::seats::{Heartbeat, Heartbeats, Kicked, Seat, SeatList, Stats, Viewers};
use tidegate_wire::streams::{Created, IngestToken, Stream, Streams};
use tidegate_wire::tenant::{Limits, Tenant, Used, sessions_warning};
use tidegate_wire::{Code, Problem, Reply, retry_after_s};

/// One answer as text: `STATUS media [Retry-After]` and the body.
fn sent(reply: &impl Reply) -> String {
    let retry = reply.retry_after_ms().map(|ms| format!(" Retry-After: {}", retry_after_s(ms))).unwrap_or_default();
    let body = serde_json::to_string(reply).expect("bodies serialise");
    format!("{} {}{retry}\n{body}", reply.status(), reply.media().as_str())
}

const SEAT: &str = "a6Zc1nPzQ0uW4xYb2kLm9A";

fn relay(cert: Option<&str>) -> Relay {
    Relay {
        id: "eu-1".into(),
        url: "https://eu-1.example:4443".into(),
        hls_url: "https://eu-1.example/hls".into(),
        region: "eu-west".into(),
        cert_sha256: cert.map(Into::into),
        full: false,
    }
}

#[test]
fn s2_in() {
    let answer = |lost, relays| Seated::In {
        seat: SEAT.into(),
        token: "head.body.sig".into(),
        token_expires_s: 120,
        heartbeat_s: 5,
        relays,
        lost,
    };
    assert_snapshot!("in", sent(&answer(None, vec![])));
    assert_snapshot!("in_lost", sent(&answer(Some(Lost::Expired), vec![relay(None), relay(Some("ab01"))])));
}

#[test]
fn s3_wait() {
    assert_snapshot!("wait", sent(&NotYet::wait(SEAT.into(), 1, Duration::from_millis(2000), None)));
    let spread = NotYet::wait(SEAT.into(), 7, Duration::from_micros(1_987_100), Some(Lost::Unknown));
    assert_snapshot!("wait_lost", sent(&spread));
    let measured = NotYet::Wait {
        seat: SEAT.into(),
        position: 7,
        retry_after_ms: 2000,
        wait_s: Some(WaitEstimate { low: 40, high: 95 }),
        lost: None,
    };
    assert_snapshot!("wait_estimate", sent(&measured));
}

#[test]
fn s4_full() {
    assert_snapshot!("full", sent(&NotYet::full(Duration::from_secs(30), None)));
    assert_snapshot!("full_lost", sent(&NotYet::full(Duration::from_secs(30), Some(Lost::Left))));
}

#[test]
fn s5_offer() {
    let offer = |left_ms| NotYet::offer(SEAT.into(), Duration::from_millis(left_ms), Duration::from_secs(2));
    assert_snapshot!("offer", sent(&offer(10_000)));
    assert_snapshot!("offer_begun", sent(&offer(9_200)));
}

#[test]
fn s18_s20_page_answers() {
    assert_snapshot!("kept", sent(&Kept::until(Duration::from_secs(5))));
    let renewed = Renewed { token: "head.body.sig".into(), token_expires_s: 120, relays: vec![relay(None)] };
    assert_snapshot!("renewed", sent(&renewed));
}

#[test]
fn s18_s21_s22_seats() {
    let heartbeats = Heartbeats {
        seats: vec![
            Heartbeat::kept(SEAT.into(), Duration::from_secs(20)),
            Heartbeat::lost("nonsense".into(), Code::SeatGone),
        ],
    };
    assert_snapshot!("heartbeats", sent(&heartbeats));
    assert_snapshot!("kicked", sent(&Kicked { seat: Some(SEAT.into()) }));
    assert_snapshot!("kicked_nobody", sent(&Kicked { seat: None }));
    let stats = Stats {
        viewers: Viewers { cap: 2, hls: 0, peak: 2, queue_max: 1, queued: 1, seats: 2 },
        seats_with_tokens: 2,
        turns: 0,
        ingest_token_at: None,
    };
    assert_snapshot!("stats", sent(&stats));
    let seat = Seat { id: SEAT.into(), viewer: None, since: 1_800_000_000, hidden: true, hls: false };
    let list = SeatList { seats: vec![seat], next_cursor: Some("17".into()) };
    assert_snapshot!("seat_list", sent(&list));
}

#[test]
fn s24_s25_streams() {
    let stream = Stream {
        id: "q3k9".into(),
        name: "launch".into(),
        viewer_cap: 500,
        queue_max: 1000,
        public: true,
        region: Some("eu-west".into()),
        estimate: false,
        created_at: 1_800_000_000,
        ended_at: None,
        ingest_token_at: Some(1_800_000_100),
        peak: 12,
    };
    assert_snapshot!("stream", sent(&stream));
    assert_snapshot!("stream_created", sent(&Created(stream.clone())));
    assert_snapshot!("streams", sent(&Streams { streams: vec![stream] }));
    let token =
        IngestToken { token: "head.body.sig".into(), token_expires_s: 3600, ingest_token_at: Some(1_800_000_100) };
    assert_snapshot!("ingest_token", sent(&token));
}

#[test]
fn s23_tenant() {
    let tenant = |max_sessions| Tenant {
        id: "acme".into(),
        name: "Acme".into(),
        limits: Limits { viewer_cap: 200, max_sessions, publishers: 20 },
        used: Used { viewer_cap: 3, max_sessions: None, publishers: None },
        warning: sessions_warning(200, 20, max_sessions),
    };
    assert_snapshot!("tenant", sent(&tenant(420)));
    assert_snapshot!("tenant_warning", sent(&tenant(300)));
}

#[test]
fn s25_problems() {
    let plain = Problem::new(Code::StreamNotFound, "no stream `x`");
    assert_snapshot!("problem", sent(&plain));
    let limited = Problem::new(Code::RateLimited, "too many requests from this address");
    assert_snapshot!("problem_retry", sent(&limited.retry(Duration::from_millis(1001))));
    assert_snapshot!("problem_field", sent(&Problem::of_field(Code::BadNonce, "nonce", "16 to 200 characters")));
    let at_the_tenants_cap = Problem {
        state: Some(State::Full),
        lost: Some(Lost::Unknown),
        ..Problem::new(Code::TenantViewerCap, "the tenant's seats are all taken").retry(Duration::from_secs(30))
    };
    assert_snapshot!("problem_full", sent(&at_the_tenants_cap));
    let kept = Problem { seat: Some(SEAT.into()), ..Problem::new(Code::SpendCapReached, "the place is kept") };
    assert_snapshot!("problem_seat", sent(&kept));
}

#[test]
fn s25_the_table_of_codes() {
    let rows: Vec<String> = Code::ALL
        .iter()
        .map(|code| {
            let retries = if code.carries_retry() { " (retry)" } else { "" };
            format!("{} {}{retries}: {}", code.status(), code.as_str(), code.title())
        })
        .collect();
    assert_snapshot!("codes", rows.join("\n"));
    let distinct: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(distinct.len(), Code::ALL.len());
}
