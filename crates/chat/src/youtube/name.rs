//! The names a stream can be asked by (C1).

use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::url::Address;

/// What a viewer asked for: one video, or whatever a channel shows now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// One video.
    Video(VideoId),
    /// A channel's current stream.
    Channel(ChannelName),
}

/// A video's id: 11 characters of `A-Z a-z 0-9 _ -`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VideoId(String);

/// A channel's id: `UC` and 22 characters of `A-Z a-z 0-9 _ -`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelId(String);

/// The names of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ChannelName {
    /// Its lasting id.
    Id(ChannelId),
    /// `@handle`, kept without the `@`. Letters of any script.
    Handle(String),
    /// `/c/name`, of older channels.
    Custom(String),
    /// `/user/name`, of the oldest.
    User(String),
}

/// Why a text names no stream, with what to give instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// Nothing.
    #[error("no name was given: {ADVICE}")]
    Empty,
    /// Over 2,048 bytes.
    #[error("the name is longer than {MAX_BYTES} bytes: {ADVICE}")]
    TooLong,
    /// An address somewhere else.
    #[error("{0} is not YouTube: {ADVICE}")]
    ForeignHost(String),
    /// An address on YouTube that leads to no stream and no channel.
    #[error("this address names no video and no channel: {ADVICE}")]
    NoVideo,
    /// A video id of another length or other characters.
    #[error("\"{0}\" is no video id (11 characters of A-Z, a-z, 0-9, _ and -): {ADVICE}")]
    BadVideoId(String),
    /// A handle of another length or other characters.
    #[error("\"@{0}\" is no handle (3 to 30 letters or digits, with . _ - between): {ADVICE}")]
    BadHandle(String),
    /// Something else.
    #[error("\"{0}\" is neither an address nor an id: {ADVICE}")]
    Unclear(String),
}

impl Name {
    /// Reads a video id, a watch, live, shorts, embed or youtu.be address, an `@handle`, a channel id, or a channel's
    /// address.
    ///
    /// # Errors
    /// Says what is wrong with the text and what to give instead.
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BadName::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(BadName::TooLong);
        }
        if let Some(handle) = text.strip_prefix('@') {
            return handle_name(handle);
        }
        if let Some(id) = VideoId::parse(text) {
            return Ok(Self::Video(id));
        }
        if let Some(id) = ChannelId::parse(text) {
            return Ok(Self::Channel(ChannelName::Id(id)));
        }
        match Address::parse(text) {
            Some(address) => in_address(&address),
            None if text.contains(['/', '.', ':', ' ']) => Err(BadName::Unclear(shown(text))),
            None => Err(BadName::BadVideoId(shown(text))),
        }
    }
}

impl ChannelName {
    /// The channel's path, percent-encoded: `/@handle`.
    #[must_use]
    pub fn path(&self) -> String {
        let encoded = |name: &str| utf8_percent_encode(name, KEPT).to_string();
        match self {
            Self::Id(id) => format!("/channel/{id}"),
            Self::Handle(handle) => format!("/@{}", encoded(handle)),
            Self::Custom(name) => format!("/c/{}", encoded(name)),
            Self::User(name) => format!("/user/{}", encoded(name)),
        }
    }
}

impl VideoId {
    /// Reads an id; anything else is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == VIDEO_ID_BYTES && text.bytes().all(is_id_byte)).then(|| Self(text.to_owned()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ChannelId {
    /// Reads an id; anything else is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let shaped = text.len() == CHANNEL_ID_BYTES && text.starts_with("UC") && text.bytes().all(is_id_byte);
        shaped.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Video(id) => id.fmt(f),
            Self::Channel(channel) => channel.fmt(f),
        }
    }
}

impl fmt::Display for ChannelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Handle(handle) => write!(f, "@{handle}"),
            Self::Custom(name) => write!(f, "c/{name}"),
            Self::User(name) => write!(f, "user/{name}"),
        }
    }
}

impl fmt::Display for VideoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for VideoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

