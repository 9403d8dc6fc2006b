//! What a run saw, for a person and for a script.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::load::book::{Book, Call, Phase};
use crate::load::judge::Promise;
use crate::load::stats::Caps;

/// Everything a run saw. Printed by `Display`, or as JSON.
#[derive(Serialize)]
pub(crate) struct Summary {
    seconds: f64,
    /// At the end, before they said goodbye.
    viewers: Viewers,
    in_at_once: InAtOnce,
    offers: OffersSeen,
    /// From a freed seat to the telling of its offer.
    offer_told_ms: Quantiles,
    /// From the sending of a call to its answer.
    latency_ms: BTreeMap<&'static str, Quantiles>,
    calls: u64,
    calls_per_s: f64,
    answers: BTreeMap<String, u64>,
    no_answers: BTreeMap<String, u64>,
    promises: BTreeMap<&'static str, u64>,
    /// Whether every promise was seen kept.
    kept: bool,
    examples: Vec<String>,
}

#[derive(Serialize)]
struct Viewers {
    r#in: usize,
    waiting: usize,
    offered: usize,
    away: usize,
    closed: usize,
}

/// Seats held at one instant.
#[derive(Serialize)]
struct InAtOnce {
    /// The most that is proved by the answers of this run.
    proved: u32,
    /// The most that the server's stats showed.
    stats: Option<u32>,
    /// The highest cap in force during the run.
    cap: Option<u32>,
}

#[derive(Serialize)]
struct OffersSeen {
    told: u64,
    taken: u64,
    let_lapse: u64,
}

#[derive(Serialize)]
struct Quantiles {
    count: u64,
    p50: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

impl Quantiles {
    /// `per_ms` is how many of the histogram's units are a millisecond.
    fn of(histogram: &Histogram<u64>, per_ms: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "times of hours at most")]
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / per_ms;
        Self { count: histogram.len(), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) }
    }
}

impl Summary {
    /// Judges the caps, which needs the whole run, and sums up.
    pub(crate) fn of(book: &mut Book, caps: Caps, lasted: Duration) -> Self {
        let in_at_once = InAtOnce { proved: book.judge.most_in(), stats: caps.most_seats, cap: caps.highest };
        judge_caps(book, &in_at_once);
        let promises: BTreeMap<_, _> =
            Promise::ALL.into_iter().map(|promise| (promise.key(), book.judge.times_broken(promise))).collect();
        let calls = book.answers.values().sum::<u64>();
        #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
        let calls_per_s = calls as f64 / lasted.as_secs_f64();
        Self {
            seconds: lasted.as_secs_f64(),
            viewers: Viewers {
                r#in: book.count(Phase::In),
                waiting: book.count(Phase::Waiting),
                offered: book.count(Phase::Offered),
                away: book.count(Phase::Out),
                closed: book.count(Phase::Closed),
            },
            in_at_once,
            offers: OffersSeen { told: book.offers.told, taken: book.offers.taken, let_lapse: book.offers.let_lapse },
            offer_told_ms: Quantiles::of(&book.judge.offer_told, 1.0),
            latency_ms: Call::ALL
                .map(|call| (call.route(), Quantiles::of(&book.latency[call as usize], 1000.0)))
                .into(),
            calls,
            calls_per_s,
            answers: book.answers.clone(),
            no_answers: book.no_answers.clone(),
            kept: promises.values().all(|times| *times == 0),
            promises,
            examples: book.judge.examples().map(str::to_owned).collect(),
        }
    }

    /// Whether every promise was seen kept.
    pub(crate) const fn kept(&self) -> bool {
        self.kept
    }
}

/// S6: by this side's own account, and by the server's.
fn judge_caps(book: &mut Book, seen: &InAtOnce) {
    let Some(cap) = seen.cap else { return };
    let accounts = [(Some(seen.proved), "by the answers"), (seen.stats, "by the server's stats")];
    for (most, whose) in accounts {
        if let Some(most) = most.filter(|most| *most > cap) {
            book.judge.note(Promise::OverCap, || format!("{most} in at once {whose}, with {cap} seats"));
        }
    }
}

impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Viewers { r#in, waiting, offered, away, closed } = &self.viewers;
        writeln!(f, "after {:.0} s      {in} in, {waiting} waiting, {offered} offered, {away} away", self.seconds)?;
        if *closed > 0 {
            writeln!(f, "                {closed} were told that the stream is closed to them")?;
        }
        self.write_seats(f)?;
        let OffersSeen { told, taken, let_lapse } = &self.offers;
        writeln!(f, "offers          {told} told, {taken} taken, {let_lapse} let lapse on purpose")?;
        writeln!(f, "seat to offer   {}", self.offer_told_ms)?;
        writeln!(f, "calls           {} answered, {:.0} a second", self.calls, self.calls_per_s)?;
        for (call, quantiles) in &self.latency_ms {
            writeln!(f, "  {call:<14}{quantiles}")?;
        }
        write_counts(f, "answers", &self.answers)?;
        write_counts(f, "no answer", &self.no_answers)?;
        self.write_promises(f)
    }
}

impl Summary {
    fn write_seats(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "in at once      at least {}", self.in_at_once.proved)?;
        if let Some(most) = self.in_at_once.stats {
            write!(f, ", {most} by the server's stats")?;
        }
        match self.in_at_once.cap {
            Some(cap) => writeln!(f, ", of {cap} seats"),
            None => writeln!(f, " (not judged: give --cap or --key)"),
        }
    }

    fn write_promises(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.kept {
            return write!(f, "promises        all seen kept");
        }
        write!(f, "promises        BROKEN")?;
        for (promise, times) in self.promises.iter().filter(|(_, times)| **times > 0) {
            write!(f, "\n  {promise:<14}{times}")?;
        }
        for example in &self.examples {
            write!(f, "\n  {example}")?;
        }
        Ok(())
    }
}

impl Display for Quantiles {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { count, p50, p90, p99, max } = self;
        match count {
            0 => write!(f, "none"),
            _ => write!(f, "p50 {p50:.1} ms, p90 {p90:.1}, p99 {p99:.1}, max {max:.1}  ({count})"),
        }
    }
}

fn write_counts(f: &mut Formatter<'_>, what: &str, counts: &BTreeMap<String, u64>) -> fmt::Result {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(f, "{what}")?;
    counts.iter().try_for_each(|(label, count)| writeln!(f, "  {count:>9}  {label}"))
}
