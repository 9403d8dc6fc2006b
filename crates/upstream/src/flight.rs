//! Shared calls: one upstream call, any number of callers (G5–G8).
//!
//! ```text
//!  first caller ──opens──▶ the call's own task ──▶ upstream
//!       ▲  frames as they come ──┘   │ the whole answer, when it has ended
//!       └── also when it is too long └──▶ followers
//! ```
//!
//! The call runs in a task of its own, so no caller's leaving takes it away; when the last one has left the engine
//! says so and the task ends. Its first caller gets the body as it comes. The others get it when it is whole, as
//! shared chunks, because until then it may still grow over `dedupe_max_bytes`: then it is the first caller's alone,
//! and the others call for themselves.

use std::collections::VecDeque;
use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, SET_COOKIE};
use http::response::Parts;
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body::{Body, Frame, SizeHint};
use tidegate_gate::{Call, Fingerprint, Heard, Joined, Outcome, Refusal, Route, Ticket};
use tokio::sync::{Notify, mpsc, watch};

use crate::body::{Copy, GateBody, Own};
use crate::desk::{Desk, Entered, Inner, Waiter};
use crate::error::{Failure, GateError, Unanswered};
use crate::exchange::{Answer, Carrier, Outing, Received, alone, entered, receive, started};
use crate::inside;

/// A call that is shared.
#[derive(Default)]
pub(crate) struct Flight {
    landed: watch::Sender<Option<Arc<Landed>>>,
    abandoned: Notify,
    /// Changed under the desk's mutex only.
    passengers: AtomicUsize,
}

/// How it ended, for its followers.
enum Landed {
    Answer(Landing),
    /// Longer than may be shared, or a stream: each follower makes its own call.
    Unshared,
    Refused(Refusal),
    Failed(Failure),
}

/// A whole answer.
struct Landing {
    status: StatusCode,
    version: Version,
    /// Without `Set-Cookie`, which is the first caller's alone.
    headers: HeaderMap,
    chunks: VecDeque<Bytes>,
    trailers: Option<HeaderMap>,
    broke: Option<Failure>,
    heard: Arc<Heard>,
    waited: Duration,
}

impl Flight {
    /// One that has ended and left no answer.
    fn lost() -> Arc<Self> {
        let landed = watch::Sender::new(Some(Arc::new(Landed::Failed(Failure::new(Unanswered)))));
        Arc::new(Self { landed, ..Self::default() })
    }

    /// Lets its task end: nobody waits for it any more.
    pub(crate) fn abandon(&self) {
        // Kept for the task if it is not asking yet.
        self.abandoned.notify_one();
    }

    async fn landed(&self) -> Arc<Landed> {
        let mut landed = self.landed.subscribe();
        // The sender is a part of this value, so it cannot be gone; were it so, nobody would ever answer.
        let found = landed.wait_for(Option::is_some).await.ok().and_then(|landed| landed.clone());
        found.unwrap_or_else(|| Arc::new(Landed::Failed(Failure::new(Unanswered))))
    }
}

/// One caller of a shared call. Dropping it leaves; the last to leave ends the call (G7).
pub(crate) struct Passenger {
    desk: Arc<Desk>,
    ticket: Ticket,
    flight: Arc<Flight>,
}

impl Passenger {
    /// To be called in the step in which the engine let it in.
    fn new(desk: &Arc<Desk>, inner: &mut Inner, ticket: Ticket, flight: &Arc<Flight>) -> Self {
        inner.waiters.insert(ticket, Waiter::default());
        flight.passengers.fetch_add(1, Ordering::Relaxed);
        Self { desk: Arc::clone(desk), ticket, flight: Arc::clone(flight) }
    }

    /// Ready when this caller's own deadline ends its wait.
    async fn refused(&self) -> Refusal {
        poll_fn(|cx| self.poll_refused(cx)).await
    }

    fn poll_refused(&self, cx: &Context<'_>) -> Poll<Refusal> {
        self.desk
            .act(|inner, _| inner.waiters.get_mut(&self.ticket).map_or(Poll::Pending, |waiter| waiter.poll_refused(cx)))
    }
}

impl Drop for Passenger {
    fn drop(&mut self) {
        self.desk.act(|inner, _| {
            inner.waiters.remove(&self.ticket);
            inner.engine.handle_cancel(self.ticket);
            // Counted here too: of a flight that has ended for new callers the engine does not tell.
            if self.flight.passengers.fetch_sub(1, Ordering::Relaxed) == 1 {
                self.flight.abandon();
            }
        });
    }
}

/// How a call came aboard.
enum Boarded {
    First { passenger: Passenger, ticket: Ticket, entered: Entered },
    Following(Passenger),
    Alone(Entered),
}

