//! What outlives the process: rows that a store keeps, and the changes to them.

use crate::{Arrival, NonceHash, SeatId, StreamId, TenantId};

/// A tenant's limits as far as seats are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantLimits {
    /// Seats over all the tenant's streams (S13).
    pub viewer_cap: u32,
}

/// What a stream's owner sets (S9, S25).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSettings {
    /// A label for people.
    pub name: String,
    /// Seats.
    pub viewer_cap: u32,
    /// Places in line.
    pub queue_max: u32,
    /// Whether pages may ask for themselves (S17).
    pub public: bool,
    /// Where its viewers mostly are; orders relays.
    pub region: Option<String>,
    /// Whether answers carry a wait estimate (S26).
    pub estimate: bool,
}

/// A stream's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRecord {
    /// Its name.
    pub id: StreamId,
    /// What its owner set.
    pub settings: StreamSettings,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds; `Some` once it has ended.
    pub ended_at: Option<u64>,
    /// Unix seconds of the last publisher's token (S24).
    pub ingest_token_at: Option<u64>,
    /// Most seats at once since creation (S22).
    pub peak: u32,
}

/// Whether a freed seat needs its owner's `join` (an offer, S5) or not (a hold after a raised cap, S11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnKind {
    /// Taken by `join` within ten seconds of its telling.
    Offer,
    /// Taken by the next ask.
    Hold,
}

/// Where an entry stands, as a row says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandingRecord {
    /// In line, perhaps with a turn that its page has not been told of.
    Waiting {
        /// The untold turn.
        turn: Option<TurnKind>,
    },
    /// Told of an offer.
    Offered,
    /// Seated.
    Seated,
}

/// An entry's row: one viewer of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRecord {
    /// Its order of coming; names the row.
    pub arrival: Arrival,
    /// Of which stream.
    pub stream: StreamId,
    /// The seat id.
    pub seat: SeatId,
    /// Hash of the page's nonce.
    pub nonce: Option<NonceHash>,
    /// The backend's name for the viewer.
    pub viewer: Option<String>,
    /// Where it stands.
    pub standing: StandingRecord,
    /// Unix seconds since it stands there.
    pub since: u64,
    /// The tab was hidden when it last spoke.
    pub hidden: bool,
    /// Watched over LL-HLS.
    pub hls: bool,
    /// Unix seconds at which its last token ends; 0 before its first.
    pub token_until: u64,
}

/// How an entry ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Went silent, or let an offer lapse.
    Expired,
    /// Left.
    Left,
    /// Kicked.
    Kicked,
}

/// A remembered departure (T5, S8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepartedRecord {
    /// Of which stream.
    pub stream: StreamId,
    /// The seat id that is dead.
    pub seat: SeatId,
    /// How it ended.
    pub why: Departure,
    /// Unix seconds until which it is remembered.
    pub until: u64,
}

/// One change to the rows, in the order in which they must become durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The entry's row is now this.
    Entry(EntryRecord),
    /// The entry is gone, and its departure remembered.
    Departed {
        /// Names the row that goes.
        arrival: Arrival,
        /// The row that comes.
        departed: DepartedRecord,
    },
    /// The departure of a seat that had no row (any more) is remembered, in place of what was before.
    Remembered(DepartedRecord),
    /// The viewer name is blocked until then, Unix seconds (S8).
    ViewerKicked {
        /// Of which stream.
        stream: StreamId,
        /// The name.
        viewer: String,
        /// Unix seconds.
        until: u64,
    },
    /// The stream's row is now this.
    Stream(StreamRecord),
    /// The stream's peak rose to this.
    Peak {
        /// Of which stream.
        stream: StreamId,
        /// Most seats at once.
        peak: u32,
    },
    /// The stream ended: all its entries are gone.
    EntriesCleared {
        /// Of which stream.
        stream: StreamId,
    },
    /// The stream and everything of it is gone.
    StreamDeleted(StreamId),
    /// The tenant's limits are now these.
    Limits(TenantLimits),
}

/// Everything that a store kept of one house.
#[derive(Clone, Debug)]
pub struct HouseRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Its limits.
    pub limits: TenantLimits,
    /// When the store's memory began, Unix seconds; older tokens may restore a seat (T5).
    pub birth: u64,
    /// Its streams, in any order.
    pub streams: Vec<StreamRecord>,
    /// Its entries, in any order.
    pub entries: Vec<EntryRecord>,
    /// Departures still remembered.
    pub departed: Vec<DepartedRecord>,
    /// Blocked viewer names: stream, name, until (Unix seconds).
    pub kicked_viewers: Vec<(StreamId, String, u64)>,
}
