//! One live chat, read by one poller for any number of viewers. A pure machine: it says what to ask the upstream next
//! and when, takes the answers, and gives out events.
//!
//! ```text
//!  ┌▶ Page ── live or announced, with a chat ─▶ Poll ⟲ each interval (C3), wider after throttles (G24)
//!  │   │                                         │
//!  │   │                                         ├─ token expired ───────────────┐
//!  │   │                                         ├─ chat over, or no next token ─┤ confirmed by the page (C6)
//!  │   │                                         └─ blind ───────────────────────┤
//!  └───┼─────────────────────────────────────────────────────────────────────────┘ at its own backoff
//!      └─ over, closed, gone ─▶ Ended ◀─ 8 rate limits or 3 stream errors in a row (G25)
//! ```
//! A rate limit never ends a chat by itself (G25): the room waits and goes on from the token that it has.

mod doing;
mod ending;
mod id;
mod pace;
mod ring;
mod rows;
mod settings;

use std::time::{Duration, Instant};

use tidegate_upstream::{ErrorBudget, Interval, Standing};

pub use doing::{Doing, RoomState};
pub use ending::Ending;
pub use id::{Epoch, EventId, Start};
pub use ring::{Cursor, Read, Ring, RingLimits};
pub use settings::RoomSettings;

use crate::event::{About, ErrorCode, Event, Failure, Gap, Kind, Status, StreamState, StreamStatus, Words};
use crate::youtube::{Batch, Client, ContinuationKind, PageAnswer, PollAnswer, Token, Trouble, View, WatchPage};
use pace::Pace;
use rows::Seen;

/// One live chat.
#[derive(Debug)]
pub struct Room {
    settings: RoomSettings,
    view: View,
    /// Which view the token gives.
    gives: View,
    phase: Phase,
    due: Instant,
    interval: Interval,
    budget: ErrorBudget,
    seen: Seen,
    pace: Pace,
    /// The next batch is a backlog, which repeats what was sent.
    backlog: bool,
    bootstraps: Bootstraps,
    life: Life,
    stream: Option<StreamStatus>,
    /// Until when a rate limit holds the room, as far as it knows.
    limited_until: Option<Instant>,
    last_trouble: Option<String>,
    events: Vec<Event>,
    notice: Option<Failure>,
}

/// What to ask the upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The video's page.
    Page,
    /// The chat from this token on.
    Poll(Client, Token),
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the upstream, and hand the answer in.
    Ask(Ask),
    /// Nothing before this time.
    Wait(Instant),
    /// Nothing any more.
    Over,
}

#[derive(Debug)]
enum Phase {
    Page,
    Poll(Client, Token),
    Ended(Ending),
}

/// How often the room starts from the page.
#[derive(Debug)]
struct Bootstraps {
    last: Option<Instant>,
    backoff: Duration,
    count: u64,
}

/// Whether the chat still moves.
#[derive(Debug)]
struct Life {
    seen_at: Instant,
    blind_after: Duration,
    is_busy: bool,
    is_blind: bool,
    /// How often it was: each time another token is tried.
    blind_times: usize,
}

impl Room {
    /// A room that is to start now.
    #[must_use]
    pub fn new(view: View, settings: RoomSettings, now: Instant) -> Self {
        Self {
            view,
            gives: view,
            phase: Phase::Page,
            due: now,
            interval: Interval::new(settings.min_interval, settings.backoff_factor, settings.max_interval),
            budget: ErrorBudget::new(settings.max_throttle_errors, settings.max_stream_errors),
            seen: Seen::new(settings.seen_max),
            pace: Pace::default(),
            backlog: true,
            bootstraps: Bootstraps { last: None, backoff: BOOTSTRAP_BACKOFF_MIN, count: 0 },
            life: Life {
                seen_at: now,
                blind_after: settings.blind_after,
                is_busy: false,
                is_blind: false,
                blind_times: 0,
            },
            stream: None,
            limited_until: None,
            last_trouble: None,
            events: Vec::new(),
            notice: None,
            settings,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn next(&self, now: Instant) -> Next {
        match &self.phase {
            Phase::Ended(_) => Next::Over,
            Phase::Page | Phase::Poll(..) if now < self.due => Next::Wait(self.due),
            Phase::Page => Next::Ask(Ask::Page),
            Phase::Poll(client, token) => Next::Ask(Ask::Poll(client.clone(), token.clone())),
        }
    }

    /// Events since the last time this was asked, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// What is to be told to those who are there, and to nobody later.
    pub fn take_notice(&mut self) -> Option<Failure> {
        self.notice.take()
    }

    /// Whether the room has been open: until then its troubles are answers to who asked for it (C4).
    #[must_use]
    pub fn has_opened(&self) -> bool {
        self.bootstraps.count > 0
    }

    /// Why it is over.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        match &self.phase {
            Phase::Ended(ending) => Some(ending),
            Phase::Page | Phase::Poll(..) => None,
        }
    }