/// One attempt that may be shared with others who make the same call.
pub(crate) async fn shared<B, C>(
    desk: &Arc<Desk>,
    carrier: &mut C,
    outing: &Outing,
    fingerprint: Fingerprint,
    request: Request<B>,
) -> Result<Answer<C::Body>, GateError>
where
    B: Send + 'static,
    C: Carrier<B>,
{
    match board(desk, fingerprint, &outing.call)? {
        Boarded::Alone(in_line) => entered(desk, carrier, outing, in_line, request).await,
        Boarded::First { passenger, ticket, entered } => {
            let (to_first, from_flight) = mpsc::unbounded_channel();
            let flight = Arc::clone(&passenger.flight);
            let pilot = Pilot { desk: Arc::clone(desk), ticket, flight, to_first, landed: false };
            let (carrier, route) = (carrier.clone(), outing.route.clone());
            let scoped = inside::scope(desk, fly(pilot, carrier, route, entered, request));
            tokio::spawn(scoped);
            first(desk, outing, passenger, from_flight).await
        }
        Boarded::Following(passenger) => {
            let landed = tokio::select! {
                biased;
                landed = passenger.flight.landed() => landed,
                refusal = passenger.refused() => return Err(GateError::Refused(refusal)),
            };
            match &*landed {
                Landed::Answer(landing) => Ok(follow(desk, outing, landing)),
                Landed::Refused(refusal) => Err(GateError::Refused(refusal.clone())),
                Landed::Failed(failure) => Err(GateError::Failed(failure.clone())),
                Landed::Unshared => {
                    drop(passenger);
                    alone(desk, carrier, outing, request).await
                }
            }
        }
    }
}

fn board(desk: &Arc<Desk>, fingerprint: Fingerprint, call: &Call) -> Result<Boarded, Refusal> {
    desk.act(|inner, now| {
        Ok(match inner.engine.join(fingerprint, call.clone(), now)? {
            Joined::Alone(enqueued) => Boarded::Alone(desk.entered(inner, enqueued)),
            Joined::Opened { caller, flight: ticket, enqueued } => {
                let flight = Arc::new(Flight::default());
                let passenger = Passenger::new(desk, inner, caller, &flight);
                inner.flights.insert(ticket, flight);
                Boarded::First { passenger, ticket, entered: desk.entered(inner, enqueued) }
            }
            Joined::Following { caller, flight } => {
                // The engine's flights and these begin and end in the same steps.
                let flight = inner.flights.get(&flight).map_or_else(Flight::lost, Arc::clone);
                Boarded::Following(Passenger::new(desk, inner, caller, &flight))
            }
        })
    })
}

/// What the call's task tells its first caller.
enum ToFirst<B> {
    Head(Parts, SizeHint, Arc<Heard>, Duration),
    Frame(Frame<Bytes>),
    /// The rest of a body that is not shared.
    Rest(Own<B>),
    End,
    Broke(Failure),
    Refused(Refusal),
    Failed(Failure),
}

/// Who makes the shared call. Whatever ends its task, the callers are told.
struct Pilot<B> {
    desk: Arc<Desk>,
    ticket: Ticket,
    flight: Arc<Flight>,
    to_first: mpsc::UnboundedSender<ToFirst<B>>,
    landed: bool,
}

impl<B> Pilot<B> {
    fn tell_first(&self, message: ToFirst<B>) {
        // The first caller may have left; the others have not.
        let _gone = self.to_first.send(message);
    }

    /// The next call of this kind is a new one (G6).
    fn end_flight(&self) {
        self.desk.act(|inner, _| {
            inner.engine.end_flight(self.ticket);
            inner.flights.remove(&self.ticket);
        });
    }

    fn land(&mut self, landed: Landed) {
        self.landed = true;
        self.end_flight();
        self.flight.landed.send_replace(Some(Arc::new(landed)));
    }
}

impl<B> Drop for Pilot<B> {
    fn drop(&mut self) {
        if !self.landed {
            self.land(Landed::Failed(Failure::new(Unanswered)));
        }
    }
}

async fn fly<B, C>(mut pilot: Pilot<C::Body>, mut carrier: C, route: Route, entered: Entered, request: Request<B>)
where
    B: Send + 'static,
    C: Carrier<B>,
{
    let flight = Arc::clone(&pilot.flight);
    let way = async {
        let slot = started(entered).await?;
        receive(&pilot.desk, &mut carrier, &route, slot, request).await
    };
    let received = tokio::select! {
        biased;
        () = flight.abandoned.notified() => return,
        received = way => received,
    };
    match received {
        Err(GateError::Refused(refusal)) => {
            pilot.tell_first(ToFirst::Refused(refusal.clone()));
            pilot.land(Landed::Refused(refusal));
        }
        Err(GateError::Failed(failure)) => {
            pilot.tell_first(ToFirst::Failed(failure.clone()));
            pilot.land(Landed::Failed(failure));
        }
        Ok(received) => tokio::select! {
            biased;
            () = flight.abandoned.notified() => {}
            () = hand_out(&mut pilot, received) => {}
        },
    }
}

