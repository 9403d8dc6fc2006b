//! Resume points: `<epoch>-<seq>`, SSE's `id:` and `Last-Event-ID` (C8).

use std::fmt;

/// Names one life of one room, so that a number of another life is not taken for one of this. Drawn by the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epoch(pub u64);

/// Where a viewer stands: behind this event of this life of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventId {
    /// Which life of the room.
    pub epoch: Epoch,
    /// Which event: the first one is 1. 0 is the place before it.
    pub seq: u64,
}

/// Where a viewer wants to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the newest events.
    Newest,
    /// Behind this event.
    After(EventId),
    /// Behind an event that this server never sent: it is told that it missed something.
    Lost,
}

impl EventId {
    /// Reads what [`fmt::Display`] wrote; anything else is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (epoch, seq) = text.split_once('-')?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !digits(epoch) || !digits(seq) {
            return None;
        }
        Some(Self { epoch: Epoch(u64::from_str_radix(epoch, 16).ok()?), seq: seq.parse().ok()? })
    }
}

impl Start {
    /// Reads a `Last-Event-ID` header, if there is one.
    #[must_use]
    pub fn of_header(last_event_id: Option<&str>) -> Self {
        match last_event_id.map(str::trim) {
            None | Some("") => Self::Newest,
            Some(text) => EventId::parse(text).map_or(Self::Lost, Self::After),
        }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.epoch.0, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c8_an_id_is_read_as_it_was_written_and_nothing_else_is() {
        let id = EventId { epoch: Epoch(0x1f_0a), seq: 42 };
        assert_eq!(id.to_string(), "1f0a-42");
        assert_eq!(EventId::parse("1f0a-42"), Some(id));
        for wrong in ["", "-", "1f0a", "1f0a-", "-42", "1f0a-42-1", "g-1", "1f0a-+42", "1f0a--1", "1 -1"] {
            assert_eq!(EventId::parse(wrong), None, "{wrong:?}");
        }
        assert_eq!(Start::of_header(None), Start::Newest);
        assert_eq!(Start::of_header(Some(" 1f0a-42 ")), Start::After(id));
        assert_eq!(Start::of_header(Some("msg_17")), Start::Lost);
    }
}
