//! One tenant's house behind its lock, and the order of its changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_seats::{Change, House, NonceHash, Now, SeatId, StandingRecord, StreamId, Swept, TenantId};

use super::clock;
use super::journal::{Journal, Ticket};
use super::rows::Row;
use crate::{Named, StoreAway, TenantSettings, Toll};

/// One tenant: its house, its settings, and how far the journal must have come for its answers to hold.
pub(super) struct Desk {
    pub(super) tenant: TenantId,
    state: Mutex<State>,
    journal: Arc<Journal>,
}

struct State {
    house: House,
    settings: TenantSettings,
    /// Of the house's last change that an answer may rest on.
    ticket: Ticket,
}

/// The desk, held: nobody else changes the house meanwhile. Never held across an await.
pub(super) struct AtDesk<'a> {
    state: MutexGuard<'a, State>,
    desk: &'a Desk,
    /// The tenant's own rows, ahead of the house's changes.
    rows: Vec<Row>,
    /// Read under the lock, so that one house's time never steps back.
    pub(super) now: Now,
}

impl Desk {
    pub(super) fn new(tenant: TenantId, house: House, settings: TenantSettings, journal: Arc<Journal>) -> Self {
        Self { tenant, state: Mutex::new(State { house, settings, ticket: Ticket::default() }), journal }
    }

    /// Takes the desk as it stands; while the store is away nobody's time runs (D2).
    pub(super) fn take(&self) -> AtDesk<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::now();
        if self.journal.is_away() {
            // From the first moment on, not only once it is long enough to be an outage by the ticks.
            state.house.forgive(now);
        }
        AtDesk { state, desk: self, rows: Vec::new(), now }
    }

    /// Takes the desk with nothing left in the house whose time is over.
    pub(super) fn take_swept(&self) -> AtDesk<'_> {
        loop {
            let mut at_desk = self.take();
            if self.journal.is_away() || at_desk.sweep() == Swept::Done {
                return at_desk;
            }
            // Many have expired at once: others may have their turn between two rounds.
            at_desk.publish();
        }
    }

    /// Takes the desk for a call that changes something; refused before anything has changed.
    pub(super) fn take_to_change(&self) -> Result<AtDesk<'_>, StoreAway> {
        self.journal.writable()?;
        Ok(self.take_swept())
    }
}

impl AtDesk<'_> {
    pub(super) fn house(&mut self) -> &mut House {
        &mut self.state.house
    }

    /// The live entry that a call names, if the toll lets it go on.
    pub(super) fn named(
        &self,
        stream: &StreamId,
        (seat, nonce): (Option<SeatId>, Option<NonceHash>),
        toll: Toll<'_>,
    ) -> Named<SeatId> {
        let Some(seat) = self.state.house.find(stream, seat, nonce, self.now) else { return Named::Nobody };
        match toll(seat) {
            Ok(()) => Named::Answered(seat),
            Err(retry) => Named::TooOften(retry),
        }
    }

    pub(super) fn settings(&self) -> &TenantSettings {
        &self.state.settings
    }

    /// Replaces the tenant's settings.
    pub(super) fn put_settings(&mut self, settings: TenantSettings) {
        let row = Row::Tenant { id: self.desk.tenant.clone(), settings: settings.clone() };
        self.state.settings = settings;
        self.push(row);
    }

    /// Has a row of the tenant's own written together with what follows.
    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Expires what is due, as far as one round goes.
    pub(super) fn sweep(&mut self) -> Swept {
        self.state.house.handle_timeout(self.now)
    }

    /// Queues the house's changes and leaves the desk. An answer holds once the ticket is durable: it may rest on any
    /// earlier change of the house, so that a position once told is never seen to rise after a crash.
    pub(super) fn publish(mut self) -> Ticket {
        let changes = self.state.house.take_changes();
        if !changes.is_empty() || !self.rows.is_empty() {
            self.state.ticket = self.queue(changes);
        }
        self.state.ticket
    }

    /// The same after a call that answers from memory: what only this seat's row says of it, such as when its token
    /// ends, holds up nobody else's answer.
    pub(super) fn publish_quietly(mut self, seat: SeatId) {
        let changes = self.state.house.take_changes();
        if changes.is_empty() {
            return;
        }
        let quiet = changes.iter().all(|change| is_seated_row_of(change, seat));
        let ticket = self.queue(changes);
        if !quiet {
            self.state.ticket = ticket;
        }
    }

    fn queue(&mut self, changes: Vec<Change>) -> Ticket {
        let (tenant, rows) = (&self.desk.tenant, std::mem::take(&mut self.rows));
        self.desk.journal.push(rows.into_iter().chain(changes.into_iter().map(|change| Row::of(tenant, change))))
    }
}

fn is_seated_row_of(change: &Change, seat: SeatId) -> bool {
    matches!(change, Change::Entry(entry) if entry.seat == seat && entry.standing == StandingRecord::Seated)
}
