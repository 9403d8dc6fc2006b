//! All rooms: one for each video and view, whatever name it was asked by (C1).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tidegate_upstream::{Gate, Priority, UnknownUpstream};
use tokio::sync::watch;
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::event::StreamState;
use crate::fanout::{Hub, Viewer};
use crate::poller::Poller;
use crate::room::{Ending, Epoch, Ring, RingLimits, Room, RoomSettings, RoomState, Start};
use crate::series::Series;
use crate::web::{Asked, Asker, Web};
use crate::youtube::{ChannelName, Name, Resolution, Resolver, Trouble, VideoId, View, page_request, streams_request};

/// What rooms need to know.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    /// The gate's name for YouTube.
    pub upstream: String,
    /// A room's figures.
    pub room: RoomSettings,
    /// What is kept for those who come back.
    pub ring: RingLimits,
    /// How long a room goes on without viewers. Rule C2, 30 s.
    pub idle: Duration,
    /// Rooms at once. Rule C10, 1,000.
    pub max_rooms: usize,
    /// Who may read. Rule C10, anybody.
    pub readers: Readers,
}

/// Who may read chats (C10). Rooms only carry this; who somebody is, the server in front of them knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Readers {
    /// Everybody who reaches the server.
    #[default]
    Anybody,
    /// Tenants with a key, and whoever has a seat.
    Known,
}

/// Why nobody was let in (C4).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no chat to read, or the upstream stands in the way.
    #[error(transparent)]
    Room(#[from] Ending),
    /// The channel shows nothing now.
    #[error("nothing is on at this channel, and nothing near is announced")]
    NothingOn,
    /// The gate has no room for the call: 503.
    #[error("too many calls to YouTube wait; come back in {} s", .0.as_secs().max(1))]
    Busy(Duration),
    /// Rule C10: 503.
    #[error("there are as many rooms as this server allows; come back later")]
    TooManyRooms,
}

/// All rooms of this process. Cloning gives another handle to the same ones.
#[derive(Clone, Debug)]
pub struct Rooms {
    shared: Arc<Shared>,
}

/// A room in the list (C10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Room)]
pub struct Listed {
    /// The video.
    pub video: String,
    /// Which of its two views.
    pub view: &'static str,
    /// Who reads it.
    pub viewers: usize,
    /// How it is.
    #[serde(flatten)]
    pub state: RoomState,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) web: Web,
    pub(crate) settings: ChatSettings,
    pub(crate) series: Series,
    rooms: Mutex<HashMap<(VideoId, View), Arc<Live>>>,
    names: Mutex<HashMap<ChannelName, Arc<Lookup>>>,
}

/// A running room.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) video: VideoId,
    view: View,
    epoch: Epoch,
    pub(crate) hub: Arc<Hub>,
    opening: watch::Receiver<Opening>,
    state: Mutex<RoomState>,
}

/// How a room's start goes, for those who wait for it.
#[derive(Clone, Debug)]
pub(crate) enum Opening {
    Starting,
    Open,
    Ended(Ending),
    Busy(Duration),
}

/// The last look-up of a channel: when it was done, and what it gave. Who asks meanwhile waits for it.
type Lookup = tokio::sync::Mutex<Option<(Instant, Result<VideoId, Refused>)>>;

impl ChatSettings {
    /// The defaults, for an upstream of the gate.
    #[must_use]
    pub fn new(upstream: &str) -> Self {
        Self {
            upstream: upstream.to_owned(),
            room: RoomSettings::default(),
            ring: RingLimits::default(),
            idle: Duration::from_secs(30),
            max_rooms: 1_000,
            readers: Readers::default(),
        }
    }
}

impl Rooms {
    /// Rooms that call through this gate.
    ///
    /// # Errors
    /// When the gate knows no such upstream.
    pub fn new(gate: Gate, settings: ChatSettings) -> Result<Self, UnknownUpstream> {
        let web = Web::new(gate, &settings.upstream)?;
        let (rooms, names) = (Mutex::default(), Mutex::default());
        Ok(Self { shared: Arc::new(Shared { web, settings, series: Series::new(), rooms, names }) })
    }

