//! What was received, and what that says about who called: spacing, concurrency, fairness.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The requests of a run in the order of their arrival.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    /// The first 100,000.
    pub entries: Vec<Entry>,
    /// How many came after those.
    #[serde(default)]
    pub unlogged: u64,
}

/// One request. Times are nanoseconds since the stand-in started, on a monotonic clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When its head was read.
    pub at_ns: u64,
    /// When the kernel received the end of its head, in nanoseconds since 1970: on the loopback the instant at which
    /// it was sent, however late the stand-in came to read it. 0 where the kernel does not say.
    #[serde(default)]
    pub received_ns: u64,
    /// When the head of its answer was given.
    pub answered_ns: Option<u64>,
    /// When its answer ended, or its caller went away.
    pub ended_ns: Option<u64>,
    /// Whether the answer was given to its end.
    pub whole: bool,
    /// Whether its slot ended with its head: a stream, a socket, a long poll (G3).
    pub streams: bool,
    /// How many had a slot when it arrived, itself included.
    pub in_flight: u32,
    /// The connection it came on, counted from 0.
    pub connection: u64,
    /// The address of its caller.
    pub peer: String,
    /// `HTTP/1.1` or `HTTP/2.0`
    pub version: String,
    /// Its method.
    pub method: String,
    /// Its path, without the query.
    pub path: String,
    /// Its query.
    pub query: String,
    /// The route that the script gave it, or method and path.
    pub operation: String,
    /// Whose call it was; empty if it did not say.
    pub key: String,
    /// The headers of interest.
    pub headers: BTreeMap<String, Vec<String>>,
    /// Bytes of its body that were read.
    pub body_bytes: u64,
    /// The answer's status.
    pub status: Option<u16>,
    /// What gave the answer.
    pub why: Why,
}

impl Entry {
    /// When it gave its slot back.
    #[must_use]
    pub fn slot_ended_ns(&self) -> Option<u64> {
        if self.streams { self.answered_ns.or(self.ended_ns) } else { self.ended_ns }
    }
}

/// What gave an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A rule.
    Rule,
    /// No rule wanted it.
    #[default]
    Otherwise,
    /// The address was throttled.
    Throttle,
    /// The operation's limit was used up.
    Limit,
    /// The operation's budget was used up.
    Budget,
}

impl Log {
    /// How many requests were logged.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Only the requests that match.
    #[must_use]
    pub fn filter(&self, matches: impl Fn(&Entry) -> bool) -> Self {
        Self { entries: self.entries.iter().filter(|entry| matches(entry)).cloned().collect(), unlogged: 0 }
    }

    /// Only the first so many: while keys still compete, before the queue runs dry.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        Self { entries: self.entries.iter().take(count).cloned().collect(), unlogged: 0 }
    }

    /// Only the requests of one operation.
    #[must_use]
    pub fn of_operation(&self, operation: &str) -> Self {
        self.filter(|entry| entry.operation == operation)
    }

    /// Only the requests of one key.
    #[must_use]
    pub fn of_key(&self, key: &str) -> Self {
        self.filter(|entry| entry.key == key)
    }

    /// Only the requests that arrived after one time and before another.
    #[must_use]
    pub fn between(&self, after_ns: u64, before_ns: u64) -> Self {
        self.filter(|entry| after_ns < entry.at_ns && entry.at_ns < before_ns)
    }

    /// The times between arrivals, in order (G1).
    #[must_use]
    pub fn gaps(&self) -> Vec<Duration> {
        self.entries.windows(2).map(|pair| Duration::from_nanos(pair[1].at_ns - pair[0].at_ns)).collect()
    }

    /// The times between arrivals as the kernel saw them, in order: what a busy machine adds to [`Log::gaps`] is not
    /// in them (G1).
    #[must_use]
    pub fn gaps_on_the_wire(&self) -> Vec<Duration> {
        let gap = |pair: &[Entry]| Duration::from_nanos(pair[1].received_ns.saturating_sub(pair[0].received_ns));
        self.entries.windows(2).map(gap).collect()
    }

    /// The shortest time between two arrivals.
    #[must_use]
    pub fn min_gap(&self) -> Option<Duration> {
        self.gaps().into_iter().min()
    }

    /// The most requests that ran at once (G1).
    #[must_use]
    pub fn max_in_flight(&self) -> u32 {
        self.entries.iter().map(|entry| entry.in_flight).max().unwrap_or(0)
    }

    /// Requests of each key.
    #[must_use]
    pub fn by_key(&self) -> BTreeMap<&str, u64> {
        count(self.entries.iter().map(|entry| entry.key.as_str()))
    }

    /// Answers of each status; `None` had none.
    #[must_use]
    pub fn by_status(&self) -> BTreeMap<Option<u16>, u64> {
        count(self.entries.iter().map(|entry| entry.status))
    }

    /// Jain's fairness index over the requests of each key: 1 is even, 1 ÷ keys is one key alone (G2).
    ///
    /// Judges a whole run only if all keys still competed at its end: see [`Log::first`].
    #[must_use]
    pub fn jain_by_key(&self) -> f64 {
        jain(self.by_key().into_values())
    }

    /// The lowest of [`Log::jain_by_key`] over all runs of so many arrivals.
    ///
    /// Keys without an arrival in such a run count as 0, so a key that starves for a while shows.
    #[must_use]
    pub fn worst_jain_by_key(&self, arrivals: usize) -> f64 {
        let keys = self.by_key();
        let judge = |run: &[Entry]| {
            let mut counts: BTreeMap<&str, u64> = keys.keys().map(|&key| (key, 0)).collect();
            run.iter().for_each(|entry| *counts.entry(&entry.key).or_default() += 1);
            jain(counts.into_values())
        };
        self.entries.windows(arrivals.max(1)).map(judge).min_by(f64::total_cmp).unwrap_or(1.0)
    }

    /// What still came after the first throttle was told, if there was one (G9).
    #[must_use]
    pub fn aftermath(&self) -> Option<Aftermath> {
        let throttled = |entry: &&Entry| entry.why == Why::Throttle;
        let first = self.entries.iter().filter(throttled).filter_map(|entry| entry.answered_ns).min()?;
        let running = |entry: &&Entry| entry.at_ns <= first && entry.slot_ended_ns().is_none_or(|end| end > first);
        Some(Aftermath {
            told_ns: first,
            in_flight: self.entries.iter().filter(running).filter(|entry| entry.answered_ns != Some(first)).count(),
            throttled: self.entries.iter().filter(throttled).count() - 1,
            arrived: self.entries.iter().filter(|entry| entry.at_ns > first).count(),
        })
    }
}

