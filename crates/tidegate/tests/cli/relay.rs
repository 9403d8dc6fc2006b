//! `tidegate relay`: its pages, its settings, and a viewer that comes with the control's token.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use moq_net::origin;
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::tempdir;
use tokio::time::timeout;
use web_transport_moq::proto::ConnectRequest;
use web_transport_moq::{ClientBuilder, Session};

use crate::http::{call, get, post};
use crate::program::{KEY, Server, complaint};

/// A page as text.
fn page(server: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// Waits until a page says this.
fn wait_for(server: SocketAddr, path: &str, status: u16) -> Value {
    let until = Instant::now() + LONG;
    loop {
        let (got, body) = get(server, path, "");
        if got == status {
            return body;
        }
        assert!(Instant::now() < until, "{path} stays {got}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn o2_a_relay_without_its_control_runs_and_is_not_ready() {
    let mut relay = Server::relay("http://127.0.0.1:9", &[]);
    relay.logged("nobody is let in until the control answers");
    assert_eq!(get(relay.address, "/healthz", ""), (200, json!({"status": "ok"})));
    let (status, problem) = get(relay.address, "/readyz", "");
    assert_eq!((status, &problem["code"]), (503, &json!("not_ready")));
    assert_eq!(page(relay.address, "/certificate.sha256").len(), 64);
    assert_eq!(post(relay.address, "/readyz", "").0, 405);
    assert_eq!(get(relay.address, "/elsewhere", "").1["code"], "not_found");
    relay.stop();
}

#[test]
fn o3_a_relay_says_what_is_wrong_with_its_settings() {
    let said = complaint(&["relay", "--control", "ftp://x"]);
    assert!(said.contains("is no address of a control"), "{said}");
    let said = complaint(&["relay", "--relay-listen", "off"]);
    assert!(said.contains("the relay listens nowhere"), "{said}");
}

#[test]
fn e13_settings_of_admission_are_read_again() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    fs::write(&file, "[relay]\nadmission = \"on\"\n").unwrap();
    let mut relay = Server::relay("http://127.0.0.1:9", &["--config", file.to_str().unwrap()]);
    fs::write(&file, "[relay]\nadmission = \"off\"\ncache_mb = 7\n").unwrap();
    relay.signal(Signal::HUP);
    assert!(relay.logged("holds from the next start").contains("relay.cache_mb"));
    relay.logged("settings reloaded");
    fs::write(&file, "[relay]\nadmission_busy = 2.0\n").unwrap();
    relay.signal(Signal::HUP);
    assert!(relay.logged("nothing was changed").contains("2 is not a share from 0.2 to 0.95"));
    relay.stop();
}

/// Opens a session with a token and begins with the media; whether it is let in shows later.
async fn knock(relay: SocketAddr, hash: &str, token: &str) -> (Session, Option<moq_net::Session>) {
    watch(relay, hash, token, moq_tokio::origin::spawn()).await
}

/// The same, for who looks at what the relay has.
async fn watch(
    relay: SocketAddr,
    hash: &str,
    token: &str,
    broadcasts: origin::Producer,
) -> (Session, Option<moq_net::Session>) {
    open(relay, hash, token, moq_net::Client::new().with_subscriber(broadcasts)).await
}

async fn open(
    relay: SocketAddr,
    hash: &str,
    token: &str,
    client: moq_net::Client,
) -> (Session, Option<moq_net::Session>) {
    let hash = HEXLOWER.decode(hash.as_bytes()).unwrap();
    let transport = ClientBuilder::new().with_server_certificate_hashes(vec![hash]).unwrap();
    let url: url::Url = format!("https://{relay}/demo?jwt={token}").parse().unwrap();
    let protocols = moq_net::ALPNS.iter().map(|name| (*name).to_owned());
    let session = transport.connect(ConnectRequest::new(url).with_protocols(protocols)).await.unwrap();
    let transport = moq_tokio::transport::Session::new(session.clone());
    let media = client.connect(Instant::now(), transport).await.ok().map(|(media, driver)| {
        tokio::spawn(moq_net::time::run(driver));
        media
    });
    (session, media)
}

/// How the relay closes a session.
async fn close_of((session, _media): &(Session, Option<moq_net::Session>)) -> String {
    timeout(LONG, session.closed()).await.expect("the session stays open").to_string()
}

/// Waits until the relay's metrics count one session.
async fn counted(relay: SocketAddr) {
    let open = move || page(relay, "/metrics").contains("tidegate_relay_sessions 1\n");
    while !tokio::task::spawn_blocking(open).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t4_a_viewer_watches_with_the_token_of_its_seat_and_nobody_without() {
    let dir = tempdir().unwrap();
    let control = Server::start(dir.path(), &["--demo", "--key", KEY]);
    let relay = Server::relay(&control.url(), &[]);
    wait_for(relay.address, "/readyz", 200);
    let hash = page(relay.address, "/certificate.sha256");
    let seated = post(control.address, "/v1/play/demo/admit", "{}").1;
    let token = seated["token"].as_str().unwrap();

    let stranger = knock(relay.address, &hash, "a.b.c").await;
    assert!(close_of(&stranger).await.contains("UNAUTHORIZED"));
    let viewer = knock(relay.address, &hash, token).await;
    timeout(LONG, counted(relay.address)).await.expect("the session is not counted");
    let second = knock(relay.address, &hash, token).await;
    assert!(close_of(&second).await.contains("TOKEN_IN_USE"));

    // E4: the control goes, and who watches stays.
    control.stop();
    assert!(viewer.0.close_reason().is_none());
    relay.stop();
    assert!(close_of(&viewer).await.contains("STOPPING"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e12_s21_a_relay_that_reports_is_listed_and_a_kick_ends_its_viewer() {
    let dir = tempdir().unwrap();
    let control = Server::start(dir.path(), &["--demo", "--key", KEY]);
    let secret = fs::read_to_string(dir.path().join("relay-secret")).unwrap();
    let relay = Server::relay(&control.url(), &["--relay-secret", secret.trim(), "--region", "eu-west"]);
    let hash = page(relay.address, "/certificate.sha256");
    let (seated, seat) = seated_with_a_relay(control.address).await;
    let url = format!("https://{}", relay.address);
    let one = &seated["relays"][0];
    assert_eq!((&one["url"], &one["region"], &one["full"]), (&json!(url), &json!("eu-west"), &json!(false)));
    assert_eq!(one["cert_sha256"], json!(hash));

    let viewer = knock(relay.address, &hash, seated["token"].as_str().unwrap()).await;
    timeout(LONG, counted(relay.address)).await.expect("the session is not counted");
    let kick = json!({"seat": seat}).to_string();
    assert_eq!(call(control.address, "POST", "/v1/streams/demo/kick", Some(KEY), &kick).0, 200);
    assert!(close_of(&viewer).await.contains("REMOVED"));
    relay.stop();
    control.stop();
}

/// Asks the demo's stream for a seat, and again until the answer lists a relay.
async fn seated_with_a_relay(control: SocketAddr) -> (Value, String) {
    let mut seated = post(control, "/v1/play/demo/admit", "{}").1;
    let seat = seated["seat"].as_str().unwrap().to_owned();
    let again = json!({"seat": seat}).to_string();
    let listed = async {
        while seated["relays"] == json!([]) {
            tokio::time::sleep(Duration::from_millis(100)).await;
            seated = post(control, "/v1/play/demo/admit", &again).1;
        }
    };
    timeout(LONG, listed).await.expect("no relay is listed");
    (seated, seat)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o1_the_demo_shows_a_moving_picture_through_the_relay_of_its_own_process() {
    let dir = tempdir().unwrap();
    let mut server = Server::start(dir.path(), &["--demo", "--relay-listen", "127.0.0.1:0"]);
    let said = server.line_with("  relay    ");
    let (seated, _) = seated_with_a_relay(server.address).await;
    let one = &seated["relays"][0];
    let url = one["url"].as_str().unwrap();
    assert_eq!(said, format!("  relay    {url}"));
    let relay = url.strip_prefix("https://").unwrap().parse().unwrap();

    let (hash, token) = (one["cert_sha256"].as_str().unwrap(), seated["token"].as_str().unwrap());
    sees_the_moving_picture(relay, hash, token).await;
    server.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_a_viewer_of_a_second_relay_sees_what_is_published_at_the_first() {
    let dir = tempdir().unwrap();
    let control = Server::start(dir.path(), &["--demo", "--relay-listen", "127.0.0.1:0"]);
    let secret = fs::read_to_string(dir.path().join("relay-secret")).unwrap();
    let mut second = Server::relay(&control.url(), &["--relay-secret", secret.trim()]);
    // Whichever name comes first, one of the two connects to the other.
    let hash = page(second.address, "/certificate.sha256");
    let seated = post(control.address, "/v1/play/demo/admit", "{}").1;
    sees_the_moving_picture(second.address, &hash, seated["token"].as_str().unwrap()).await;

    // It comes back at another port with another certificate, and is linked again.
    second.kill();
    let again = Server::relay(&control.url(), &["--relay-secret", secret.trim()]);
    let hash = page(again.address, "/certificate.sha256");
    let seat = json!({"seat": seated["seat"]}).to_string();
    let renewed = post(control.address, "/v1/play/demo/token", &seat).1;
    sees_the_moving_picture(again.address, &hash, renewed["token"].as_str().unwrap()).await;
    again.stop();
    control.stop();
}

#[ignore = "five minutes long"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e4_while_the_control_is_away_for_five_minutes_everybody_watches_on() {
    let dir = tempdir().unwrap();
    let mut control = Server::start(dir.path(), &["--demo", "--key", KEY]);
    let secret = fs::read_to_string(dir.path().join("relay-secret")).unwrap();
    let relay = Server::relay(&control.url(), &["--relay-secret", secret.trim()]);
    let hash = page(relay.address, "/certificate.sha256");
    let made = call(control.address, "POST", "/v1/streams/demo/ingest-token", Some(KEY), "{}").1;
    let (_publisher, broadcasts) = publish(relay.address, &hash, made["token"].as_str().unwrap()).await;
    let mut viewers = Vec::new();
    for _ in 0..2 {
        let token = post(control.address, "/v1/play/demo/admit", "{}").1["token"].as_str().unwrap().to_owned();
        let seen = moq_tokio::origin::spawn();
        let session = watch(relay.address, &hash, &token, seen.clone()).await;
        viewers.push((session, seen.consume().routed_broadcast("live").await.unwrap()));
    }
    control.kill();
    let minutes = Duration::from_secs(300);
    tokio::join!(goes_on(&viewers[0].1, minutes), goes_on(&viewers[1].1, minutes));
    assert!(viewers.iter().all(|((session, _), _)| session.close_reason().is_none()));
    drop(broadcasts);
    relay.stop();
}

/// Reads a broadcast for so long; no group of it takes five seconds to come.
async fn goes_on(live: &moq_net::broadcast::Consumer, time: Duration) {
    let mut groups = live.track("data").unwrap().subscribe(None).await.unwrap().ordered();
    let begun = Instant::now();
    while begun.elapsed() < time {
        let next = timeout(Duration::from_secs(5), groups.next_group()).await;
        next.expect("the picture stands still").unwrap().expect("the picture ended");
    }
}

/// Publishes a broadcast `live`, of which each group is a number, ten a second.
async fn publish(relay: SocketAddr, hash: &str, token: &str) -> ((Session, moq_net::Session), origin::Producer) {
    let broadcasts = moq_tokio::origin::spawn();
    let live = broadcasts.create_broadcast("live").unwrap();
    live.announce(origin::Route::default()).unwrap();
    let track = live.create_track("data", None).unwrap();
    tokio::spawn(async move {
        let _live = live;
        for number in 0_u64.. {
            let mut group = track.append_group().unwrap();
            group.write_frame(moq_net::Timestamp::now(), bytes::Bytes::copy_from_slice(&number.to_be_bytes())).unwrap();
            group.finish().unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let publisher = moq_net::Client::new().with_publisher(&broadcasts);
    let (session, media) = open(relay, hash, token, publisher).await;
    ((session, media.unwrap()), broadcasts)
}

/// Opens a session with a token, and waits until three frames came that differ.
async fn sees_the_moving_picture(relay: SocketAddr, hash: &str, token: &str) {
    let watched = async {
        loop {
            let broadcasts = moq_tokio::origin::spawn();
            let viewer = watch(relay, hash, token, broadcasts.clone()).await;
            tokio::select! {
                () = three_frames(&broadcasts) => return,
                // E3: a relay that has just come gets its share as the others have given up some of theirs.
                end = close_of(&viewer) => assert!(end.contains("scope full"), "{end}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(LONG, watched).await.expect("no picture came");
}

async fn three_frames(broadcasts: &origin::Producer) {
    let picture = broadcasts.consume().routed_broadcast("picture").await.unwrap();
    let mut catalog = picture.track("catalog.json").unwrap().subscribe(None).await.unwrap().ordered();
    let first = catalog.next_group().await.unwrap().unwrap().read_frame().await.unwrap().unwrap();
    let catalog: Value = serde_json::from_slice(&first.payload).unwrap();
    let (name, video) = catalog["video"]["renditions"].as_object().unwrap().iter().next().unwrap();
    assert_eq!((&video["codedWidth"], &video["codedHeight"]), (&json!(640), &json!(360)));
    let mut groups = picture.track(name.as_str()).unwrap().subscribe(None).await.unwrap().ordered();
    let mut frames = Vec::new();
    while frames.len() < 3 {
        let mut group = groups.next_group().await.unwrap().expect("the picture goes on");
        // A group that a newer one superseded ends early.
        while let Ok(Some(frame)) = group.read_frame().await {
            frames.push(frame.payload);
        }
    }
    assert!(frames[0] != frames[1] && frames[1] != frames[2]);
}

/// Nothing takes this long; a test that waits for it is told so instead of hanging.
const LONG: Duration = Duration::from_secs(30);
