//! What to ask the upstream: paths, headers and bodies. The host is the caller's setting.

use serde_json::json;

use super::client::{CLIENT_NAME_CODE, Client, LANGUAGE, REGION};
use super::name::{ChannelName, Name};
use super::token::Token;

/// How to ask for a page, with GET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Path and query.
    pub path: String,
    /// Header names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
}

/// How to ask for the chat, with POST. Asking again with the same token gives the same window again: it is safe to
/// share between callers and to repeat (G8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollRequest {
    /// Path and query.
    pub path: String,
    /// Header names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: Vec<u8>,
}

/// Asks for a video's page, or for the page of a channel's current stream.
#[must_use]
pub fn page_request(name: &Name) -> PageRequest {
    match name {
        // The two odd values answer "are you sure?" pages ahead of the video.
        Name::Video(id) => page(&format!("/watch?v={id}&bpctr=9999999999&has_verified=1&")),
        Name::Channel(channel) => page(&format!("{}/live?", channel.path())),
    }
}

/// Asks for the list of a channel's streams.
#[must_use]
pub fn streams_request(channel: &ChannelName) -> PageRequest {
    page(&format!("{}/streams?", channel.path()))
}

/// Asks for the chat from a token on.
#[must_use]
pub fn poll_request(client: &Client, token: &Token) -> PollRequest {
    let key = client.api_key.as_ref().map(|key| format!("key={key}&")).unwrap_or_default();
    let mut headers = vec![
        ("accept-language", LANGUAGE.to_owned()),
        ("content-type", "application/json".to_owned()),
        ("origin", ORIGIN.to_owned()),
        ("user-agent", USER_AGENT.to_owned()),
        ("x-youtube-client-name", CLIENT_NAME_CODE.to_owned()),
        ("x-youtube-client-version", client.version.clone()),
    ];
    headers.extend(client.visitor_data.clone().map(|data| ("x-goog-visitor-id", data)));
    let body = json!({ "context": client.context(), "continuation": token.as_str() });
    PollRequest {
        path: format!("/youtubei/v1/live_chat/get_live_chat?{key}prettyPrint=false"),
        headers,
        body: body.to_string().into_bytes(),
    }
}

fn page(path: &str) -> PageRequest {
    PageRequest {
        path: format!("{path}hl={LANGUAGE}&gl={REGION}"),
        headers: vec![
            ("accept-language", LANGUAGE.to_owned()),
            ("cookie", CONSENTED.to_owned()),
            ("user-agent", USER_AGENT.to_owned()),
        ],
    }
}

const ORIGIN: &str = "https://www.youtube.com";

/// `SOCS` answers the consent question before it is asked; `PREF` pins language and time zone.
const CONSENTED: &str = "SOCS=CAI; PREF=hl=en&tz=UTC";

/// Other clients get other pages.
const USER_AGENT: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
