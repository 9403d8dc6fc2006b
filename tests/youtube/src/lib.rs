//! A stand-in of YouTube's live chat, for tests and demos of the rooms.
//!
//! It serves the pages of videos and channels and answers polls, in YouTube's own protocol: tokens of its layout, of
//! which only those that name a video are taken, pages that hold their data as scripts, `gzip` where it is asked for.
//! The chat is made up at any rate, so that what a viewer must get is known: row *n* has the id `m`*n*, and each second
//! says `rate` more of them; or it is recorded, and told at that rate.
//!
//! It answers by a [`Script`], one for all videos or one for each. [`Fault`]s and throttles by address come ahead of
//! it. All times are tokio's, so that a test with paused time sees virtual time on both sides. Its log holds what was
//! asked for, by whom, and when.

mod chat;
mod pages;
mod polls;
mod script;
mod serve;
mod token;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

pub use polls::actions_of;
pub use script::{Channel, Consent, Script, Shape, Silent, State, Tab};

use chat::Chat;

/// An answer out of the order of things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status.
    pub status: u16,
    /// `Retry-After`, where it has one.
    pub retry_after: Option<String>,
    /// `Location`, where it has one.
    pub location: Option<String>,
    /// The body.
    pub body: String,
}

/// One call that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Since the start.
    pub at: Duration,
    /// From where: the first address of `X-Forwarded-For`, or the other end of the socket.
    pub from: IpAddr,
    /// `GET` or `POST` and the path, without its query.
    pub what: String,
    /// Which video it was about, where it named one.
    pub video: Option<String>,
    /// The status of the answer.
    pub status: u16,
}

/// A stand-in; dropping it closes its port and all its connections.
#[derive(Debug)]
pub struct YouTube {
    shared: Arc<Shared>,
    address: SocketAddr,
    _closing: watch::Sender<()>,
}

#[derive(Debug)]
struct Shared {
    begun: Instant,
    /// Microseconds since 1970 at the start.
    begun_us: u64,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    /// For videos without a script of their own.
    script: Script,
    scripts: HashMap<String, Script>,
    channels: HashMap<String, Channel>,
    chat: Chat,
    faults: VecDeque<Fault>,
    throttled_until: Option<Instant>,
    throttled: HashMap<IpAddr, Instant>,
    /// Tokens that were made until then, in microseconds since 1970, are refused.
    expired_us: u64,
    log: Vec<Call>,
    given: Vec<(Instant, Range<u64>)>,
}

impl Fault {
    /// An answer with this status and body.
    #[must_use]
    pub fn new(status: u16, body: &str) -> Self {
        Self { status, retry_after: None, location: None, body: body.to_owned() }
    }

    /// A redirect.
    #[must_use]
    pub fn to(location: &str) -> Self {
        Self { location: Some(location.to_owned()), ..Self::new(302, "") }
    }
}

impl YouTube {
    /// Starts one on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (closing, closed) = watch::channel(());
        let inside = Inside {
            chat: Chat::new(script.rate),
            script,
            scripts: HashMap::new(),
            channels: HashMap::new(),
            faults: VecDeque::new(),
            throttled_until: None,
            throttled: HashMap::new(),
            expired_us: 0,
            log: Vec::new(),
            given: Vec::new(),
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun_us = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        let shared = Arc::new(Shared { begun: Instant::now(), begun_us, inside: Mutex::new(inside) });
        tokio::spawn(serve::serve(Arc::clone(&shared), listener, closed));
        Ok(Self { shared, address, _closing: closing })
    }

    /// Its base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes how it answers. Another rate holds from now on.
    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        let elapsed = self.shared.begun.elapsed();
        let mut inside = self.shared.inside();
        change(&mut inside.script);
        let rate = inside.script.rate;
        inside.chat.set_rate(rate, elapsed);
    }

    /// Gives one video a script of its own. Its rate stays that of all.
    pub fn change_video(&self, video: &str, change: impl FnOnce(&mut Script)) {
        let mut inside = self.shared.inside();
        let mut script = inside.script_of(video).clone();
        change(&mut script);
        inside.scripts.insert(video.to_owned(), script);
    }

    /// Makes a channel, named as its address does: `@handle`, `channel/UC…`, `c/name`, `user/name`. Any other name is
    /// that of a channel whose one stream is [`VIDEO`].
    pub fn open_channel(&self, name: &str, channel: Channel) {
        self.shared.inside().channels.insert(name.to_owned(), channel);
    }

    /// Answers the next calls with these, one each.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.shared.inside().faults.extend(faults);
    }

    /// Answers everything with 429 for a time.
    pub fn throttle_for(&self, time: Duration) {
        self.shared.inside().throttled_until = Some(Instant::now() + time);
    }

    /// Answers what comes from one address with 429 for a time, as YouTube does.
    pub fn throttle_address(&self, address: IpAddr, time: Duration) {
        self.shared.inside().throttled.insert(address, Instant::now() + time);
    }

    /// Refuses every token that it has given out.
    pub fn expire_tokens(&self) {
        let now_us = self.shared.now_us();
        self.shared.inside().expired_us = now_us;
    }

    /// The calls so far, in order.
    #[must_use]
    pub fn log(&self) -> Vec<Call> {
        self.shared.inside().log.clone()
    }

    /// Which rows its answers to polls have held, and when it gave them.
    #[must_use]
    pub fn given(&self) -> Vec<(Instant, Range<u64>)> {
        self.shared.inside().given.clone()
    }

    /// Rows that were said so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let elapsed = self.shared.begun.elapsed();
        self.shared.inside().chat.rows(elapsed)
    }
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_us(&self) -> u64 {
        self.begun_us + u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Inside {
    fn script_of(&self, video: &str) -> &Script {
        self.scripts.get(video).unwrap_or(&self.script)
    }

    /// By name or by id.
    fn channel(&self, name: &str) -> Channel {
        let by_id = || name.strip_prefix("channel/").and_then(|id| self.channels.values().find(|one| one.id == id));
        self.channels.get(name).or_else(by_id).cloned().unwrap_or_default()
    }

    /// The id of the channel whose video it is.
    fn channel_of(&self, video: &str) -> &str {
        let has = |channel: &&Channel| channel.videos.iter().any(|one| one == video);
        self.channels.values().find(has).map_or(CHANNEL, |channel| &channel.id)
    }

    fn is_throttled(&self, from: IpAddr) -> bool {
        let now = Instant::now();
        let holds = |until: &Instant| now < *until;
        self.throttled_until.as_ref().is_some_and(holds) || self.throttled.get(&from).is_some_and(holds)
    }
}

/// The stream that a channel without a script of its own shows.
pub const VIDEO: &str = "abcdefghij0";
/// The channel of videos that are in no other.
pub const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
