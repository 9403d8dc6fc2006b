//! Continuation tokens: opaque, but for the one field that chooses between top chat and all chat (C13).
//!
//! A watch page holds one full token, for top chat. Its two menu tokens have been stubs without a video id since
//! autumn 2025, and a stub sent to the upstream is refused with 400. So all chat is asked for by rewriting the page's
//! own token, whose other fields the upstream made; a token made up here got 200 and no message for ever.

use std::fmt;

use data_encoding::{BASE64URL, BASE64URL_NOPAD};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::name::{ChannelId, VideoId};
use super::protobuf::{Field, bytes_at, message_at, read, varint_at, write};

/// A continuation token, sent back exactly as it came: escapes in it are part of it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token(String);

/// Which rows are shown (C13); as text, `top` or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// What the upstream thinks worth showing.
    Top,
    /// All rows.
    #[default]
    All,
}

/// What a live chat's first token says. For stand-ins of the upstream, which must tell tokens apart and make new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenParts {
    /// The channel.
    pub channel: ChannelId,
    /// The video.
    pub video: VideoId,
    /// The view.
    pub view: View,
    /// When the token was made: microseconds since 1970 UTC.
    pub made_us: u64,
}

impl Token {
    /// Takes a token as the upstream sent it; an empty one, or one over 4,096 bytes, is `None`.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (1..=MAX_BYTES).contains(&text.len()).then(|| Self(text.to_owned()))
    }

    /// The token as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Which view the token asks for; `None` for a token of another layout.
    #[must_use]
    pub fn view(&self) -> Option<View> {
        view_of(varint_at(&message_at(&self.live_fields()?.1, CHAT)?, CHAT_TYPE)?)
    }

    /// Whether the token names its video. The stubs of a page's menu do not, and are refused by the upstream.
    #[must_use]
    pub fn names_video(&self) -> bool {
        self.live_fields().is_some_and(|(_, fields)| bytes_at(&fields, HEADER).is_some_and(|header| !header.is_empty()))
    }

    /// The same token for another view; `None` for a token of another layout, which can only be used as it is.
    #[must_use]
    pub fn with_view(&self, view: View) -> Option<Self> {
        let (padding, mut fields) = self.live_fields()?;
        let mut chat = message_at(&fields, CHAT)?;
        *chat.iter_mut().find(|field| field.number == CHAT_TYPE)? = Field::varint(CHAT_TYPE, type_of(view));
        *fields.iter_mut().find(|field| field.number == CHAT)? = Field::message(CHAT, &chat);
        Some(encoded(&[Field::message(LIVE, &fields)], padding))
    }

    /// The padding's form and the fields of a live token. What would not be written back byte for byte is not touched.
    fn live_fields(&self) -> Option<(&'static str, Vec<Field>)> {
        let (padding, bytes) = decoded(&self.0)?;
        let outer = read(&bytes)?;
        let fields = message_at(&outer, LIVE)?;
        let same = outer.len() == 1 && write(&[Field::message(LIVE, &fields)]) == bytes;
        same.then_some((padding, fields))
    }
}

impl TokenParts {
    /// Makes a token of this year's layout.
    #[must_use]
    pub fn token(&self) -> Token {
        let video = Field::bytes(1, self.video.as_str());
        let header = [
            Field::message(
                1,
                &[Field::message(5, &[Field::bytes(1, self.channel.as_str()), Field::bytes(2, self.video.as_str())])],
            ),
            Field::message(3, &[Field::message(HEADER_VIDEO, &[video])]),
            Field::varint(4, 1),
            Field::varint(6, 0),
        ];
        let header = BASE64URL.encode(&write(&header)).replace('=', "%3D");
        let chat = [(CHAT_TYPE, type_of(self.view)), (3, 2), (4, 0), (5, 0)];
        let live = [
            Field::bytes(HEADER, header),
            Field::varint(6, 1),
            Field::message(CHAT, &chat.map(|(number, value)| Field::varint(number, value))),
            Field::varint(17, 1),
            Field::varint(MADE, self.made_us),
            Field::varint(21, 0),
            Field::bytes(22, ""),
        ];
        encoded(&[Field::message(LIVE, &live)], "")
    }

