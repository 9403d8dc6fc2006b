//! What a control knows of its relays, from the report that each sends every second (E2, E3, E11, E12, E14).
//!
//! A relay that is silent is left out of answers after five seconds; what it has open counts for a minute, for it
//! works on while it cannot reach the control (E4). The first report of a relay, and one after a report that did not
//! arrive, brings all its sessions; every other one brings what changed since the one before.

mod ranking;
mod shares;
mod tokens;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::fast::FixedState;

pub use ranking::Listed;

use self::shares::Grants;
use self::tokens::{Holding, Tokens};
use crate::settings::HEARD;
use crate::{Busy, RETURN, Role};

/// Where a relay is, and how viewers reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Where it stands, such as `eu-west`.
    pub region: Arc<str>,
    /// Where viewers open WebTransport sessions.
    pub url: Arc<str>,
    /// Where its LL-HLS is.
    pub hls_url: Arc<str>,
    /// The hash of a certificate that it made itself; in development only.
    pub cert_sha256: Option<Arc<str>>,
}

/// A relay's report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Counts up by one with each report of one life of the relay.
    pub number: u64,
    /// The report whose answer it had last, and since which the changes are; `None`: these are all its sessions.
    pub since: Option<u64>,
    /// Where it is.
    pub site: Site,
    /// How busy it was in the last second.
    pub busy: Busy,
    /// It refuses newcomers for its load.
    pub full: bool,
    /// Sessions that were opened, went silent or were heard again.
    pub sessions: Vec<Reported>,
    /// Tokens whose sessions have ended.
    pub ended: Vec<Arc<str>>,
}

/// A session, as its relay reports it. Ages instead of times: no two machines' clocks are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Its token's name.
    pub token: Arc<str>,
    /// Its seat.
    pub seat: Arc<str>,
    /// Its stream.
    pub stream: Arc<str>,
    /// Whose it is.
    pub tenant: Arc<str>,
    /// What it may do.
    pub role: Role,
    /// How long it has been open.
    pub open: Duration,
    /// How long nothing has come from its client.
    pub silent: Duration,
}

/// What a tenant has open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// Sessions of viewers and publishers.
    pub sessions: u32,
    /// Those of publishers.
    pub publishers: u32,
}

/// The relays of a control.
#[derive(Debug, Default)]
pub struct Fleet {
    /// By name, so that everything that depends on their order is the same each time.
    relays: BTreeMap<Arc<str>, Relay>,
    tokens: Tokens,
    seats: HashMap<Arc<str>, Presence, FixedState>,
    /// Seats in the order in which their last session ended.
    left: VecDeque<(Instant, Arc<str>)>,
}

#[derive(Debug)]
struct Relay {
    site: Site,
    busy: Busy,
    full: bool,
    number: u64,
    heard: Instant,
    sessions: HashMap<Arc<str>, Session, FixedState>,
    in_use: HashMap<Arc<str>, InUse, FixedState>,
    grants: Grants,
}

/// A session at one relay.
#[derive(Clone, Debug)]
struct Session {
    seat: Arc<str>,
    stream: Arc<str>,
    tenant: Arc<str>,
    role: Role,
}

/// Where a seat stands in the fleet.
#[derive(Clone, Copy, Debug)]
enum Presence {
    /// So many sessions.
    Here(u32),
    /// Its last one ended then.
    Left(Instant),
}

/// A viewer's session, for whoever knows whether its seat is still taken (T6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watching<'a> {
    /// Its token's name.
    pub token: &'a str,
    /// Its seat.
    pub seat: &'a str,
    /// Its stream.
    pub stream: &'a str,
}

impl Fleet {
    /// Takes a report. `false` when reports before it are missing: the relay is to bring all its sessions.
    pub fn handle_report(&mut self, name: &str, report: Report, now: Instant) -> bool {
        self.handle_timeout(now);
        let (name, known) = match self.relays.get_key_value(name) {
            Some((name, relay)) => (Arc::clone(name), Some(relay.number)),
            None => (Arc::from(name), None),
        };
        let whole = report.since.is_none();
        let follows = whole || (report.since == known && known.is_some());
        let relay = self.relays.entry(Arc::clone(&name)).or_insert_with(|| Relay::new(report.site.clone(), now));
        relay.site = report.site;
        (relay.busy, relay.full, relay.heard) = (report.busy, report.full, now);
        // An answer that may have been lost leaves the shares of the one before in force.
        if follows && !whole {
            relay.grants.confirm();
        }
        if !follows {
            return false;
        }
        relay.number = report.number;
        let ended = if whole { relay.unnamed(&report.sessions) } else { report.ended };
        for token in ended {
            self.end(&name, &token, now);
        }
        for session in report.sessions {
            self.open(&name, session, now);
        }
        true
    }

