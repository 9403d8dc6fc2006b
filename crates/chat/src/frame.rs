//! One SSE frame: what is sent is what stands here, byte for byte.

use std::io::Write;

use crate::event::{Event, Failure, Gap, Kind};
use crate::room::EventId;

/// Writes one event as a frame. Without an id a reader keeps the resume point that it has.
pub(crate) fn write_frame(frame: &mut Vec<u8>, id: Option<EventId>, event: &Event) {
    let written = id.map_or(Ok(()), |id| writeln!(frame, "id: {id}"));
    let written = written.and_then(|()| write!(frame, "event: {}\ndata: ", event.kind.name()));
    // JSON escapes CR and LF, so the data are one line whatever somebody wrote.
    let json = serde_json::to_writer(&mut *frame, event);
    written.expect("a vector takes every write");
    json.expect("an event has text keys only, and a vector takes every write");
    frame.extend_from_slice(b"\n\n");
}

/// A `gap` whose id is the place before what follows it, so that a viewer that leaves right behind it is not told
/// twice.
pub(crate) fn gap_frame(before: EventId, missed: Option<u64>) -> Vec<u8> {
    let mut frame = Vec::new();
    write_frame(&mut frame, Some(before), &Event::new(Kind::Gap(Gap { missed })));
    frame
}

/// A frame for those who are there now: it has no place among the events.
pub(crate) fn notice_frame(failure: Failure) -> Vec<u8> {
    let mut frame = Vec::new();
    write_frame(&mut frame, None, &Event::new(Kind::Error(failure)));
    frame
}

/// What every stream begins with: how long to wait before connecting again after a loss, in milliseconds (C9). A few
/// seconds, because thousands lose their connection in one instant.
pub const GREETING: &[u8] = b"retry: 3000\n\n";

/// What keeps a quiet connection open in the eyes of proxies (C9).
pub const COMMENT: &[u8] = b":\n\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Message, Words};
    use crate::room::Epoch;

    #[test]
    fn c7_a_frame_is_an_id_a_kind_and_one_line_of_json() {
        let words = Words::plain("a\r\nb\u{2028}");
        let event = Event::new(Kind::Message(Message { words, ..Message::default() }));
        let mut frame = Vec::new();
        write_frame(&mut frame, Some(EventId { epoch: Epoch(10), seq: 7 }), &event);
        let expected = "id: a-7\nevent: message\ndata: {\"schema\":1,\"kind\":\"message\",\"author\":{},\
                        \"text\":\"a\\r\\nb\u{2028}\"}\n\n";
        assert_eq!(String::from_utf8(frame).unwrap(), expected);
    }
}
