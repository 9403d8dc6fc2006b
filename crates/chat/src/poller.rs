//! The one task that reads a room's chat, from the first viewer's coming to a while after the last one's leaving (C2).

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_upstream::{Key, Priority};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{debug, info};

use crate::fanout::Hub;
use crate::room::{Ask, Ending, Next, Room};
use crate::rooms::{Live, Opening, Shared};
use crate::web::{Asked, Asker};
use crate::youtube::{Name, VideoId, page_request, poll_request};

pub(crate) struct Poller {
    pub(crate) shared: Arc<Shared>,
    pub(crate) live: Arc<Live>,
    pub(crate) room: Room,
    pub(crate) opening: watch::Sender<Opening>,
}

impl Poller {
    pub(crate) async fn run(mut self) {
        info!(video = %self.live.video, "room started");
        let mut idle = pin!(idle(Arc::clone(&self.shared), Arc::clone(&self.live)));
        loop {
            let next = self.room.next(Instant::now().into_std());
            tokio::select! {
                () = &mut idle => break,
                goes_on = self.step(next) => if !goes_on { break },
            }
        }
        self.shared.forget(&self.live);
        self.live.hub.close();
        info!(video = %self.live.video, ending = ?self.room.ending(), "room ended");
    }

    async fn step(&mut self, next: Next) -> bool {
        match next {
            Next::Over => return false,
            Next::Wait(until) => sleep_until(until.into()).await,
            Next::Ask(ask) => self.ask(ask).await,
        }
        let now = Instant::now();
        let state = self.room.state(now.into_std());
        let limited = (state.cooldown_ms > 0).then(|| now + Duration::from_millis(state.cooldown_ms));
        let events = self.room.take_events();
        self.shared.series.count(&events);
        let notice = self.room.take_notice();
        self.live.hub.publish(&events, notice, limited).await;
        self.live.set_state(state);
        if self.room.has_opened() {
            self.opening.send_if_modified(|opening| opening.open());
        } else if let Some(ending) = self.room.ending() {
            self.refuse(Opening::Ended(ending.clone()));
        }
        true
    }

    async fn ask(&mut self, ask: Ask) {
        // A person waits for the page of a room that has not opened, and for no later call (G2).
        let priority = if self.room.has_opened() { Priority::Background } else { Priority::Interactive };
        let asker = Asker { key: key_of(&self.live.video), priority };
        let web = &self.shared.web;
        match ask {
            Ask::Page => {
                let request = page_request(&Name::Video(self.live.video.clone()));
                let asked = web.page(request, asker).await;
                self.take(asked, |room, answer, now| room.handle_page(answer, now));
            }
            Ask::Poll(client, token) => {
                let asked = web.poll(poll_request(&client, &token), asker).await;
                self.take(asked, |room, answer, now| room.handle_poll(answer, now, wall_us()));
            }
        }
    }

    fn take<T>(&mut self, asked: Asked<T>, handle: impl FnOnce(&mut Room, T, std::time::Instant)) {
        let now = Instant::now().into_std();
        match asked {
            Asked::Answer(answer) => handle(&mut self.room, answer, now),
            Asked::Throttled { retry_after, told } => {
                self.shared.series.limited(told);
                self.room.handle_throttle(retry_after, told, now);
            }
            Asked::Busy(wait) if self.room.has_opened() => self.room.handle_busy_gate(wait, now),
            Asked::Busy(wait) => {
                self.refuse(Opening::Busy(wait));
                self.room.handle_busy_gate(wait, now);
            }
            Asked::Failed(why) => {
                debug!(video = %self.live.video, why, "call failed");
                self.room.handle_failure(&why, now);
            }
        }
    }

    fn refuse(&self, opening: Opening) {
        // Whoever asks next starts anew.
        self.shared.forget(&self.live);
        self.opening.send_replace(opening);
    }
}

/// Ends when nobody has been in the room for a while, and nobody can come in any more.
async fn idle(shared: Arc<Shared>, live: Arc<Live>) {
    let hub: &Hub = &live.hub;
    loop {
        if hub.viewers() > 0 {
            hub.moved.notified().await;
        } else if timeout(shared.settings.idle, hub.moved.notified()).await.is_err() && shared.forget_empty(&live) {
            return;
        }
    }
}

pub(crate) fn key_of(video: &VideoId) -> Key {
    Key::of(video.as_str())
}

fn wall_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

impl Opening {
    fn open(&mut self) -> bool {
        let opens = matches!(self, Self::Starting);
        if opens {
            *self = Self::Open;
        }
        opens
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        match self {
            Self::Ended(ending) => Some(ending.clone()),
            Self::Starting | Self::Open | Self::Busy(_) => None,
        }
    }
}
