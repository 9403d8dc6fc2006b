//! Keep-alive connections that cost the load next to nothing: the request is bytes, the answer is counted.

use std::io::{Read, Write};
use std::net::SocketAddr;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Where calls go: an address, and what stands before each path.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) prefix: &'static str,
}

impl Target {
    /// A GET of a path.
    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        format!("GET {}{path} HTTP/1.1\r\nhost: {}\r\naccept: */*\r\n\r\n", self.prefix, self.address).into_bytes()
    }
}

/// A connection on the runtime.
pub(crate) struct Line(tokio::net::TcpStream, Reading);

impl Line {
    pub(crate) async fn open(target: Target) -> anyhow::Result<Self> {
        let stream = tokio::net::TcpStream::connect(target.address).await.context("connecting")?;
        stream.set_nodelay(true)?;
        Ok(Self(stream, Reading::new()))
    }

    /// Sends a request and waits for nothing.
    pub(crate) async fn send(&mut self, request: &[u8]) -> anyhow::Result<()> {
        Ok(self.0.write_all(request).await?)
    }

    /// Sends a request and reads its answer to the end.
    pub(crate) async fn call(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.send(request).await?;
        loop {
            let count = self.0.read(self.1.space()).await?;
            if self.1.took(count)? {
                return Ok(());
            }
        }
    }
}

/// A connection of a thread.
pub(crate) struct ThreadLine(std::net::TcpStream, Reading);

impl ThreadLine {
    pub(crate) fn open(target: Target) -> anyhow::Result<Self> {
        let stream = std::net::TcpStream::connect(target.address).context("connecting")?;
        stream.set_nodelay(true)?;
        Ok(Self(stream, Reading::new()))
    }

    /// Sends a request and reads its answer to the end; the last answer's bytes, as far as they were kept.
    pub(crate) fn call(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.0.write_all(request)?;
        loop {
            let count = self.0.read(self.1.space())?;
            if self.1.took(count)? {
                return Ok(&self.1.buffer[..count]);
            }
        }
    }
}

/// An answer as far as it has come. One request at a time, so nothing comes after its end.
struct Reading {
    buffer: Box<[u8]>,
    /// Bytes of the head so far.
    filled: usize,
    /// Bytes of the body that are missing, once the head is whole.
    missing: Option<usize>,
}

impl Reading {
    fn new() -> Self {
        Self { buffer: vec![0; 64 * 1024].into(), filled: 0, missing: None }
    }

    fn space(&mut self) -> &mut [u8] {
        let from = if self.missing.is_some() { 0 } else { self.filled };
        &mut self.buffer[from..]
    }

    /// Takes what was read into [`Reading::space`]; true when the answer is whole.
    fn took(&mut self, count: usize) -> anyhow::Result<bool> {
        ensure!(count > 0, "the connection was closed in the middle of an answer");
        let missing = match self.missing {
            Some(missing) => missing.checked_sub(count),
            None => {
                self.filled += count;
                let Some((head, body)) = head(&self.buffer[..self.filled])? else { return Ok(false) };
                body.checked_sub(self.filled - head)
            }
        };
        match missing.context("more came than the answer's length")? {
            0 => {
                (self.filled, self.missing) = (0, None);
                Ok(true)
            }
            more => {
                self.missing = Some(more);
                Ok(false)
            }
        }
    }
}

/// Lengths of a whole head and of the body that it announces.
fn head(bytes: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(bytes)? else { return Ok(None) };
    if response.code != Some(200) {
        bail!("answered {}", String::from_utf8_lossy(bytes));
    }
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.context("an answer without Content-Length")?.value;
    Ok(Some((head, std::str::from_utf8(length)?.parse()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(reading: &mut Reading, bytes: &[u8]) -> anyhow::Result<bool> {
        reading.space()[..bytes.len()].copy_from_slice(bytes);
        reading.took(bytes.len())
    }

    #[test]
    fn an_answer_is_whole_after_the_bytes_that_it_announced() {
        let mut reading = Reading::new();
        for _ in 0..2 {
            assert!(!feed(&mut reading, b"HTTP/1.1 200 OK\r\ncontent-").unwrap());
            assert!(!feed(&mut reading, b"length: 5\r\n\r\nab").unwrap());
            assert!(!feed(&mut reading, b"cd").unwrap());
            assert!(feed(&mut reading, b"e").unwrap());
        }
        assert!(feed(&mut reading, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap());
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        for wrong in
            ["HTTP/1.1 502 Bad\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab"]
        {
            assert!(feed(&mut Reading::new(), wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(Reading::new().took(0).is_err());
    }
}
