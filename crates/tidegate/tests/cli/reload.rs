//! O3: SIGHUP reads the settings again; a bad file changes nothing.

use std::fs;

use rustix::process::Signal;
use tempfile::tempdir;

use crate::http::{call, post};
use crate::program::{KEY, Server};

/// The first status other than success when an address makes page calls that name nothing.
fn calls_at_once(server: &Server) -> usize {
    (0..60).take_while(|_| post(server.address, "/v1/play/demo/admit", "{}").0 != 429).count()
}

#[test]
fn o3_a_good_file_holds_at_once_and_a_bad_one_changes_nothing() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    // A bucket that does not fill again while the test runs.
    let control = "[control]\npage_refill_ms = 60000\n";
    fs::write(&file, format!("{control}page_burst = 5\n")).unwrap();
    let mut server =
        Server::start(&dir.path().join("data"), &["--demo", "--key", KEY, "--config", file.to_str().unwrap()]);
    assert_eq!(calls_at_once(&server), 5);

    fs::write(&file, format!("{control}page_burst = 30\n[seats]\nmax_places = 10\n")).unwrap();
    server.signal(Signal::HUP);
    server.logged("settings reloaded");
    assert_eq!(calls_at_once(&server), 30, "other limits begin with full buckets");
    let stream = r#"{"name":"large","viewer_cap":8}"#;
    let (status, told) = call(server.address, "POST", "/v1/streams", Some(KEY), stream);
    assert_eq!((status, told["code"].as_str()), (409, Some("too_many_places")));

    fs::write(&file, format!("{control}page_burst = 40\n[seats]\nmax_place = 100\n")).unwrap();
    server.signal(Signal::HUP);
    let line = server.logged("settings not reloaded, nothing was changed");
    assert!(line.contains("tidegate.toml:5: unknown key max_place in [seats]"), "{line}");
    assert_eq!(calls_at_once(&server), 0, "the same bucket is still empty");
    assert_eq!(call(server.address, "POST", "/v1/streams", Some(KEY), stream).0, 409);
}

#[test]
fn o3_what_cannot_change_while_running_is_named() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    fs::write(&file, "").unwrap();
    let data = dir.path().join("data");
    let config = file.to_str().unwrap();
    let mut command = crate::program::tidegate(&["up", "--config", config, "--listen", "127.0.0.1:0", "--data"]);
    let mut server = Server::spawn(command.arg(&data));
    fs::write(&file, "[control]\nlisten = \"127.0.0.1:1\"\n[telemetry]\nlog = \"debug\"\n").unwrap();
    server.signal(Signal::HUP);
    // The flag overrides the file, so the listener is not said to wait for a start.
    let line = server.logged("holds from the next start");
    assert!(line.contains("telemetry.log"), "{line}");
    server.logged("settings reloaded");
}

#[test]
fn o3_without_a_file_there_is_nothing_to_reload() {
    let dir = tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    server.signal(Signal::HUP);
    server.logged("nothing to reload");
    server.stop();
}
