//! What all viewers write to: the judge, latencies, counts, and the file of answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::failure::{OrSay, Outcome};
use crate::load::client::{NoAnswer, Reply};
use crate::load::judge::{Judge, Promise};
use crate::load::told::Read;

/// Which of the page's calls it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Call {
    Ask,
    Beat,
    Renew,
    Leave,
}

impl Call {
    pub(crate) const ALL: [Self; 4] = [Self::Ask, Self::Beat, Self::Renew, Self::Leave];

    /// The last part of its route.
    pub(crate) const fn route(self) -> &'static str {
        match self {
            Self::Ask => "admit",
            Self::Beat => "hb",
            Self::Renew => "token",
            Self::Leave => "leave",
        }
    }
}

/// Where a viewer stands, as it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Not there yet, turned away, or gone.
    Out,
    Waiting,
    Offered,
    In,
    /// The stream does not take it any more.
    Closed,
}

/// How offers ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    pub(crate) told: u64,
    pub(crate) taken: u64,
    pub(crate) let_lapse: u64,
}

/// Everything that was seen.
pub(crate) struct Book {
    pub(crate) judge: Judge,
    pub(crate) phases: Vec<Phase>,
    pub(crate) offers: Offers,
    /// Microseconds from the sending of a call to its answer, by [`Call`].
    pub(crate) latency: [Histogram<u64>; Call::ALL.len()],
    pub(crate) answers: BTreeMap<String, u64>,
    pub(crate) no_answers: BTreeMap<String, u64>,
    ledger: Option<Ledger>,
}

impl Book {
    pub(crate) fn new(viewers: u32, ledger: Option<Ledger>) -> Self {
        Self {
            judge: Judge::new(),
            phases: vec![Phase::Out; viewers as usize],
            offers: Offers::default(),
            latency: Call::ALL.map(|_| histogram(LONGEST_CALL)),
            answers: BTreeMap::new(),
            no_answers: BTreeMap::new(),
            ledger,
        }
    }

    /// Notes one answer.
    pub(crate) fn answered(&mut self, viewer: u32, call: Call, reply: &Reply, read: &Read) {
        let took = (reply.got - reply.sent).as_micros();
        self.latency[call as usize].saturating_record(u64::try_from(took).unwrap_or(u64::MAX));
        match self.answers.get_mut(&read.label) {
            Some(count) => *count += 1,
            None => drop(self.answers.insert(read.label.clone(), 1)),
        }
        if reply.status >= 500 {
            self.judge
                .note(Promise::ServerError, || format!("viewer {viewer}: {} answered {}", call.route(), read.label));
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.answer(viewer, call, reply, read);
        }
    }

    /// Notes that a viewer gives up what it has, by leaving or by going silent, before it does.
    pub(crate) fn departs(&mut self, viewer: u32) {
        if let Some(ledger) = &mut self.ledger {
            ledger.append(&Line { viewer, call: "departs", ..Line::default() });
        }
    }

    /// Notes that no answer came.
    pub(crate) fn unanswered(&mut self, why: NoAnswer) {
        *self.no_answers.entry(why.label()).or_default() += 1;
    }

    pub(crate) fn count(&self, phase: Phase) -> usize {
        self.phases.iter().filter(|other| **other == phase).count()
    }
}

/// A file with one JSON line per answer and per departure, for comparing after a crash of the server.
pub(crate) struct Ledger {
    file: File,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Line<'a> {
    /// Unix milliseconds: when the answer had come, or when the viewer did what it did.
    at_ms: u64,
    viewer: u32,
    /// `admit`, `hb`, `token`, `leave`; or `departs`, which is no answer and has none of what follows.
    call: &'static str,
    /// As the summary counts it: `201 in`.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The call was sent this long before its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u32>,
}

impl Ledger {
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let file = File::options().append(true).create(true).open(path);
        Ok(Self { file: file.or_say(|| format!("cannot write the ledger {}", path.display()))? })
    }

    fn answer(&mut self, viewer: u32, call: Call, reply: &Reply, read: &Read) {
        let (seat, position) = read.told.named();
        self.append(&Line {
            viewer,
            call: call.route(),
            answer: Some(&read.label),
            status: Some(reply.status),
            took_ms: Some(millis(reply.got - reply.sent)),
            seat,
            position,
            ..Line::default()
        });
    }

    /// One write per line: what was answered is in the file even if this process is killed next.
    fn append(&mut self, line: &Line<'_>) {
        let at_ms = millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        let mut bytes = serde_json::to_vec(&Line { at_ms, ..*line }).expect("plain fields");
        bytes.push(b'\n');
        // A full disk under the ledger must not end the run that it records.
        self.file.write_all(&bytes).ok();
    }
}

/// A histogram up to a time in its unit, to three digits; what is longer counts as that.
pub(crate) fn histogram(longest: u64) -> Histogram<u64> {
    Histogram::new_with_bounds(1, longest, 3).expect("bounds in order, and three digits are allowed")
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Microseconds: a minute, where a page gives up after ten seconds.
const LONGEST_CALL: u64 = 60_000_000;