    /// The tokens whose session at this relay is to be closed because another relay has an open one too. Rule E2.
    #[must_use]
    pub fn doubles(&self, relay: &str, now: Instant) -> Vec<Arc<str>> {
        let fresh = |name: &str| {
            self.relays.get(name).is_some_and(|relay| now.saturating_duration_since(relay.heard) < COMPARED)
        };
        let tokens = self.relays.get(relay).into_iter().flat_map(|relay| relay.sessions.keys());
        tokens.filter(|token| self.tokens.yields(token, relay, fresh)).cloned().collect()
    }

    /// The sessions of viewers at a relay.
    pub fn watching(&self, relay: &str) -> impl Iterator<Item = Watching<'_>> {
        let sessions = self.relays.get(relay).into_iter().flat_map(|relay| &relay.sessions);
        sessions.filter(|(_, session)| session.role == Role::Viewer).map(|(token, session)| Watching {
            token,
            seat: &session.seat,
            stream: &session.stream,
        })
    }

    /// What a relay may have open of each tenant, given what each may have in all: sessions follow use, and nobody's
    /// shares together are more than the whole, also while relays still go by older ones. Rule E3.
    pub fn shares(&mut self, relay: &str, tenants: impl IntoIterator<Item = (Arc<str>, u32)>) -> Vec<(Arc<str>, u32)> {
        tenants.into_iter().map(|(tenant, max)| self.share(relay, tenant, max)).collect()
    }

    /// The relays for a viewer of a tenant and a region, the best first: those that take newcomers, or, when none does,
    /// all of them. One whose share of the tenant's sessions is used up comes last, as one does that has just come and
    /// must wait until the others have given up some of theirs. `draw` gives numbers evenly spread over 0 to 1; they
    /// spread viewers over the relays of a region, the idle ones first. Rules E3, E12 and E14.
    pub fn ranking(
        &self,
        tenant: &str,
        region: Option<&str>,
        now: Instant,
        draw: impl FnMut() -> f64,
    ) -> Vec<Listed<'_>> {
        let heard = self.relays.iter().filter(|(_, relay)| now.saturating_duration_since(relay.heard) < LISTED);
        ranking::ranked(heard.map(|(name, relay)| (&**name, relay)), tenant, region, draw)
    }

    /// The relays that a relay is to connect to: those after it by name, so that each two of a fleet have one link.
    /// Rule E16.
    pub fn peers(&self, relay: &str, now: Instant) -> impl Iterator<Item = (&str, &Site)> {
        let after = self.relays.iter().filter(move |(name, _)| &***name > relay);
        let heard = after.filter(move |(_, relay)| now.saturating_duration_since(relay.heard) < LISTED);
        heard.map(|(name, relay)| (&**name, &relay.site))
    }

    /// Whether a seat has a session at any relay, or had one a moment ago: its next token says `back`. Rules T2 and
    /// E11.
    #[must_use]
    pub fn knows(&self, seat: &str, now: Instant) -> bool {
        match self.seats.get(seat) {
            Some(Presence::Here(_)) => true,
            Some(Presence::Left(at)) => now.saturating_duration_since(*at) < RETURN,
            None => false,
        }
    }

    /// What a tenant has open over the fleet; `None` while no relay reports. Rule S23.
    #[must_use]
    pub fn in_use(&self, tenant: &str) -> Option<InUse> {
        let of_relay = |relay: &Relay| relay.in_use.get(tenant).copied().unwrap_or_default();
        let sum =
            |a: InUse, b: InUse| InUse { sessions: a.sessions + b.sessions, publishers: a.publishers + b.publishers };
        self.relays.values().map(of_relay).reduce(sum)
    }

    /// Forgets relays that have been silent for a minute, and seats that left long ago.
    pub fn handle_timeout(&mut self, now: Instant) {
        let silent = |relay: &Relay| now.saturating_duration_since(relay.heard) >= COUNTED;
        let gone: Vec<_> =
            self.relays.iter().filter(|(_, relay)| silent(relay)).map(|(name, _)| name.clone()).collect();
        for name in gone {
            let tokens: Vec<_> = self.relays[&name].sessions.keys().cloned().collect();
            tokens.iter().for_each(|token| self.end(&name, token, now));
            self.relays.remove(&name);
        }
        while let Some((at, _)) = self.left.front() {
            if now.saturating_duration_since(*at) < RETURN {
                break;
            }
            if let Some((at, seat)) = self.left.pop_front()
                && matches!(self.seats.get(&seat), Some(Presence::Left(last)) if *last == at)
            {
                self.seats.remove(&seat);
            }
        }
    }

    fn open(&mut self, name: &Arc<str>, reported: Reported, now: Instant) {
        let Reported { token, seat, stream, tenant, role, open, silent } = reported;
        let holding =
            Holding { relay: Arc::clone(name), since: now.checked_sub(open).unwrap_or(now), silent: silent >= HEARD };
        self.tokens.hold(&token, holding);
        let Some(relay) = self.relays.get_mut(name) else { return };
        if relay.sessions.contains_key(&token) {
            return;
        }
        relay.count(&tenant, role, |count| *count += 1);
        if role == Role::Viewer {
            let presence = self.seats.entry(Arc::clone(&seat)).or_insert(Presence::Here(0));
            *presence = match presence {
                Presence::Here(sessions) => Presence::Here(*sessions + 1),
                Presence::Left(_) => Presence::Here(1),
            };
        }
        relay.sessions.insert(token, Session { seat, stream, tenant, role });
    }

    fn end(&mut self, name: &str, token: &str, now: Instant) {
        let Some(relay) = self.relays.get_mut(name) else { return };
        let Some(session) = relay.sessions.remove(token) else { return };
        self.tokens.release(token, name);
        relay.count(&session.tenant, session.role, |count| *count -= 1);
        if session.role == Role::Viewer
            && let Some(presence) = self.seats.get_mut(&session.seat)
        {
            match presence {
                Presence::Here(sessions) if *sessions > 1 => *sessions -= 1,
                Presence::Here(_) | Presence::Left(_) => {
                    *presence = Presence::Left(now);
                    self.left.push_back((now, session.seat));
                }
            }
        }
    }

    fn share(&mut self, name: &str, tenant: Arc<str>, max: u32) -> (Arc<str>, u32) {
        let used = |relay: &Relay| relay.in_use.get(&tenant).map_or(0, |in_use| in_use.sessions);
        let uses: Vec<_> = self.relays.values().map(used).collect();
        let others = self.relays.iter().filter(|(other, _)| &***other != name);
        let held: u32 = others.map(|(_, relay)| relay.grants.held(&tenant).max(used(relay))).sum();
        let Some(place) = self.relays.keys().position(|other| &**other == name) else { return (tenant, 0) };
        let fair = shares::fair(max, &uses, place);
        let share = fair.min(max.saturating_sub(held)).max(uses[place]);
        if let Some(relay) = self.relays.get_mut(name) {
            relay.grants.grant(&tenant, share);
        }
        (tenant, share)
    }
}

