//! Rooms: one poller per live chat, any number of viewers.
//!
//! [`event`] is what a viewer gets: one documented and versioned JSON object per event (C7). [`youtube`] reads
//! what YouTube answers: names, pages and polls become a chat's state and events. [`decode`] reads a captured
//! answer of any of these shapes, to look at it and to report a fault (C14). [`room`] decides what to ask next and
//! what each viewer is sent. These are pure: no sockets, no clock, and no byte that the upstream or a viewer sends
//! makes them panic. [`Rooms`] is the shell around them: one poller for each room, which goes out only through the gate.

mod decode;
pub mod event;
mod fanout;
mod feed;
mod frame;
mod gzip;
mod poller;
pub mod room;
mod rooms;
mod series;
mod web;
pub mod youtube;

pub use decode::{DecodeError, decode};
pub use fanout::{COMMENT_EVERY, Coding, Left, STALL, Viewer, send};
pub use frame::{COMMENT, GREETING};
pub use rooms::{ChatSettings, Listed, Readers, Refused, Rooms};
