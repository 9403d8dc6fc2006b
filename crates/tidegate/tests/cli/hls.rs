//! A viewer without WebTransport: the relay's LL-HLS over HTTP (E17).

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::http::{call, post};
use crate::program::{KEY, Server};

/// The demo with its relay, a seat there, and an HTTP session on its token.
struct Stage {
    server: Server,
    _dir: TempDir,
    relay: SocketAddr,
    seated: Value,
    /// The path of the rendition's playlist.
    playlist: String,
    /// The playlist of playlists.
    top: String,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Its status and the code of its problem.
    fn refusal(&self) -> (u16, String) {
        let problem: Value = serde_json::from_slice(&self.body).unwrap();
        (self.status, problem["code"].as_str().unwrap().to_owned())
    }
}

impl Stage {
    fn open() -> Self {
        let dir = tempdir().unwrap();
        let server = Server::start(dir.path(), &["--demo", "--key", KEY, "--relay-listen", "127.0.0.1:0"]);
        let seated = seated_with_a_relay(server.address);
        let hls_url = seated["relays"][0]["hls_url"].as_str().unwrap();
        let relay = hls_url.strip_prefix("http://").unwrap().strip_suffix("/hls").unwrap().parse().unwrap();
        let entrance = format!("/hls/demo/index.m3u8?jwt={}", seated["token"].as_str().unwrap());
        let top = until("the picture is not published", || {
            let answer = get(relay, &entrance);
            if answer.status == 200 {
                return Some(answer.text());
            }
            assert_eq!(answer.refusal(), (404, "no_broadcast".into()));
            None
        });
        let playlist = top.lines().find(|line| !line.starts_with('#')).unwrap();
        let playlist = format!("/hls/demo/{playlist}");
        Self { server, _dir: dir, relay, seated, playlist, top }
    }

    fn get(&self, path: &str) -> Answer {
        get(self.relay, path)
    }

    /// What a playlist names, which is relative to it.
    fn beside(&self, name: &str) -> Answer {
        let (folder, _) = self.playlist.rsplit_once('/').unwrap();
        self.get(&format!("{folder}/{name}"))
    }

    fn reload(&self, query: &str) -> Answer {
        self.get(&format!("{}{query}", self.playlist))
    }

    fn hand_in(&self, token: &str) -> Answer {
        let (folder, _) = self.playlist.rsplit_once('/').unwrap();
        ask(self.relay, "POST", &format!("{folder}/token"), token)
    }

    /// A token of its seat that is new.
    fn renewed(&self) -> String {
        let seat = json!({"seat": self.seated["seat"]}).to_string();
        post(self.server.address, "/v1/play/demo/token", &seat).1["token"].as_str().unwrap().to_owned()
    }

    fn kick(&self) {
        let seat = json!({"seat": self.seated["seat"]}).to_string();
        assert_eq!(call(self.server.address, "POST", "/v1/streams/demo/kick", Some(KEY), &seat).0, 200);
    }
}