impl Relay {
    fn new(site: Site, now: Instant) -> Self {
        Self {
            site,
            busy: Busy::default(),
            full: false,
            number: 0,
            heard: now,
            sessions: HashMap::default(),
            in_use: HashMap::default(),
            grants: Grants::default(),
        }
    }

    /// Whether a tenant may open another session here, as far as is known.
    fn has_share(&self, tenant: &str) -> bool {
        let used = self.in_use.get(tenant).map_or(0, |in_use| in_use.sessions);
        self.grants.last(tenant).is_none_or(|share| used < share)
    }

    /// The tokens whose sessions are in no whole report.
    fn unnamed(&self, reported: &[Reported]) -> Vec<Arc<str>> {
        let named: std::collections::HashSet<&str> = reported.iter().map(|session| &*session.token).collect();
        self.sessions.keys().filter(|token| !named.contains(&***token)).cloned().collect()
    }

    /// Peers count under no tenant (E3).
    fn count(&mut self, tenant: &Arc<str>, role: Role, change: impl Fn(&mut u32)) {
        if role == Role::Peer {
            return;
        }
        let in_use = self.in_use.entry(Arc::clone(tenant)).or_default();
        change(&mut in_use.sessions);
        if role == Role::Publisher {
            change(&mut in_use.publishers);
        }
        if *in_use == InUse::default() {
            self.in_use.remove(tenant);
        }
    }
}

/// A relay that has not reported for so long is in no answer. Rule E12.
const LISTED: Duration = Duration::from_secs(5);
/// Reports younger than this are compared. Rule E2.
const COMPARED: Duration = Duration::from_secs(2);
/// What a silent relay has open counts for so long: its viewers watch on while it cannot reach the control (E4).
const COUNTED: Duration = Duration::from_secs(60);