fn in_address(address: &Address<'_>) -> Result<Name, BadName> {
    let mut steps = address.path.split('/').filter(|step| !step.is_empty());
    let first = steps.next().unwrap_or_default();
    if address.is_under("youtu.be") {
        return video(first);
    }
    if !HOSTS.iter().any(|host| address.is_under(host)) {
        return Err(BadName::ForeignHost(shown(address.host)));
    }
    let second = steps.next().unwrap_or_default();
    match first {
        // `/embed/live_stream?channel=UC…` and `/live_chat?v=…` carry the name in the query.
        "watch" | "live_chat" | "embed" if second.is_empty() || second == "live_stream" => in_query(address),
        "live" | "shorts" | "embed" | "v" | "watch" => video(second),
        "channel" => ChannelId::parse(second).map(|id| Name::Channel(ChannelName::Id(id))).ok_or(BadName::NoVideo),
        "c" => named(second, ChannelName::Custom),
        "user" => named(second, ChannelName::User),
        handle if handle.starts_with('@') => handle_name(&handle[1..]),
        encoded if encoded.starts_with("%40") => handle_name(&encoded[3..]),
        // `/NAME/live` is the oldest form of a channel's address.
        name if second == "live" && steps.next().is_none() => named(name, ChannelName::Custom),
        _ => Err(BadName::NoVideo),
    }
}

fn in_query(address: &Address<'_>) -> Result<Name, BadName> {
    if let Some(id) = address.query_value("v") {
        return video(&id);
    }
    let channel = address.query_value("channel").and_then(|id| ChannelId::parse(&id));
    channel.map(|id| Name::Channel(ChannelName::Id(id))).ok_or(BadName::NoVideo)
}

fn video(text: &str) -> Result<Name, BadName> {
    if text.is_empty() {
        return Err(BadName::NoVideo);
    }
    VideoId::parse(text).map(Name::Video).ok_or_else(|| BadName::BadVideoId(shown(text)))
}

fn named(text: &str, kind: fn(String) -> ChannelName) -> Result<Name, BadName> {
    let name = percent_decode_str(text).decode_utf8_lossy().into_owned();
    let shaped = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\''));
    if shaped { Ok(Name::Channel(kind(name))) } else { Err(BadName::NoVideo) }
}

fn handle_name(text: &str) -> Result<Name, BadName> {
    // What follows the handle in an address is a tab of the channel.
    let text = text.split(['/', '?', '#']).next().unwrap_or_default();
    let handle = percent_decode_str(text).decode_utf8_lossy().into_owned();
    // Scripts that join letters need marks and joiners, which are no letters; only what could leave the path is refused.
    let shaped = (HANDLE_CHARS.contains(&handle.chars().count()))
        && handle.chars().all(|c| !c.is_ascii() && !c.is_control() && !c.is_whitespace() || is_handle_ascii(c));
    if shaped { Ok(Name::Channel(ChannelName::Handle(handle))) } else { Err(BadName::BadHandle(shown(&handle))) }
}

