//! The gate as a library: around any future.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tidegate_gate::{Call, Heard, Key, Operation, Outcome, Resource, RetryPolicy, Snapshot, UpstreamSettings, Verdict};
use tokio::time::sleep;

use crate::desk::{Desk, HeldSlot, head};
use crate::error::{CallError, UnknownUpstream};
use crate::options::{CallOptions, Usual};
use crate::reveal::{Reveal, Seen};
use crate::way::{SetupError, Way};
use crate::{clock, inside};

/// The configured upstreams. Cloning gives another handle to the same ones.
#[derive(Clone)]
pub struct Gate {
    ways: Arc<RwLock<Ways>>,
}

type Ways = BTreeMap<Arc<str>, Arc<Way>>;

/// The answer of a call, and how it came about.
#[derive(Clone, Debug)]
pub struct Done<T> {
    /// What the call's future gave.
    pub answer: T,
    /// What the gate read in it: an expired token, one resource that is gone (G11, G11b), …
    pub outcome: Outcome,
    /// Time in the gate: waits for a turn and before retries.
    pub waited: Duration,
    /// How often the call was made.
    pub attempts: u32,
}

impl Gate {
    /// Makes a gate to these upstreams.
    ///
    /// # Errors
    /// When a name cannot be part of a path, or what an upstream is reached by is wrong.
    pub fn new<N: Into<Arc<str>>>(
        upstreams: impl IntoIterator<Item = (N, UpstreamSettings)>,
    ) -> Result<Self, SetupError> {
        let ways = upstreams.into_iter().map(|(name, settings)| {
            let name = name.into();
            Ok((Arc::clone(&name), Way::new(name, settings)?))
        });
        Ok(Self { ways: Arc::new(RwLock::new(ways.collect::<Result<_, _>>()?)) })
    }

    /// Says whether an upstream could be set up so, without setting it up (`tidegate check`).
    ///
    /// # Errors
    /// As for [`Gate::new`].
    pub fn check(name: &str, settings: &UpstreamSettings) -> Result<(), SetupError> {
        Way::check(name, settings)
    }

    /// Takes new settings (O3). Upstreams that stay keep their cooldowns and everybody's place in line.
    ///
    /// # Errors
    /// As for [`Gate::new`]; then nothing has changed.
    pub fn reload<N: Into<Arc<str>>>(
        &self,
        upstreams: impl IntoIterator<Item = (N, UpstreamSettings)>,
    ) -> Result<(), SetupError> {
        let mut changes = Vec::new();
        for (name, settings) in upstreams {
            let name = name.into();
            let way = match self.way(&name) {
                Some(way) => way,
                None => Way::new(Arc::clone(&name), settings.clone())?,
            };
            changes.push((name, way.prepare(&settings)?, way, settings));
        }
        let ways = changes.into_iter().map(|(name, prepared, way, settings)| {
            way.change(prepared, settings);
            (name, way)
        });
        *self.ways.write().unwrap_or_else(PoisonError::into_inner) = ways.collect();
        Ok(())
    }

