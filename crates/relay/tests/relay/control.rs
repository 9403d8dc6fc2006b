//! T1, E4: the control's keys, their rotation, and the control away.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tidegate_relay::Control;
use tidegate_token::{PublicKeys, Role, Seed};
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::stage::{FRESH, Says, Stage, Way, token_of};

/// A control that serves keys, or breaks off.
#[derive(Clone)]
struct StandIn {
    keys: Arc<Mutex<Option<PublicKeys>>>,
    address: SocketAddr,
}

impl StandIn {
    async fn new(keys: PublicKeys) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let this = Self { keys: Arc::new(Mutex::new(Some(keys))), address };
        let serving = this.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let keys = Arc::clone(&serving.keys);
                let answer = service_fn(move |request: Request<Incoming>| {
                    let keys = keys.lock().unwrap().clone();
                    async move {
                        assert_eq!(request.uri().path(), "/.well-known/jwks.json");
                        let keys = keys.ok_or("away")?;
                        Ok::<_, &str>(Response::new(Full::new(Bytes::from(keys.to_jwks(0)))))
                    }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
            }
        });
        this
    }

    fn control(&self) -> Control {
        Control::at(&format!("http://{}/", self.address)).unwrap()
    }

    fn set(&self, keys: Option<PublicKeys>) {
        *self.keys.lock().unwrap() = keys;
    }
}

/// A relay that follows its control.
async fn following() -> (Stage, StandIn) {
    let stage = Stage::new();
    let stand_in = StandIn::new(stage.signer.public().clone()).await;
    let (control, keys) = (stand_in.control(), Arc::clone(&stage.keys));
    tokio::spawn(async move { control.follow(&keys).await });
    (stage, stand_in)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t1_a_token_of_the_newest_key_is_taken_at_once_and_the_older_one_still() {
    let (stage, stand_in) = following().await;
    let _live = stage.publish().await;
    let rotated = stage.signer.rotate(Seed([9; 32]), 100, u32::MAX.into());
    stand_in.set(Some(rotated.public().clone()));
    let newest = token_of(&rotated, Role::Viewer, "launch", "a", FRESH);
    stage.watch(Way::Web, &newest).await.frames(1).await;
    stage.watch(Way::Web, &stage.viewer("b")).await.frames(1).await;
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e4_while_the_control_is_away_a_token_that_ended_since_is_taken() {
    let (stage, stand_in) = following().await;
    let _live = stage.publish().await;
    let viewer = stage.watch(Way::Web, &stage.viewer("a")).await;
    viewer.frames(1).await;
    stand_in.set(None);
    // Of a key that nobody has: it makes the relay look for the control now instead of in five seconds.
    let stranger = token_of(&tidegate_token::KeySet::generate(Seed([8; 32]), 0), Role::Viewer, "launch", "x", FRESH);
    stage.refusal(Way::Web, "/launch", &stranger).await;
    let ends_now = stage.token(Role::Viewer, "launch", "b", Says { life_s: 1, ..FRESH });
    let ended_before = stage.token(Role::Viewer, "launch", "c", Says { life_s: -30, ..FRESH });
    sleep(Duration::from_millis(1_100)).await;
    stage.watch(Way::Web, &ends_now).await.frames(1).await;
    assert_eq!(stage.refusal(Way::Web, "/launch", &ended_before).await.0, 2);
    viewer.frames(1).await;
    // It comes back: what ended is over.
    stand_in.set(Some(stage.signer.public().clone()));
    stage.refusal(Way::Web, "/launch", &stranger).await;
    let over = stage.token(Role::Viewer, "launch", "d", Says { life_s: -1, ..FRESH });
    assert_eq!(stage.refusal(Way::Web, "/launch", &over).await.0, 2);
    viewer.frames(1).await;
    stage.stop().await;
}

#[tokio::test]
async fn o3_an_address_that_is_no_controls_is_refused_with_advice() {
    for address in ["", "127.0.0.1:8080", "ftp://x", "http://"] {
        let said = Control::at(address).err().unwrap().to_string();
        assert!(said.contains("http://127.0.0.1:8080"), "{said}");
    }
    let nobody = Control::at("http://127.0.0.1:1").unwrap().keys().await.unwrap_err().to_string();
    assert!(nobody.starts_with("the control does not answer: "), "{nobody}");
}