    /// Takes the page that was asked for.
    pub fn handle_page(&mut self, answer: PageAnswer, now: Instant) {
        self.limited_until = None;
        match answer {
            PageAnswer::Watch(page) => self.handle_watch_page(*page, now),
            PageAnswer::ChatOver(_) => self.end(Ending::Over),
            PageAnswer::Channel(_) | PageAnswer::Chat(_) => {
                self.handle_trouble(&Trouble::Changed { what: "another page in place of a video's" }, now);
            }
            PageAnswer::Trouble(trouble) => self.handle_trouble(&trouble, now),
        }
    }

    /// Takes the answer to the poll that was asked for. `received_us`: microseconds since 1970 UTC.
    pub fn handle_poll(&mut self, answer: PollAnswer, now: Instant, received_us: i64) {
        self.limited_until = None;
        match answer {
            // The chat of a finished stream: the page says so, or gives a new token (C13).
            PollAnswer::Batch(batch) if batch.is_replay => self.confirm_end(now),
            PollAnswer::Batch(batch) => self.handle_batch(batch, now, received_us),
            PollAnswer::Over(_) => self.confirm_end(now),
            PollAnswer::Trouble(trouble) => self.handle_trouble(&trouble, now),
        }
    }

    /// Takes a rate limit. `told`: this room's own call was answered with it, rather than held back here because
    /// another one's was. What was held back widens the interval too, as every room's calls are part of what the
    /// upstream limits, but it costs nothing of the budget, which counts answers.
    pub fn handle_throttle(&mut self, retry_after: Duration, told: bool, now: Instant) {
        self.interval.handle_throttle();
        let wait = retry_after.max(self.interval.get());
        if !self.has_opened() {
            return self.end(Ending::RateLimited(retry_after));
        }
        if told && self.budget.handle_throttle() == Standing::Spent {
            return self.end(Ending::RateLimited(wait));
        }
        self.due = now + wait;
        // A time without polls is no silence of the chat's.
        self.life.seen_at = now + wait;
        self.limited_until = Some(self.due);
        self.notice = Some(Failure {
            code: ErrorCode::RateLimited,
            message: "YouTube limits our calls; the room waits and goes on by itself".to_owned(),
            retry_after_ms: Some(millis(wait)),
            is_final: false,
        });
    }

    /// Takes a call that has no answer: a connection that failed or broke.
    pub fn handle_failure(&mut self, why: &str, now: Instant) {
        self.limited_until = None;
        self.fail(format!("YouTube cannot be reached: {why}"), now);
    }

    /// Takes a call that the gate did not let out, for lack of room: the upstream has nothing to do with it.
    pub fn handle_busy_gate(&mut self, wait: Duration, now: Instant) {
        self.due = now + wait.max(self.interval.get());
    }

    fn handle_watch_page(&mut self, page: WatchPage, now: Instant) {
        self.tell_stream(page.status());
        let chat = match (page.state, &page.chat) {
            (StreamState::Live | StreamState::Upcoming, Some(chat)) if !chat.is_replay => chat,
            (StreamState::Live | StreamState::Upcoming, _) => return self.end(Ending::Over),
            (closed, _) => return self.end(Ending::Closed(closed)),
        };
        let (token, gives) = chat.nth_token(self.view, self.life.blind_times);
        self.gives = gives;
        self.life.is_busy = page.state == StreamState::Live
            && page.viewers.is_some_and(|viewers| viewers >= self.settings.busy_viewers);
        self.phase = Phase::Poll(page.client, token);
        self.due = now;
        self.backlog = true;
        self.bootstraps.note(now);
    }

    fn handle_batch(&mut self, mut batch: Batch, now: Instant, received_us: i64) {
        let moves = batch.ignored > 0;
        let had_rows = self.pace.newest_us().is_some();
        let rows = count_rows(&batch.events);
        let has_hole = !self.backlog && self.pace.has_hole(&batch.events, now);
        if self.backlog {
            self.pace.start_anew();
        }
        let safe = self.pace.note(&batch.events, now);
        batch.events.retain(|event| self.seen.is_new(event));
        // A backlog reaches back to what was sent before, or something lies between.
        let starts_later = self.backlog && had_rows && rows > 0 && count_rows(&batch.events) == rows;
        if has_hole || starts_later {
            self.events.push(Event::new(Kind::Gap(Gap::default())));
        }
        self.life.note(moves || !batch.events.is_empty(), self.settings.blind_after, now);
        batch.events.iter_mut().for_each(|event| event.fill_time(received_us));
        self.events.append(&mut batch.events);
        let Some(next) = batch.next else { return self.confirm_end(now) };
        self.backlog = next.kind == ContinuationKind::Reload;
        self.budget.handle_success();
        self.last_trouble = None;
        let hint = next.hint.unwrap_or(HINT_FALLBACK);
        self.interval.handle_success(safe.map_or(hint, |safe| safe.min(hint)));
        self.due = now + self.interval.get();
        if let Phase::Poll(_, token) = &mut self.phase {
            *token = next.token;
        }
        if self.life.goes_blind(now) {
            self.start_again(now);
        }
    }

