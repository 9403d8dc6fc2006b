//! Viewers: real sessions that read every frame, and knock again as players do when they are refused.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow};
use tidegate_token::Role;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use web_transport_moq::proto::ConnectRequest;
use web_transport_moq::{Client, Session};

use super::publisher::{BROADCAST, TRACK, WRITTEN};
use super::relay::{Door, Relay};

/// Everybody who watches one relay; they leave with this value.
pub(crate) struct Audience {
    door: Door,
    sockets: Vec<Client>,
    viewers: Mutex<Vec<Viewer>>,
}

struct Viewer {
    book: Arc<Mutex<Book>>,
    watching: JoinHandle<()>,
}

/// What one viewer got.
#[derive(Debug, Default)]
struct Book {
    /// The number of its first frame; with that it is in.
    first: Option<u32>,
    /// Numbers, and how old they were, in microseconds.
    frames: Vec<(u32, u32)>,
    /// It was in and is no longer.
    is_lost: bool,
}

/// What a look at an audience shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Of a hundred frames that were due, so many came within [`LIMIT`].
    pub(crate) on_time: f64,
    /// The same for the viewer that had the fewest.
    pub(crate) worst: f64,
    /// How old frames were that came at all.
    pub(crate) p99_ms: f64,
}

impl Audience {
    pub(crate) fn new(relay: &Relay) -> Self {
        let door = relay.door().clone();
        // Many sockets: what the system keeps for one would not hold a frame for each of its sessions.
        let sockets = (0..SOCKETS).map(|_| door.client().expect("a client of the relay's certificate")).collect();
        Self { door, sockets, viewers: Mutex::default() }
    }

    /// Lets so many more come, at once.
    pub(crate) fn knock(&self, count: usize) {
        let mut viewers = self.viewers();
        for _ in 0..count {
            let socket = self.sockets[viewers.len() % SOCKETS].clone();
            let book = Arc::<Mutex<Book>>::default();
            let watching = tokio::spawn(watch(self.door.clone(), socket, Arc::clone(&book)));
            viewers.push(Viewer { book, watching });
        }
    }

    /// The same, and waits until they are in; not forever.
    pub(crate) async fn grow(&self, count: usize) {
        let wanted = self.open() + count;
        self.knock(count);
        let all = async {
            while self.open() < wanted {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, all).await.ok();
    }

    /// Some leave, and as many come.
    pub(crate) fn replace(&self, count: usize) {
        let left: Vec<Viewer> = self.viewers().drain(..count).collect();
        left.iter().for_each(|viewer| viewer.watching.abort());
        self.knock(count);
    }

    /// How many are in.
    pub(crate) fn open(&self) -> usize {
        let is_in = |viewer: &&Viewer| {
            let book = book(&viewer.book);
            book.first.is_some() && !book.is_lost
        };
        self.viewers().iter().filter(is_in).count()
    }

    /// What those see in this time who are in already.
    pub(crate) async fn watch(&self, time: Duration) -> Seen {
        let from = WRITTEN.due(Duration::ZERO);
        sleep(time).await;
        self.seen_from(from)
    }

    /// What everybody has seen since it was let in.
    pub(crate) fn seen(&self) -> Seen {
        self.seen_from(0)
    }

    fn seen_from(&self, from: u32) -> Seen {
        let to = WRITTEN.due(LIMIT);
        let (mut due, mut punctual, mut worst, mut ages) = (0_u64, 0_u64, 100.0_f64, Vec::new());
        for viewer in self.viewers().iter() {
            let book = book(&viewer.book);
            let Some(first) = book.first else { continue };
            let owed = u64::from(to.saturating_sub(first.max(from)));
            if owed == 0 {
                continue;
            }
            let in_range = book.frames.iter().filter(|(number, _)| (from..to).contains(number));
            ages.extend(in_range.map(|(_, age)| *age));
            let limit = u32::try_from(LIMIT.as_micros()).expect("a quarter of a second");
            let on_time =
                book.frames.iter().filter(|(number, age)| (from..to).contains(number) && *age <= limit).count();
            due += owed;
            punctual += on_time as u64;
            worst = worst.min(on_time as f64 / owed as f64 * 100.0);
        }
        ages.sort_unstable();
        let p99_ms = ages.get(ages.len() * 99 / 100).map_or(f64::NAN, |age| f64::from(*age) / 1e3);
        Seen { on_time: punctual as f64 / due.max(1) as f64 * 100.0, worst, p99_ms }
    }

    fn viewers(&self) -> MutexGuard<'_, Vec<Viewer>> {
        self.viewers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        self.viewers().iter().for_each(|viewer| viewer.watching.abort());
    }
}

fn book(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Knocks until it is let in, and doubles its wait each round (E15); then watches to the end.
async fn watch(door: Door, socket: Client, of: Arc<Mutex<Book>>) {
    let mut wait = RETRY;
    loop {
        let _end = visit(&door, &socket, &of).await;
        {
            let mut book = book(&of);
            if book.first.is_some() {
                book.is_lost = true;
                return;
            }
        }
        sleep(wait).await;
        wait = (wait * 2).min(RETRY_MAX);
    }
}

async fn visit(door: &Door, socket: &Client, of: &Mutex<Book>) -> anyhow::Result<()> {
    let protocols = moq_net::ALPNS.iter().map(|name| (*name).to_owned());
    let request = ConnectRequest::new(door.url(Role::Viewer)?).with_protocols(protocols);
    let session = timeout(PATIENCE, socket.connect(request)).await??;
    let origin = moq_tokio::origin::spawn();
    let transport = moq_tokio::transport::Session::new(session.clone());
    let client = moq_net::Client::new().with_subscriber(origin.clone());
    let (_media, driver) = timeout(PATIENCE, client.connect(std::time::Instant::now(), transport)).await??;
    tokio::select! {
        end = moq_net::time::run(driver) => Err(anyhow!("the session ended: {end}")),
        end = closed(&session) => Err(end),
        end = read(&origin, of) => end,
    }
}

async fn closed(session: &Session) -> anyhow::Error {
    session.closed().await.into()
}

async fn read(origin: &moq_net::origin::Producer, of: &Mutex<Book>) -> anyhow::Result<()> {
    let broadcast = origin.consume().routed_broadcast(BROADCAST).await.context("no broadcast")?;
    let mut groups = broadcast.track(TRACK)?.subscribe(None).await?.ordered();
    while let Some(mut group) = groups.next_group().await? {
        while let Ok(Some(frame)) = group.read_frame().await {
            let number = frame.payload.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
            let number = number.context("a frame without its number")?;
            let age = WRITTEN.at(number).map_or(Duration::ZERO, |at| Instant::now() - at);
            let mut book = book(of);
            // What came before the first whole look was written before this viewer was there.
            if book.first.is_none() && age < LIMIT {
                book.first = Some(number + 1);
            }
            book.frames.push((number, u32::try_from(age.as_micros()).unwrap_or(u32::MAX)));
        }
    }
    anyhow::bail!("the track ended")
}

/// A frame that took longer is late. "What it must show" of 20-edge.
pub(crate) const LIMIT: Duration = Duration::from_millis(250);
const SOCKETS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);
/// Of a full relay, then twice as long each round up to the longest (E15).
const RETRY: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(16);
