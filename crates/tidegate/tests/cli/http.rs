//! As much HTTP as a test needs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

/// One call; its status and its JSON.
pub(crate) fn call(server: SocketAddr, method: &str, path: &str, key: Option<&str>, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(server).unwrap();
    let key = key.map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\n{key}content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

pub(crate) fn post(server: SocketAddr, path: &str, body: &str) -> (u16, Value) {
    call(server, "POST", path, None, body)
}

pub(crate) fn get(server: SocketAddr, path: &str, key: &str) -> (u16, Value) {
    call(server, "GET", path, Some(key), "")
}
