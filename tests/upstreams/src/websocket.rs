//! A WebSocket that sends back what it gets.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use http::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::body::{Broken, Outgoing};
use crate::desk::Decision;
use crate::journal::Flight;
use crate::respond::head;
use crate::serve::Shared;

/// Takes the upgrade, or asks for one.
pub(crate) fn accept(
    shared: &Arc<Shared>,
    mut request: Request<Incoming>,
    decision: &Decision,
    mut flight: Flight,
) -> Result<Response<Outgoing>, Broken> {
    let upgrade = hyper::upgrade::on(&mut request);
    let (parts, _body) = request.into_parts();
    let mut response = head(shared, decision, &parts, None).map_err(|_| Broken)?.map(|()| Outgoing::plain(""));
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
    let asked = parts.headers.get(UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let Some(key) = parts.headers.get(SEC_WEBSOCKET_KEY).filter(|_| asked) else {
        *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
        flight.head(426, false);
        return Ok(response);
    };
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes())).expect("base64 is plain ASCII");
    response.headers_mut().insert(SEC_WEBSOCKET_ACCEPT, accept);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Some(first) = first_protocol(&parts.headers) {
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, first);
    }
    flight.head(101, true);
    let shared = shared.clone();
    tokio::spawn(async move {
        let mut closing = shared.closing.clone();
        tokio::select! {
            // The stand-in is gone, and its sockets with it.
            _ = closing.changed() => {}
            () = send_back(upgrade, flight) => {}
        }
    });
    Ok(response)
}

async fn send_back(upgrade: OnUpgrade, mut flight: Flight) {
    let Ok(upgraded) = upgrade.await else { return };
    let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
    while let Some(Ok(message)) = socket.next().await {
        // Pings and the close are answered by the library.
        if message.is_text() || message.is_binary() {
            flight.read(message.len());
            if socket.send(message).await.is_err() {
                return;
            }
        }
    }
    flight.finish();
}

fn first_protocol(headers: &http::HeaderMap) -> Option<HeaderValue> {
    let offered = headers.get(SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    HeaderValue::from_str(offered.split(',').next()?.trim()).ok()
}
