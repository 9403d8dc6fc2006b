//! A socket that knows when the kernel received what was read from it last.
//!
//! The log's own times are taken when the stand-in comes to read, which on a busy machine is milliseconds later for
//! one request and not for the next. What has come over the loopback bears the time at which it was sent.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// The kernel's time of the last piece that was read, in nanoseconds since 1970; 0 before the first, or if the
/// kernel says none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received(Arc<AtomicU64>);

impl Received {
    pub(crate) fn last_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A TCP socket whose reads are stamped.
pub(crate) struct Stamped {
    socket: TcpStream,
    received: Received,
}

impl Stamped {
    pub(crate) fn new(socket: TcpStream) -> io::Result<Self> {
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        Ok(Self { socket, received: Received::default() })
    }

    pub(crate) fn received(&self) -> Received {
        self.received.clone()
    }

    fn receive(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut into = [IoSliceMut::new(into)];
        let mut space = nix::cmsg_space!(TimeSpec);
        let fd = self.socket.as_raw_fd();
        let message = recvmsg::<()>(fd, &mut into, Some(&mut space), MsgFlags::empty())?;
        for control in message.cmsgs()? {
            if let ControlMessageOwned::ScmTimestampns(at) = control {
                let since_1970 = u64::try_from(Duration::from(at).as_nanos()).unwrap_or(u64::MAX);
                self.received.0.store(since_1970, Ordering::Relaxed);
            }
        }
        Ok(message.bytes)
    }
}

impl AsyncRead for Stamped {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket.poll_read_ready(cx))?;
            let room = buf.initialize_unfilled();
            match self.socket.try_io(Interest::READABLE, || self.receive(room)) {
                Ok(bytes) => {
                    buf.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, data)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