    /// Lets a viewer in, and starts the room if it is the first one. Dropping the future or the viewer leaves.
    ///
    /// # Errors
    /// Rule C4: there is no such chat, or the room cannot be opened now.
    pub async fn enter(&self, name: &Name, view: View, start: Start) -> Result<Viewer, Refused> {
        let video = match name {
            Name::Video(video) => video.clone(),
            Name::Channel(channel) => self.shared.resolve(channel).await?,
        };
        let (live, viewer) = self.shared.join(video, view, start)?;
        let mut opening = live.opening.clone();
        // A poller that is gone without a word has panicked.
        let opened = opening.wait_for(|opening| !matches!(opening, Opening::Starting)).await;
        let opened = opened.map_or(Opening::Ended(lost()), |opening| opening.clone());
        match (&opened, opened.ending()) {
            (Opening::Busy(wait), _) => Err(Refused::Busy(*wait)),
            (_, Some(ending)) => Err(ending.into()),
            (_, None) => Ok(viewer),
        }
    }

    /// Who may read.
    #[must_use]
    pub fn readers(&self) -> Readers {
        self.shared.settings.readers
    }

    /// Whether a viewer starts behind an event of the room that this name leads to now. Nobody guesses the name of a
    /// room's life, so it was let in before.
    #[must_use]
    pub fn has_sent(&self, name: &Name, view: View, start: Start) -> bool {
        let Start::After(id) = start else { return false };
        let video = match name {
            Name::Video(video) => Some(video.clone()),
            Name::Channel(channel) => self.shared.resolved(channel),
        };
        let live = video.and_then(|video| self.shared.rooms().get(&(video, view)).cloned());
        live.is_some_and(|live| live.epoch == id.epoch)
    }

    /// Brings the gauges up to date; to be called before they are scraped.
    pub fn publish(&self) {
        let rooms = self.shared.rooms();
        self.shared.series.publish(rooms.len(), rooms.values().map(|live| live.hub.viewers()).sum());
    }

    /// The rooms there are.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        self.shared.rooms().values().map(|live| live.listed()).collect()
    }

    /// One room, if it runs.
    #[must_use]
    pub fn find(&self, video: &VideoId, view: View) -> Option<Listed> {
        self.shared.rooms().get(&(video.clone(), view)).map(|live| live.listed())
    }
}

impl Shared {
    /// A place in the room, which is started if there is none.
    fn join(self: &Arc<Self>, video: VideoId, view: View, start: Start) -> Result<(Arc<Live>, Viewer), Refused> {
        let mut rooms = self.rooms();
        if let Some(live) = rooms.get(&(video.clone(), view)) {
            return Ok((Arc::clone(live), live.hub.enter(start)));
        }
        if rooms.len() >= self.settings.max_rooms {
            return Err(Refused::TooManyRooms);
        }
        if let Some(left) = self.web.cooldown() {
            return Err(Ending::RateLimited(left).into());
        }
        let epoch = Epoch(rand::random());
        let room = Room::new(view, self.settings.room.clone(), Instant::now().into_std());
        let (opening, opens) = watch::channel(Opening::Starting);
        let live = Arc::new(Live {
            video: video.clone(),
            view,
            epoch,
            hub: Hub::new(Ring::new(epoch, self.settings.ring)),
            opening: opens,
            state: Mutex::new(room.state(Instant::now().into_std())),
        });
        rooms.insert((video, view), Arc::clone(&live));
        let viewer = live.hub.enter(start);
        drop(rooms);
        let poller = Poller { shared: Arc::clone(self), live: Arc::clone(&live), room, opening };
        tokio::spawn(poller.run());
        Ok((live, viewer))
    }

