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
use crate::load::told::{Read, Told};

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
            latency: Call::ALL.map(|_| Histogram::new(3).expect("three digits are allowed")),
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
            ledger.append(viewer, call, reply, read);
        }
    }

    /// Notes that a viewer gives up what it has, by leaving or by going silent, before it does.
    pub(crate) fn departs(&mut self, viewer: u32) {
        if let Some(ledger) = &mut self.ledger {
            ledger.write(&Departs { at_ms: unix_ms(), viewer, call: "departs" });
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

#[derive(Serialize)]
struct Line<'a> {
    /// Unix milliseconds at which the answer had come.
    at_ms: u64,
    /// The call was sent this long before.
    took_ms: u64,
    viewer: u32,
    call: &'static str,
    status: u16,
    answer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u32>,
}

#[derive(Serialize)]
struct Departs {
    /// Unix milliseconds before the leave was sent, or the silence began.
    at_ms: u64,
    viewer: u32,
    call: &'static str,
}

impl Ledger {
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let file = File::options().append(true).create(true).open(path);
        Ok(Self { file: file.or_say(|| format!("cannot write the ledger {}", path.display()))? })
    }

    fn append(&mut self, viewer: u32, call: Call, reply: &Reply, read: &Read) {
        let (seat, position) = match &read.told {
            Told::Wait { seat, position, .. } => (Some(seat.as_str()), Some(*position)),
            Told::In { seat, .. } | Told::Offer { seat, .. } => (Some(seat.as_str()), None),
            Told::Full { .. }
            | Told::Kept { .. }
            | Told::Renewed { .. }
            | Told::Gone
            | Told::Closed
            | Told::Done
            | Told::Problem { .. } => (None, None),
        };
        let line = Line {
            at_ms: unix_ms(),
            took_ms: millis(reply.got - reply.sent),
            viewer,
            call: call.route(),
            status: reply.status,
            answer: &read.label,
            seat,
            position,
        };
        self.write(&line);
    }

    /// One write per line: what was answered is in the file even if this process is killed next.
    fn write(&mut self, line: &impl Serialize) {
        let mut bytes = serde_json::to_vec(line).expect("plain fields");
        bytes.push(b'\n');
        // A full disk under the ledger must not end the run that it records.
        self.file.write_all(&bytes).ok();
    }
}

fn unix_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
