//! A running server's room, read until it is over: a stream that breaks off goes on where it was (C8, C11).

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tidegate_chat::youtube::View;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::line::Printer;
use crate::failure::{Failure, OrSay, Outcome};
use crate::load::Target;

/// How one stream ended.
enum Ended {
    /// The room is over, or nobody reads what is printed.
    Over,
    /// It broke off, or the server stopped.
    Broke,
    /// The server says when to come again, and why (C4).
    Later(Duration, String),
}

/// Reads until the room is over.
pub(super) async fn read(server: &Target, name: &str, view: View, printer: &mut Printer) -> Outcome<()> {
    let mut tries = 0;
    loop {
        let before = printer.last_id.clone();
        let pause = match read_once(server, name, view, printer).await {
            Ok(Ended::Over) => return Ok(()),
            Ok(Ended::Later(pause, why)) => {
                eprintln!("{why}; again in {} s", pause.as_secs_f64().ceil());
                pause
            }
            Ok(Ended::Broke) => {
                eprintln!("the stream broke off; again in {} s", PAUSE.as_secs());
                PAUSE
            }
            // Somebody who never got in wants to know; somebody who was in waits for the server.
            Err(failure) if printer.last_id.is_none() || tries >= TRIES => return Err(failure),
            Err(failure) => {
                eprintln!("{failure}; again in {} s", PAUSE.as_secs());
                PAUSE
            }
        };
        tries = if printer.last_id == before { tries + 1 } else { 0 };
        printer.broke_off();
        // Readers that a stop has cut off do not come back in step.
        sleep(pause.mul_f64(1.0 + rand::random::<f64>() / 4.0)).await;
    }
}

async fn read_once(server: &Target, name: &str, view: View, printer: &mut Printer) -> Outcome<Ended> {
    let unreachable = || format!("cannot reach {server}");
    let address = server.look_up().await.or_say(unreachable)?;
    let socket = TcpStream::connect(address).await.or_say(unreachable)?;
    let (mut sender, connection) = handshake(TokioIo::new(socket)).await.or_say(unreachable)?;
    // It ends with the response that it carries, and tells that how.
    tokio::spawn(connection);
    let view = match view {
        View::Top => "top",
        View::All => "all",
    };
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let mut request =
        Request::get(format!("/v1/chat/{name}/events?view={view}")).header(header::HOST, address.to_string());
    if let Some(id) = &printer.last_id {
        request = request.header("last-event-id", id);
    }
    let request = request.body(Empty::<Bytes>::new()).or_say(unreachable)?;
    let response = sender.send_request(request).await.or_say(unreachable)?;
    let status = response.status();
    let mut body = response.into_body();
    if status != StatusCode::OK {
        let said = Limited::new(body, PROBLEM_MAX_BYTES).collect().await;
        let said = said.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let problem: Value = serde_json::from_slice(&said).unwrap_or_default();
        let detail = problem["detail"].as_str().map_or_else(|| status.to_string(), str::to_owned);
        return match problem["retry_after_ms"].as_u64() {
            Some(ms) => Ok(Ended::Later(Duration::from_millis(ms), detail)),
            None => Err(Failure::new(detail)),
        };
    }
    while let Some(Ok(frame)) = body.frame().await {
        if frame.into_data().is_ok_and(|bytes| printer.take(&bytes).is_err()) {
            return Ok(Ended::Over);
        }
    }
    Ok(if printer.over { Ended::Over } else { Ended::Broke })
}

/// A problem is a few hundred bytes.
const PROBLEM_MAX_BYTES: usize = 64 * 1024;
/// Before another try, as the streams' own `retry:` says.
const PAUSE: Duration = Duration::from_secs(3);
/// A server that was there once has so many tries to come back: about five minutes.
const TRIES: u32 = 100;
