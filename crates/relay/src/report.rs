//! Tells the control each second what is open here and how busy it is, and does what it answers (E2, E3, E12, T6).

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_edge::{Removal, Role, State};
use tidegate_wire::report::{Orders, RelayState, Report, Session, SessionRole};
use tokio::time::{MissedTickBehavior, interval};

use crate::desk::{Open, Standing};
use crate::links::Links;
use crate::{Control, Relay};

/// How the control knows a relay, and viewers reach it. Rules E12 and E14.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Its name, its own in the fleet: 1 to 64 letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Where it stands, such as `eu-west`.
    pub region: String,
    /// Where viewers open sessions, such as `https://eu-1.example:4443`.
    pub public_url: String,
    /// Where its LL-HLS is; empty where it has none.
    pub hls_url: String,
}

/// What the control was told with the report whose answer came last.
#[derive(Default)]
struct Told {
    /// The last report that was sent.
    version: u64,
    /// The one that was answered last; `None` until then, and when the control asks for everything.
    since: Option<u64>,
    /// Each token, and whether its client was silent.
    sessions: HashMap<Arc<str>, bool>,
}

impl Relay {
    /// Reports each second. While the control does not answer, the relay goes on as it is (E4).
    pub async fn report(&self, control: &Control, site: &Site) -> Infallible {
        let mut told = Told::default();
        let mut links = Links::new(self.all_broadcasts());
        let mut answers = true;
        let mut seconds = interval(SECOND);
        seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            seconds.tick().await;
            let (standing, open) = (self.standing(), self.open_sessions());
            let (mut report, sessions) = told.next(site, self.certificate_sha256(), standing, &open, Instant::now());
            report.linked = links.names(Instant::now());
            match control.report(&report).await {
                Ok(mut orders) => {
                    told.answered(sessions, orders.resend);
                    links.open(std::mem::take(&mut orders.peers), Instant::now());
                    self.obey(orders);
                    if !std::mem::replace(&mut answers, true) {
                        tracing::info!("the control answers reports again");
                    }
                }
                Err(error) => {
                    if std::mem::replace(&mut answers, false) {
                        tracing::warn!(%error, "the control takes no reports; the relay goes on as it is");
                    }
                }
            }
        }
    }

    fn obey(&self, orders: Orders) {
        for token in orders.close {
            self.remove(Removal::Token(token.into()), CALLED_BACK);
        }
        self.set_shares(orders.shares.into_iter().map(|(tenant, share)| (tenant.into(), share)));
        self.keys().heed(&orders.keys_version, orders.store_away);
    }
}

impl Told {
    /// The next report, and what will have been told with it.
    fn next(
        &mut self,
        site: &Site,
        certificate_sha256: Option<&str>,
        standing: Standing,
        open: &[Open],
        now: Instant,
    ) -> (Report, HashMap<Arc<str>, bool>) {
        self.version += 1;
        let silent = |open: &Open| now.saturating_duration_since(open.heard) >= SILENT;
        let sessions: HashMap<_, _> = open.iter().map(|open| (Arc::clone(&open.pass.token), silent(open))).collect();
        let known = |open: &&Open| self.since.is_some() && self.sessions.get(&open.pass.token) == Some(&silent(open));
        let changed = open.iter().filter(|open| !known(open)).map(|open| session(open, now)).collect();
        let gone = self.sessions.keys().filter(|token| !sessions.contains_key(*token));
        let ended = if self.since.is_some() { gone.map(ToString::to_string).collect() } else { Vec::new() };
        let report = Report {
            relay: site.name.clone(),
            region: site.region.clone(),
            public_url: site.public_url.clone(),
            hls_url: site.hls_url.clone(),
            cert_sha256: certificate_sha256.map(str::to_owned),
            busy: standing.load.busy.share(),
            lag_ms: u32::try_from(standing.load.lag.as_millis()).unwrap_or(u32::MAX),
            state: match standing.state {
                State::Open => RelayState::Open,
                State::Saturated => RelayState::Saturated,
            },
            full: standing.full,
            version: self.version,
            since: self.since,
            sessions: changed,
            ended,
            linked: Vec::new(),
        };
        (report, sessions)
    }

