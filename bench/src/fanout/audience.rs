//! Viewers that cost their machine next to nothing: one thread, one buffer, and a look for the number of each row.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Socket, Type};

/// Viewers of one stream, and what they got.
pub(crate) struct Audience {
    poll: Poll,
    viewers: Vec<Viewer>,
    buffer: Box<[u8]>,
    pub(crate) receipts: Vec<Receipt>,
}

/// One row that came to one viewer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receipt {
    pub(crate) row: u64,
    pub(crate) at: Instant,
}

struct Viewer {
    socket: TcpStream,
    reading: Reading,
}

/// What a viewer has read.
#[derive(Default)]
struct Reading {
    /// The end of what was read, where a number may be cut off.
    rest: Vec<u8>,
    /// The row that must come next.
    next: Option<u64>,
    faults: u64,
}

impl Audience {
    /// Lets so many in, many at once, as they come when a stream begins.
    pub(crate) fn open(server: SocketAddr, path: &str, count: usize) -> anyhow::Result<Self> {
        let request = request(server, path);
        let mut this = Self {
            poll: Poll::new()?,
            viewers: Vec::with_capacity(count),
            buffer: vec![0; 64 << 10].into(),
            receipts: Vec::new(),
        };
        while this.viewers.len() < count {
            let many = AT_ONCE.min(count - this.viewers.len());
            let sockets = (0..many).map(|_| {
                let mut socket = std::net::TcpStream::connect(server).context("connecting a viewer")?;
                socket.set_nodelay(true)?;
                socket.write_all(request.as_bytes())?;
                anyhow::Ok(socket)
            });
            for socket in sockets.collect::<Vec<_>>() {
                this.seat(socket?)?;
            }
        }
        Ok(this)
    }

    fn seat(&mut self, mut socket: std::net::TcpStream) -> anyhow::Result<()> {
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = socket.read(&mut self.buffer).context("reading a viewer's head")?;
            ensure!(read > 0, "a viewer was turned away");
            head.extend_from_slice(&self.buffer[..read]);
        }
        ensure!(head.starts_with(b"HTTP/1.1 200"), "a viewer was answered {}", String::from_utf8_lossy(&head));
        let mut reading = Reading::default();
        reading.take(&head, |_| {});
        socket.set_nonblocking(true)?;
        let mut socket = TcpStream::from_std(socket);
        self.poll.registry().register(&mut socket, Token(self.viewers.len()), Interest::READABLE)?;
        self.viewers.push(Viewer { socket, reading });
        Ok(())
    }

    /// Reads what comes until then.
    pub(crate) fn watch(&mut self, until: Instant) -> anyhow::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            match self.poll.poll(&mut events, Some(left)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            for event in &events {
                self.read(event.token().0)?;
            }
        }
    }

    fn read(&mut self, place: usize) -> anyhow::Result<()> {
        let Self { viewers, buffer, receipts, .. } = self;
        let viewer = &mut viewers[place];
        loop {
            match viewer.socket.read(buffer) {
                Ok(0) => anyhow::bail!("a viewer's stream ended"),
                Ok(read) => {
                    let at = Instant::now();
                    viewer.reading.take(&buffer[..read], |row| receipts.push(Receipt { row, at }));
                    // Less than there was room for: nothing is left, and what comes now is told anew.
                    if read < buffer.len() {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("reading a viewer's stream"),
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.viewers.len()
    }

    /// Rows that came out of order, twice or not at all, and viewers that wait for a row up to this one.
    pub(crate) fn faults(&self, last: u64) -> u64 {
        let behind = |viewer: &&Viewer| viewer.reading.next.is_none_or(|next| next <= last);
        let torn: u64 = self.viewers.iter().map(|viewer| viewer.reading.faults).sum();
        torn + self.viewers.iter().filter(behind).count() as u64
    }
}

impl Reading {
    /// Takes what came, and tells the rows in it.
    fn take(&mut self, bytes: &[u8], mut tell: impl FnMut(u64)) {
        let joined;
        let bytes = if self.rest.is_empty() {
            bytes
        } else {
            self.rest.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.rest);
            &joined
        };
        let mut done = 0;
        for found in memchr::memmem::find_iter(bytes, ROW) {
            let Some(row) = number(&bytes[found + ROW.len()..]) else { break };
            done = found + ROW.len();
            if self.next.is_some_and(|next| next != row) {
                self.faults += 1;
            }
            self.next = Some(row + 1);
            tell(row);
        }
        // Whole frames end in an empty line: nothing is cut off, and nothing has to be kept.
        if !bytes.ends_with(b"\n\n") {
            let from = done.max(bytes.len().saturating_sub(ROW.len() + 20));
            self.rest = bytes[from..].to_vec();
        }
    }
}

/// Viewers that ask and never read; the system keeps as little for them as it can.
pub(crate) fn open_deaf(server: SocketAddr, path: &str, count: usize) -> anyhow::Result<Vec<Socket>> {
    let open = |_| {
        let mut socket = Socket::new(Domain::for_address(server), Type::STREAM, None)?;
        socket.set_recv_buffer_size(4096)?;
        socket.connect(&server.into())?;
        socket.write_all(request(server, path).as_bytes())?;
        Ok(socket)
    };
    (0..count).map(open).collect()
}

fn request(server: SocketAddr, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: {server}\r\naccept: text/event-stream\r\nuser-agent: tidegate-bench\r\n\r\n")
}

/// The number up to the quotation mark, if all of it is there.
fn number(bytes: &[u8]) -> Option<u64> {
    let end = bytes.iter().take(20).position(|&byte| byte == b'"')?;
    std::str::from_utf8(&bytes[..end]).ok()?.parse().ok()
}

/// What stands before the number of each row.
const ROW: &[u8] = b"\"text\":\"row ";
/// Connections that are opened at once.
const AT_ONCE: usize = 250;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_wherever_they_are_cut() {
        let frames = "data: {\"text\":\"row 9\"}\n\ndata: {\"text\":\"row 10\"}\n\ndata: {\"text\":\"row 11\"}\n\n";
        for cut in 0..frames.len() {
            let (mut reading, mut rows) = (Reading::default(), Vec::new());
            let (first, second) = frames.as_bytes().split_at(cut);
            reading.take(first, |row| rows.push(row));
            reading.take(second, |row| rows.push(row));
            assert_eq!((rows, reading.faults), (vec![9, 10, 11], 0), "cut at {cut}");
        }
    }

    #[test]
    fn a_row_that_is_missing_or_comes_twice_is_a_fault() {
        for (rows, faults) in [([1, 2, 4], 1), ([1, 2, 2], 1), ([1, 3, 2], 2)] {
            let mut reading = Reading::default();
            for row in rows {
                reading.take(format!("{{\"text\":\"row {row}\"}}\n\n").as_bytes(), |_| {});
            }
            assert_eq!(reading.faults, faults, "{rows:?}");
        }
    }
}
