//! Continuation tokens in YouTube's layout of 2026: a protobuf in URL-safe base64, with a header of the same kind inside.
//!
//! All its parts have a fixed length, so it is written and read by place. Written here and not with the reader's own
//! encoder, so that a mistake in that one does not go unseen.

use data_encoding::BASE64URL;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) channel: String,
    pub(crate) video: String,
    /// Top chat, not all chat.
    pub(crate) top: bool,
    /// When it was made, in microseconds since 1970.
    pub(crate) made_us: u64,
    /// The row to go on with; a page's token begins with a backlog.
    pub(crate) from: Option<u64>,
}

impl Token {
    pub(crate) fn write(&self) -> String {
        let header =
            [HEAD, self.channel.as_bytes(), b"\x12\x0b", self.video.as_bytes(), MIDDLE, self.video.as_bytes(), TAIL];
        let header = encoded(&header.concat());
        let mut fields = [&[0x1a, 94], header.as_bytes()].concat();
        if let Some(from) = self.from {
            fields.push(0x28);
            push_varint(&mut fields, from);
        }
        fields.extend_from_slice(CHAT);
        fields.push(if self.top { 4 } else { 1 });
        fields.extend_from_slice(BEFORE_MADE);
        push_varint(&mut fields, self.made_us);
        fields.extend_from_slice(END);
        let mut token = LIVE.to_vec();
        push_varint(&mut token, fields.len() as u64);
        token.extend_from_slice(&fields);
        encoded(&token)
    }

    /// Reads what was written; `None` for anything else, such as the stubs of a page's menu.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let token = decoded(text)?;
        let (length, fields) = split_varint(token.strip_prefix(LIVE)?)?;
        let (header, fields) = fields.strip_prefix(&[0x1a, 94])?.split_at_checked(94)?;
        let header = decoded(std::str::from_utf8(header).ok()?)?;
        let video = header.get(VIDEO_AT..VIDEO_AT + 11)?;
        let (from, fields) = match fields.strip_prefix(&[0x28]) {
            Some(rest) => split_varint(rest).map(|(from, rest)| (Some(from), rest))?,
            None => (None, fields),
        };
        let (view, fields) = fields.strip_prefix(CHAT)?.split_first()?;
        let (made_us, _) = split_varint(fields.strip_prefix(BEFORE_MADE)?)?;
        let is_whole = length as usize == token.len() - LIVE.len() - varint_bytes(length);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let (channel, video) = (text(header.get(HEAD.len()..HEAD.len() + 24)?)?, text(video)?);
        is_whole.then_some(Self { channel, video, top: *view == 4, made_us, from })
    }
}

/// What stands in a page's menu: the layout of a token, and no video in it.
pub(crate) const STUBS: [&str; 2] = ["0ofMyAMSGgAwAYIBCAgEGAAgACgBqAEB", "0ofMyAMSGgAwAYIBCAgBGAAgACgBqAEB"];

/// The padding is percent-encoded, and stays so within JSON.
fn encoded(bytes: &[u8]) -> String {
    BASE64URL.encode(bytes).replace('=', "%3D")
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64URL.decode(text.replace("%3D", "=").as_bytes()).ok()
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(0x80 | (value & 0x7f) as u8);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn split_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let value = bytes[..=end].iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
    Some((value, &bytes[end + 1..]))
}

fn varint_bytes(value: u64) -> usize {
    (64 - value.max(1).leading_zeros() as usize).div_ceil(7)
}

/// Field 119693434: a live chat's token.
const LIVE: &[u8] = &[0xd2, 0x87, 0xcc, 0xc8, 0x03];
/// The header's start, up to the channel's id.
const HEAD: &[u8] = b"\n)*'\n\x18";
const MIDDLE: &[u8] = b"\x1a\x13\xea\xa8\xdd\xb9\x01\r\n\x0b";
const TAIL: &[u8] = b" \x010\x00";
/// Where the video's id begins in the header.
const VIDEO_AT: usize = 32;
/// From behind the header (and the row to go on with) up to the view.
const CHAT: &[u8] = &[0x30, 0x01, 0x82, 0x01, 0x08, 0x08];
const BEFORE_MADE: &[u8] = &[0x18, 0x02, 0x20, 0x00, 0x28, 0x00, 0x88, 0x01, 0x01, 0xa0, 0x01];
const END: &[u8] = &[0xa8, 0x01, 0x00, 0xb2, 0x01, 0x00];

#[cfg(test)]
mod tests {
    use super::*;

    /// A real token of 2026, with the ids replaced.
    const REAL: &str = "0ofMyAOAARpeQ2lrcUp3b1lWVU5oWW1Oa1pXWm5hR2xxYTJ4dGJtOXdjWEp6ZEhWMkVndGhZbU5rWldabmFHbHFNQm9UNnFqZHVRRU5DZ3R\
                        oWW1Oa1pXWm5hR2xxTUNBQk1BQSUzRDABggEICAQYAiAAKACIAQGgAfWqiZ-_4JIDqAEAsgEA";

    #[test]
    fn a_real_token_is_written_byte_for_byte_and_read() {
        let channel = crate::CHANNEL.to_owned();
        let token =
            Token { channel, video: "abcdefghij0".to_owned(), top: true, made_us: 1_771_330_208_945_525, from: None };
        assert_eq!(token.write(), REAL);
        assert_eq!(Token::read(REAL), Some(token.clone()));
        let later = Token { top: false, from: Some(300), ..token };
        assert_eq!(Token::read(&later.write()), Some(later));
    }

    #[test]
    fn anything_else_is_no_token() {
        for text in ["", "reload", STUBS[0], STUBS[1], &REAL[..100], &format!("{REAL}AAAA")] {
            assert_eq!(Token::read(text), None, "{text}");
        }
    }
}