    /// Reads a token of this layout.
    #[must_use]
    pub fn read(token: &Token) -> Option<Self> {
        let (_, fields) = token.live_fields()?;
        let (_, header) = decoded(std::str::from_utf8(bytes_at(&fields, HEADER)?).ok()?)?;
        let ids = message_at(&message_at(&read(&header)?, 1)?, 5)?;
        let text = |number| std::str::from_utf8(bytes_at(&ids, number)?).ok();
        Some(Self {
            channel: ChannelId::parse(text(1)?)?,
            video: VideoId::parse(text(2)?)?,
            view: token.view()?,
            made_us: varint_at(&fields, MADE)?,
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

const fn type_of(view: View) -> u64 {
    match view {
        View::Top => 4,
        View::All => 1,
    }
}

const fn view_of(chat_type: u64) -> Option<View> {
    match chat_type {
        4 => Some(View::Top),
        1 => Some(View::All),
        _ => None,
    }
}

/// Decodes URL-safe base64 whose padding may be escaped, once or twice; says how it was written.
fn decoded(text: &str) -> Option<(&'static str, Vec<u8>)> {
    let bare = PADDINGS.iter().fold(text, |text, padding| text.trim_end_matches(padding));
    let padding = PADDINGS.iter().find(|padding| text.ends_with(*padding)).copied().unwrap_or_default();
    Some((padding, BASE64URL_NOPAD.decode(bare.as_bytes()).ok()?))
}

fn encoded(fields: &[Field], padding: &str) -> Token {
    let text = BASE64URL.encode(&write(fields));
    Token(text.replace('=', padding))
}

/// How `=` is written: URL-escaped, escaped twice, plain; or left out.
const PADDINGS: [&str; 3] = ["%253D", "%3D", "="];

/// The longest token that is kept, in bytes. Real ones have 100 to 400.
const MAX_BYTES: usize = 4_096;

/// The fields of a token, by number.
const LIVE: u64 = 119_693_434;
const HEADER: u64 = 3;
const HEADER_VIDEO: u64 = 48_687_757;
const CHAT: u64 = 16;
const CHAT_TYPE: u64 = 1;
const MADE: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: &str = "0ofMyAOAARpeQ2lrcUp3b1lWVU5oWW1Oa1pXWm5hR2xxYTJ4dGJtOXdjWEp6ZEhWMkVndGhZbU5rWldabmFHbHFNQm9UNnFqZHVRRU5DZ3RoWW1Oa1pXWm5hR2xxTUNBQk1BQSUzRDABggEICAQYAiAAKACIAQGgAfWqiZ-_4JIDqAEAsgEA";
    const ALL: &str = "0ofMyAOAARpeQ2lrcUp3b1lWVU5oWW1Oa1pXWm5hR2xxYTJ4dGJtOXdjWEp6ZEhWMkVndGhZbU5rWldabmFHbHFNQm9UNnFqZHVRRU5DZ3RoWW1Oa1pXWm5hR2xxTUNBQk1BQSUzRDABggEICAEYAiAAKACIAQGgAfWqiZ-_4JIDqAEAsgEA";
    const STUB: &str = "0ofMyAMSGgAwAYIBCAgEGAAgACgBqAEB";

    fn parts(view: View) -> TokenParts {
        TokenParts {
            channel: ChannelId::parse("UCabcdefghijklmnopqrstuv").unwrap(),
            video: VideoId::parse("abcdefghij0").unwrap(),
            view,
            made_us: 1_771_330_208_945_525,
        }
    }

    #[test]
    fn c13_all_chat_is_the_pages_own_token_with_one_field_rewritten() {
        let (top, all) = (Token::new(TOP).unwrap(), Token::new(ALL).unwrap());
        assert_eq!((top.view(), all.view()), (Some(View::Top), Some(View::All)));
        assert_eq!(top.with_view(View::All), Some(all.clone()));
        assert_eq!(all.with_view(View::Top), Some(top.clone()));
        assert_eq!(top.with_view(View::Top), Some(top));
    }

    #[test]
    fn c13_the_layout_makes_a_real_token_byte_for_byte() {
        for (view, text) in [(View::Top, TOP), (View::All, ALL)] {
            assert_eq!(parts(view).token().as_str(), text);
            assert_eq!(TokenParts::read(&Token::new(text).unwrap()), Some(parts(view)));
        }
    }

    #[test]
    fn report_22_a_menu_stub_names_no_video() {
        assert!(Token::new(TOP).unwrap().names_video());
        assert!(!Token::new(STUB).unwrap().names_video());
        assert_eq!(TokenParts::read(&Token::new(STUB).unwrap()), None);
    }

    #[test]
    fn c13_a_token_of_another_layout_is_left_alone() {
        for text in ["test-continuation:01", "___continuation___", "op2w0wQ", "0ofMyA", "%3D", &TOP[..80], "0ofMyAMA"] {
            assert_eq!(Token::new(text).unwrap().with_view(View::All), None, "{text}");
        }
        assert_eq!(Token::new(""), None);
        assert_eq!(Token::new(&"a".repeat(5_000)), None);
    }

    #[test]
    fn c13_padding_stays_as_it_was_written() {
        // Field 16 {1: 4} and a text that makes the length need padding.
        let fields = [Field::message(LIVE, &[Field::message(CHAT, &[Field::varint(1, 4)]), Field::bytes(22, "ab")])];
        for padding in ["", "=", "%3D", "%253D"] {
            let token = encoded(&fields, padding);
            let all = token.with_view(View::All).unwrap();
            assert_eq!(all.as_str().len(), token.as_str().len(), "{padding}");
            assert!(all.as_str().ends_with(padding));
            assert_eq!(all.with_view(View::Top), Some(token));
        }
    }
}
