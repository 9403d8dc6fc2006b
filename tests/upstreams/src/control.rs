//! The control routes: `/_script`, `/_log`, `/_reset`, `/_throttle`, `/_release`. They are not logged.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::body::{Broken, Outgoing};
use crate::log::Log;
use crate::serve::Shared;

pub(crate) async fn answer(shared: &Shared, request: Request<Incoming>) -> Result<Response<Outgoing>, Broken> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, BODY_MAX).collect().await.map_err(|_| Broken)?.to_bytes();
    let done = match (&parts.method, parts.uri.path()) {
        (&Method::GET, "/_script") => Ok(json!(*shared.script())),
        (&Method::POST, "/_script") => parse(&body).map(|script| {
            shared.set_script(script);
            Value::Null
        }),
        (&Method::GET, "/_log") => Ok(log(&shared.journal.log())),
        (&Method::POST, "/_reset") => {
            shared.reset();
            Ok(Value::Null)
        }
        (&Method::POST, "/_throttle") => parse(&body).map(|ForMs { for_ms }| {
            shared.throttle_for(Duration::from_millis(for_ms));
            Value::Null
        }),
        (&Method::POST, "/_release") => parse(&body).map(|Release { latch, calls }| {
            match calls {
                Some(calls) => shared.latches.release_some(&latch, calls),
                None => shared.latches.release(&latch),
            }
            Value::Null
        }),
        _ => Err((404, USAGE.to_owned())),
    };
    let (status, value) = match done {
        Ok(value) => (if value.is_null() { 204 } else { 200 }, value),
        Err((status, detail)) => (status, json!({"status": status, "detail": detail})),
    };
    let text = if value.is_null() { String::new() } else { value.to_string() };
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Outgoing::plain(text)).map_err(|_| Broken)
}

/// The log with what it says about the caller.
fn log(log: &Log) -> Value {
    let statuses = log.by_status().into_iter();
    let statuses = statuses.map(|(status, count)| (status.map_or("none".to_owned(), |code| code.to_string()), count));
    json!({
        "summary": {
            "requests": log.len() as u64 + log.unlogged,
            "by_status": statuses.collect::<BTreeMap<_, _>>(),
            "by_key": log.by_key(),
            "min_gap_ms": log.min_gap().map(|gap| gap.as_secs_f64() * 1000.0),
            "max_in_flight": log.max_in_flight(),
            "jain_by_key": log.jain_by_key(),
            "aftermath": log.aftermath(),
        },
        "entries": log.entries,
        "unlogged": log.unlogged,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForMs {
    for_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    latch: String,
    /// How many calls pass; without it all, for good.
    calls: Option<usize>,
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, (u16, String)> {
    serde_json::from_slice(body).map_err(|error| (400, error.to_string()))
}

const USAGE: &str = "GET or POST /_script, GET /_log, POST /_reset, POST /_throttle {\"for_ms\":N}, \
    POST /_release {\"latch\":\"NAME\",\"calls\":N}";
/// A script with a few large bodies fits.
const BODY_MAX: usize = 16 * 1024 * 1024;
