//! Has an order carried out by whoever can: the running server, or this process.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tidegate_store::{Embedded, OpenError};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use crate::admin::{Done, Office, Order, socket};
use crate::config::Config;
use crate::failure::{Failure, OrSay, Outcome};
use crate::token_keys::TokenKeys;

/// Carries an order out on the data directory that is set, for a command that does nothing else.
pub(crate) fn carry_out_now(config: &Config, order: Order) -> Outcome<Done> {
    crate::limits::make_files_private();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.or_say(|| "cannot start".to_owned())?.block_on(carry_out(config, order))
}

async fn carry_out(config: &Config, order: Order) -> Outcome<Done> {
    let data = config.store.data.as_path();
    if !matches!(order, Order::AddTenant { .. }) && !data.join("seats.db").exists() {
        let failure = Failure::new(format!("{} holds no tidegate data", data.display()));
        return Err(failure.hint("name the directory with --data, or start one with: tidegate up"));
    }
    for _ in 0..TRIES {
        match socket::connect(data).await {
            Ok(stream) => return send(stream, &order).await,
            Err(error) if nobody_there(&error) => {}
            Err(error) => return Err(error).or_say(|| format!("cannot reach the server of {}", data.display())),
        }
        match Embedded::open(data, config.store_settings()) {
            Ok(store) => return do_it_here(&store, config, order).await,
            // It is starting or stopping.
            Err(OpenError::InUse { .. }) => sleep(PAUSE).await,
            Err(error) => return Err(Failure::new(error.to_string())),
        }
    }
    Err(Failure::new(format!("a process holds {} but takes no orders", data.display()))
        .hint("if it is starting, try again; else stop it"))
}

async fn do_it_here(store: &Arc<Embedded>, config: &Config, order: Order) -> Outcome<Done> {
    let token_keys = TokenKeys::in_dir(&config.store.data);
    let catalogue: Arc<Embedded> = Arc::clone(store);
    let office = Office::new(catalogue, token_keys, None, config.tokens.key_overlap_s);
    let done = office.carry_out(order).await;
    store.close().await.or_say(|| "the order may be lost".to_owned())?;
    done
}

async fn send(stream: UnixStream, order: &Order) -> Outcome<Done> {
    let Ok(answer) = timeout(PATIENCE, exchange(stream, order)).await else {
        let failure = Failure::new(format!("the running server did not answer within {} s", PATIENCE.as_secs()));
        return Err(failure.hint("it may be stopped or its disk may hang; the order may still be carried out later"));
    };
    let (status, body) = answer.or_say(|| "the running server did not answer".to_owned())?;
    match status {
        StatusCode::OK => {
            serde_json::from_slice(&body).or_say(|| "the running server is of another version".to_owned())
        }
        _ => Err(Failure::new(String::from_utf8_lossy(&body))),
    }
}

async fn exchange(stream: UnixStream, order: &Order) -> hyper::Result<(StatusCode, Bytes)> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move { connection.await.ok() });
    let order = serde_json::to_vec(order).expect("plain fields");
    let request = Request::post("/")
        .header(header::HOST, "admin")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(order)))
        .expect("constants make a request");
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok((head.status, body.collect().await?.to_bytes()))
}

fn nobody_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// A server that starts holds the directory for a moment before it listens.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_millis(100);
/// Longer than a disk that is only slow takes for a commit.
const PATIENCE: Duration = Duration::from_secs(15);