#[test]
fn e17_parts_are_read_as_they_come_and_a_reload_waits_for_the_next() {
    let stage = Stage::open();
    assert!(stage.top.contains("RESOLUTION=640x360"), "{}", stage.top);
    let text = stage.reload("").text();
    assert!(text.contains("#EXT-X-TARGETDURATION:4\n"), "{text}");
    assert!(text.contains("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK="), "{text}");
    let init = stage.beside(quoted(&text, "#EXT-X-MAP:URI="));
    assert_eq!((init.status, &init.body[4..8]), (200, &b"ftyp"[..]));

    let target = seconds(&text, "#EXT-X-PART-INF:PART-TARGET=");
    let parts: Vec<_> = text.lines().filter(|line| line.starts_with("#EXT-X-PART:")).collect();
    assert!(!parts.is_empty() && parts.iter().all(|part| seconds(part, "DURATION=") <= target), "{text}");

    // The part that the playlist hints at is waited for, and so is the playlist that lists it.
    let hint = quoted(&text, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=");
    let part = stage.beside(hint);
    assert_eq!((part.status, &part.body[4..8]), (200, &b"moof"[..]));
    let (segment, number) = named(hint);
    let newer = stage.reload(&format!("?_HLS_msn={segment}&_HLS_part={}", number + 1)).text();
    let listed = newer.lines().find(|line| line.contains(&format!("URI=\"{hint}\""))).unwrap();
    assert!(listed.starts_with("#EXT-X-PART:"), "{newer}");
    let (whole_segment, _) = named(quoted(&newer, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI="));
    let whole = stage.reload(&format!("?_HLS_msn={whole_segment}")).text();
    assert!(whole.contains(&format!("\nv0/{whole_segment}.m4s\n")), "{whole}");
    assert_eq!(stage.beside(&format!("v0/{whole_segment}.m4s")).status, 200);
    stage.server.stop();
}

#[test]
fn e17_a_token_opens_one_session_and_what_is_no_session_gets_nothing() {
    let stage = Stage::open();
    let refused = |path: &str| stage.get(path).refusal();
    assert_eq!(refused("/hls/demo/index.m3u8"), (401, "UNAUTHORIZED".into()));
    assert_eq!(refused("/hls/demo/index.m3u8?jwt=a.b.c"), (401, "UNAUTHORIZED".into()));
    let token = stage.seated["token"].as_str().unwrap();
    assert_eq!(refused(&format!("/hls/other/index.m3u8?jwt={token}")), (401, "UNAUTHORIZED".into()));
    assert_eq!(refused(&format!("/hls/demo/index.m3u8?jwt={token}")), (409, "TOKEN_IN_USE".into()));
    assert_eq!(refused("/hls/demo/s/0123/v0.m3u8"), (410, "session_gone".into()));
    assert_eq!(refused("/hls/demo"), (404, "not_found".into()));

    assert_eq!(stage.reload("?_HLS_msn=99999999999").refusal(), (400, "bad_request".into()));
    assert_eq!(stage.reload("?_HLS_part=1").refusal(), (400, "bad_request".into()));
    assert_eq!(stage.beside("v0/1.m4s").refusal(), (404, "not_found".into()));
    assert_eq!(stage.beside("v7.m3u8").refusal(), (404, "not_found".into()));
    let posted = ask(stage.relay, "POST", &stage.playlist, "");
    assert_eq!(posted.refusal(), (405, "method_not_allowed".into()));

    let preflight = ask(stage.relay, "OPTIONS", &stage.playlist, "");
    assert_eq!(preflight.status, 204);
    assert!(preflight.head.contains("access-control-allow-origin: *"), "{}", preflight.head);
    stage.server.stop();
}

#[test]
fn e4_e17_a_renewed_token_goes_on_in_the_same_session() {
    let stage = Stage::open();
    assert_eq!(stage.hand_in("a.b.c").refusal(), (401, "UNAUTHORIZED".into()));
    let token = stage.renewed();
    assert_eq!(stage.hand_in(&token).status, 204);
    // The answer may be lost: the second time is the same.
    assert_eq!(stage.hand_in(&token).status, 204);
    assert_eq!(stage.reload("").status, 200);
    let again = stage.get(&format!("/hls/demo/index.m3u8?jwt={token}"));
    assert_eq!(again.refusal(), (409, "TOKEN_IN_USE".into()));
    stage.server.stop();
}

#[test]
fn t6_e17_a_kick_ends_a_session_over_http() {
    let stage = Stage::open();
    stage.kick();
    until("the session goes on", || {
        let answer = stage.reload("");
        (answer.status != 200).then(|| assert_eq!(answer.refusal(), (410, "session_gone".into())))
    });
    let token = stage.seated["token"].as_str().unwrap();
    let again = stage.get(&format!("/hls/demo/index.m3u8?jwt={token}"));
    assert_eq!(again.refusal(), (403, "REMOVED".into()));
    stage.server.stop();
}

/// Asks the demo's stream for a seat, and again until the answer lists a relay.
fn seated_with_a_relay(control: SocketAddr) -> Value {
    let mut body = "{}".to_owned();
    until("no relay is listed", || {
        let seated = post(control, "/v1/play/demo/admit", &body).1;
        body = json!({"seat": seated["seat"]}).to_string();
        (seated["relays"] != json!([])).then_some(seated)
    })
}

/// Tries until it works; never for long.
fn until<T>(otherwise: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        assert!(Instant::now() < end, "{otherwise}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn get(server: SocketAddr, path: &str) -> Answer {
    ask(server, "GET", path, "")
}

fn ask(server: SocketAddr, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(server).unwrap();
    let length = body.len();
    let head = format!("host: {server}\r\nconnection: close\r\ncontent-length: {length}");
    write!(stream, "{method} {path} HTTP/1.1\r\n{head}\r\n\r\n{body}").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let body = answer.split_off(end + 4);
    let head = String::from_utf8(answer).unwrap();
    Answer { status: head.split(' ').nth(1).unwrap().parse().unwrap(), head, body }
}

/// The quoted text after these words.
fn quoted<'a>(text: &'a str, words: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("{words}\"")).unwrap();
    rest.split_once('"').unwrap().0
}

/// The number after these words.
fn seconds(text: &str, words: &str) -> f64 {
    let (_, rest) = text.split_once(words).unwrap();
    rest.split([',', '\n']).next().unwrap().parse().unwrap()
}

/// The segment and the part that an address such as `v0/17.3.m4s` names.
fn named(part: &str) -> (u64, usize) {
    let (_, name) = part.split_once('/').unwrap();
    let (segment, part) = name.strip_suffix(".m4s").unwrap().split_once('.').unwrap();
    (segment.parse().unwrap(), part.parse().unwrap())
}
