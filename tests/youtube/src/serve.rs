//! The socket, and which answer a call gets.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::{Call, Fault, Shared, answers};

pub(crate) async fn serve(shared: Arc<Shared>, listener: TcpListener, mut closing: watch::Receiver<()>) {
    loop {
        let accepted = tokio::select! {
            _ = closing.changed() => return,
            accepted = listener.accept() => accepted,
        };
        if let Ok((stream, _)) = accepted {
            tokio::spawn(connection(Arc::clone(&shared), stream, closing.clone()));
        }
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream, mut closing: watch::Receiver<()>) {
    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
    tokio::select! {
        _ = closing.changed() => {}
        _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service) => {}
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let rows = shared.rows();
    let fault = decide(&shared, &parts, &body, rows);
    let call = Call {
        at: shared.begun.elapsed(),
        what: format!("{} {}", parts.method, parts.uri.path()),
        status: fault.status,
    };
    shared.inside().log.push(call);
    let mut response = Response::builder().status(fault.status);
    for (name, value) in [("retry-after", fault.retry_after), ("location", fault.location)] {
        if let Some(value) = value {
            response = response.header(name, value);
        }
    }
    Ok(response.body(Full::from(fault.body)).unwrap_or_default())
}

fn decide(shared: &Shared, parts: &http::request::Parts, body: &[u8], rows: u64) -> Fault {
    let mut inside = shared.inside();
    if inside.throttled_until.is_some_and(|until| Instant::now() < until) {
        return Fault::new(429, "<html>too many requests</html>");
    }
    if let Some(fault) = inside.faults.pop_front() {
        return fault;
    }
    let script = &inside.script;
    if parts.method == Method::GET {
        let query = parts.uri.query().unwrap_or_default();
        let video = query.split('&').find_map(|pair| pair.strip_prefix("v=")).unwrap_or(VIDEO);
        return Fault::new(200, &answers::page(video, script));
    }
    if !script.is_live {
        return Fault::new(200, &answers::over().to_string());
    }
    let asked: Value = serde_json::from_slice(body).unwrap_or_default();
    let token = asked["continuation"].as_str().unwrap_or_default();
    let from = match token.strip_prefix("next").and_then(|from| from.parse().ok()) {
        Some(from) if from >= inside.tokens_from => rows.saturating_sub(script.reach_rows).max(from),
        None if token == "reload" => rows.saturating_sub(script.backlog),
        Some(_) | None => return Fault::new(400, &answers::expired().to_string()),
    };
    Fault::new(200, &answers::poll(from, rows.max(from), script).to_string())
}

/// What its channel shows.
const VIDEO: &str = "abcdefghij0";
