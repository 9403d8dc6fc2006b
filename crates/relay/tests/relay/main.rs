//! The relay with real clients of the media crates, over WebTransport and raw QUIC.
#![expect(clippy::unwrap_used, reason = "tests")]

mod control;
mod doors;
mod flood;
mod load;
mod media;
mod stage;
mod trust;
