//! O1: the first start makes a tenant and prints its key once.

use std::net::TcpListener;

use tempfile::tempdir;

use crate::http::{call, get, post};
use crate::program::{KEY, Server, complaint, run, text};

#[test]
fn o1_the_first_start_prints_a_key_once_and_later_ones_do_not() {
    let dir = tempdir().unwrap();
    let mut first = Server::start(dir.path(), &[]);
    first.line_with("shown this once");
    let key = first.line_with("tg_");
    assert_eq!(key.len(), 46, "{key:?} stands alone, to be copied");
    let (status, tenant) = get(first.address, "/v1/tenant", &key);
    assert_eq!((status, tenant["id"].as_str()), (200, Some("main")));
    first.stop();

    let second = Server::start(dir.path(), &[]);
    assert_eq!(get(second.address, "/v1/tenant", &key).0, 200);
    let rest = second.stop();
    assert!(!rest.contains("tg_"), "{rest}");
}

#[test]
fn o1_the_printed_command_makes_a_stream() {
    let dir = tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    let key = server.line_with("tg_");
    let command = server.line_with("curl ");
    let body = command.split('\'').nth(1).unwrap();
    let (status, stream) = crate::http::call(server.address, "POST", "/v1/streams", Some(&key), body);
    assert_eq!((status, stream["viewer_cap"].as_u64()), (201, Some(500)), "{stream}");
}

#[test]
fn o1_a_given_key_is_the_key_and_is_not_printed() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--key", KEY]);
    assert_eq!(get(server.address, "/v1/tenant", KEY).0, 200);
    assert_eq!(get(server.address, "/v1/tenant", "another-key-0123456789").0, 401);
    let rest = server.stop();
    assert!(!rest.contains(KEY) && !rest.contains("tg_"), "{rest}");
}

#[test]
fn o1_a_key_given_to_a_later_start_opens_beside_the_older_one() {
    let dir = tempdir().unwrap();
    Server::start(dir.path(), &["--key", "the-first-key-0123456789"]).stop();
    let server = Server::start(dir.path(), &["--key", KEY]);
    for key in [KEY, "the-first-key-0123456789"] {
        assert_eq!(get(server.address, "/v1/tenant", key).0, 200);
    }
}

#[test]
fn o1_a_key_that_can_be_guessed_is_refused() {
    let output = run(&["up", "--key", "secret"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a key has 16 to 200"), "{}", text(&output.stderr));
}

#[test]
fn o1_a_port_that_is_taken_is_named_with_a_free_one() {
    let dir = tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, data) = (taken.local_addr().unwrap().to_string(), dir.path().to_str().unwrap());
    let said = complaint(&["up", "--listen", &address, "--data", data]);
    let port = taken.local_addr().unwrap().port();
    assert!(said.contains(&format!("error: port {port} of 127.0.0.1 is taken by another process")), "{said}");
    let free = said.split("--listen ").nth(1).unwrap().split(',').next().unwrap();
    assert!(said.contains("[control] listen"), "{said}");
    Server::spawn(&mut crate::program::tidegate(&["up", "--listen", free, "--data", data]));
}

#[test]
fn o1_a_server_that_listens_nowhere_still_takes_orders() {
    let dir = tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let server = Server::spawn(&mut crate::program::tidegate(&["up", "--listen", "off", "--data", data]));
    assert!(crate::program::said(&["tenant", "list", "--data", data]).contains("main"));
    server.stop();
}

#[test]
fn o1_a_failed_first_start_leaves_the_key_to_the_next() {
    let dir = tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    complaint(&["up", "--listen", &address, "--data", dir.path().to_str().unwrap()]);
    Server::start(dir.path(), &[]).line_with("tg_");
}

#[test]
fn o1_a_second_server_on_the_same_data_is_told_who_has_it() {
    let dir = tempdir().unwrap();
    let _first = Server::start(dir.path(), &[]);
    let data = dir.path().to_str().unwrap();
    let said = complaint(&["up", "--listen", "127.0.0.1:0", "--data", data]);
    assert!(said.contains(data) && said.contains("is in use by process"), "{said}");
    assert!(said.contains("hint: choose another directory with --data DIR"), "{said}");
}

#[test]
fn o1_the_demo_is_the_worked_example() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--demo", "--key", KEY]);
    let states: Vec<_> = (0..4).map(|_| post(server.address, "/v1/play/demo/admit", "{}").1["state"].clone()).collect();
    assert_eq!(states, ["in", "in", "wait", "full"]);
    server.stop();
    // A second start with the demo finds it there, and so does a third what became of its caps.
    let server = Server::start(dir.path(), &["--demo"]);
    assert_eq!(get(server.address, "/v1/streams/demo/stats", KEY).1["viewers"]["seats"], 2);
    let (status, _) = call(server.address, "PATCH", "/v1/streams/demo", Some(KEY), r#"{"viewer_cap":3,"queue_max":4}"#);
    assert_eq!(status, 200);
    server.stop();
    let mut server = Server::start(dir.path(), &["--demo"]);
    server.line_with("The stream demo has 3 seats and 4 places in line.");
    server.line_with("--viewers 20 --seconds 60 --cap 3");
}

#[test]
fn o4_no_secret_and_no_full_seat_id_is_logged() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--demo", "--key", KEY, "--log", "trace"]);
    let (_, told) = post(server.address, "/v1/play/demo/admit", "{}");
    let (seat, token) = (told["seat"].as_str().unwrap(), told["token"].as_str().unwrap());
    post(server.address, "/v1/play/demo/hb", &format!("{{\"seat\":\"{seat}\",\"token\":\"{token}\"}}"));
    get(server.address, "/v1/streams/demo/seats", KEY);
    post(server.address, "/v1/play/demo/leave", &format!("{{\"seat\":\"{seat}\"}}"));
    server.signal(rustix::process::Signal::TERM);
    let (_, _, log) = server.end();
    assert!(log.contains("store opened"), "{log}");
    for secret in [KEY, seat, token.rsplit('.').next().unwrap()] {
        assert!(!log.contains(secret), "the log says {secret}");
    }
}
