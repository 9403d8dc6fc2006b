//! T1, E4: the control's keys, their rotation, and the control away.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tidegate_relay::{Control, Site};
use tidegate_token::{PublicKeys, Role, Seed};
use tidegate_wire::report::{Orders, Report, SessionRole};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::stage::{FRESH, LONG, Says, Stage, Way, closed, token_of};

/// A control that serves keys, or breaks off; and takes reports.
#[derive(Clone)]
struct StandIn {
    keys: Arc<Mutex<Option<PublicKeys>>>,
    orders: Arc<Mutex<Orders>>,
    reports: watch::Sender<Vec<Report>>,
    address: SocketAddr,
}

impl StandIn {
    async fn new(keys: PublicKeys) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let this = Self {
            keys: Arc::new(Mutex::new(Some(keys))),
            orders: Arc::default(),
            reports: watch::Sender::new(Vec::new()),
            address,
        };
        let serving = this.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let this = serving.clone();
                let answer = service_fn(move |request: Request<Incoming>| this.clone().answer(request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
            }
        });
        this
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, &'static str> {
        let body = match request.uri().path() {
            "/.well-known/jwks.json" => self.keys.lock().unwrap().as_ref().ok_or("away")?.to_jwks(0),
            "/v1/relays/report" => {
                assert_eq!(request.headers()["authorization"], "Bearer sesame");
                let body = request.into_body().collect().await.unwrap().to_bytes();
                self.reports.send_modify(|reports| reports.push(serde_json::from_slice(&body).unwrap()));
                serde_json::to_string(&*self.orders.lock().unwrap()).unwrap()
            }
            other => panic!("nobody asks for {other}"),
        };
        Ok(Response::new(Full::new(body.into())))
    }

    fn control(&self) -> Control {
        Control::at(&format!("http://{}/", self.address)).unwrap().with_secret("sesame")
    }

    fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.orders.lock().unwrap());
    }

    /// Waits until the orders of now were answered and carried out: the second report from here on comes after that.
    async fn heeded(&self) {
        let mut reports = self.reports.subscribe();
        let seen = reports.borrow().len();
        timeout(LONG, reports.wait_for(|reports| reports.len() >= seen + 2)).await.unwrap().unwrap();
    }

    /// Waits for a report that is so.
    async fn reported(&self, so: impl Fn(&Report) -> bool) -> Report {
        let mut reports = self.reports.subscribe();
        let found = timeout(LONG, reports.wait_for(|reports| reports.iter().any(&so))).await.unwrap().unwrap();
        found.iter().find(|report| so(report)).unwrap().clone()
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

/// A relay that reports.
async fn reporting() -> (Stage, StandIn) {
    let (stage, stand_in) = following().await;
    let (relay, control) = (Arc::clone(&stage.relay), stand_in.control());
    let site = Site { name: "eu-1".into(), region: "eu-west".into(), ..Site::default() };
    tokio::spawn(async move { relay.report(&control, &site).await });
    (stage, stand_in)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e12_t6_sessions_are_reported_and_those_that_the_control_closes_end_for_good() {
    let (stage, stand_in) = reporting().await;
    let _live = stage.publish().await;
    let token = stage.viewer("a");
    let viewer = stage.watch(Way::Web, &token).await;
    viewer.frames(1).await;
    let names = |report: &Report| report.sessions.iter().map(|session| session.jti.clone()).collect::<Vec<_>>();
    let report = stand_in.reported(|report| names(report).contains(&"a-1".to_owned())).await;
    assert_eq!((report.relay.as_str(), report.region.as_str()), ("eu-1", "eu-west"));
    let session = report.sessions.iter().find(|session| session.jti == "a-1").unwrap();
    assert_eq!((&*session.seat, &*session.stream, &*session.tenant), ("a", "launch", "acme"));
    assert_eq!(session.role, SessionRole::Viewer);
    assert_eq!(report.cert_sha256.as_deref(), stage.relay.certificate_sha256());
    stand_in.order(|orders| orders.close = vec!["a-1".into()]);
    assert_eq!(closed(&viewer.session).await.1, "REMOVED");
    assert_eq!(stage.refusal(Way::Web, "/launch", &token).await.1, "REMOVED");
    stand_in.reported(|report| report.ended == ["a-1"]).await;
    stage.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e3_e4_the_control_says_how_many_may_come_in_and_when_its_store_is_away() {
    let (stage, stand_in) = reporting().await;
    let _live = stage.publish().await;
    // The publisher has the one session that there may be.
    stand_in.order(|orders| orders.shares = [("acme".to_owned(), 1)].into());
    stand_in.heeded().await;
    assert_eq!(stage.refusal(Way::Web, "/launch", &stage.viewer("a")).await.1, "scope full");
    stand_in.order(|orders| {
        orders.shares.clear();
        orders.store_away = true;
    });
    stand_in.heeded().await;
    let soon = stage.token(Role::Viewer, "launch", "b", Says { life_s: 2, ..FRESH });
    sleep(Duration::from_millis(2100)).await;
    stage.watch(Way::Web, &soon).await.frames(1).await;
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
