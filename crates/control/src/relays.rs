//! The relays of this control: what they report, and what follows for viewers (S21, S23, S27, T2, T6, E2, E3, E14).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use http::HeaderMap;
use tidegate_edge::{Busy, Fleet, InUse, Listed, Report, Reported, Role, Site};
use tidegate_seats::{SeatId, StreamId, TenantId};
use tidegate_store::KeyDigest;
use tidegate_wire::play::Relay;
use tidegate_wire::report::{self, Peer, Session, SessionRole};
use tidegate_wire::{Code, Problem};

use crate::auth::{bearer, key_digest};
use crate::tokens::Signed;

/// Who may report, and what was reported.
#[derive(Default)]
pub(crate) struct Relays {
    secret: OnceLock<KeyDigest>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    fleet: Fleet,
    /// Deleted streams: no store can say later that their seats are freed.
    stopped: HashMap<StreamId, Instant>,
}

/// A viewer's session whose seat may have been freed.
pub(crate) struct Watching {
    pub(crate) token: String,
    pub(crate) stream: StreamId,
    pub(crate) seat: SeatId,
}

impl Relays {
    pub(crate) fn admit(&self, secret: KeyDigest) {
        self.secret.get_or_init(|| secret);
    }

    /// Whether a request comes from a relay of the fleet.
    pub(crate) fn authorize(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let shown = bearer(headers).map(key_digest);
        let ours = self.secret.get().zip(shown).is_some_and(|(ours, shown)| {
            // Digests, so a difference in time would tell nothing about the secret; constant all the same.
            verify_slices_are_equal(ours, &shown).is_ok()
        });
        let detail = "send the fleet's relay secret: `Authorization: Bearer SECRET`";
        ours.then_some(()).ok_or_else(|| Problem::new(Code::Unauthorized, detail))
    }

    /// Takes a report; `false` when the relay is to bring all its sessions.
    pub(crate) fn take(&self, name: &str, report: report::Report) -> bool {
        self.known().fleet.handle_report(name, read(report), Instant::now())
    }

    /// Tokens of a relay that another relay has a session on. Rule E2.
    pub(crate) fn doubles(&self, relay: &str) -> Vec<String> {
        self.known().fleet.doubles(relay, Instant::now()).iter().map(|token| token.to_string()).collect()
    }

    /// The viewers' sessions at a relay, apart by whether their stream was deleted here.
    pub(crate) fn watching(&self, relay: &str) -> (Vec<String>, Vec<Watching>) {
        let known = self.known();
        let (mut stopped, mut going) = (Vec::new(), Vec::new());
        for watching in known.fleet.watching(relay) {
            let token = watching.token.to_owned();
            let ids = (StreamId::parse(watching.stream), SeatId::parse(watching.seat));
            let (Some(stream), Some(seat)) = ids else { continue };
            if known.stopped.contains_key(&stream) {
                stopped.push(token);
            } else {
                going.push(Watching { token, stream, seat });
            }
        }
        (stopped, going)
    }

    /// What a relay may have open of each tenant. Rule E3.
    pub(crate) fn shares(&self, relay: &str, tenants: Vec<(TenantId, u32)>) -> Vec<(String, u32)> {
        let tenants = tenants.into_iter().map(|(id, max)| (Arc::from(id.as_str()), max));
        let shares = self.known().fleet.shares(relay, tenants);
        shares.into_iter().map(|(tenant, share)| (tenant.to_string(), share)).collect()
    }

    /// Ends the sessions of a stream that is gone. Rule E4.
    pub(crate) fn stop(&self, stream: &StreamId) {
        let mut known = self.known();
        // Beyond the bound their viewers watch until their tokens end.
        if known.stopped.len() < STOPPED_MAX {
            known.stopped.insert(stream.clone(), Instant::now());
        }
    }

    /// The relays for a viewer of that tenant and region. Rules S27 and E14.
    pub(crate) fn ranked(&self, tenant: &TenantId, region: Option<&str>) -> Vec<Relay> {
        let known = self.known();
        known
            .fleet
            .ranking(tenant.as_str(), region, Instant::now(), rand::random::<f64>)
            .into_iter()
            .map(written)
            .collect()
    }

    /// The relays that a relay is to connect to, without those that it has. Rule E16.
    pub(crate) fn peers(&self, relay: &str, linked: &[String], signed: impl Fn() -> Signed) -> Vec<Peer> {
        let known = self.known();
        let peers = known.fleet.peers(relay, Instant::now());
        let missing = peers.filter(|(name, _)| !linked.iter().any(|linked| linked == name));
        missing.take(PEERS_MAX).map(|(name, site)| peer(name, site, signed())).collect()
    }

    /// Whether a seat is at a relay, or was a moment ago. Rule T2.
    pub(crate) fn knows(&self, seat: &str) -> bool {
        self.known().fleet.knows(seat, Instant::now())
    }

    /// What a tenant has open; `None` while no relay reports. Rule S23.
    pub(crate) fn in_use(&self, tenant: &TenantId) -> Option<InUse> {
        self.known().fleet.in_use(tenant.as_str())
    }

    /// Forgets what is long over.
    pub(crate) fn tick(&self) {
        let (mut known, now) = (self.known(), Instant::now());
        known.fleet.handle_timeout(now);
        known.stopped.retain(|_, at| now.saturating_duration_since(*at) < STOPPED);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // A panic half-way leaves counts that the relays' next whole reports put right.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(report: report::Report) -> Report {
    Report {
        number: report.version,
        since: report.since,
        site: Site {
            region: report.region.into(),
            url: report.public_url.into(),
            hls_url: report.hls_url.into(),
            cert_sha256: report.cert_sha256.map(Into::into),
        },
        busy: Busy::from_share(report.busy),
        full: report.full,
        sessions: report.sessions.into_iter().map(session).collect(),
        ended: report.ended.into_iter().map(Into::into).collect(),
    }
}

fn session(session: Session) -> Reported {
    Reported {
        token: session.jti.into(),
        seat: session.seat.into(),
        stream: session.stream.into(),
        tenant: session.tenant.into(),
        role: match session.role {
            SessionRole::Viewer => Role::Viewer,
            SessionRole::Publisher => Role::Publisher,
            SessionRole::Peer => Role::Peer,
        },
        open: Duration::from_millis(session.since_ms),
        silent: Duration::from_millis(session.heard_ms),
    }
}

fn peer(name: &str, site: &Site, Signed { token, life_s }: Signed) -> Peer {
    Peer {
        relay: name.to_owned(),
        url: site.url.to_string(),
        cert_sha256: site.cert_sha256.as_ref().map(ToString::to_string),
        token,
        token_expires_s: life_s,
    }
}

fn written(listed: Listed<'_>) -> Relay {
    let Site { region, url, hls_url, cert_sha256 } = listed.site;
    Relay {
        id: listed.name.to_owned(),
        url: url.to_string(),
        hls_url: hls_url.to_string(),
        region: region.to_string(),
        cert_sha256: cert_sha256.as_ref().map(ToString::to_string),
        full: listed.full,
    }
}

/// A deleted stream's tokens have all ended by then, the longest-lived viewers' too.
const STOPPED: Duration = Duration::from_secs(2 * 3600);
/// Connections that one answer asks for; the next one asks for more.
const PEERS_MAX: usize = 16;
/// Bounds memory.
const STOPPED_MAX: usize = 10_000;
