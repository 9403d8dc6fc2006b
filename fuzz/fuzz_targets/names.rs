//! Seat ids and names: what reads as one is written back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_seats::{SeatId, StreamId, TenantId};

fuzz_target!(|text: &str| {
    if let Some(seat) = SeatId::parse(text) {
        assert_eq!(seat.to_string(), text);
    }
    if let Some(stream) = StreamId::parse(text) {
        assert_eq!(stream.as_str(), text);
    }
    let _ = TenantId::parse(text);
});
