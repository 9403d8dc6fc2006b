//! One request over an upstream's own connections, for the future of a [`Gate::call`].

use bytes::Bytes;
use http::header::HOST;
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};

use crate::client::Gate;
use crate::error::{Failure, UnknownUpstream};
use crate::exchange::Carrier;
use crate::outgoing::Outgoing;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// No such upstream.
    #[error(transparent)]
    UnknownUpstream(#[from] UnknownUpstream),
    /// The upstream has no `base_url`.
    #[error("upstream {0} has no base_url to send to")]
    NoClient(String),
    /// The path is none of a URI at the upstream.
    #[error("{0:?} is no path at the upstream")]
    Path(String),
    /// The way there or back.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Gate {
    /// Sends a request to an upstream: to its `base_url`, with the path and query of the request's URI, over the
    /// connections that the proxy uses and within the same times. Reads an answer of at most `at_most` bytes.
    ///
    /// It is what a future does that [`Gate::call`] was given. By itself it waits for no turn, and nobody reads the answer
    /// for signals.
    ///
    /// # Errors
    /// [`SendError`].
    pub async fn send(
        &self,
        upstream: &str,
        request: Request<Bytes>,
        at_most: usize,
    ) -> Result<Response<Bytes>, SendError> {
        let way = self.known(upstream)?;
        let mut outlet = way.outlet().ok_or_else(|| SendError::NoClient(upstream.to_owned()))?;
        let path = request.uri().path_and_query().map_or("", |path| path.as_str());
        let uri = outlet.uri(path, false).ok_or_else(|| SendError::Path(path.to_owned()))?;
        let mut request = Box::new(request.map(Outgoing::of));
        *request.uri_mut() = uri;
        if let Some(host) = outlet.host() {
            request.headers_mut().insert(HOST, host.clone());
        }
        let (parts, body) = outlet.carry(request, None).await?.into_parts();
        let body = Limited::new(body, at_most).collect().await.map_err(Failure::new)?;
        Ok(Response::from_parts(parts, body.to_bytes()))
    }
}
