//! A TCP socket that sends what is small in one piece.
//!
//! hyper hands a head and its body over as two pieces. The kernel takes them in one vectored write, which costs it more
//! than copying a small body costs here: about 2 % of what a small answer costs in all.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A connection's socket.
pub(crate) struct Socket(TcpStream);

impl Socket {
    pub(crate) fn new(socket: TcpStream) -> Self {
        Self(socket)
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = bufs {
            return Pin::new(&mut self.0).poll_write(cx, only);
        }
        if bufs.iter().map(|buf| buf.len()).sum::<usize>() > SMALL {
            return Pin::new(&mut self.0).poll_write_vectored(cx, bufs);
        }
        let mut piece = [0; SMALL];
        let mut filled = 0;
        for buf in bufs {
            piece[filled..][..buf.len()].copy_from_slice(buf);
            filled += buf.len();
        }
        Pin::new(&mut self.0).poll_write(cx, &piece[..filled])
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// In bytes.
const SMALL: usize = 2048;
