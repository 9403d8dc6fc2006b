//! The client of one upstream: pooled connections, HTTP/1.1 and 2, TLS.

mod in_time;
mod line;
mod lines;

use std::error::Error;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tidegate_gate::UpstreamSettings;
use tokio::time::{timeout, timeout_at};

pub(crate) use self::lines::Answering;

use self::in_time::InTime;
use self::lines::Lines;
use crate::clock;
use crate::desk::Departure;
use crate::error::Failure;
use crate::exchange::Carrier;
use crate::outgoing::{Outgoing, Upload};

/// Where an upstream is, and the connections to it.
pub(crate) struct Outlet {
    reach: Reach,
    /// Of an upstream that is certain to speak HTTP/1.1, for there is no TLS in which it could say otherwise.
    lines: Option<Arc<Lines>>,
    client: Pool,
    /// Only HTTP/1.1 can be upgraded to a WebSocket; made when the first one comes.
    upgrades: OnceLock<Pool>,
    tls: ClientConfig,
    scheme: Scheme,
    authority: Authority,
    prefix: String,
    /// `Host` for a connection that is certain to be HTTP/1.1; HTTP/2 has it in the URI.
    host: Option<HeaderValue>,
}

type Pool = Client<InTime<HttpsConnector<HttpConnector>>, Outgoing>;

/// What the settings say about reaching an upstream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reach {
    base_url: String,
    ca_file: Option<PathBuf>,
    connect_timeout: Duration,
    answer_timeout: Duration,
}

/// Why an upstream's client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OutletError {
    /// The base URL.
    #[error(
        "base_url {url:?} is no URL of a server: write http:// or https://, a host, and no query, fragment or password"
    )]
    BaseUrl {
        /// The URL.
        url: String,
    },
    /// The file of additional roots.
    #[error("ca_file {}: {error}", .file.display())]
    CaFile {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        #[source]
        error: Box<dyn Error + Send + Sync>,
    },
}

/// The upstream did not answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer within {} s", .0.as_secs_f64())]
pub(crate) struct Unanswering(pub(crate) Duration);

impl Outlet {
    /// The client of these settings: the one there was, if nothing about it changed. `None` without a base URL.
    pub(crate) fn of(settings: &UpstreamSettings, before: Option<Arc<Self>>) -> Result<Option<Arc<Self>>, OutletError> {
        let Some(reach) = Reach::of(settings) else { return Ok(None) };
        match before {
            Some(before) if before.reach == reach => Ok(Some(before)),
            Some(_) | None => Self::new(reach).map(Arc::new).map(Some),
        }
    }

    fn new(reach: Reach) -> Result<Self, OutletError> {
        let wrong = || OutletError::BaseUrl { url: reach.base_url.clone() };
        let base = reach.base_url.parse::<Uri>().map_err(|_| wrong())?.into_parts();
        let (Some(scheme), Some(authority)) = (base.scheme, base.authority) else { return Err(wrong()) };
        let prefix = base.path_and_query.map_or(String::new(), |path| path.path().trim_end_matches('/').to_owned());
        let tls = tls(&reach)?;
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| wrong())?;
        let plain = (scheme == Scheme::HTTP).then(|| root(&scheme, &authority)).flatten();
        Ok(Self {
            lines: plain.map(|to| Lines::new(InTime { connector: tcp(&reach), time: reach.connect_timeout }, to)),
            client: pool(&reach, tls.clone(), true),
            upgrades: OnceLock::new(),
            tls,
            host: (scheme == Scheme::HTTP).then_some(host),
            scheme,
            authority,
            prefix,
            reach,
        })
    }

    /// The URI of a path (with its query) at this upstream, as its connections want it.
    pub(crate) fn uri(&self, path: &str, upgrading: bool) -> Option<Uri> {
        let path = match path.as_bytes().first() {
            Some(b'/') if self.prefix.is_empty() => PathAndQuery::try_from(path),
            Some(b'/') => PathAndQuery::try_from(format!("{}{path}", self.prefix)),
            Some(_) | None => PathAndQuery::try_from(format!("{}/{path}", self.prefix)),
        };
        if self.lines.is_some() && !upgrading {
            return path.ok().map(Uri::from);
        }
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path.ok()?);
        Uri::from_parts(parts).ok()
    }

    pub(crate) fn host(&self) -> Option<&HeaderValue> {
        self.host.as_ref()
    }

    /// Closes connections that nobody will use.
    pub(crate) fn tidy(&self) {
        self.lines.iter().for_each(|lines| lines.tidy());
    }

    /// Waits for an answer, for as long as the settings say.
    async fn in_time(
        &self,
        upload: Option<Arc<Upload>>,
        answer: impl Future<Output = Result<Response<Answering>, Failure>>,
    ) -> Result<Response<Answering>, Failure> {
        let patience = self.reach.answer_timeout;
        let late = |_| Failure::new(Unanswering(patience));
        let Some(upload) = upload else { return timeout(patience, answer).await.map_err(late)? };
        // A long upload is no silence: the time counts from its last piece.
        let mut answer = std::pin::pin!(answer);
        loop {
            let until = upload.moved() + patience;
            match timeout_at(until.into(), &mut answer).await {
                Ok(answer) => return answer,
                Err(elapsed) if upload.moved() + patience <= clock::now() => return Err(late(elapsed)),
                Err(_) => {}
            }
        }
    }
}

