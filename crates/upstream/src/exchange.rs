//! One request through the gate: its turn, its response, what that says, and whether it is tried again.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::response::Parts;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use tidegate_gate::{Call, Fingerprint, FingerprintParts, Heard, Outcome, RateLimited, RetryPolicy, Route, Verdict};
use tokio::time::sleep;

use crate::body::{Ahead, GateBody, Own};
use crate::desk::{Departure, Desk, Entered, HeldSlot, head};
use crate::error::{Failure, GateError};
use crate::kept::Kept;
use crate::replay::Replay;
use crate::{flight, look};

/// What carries a request to its upstream: a connection pool, or whatever service a layer was put around.
pub(crate) trait Carrier<B>: Clone + Send + 'static {
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin + Send + 'static;

    /// `departure` is to be told when the request leaves, if that is later than now (G1). The request is boxed once for
    /// all its way: each of the futures on it would have room for another one.
    fn carry(
        &mut self,
        request: Box<Request<B>>,
        departure: Option<Departure>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Failure>> + Send;
}

/// A request's call.
pub(crate) struct Outing {
    pub(crate) call: Call,
    pub(crate) policy: RetryPolicy,
    pub(crate) route: Route,
}

/// How a response came about; an extension of the responses of a [`crate::GateLayer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the gate read in the response: an expired token, one resource that is gone (G11, G11b), …
    pub outcome: Outcome,
    /// Time in the gate: waits for a turn and before retries. In observe mode: what it would have been.
    pub waited: Duration,
    /// How often the upstream was called for it.
    pub attempts: u32,
    /// Whether it is another caller's response, which this one shares (G5).
    pub shared: bool,
    /// The response is a rate limit that was not tried again: everything known about it (G20).
    pub limited: Option<RateLimited>,
}

/// The answer to one attempt, before it is known whether another follows.
pub(crate) struct Answer<B> {
    pub(crate) parts: Parts,
    pub(crate) body: GateBody<B>,
    pub(crate) outcome: Outcome,
    pub(crate) verdict: Verdict,
    pub(crate) waited: Duration,
    pub(crate) shared: bool,
}

/// A response whose signals are read, and whose slot its body holds.
pub(crate) struct Received<B> {
    pub(crate) parts: Parts,
    pub(crate) own: Box<Own<B>>,
    pub(crate) heard: Heard,
    pub(crate) waited: Duration,
    /// The slot went back with the head: it stays open by design (G3).
    pub(crate) streams: bool,
}

/// Sends a request when its upstream allows it, as often as its policy does.
pub(crate) async fn exchange<B, C>(
    desk: &Arc<Desk>,
    carrier: &mut C,
    mut outing: Outing,
    mut request: Box<Request<B>>,
) -> Result<(Response<GateBody<C::Body>>, Report), GateError>
where
    B: Replay + Send + 'static,
    C: Carrier<B>,
{
    let fingerprint = if outing.route.shareable { fingerprint(desk, &request) } else { None };
    let mut waited = Duration::ZERO;
    loop {
        let again = if outing.call.retries + 1 < outing.policy.max_attempts { Kept::of(&request) } else { None };
        if again.is_none() {
            outing.policy.max_attempts = 1;
        }
        let answer = match &fingerprint {
            // Boxed: the way of most calls need not carry the space for it.
            Some(print) => Box::pin(flight::shared(desk, carrier, &outing, print.clone(), request)).await?,
            None => alone(desk, carrier, &outing, request).await?,
        };
        waited += answer.waited;
        let Answer { parts, body, outcome, verdict, shared, .. } = answer;
        let limited = match (verdict, again) {
            (Verdict::RetryIn(delay), Some(again)) => {
                drain(body);
                sleep(delay).await;
                waited += delay;
                outing.call.retries += 1;
                request = again.request();
                continue;
            }
            (Verdict::RateLimited(limited), _) => Some(limited),
            (Verdict::Pass | Verdict::RetryIn(_), _) => None,
        };
        let report = Report { outcome, waited, attempts: outing.call.retries + 1, shared, limited };
        return Ok((Response::from_parts(parts, body), report));
    }
}

/// One attempt that is nobody else's.
pub(crate) async fn alone<B, C>(
    desk: &Arc<Desk>,
    carrier: &mut C,
    outing: &Outing,
    request: Box<Request<B>>,
) -> Result<Answer<C::Body>, GateError>
where
    C: Carrier<B>,
{
    let in_line = desk.enter(outing.call.clone())?;
    entered(desk, carrier, outing, in_line, request).await
}

/// The same for a call that the desk has let in already.
pub(crate) async fn entered<B, C>(
    desk: &Arc<Desk>,
    carrier: &mut C,
    outing: &Outing,
    entered: Entered,
    request: Box<Request<B>>,
) -> Result<Answer<C::Body>, GateError>
where
    C: Carrier<B>,
{
    let slot = started(entered).await?;
    Ok(answer(desk, outing, receive(desk, carrier, &outing.route, slot, request).await?))
}

pub(crate) async fn started(entered: Entered) -> Result<HeldSlot, GateError> {
    Ok(match entered {
        Entered::Started(slot) => slot,
        Entered::Waiting(waiting) => waiting.await?,
    })
}

/// What an attempt came to for a caller who shares it with nobody.
pub(crate) fn answer<B>(desk: &Desk, outing: &Outing, received: Received<B>) -> Answer<B> {
    let Received { parts, own, heard, waited, .. } = received;
    let verdict = desk.verdict(&heard, &outing.call, &outing.policy);
    Answer { parts, body: GateBody::own(own), outcome: heard.outcome, verdict, waited, shared: false }
}

/// Carries a request out and reads what its response says.
pub(crate) async fn receive<B, C>(
    desk: &Arc<Desk>,
    carrier: &mut C,
    route: &Route,
    slot: HeldSlot,
    request: Box<Request<B>>,
) -> Result<Received<C::Body>, GateError>
where
    C: Carrier<B>,
{
    let waited = slot.waited();
    let response = match carrier.carry(request, slot.departure()).await {
        Ok(response) => response,
        Err(failure) => {
            // A connection that fails says nothing about rates.
            desk.hear_finding(&slot, Outcome::Failed, None);
            return Err(GateError::Failed(failure));
        }
    };
    let (parts, mut body) = response.into_parts();
    let mut heard = desk.hear(&slot, head(parts.status, &parts.headers));
    let mut ahead = Ahead::default();
    if heard.wants_body {
        // Boxed: most bodies are not looked at.
        ahead = Box::pin(look::ahead(&mut body)).await;
        heard = desk.hear_body(&slot, heard, &look::decoded(&ahead, &parts.headers));
    }
    let streams = route.ends_at_head(parts.status, &parts.headers);
    let mut own = Box::new(Own { ahead, body, lease: None });
    if !streams && !own.is_over() {
        own.lease = Some(slot.lease());
    }
    Ok(Received { parts, own, heard, waited, streams })
}

/// Lets go of a response that is not handed on. What has come of its body already is read, so that a short one
/// leaves its connection usable.
fn drain<B>(mut body: GateBody<B>)
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    while let Some(Some(Ok(_))) = body.frame().now_or_never() {}
}

fn fingerprint<B: Replay>(desk: &Desk, request: &Request<B>) -> Option<Fingerprint> {
    let body = request.body().bytes()?;
    Fingerprint::of(FingerprintParts {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
        ignore: &desk.settings().dedupe_ignore_headers,
        identity: &[],
        body: &body,
    })
}