/// What came after the first refusal of a throttled address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aftermath {
    /// When the first refusal was given.
    pub told_ns: u64,
    /// Other requests that ran at that instant.
    pub in_flight: usize,
    /// Further refusals, before and after that instant.
    pub throttled: usize,
    /// Requests that arrived after that instant.
    pub arrived: usize,
}

fn count<T: Ord>(items: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    items.for_each(|item| *counts.entry(item).or_default() += 1);
    counts
}

fn jain(counts: impl Iterator<Item = u64>) -> f64 {
    let (mut keys, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for count in counts {
        let count = count as f64;
        keys += 1.0;
        sum += count;
        squares += count * count;
    }
    if squares > 0.0 { sum * sum / (keys * squares) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at_ns: u64, key: &str, in_flight: u32) -> Entry {
        let (answered_ns, ended_ns) = (Some(at_ns + 5), Some(at_ns + 10));
        Entry { at_ns, answered_ns, ended_ns, in_flight, key: key.to_owned(), ..Entry::default() }
    }

    fn log(keys: &str) -> Log {
        let entries = keys.chars().zip(0_u64..).map(|(key, n)| entry(n * n * 10, &key.to_string(), 1)).collect();
        Log { entries, unlogged: 0 }
    }

    #[test]
    fn g1_gaps_are_the_times_between_arrivals() {
        let nanos = Duration::from_nanos;
        assert_eq!(log("aaaa").gaps(), [nanos(10), nanos(30), nanos(50)]);
        assert_eq!(log("aaaa").min_gap(), Some(nanos(10)));
        assert_eq!(log("a").gaps(), []);
        assert_eq!(log("abab").of_key("b").gaps(), [nanos(80)]);
    }

    #[test]
    fn g2_jains_index_is_1_for_even_shares_and_1_of_n_for_one_alone() {
        let close = |index: f64, to: f64| assert!((index - to).abs() < 1e-9, "{index} is not {to}");
        close(log("abcabcabc").jain_by_key(), 1.0);
        close(log("").jain_by_key(), 1.0);
        close(log("aaab").jain_by_key(), 16.0 / 20.0);
        close(log("aabb").jain_by_key(), 1.0);
        // Even in the end, but b starved in the first half.
        close(log("aabb").worst_jain_by_key(2), 0.5);
        close(log("abab").worst_jain_by_key(2), 1.0);
        close(log("aabb").first(3).jain_by_key(), 9.0 / 10.0);
    }

    #[test]
    fn g9_the_aftermath_counts_what_ran_and_what_still_came() {
        let throttled = |at_ns| Entry { status: Some(429), why: Why::Throttle, ..entry(at_ns, "a", 1) };
        let slow = Entry { ended_ns: Some(100), ..entry(12, "b", 1) };
        let entries = vec![entry(0, "a", 1), throttled(10), slow, throttled(14), throttled(40)];
        let log = Log { entries, unlogged: 0 };
        let seen = Aftermath { told_ns: 15, in_flight: 2, throttled: 2, arrived: 1 };
        assert_eq!(log.aftermath(), Some(seen));
        assert_eq!(log.first(1).aftermath(), None);
    }
}