    /// Which video a channel shows now. One look-up at a time for each name; it holds for a minute.
    async fn resolve(&self, channel: &ChannelName) -> Result<VideoId, Refused> {
        let asked = Instant::now();
        let lookup = {
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            if names.len() >= MAX_NAMES {
                names.retain(|_, lookup| Arc::strong_count(lookup) > 1);
            }
            Arc::clone(names.entry(channel.clone()).or_default())
        };
        let mut last = lookup.lock().await;
        if let Some((done, result)) = &*last
            && (*done >= asked || (result.is_ok() && done.elapsed() < NAME_HOLDS))
        {
            return result.clone();
        }
        let result = self.look_up(channel).await;
        *last = Some((Instant::now(), result.clone()));
        result
    }

    /// Which video a channel showed when it was last asked.
    fn resolved(&self, channel: &ChannelName) -> Option<VideoId> {
        let lookup = Arc::clone(self.names.lock().unwrap_or_else(PoisonError::into_inner).get(channel)?);
        let last = lookup.try_lock().ok()?;
        last.as_ref()?.1.clone().ok()
    }

    async fn look_up(&self, channel: &ChannelName) -> Result<VideoId, Refused> {
        if let Some(left) = self.web.cooldown() {
            return Err(Ending::RateLimited(left).into());
        }
        let key = tidegate_upstream::Key::of(&channel.path());
        let asker = Asker { key, priority: Priority::Interactive };
        let mut resolver = Resolver::new();
        let mut request = page_request(&Name::Channel(channel.clone()));
        loop {
            let page = match self.web.page(request, asker).await {
                Asked::Answer(page) => page,
                Asked::Throttled { retry_after, .. } => return Err(Ending::RateLimited(retry_after).into()),
                Asked::Busy(wait) => return Err(Refused::Busy(wait)),
                Asked::Failed(why) => return Err(Ending::Upstream(why).into()),
            };
            request = match resolver.handle_page(&page, now_s()) {
                Resolution::Found(video) => return Ok(video),
                Resolution::AskStreams(id) => streams_request(&id.map_or(channel.clone(), ChannelName::Id)),
                Resolution::AskVideo(video) => page_request(&Name::Video(video)),
                Resolution::NothingOn => return Err(Refused::NothingOn),
                Resolution::Trouble(trouble) => return Err(of_trouble(&trouble).into()),
            };
        }
    }

    /// Takes a room off the list; whoever asks for it next starts it anew.
    pub(crate) fn forget(&self, live: &Arc<Live>) {
        remove(&mut self.rooms(), live);
    }

    /// The same if nobody is in it.
    pub(crate) fn forget_empty(&self, live: &Arc<Live>) -> bool {
        let mut rooms = self.rooms();
        let is_empty = live.hub.viewers() == 0;
        if is_empty {
            remove(&mut rooms, live);
        }
        is_empty
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<(VideoId, View), Arc<Live>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    pub(crate) fn set_state(&self, state: RoomState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn listed(&self) -> Listed {
        Listed {
            video: self.video.to_string(),
            view: match self.view {
                View::Top => "top",
                View::All => "all",
            },
            viewers: self.hub.viewers(),
            state: self.state.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

fn remove(rooms: &mut HashMap<(VideoId, View), Arc<Live>>, live: &Arc<Live>) {
    let key = (live.video.clone(), live.view);
    if rooms.get(&key).is_some_and(|there| Arc::ptr_eq(there, live)) {
        rooms.remove(&key);
    }
}

fn of_trouble(trouble: &Trouble) -> Ending {
    match trouble {
        Trouble::Gone => Ending::Closed(StreamState::Unavailable),
        Trouble::Denied
        | Trouble::Throttled { .. }
        | Trouble::Expired
        | Trouble::Consent
        | Trouble::Moved { .. }
        | Trouble::SignIn
        | Trouble::Unavailable { .. }
        | Trouble::Garbled
        | Trouble::TooLarge
        | Trouble::Changed { .. } => Ending::Upstream(trouble.to_string()),
    }
}

fn lost() -> Ending {
    Ending::Upstream("the room was lost; try again".to_owned())
}

fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Channel names that are remembered at once.
const MAX_NAMES: usize = 10_000;
/// How long a channel's stream is taken for its current one.
const NAME_HOLDS: Duration = Duration::from_secs(60);
