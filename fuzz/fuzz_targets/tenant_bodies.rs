//! Every body that a tenant's backend may send, through every parser of one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_wire::{play, seats, streams};

fuzz_target!(|body: &[u8]| {
    let _ = play::parse_viewer_token(body);
    let _ = streams::parse_stream(body);
    let _ = streams::parse_change(body);
    let _ = streams::parse_nothing(body);
    let _ = seats::parse_kick(body);
    let _ = seats::parse_heartbeats(body);
});
