//! What the tests share: one tenant, one stream, and short ways to say what viewers say.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;
use tidegate_seats::{Answer, Ask, Asker, Beat, BeatAnswer, Proof, SeatId, StreamId, StreamSettings, TenantId};
use tidegate_store::{Catalogue, Embedded, EmbeddedSettings, Seats, TenantSettings};

/// A store in a directory of its own, with the tenant `acme`.
pub(crate) struct Fixture {
    pub(crate) store: Arc<Embedded>,
    pub(crate) dir: TempDir,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(EmbeddedSettings::default()).await
    }

    pub(crate) async fn with(settings: EmbeddedSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Embedded::open(dir.path(), settings).unwrap();
        store.add_tenant(&acme(), tenant_settings(5_000), [1; 32]).await.unwrap();
        Self { store, dir }
    }

    /// Opens the stream `live`.
    pub(crate) async fn with_stream(viewer_cap: u32, queue_max: u32) -> Self {
        let fixture = Self::new().await;
        fixture.store.open_stream(&acme(), &live(), stream_settings(viewer_cap, queue_max)).await.unwrap();
        fixture
    }

    pub(crate) async fn ask(&self, ask: Ask<'_>) -> Answer {
        self.store.ask(&live(), ask).await.unwrap()
    }

    /// Seats so many at once.
    pub(crate) async fn fill(&self, seats: u32) -> Vec<SeatId> {
        let ask = |_| {
            let store = Arc::clone(&self.store);
            tokio::spawn(async move { seated(&store.ask(&live(), newcomer()).await.unwrap()) })
        };
        let asks: Vec<_> = (0..seats).map(ask).collect();
        let mut seats = Vec::new();
        for ask in asks {
            seats.push(ask.await.unwrap());
        }
        seats
    }

    pub(crate) async fn beat(&self, seat: SeatId) -> BeatAnswer {
        self.store.beat(&live(), beat(seat)).await
    }

    /// What another reader sees in the file at this moment.
    pub(crate) fn count(&self, sql: &str) -> i64 {
        count(self.dir.path(), sql)
    }

    /// A copy of the files as they are on the disk: what a crash would leave.
    pub(crate) fn crash_image(&self) -> TempDir {
        let image = tempfile::tempdir().unwrap();
        for name in ["seats.db", "seats.db-wal"] {
            std::fs::copy(self.dir.path().join(name), image.path().join(name)).unwrap();
        }
        image
    }
}

pub(crate) fn open(dir: &Path) -> Arc<Embedded> {
    Embedded::open(dir, EmbeddedSettings::default()).unwrap()
}

pub(crate) fn count(dir: &Path, sql: &str) -> i64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let conn = Connection::open_with_flags(dir.join("seats.db"), flags).unwrap();
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

pub(crate) fn acme() -> TenantId {
    TenantId::parse("acme").unwrap()
}

pub(crate) fn live() -> StreamId {
    stream_id("live")
}

pub(crate) fn stream_id(id: &str) -> StreamId {
    StreamId::parse(id).unwrap()
}

pub(crate) fn tenant_settings(viewer_cap: u32) -> TenantSettings {
    TenantSettings { name: "Acme".into(), viewer_cap, max_sessions: None, publishers: 20 }
}

pub(crate) fn stream_settings(viewer_cap: u32, queue_max: u32) -> StreamSettings {
    StreamSettings { name: "Live".into(), viewer_cap, queue_max, public: true, region: None, estimate: false }
}

/// A page that comes for the first time.
pub(crate) fn newcomer() -> Ask<'static> {
    Ask {
        asker: Asker::Page,
        seat: None,
        proof: None,
        nonce: None,
        viewer: None,
        join: false,
        hidden: false,
        hls: false,
        fresh: SeatId::from_random(rand::random()),
        token_until: 2_000_000_000,
    }
}

/// A page that asks again with its seat.
pub(crate) fn again(seat: SeatId) -> Ask<'static> {
    Ask { seat: Some(Ok(seat)), ..newcomer() }
}

pub(crate) fn join(seat: SeatId) -> Ask<'static> {
    Ask { join: true, ..again(seat) }
}

pub(crate) fn beat(seat: SeatId) -> Beat {
    Beat { seat, proof: None, hidden: None, hls: None }
}

pub(crate) fn proof(seat: SeatId, issued_at: u64) -> Proof {
    Proof { seat, issued_at, expires_at: u64::MAX }
}

/// The seat of an `In`.
pub(crate) fn seated(answer: &Answer) -> SeatId {
    match answer {
        Answer::In { seat, .. } => *seat,
        Answer::Wait { .. } | Answer::Offer { .. } | Answer::Full { .. } | Answer::Refused(_) => {
            panic!("not seated: {answer:?}")
        }
    }
}

/// Seat and position of a `Wait`.
pub(crate) fn waiting(answer: &Answer) -> (SeatId, u32) {
    match answer {
        Answer::Wait { seat, position, .. } => (*seat, position.0.get()),
        Answer::In { .. } | Answer::Offer { .. } | Answer::Full { .. } | Answer::Refused(_) => {
            panic!("not waiting: {answer:?}")
        }
    }
}

/// Seat and whole seconds left of an `Offer`.
pub(crate) fn offered(answer: &Answer) -> (SeatId, u64) {
    match answer {
        Answer::Offer { seat, left, .. } => (*seat, left.as_secs()),
        Answer::In { .. } | Answer::Wait { .. } | Answer::Full { .. } | Answer::Refused(_) => {
            panic!("not offered: {answer:?}")
        }
    }
}
