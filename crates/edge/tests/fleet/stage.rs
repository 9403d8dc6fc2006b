//! Relays that report once a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_edge::{Busy, Fleet, Report, Reported, Role, Site};

/// A fleet and its clock.
pub(crate) struct Stage {
    pub(crate) fleet: Fleet,
    pub(crate) now: Instant,
    number: u64,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { fleet: Fleet::default(), now: Instant::now(), number: 0 }
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// A report with all of a relay's sessions.
    pub(crate) fn whole(&mut self, relay: &str, sessions: Vec<Reported>) {
        let report = Report { since: None, sessions, ..self.report() };
        assert!(self.fleet.handle_report(relay, report, self.now));
    }

    /// A report without sessions of a relay somewhere.
    pub(crate) fn idle(&mut self, relay: &str, region: &str, busy: f64, full: bool) {
        let site = Site { region: region.into(), ..Site::default() };
        let report = Report { site, busy: Busy::from_share(busy), full, ..self.report() };
        assert!(self.fleet.handle_report(relay, report, self.now));
    }

    /// The next report, whole and empty.
    pub(crate) fn report(&mut self) -> Report {
        self.number += 1;
        Report {
            number: self.number,
            since: None,
            site: Site::default(),
            busy: Busy::default(),
            full: false,
            sessions: Vec::new(),
            ended: Vec::new(),
        }
    }

    pub(crate) fn doubles(&self, relay: &str) -> Vec<Arc<str>> {
        self.fleet.doubles(relay, self.now)
    }
}

/// A viewer's session of `acme` that is open for so long.
pub(crate) fn viewer(token: &str, open_ms: u64) -> Reported {
    Reported {
        token: token.into(),
        seat: format!("seat-{token}").into(),
        stream: "launch".into(),
        tenant: "acme".into(),
        role: Role::Viewer,
        open: Duration::from_millis(open_ms),
        silent: Duration::ZERO,
    }
}