    /// The names of the upstreams.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.ways.read().unwrap_or_else(PoisonError::into_inner).keys().map(|name| name.to_string()).collect()
    }

    /// How an upstream stands.
    ///
    /// # Errors
    /// When no upstream has this name.
    pub fn snapshot(&self, upstream: &str) -> Result<Snapshot, UnknownUpstream> {
        Ok(self.known(upstream)?.desk.snapshot())
    }

    /// Brings all metrics up to date; to be called before they are scraped. Throttles, and waits that took
    /// time, are counted as they happen.
    pub fn publish(&self) {
        for way in self.ways.read().unwrap_or_else(PoisonError::into_inner).values() {
            way.desk.publish();
        }
    }

    /// Makes a call when the upstream allows it, and tries again when it says so.
    ///
    /// `attempt` makes the future of one attempt. Dropping the returned future at any point gives the call's place
    /// and slot back. The slot ends with the future, so a body should be read inside it. A call made from inside
    /// another one of the same upstream runs in that one's slot and cannot deadlock.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use bytes::Bytes;
    /// use http::Response;
    /// use tidegate_upstream::{CallOptions, Gate, Key, Preset};
    ///
    /// let gate = Gate::new([("youtube", Preset::Youtube.settings())])?;
    /// let options = CallOptions { key: Some(Key::of("room-1")), ..CallOptions::default() };
    /// let done = gate
    ///     .call("youtube", options, || async {
    ///         // Any client's call; here one that is always answered.
    ///         Response::new(Bytes::from_static(b"{}"))
    ///     })
    ///     .await?;
    /// assert_eq!((done.answer.status().as_u16(), done.attempts), (200, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// When the call was not made (no such upstream, a full queue, too long a wait, a cooldown), or the upstream
    /// limited it and no further attempt is allowed.
    pub async fn call<T, F, A>(&self, upstream: &str, options: CallOptions, attempt: F) -> Result<Done<T>, CallError<T>>
    where
        T: Reveal,
        F: FnMut() -> A,
        A: Future<Output = T>,
    {
        self.call_judged(upstream, options, T::reveal, attempt).await
    }

    /// The same for results that cannot show themselves, such as another crate's errors: `judge` does it for them.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use tidegate_upstream::{CallOptions, Gate, Outcome, Preset, Seen};
    ///
    /// let gate = Gate::new([("chat", Preset::StreamChat.settings())])?;
    /// fn judge(result: &Result<String, u16>) -> Seen<'_> {
    ///     match result {
    ///         Ok(_) => Seen::FINE,
    ///         Err(429) => Seen::Finding { outcome: Outcome::Throttled, retry_after: None },
    ///         Err(_) => Seen::FAILED,
    ///     }
    /// }
    /// let done = gate.call_judged("chat", CallOptions::default(), judge, || async { Err(404) }).await?;
    /// assert_eq!(done.answer, Err(404), "another failure is the caller's");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As for [`Gate::call`].
    pub async fn call_judged<T, J, F, A>(
        &self,
        upstream: &str,
        options: CallOptions,
        judge: J,
        mut attempt: F,
    ) -> Result<Done<T>, CallError<T>>
    where
        J: Fn(&T) -> Seen<'_>,
        F: FnMut() -> A,
        A: Future<Output = T>,
    {
        let desk = Arc::clone(&self.known(upstream)?.desk);
        let (mut call, policy) = asked(&desk, &options);
        let mut waited = Duration::ZERO;
        loop {
            let slot = desk.slot(call.clone()).await?;
            waited += slot.waited();
            let answer = inside::scope(&desk, attempt()).await;
            let heard = hear(&desk, &slot, judge(&answer));
            // Before any further wait: backing off does not hold a slot.
            drop(slot);
            match desk.verdict(&heard, &call, &policy) {
                Verdict::Pass => {
                    let (outcome, attempts) = (heard.outcome, call.retries + 1);
                    return Ok(Done { answer, outcome, waited, attempts });
                }
                Verdict::RateLimited(limited) => return Err(CallError::RateLimited { limited, answer }),
                Verdict::RetryIn(delay) => {
                    sleep(delay).await;
                    waited += delay;
                    call.retries += 1;
                }
            }
        }
    }

    /// Closes connections that nobody will use.
    #[cfg(feature = "proxy")]
    pub(crate) fn tidy(&self) {
        for way in self.ways.read().unwrap_or_else(PoisonError::into_inner).values() {
            way.tidy();
        }
    }

    pub(crate) fn way(&self, name: &str) -> Option<Arc<Way>> {
        self.ways.read().unwrap_or_else(PoisonError::into_inner).get(name).map(Arc::clone)
    }

    pub(crate) fn known(&self, name: &str) -> Result<Arc<Way>, UnknownUpstream> {
        self.way(name).ok_or_else(|| UnknownUpstream { name: name.to_owned(), known: self.names() })
    }
}

/// A call that is no request, and its policy.
fn asked(desk: &Arc<Desk>, options: &CallOptions) -> (Call, RetryPolicy) {
    let settings = desk.settings();
    let operation = Operation::new("call");
    let key = Key::of("");
    let resource = Resource::of(options.operation.as_ref().unwrap_or(&operation).as_str());
    let call = options.call(Usual { key, operation, resource }, &settings.retry, inside::is_in(desk), clock::now());
    (call, options.policy(&settings.retry))
}

fn hear(desk: &Desk, slot: &HeldSlot, seen: Seen<'_>) -> Heard {
    match seen {
        Seen::Finding { outcome, retry_after } => desk.hear_finding(slot, outcome, retry_after),
        Seen::Response { status, headers, body } => {
            let heard = desk.hear(slot, head(status, headers));
            if heard.wants_body { desk.hear_body(slot, heard, body) } else { heard }
        }
    }
}
