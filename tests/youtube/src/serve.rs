//! The socket, and which answer a call gets.

use std::convert::Infallible;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, LOCATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::script::Consent;
use crate::token::Token;
use crate::{Call, Fault, Inside, Shared, pages, polls};

pub(crate) async fn serve(shared: Arc<Shared>, listener: TcpListener, mut closing: watch::Receiver<()>) {
    loop {
        let accepted = tokio::select! {
            _ = closing.changed() => return,
            accepted = listener.accept() => accepted,
        };
        if let Ok((stream, from)) = accepted {
            tokio::spawn(connection(Arc::clone(&shared), stream, from.ip(), closing.clone()));
        }
    }
}

async fn connection(shared: Arc<Shared>, stream: TcpStream, peer: IpAddr, mut closing: watch::Receiver<()>) {
    let service = service_fn(move |request| answer(Arc::clone(&shared), peer, request));
    tokio::select! {
        _ = closing.changed() => {}
        _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service) => {}
    }
}

async fn answer(
    shared: Arc<Shared>,
    peer: IpAddr,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let asked = Asked::read(&parts, &body);
    let from = address(&parts.headers, peer);
    let fault = decide(&shared, &parts, &asked, from);
    let call = Call {
        at: shared.begun.elapsed(),
        from,
        what: format!("{} {}", parts.method, parts.uri.path()),
        video: asked.video().map(str::to_owned),
        status: fault.status,
    };
    shared.inside().log.push(call);
    let kind =
        if fault.body.starts_with(['{', '[']) { "application/json; charset=UTF-8" } else { "text/html; charset=utf-8" };
    let mut response = Response::builder().status(fault.status).header(CONTENT_TYPE, kind);
    for (name, value) in [(RETRY_AFTER, fault.retry_after), (LOCATION, fault.location)] {
        if let Some(value) = value {
            response = response.header(name, value);
        }
    }
    let takes_gzip =
        parts.headers.get(ACCEPT_ENCODING).is_some_and(|takes| takes.as_bytes().windows(4).any(|w| w == b"gzip"));
    let body = if takes_gzip && !fault.body.is_empty() {
        response = response.header(CONTENT_ENCODING, "gzip");
        gzipped(fault.body.as_bytes())
    } else {
        fault.body.into()
    };
    Ok(response.body(Full::from(body)).unwrap_or_default())
}

/// What a call is about.
enum Asked {
    Watch(String),
    Live(String),
    Streams(String),
    /// A poll with a token, if it can be read.
    Poll(Option<Token>),
    Nothing,
}

impl Asked {
    fn read(parts: &Parts, body: &[u8]) -> Self {
        let path = percent_decode_str(parts.uri.path()).decode_utf8_lossy().into_owned();
        let path = path.trim_start_matches('/');
        if parts.method == Method::POST {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let is_whole = body.pointer("/context/client/clientVersion").is_some_and(Value::is_string);
            let token = body["continuation"].as_str().filter(|_| is_whole).and_then(Token::read);
            return if path == "youtubei/v1/live_chat/get_live_chat" { Self::Poll(token) } else { Self::Nothing };
        }
        let query = parts.uri.query().unwrap_or_default();
        let video = query.split('&').find_map(|pair| pair.strip_prefix("v="));
        match (path, video, path.rsplit_once('/')) {
            ("watch", Some(video), _) => Self::Watch(video.to_owned()),
            (_, _, Some((channel, "live"))) => Self::Live(channel.to_owned()),
            (_, _, Some((channel, "streams"))) => Self::Streams(channel.to_owned()),
            _ => Self::Nothing,
        }
    }

    fn video(&self) -> Option<&str> {
        match self {
            Self::Watch(video) => Some(video),
            Self::Poll(token) => token.as_ref().map(|token| token.video.as_str()),
            Self::Live(_) | Self::Streams(_) | Self::Nothing => None,
        }
    }
}

fn decide(shared: &Shared, parts: &Parts, asked: &Asked, from: IpAddr) -> Fault {
    let mut inside = shared.inside();
    if inside.is_throttled(from) {
        return Fault::new(429, "<html>too many requests</html>");
    }
    if let Some(fault) = inside.faults.pop_front() {
        return fault;
    }
    if parts.method == Method::GET
        && let Some(question) = consent(&inside, &parts.headers)
    {
        return question;
    }
    let now_us = shared.now_us();
    let ok = |page: String| Fault::new(200, &page);
    match asked {
        Asked::Watch(video) => {
            let instead = inside.script_of(video).page.clone();
            instead.unwrap_or_else(|| ok(pages::watch(&inside, video, now_us)))
        }
        Asked::Live(channel) => ok(pages::live(&inside, &inside.channel(channel), now_us)),
        Asked::Streams(channel) => ok(pages::streams(&inside, &inside.channel(channel))),
        Asked::Poll(token) => poll(shared, &mut inside, token.as_ref(), now_us),
        Asked::Nothing => Fault::new(404, "<html>Not Found</html>"),
    }
}

fn poll(shared: &Shared, inside: &mut Inside, token: Option<&Token>, now_us: u64) -> Fault {
    let Some(token) = token.filter(|token| token.made_us > inside.expired_us) else {
        return Fault::new(400, &polls::invalid().to_string());
    };
    let script = inside.script_of(&token.video);
    if let Some(instead) = &script.poll {
        return instead.clone();
    }
    if !script.state.has_live_chat() {
        return Fault::new(200, &polls::over().to_string());
    }
    let rows = inside.chat.rows(shared.begun.elapsed());
    let news = polls::news(token, script, rows);
    let answer = polls::poll(token, script, &inside.chat, rows, shared.begun_us, now_us).to_string();
    inside.given.push((Instant::now(), news));
    Fault::new(200, &answer)
}

fn consent(inside: &Inside, headers: &HeaderMap) -> Option<Fault> {
    let has_answered =
        || headers.get_all(COOKIE).iter().any(|cookie| cookie.as_bytes().windows(5).any(|w| w == b"SOCS="));
    match inside.script.consent {
        Consent::Asked if !has_answered() => Some(Fault::to(pages::CONSENT)),
        Consent::Insisted => Some(Fault::new(200, &pages::consent())),
        Consent::NotAsked | Consent::Asked => None,
    }
}

/// The first address that is named, as a proxy in front would name it, or the socket's.
fn address(headers: &HeaderMap, peer: IpAddr) -> IpAddr {
    let named =
        headers.get("x-forwarded-for").and_then(|list| list.to_str().ok()?.split(',').next()?.trim().parse().ok());
    named.unwrap_or(peer)
}

fn gzipped(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.expect("a vector takes every write").into()
}