/// Gives the first caller the answer as it comes, and the others when it is whole.
async fn hand_out<B>(pilot: &mut Pilot<B>, received: Received<B>)
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    let Received { parts, mut own, heard, waited, streams } = received;
    let heard = Arc::new(heard);
    if heard.outcome == Outcome::Throttled {
        // A retry is a new flight, however long this one's body takes.
        pilot.end_flight();
    }
    let max = pilot.desk.settings().dedupe_max_bytes;
    let unshared = streams || length(&parts.headers).is_some_and(|length| length > max);
    let mut landing = Landing::new(&parts, Arc::clone(&heard), waited);
    pilot.tell_first(ToFirst::Head(parts, own.size_hint(), heard, waited));
    if unshared {
        pilot.tell_first(ToFirst::Rest(own));
        return pilot.land(Landed::Unshared);
    }
    let mut bytes = 0;
    while let Some(next) = poll_fn(|cx| own.poll(cx)).await {
        match next {
            Ok(frame) => {
                bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                landing.keep(&frame);
                pilot.tell_first(ToFirst::Frame(frame));
            }
            Err(failure) => {
                landing.broke = Some(failure.clone());
                pilot.tell_first(ToFirst::Broke(failure));
                return pilot.land(Landed::Answer(landing));
            }
        }
        if bytes > max {
            pilot.tell_first(ToFirst::Rest(own));
            return pilot.land(Landed::Unshared);
        }
    }
    pilot.tell_first(ToFirst::End);
    pilot.land(Landed::Answer(landing));
}

impl Landing {
    fn new(parts: &Parts, heard: Arc<Heard>, waited: Duration) -> Self {
        let mut headers = parts.headers.clone();
        headers.remove(SET_COOKIE);
        Self {
            status: parts.status,
            version: parts.version,
            headers,
            chunks: VecDeque::new(),
            trailers: None,
            broke: None,
            heard,
            waited,
        }
    }

    fn keep(&mut self, frame: &Frame<Bytes>) {
        self.chunks.extend(frame.data_ref().cloned());
        if let Some(trailers) = frame.trailers_ref() {
            self.trailers = Some(trailers.clone());
        }
    }
}

/// The part of the caller who opened the flight.
async fn first<B>(
    desk: &Arc<Desk>,
    outing: &Outing,
    passenger: Passenger,
    mut from_flight: mpsc::UnboundedReceiver<ToFirst<B>>,
) -> Result<Answer<B>, GateError> {
    let message = tokio::select! {
        biased;
        message = from_flight.recv() => message,
        refusal = passenger.refused() => return Err(GateError::Refused(refusal)),
    };
    match message {
        Some(ToFirst::Head(parts, left, heard, waited)) => {
            let verdict = desk.verdict(&heard, &outing.call, &outing.policy);
            let body = GateBody::first(First { from_flight, rest: None, ended: false, left, _passenger: passenger });
            Ok(Answer { parts, body, outcome: heard.outcome, verdict, waited, shared: false })
        }
        Some(ToFirst::Refused(refusal)) => Err(GateError::Refused(refusal)),
        Some(ToFirst::Failed(failure) | ToFirst::Broke(failure)) => Err(GateError::Failed(failure)),
        Some(ToFirst::Frame(_) | ToFirst::Rest(_) | ToFirst::End) | None => {
            Err(GateError::Failed(Failure::new(Unanswered)))
        }
    }
}

/// The part of everybody else.
fn follow<B>(desk: &Arc<Desk>, outing: &Outing, landing: &Landing) -> Answer<B> {
    let verdict = desk.verdict(&landing.heard, &outing.call, &outing.policy);
    let mut response = Response::new(());
    *response.status_mut() = landing.status;
    *response.version_mut() = landing.version;
    response.headers_mut().clone_from(&landing.headers);
    let (parts, ()) = response.into_parts();
    let body = GateBody::copy(Copy {
        chunks: landing.chunks.clone(),
        trailers: landing.trailers.clone(),
        broke: landing.broke.clone(),
    });
    Answer { parts, body, outcome: landing.heard.outcome, verdict, waited: landing.waited, shared: true }
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// A shared body, as its first caller reads it.
pub(crate) struct First<B> {
    from_flight: mpsc::UnboundedReceiver<ToFirst<B>>,
    rest: Option<Own<B>>,
    ended: bool,
    left: SizeHint,
    _passenger: Passenger,
}

impl<B> First<B>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        loop {
            if let Some(rest) = &mut self.rest {
                return rest.poll(cx);
            }
            let next = match std::task::ready!(self.from_flight.poll_recv(cx)) {
                Some(ToFirst::Frame(frame)) => {
                    let data = frame.data_ref().map_or(0, |data| data.len() as u64);
                    self.left = self
                        .left
                        .exact()
                        .map_or_else(SizeHint::new, |left| SizeHint::with_exact(left.saturating_sub(data)));
                    Some(Ok(frame))
                }
                Some(ToFirst::Rest(rest)) => {
                    self.rest = Some(rest);
                    continue;
                }
                Some(ToFirst::End) => None,
                Some(ToFirst::Broke(failure) | ToFirst::Failed(failure)) => Some(Err(failure)),
                Some(ToFirst::Head(..) | ToFirst::Refused(_)) | None => Some(Err(Failure::new(Unanswered))),
            };
            self.ended = !matches!(next, Some(Ok(_)));
            return Poll::Ready(next);
        }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.left
    }
}
