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
