//! G28: WebSockets, with their real handshake, and what is no upgrade.

use futures_util::{SinkExt, StreamExt};
use tidegate_upstreams::{Answer, Rule, Script};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::stage::Stage;

async fn open(stage: &Stage, path: &str) -> Result<WebSocketStream<TcpStream>, Error> {
    let socket = TcpStream::connect(stage.address).await.unwrap();
    let url = format!("ws://{}{path}", stage.address);
    tokio_tungstenite::client_async(url, socket).await.map(|(socket, _)| socket)
}

#[tokio::test(start_paused = true)]
async fn g28_a_websocket_passes_and_its_slot_ends_with_the_handshake() {
    let stage = Stage::new("min_interval_ms = 0").await;
    let mut sockets = Vec::new();
    for n in 0..6 {
        let mut socket = open(&stage, "/api/ws?token=t").await.unwrap();
        socket.send(Message::text(format!("hello {n}"))).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text(format!("hello {n}")));
        sockets.push(socket);
    }
    assert_eq!(stage.snapshot().running, 0, "six are open, and no slot is taken");
    let mut first = sockets.remove(0);
    let large = Message::binary(vec![7_u8; 1 << 20]);
    first.send(large.clone()).await.unwrap();
    assert_eq!(first.next().await.unwrap().unwrap(), large);
    first.close(None).await.unwrap();
    while let Some(Ok(message)) = first.next().await {
        assert!(message.is_close());
    }
    drop(sockets);
    stage.upstream.wait_until_idle().await;
}

#[tokio::test(start_paused = true)]
async fn g28_an_upgrade_that_the_upstream_refuses_is_an_ordinary_answer() {
    let script = Script { rules: vec![Rule::new("GET /no", [Answer::status(403)]).unwrap()], ..Script::default() };
    let stage = Stage::with(script, "min_interval_ms = 0").await;
    let Err(Error::Http(refused)) = open(&stage, "/api/no").await else { panic!("it is refused") };
    assert_eq!(refused.status(), 403);
    stage.until(|gate| gate.running == 0).await;
    let Err(Error::Http(unknown)) = open(&stage, "/nowhere").await else { panic!("it is refused") };
    assert_eq!(unknown.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn g28_an_offer_of_h2c_is_answered_in_http_1() {
    let stage = Stage::new("min_interval_ms = 0").await;
    let answer = stage
        .raw(b"GET /api/echo HTTP/1.1\r\nhost: x\r\nconnection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n")
        .await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let entry = &stage.upstream.log().entries[0];
    assert!(!entry.headers.contains_key("connection"));
}
