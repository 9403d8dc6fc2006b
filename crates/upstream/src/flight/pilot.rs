//! The shared call itself: out, back, and handed out.

use std::collections::VecDeque;
use std::error::Error;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http::{HeaderMap, Request};
use http_body::{Body, Frame, SizeHint};
use tidegate_gate::{Heard, Outcome, Refusal, Route, Ticket};

use super::{Flight, Landed, Landing, Passenger};
use crate::body::Own;
use crate::desk::{Desk, Entered};
use crate::error::{Failure, GateError, Unanswered};
use crate::exchange::{Carrier, Received, receive, started};

/// What the call tells its first caller.
pub(super) enum ToFirst<B> {
    /// Everything, for nobody else has come.
    All(Box<Received<B>>),
    Head(Parts, SizeHint, Arc<Heard>, Duration),
    Frame(Frame<Bytes>),
    /// The rest of a body that is not shared.
    Rest(Box<Own<B>>),
    End,
    Broke(Failure),
    Refused(Refusal),
    Failed(Failure),
}

/// Where it leaves that. Written and read within one poll as long as the first caller runs the call.
pub(super) struct Inbox<B>(Arc<Mutex<Letters<B>>>);

struct Letters<B> {
    queue: VecDeque<ToFirst<B>>,
    waker: Option<Waker>,
    closed: bool,
}

impl<B> Clone for Inbox<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B> Inbox<B> {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Letters { queue: VecDeque::new(), waker: None, closed: false })))
    }

    /// `None` is the last. The first caller is not woken by what it does itself.
    fn put(&self, letter: Option<ToFirst<B>>, wake: bool) {
        let mut letters = self.letters();
        letters.closed |= letter.is_none();
        letters.queue.extend(letter);
        let waker = if wake { letters.waker.take() } else { None };
        drop(letters);
        waker.into_iter().for_each(Waker::wake);
    }

    /// The next letter; `None` when there will be none.
    pub(super) fn take(&self) -> Poll<Option<ToFirst<B>>> {
        let mut letters = self.letters();
        match letters.queue.pop_front() {
            None if !letters.closed => Poll::Pending,
            letter => Poll::Ready(letter),
        }
    }

    /// Whom to wake for the next letter.
    pub(super) fn wake(&self, cx: &Context<'_>) {
        let mut letters = self.letters();
        if !letters.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            letters.waker = Some(cx.waker().clone());
        }
    }

    fn letters(&self) -> MutexGuard<'_, Letters<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a shared call; its first caller is to run it.
pub(super) fn take_off<B, C>(
    first: &Passenger,
    carrier: C,
    route: Route,
    entered: Entered,
    request: Box<Request<B>>,
) -> Inbox<C::Body>
where
    B: Send + 'static,
    C: Carrier<B>,
{
    let inbox = Inbox::new();
    let (desk, flight) = (Arc::clone(&first.desk), Arc::clone(&first.flight));
    let pilot = Pilot { desk, ticket: first.flight_ticket, flight, inbox: inbox.clone(), landed: false };
    first.flight.course.begin(Box::pin(fly(pilot, carrier, route, entered, request)));
    inbox
}

/// Who makes the shared call. Whatever ends it, its callers are told.
struct Pilot<B> {
    desk: Arc<Desk>,
    ticket: Ticket,
    flight: Arc<Flight>,
    inbox: Inbox<B>,
    landed: bool,
}

impl<B> Pilot<B> {
    /// The first caller may have left; the others have not.
    fn tell_first(&self, letter: ToFirst<B>) {
        self.inbox.put(Some(letter), self.flight.course.is_in_task());
    }

    /// The next call of this kind is a new one (G6).
    fn end_flight(&self) {
        self.desk.act(|inner, _| {
            inner.engine.end_flight(self.ticket);
            inner.flights.remove(&self.ticket);
        });
    }

    /// Ends the flight if its first caller is alone with it and runs it.
    fn ends_alone(&mut self) -> bool {
        let flight = &self.flight;
        self.landed = self.desk.act(|inner, _| {
            // Whoever joins does so under this mutex, and gives the call a task later.
            let alone = flight.passengers.load(Ordering::Relaxed) == 1 && !flight.course.is_in_task();
            if alone {
                inner.engine.end_flight(self.ticket);
                inner.flights.remove(&self.ticket);
            }
            alone
        });
        self.landed
    }

    fn land(&mut self, landed: Landed) {
        self.landed = true;
        self.end_flight();
        self.flight.land(landed);
    }

    /// Waits until the first caller, if that runs the call, wants more.
    async fn wait_for_first(&self) {
        let mut asked = false;
        poll_fn(|_| match std::mem::replace(&mut asked, true) || self.flight.course.is_in_task() {
            // Whoever polls again is the first caller that has taken its letter, or a new task.
            false => Poll::Pending,
            true => Poll::Ready(()),
        })
        .await;
    }
}

impl<B> Drop for Pilot<B> {
    fn drop(&mut self) {
        if !self.landed {
            self.land(Landed::Failed(Failure::new(Unanswered)));
        }
        self.inbox.put(None, true);
    }
}

async fn fly<B, C>(mut pilot: Pilot<C::Body>, mut carrier: C, route: Route, entered: Entered, request: Box<Request<B>>)
where
    B: Send + 'static,
    C: Carrier<B>,
{
    let received = match started(entered).await {
        Ok(slot) => receive(&pilot.desk, &mut carrier, &route, slot, request).await,
        Err(error) => Err(error),
    };
    match received {
        Ok(mut received) => {
            // Most answers are small, and nobody else has asked for them until they are here.
            if poll_fn(|cx| Poll::Ready(received.own.is_here(cx))).await && pilot.ends_alone() {
                return pilot.tell_first(ToFirst::All(Box::new(received)));
            }
            hand_out(&mut pilot, received).await;
        }
        Err(GateError::Refused(refusal)) => {
            pilot.tell_first(ToFirst::Refused(refusal.clone()));
            pilot.land(Landed::Refused(refusal));
        }
        Err(GateError::Failed(failure)) => {
            pilot.tell_first(ToFirst::Failed(failure.clone()));
            pilot.land(Landed::Failed(failure));
        }
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
    pilot.wait_for_first().await;
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
        if own.is_over() {
            break;
        }
        pilot.wait_for_first().await;
    }
    pilot.tell_first(ToFirst::End);
    pilot.land(Landed::Answer(landing));
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
