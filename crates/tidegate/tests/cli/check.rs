//! O3: `tidegate check` says what a file means.

use std::fs;

use tempfile::tempdir;

use crate::program::{complaint, said};

/// Checks this text as a file; what was said, with the folder's name left out.
fn meaning(text: &str) -> String {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    fs::write(&file, text).unwrap();
    let data = dir.path().join("data");
    let said = said(&["check", file.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    said.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn o3_check_says_what_the_defaults_mean() {
    insta::assert_snapshot!(meaning(""), @r"
    tidegate.toml says:

    control    pages and backends call http://127.0.0.1:8080
               a caller's address is its connection's; no proxy is trusted to say another
               one address makes 20 page calls at once, then one every 500 ms; a call that names a live seat or place counts for that one alone
               pages of every origin may call
               at most 20,000 connections, 256 of one address
    seats      a seat ends after 20 s of silence, 60 s in a hidden tab
               a place in line ends after 15 s without an ask, 75 s in a hidden tab
               a freed seat is held 10 s for the head of the line
               a kicked viewer is refused for 10 min
               at most 20,000 seats and places over all streams
    tokens     a viewer's token is good for 120 s, a publisher's for 12 h
               after `tidegate keys rotate` the older key verifies for 10 min more
    store      state is kept in data; its file grows as far as the disk goes
    telemetry  logs are text, filtered by info,moq_net=error; traces go nowhere
    chat       no live chats are read: they need [upstreams.youtube] and a gate that listens
    gate       listens on http://127.0.0.1:8090, with no upstream to call: write [upstreams.NAME]
               at most 10,000 connections, 1,000 of one address
    relay      `tidegate relay` takes sessions at 127.0.0.1:4443, with tokens of http://127.0.0.1:8080
               refuses newcomers from a busy share of 0.850, and has them try again in 2000 ms
               makes a certificate for development, which browsers take by its hash alone
    ");
}

#[test]
fn o3_check_says_what_is_set_and_what_is_doubtful() {
    let text = r#"
        [control]
        listen = "0.0.0.0:8443"
        exempt_networks = ["0.0.0.0/0"]
        cors_origins = ["https://example.org"]
        [seats]
        silence_s = 30
        offer_s = 4
        kick_block_s = 0
        [store]
        file_max_mb = 2000
        [telemetry]
        log = "debug"
        log_format = "json"
        otlp_endpoint = "http://127.0.0.1:4318"
        otlp_sample_percent = 5
    "#;
    insta::assert_snapshot!(meaning(text), @r"
    tidegate.toml says:

    control    pages and backends call http://0.0.0.0:8443
               a caller's address is its connection's; no proxy is trusted to say another
               one address makes 20 page calls at once, then one every 500 ms; a call that names a live seat or place counts for that one alone
               addresses in exempt_networks are limited by neither
               pages of https://example.org may call
               at most 20,000 connections, 256 of one address
    seats      a seat ends after 30 s of silence, 60 s in a hidden tab
               a place in line ends after 15 s without an ask, 75 s in a hidden tab
               a freed seat is held 4 s for the head of the line
               a kicked viewer may come again at once
               at most 20,000 seats and places over all streams
    tokens     a viewer's token is good for 120 s, a publisher's for 12 h
               after `tidegate keys rotate` the older key verifies for 10 min more
    store      state is kept in data; its file grows at most 2,000 MB
    telemetry  logs are JSON, filtered by debug; 5 % of traces go to http://127.0.0.1:4318
    chat       no live chats are read: they need [upstreams.youtube] and a gate that listens
    gate       listens on http://127.0.0.1:8090, with no upstream to call: write [upstreams.NAME]
               at most 10,000 connections, 1,000 of one address
    relay      `tidegate relay` takes sessions at 127.0.0.1:4443, with tokens of http://127.0.0.1:8080
               refuses newcomers from a busy share of 0.850, and has them try again in 2000 ms
               makes a certificate for development, which browsers take by its hash alone

    warning: [control] listen 0.0.0.0:8443 is reachable from outside, and speaks plain http: put a proxy that speaks TLS in front

    warning: [control] trusted_proxies is empty: behind a proxy all viewers count as one address and are refused 429 after a few calls

    warning: [control] exempt_networks exempts everybody: no call is limited per address

    warning: [seats] offer_s 4 leaves little time: a page looks for news every 2 s
    ");
}

#[test]
fn o3_an_unknown_key_fails_with_its_line_and_the_nearest_name() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    fs::write(&file, "[seats]\noffers = 10\n").unwrap();
    let file = file.to_str().unwrap();
    let expected = format!("error: {file}:2: unknown key offers in [seats]\nhint: did you mean offer_s?\n");
    assert_eq!(complaint(&["check", file]), expected);
    // The server refuses the same file with the same words.
    assert_eq!(complaint(&["up", "--config", file]), expected);
}

#[test]
fn o3_a_file_that_is_not_there_is_named() {
    let said = complaint(&["check", "/nowhere/tidegate.toml"]);
    assert!(said.starts_with("error: /nowhere/tidegate.toml: No such file"), "{said}");
}

#[test]
fn o3_an_endpoint_that_wants_tls_is_refused_with_a_way_out() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    fs::write(&file, "[telemetry]\notlp_endpoint = \"https://collector.example\"\n").unwrap();
    let said = complaint(&["check", file.to_str().unwrap()]);
    assert!(said.contains(":2: telemetry.otlp_endpoint: traces are sent over plain http"), "{said}");
}

#[test]
fn s23_check_repeats_the_warning_about_too_few_sessions() {
    let dir = tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    said(&["tenant", "add", "acme", "--viewer-cap", "200", "--max-sessions", "300", "--data", data]);
    let said = said(&["check", "--data", data]);
    assert!(
        said.contains("warning: tenant acme: max_sessions: 300 is less than 2 x viewer_cap + publishers"),
        "{said}"
    );
    assert!(said.contains("= 420"), "{said}");
}
