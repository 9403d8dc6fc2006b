//! A running server's room.

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tidegate_chat::youtube::View;
use tokio::net::TcpStream;

use super::line::Printer;
use crate::failure::{Failure, OrSay, Outcome};
use crate::load::Target;

/// Reads until the server ends the stream.
pub(super) async fn read(server: &Target, name: &str, view: View, printer: &mut Printer) -> Outcome<()> {
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
    let request = Request::get(format!("/v1/chat/{name}/events?view={view}")).header(header::HOST, address.to_string());
    let request = request.body(Empty::<Bytes>::new()).or_say(unreachable)?;
    let response = sender.send_request(request).await.or_say(unreachable)?;
    let status = response.status();
    let mut body = response.into_body();
    if status != StatusCode::OK {
        let said = Limited::new(body, PROBLEM_MAX_BYTES).collect().await;
        let said = said.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let problem: Value = serde_json::from_slice(&said).unwrap_or_default();
        let detail = problem["detail"].as_str().map_or_else(|| status.to_string(), str::to_owned);
        return Err(Failure::new(detail));
    }
    while let Some(frame) = body.frame().await {
        let frame = frame.or_say(|| "the server ended the stream in the middle".to_owned())?;
        if let Ok(bytes) = frame.into_data() {
            printer.take(&bytes);
        }
    }
    Ok(())
}

/// A problem is a few hundred bytes.
const PROBLEM_MAX_BYTES: usize = 64 * 1024;
