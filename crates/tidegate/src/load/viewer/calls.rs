//! How a page calls, and when it calls again.

use std::time::Duration;

use rand::RngExt;
use serde::Serialize;
use tokio::time::Instant;

use crate::load::book::Call;
use crate::load::client::{NoAnswer, Reply};
use crate::load::told::{Read, Told, read};
use crate::load::viewer::{Stage, Viewer};

/// What a page says of itself, in every call.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seat: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nonce: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) join: bool,
    pub(super) hidden: bool,
}

impl Body<'_> {
    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain fields")
    }
}

impl Viewer {
    /// Makes one call and notes its answer, or its absence.
    pub(super) async fn call(&mut self, call: Call, body: Vec<u8>, begun: Instant) -> Option<(Reply, Read)> {
        let path = format!("/v1/play/{}/{}", self.shared.plan.stream, call.route());
        match self.line.post(&path, body).await {
            Ok(reply) => {
                self.unanswered = 0;
                let read = read(&reply);
                self.shared.book().answered(self.number, call, &reply, &read);
                Some((reply, read))
            }
            Err(why) => {
                self.no_answer(call, why, begun);
                None
            }
        }
    }

    fn no_answer(&mut self, call: Call, why: NoAnswer, begun: Instant) {
        self.unanswered += 1;
        {
            let mut book = self.shared.book();
            book.unanswered(why);
            if let (Some(entry), NoAnswer::Lost | NoAnswer::Late) = (&mut self.entry, why) {
                book.judge.unanswered(entry, self.hidden, begun);
            }
        }
        let pause = self.backoff();
        self.call_again_at(call, Instant::now() + pause);
    }

    /// A quarter of a second, doubling to four, each with a spread so that pages do not return in step.
    fn backoff(&mut self) -> Duration {
        let doubled = Duration::from_millis(250) * 2_u32.pow(self.unanswered.saturating_sub(1).min(4));
        doubled.mul_f64(self.rng.random_range(0.5..1.5))
    }

    /// How long a page's timer takes: in a hidden tab browsers fire them once a minute (S3).
    pub(super) fn timer(&self, told: Duration) -> Duration {
        if self.hidden { told.max(Duration::from_secs(60)) } else { told }
    }

    /// An answer that decides nothing: the same again, when it says so.
    pub(super) fn wait_a_little(&mut self, call: Call, told: Told, now: Instant) {
        let told = if let Told::Problem { retry } = told { retry } else { None };
        let pause = told.unwrap_or_else(|| self.backoff());
        self.call_again_at(call, now + pause);
    }

    /// Puts the next call of this kind off, or brings it forward.
    pub(super) const fn call_again_at(&mut self, call: Call, when: Instant) {
        match (&mut self.stage, call) {
            (Stage::Asking { at } | Stage::Offered { at, .. }, _) => *at = when,
            (Stage::Seated { renews_at, .. }, Call::Renew) => *renews_at = when,
            (Stage::Seated { beats_at, .. }, _) => *beats_at = when,
            (Stage::Closed, _) => {}
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_false(value: &bool) -> bool {
    !*value
}
