//! The caller who opened a shared call: it gets the answer as it comes, and runs the call while it is alone.

use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::Passenger;
use super::pilot::{Inbox, ToFirst};
use crate::body::{GateBody, Own};
use crate::desk::Desk;
use crate::error::{Failure, GateError, Unanswered};
use crate::exchange::{Answer, Outing, answer};

/// A shared body, as its first caller reads it.
pub(crate) struct First<B> {
    inbox: Inbox<B>,
    rest: Option<Box<Own<B>>>,
    ended: bool,
    left: SizeHint,
    passenger: Passenger,
}

/// Waits for the head of the answer.
pub(super) async fn board<B>(
    desk: &Arc<Desk>,
    outing: &Outing,
    passenger: Passenger,
    inbox: Inbox<B>,
    waits: bool,
) -> Result<Answer<B>, GateError> {
    let letter = poll_fn(|cx| match next(&inbox, &passenger, cx) {
        Poll::Ready(letter) => Poll::Ready(Ok(letter)),
        // Deadlines end with the start of the call.
        Poll::Pending if waits => passenger.poll_refused(cx).map(Err),
        Poll::Pending => Poll::Pending,
    });
    match letter.await? {
        Some(ToFirst::All(received)) => Ok(answer(desk, outing, *received)),
        Some(ToFirst::Head(parts, left, heard, waited)) => {
            let verdict = desk.verdict(&heard, &outing.call, &outing.policy);
            let body = GateBody::first(First { inbox, rest: None, ended: false, left, passenger });
            Ok(Answer { parts, body, outcome: heard.outcome, verdict, waited, shared: false })
        }
        Some(ToFirst::Refused(refusal)) => Err(GateError::Refused(refusal)),
        Some(ToFirst::Failed(failure) | ToFirst::Broke(failure)) => Err(GateError::Failed(failure)),
        Some(ToFirst::Frame(_) | ToFirst::Rest(_) | ToFirst::End) | None => {
            Err(GateError::Failed(Failure::new(Unanswered)))
        }
    }
}

/// The next letter. Runs the call for it, unless a task does.
fn next<B>(inbox: &Inbox<B>, passenger: &Passenger, cx: &mut Context<'_>) -> Poll<Option<ToFirst<B>>> {
    if let Poll::Ready(letter) = inbox.take() {
        return Poll::Ready(letter);
    }
    inbox.wake(cx);
    passenger.flight.course.run(cx);
    inbox.take()
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
            let next = match ready!(next(&self.inbox, &self.passenger, cx)) {
                Some(ToFirst::Frame(frame)) => {
                    let data = frame.data_ref().map_or(0, |data| data.len() as u64);
                    let left = self.left.exact().map(|left| left.saturating_sub(data));
                    self.left = left.map_or_else(SizeHint::new, SizeHint::with_exact);
                    Some(Ok(frame))
                }
                Some(ToFirst::Rest(rest)) => {
                    self.rest = Some(rest);
                    continue;
                }
                Some(ToFirst::End) => None,
                Some(ToFirst::Broke(failure) | ToFirst::Failed(failure)) => Some(Err(failure)),
                Some(ToFirst::All(_) | ToFirst::Head(..) | ToFirst::Refused(_)) | None => {
                    Some(Err(Failure::new(Unanswered)))
                }
            };
            self.ended = !matches!(next, Some(Ok(_)));
            return Poll::Ready(next);
        }
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.left
    }
}