impl Reach {
    fn of(settings: &UpstreamSettings) -> Option<Self> {
        Some(Self {
            base_url: settings.base_url.clone()?,
            ca_file: settings.ca_file.clone(),
            connect_timeout: settings.connect_timeout,
            answer_timeout: settings.answer_timeout,
        })
    }
}

/// Ordinary requests.
impl Carrier<Outgoing> for Arc<Outlet> {
    type Body = Answering;

    async fn carry(
        &mut self,
        mut request: Box<Request<Outgoing>>,
        departure: Option<Departure>,
    ) -> Result<Response<Answering>, Failure> {
        request.body_mut().tell(departure);
        let upload = request.body().upload();
        match &self.lines {
            // Pinned here: passed on by value it would be in this future once for each hand that it goes through.
            Some(lines) => self.in_time(upload, std::pin::pin!(lines.send(request))).await,
            // Boxed: a future is as large as its largest way.
            None => Box::pin(self.in_time(upload, pooled(&self.client, request))).await,
        }
    }
}

/// Requests that ask for an upgrade.
#[derive(Clone)]
pub(crate) struct Upgrading(pub(crate) Arc<Outlet>);

impl Carrier<Outgoing> for Upgrading {
    type Body = Answering;

    async fn carry(
        &mut self,
        mut request: Box<Request<Outgoing>>,
        departure: Option<Departure>,
    ) -> Result<Response<Answering>, Failure> {
        request.body_mut().tell(departure);
        let outlet = &self.0;
        let pool = outlet.upgrades.get_or_init(|| pool(&outlet.reach, outlet.tls.clone(), false));
        outlet.in_time(request.body().upload(), pooled(pool, request)).await
    }
}

async fn pooled(pool: &Pool, request: Box<Request<Outgoing>>) -> Result<Response<Answering>, Failure> {
    pool.request(*request).await.map(|response| response.map(Answering::by_itself)).map_err(Failure::new)
}

fn root(scheme: &Scheme, authority: &Authority) -> Option<Uri> {
    Uri::builder().scheme(scheme.clone()).authority(authority.clone()).path_and_query("/").build().ok()
}

fn tcp(reach: &Reach) -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    // A request's head and body are whole when they are written; waiting to fill a packet would only delay them.
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(reach.connect_timeout));
    tcp.set_keepalive(Some(Duration::from_secs(60)));
    tcp
}

fn pool(reach: &Reach, tls: ClientConfig, http2: bool) -> Pool {
    let tcp = tcp(reach);
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
    let connector = if http2 { connector.enable_http2().wrap_connector(tcp) } else { connector.wrap_connector(tcp) };
    Client::builder(TokioExecutor::new())
        .pool_idle_timeout(POOL_IDLE)
        .pool_timer(TokioTimer::new())
        .timer(TokioTimer::new())
        .http2_adaptive_window(true)
        .http2_keep_alive_interval(Duration::from_secs(30))
        .build(InTime { connector, time: reach.connect_timeout })
}

fn tls(reach: &Reach) -> Result<ClientConfig, OutletError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(file) = &reach.ca_file {
        let wrong = |error: Box<dyn Error + Send + Sync>| OutletError::CaFile { file: file.clone(), error };
        let pem = CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.into()))?;
        let before = roots.len();
        for certificate in pem {
            roots.add(certificate.map_err(|error| wrong(error.into()))?).map_err(|error| wrong(error.into()))?;
        }
        if roots.len() == before {
            return Err(wrong(io::Error::new(io::ErrorKind::InvalidData, "it holds no certificate").into()));
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider speaks TLS 1.2 and 1.3");
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// How long a connection is kept that nobody uses. Shorter than the 60 s after which most servers close one, so that
/// a request seldom meets a connection at its end.
const POOL_IDLE: Duration = Duration::from_secs(45);