const fn is_handle_ascii(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

const fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// As much of a foreign text as an error message repeats.
fn shown(text: &str) -> String {
    text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

const ADVICE: &str = "give a video id, a watch address, an @handle or a channel id";

/// The longest name that is read, in bytes: addresses carry tracking values, not novels.
const MAX_BYTES: usize = 2_048;
const VIDEO_ID_BYTES: usize = 11;
const CHANNEL_ID_BYTES: usize = 24;
/// YouTube's own bounds for a handle.
const HANDLE_CHARS: std::ops::RangeInclusive<usize> = 3..=30;
const HOSTS: &[&str] = &["youtube.com", "youtube-nocookie.com"];
/// What stays as it is in a path's step.
const KEPT: &percent_encoding::AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c1_every_name_of_one_video_is_that_video() {
        let video = Name::Video(VideoId::parse("abcdefghi-_").unwrap());
        for text in [
            "abcdefghi-_",
            "  abcdefghi-_\n",
            "https://www.youtube.com/watch?v=abcdefghi-_",
            "http://youtube.com/watch?feature=share&v=abcdefghi-_&t=1s#x",
            "youtube.com/watch/?v=abcdefghi-_",
            "https://m.youtube.com/watch?v=abcdefghi-_",
            "https://music.youtube.com/watch?v=abcdefghi-_",
            "//www.youtube.com/live/abcdefghi-_?si=x",
            "https://www.youtube.com/live/abcdefghi-_",
            "https://www.youtube.com/shorts/abcdefghi-_",
            "https://www.youtube-nocookie.com/embed/abcdefghi-_",
            "https://www.youtube.com/v/abcdefghi-_",
            "https://youtu.be/abcdefghi-_?t=3",
            "https://www.youtube.com/live_chat?is_popout=1&v=abcdefghi-_",
        ] {
            assert_eq!(Name::parse(text), Ok(video.clone()), "{text}");
        }
    }

    #[test]
    fn c1_channels_are_named_by_id_handle_and_their_old_names() {
        for (text, path) in [
            ("UCabcdefghijklmnopqrstuv", "/channel/UCabcdefghijklmnopqrstuv"),
            ("https://www.youtube.com/channel/UCabcdefghijklmnopqrstuv/live", "/channel/UCabcdefghijklmnopqrstuv"),
            (
                "https://www.youtube.com/embed/live_stream?channel=UCabcdefghijklmnopqrstuv",
                "/channel/UCabcdefghijklmnopqrstuv",
            ),
            ("@some.handle-1", "/@some.handle-1"),
            ("https://www.youtube.com/@some.handle-1/streams", "/@some.handle-1"),
            ("@みほん", "/@%E3%81%BF%E3%81%BB%E3%82%93"),
            ("https://www.youtube.com/@%E3%81%BF%E3%81%BB%E3%82%93/live", "/@%E3%81%BF%E3%81%BB%E3%82%93"),
            ("https://www.youtube.com/%40handle", "/@handle"),
            ("https://www.youtube.com/c/Some.Name/live", "/c/Some.Name"),
            ("https://www.youtube.com/user/somename", "/user/somename"),
            ("https://www.youtube.com/somename/live", "/c/somename"),
        ] {
            let Ok(Name::Channel(channel)) = Name::parse(text) else { panic!("{text}: {:?}", Name::parse(text)) };
            assert_eq!(channel.path(), path, "{text}");
        }
    }

    #[test]
    fn c1_a_bad_name_says_what_to_give_instead() {
        for (text, error) in [
            ("", BadName::Empty),
            (" ", BadName::Empty),
            (&"a".repeat(3_000), BadName::TooLong),
            ("https://example.com/watch?v=abcdefghi-_", BadName::ForeignHost("example.com".to_owned())),
            ("https://notyoutube.com/watch?v=abcdefghi-_", BadName::ForeignHost("notyoutube.com".to_owned())),
            ("https://www.youtube.com/", BadName::NoVideo),
            ("https://www.youtube.com/watch?list=PL1", BadName::NoVideo),
            ("https://www.youtube.com/channel/UCshort", BadName::NoVideo),
            ("https://www.youtube.com/feed/trending", BadName::NoVideo),
            ("https://youtu.be/", BadName::NoVideo),
            ("https://www.youtube.com/watch?v=short", BadName::BadVideoId("short".to_owned())),
            ("short", BadName::BadVideoId("short".to_owned())),
            ("abcdefghijkl", BadName::BadVideoId("abcdefghijkl".to_owned())),
            ("@a", BadName::BadHandle("a".to_owned())),
            ("@a b c", BadName::BadHandle("a b c".to_owned())),
            ("@..%2F..%2Fx", BadName::BadHandle("../../x".to_owned())),
            ("javascript:alert(1)", BadName::Unclear("javascript:alert(1)".to_owned())),
        ] {
            assert_eq!(Name::parse(text), Err(error.clone()), "{text}");
            assert!(error.to_string().ends_with(ADVICE));
        }
    }
}
