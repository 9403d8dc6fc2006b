//! Rooms: one poller per live chat, any number of viewers.
//!
//! [`event`] is what a viewer gets: one documented and versioned JSON object per event (C7). [`youtube`] reads
//! what YouTube answers: names, pages and polls become a chat's state and events. [`decode`] reads a captured
//! answer of any of these shapes, to look at it and to report a fault (C14). These three are pure: no sockets,
//! no clock, and no byte that the upstream or a viewer sends makes them panic.

mod decode;
pub mod event;
pub mod youtube;

pub use decode::{DecodeError, decode};
