//! Pages, batches and a room to hand them to.

use std::time::{Duration, Instant};

use tidegate_chat::event::{Event, Kind, Message, Removed, StreamState, Words};
use tidegate_chat::room::{Ask, Ending, Next, Room, RoomSettings};
use tidegate_chat::youtube::{
    Batch, ChatEntry, Client, ContinuationKind, Next as NextToken, PageAnswer, PollAnswer, Token, View, WatchPage,
};

/// A room, and a clock that is moved by hand.
pub(crate) struct Stage {
    pub(crate) room: Room,
    pub(crate) now: Instant,
    begun: Instant,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { room: Room::new(View::All, RoomSettings::default(), now), now, begun: now }
    }

    /// A room whose page is read, and whose first poll is due.
    pub(crate) fn open() -> Self {
        let mut stage = Self::new();
        assert_eq!(stage.ask(), Ask::Page);
        stage.room.handle_page(live_page(), stage.now);
        stage.room.take_events();
        stage
    }

    /// Moves the clock to the next call, and answers which it is.
    pub(crate) fn ask(&mut self) -> Ask {
        loop {
            match self.room.next(self.now) {
                Next::Ask(ask) => return ask,
                Next::Wait(until) => self.now = until,
                Next::Over => panic!("the room is over: {:?}", self.room.ending()),
            }
        }
    }

    /// How long the room waits from here on.
    pub(crate) fn wait(&self) -> Duration {
        match self.room.next(self.now) {
            Next::Ask(_) => Duration::ZERO,
            Next::Wait(until) => until - self.now,
            Next::Over => panic!("the room is over: {:?}", self.room.ending()),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.room.next(self.now) == Next::Over
    }

    pub(crate) fn ending(&self) -> Ending {
        self.room.ending().unwrap().clone()
    }

    /// Moves to the next call, which must be a poll, and answers it.
    pub(crate) fn poll(&mut self, answer: PollAnswer) -> Vec<Event> {
        assert!(matches!(self.ask(), Ask::Poll(..)));
        let received_us = i64::try_from((self.now - self.begun).as_micros()).unwrap();
        self.room.handle_poll(answer, self.now, received_us);
        self.room.take_events()
    }

    /// Moves to the next call, which must be the page, and answers it.
    pub(crate) fn page(&mut self, answer: PageAnswer) -> Vec<Event> {
        assert_eq!(self.ask(), Ask::Page);
        self.room.handle_page(answer, self.now);
        self.room.take_events()
    }

    /// Seconds since the room began.
    pub(crate) fn seconds(&self) -> f64 {
        (self.now - self.begun).as_secs_f64()
    }
}

pub(crate) fn page_of(state: StreamState) -> WatchPage {
    let native = Token::new("reload").unwrap();
    WatchPage {
        video: None,
        title: Some("A title".to_owned()),
        channel: None,
        channel_title: None,
        state,
        starts_s: None,
        is_unlisted: false,
        viewers: Some(12),
        chat: Some(ChatEntry { native, menu: [None, None], is_replay: false }),
        client: Client { api_key: None, version: "1".to_owned(), visitor_data: None },
    }
}

pub(crate) fn live_page() -> PageAnswer {
    PageAnswer::Watch(Box::new(page_of(StreamState::Live)))
}

/// A page that says that thousands are watching.
pub(crate) fn busy_page() -> PageAnswer {
    PageAnswer::Watch(Box::new(WatchPage { viewers: Some(5_000), ..page_of(StreamState::Live) }))
}

pub(crate) fn message(id: &str, at_us: i64) -> Event {
    let words = Words::plain(format!("this is {id}"));
    let mut event = Event::new(Kind::Message(Message { words, ..Message::default() }));
    event.id = Some(id.to_owned());
    event.at_us = Some(at_us);
    event
}

pub(crate) fn removed(target: &str) -> Event {
    Event::new(Kind::Removed(Removed { target_id: target.to_owned(), words: Words::default() }))
}

pub(crate) fn batch_of(events: Vec<Event>, hint_ms: u64) -> Batch {
    let next = NextToken {
        token: Token::new("next").unwrap(),
        kind: ContinuationKind::Invalidation,
        hint: Some(Duration::from_millis(hint_ms)),
    };
    Batch { events, next: Some(next), ..Batch::default() }
}

/// Messages with these ids, a millisecond apart from a time on.
pub(crate) fn messages(ids: impl IntoIterator<Item = u64>, from_us: i64) -> Vec<Event> {
    ids.into_iter().zip(0..).map(|(id, nth)| message(&format!("m{id}"), from_us + nth * 1_000)).collect()
}

pub(crate) fn quiet() -> PollAnswer {
    PollAnswer::Batch(batch_of(Vec::new(), 10_000))
}

/// Ids of rows, and the names of what has none.
pub(crate) fn names(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| event.id.clone().unwrap_or_else(|| format!("<{}>", event.kind.name()))).collect()
}
