//! Shared calls: one upstream call, any number of callers (G5–G8).
//!
//! ```text
//!  first caller ──opens──▶ the call ──▶ upstream
//!       ▲  frames as they come ─┤
//!       │                       └─ the whole answer, when it has ended ──▶ followers
//!       └── its rest, when it is too long; the followers then call for themselves
//! ```
//!
//! As long as its first caller is alone, that one runs the call, which costs no task; and if it is so when the whole
//! answer is there, it has the answer to itself. The second caller gives the
//! call a task of its own, so that nobody's leaving or slow reading holds up the others; when the last one has left,
//! the call is dropped (G7). The first caller gets the body as it comes. The others get it when it is whole, as
//! shared chunks, because until then it may still grow over `dedupe_max_bytes` (G8).

mod course;
mod first;
mod pilot;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, Request, Response, StatusCode, Version, header};
use http_body::Frame;
use tidegate_gate::{Call, Fingerprint, Heard, Joined, Refusal, Ticket};
use tokio::sync::Notify;

pub(crate) use self::first::First;

use self::course::Course;
use crate::body::{Copy, GateBody};
use crate::desk::{Desk, Entered, Waiter};
use crate::error::{Failure, GateError, Unanswered};
use crate::exchange::{Answer, Carrier, Outing, alone, entered};

/// A call that is shared.
#[derive(Default)]
pub(crate) struct Flight {
    course: Course,
    landed: OnceLock<Landed>,
    landing: Notify,
    /// Changed under the desk's mutex only.
    passengers: AtomicUsize,
}

/// How a shared call ended, for its followers.
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
    /// Without `Set-Cookie`, which is the first caller's alone (G5).
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
        let flight = Self::default();
        flight.land(Landed::Failed(Failure::new(Unanswered)));
        Arc::new(flight)
    }

    fn land(&self, landed: Landed) {
        // It lands once; a second time would be the end of its task after that.
        let _again = self.landed.set(landed);
        self.landing.notify_waiters();
    }

    async fn landed(&self) -> &Landed {
        loop {
            // Made first, so that a landing between the look and the wait is not missed.
            let landing = self.landing.notified();
            match self.landed.get() {
                Some(landed) => return landed,
                None => landing.await,
            }
        }
    }
}

/// One caller of a shared call. Dropping it leaves; the last to leave ends the call (G7).
pub(crate) struct Passenger {
    desk: Arc<Desk>,
    ticket: Ticket,
    flight_ticket: Ticket,
    flight: Arc<Flight>,
}

impl Passenger {
    /// To be called in the step in which the engine let it in.
    fn new(desk: &Arc<Desk>, ticket: Ticket, flight_ticket: Ticket, flight: &Arc<Flight>) -> Self {
        flight.passengers.fetch_add(1, Ordering::Relaxed);
        Self { desk: Arc::clone(desk), ticket, flight_ticket, flight: Arc::clone(flight) }
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
        let last = self.desk.act(|inner, _| {
            inner.waiters.remove(&self.ticket);
            inner.engine.handle_cancel(self.ticket);
            // Counted here too: of a flight that has ended for new callers the engine does not tell.
            let last = self.flight.passengers.fetch_sub(1, Ordering::Relaxed) == 1;
            inner.abandoned |= last && inner.flights.remove(&self.flight_ticket).is_some();
            last
        });
        if last {
            // Not under the mutex: what is dropped gives its slot back.
            self.flight.course.abandon();
        }
    }
}

/// How a call came aboard.
enum Boarded {
    First { passenger: Passenger, entered: Entered },
    Following(Passenger),
    Alone(Entered),
}

/// One attempt that may be shared with others who make the same call.
pub(crate) async fn shared<B, C>(
    desk: &Arc<Desk>,
    carrier: &mut C,
    outing: &Outing,
    fingerprint: Fingerprint,
    request: Box<Request<B>>,
) -> Result<Answer<C::Body>, GateError>
where
    B: Send + 'static,
    C: Carrier<B>,
{
    match board(desk, fingerprint, &outing.call)? {
        // Boxed: the way of most shared calls need not carry the space for calls of one's own.
        Boarded::Alone(in_line) => Box::pin(entered(desk, carrier, outing, in_line, request)).await,
        Boarded::First { passenger, entered } => {
            let waits = matches!(entered, Entered::Waiting(_));
            let inbox = pilot::take_off(&passenger, carrier.clone(), outing.route.clone(), entered, request);
            first::board(desk, outing, passenger, inbox, waits).await
        }
        Boarded::Following(passenger) => {
            passenger.flight.course.give_a_task();
            let landed = tokio::select! {
                biased;
                landed = passenger.flight.landed() => landed,
                refusal = passenger.refused() => return Err(GateError::Refused(refusal)),
            };
            match landed {
                Landed::Answer(landing) => Ok(follow(desk, outing, landing)),
                Landed::Refused(refusal) => Err(GateError::Refused(refusal.clone())),
                Landed::Failed(failure) => Err(GateError::Failed(failure.clone())),
                Landed::Unshared => {
                    drop(passenger);
                    Box::pin(alone(desk, carrier, outing, request)).await
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
                let passenger = Passenger::new(desk, caller, ticket, &flight);
                inner.flights.insert(ticket, flight);
                let entered = desk.entered(inner, enqueued);
                if let Entered::Waiting(_) = entered {
                    inner.waiters.insert(caller, Waiter::default());
                }
                Boarded::First { passenger, entered }
            }
            Joined::Following { caller, flight } => {
                // The engine's flights and these begin and end in the same steps.
                let found = inner.flights.get(&flight).map_or_else(Flight::lost, Arc::clone);
                inner.waiters.insert(caller, Waiter::default());
                Boarded::Following(Passenger::new(desk, caller, flight, &found))
            }
        })
    })
}

impl Landing {
    fn new(parts: &Parts, heard: Arc<Heard>, waited: Duration) -> Self {
        let mut headers = parts.headers.clone();
        headers.remove(header::SET_COOKIE);
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

/// A follower's copy.
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
