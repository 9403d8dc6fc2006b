//! O4: traces go to an OTLP collector over plain HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message;
use tempfile::tempdir;

use crate::http::post;
use crate::program::{KEY, Server};

#[test]
fn o4_traces_of_requests_reach_a_collector() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", collector.local_addr().unwrap());
    let (to, exports) = channel();
    thread::spawn(move || {
        for stream in collector.incoming().map_while(Result::ok) {
            let (path, body) = receive(&stream);
            (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            to.send((path, ExportTraceServiceRequest::decode(body.as_slice()).unwrap())).ok();
        }
    });

    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    fs::write(&file, format!("[telemetry]\notlp_endpoint = \"{endpoint}\"\n")).unwrap();
    let server = Server::start(&dir.path().join("data"), &["--demo", "--key", KEY, "--config", file.to_str().unwrap()]);
    post(server.address, "/v1/play/demo/admit", "{}");
    // What is left is sent at the stop.
    server.stop();

    let (path, export) = exports.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(path, "/v1/traces");
    let spans = &export.resource_spans[0];
    let attributes = &spans.resource.as_ref().unwrap().attributes;
    let service = attributes.iter().find(|attribute| attribute.key == "service.name").unwrap();
    let name = service.value.as_ref().unwrap().value.as_ref().unwrap();
    assert_eq!(name, &Value::StringValue("tidegate".to_owned()));
    let spans: Vec<_> = spans.scope_spans.iter().flat_map(|scope| &scope.spans).collect();
    assert!(spans.iter().any(|span| span.name == "request" && !span.trace_id.is_empty()), "{spans:?}");
}

#[test]
fn o4_a_collector_that_is_not_there_costs_a_log_line_and_nothing_else() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("tidegate.toml");
    // Nothing listens on a port that was just given back.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    fs::write(&file, format!("[telemetry]\notlp_endpoint = \"http://{gone}\"\n")).unwrap();
    let server = Server::start(&dir.path().join("data"), &["--demo", "--key", KEY, "--config", file.to_str().unwrap()]);
    assert_eq!(post(server.address, "/v1/play/demo/admit", "{}").0, 201);
    server.signal(rustix::process::Signal::TERM);
    let (code, _, log) = server.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("traces could not be sent to the collector"), "{log}");
}

#[test]
fn o4_json_logs_are_one_object_a_line() {
    let dir = tempdir().unwrap();
    let server = Server::start(dir.path(), &["--log-format", "json"]);
    server.signal(rustix::process::Signal::TERM);
    let (_, _, log) = server.end();
    assert!(log.lines().count() >= 3, "{log}");
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["message"].is_string() && line["level"] == "INFO", "{line}");
    }
}

/// One request's path and body.
fn receive(stream: &std::net::TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let (mut path, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if path.is_empty() {
            path = line.split(' ').nth(1).unwrap().to_owned();
        } else if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        } else if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (path, body)
}