    fn answered(&mut self, sessions: HashMap<Arc<str>, bool>, resend: bool) {
        self.since = (!resend).then_some(self.version);
        self.sessions = sessions;
    }
}

fn session(open: &Open, now: Instant) -> Session {
    let age = |since| u64::try_from(now.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX);
    Session {
        jti: open.pass.token.to_string(),
        seat: open.pass.seat.to_string(),
        stream: open.pass.stream.to_string(),
        tenant: open.pass.tenant.to_string(),
        role: match open.pass.role {
            Role::Viewer => SessionRole::Viewer,
            Role::Publisher => SessionRole::Publisher,
            Role::Peer => SessionRole::Peer,
        },
        since_ms: age(open.since),
        heard_ms: age(open.heard),
        hls: open.hls,
    }
}

/// Between two reports. Rule E12.
const SECOND: Duration = Duration::from_secs(1);
/// A client that was not heard from for so long does not hold its token. Rule E2.
const SILENT: Duration = Duration::from_secs(3);
/// A token that was called back is refused for longer than any viewer's lives.
const CALLED_BACK: Duration = Duration::from_secs(2 * 3600);

#[cfg(test)]
mod tests {
    use tidegate_edge::{Busy, Pass, Reading};

    use super::*;

    fn open(token: &str, since: Instant, heard: Instant) -> Open {
        let pass = Pass {
            token: token.into(),
            seat: "seat".into(),
            stream: "launch".into(),
            tenant: "acme".into(),
            role: Role::Viewer,
            left: Duration::from_secs(120),
            back: false,
        };
        Open { pass, since, heard, hls: false }
    }

    #[test]
    fn e12_a_report_brings_what_changed_since_the_one_that_was_answered_last() {
        let (begin, mut told) = (Instant::now(), Told::default());
        let load = Reading { busy: Busy::from_share(0.5), lag: Duration::from_millis(3), window: SECOND };
        let standing = Standing { load, state: State::Open, full: false, sessions: 0 };
        let next = |told: &mut Told, ms: u64, open: &[&Open], answer: Option<bool>| {
            let open: Vec<_> = open.iter().map(|open| (*open).clone()).collect();
            let (report, sessions) =
                told.next(&Site::default(), None, standing, &open, begin + Duration::from_millis(ms));
            if let Some(resend) = answer {
                told.answered(sessions, resend);
            }
            let changed: Vec<_> =
                report.sessions.iter().map(|session| (session.jti.clone(), session.heard_ms)).collect();
            (report.since, changed, report.ended)
        };
        let [a, b] = ["a", "b"].map(|token| open(token, begin, begin));
        let named =
            |list: &[(&str, u64)]| list.iter().map(|(token, ms)| ((*token).to_owned(), *ms)).collect::<Vec<_>>();
        assert_eq!(next(&mut told, 0, &[&a], None), (None, named(&[("a", 0)]), vec![]));
        assert_eq!(next(&mut told, 9, &[&a], Some(false)), (None, named(&[("a", 9)]), vec![]), "no answer came");
        assert_eq!(next(&mut told, 1000, &[&a, &b], None), (Some(2), named(&[("b", 1000)]), vec![]));
        // That answer was lost: the same changes once more, and what came since.
        assert_eq!(next(&mut told, 2000, &[&b], Some(false)), (Some(2), named(&[("b", 2000)]), vec!["a".to_owned()]));
        assert_eq!(next(&mut told, 2500, &[&b], Some(false)), (Some(4), vec![], vec![]));
        assert_eq!(next(&mut told, 3000, &[&b], Some(false)), (Some(5), named(&[("b", 3000)]), vec![]), "silent");
        let heard = Open { heard: begin + Duration::from_millis(3500), ..b };
        assert_eq!(next(&mut told, 3600, &[&heard], Some(true)), (Some(6), named(&[("b", 100)]), vec![]));
        assert_eq!(
            next(&mut told, 3700, &[&heard], Some(false)),
            (None, named(&[("b", 200)]), vec![]),
            "everything was asked for"
        );
    }
}
