//! Reads what YouTube answers. Nothing here waits, calls or reads a clock.
//!
//! In reading order: a viewer's word for a stream becomes a [`Name`]; [`page_request`] says how to ask for its
//! page, [`read_page`] what the page says; [`Resolver`] finds a channel's current stream; [`poll_request`] says how
//! to ask for the chat, [`read_poll`] turns the answer into events and the next token. What went wrong is a
//! [`Trouble`], the same for pages and polls, so that the gate's rules are applied in one place (G9 to G11c).
//!
//! Everything is read by JSON path, never by matching a page's text: pages come in the language of the caller's
//! address whatever one asks for. The few places where only a sentence tells two states apart are marked and are the
//! reason why every request pins the language ([`Client`]).

mod actions;
mod amount;
mod author;
mod badge;
mod banner;
mod bar;
mod client;
mod continuation;
mod currency;
mod emoji;
mod fetched;
mod gift;
mod items;
mod lenient;
mod link;
mod literal;
mod membership;
mod name;
mod notice;
mod page;
mod paid;
mod panel;
mod player;
mod poll;
mod protobuf;
mod request;
mod resolve;
mod script;
mod streams;
mod text;
mod ticker;
mod token;
mod trouble;
mod url;
mod walk;

pub use actions::read_action;
pub use amount::{Region, read_amount};
pub use bar::ChatEntry;
pub use client::Client;
pub use continuation::{ContinuationKind, Next};
pub use fetched::{Fetched, MAX_BODY_BYTES};
pub use items::{read_item, read_named_item};
pub use name::{BadName, ChannelId, ChannelName, Name, VideoId};
pub use page::{ChannelPage, ChatPage, PageAnswer, WatchPage, read_page};
pub use poll::{Batch, Over, PollAnswer, read_poll, read_poll_json};
pub use request::{PageRequest, PollRequest, page_request, poll_request, streams_request};
pub use resolve::{Resolution, Resolver};
pub use streams::{Listed, ListedState};
pub use token::{Token, TokenParts, View};
pub use trouble::{Throttle, Trouble};

pub(crate) use lenient::read_values;
pub(crate) use panel::read_poll_panel;
