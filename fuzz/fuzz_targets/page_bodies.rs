//! Every body that a page may send, through every parser of one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_wire::play;

fuzz_target!(|body: &[u8]| {
    let _ = play::parse_admit(body);
    let _ = play::parse_token(body);
    let _ = play::parse_heartbeat(body);
    let _ = play::parse_leave(body);
});