    /// The upstream says that the chat is over, and has said so of living ones: the page is asked once more (C6).
    fn confirm_end(&mut self, now: Instant) {
        match self.budget.handle_error() {
            Standing::Goes => self.start_again(now),
            Standing::Spent => self.end(Ending::Over),
        }
    }

    fn handle_trouble(&mut self, trouble: &Trouble, now: Instant) {
        self.last_trouble = Some(trouble.to_string());
        match trouble {
            Trouble::Throttled { retry_after, .. } => {
                self.handle_throttle(retry_after.unwrap_or(THROTTLE_FALLBACK), true, now);
            }
            Trouble::Denied | Trouble::Gone => self.end(Ending::Gone(trouble.to_string())),
            Trouble::SignIn => self.end(Ending::Upstream(trouble.to_string())),
            Trouble::Expired => match self.budget.handle_error() {
                Standing::Goes => self.start_again(now),
                Standing::Spent => self.end(Ending::Upstream(trouble.to_string())),
            },
            Trouble::Consent
            | Trouble::Moved { .. }
            | Trouble::Unavailable { .. }
            | Trouble::Garbled
            | Trouble::TooLarge
            | Trouble::Changed { .. } => self.fail(trouble.to_string(), now),
        }
    }

    /// A failure that may pass: the same call is made again, later.
    fn fail(&mut self, message: String, now: Instant) {
        self.last_trouble = Some(message.clone());
        match self.budget.handle_error() {
            Standing::Goes => self.due = now + self.interval.get().max(ERROR_WAIT_MIN),
            Standing::Spent => self.end(Ending::Upstream(message)),
        }
    }

    fn start_again(&mut self, now: Instant) {
        self.phase = Phase::Page;
        self.due = self.bootstraps.due(now);
    }

    fn tell_stream(&mut self, stream: StreamStatus) {
        if self.stream.as_ref() != Some(&stream) {
            let status = Status { stream: Some(stream.clone()), ..Status::new(About::Stream, Words::default()) };
            self.events.push(Event::new(Kind::Status(status)));
            self.stream = Some(stream);
        }
    }

    fn end(&mut self, ending: Ending) {
        if self.has_opened() {
            self.events.push(Event::new(Kind::Error(ending.failure())));
        }
        self.phase = Phase::Ended(ending);
    }
}

impl Bootstraps {
    fn note(&mut self, now: Instant) {
        // After a long time of its own a token may expire; one that expires at once must not make a page a poll.
        let lasted = self.last.is_some_and(|last| now.saturating_duration_since(last) >= BOOTSTRAP_LASTED);
        self.backoff = match (self.last, lasted) {
            (None, _) | (_, true) => BOOTSTRAP_BACKOFF_MIN,
            (Some(_), false) => (self.backoff * 2).min(BOOTSTRAP_BACKOFF_MAX),
        };
        self.last = Some(now);
        self.count += 1;
    }

    fn due(&self, now: Instant) -> Instant {
        self.last.map_or(now, |last| now.max(last + self.backoff))
    }
}

impl Life {
    fn note(&mut self, moves: bool, blind_after: Duration, now: Instant) {
        if moves {
            *self = Self { seen_at: now, blind_after, is_blind: false, ..*self };
        }
    }

    fn goes_blind(&mut self, now: Instant) -> bool {
        let blind = self.is_busy && now.saturating_duration_since(self.seen_at) >= self.blind_after;
        if blind {
            *self = Self {
                seen_at: now,
                blind_after: (self.blind_after * 2).min(BLIND_AFTER_MAX),
                is_blind: true,
                blind_times: self.blind_times + 1,
                ..*self
            };
        }
        blind
    }
}

fn count_rows(events: &[Event]) -> usize {
    events.iter().filter(|event| event.id.is_some()).count()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The wait when the upstream gives no hint: what other readers use.
const HINT_FALLBACK: Duration = Duration::from_secs(5);
/// The wait after a throttle that says nothing of time and that the gate did not see. Rule G16's `cooldown`.
const THROTTLE_FALLBACK: Duration = Duration::from_secs(30);
/// The shortest wait after a failure: what fails at once may be back in a moment.
const ERROR_WAIT_MIN: Duration = Duration::from_secs(2);
/// The time from one start to the next one at least; doubles with each that does not last. Rule C6.
const BOOTSTRAP_BACKOFF_MIN: Duration = Duration::from_secs(5);
const BOOTSTRAP_BACKOFF_MAX: Duration = Duration::from_secs(60);
/// A token that was good for so long has lasted.
const BOOTSTRAP_LASTED: Duration = Duration::from_secs(300);
/// The longest time between two tries to see again.
const BLIND_AFTER_MAX: Duration = Duration::from_secs(3_600);
