//! A closed loop of keep-alive connections that post JSON.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// One keep-alive connection.
pub(crate) struct Line(SendRequest<Full<Bytes>>, SocketAddr);

impl Line {
    pub(crate) async fn open(server: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(server).await.with_context(|| format!("connecting to {server}"))?;
        stream.set_nodelay(true)?;
        let (send, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self(send, server))
    }

    pub(crate) async fn post(
        &mut self,
        path: &str,
        body: Bytes,
        key: Option<&str>,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let mut request =
            Request::post(path).header("host", self.1.to_string()).header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        self.0.ready().await?;
        let answer = self.0.send_request(request.body(Full::new(body))?).await?;
        let status = answer.status();
        Ok((status, answer.into_body().collect().await?.to_bytes()))
    }
}

/// Posts each body once, spread over so many connections; every answer must have the status.
pub(crate) async fn post_all(
    server: SocketAddr,
    path: &Arc<str>,
    bodies: Arc<[Bytes]>,
    connections: usize,
    status: StatusCode,
) -> anyhow::Result<Vec<Bytes>> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let (path, bodies, next) = (path.clone(), bodies.clone(), next.clone());
        tasks.push(tokio::spawn(async move {
            let mut line = Line::open(server).await?;
            let mut answers = Vec::new();
            while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (got, answer) = line.post(&path, body.clone(), None).await?;
                ensure!(got == status, "{path} answered {got}: {}", String::from_utf8_lossy(&answer));
                answers.push(answer);
            }
            anyhow::Ok(answers)
        }));
    }
    let mut answers = Vec::new();
    for task in tasks {
        answers.append(&mut task.await??);
    }
    Ok(answers)
}
