//! A viewer, as a page is one: it reads frames, and remembers the last id.

use std::collections::BTreeSet;

use tidegate_chat::event::{ErrorCode, Event, Failure, Kind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::events;
use crate::support::House;

/// A connection whose stream has opened.
pub(super) struct Viewer {
    socket: TcpStream,
    pub(super) got: Got,
    rest: Vec<u8>,
}

/// What a viewer has got, over all its connections.
#[derive(Debug, Default)]
pub(super) struct Got {
    pub(super) last_id: Option<String>,
    /// The numbers of the rows.
    pub(super) rows: Vec<u64>,
    pub(super) others: Vec<Kind>,
}

impl Viewer {
    pub(super) async fn enter(house: &House, name: &str) -> Self {
        Self::resume(house, name, Got::default()).await
    }

    /// Comes back with all that it has got before.
    pub(super) async fn resume(house: &House, name: &str, got: Got) -> Self {
        let mut socket = TcpStream::connect(house.address).await.unwrap();
        let last = got.last_id.as_ref().map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        let head = format!("GET {} HTTP/1.1\r\nhost: a\r\n{last}\r\n", events(name));
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut viewer = Self { socket, got, rest: Vec::new() };
        let end = loop {
            assert!(viewer.read().await > 0, "no head: {}", String::from_utf8_lossy(&viewer.rest));
            if let Some(end) = viewer.rest.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let head: Vec<u8> = viewer.rest.drain(..end).collect();
        assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&head));
        viewer.take();
        viewer
    }

    /// Reads until it is enough.
    pub(super) async fn until(&mut self, enough: impl Fn(&Got) -> bool) {
        while !enough(&self.got) {
            assert!(self.read().await > 0, "the stream ended: {:?}", self.got.others);
            self.take();
        }
    }

    /// Reads so many bytes more, wherever that is within a frame, and hangs up.
    pub(super) async fn lose_after(mut self, bytes: usize) -> Got {
        let mut left = bytes;
        while left > 0 {
            let mut piece = vec![0; left.min(4096)];
            let read = self.socket.read(&mut piece).await.unwrap();
            assert!(read > 0, "the stream ended: {:?}", self.got.others);
            self.rest.extend_from_slice(&piece[..read]);
            left -= read;
        }
        self.take();
        self.got
    }

    /// Reads until the server ends it.
    pub(super) async fn until_its_end(mut self) -> Got {
        while self.read().await > 0 {
            self.take();
        }
        self.got
    }

    async fn read(&mut self) -> usize {
        self.socket.read_buf(&mut self.rest).await.unwrap()
    }

    /// Takes the frames that are whole.
    fn take(&mut self) {
        let Some(end) = self.rest.windows(2).rposition(|bytes| bytes == b"\n\n") else { return };
        let whole: Vec<u8> = self.rest.drain(..end + 2).collect();
        for frame in std::str::from_utf8(&whole).unwrap().split_terminator("\n\n") {
            let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            self.got.last_id = field("id: ").or(self.got.last_id.take());
            let Some(data) = field("data: ") else { continue };
            let event: Event = serde_json::from_str(&data).unwrap();
            assert_eq!(field("event: ").as_deref(), Some(event.kind.name()));
            match event.id.as_ref().and_then(|id| id.strip_prefix('m')) {
                Some(row) => self.got.rows.push(row.parse().unwrap()),
                None => self.got.others.push(event.kind),
            }
        }
    }
}

impl Got {
    /// Rows one after the other, none twice, none missing.
    pub(super) fn check(&self) {
        let torn = self.rows.windows(2).find(|pair| pair[1] != pair[0] + 1);
        assert_eq!(torn, None);
        assert_eq!(self.rows.iter().collect::<BTreeSet<_>>().len(), self.rows.len());
    }

    pub(super) fn count(&self, kind: &str) -> usize {
        self.others.iter().filter(|other| other.name() == kind).count()
    }

    /// The last error that was told.
    pub(super) fn error(&self) -> Option<&Failure> {
        let failure = |kind: &'_ Kind| matches!(kind, Kind::Error(_));
        match self.others.iter().rfind(|kind| failure(kind)) {
            Some(Kind::Error(failure)) => Some(failure),
            Some(_) | None => None,
        }
    }

    pub(super) fn is_limited(&self) -> bool {
        self.error().is_some_and(|failure| failure.code == ErrorCode::RateLimited)
    }
}
