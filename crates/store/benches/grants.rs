//! Durable grants per second through [`Seats::ask`], beside what SQLite alone carries on the same disk.
//!
//! ```text
//! cargo bench -p tidegate-store --bench grants             # in the system's temporary directory
//! TIDEGATE_BENCH_DIR=/data cargo bench -p tidegate-store --bench grants
//! ```
//!
//! The floor is one thread that writes the same rows with the same pragmas in commits of 100. Floor and store take
//! turns in one run, each on a fresh file, and the medians are compared. It fails when the store carries less than
//! a quarter of the floor, or when its 99th percentile is over 50 ms: a verdict for a machine that does nothing
//! else meanwhile.

#![expect(clippy::unwrap_used, reason = "a benchmark")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rusqlite::{Connection, params};
use tidegate_seats::{Answer, Ask, Asker, Beat, SeatId, StreamId, StreamSettings, TenantId};
use tidegate_store::{Catalogue, Embedded, EmbeddedSettings, Seats, TenantSettings};

/// Grants per measured round.
const GRANTS: u64 = 100_000;
/// Calls of each kind that change nothing.
const CALLS: usize = 1_000_000;
/// Rounds of each kind.
const ROUNDS: usize = 5;
/// Asks under way at once.
const TASKS: [usize; 3] = [64, 256, 1024];
/// At least so much of the floor.
const SHARE: f64 = 0.25;
/// At most so long for 99 of 100 answers.
const P99: Duration = Duration::from_millis(50);

struct Round {
    grants_per_s: f64,
    commits: u64,
    latency: Histogram<u64>,
}

fn main() -> ExitCode {
    let dir = std::env::var_os("TIDEGATE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut floors = Vec::new();
    let mut rounds: Vec<Vec<Round>> = TASKS.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        floors.push(in_fresh_dir(&dir, |dir| runtime.block_on(floor(dir))));
        for (tasks, rounds) in TASKS.into_iter().zip(&mut rounds) {
            rounds.push(in_fresh_dir(&dir, |dir| runtime.block_on(store(dir, tasks))));
        }
    }
    let verdict = report(&floors, &rounds);
    in_fresh_dir(&dir, |dir| runtime.block_on(unchanging(dir)));
    verdict
}

/// What a call costs that changes nothing, in a house with 1,000 seats and 10,000 places.
async fn unchanging(dir: &Path) {
    let store = Embedded::open(dir, EmbeddedSettings { max_places: 1 << 32, ..Default::default() }).unwrap();
    let stream = prepare(&store, 1_000, 10_000).await;
    let (left, mut seats, mut places) = (Arc::new(AtomicU64::new(11_000)), Vec::new(), Vec::new());
    let askers: Vec<_> =
        (0..256).map(|_| tokio::spawn(entries(Arc::clone(&store), stream.clone(), Arc::clone(&left)))).collect();
    for asker in askers {
        for answer in asker.await.unwrap() {
            match answer {
                Answer::In { seat, .. } => seats.push(seat),
                Answer::Wait { seat, .. } => places.push(seat),
                Answer::Offer { .. } | Answer::Full { .. } | Answer::Refused(_) => panic!("{answer:?}"),
            }
        }
    }
    let began = Instant::now();
    for n in 0..CALLS {
        let seat = seats[n % seats.len()];
        store.beat(&stream, Beat { seat, proof: None, hidden: None, hls: None }).await;
    }
    let beat = began.elapsed() / CALLS as u32;
    let began = Instant::now();
    for n in 0..CALLS {
        let ask = Ask { seat: Some(Ok(places[n % places.len()])), ..newcomer() };
        store.ask(&stream, ask).await.unwrap();
    }
    let ask = began.elapsed() / CALLS as u32;
    println!("calls that change nothing, one after another: heartbeat {beat:?}, ask of a waiting place {ask:?}");
}

async fn entries(store: Arc<Embedded>, stream: StreamId, left: Arc<AtomicU64>) -> Vec<Answer> {
    let mut answers = Vec::new();
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        answers.push(store.ask(&stream, newcomer()).await.unwrap());
    }
    answers
}

