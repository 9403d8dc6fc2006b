//! What `tidegate up --demo` shows of live chats.

use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::Signal;
use tidegate_youtube::YouTube;

use crate::http::get;
use crate::program::*;

const DEMO: &str = "tidegate-tv";

#[test]
fn o1_the_demo_has_a_living_chat() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &["--demo"]);
    let page = server.line_with("/demo/chat?video=");
    assert_eq!(page, format!("{}/demo/chat?video={DEMO}", server.url()));
    let mut printing = Server::printing(&["chat", DEMO, "--server", &server.url()]);
    printing.line_with("@harbour_pilot: Good morning, everybody!");
    printing.line_with("[banner shown] Pinned by @harbour_pilot");
    let (_, rooms) = get(server.address, "/v1/chat", "");
    assert_eq!(rooms["rooms"][0]["video"], DEMO);
}

#[test]
fn o1_the_demos_pages_run_nothing_but_their_own_files() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--demo"]);
    let files = [
        ("/demo/chat", "text/html"),
        ("/demo/chat.css", "text/css"),
        ("/demo/chat.js", "text/javascript"),
        ("/demo/watch", "text/html"),
        ("/demo/watch.css", "text/css"),
        ("/demo/watch.js", "text/javascript"),
        ("/demo/watch-hls.js", "text/javascript"),
    ];
    for (path, kind) in files {
        let answer = whole(&server, path);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(answer.contains(&format!("content-type: {kind}; charset=utf-8")), "{path}: {answer}");
        assert!(answer.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{path}: {answer}");
    }
    let dir = tempfile::tempdir().unwrap();
    let plain = Server::start(dir.path(), &[]);
    assert!(whole(&plain, "/demo/chat").starts_with("HTTP/1.1 404"), "only the demo has the page");
}

#[test]
fn o3_a_reload_leaves_the_demos_chat_alone() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("tidegate.toml");
    std::fs::write(&config, "").unwrap();
    let data = dir.path().join("data");
    let mut server = Server::start(&data, &["--demo", "--config", config.to_str().unwrap()]);
    std::fs::write(&config, "[upstreams.api]\nbase_url = \"http://127.0.0.1:9\"\n").unwrap();
    server.signal(Signal::HUP);
    server.logged("settings reloaded");
    Server::printing(&["chat", DEMO, "--server", &server.url()]).line_with("@");
}

#[test]
fn o1_a_configured_youtube_is_the_one_that_the_demo_reads() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let youtube = runtime.block_on(YouTube::start(tidegate_youtube::Script::default())).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("tidegate.toml");
    let text = format!("[upstreams.youtube]\npreset = \"youtube\"\nbase_url = \"{}\"\n", youtube.url());
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&dir.path().join("data"), &["--demo", "--config", config.to_str().unwrap()]);
    Server::printing(&["chat", DEMO, "--server", &server.url()]).line_with("row ");
    assert!(!server.stop().contains("/demo/chat?video="));
}

/// An answer as it is on the wire.
fn whole(server: &Server, path: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.address).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
