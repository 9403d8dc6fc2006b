//! One request's way: arrival, decision, body, wait, answer.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Request, Response};
use http_body_util::{BodyExt, Collected, Limited};
use hyper::body::Incoming;
use tokio::time::sleep;

use crate::answer::{Answer, Body, Fault, Sse, pattern};
use crate::body::{Broken, Outgoing, Paced};
use crate::control;
use crate::date::imf_date;
use crate::desk::Decision;
use crate::echo::{authority, echo};
use crate::journal::Flight;
use crate::serve::{Connection, Shared};
use crate::websocket;

/// Answers a request, or breaks its connection off.
pub(crate) async fn respond(
    shared: Arc<Shared>,
    connection: Connection,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Broken> {
    if request.uri().path().starts_with("/_") {
        return control::answer(&shared, request).await;
    }
    let (parts, body) = request.into_parts();
    let (mut decision, flight) = shared.arrive(&parts, &connection);
    decision.answer = decision.answer.settled();
    if let Some(Body::WebSocket) = decision.answer.body {
        return websocket::accept(&shared, Request::from_parts(parts, body), &decision, flight);
    }
    let (body, through) = match (&decision.answer.body, decision.answer.early) {
        (Some(Body::Mirror), _) => (Collected::default(), Some(body)),
        (_, true) => (Collected::default(), None),
        (_, false) => (read(body, &flight).await?, None),
    };
    wait(&shared, &decision.answer).await?;
    Ok(say(&shared, &decision, &parts, body, through, flight))
}

async fn read(body: Incoming, flight: &Flight) -> Result<Collected<Bytes>, Broken> {
    let counted = body.map_frame(|frame| {
        flight.read(frame.data_ref().map_or(0, Bytes::len));
        frame
    });
    Limited::new(counted, BODY_MAX).collect().await.map_err(|_| Broken)
}

/// Everything that comes between the request and the head of its answer.
async fn wait(shared: &Shared, answer: &Answer) -> Result<(), Broken> {
    if answer.delay_ms > 0 {
        sleep(Duration::from_millis(answer.delay_ms)).await;
    }
    if let Some(latch) = &answer.hold {
        shared.latches.pass(latch).await;
    }
    match answer.fault {
        Some(Fault::Never) => std::future::pending().await,
        Some(Fault::Close) => Err(Broken),
        Some(Fault::HangAfter(_) | Fault::BreakAfter(_)) | None => Ok(()),
    }
}

fn say(
    shared: &Shared,
    decision: &Decision,
    request: &Parts,
    received: Collected<Bytes>,
    through: Option<Incoming>,
    mut flight: Flight,
) -> Response<Outgoing> {
    let answer = &decision.answer;
    let (media_type, paced) = content(answer, request, received);
    let media_type = match through {
        Some(_) => request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()),
        None => media_type,
    };
    let head = match head(shared, decision, request, media_type) {
        Ok(head) => head,
        Err(error) => {
            flight.head(500, false);
            return Response::builder().status(500).body(Outgoing::plain(error)).expect("a status and no header");
        }
    };
    let streams = answer.streams || matches!(answer.body, Some(Body::Sse(_)));
    flight.head(head.status().as_u16(), streams);
    head.map(|()| match through {
        Some(body) => Outgoing::through(body, flight),
        None => Outgoing::paced(paced, flight),
    })
}

/// The answer's media type and bytes.
fn content(answer: &Answer, request: &Parts, received: Collected<Bytes>) -> (Option<&'static str>, Paced) {
    let (media_type, bytes): (_, Bytes) = match answer.body.as_ref().unwrap_or(&Body::Echo) {
        Body::Echo => (Some("application/json"), echo(request, received).to_string().into()),
        Body::Text(text) => (Some("text/plain; charset=utf-8"), text.clone().into()),
        Body::Html(page) => (Some("text/html; charset=utf-8"), page.clone().into()),
        Body::Json(value) => (Some("application/json"), value.to_string().into()),
        Body::Bytes(length) => (Some("application/octet-stream"), pattern(*length).into()),
        Body::Sse(sse) => return (Some("text/event-stream"), events(sse).failing(answer.fault)),
        Body::Empty | Body::Mirror | Body::WebSocket => (None, Bytes::new()),
    };
    let bytes = if answer.gzip { gzip(&bytes) } else { bytes };
    let paced = Paced::known(bytes, answer.pieces).with_trailers(fields(&answer.trailers)).failing(answer.fault);
    (media_type, if answer.chunked { paced.chunked() } else { paced })
}

fn events(sse: &Sse) -> Paced {
    let frames = (0..sse.events.unwrap_or(u64::MAX)).map(|n| format!("id: {n}\ndata: {{\"n\":{n}}}\n\n").into());
    // A stream without end must leave time for everything else.
    let least_ms = u64::from(sse.events.is_none());
    Paced::stream(frames, Duration::from_millis(sse.every_ms.max(least_ms)))
}

fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to memory cannot fail").into()
}

/// The head of an answer, or why the script's answer is none.
pub(crate) fn head(
    shared: &Shared,
    decision: &Decision,
    request: &Parts,
    media_type: Option<&str>,
) -> Result<Response<()>, String> {
    let (answer, script) = (&decision.answer, &decision.script);
    let wall = shared.clock.wall(script.date_skew_s);
    let mut response = Response::builder().status(answer.status.unwrap_or(200));
    if let Some(headers) = response.headers_mut() {
        if !script.no_date {
            headers.insert(DATE, date_value(wall));
        }
        for (name, value) in &decision.headers {
            append(headers, name, value)?;
        }
        for (name, value) in &answer.headers {
            append(headers, name, &value.replace("{host}", &authority(request)))?;
        }
        for retry in &answer.retry_after {
            let (name, value) = retry.header(wall);
            append(headers, name, &value)?;
        }
        if !answer.trailers.is_empty() {
            let names: Vec<&str> = answer.trailers.iter().map(|(name, _)| name.as_str()).collect();
            append(headers, "trailer", &names.join(", "))?;
        }
        if answer.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if let (Some(media_type), false) = (media_type, headers.contains_key(CONTENT_TYPE)) {
            append(headers, CONTENT_TYPE.as_str(), media_type)?;
        }
    }
    response.body(()).map_err(|error| format!("the script's answer cannot be sent: {error}"))
}

fn date_value(wall: SystemTime) -> HeaderValue {
    HeaderValue::try_from(imf_date(wall)).expect("a date is plain ASCII")
}

fn append(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let wrong = || format!("the script's answer cannot be sent: `{name}: {value}` is no header");
    let field = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
    headers.append(field, HeaderValue::from_bytes(value.as_bytes()).map_err(|_| wrong())?);
    Ok(())
}

/// Trailer fields; what is no field is left out, and so missed by the test that wants it.
fn fields(pairs: &[(String, String)]) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for (name, value) in pairs {
        // A wrong one shows as a missing one.
        let _ = append(&mut fields, name, value);
    }
    fields
}

/// A longer upload breaks its connection off.
const BODY_MAX: usize = 64 * 1024 * 1024;