fn report(floors: &[f64], rounds: &[Vec<Round>]) -> ExitCode {
    let floor = median(floors.iter().copied());
    println!("{GRANTS} grants a round, {ROUNDS} rounds in turn, medians");
    println!("SQLite alone, commits of 100 rows: {floor:.0} rows/s");
    println!("  tasks   grants/s    share   rows/commit   p50 ms   p99 ms   max ms");
    let mut good = true;
    for (tasks, rounds) in TASKS.iter().zip(rounds) {
        let grants = median(rounds.iter().map(|round| round.grants_per_s));
        let group = median(rounds.iter().map(|round| GRANTS as f64 / round.commits as f64));
        let ms = |at: f64| median(rounds.iter().map(|round| round.latency.value_at_quantile(at) as f64 / 1e3));
        let (share, p99) = (grants / floor, ms(0.99));
        println!("{tasks:>7} {grants:>10.0} {share:>7.2}x {group:>13.0} {:>8.2} {p99:>8.2} {:>8.2}", ms(0.5), ms(1.0));
        good &= p99 <= P99.as_secs_f64() * 1e3 && (*tasks < 256 || share >= SHARE);
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Rows per second of one thread with the store's own schema and pragmas.
async fn floor(dir: &Path) -> f64 {
    Embedded::open(dir, EmbeddedSettings::default()).unwrap().close().await.unwrap();
    let mut conn = Connection::open(dir.join("seats.db")).unwrap();
    conn.pragma_update(None, "synchronous", "FULL").unwrap();
    conn.pragma_update(None, "wal_autocheckpoint", 4096).unwrap();
    let began = Instant::now();
    for group in 0..GRANTS / 100 {
        let tx = conn.transaction().unwrap();
        let sql = "INSERT INTO entries VALUES (1, ?1, ?2, ?3, NULL, 4, 1800000000, 0, 0, 1800000120)";
        let mut insert = tx.prepare_cached(sql).unwrap();
        for n in 0..100 {
            let (seat, nonce): ([u8; 16], [u8; 16]) = (rand::random(), rand::random());
            insert.execute(params![(group * 100 + n).cast_signed(), seat, nonce]).unwrap();
        }
        drop(insert);
        tx.commit().unwrap();
    }
    GRANTS as f64 / began.elapsed().as_secs_f64()
}

/// Grants per second of so many tasks that each ask for one new seat after another.
async fn store(dir: &Path, tasks: usize) -> Round {
    let store = Embedded::open(dir, EmbeddedSettings { max_places: 1 << 32, ..Default::default() }).unwrap();
    let stream = prepare(&store, u32::MAX / 2, 0).await;
    let before = store.written();
    let left = Arc::new(AtomicU64::new(GRANTS));
    let began = Instant::now();
    let askers: Vec<_> =
        (0..tasks).map(|_| tokio::spawn(ask_on(Arc::clone(&store), stream.clone(), Arc::clone(&left)))).collect();
    let mut latency = histogram();
    for asker in askers {
        latency.add(asker.await.unwrap()).unwrap();
    }
    let took = began.elapsed();
    let commits = store.written().commits - before.commits;
    store.close().await.unwrap();
    Round { grants_per_s: GRANTS as f64 / took.as_secs_f64(), commits, latency }
}

async fn ask_on(store: Arc<Embedded>, stream: StreamId, left: Arc<AtomicU64>) -> Histogram<u64> {
    let mut latency = histogram();
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        let began = Instant::now();
        let answer = store.ask(&stream, newcomer()).await.unwrap();
        assert!(matches!(answer, Answer::In { .. }));
        latency.record(began.elapsed().as_micros() as u64).unwrap();
    }
    latency
}

async fn prepare(store: &Embedded, viewer_cap: u32, queue_max: u32) -> StreamId {
    let (tenant, stream) = (TenantId::parse("bench").unwrap(), StreamId::parse("bench").unwrap());
    let settings = TenantSettings { name: "Bench".into(), viewer_cap, max_sessions: None, publishers: 1 };
    store.add_tenant(&tenant, settings, [1; 32]).await.unwrap();
    let settings =
        StreamSettings { name: "Bench".into(), viewer_cap, queue_max, public: true, region: None, estimate: false };
    store.open_stream(&tenant, &stream, settings).await.unwrap();
    stream
}

fn newcomer() -> Ask<'static> {
    Ask {
        asker: Asker::Page,
        seat: None,
        proof: None,
        nonce: Some(tidegate_seats::NonceHash(rand::random())),
        viewer: None,
        join: false,
        hidden: false,
        hls: false,
        fresh: SeatId::from_random(rand::random()),
        token_until: 1_800_000_120,
    }
}

fn in_fresh_dir<T>(parent: &Path, run: impl FnOnce(&Path) -> T) -> T {
    let dir = tempfile::tempdir_in(parent).unwrap();
    run(dir.path())
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000, 3).unwrap()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
