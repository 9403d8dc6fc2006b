//! Which stream a channel shows now (C1).
//!
//! ```text
//! /live ── live ──────────────────────────────▶ that one
//!      └── upcoming, or a list ─▶ streams tab ── live ─▶ that one
//!                                            └── unsaid ─▶ those pages, one by one ─▶ the first that is live
//!                                            └── none: the announced one that starts next, if it is near
//! ```
//! `/live` alone does not do: it shows a stream that is announced, even one that was announced years ago and never
//! came, while another one is on; and with two it shows the list.

use std::collections::VecDeque;

use super::name::{ChannelId, VideoId};
use super::page::PageAnswer;
use super::streams::ListedState;
use super::trouble::Trouble;
use crate::event::StreamState;

/// Finds a channel's current stream, page by page.
#[derive(Clone, Debug, Default)]
pub struct Resolver {
    asked_tab: bool,
    channel: Option<ChannelId>,
    /// Pages that may turn out to be live.
    unsaid: VecDeque<VideoId>,
    /// Streams that are announced, with their start.
    announced: Vec<(i64, VideoId)>,
    /// What is on but not for everybody: named in the end, so that its own page can say why.
    closed: Option<VideoId>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// This video it is.
    Found(VideoId),
    /// Ask for the channel's streams tab, and hand its page in. By id, where the page told one.
    AskStreams(Option<ChannelId>),
    /// Ask for this video's page, and hand it in.
    AskVideo(VideoId),
    /// Nothing is on, and nothing near is announced.
    NothingOn,
    /// The page was something else.
    Trouble(Trouble),
}

impl Resolver {
    /// Starts; the first page to hand in is the channel's `/live`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the page that was asked for. `now_s`: seconds since 1970 UTC.
    pub fn handle_page(&mut self, page: &PageAnswer, now_s: i64) -> Resolution {
        match page {
            PageAnswer::Watch(page) => {
                let Some(video) = &page.video else {
                    return Resolution::Trouble(Trouble::Changed { what: "a watch page without a video" });
                };
                self.channel = self.channel.take().or_else(|| page.channel.clone());
                match page.state {
                    StreamState::Live => return Resolution::Found(video.clone()),
                    StreamState::Upcoming => self.note(video, page.starts_s, now_s),
                    StreamState::ChatDisabled | StreamState::MembersOnly => {
                        self.closed.get_or_insert_with(|| video.clone());
                    }
                    StreamState::Ended
                    | StreamState::NotAStream
                    | StreamState::Private
                    | StreamState::AgeRestricted
                    | StreamState::SignInRequired
                    | StreamState::Unavailable => {}
                }
            }
            PageAnswer::Channel(page) => {
                self.channel = self.channel.take().or_else(|| page.channel.clone());
                if let Some(live) = page.streams.iter().find(|listed| listed.state == ListedState::Live) {
                    return Resolution::Found(live.video.clone());
                }
                // With more than one on or announced, `/live` is the tab.
                self.asked_tab |= !page.streams.is_empty();
                for listed in &page.streams {
                    match listed.state {
                        ListedState::Upcoming => self.note(&listed.video, listed.starts_s, now_s),
                        ListedState::Unsaid if self.unsaid.len() < MAX_PAGES => {
                            self.unsaid.push_back(listed.video.clone())
                        }
                        ListedState::Unsaid | ListedState::Live | ListedState::Past => {}
                    }
                }
            }
            PageAnswer::Chat(_) | PageAnswer::ChatOver(_) => {
                return Resolution::Trouble(Trouble::Changed { what: "a chat in place of a channel" });
            }
            PageAnswer::Trouble(trouble) => return Resolution::Trouble(trouble.clone()),
        }
        self.next()
    }

    fn next(&mut self) -> Resolution {
        if !std::mem::replace(&mut self.asked_tab, true) {
            return Resolution::AskStreams(self.channel.clone());
        }
        if let Some(video) = self.unsaid.pop_front() {
            return Resolution::AskVideo(video);
        }
        let next = self.announced.iter().min().map(|(_, video)| video).or(self.closed.as_ref());
        next.map_or(Resolution::NothingOn, |video| Resolution::Found(video.clone()))
    }

    /// Keeps an announced stream, if it starts near enough to now to be the current one.
    fn note(&mut self, video: &VideoId, starts_s: Option<i64>, now_s: i64) {
        self.unsaid.retain(|known| known != video);
        let Some(starts_s) = starts_s else { return };
        let ahead_s = starts_s.saturating_sub(now_s);
        if (-MAX_OVERDUE_S..=MAX_AHEAD_S).contains(&ahead_s) && self.announced.len() < MAX_ANNOUNCED {
            self.announced.push((starts_s, video.clone()));
        }
    }
}

/// Pages of single videos asked for at most: each is a call through the gate.
const MAX_PAGES: usize = 3;
const MAX_ANNOUNCED: usize = 60;
/// A stream that has not started this long after its time has been given up: 12 h, in seconds.
const MAX_OVERDUE_S: i64 = 12 * 3_600;
/// A stream that starts later than this is not the current one, and a "free chat" is announced for next year: 24 h.
const MAX_AHEAD_S: i64 = 24 * 3_600;
