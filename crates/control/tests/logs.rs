//! O4: what is logged, and what never is. A program of its own: what one test collects, no other may have silenced.
#![expect(clippy::unwrap_used, reason = "tests")]

#[expect(dead_code, reason = "shared with the tests of the API")]
#[path = "api/support.rs"]
mod support;

use std::io;
use std::sync::{Arc, Mutex};

use http::Request;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{House, KEY};

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn o4_state_changes_are_logged_and_no_key_token_or_whole_seat_id_ever_is() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::TRACE);
    let subscriber = subscriber.with_writer(log.clone()).with_ansi(false).finish();
    // For this thread alone, which is the one that runs the server of this test.
    let _while_held = tracing::subscriber::set_default(subscriber);

    let house = House::open().await;
    let stream = house.stream(2, 1).await;
    let seated = house.admit(&stream, json!({"nonce": "a secret nonce of a page"})).await;
    let kicked = house.admit(&stream, json!({})).await.seat();
    house.patch(&stream, json!({"viewer_cap": 1})).await;
    let kick = Request::post(format!("/v1/streams/{stream}/kick"))
        .header("host", "test")
        .header("authorization", format!("Bearer {KEY}"))
        .header("x-request-id", "trace-77")
        .body(json!({"seat": kicked}).to_string());
    assert_eq!(house.request(kick.unwrap()).await.status, 200);
    for call in ["hb", "token", "leave", "hb", "admit"] {
        house.page(&stream, call, json!({"seat": seated.seat(), "token": seated.token()})).await;
    }
    let ingest = house.post(&format!("/v1/streams/{stream}/ingest-token"), json!({})).await;
    house.post(&format!("/v1/streams/{stream}/end"), json!({})).await;

    let text = log.text();
    let line = |what: &str| {
        let line = text.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("no `{what}` in\n{text}"));
        assert!(line.contains(&stream), "{line}");
        line.to_owned()
    };
    for what in ["stream made", "stream changed", "viewer kicked", "publisher's token given", "stream ended"] {
        assert!(line(what).contains(" INFO "), "{what}");
    }
    assert!(line("viewer kicked").contains("trace-77"));
    assert!(line("viewer kicked").contains(&kicked[..6]));
    for secret in [KEY, "a secret nonce", &seated.seat(), &kicked, &seated.token(), &ingest.token()] {
        assert!(!text.contains(secret), "a secret is in the log");
    }
}
