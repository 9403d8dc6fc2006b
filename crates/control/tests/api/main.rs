//! The rules of seats as they show at the HTTP level: a real server on a real store, a real client.
#![expect(clippy::unwrap_used, reason = "tests")]

mod addresses;
mod away;
mod bad_input;
mod chat;
mod heartbeats;
mod nonces;
mod openapi;
mod operations;
mod relays;
mod seats;
mod settings;
mod sockets;
mod stop;
mod streams;
mod support;
mod time;
mod tokens;
