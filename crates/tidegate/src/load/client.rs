//! One viewer's keep-alive connection, as cheap as hyper allows.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};

/// Where the server is: the authority of an `http://` URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    host: String,
    port: u16,
}

impl Target {
    /// Looks the host up, once for all viewers, and finds the address that answers: `localhost` is often two.
    pub(crate) async fn look_up(&self) -> io::Result<SocketAddr> {
        let found = tokio::net::lookup_host((self.host.trim_matches(['[', ']']), self.port)).await?;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in found {
            match TcpStream::connect(address).await {
                Ok(_) => return Ok(address),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "write an address such as http://127.0.0.1:8080".to_owned();
        let url = text.parse::<http::Uri>().map_err(|_| wrong())?;
        match url.scheme_str() {
            Some("http") => {}
            Some("https") => return Err("only plain http is spoken; point it behind the TLS proxy".to_owned()),
            _ => return Err(wrong()),
        }
        let host = url.host().ok_or_else(wrong)?.to_owned();
        Ok(Self { host, port: url.port_u16().unwrap_or(80) })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "http://{}:{}", self.host, self.port)
    }
}

/// An answer, and between which two moments the server gave it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// From `Retry-After`, for answers whose body does not say.
    pub(crate) retry: Option<Duration>,
    pub(crate) body: Bytes,
    pub(crate) sent: Instant,
    pub(crate) got: Instant,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// No connection could be made: the server never saw the call.
    Unreachable(io::ErrorKind),
    /// The connection broke: the server may or may not have acted.
    Lost,
    /// Nothing came within [`PATIENCE`].
    Late,
}

impl NoAnswer {
    /// How the summary counts it.
    pub(crate) fn label(self) -> String {
        match self {
            Self::Unreachable(kind) => format!("connect: {kind}"),
            Self::Lost => "connection lost".to_owned(),
            Self::Late => format!("no answer in {} s", PATIENCE.as_secs()),
        }
    }
}

/// One viewer's connection; made when first needed and again after it broke.
pub(crate) struct Line {
    server: SocketAddr,
    authority: HeaderValue,
    from: Option<IpAddr>,
    key: Option<HeaderValue>,
    open: Option<SendRequest<Full<Bytes>>>,
}

impl Line {
    pub(crate) fn new(server: SocketAddr, target: &Target, from: Option<IpAddr>) -> Self {
        let authority = format!("{}:{}", target.host, target.port);
        let authority = HeaderValue::try_from(authority).expect("a parsed URL's authority is a header value");
        Self { server, authority, from, key: None, open: None }
    }

    /// Sends a secret key with every call.
    pub(crate) fn with_key(mut self, key: &str) -> Option<Self> {
        let mut value = HeaderValue::try_from(format!("Bearer {key}")).ok()?;
        value.set_sensitive(true);
        self.key = Some(value);
        Some(self)
    }

    /// Closes the connection, as a page that crashed does.
    pub(crate) fn hang_up(&mut self) {
        self.open = None;
    }

    pub(crate) async fn post(&mut self, path: &str, body: Vec<u8>) -> Result<Reply, NoAnswer> {
        self.call(http::Method::POST, path, body.into()).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Reply, NoAnswer> {
        self.call(http::Method::GET, path, Bytes::new()).await
    }

    async fn call(&mut self, method: http::Method, path: &str, body: Bytes) -> Result<Reply, NoAnswer> {
        let answer = timeout(PATIENCE, self.exchange(method, path, body)).await.unwrap_or(Err(NoAnswer::Late));
        if answer.is_err() {
            self.open = None;
        }
        answer
    }

    async fn exchange(&mut self, method: http::Method, path: &str, body: Bytes) -> Result<Reply, NoAnswer> {
        let request = self.request(method, path, body);
        let sender = self.sender().await?;
        let sent = Instant::now();
        let answer = sender.send_request(request).await.map_err(|_| NoAnswer::Lost)?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, BODY_MAX).collect().await.map_err(|_| NoAnswer::Lost)?.to_bytes();
        let retry = head.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let retry = retry.map(Duration::from_secs);
        Ok(Reply { status: head.status.as_u16(), retry, body, sent, got: Instant::now() })
    }

    fn request(&self, method: http::Method, path: &str, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().expect("paths are built from parts that were checked");
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.authority.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.key {
            headers.insert(header::AUTHORIZATION, key.clone());
        }
        request
    }

    /// The open connection. A server may close an idle one at any time, which is no error: a new one is made.
    async fn sender(&mut self) -> Result<&mut SendRequest<Full<Bytes>>, NoAnswer> {
        let usable = match &mut self.open {
            Some(open) => open.ready().await.is_ok(),
            None => false,
        };
        if !usable {
            self.open = Some(self.connect().await?);
        }
        Ok(self.open.as_mut().expect("just made"))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, NoAnswer> {
        let stream = self.dial().await.map_err(|err| NoAnswer::Unreachable(err.kind()))?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|_| NoAnswer::Lost)?;
        // It ends with the sender, or with an error that the sender tells as well.
        tokio::spawn(async move { connection.await.ok() });
        Ok(sender)
    }

    async fn dial(&self) -> io::Result<TcpStream> {
        let socket = if self.server.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        if let Some(from) = self.from {
            socket.bind(SocketAddr::new(from, 0))?;
        }
        let stream = socket.connect(self.server).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// The loopback address of one viewer: 127.1.1.1 and on, skipping .0 and .255 in every part.
pub(crate) fn own_address(viewer: u32) -> IpAddr {
    let part = |n: u32| u8::try_from(1 + n % 250).expect("at most 250");
    Ipv4Addr::new(127, part(viewer / 62_500), part(viewer / 250), part(viewer)).into()
}

/// A page gives a call up after this long. Browsers wait longer; a seat could not.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// No answer to a page is near this; a larger one is not ours.
const BODY_MAX: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_plain_http_with_a_port() {
        assert_eq!("http://127.0.0.1:8080".parse(), Ok(Target { host: "127.0.0.1".to_owned(), port: 8080 }));
        assert_eq!("http://[::1]/".parse(), Ok(Target { host: "[::1]".to_owned(), port: 80 }));
        assert!("https://example.org".parse::<Target>().is_err_and(|said| said.contains("plain http")));
        for wrong in ["", "127.0.0.1:8080", "ftp://x", "http://"] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong:?} was read");
        }
    }

    #[test]
    fn every_viewer_has_an_address_of_its_own() {
        let all: std::collections::BTreeSet<_> = (0..200_000).map(own_address).collect();
        assert_eq!(all.len(), 200_000);
        assert!(all.iter().all(IpAddr::is_loopback));
    }
}
