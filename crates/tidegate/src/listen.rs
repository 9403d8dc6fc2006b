//! Takes a port, or says who may be asked for another.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener as StdListener};

use tokio::net::{TcpListener, TcpSocket};

use crate::config::Listen;
use crate::failure::{Failure, OrSay, Outcome};

/// How a port can be set: by a flag, or in the settings file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knob {
    flag: &'static str,
    key: &'static str,
}

/// The control's port.
pub(crate) const CONTROL: Knob = Knob { flag: "--listen", key: "[control] listen" };
/// The gate's port.
pub(crate) const GATE: Knob = Knob { flag: "--gate-listen", key: "[gate] listen" };

/// The relay's port.
pub(crate) const RELAY: Knob = Knob { flag: "--relay-listen", key: "[relay] listen" };

/// Listens where it is told to.
pub(crate) fn bind(listen: Listen, knob: Knob) -> Outcome<Option<TcpListener>> {
    match listen {
        Listen::Off => Ok(None),
        Listen::On(address) => open(address).map(Some).map_err(|error| refused(address, &error, knob)),
    }
}

/// Where that is; with port 0 the system chose one.
pub(crate) fn address(listener: Option<&TcpListener>) -> Outcome<Option<SocketAddr>> {
    let address = listener.map(TcpListener::local_addr).transpose();
    address.or_say(|| "the listener has no address".to_owned())
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart does not wait for the last one's connections to be forgotten.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn refused(address: SocketAddr, error: &io::Error, Knob { flag, key }: Knob) -> Failure {
    if error.kind() == ErrorKind::AddrInUse {
        let failure = Failure::new(format!("port {} of {} is taken by another process", address.port(), address.ip()));
        return failure.hint(match next_free(address) {
            Some(free) => format!("take the next free one with {flag} {free}, or set {key}"),
            None => format!("choose another with {flag} ADDR:PORT or {key}"),
        });
    }
    let failure = Failure::new(format!("cannot listen on {address}: {error}"));
    failure.hint(format!("choose another address or port with {flag} ADDR:PORT or {key}"))
}

fn next_free(taken: SocketAddr) -> Option<SocketAddr> {
    let ports = taken.port().checked_add(1)?..=taken.port().saturating_add(TRIED);
    ports.map(|port| SocketAddr::new(taken.ip(), port)).find(|address| StdListener::bind(address).is_ok())
}

/// Connections that wait to be accepted; when an audience comes at once there are many.
const BACKLOG: u32 = 8192;

/// So many ports are tried for a suggestion.
const TRIED: u16 = 100;
