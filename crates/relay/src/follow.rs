//! Keeps the verifying keys fresh from the control's `/.well-known/jwks.json`, and notices when it is away.

use std::convert::Infallible;
use std::time::Duration;

use crate::trust;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use tidegate_token::PublicKeys;
use tidegate_wire::report::{Orders, Report};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::keys::{Keys, unix_now};

/// The control that a relay follows.
pub struct Control {
    keys_at: Uri,
    reports_to: Uri,
    /// `Bearer` and the fleet's secret.
    secret: Option<HeaderValue>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

/// Why the control gave no answer that a relay can use.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The control's address.
    #[error("{0:?} is no address of a control: write http:// or https:// and a host, such as http://127.0.0.1:8080")]
    Address(String),
    /// It does not answer.
    #[error("the control does not answer: {0}")]
    Unreachable(String),
    /// It answers something else.
    #[error("the control answers {0}: is this address a control's?")]
    Status(u16),
    /// It takes no reports from here.
    #[error("the control does not know the relay secret: use what its data directory's relay-secret says")]
    Secret,
    /// What it answers to a report.
    #[error("the control's answer to a report: {0}")]
    Orders(#[source] serde_json::Error),
    /// What it answers are no keys.
    #[error("the control's keys: {0}")]
    Keys(#[from] tidegate_token::KeysError),
}

impl Control {
    /// The control at an address such as `http://127.0.0.1:8080`.
    ///
    /// # Errors
    /// [`FetchError::Address`].
    pub fn at(address: &str) -> Result<Self, FetchError> {
        let wrong = || FetchError::Address(address.to_owned());
        let base = address.trim_end_matches('/');
        let keys_at: Uri = format!("{base}/.well-known/jwks.json").parse().map_err(|_| wrong())?;
        let reports_to: Uri = format!("{base}/v1/relays/report").parse().map_err(|_| wrong())?;
        if !matches!(keys_at.scheme_str(), Some("http" | "https")) || keys_at.host().is_none() {
            return Err(wrong());
        }
        let tls = trust::public(rustls::DEFAULT_VERSIONS);
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { keys_at, reports_to, secret: None, client })
    }

    /// Shows the fleet's secret with each report; without one the control takes none.
    #[must_use]
    pub fn with_secret(mut self, secret: &str) -> Self {
        self.secret = HeaderValue::try_from(format!("Bearer {secret}")).ok().map(|mut secret| {
            secret.set_sensitive(true);
            secret
        });
        self
    }

    /// Whether it can be reported to.
    #[must_use]
    pub const fn has_secret(&self) -> bool {
        self.secret.is_some()
    }

    /// Fetches the keys once.
    ///
    /// # Errors
    /// [`FetchError`].
    pub async fn keys(&self) -> Result<PublicKeys, FetchError> {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = self.keys_at.clone();
        let body = self.ask(request).await?;
        Ok(PublicKeys::from_jwks(&String::from_utf8_lossy(&body))?)
    }

    /// Reports once.
    pub(crate) async fn report(&self, report: &Report) -> Result<Orders, FetchError> {
        let body = serde_json::to_vec(report).expect("plain fields");
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.reports_to.clone();
        request.headers_mut().extend(self.secret.iter().map(|secret| (AUTHORIZATION, secret.clone())));
        let orders = self.ask(request).await?;
        serde_json::from_slice(&orders).map_err(FetchError::Orders)
    }

    async fn ask(&self, request: Request<Full<Bytes>>) -> Result<Bytes, FetchError> {
        let unreachable = |error: &dyn std::error::Error| FetchError::Unreachable(innermost(error));
        let exchange = async {
            let answer = self.client.request(request).await.map_err(|error| unreachable(&error))?;
            match answer.status() {
                StatusCode::UNAUTHORIZED => return Err(FetchError::Secret),
                status if !status.is_success() => return Err(FetchError::Status(status.as_u16())),
                _ => {}
            }
            let body = Limited::new(answer.into_body(), ANSWER_MAX_BYTES).collect().await;
            Ok(body.map_err(|error| unreachable(&*error))?.to_bytes())
        };
        let late = |_| FetchError::Unreachable(format!("nothing came within {} s", PATIENCE.as_secs()));
        timeout(PATIENCE, exchange).await.map_err(late)?
    }

    /// Fetches the keys every few seconds, and at once when a token of an unknown key was shown. While the control
    /// does not answer, the keys stay, and tokens that ended since it last did are taken. Rule E4.
    pub async fn follow(&self, keys: &Keys) -> Infallible {
        let mut answered = unix_now();
        let mut next = Instant::now() + EVERY;
        loop {
            // A token of a key that nobody has must not make the relay ask without pause.
            let earliest = Instant::now() + APART;
            timeout_at(next, keys.wanted.notified()).await.ok();
            sleep_until(earliest).await;
            let asked = unix_now();
            match self.keys().await {
                Ok(fresh) => {
                    keys.set_away(None);
                    keys.set(fresh);
                    answered = asked;
                }
                Err(error) => {
                    tracing::warn!(%error, "the keys could not be fetched; the ones known go on verifying");
                    keys.set_away(Some(answered));
                }
            }
            next = Instant::now() + EVERY;
        }
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Between two looks at the control. An outage is known about this late, and no token is lost by it: who is excused
/// is counted from the last answer. Rule E4.
const EVERY: Duration = Duration::from_secs(5);
/// Between two looks that a token asked for.
const APART: Duration = Duration::from_secs(1);
/// A control that takes longer is away.
const PATIENCE: Duration = Duration::from_secs(2);
/// A set of keys is a few hundred bytes; the shares of ten thousand tenants some hundred thousand.
const ANSWER_MAX_BYTES: usize = 1024 * 1024;
