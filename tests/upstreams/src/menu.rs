//! The script of a stand-in that nobody scripted: one path for each kind of answer.

use crate::answer::{Answer, Body, Fault, Pieces, Sse};
use crate::date::RetryAfter;
use crate::likeness::Like;
use crate::script::{Rule, Script};
use serde_json::json;

impl Script {
    /// `/echo`, `/mirror`, `/bytes/1kib`, `/bytes/1mib`, `/gzip`, `/cookies`, `/trailers`, `/sse`, `/sse/endless`,
    /// `/ws`, `/late` (200 ms), `/slow`, `/never`, `/close`, `/hang`, `/break`, `/throttled`, `/exhausted`,
    /// `/quota`, `/expired`, `/denied`, `/missing`, `/sorry`, `/captcha`, `/bot`, `/unavailable`; an echo on all
    /// other paths.
    #[must_use]
    pub fn menu() -> Self {
        let rules = dishes()
            .into_iter()
            .map(|(path, answer)| Rule::new(&format!("* {path}"), [answer]).expect("the menu's paths are routes"));
        Self { rules: rules.collect(), ..Self::default() }
    }
}

fn dishes() -> Vec<(&'static str, Answer)> {
    let like = Answer::like;
    let kib = || Answer::body(Body::Bytes(1024));
    let sse = |events| Answer::body(Body::Sse(Sse { events, every_ms: 10 }));
    vec![
        ("/echo", Answer::default()),
        ("/mirror", Answer::body(Body::Mirror)),
        ("/bytes/1kib", kib()),
        ("/bytes/1mib", Answer::body(Body::Bytes(1024 * 1024))),
        ("/gzip", Answer { gzip: true, ..Answer::json(json!({"compressed": true})) }),
        ("/cookies", kib().with_header("set-cookie", "a=1; Path=/").with_header("set-cookie", "b=2; Path=/")),
        ("/trailers", Answer { trailers: vec![("x-checksum".to_owned(), "abc".to_owned())], ..kib() }),
        ("/sse", sse(Some(5))),
        ("/sse/endless", sse(None)),
        ("/ws", Answer::body(Body::WebSocket)),
        ("/late", kib().with_delay_ms(200)),
        ("/slow", Answer { pieces: Some(Pieces { bytes: 128, every_ms: 20 }), ..kib() }),
        ("/never", kib().with_fault(Fault::Never)),
        ("/close", kib().with_fault(Fault::Close)),
        ("/hang", kib().with_fault(Fault::HangAfter(512))),
        ("/break", kib().with_fault(Fault::BreakAfter(512))),
        ("/throttled", like(Like::Throttled).with_retry_after(RetryAfter::Seconds(30))),
        ("/exhausted", like(Like::ResourceExhausted)),
        ("/quota", like(Like::QuotaText)),
        ("/expired", like(Like::InvalidArgument)),
        ("/denied", like(Like::PermissionDenied)),
        ("/missing", like(Like::NotFound)),
        ("/sorry", like(Like::Sorry)),
        ("/captcha", like(Like::Captcha)),
        ("/bot", like(Like::BotCheck)),
        ("/unavailable", like(Like::Unavailable)),
    ]
}
