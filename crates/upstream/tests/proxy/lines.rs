//! G28: connections to a plain HTTP/1.1 upstream are kept, used again, and closed in their time.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use tidegate_upstream::{Gate, ServerSettings};
use tidegate_upstreams::Upstream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

use crate::stage::{Stage, settings};

/// What a connection saw.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    answers: u32,
    /// When the gate closed it, from its last answer.
    closed_after: Option<Duration>,
}

type Log = Arc<Mutex<Vec<Seen>>>;

/// A server that hangs up behind so many answers of one connection, without a word of it.
async fn serve(answers_each: u32) -> (SocketAddr, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, log) = (listener.local_addr().unwrap(), Log::default());
    let kept = Arc::clone(&log);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let nth = log.lock().unwrap().len();
            log.lock().unwrap().push(Seen::default());
            tokio::spawn(converse(socket, nth, answers_each, Arc::clone(&log)));
        }
    });
    (address, kept)
}

async fn converse(mut socket: TcpStream, nth: usize, answers_max: u32, log: Log) {
    let (mut heard, mut since) = (Vec::new(), Instant::now());
    for answers in 1..=answers_max {
        while !is_whole(&heard) {
            if socket.read_buf(&mut heard).await.unwrap_or(0) == 0 {
                log.lock().unwrap()[nth].closed_after = Some(since.elapsed());
                return;
            }
        }
        heard.clear();
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
        log.lock().unwrap()[nth].answers = answers;
        since = Instant::now();
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = std::str::from_utf8(request).unwrap();
    let body = if text.contains("content-length: 5\r\n") { "hello" } else { "" };
    text.split_once("\r\n\r\n").is_some_and(|(_, rest)| rest == body)
}

async fn stage(server: SocketAddr) -> Stage {
    let api = settings(&format!("base_url = \"http://{server}\"\nmin_interval_ms = 0\nmax_attempts = 1"));
    let gate = Gate::new([("api", api)]).unwrap();
    Stage::of(Upstream::start().await.unwrap(), gate, ServerSettings::default()).await
}

async fn call(stage: &Stage, method: &str) {
    let request = Request::builder().method(method).uri(stage.url("/api/x"));
    let answer = stage.ask_with(request, if method == "POST" { "hello" } else { "" }).await;
    assert_eq!((answer.status, &answer.body[..]), (200, &b"ok"[..]), "{method}");
}

#[tokio::test(start_paused = true)]
async fn g28_a_connection_is_used_again() {
    let (server, log) = serve(u32::MAX).await;
    let stage = stage(server).await;
    for method in ["GET", "POST", "PUT", "GET"] {
        call(&stage, method).await;
    }
    let log = log.lock().unwrap().clone();
    assert_eq!(log.iter().map(|seen| seen.answers).collect::<Vec<_>>(), [4]);
}

#[tokio::test(start_paused = true)]
async fn g28_an_upstream_that_hung_up_costs_nobody_a_call() {
    let (server, log) = serve(1).await;
    let stage = stage(server).await;
    for method in ["GET", "POST", "POST", "GET"] {
        call(&stage, method).await;
        // Its end has come here by then, and nobody has looked at the connection.
        sleep(Duration::from_millis(20)).await;
    }
    let log = log.lock().unwrap().clone();
    assert_eq!(log.iter().map(|seen| seen.answers).collect::<Vec<_>>(), [1; 4]);
}

#[tokio::test(start_paused = true)]
async fn g28_a_connection_that_nobody_uses_is_closed_before_the_upstream_would() {
    let (server, log) = serve(u32::MAX).await;
    let stage = stage(server).await;
    call(&stage, "GET").await;
    sleep(Duration::from_secs(50)).await;
    let closed = log.lock().unwrap()[0].closed_after.expect("it is still open").as_secs_f64();
    assert!((45.0..50.0).contains(&closed), "{closed}");
}
