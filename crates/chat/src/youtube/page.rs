//! A page: a video's state and chat, a channel's streams, or something else in its place.

use serde_json::Value;

use super::bar::{Bar, ChatEntry};
use super::client::Client;
use super::fetched::Fetched;
use super::name::{ChannelId, VideoId};
use super::player::{starts_s, state_of};
use super::poll::{Batch, Over, PollAnswer, read_poll_json};
use super::script::{PageData, canonical, read_scripts};
use super::streams::{Listed, read_streams};
use super::trouble::Trouble;
use super::url::Address;
use super::walk::{at, count_at, flag_at, list_at, string_at, text_at};
use super::{Region, name::ChannelName};
use crate::event::{StreamState, StreamStatus};

/// What a page is.
#[derive(Clone, Debug, PartialEq)]
pub enum PageAnswer {
    /// A video's page.
    Watch(Box<WatchPage>),
    /// A channel's page: what `/live` shows when nothing is on or when more than one is, and the streams tab.
    Channel(ChannelPage),
    /// The chat by itself, with its first rows.
    Chat(Box<ChatPage>),
    /// The page of a chat, saying that there is none any more.
    ChatOver(Over),
    /// Something else.
    Trouble(Trouble),
}

/// A video's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchPage {
    /// The video. A channel's `/live` page says here which one it shows.
    pub video: Option<VideoId>,
    /// The video's title.
    pub title: Option<String>,
    /// Its channel.
    pub channel: Option<ChannelId>,
    /// The channel's name.
    pub channel_title: Option<String>,
    /// Where the stream stands.
    pub state: StreamState,
    /// When it is to start or started: seconds since 1970 UTC.
    pub starts_s: Option<i64>,
    /// Whether it is found by its address only.
    pub is_unlisted: bool,
    /// How many are watching, while it is live.
    pub viewers: Option<u64>,
    /// Its chat, where it has one. That of a finished stream is a replay.
    pub chat: Option<ChatEntry>,
    /// Who the page takes us for.
    pub client: Client,
}

/// A channel's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPage {
    /// The channel.
    pub channel: Option<ChannelId>,
    /// The streams it lists, in its order.
    pub streams: Vec<Listed>,
}

/// The chat by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatPage {
    /// The first rows and the next token.
    pub batch: Batch,
    /// Who the page takes us for.
    pub client: Client,
}

/// Reads a watch page, a channel's `/live` page or streams tab, or a chat page.
#[must_use]
pub fn read_page(fetched: &Fetched<'_>) -> PageAnswer {
    if let Some(trouble) = Trouble::of_status(fetched) {
        return PageAnswer::Trouble(trouble);
    }
    let page = read_scripts(fetched.body);
    match read_data(&page, fetched.body) {
        Ok(answer) => answer,
        Err(trouble) => PageAnswer::Trouble(trouble),
    }
}

impl WatchPage {
    /// What the page says of the stream, as an event tells it.
    #[must_use]
    pub fn status(&self) -> StreamStatus {
        StreamStatus {
            state: self.state,
            video_id: self.video.as_ref().map(ToString::to_string),
            title: self.title.clone(),
            channel_id: self.channel.as_ref().map(ToString::to_string),
            channel: self.channel_title.clone(),
            starts_s: self.starts_s,
        }
    }

    /// The channel, as a name that can be asked for.
    #[must_use]
    pub fn channel_name(&self) -> Option<ChannelName> {
        self.channel.clone().map(ChannelName::Id)
    }
}

fn read_data(page: &PageData, body: &[u8]) -> Result<PageAnswer, Trouble> {
    let PageData { data, player, config } = page;
    let client = Client::read(config, data.as_ref());
    let player = player.as_ref().filter(|player| at(player, "playabilityStatus").is_some());
    let data = match (data, player) {
        (Some(data), _) => data,
        (None, Some(_)) => &Value::Null,
        (None, None) => return Err(Trouble::of_html(body)),
    };
    if let Some(player) = player {
        return watch_page(player, data, client, body).map(|page| PageAnswer::Watch(Box::new(page)));
    }
    if at(data, "contents.twoColumnBrowseResultsRenderer").is_some() {
        return Ok(PageAnswer::Channel(channel_page(data, body)));
    }
    if at(data, "contents.twoColumnWatchNextResults").is_some() {
        return Err(Trouble::Changed { what: "no ytInitialPlayerResponse" });
    }
    if list_at(data, "alerts").iter().any(|alert| text_at(alert, "alertRenderer.type") == Some("ERROR")) {
        return Err(Trouble::Gone);
    }
    match read_poll_json(data, Region::default()) {
        PollAnswer::Batch(batch) => Ok(PageAnswer::Chat(Box::new(ChatPage { batch, client }))),
        PollAnswer::Over(over @ Over::Message(_)) => Ok(PageAnswer::ChatOver(over)),
        PollAnswer::Over(Over::NoContents | Over::ReplayEnd) | PollAnswer::Trouble(_) => {
            Err(Trouble::Changed { what: "no known contents in ytInitialData" })
        }
    }
}

fn watch_page(player: &Value, data: &Value, client: Client, body: &[u8]) -> Result<WatchPage, Trouble> {
    let bar = Bar::read(data);
    let state = state_of(player, &bar)?;
    // Not the same as a chat that is off: the page without its data, or one whose shape has changed.
    if matches!((state, &bar), (StreamState::Live | StreamState::Upcoming, Bar::Absent)) {
        return Err(Trouble::Changed { what: "no conversationBar beside a live video" });
    }
    let micro = at(player, "microformat.playerMicroformatRenderer").unwrap_or(&Value::Null);
    let channel = text_at(player, "videoDetails.channelId").or_else(|| text_at(micro, "externalChannelId"));
    let chat = match bar {
        Bar::Chat(entry) => Some(*entry),
        Bar::Closed | Bar::Absent => None,
    };
    Ok(WatchPage {
        video: video_of(player, data, body),
        title: string_at(player, "videoDetails.title"),
        channel: channel.and_then(ChannelId::parse),
        channel_title: string_at(player, "videoDetails.author").or_else(|| string_at(micro, "ownerChannelName")),
        state,
        starts_s: starts_s(player),
        is_unlisted: flag_at(micro, "isUnlisted"),
        viewers: if state == StreamState::Live { viewers(data) } else { None },
        chat,
        client,
    })
}

/// The video that a page shows. A private one has no details, but its page still has an address.
fn video_of(player: &Value, data: &Value, body: &[u8]) -> Option<VideoId> {
    [
        text_at(player, "videoDetails.videoId"),
        text_at(data, "currentVideoEndpoint.watchEndpoint.videoId"),
        text_at(player, "playabilityStatus.liveStreamability.liveStreamabilityRenderer.videoId"),
    ]
    .into_iter()
    .flatten()
    .find_map(VideoId::parse)
    .or_else(|| VideoId::parse(&Address::parse(&canonical(body)?)?.query_value("v")?))
}

fn channel_page(data: &Value, body: &[u8]) -> ChannelPage {
    let in_address = || {
        let canonical = canonical(body)?;
        ChannelId::parse(Address::parse(&canonical)?.path.strip_prefix("/channel/")?)
    };
    let channel = text_at(data, "metadata.channelMetadataRenderer.externalId").and_then(ChannelId::parse);
    ChannelPage { channel: channel.or_else(in_address), streams: read_streams(data) }
}

fn viewers(data: &Value) -> Option<u64> {
    let contents = list_at(data, "contents.twoColumnWatchNextResults.results.results.contents");
    let count =
        contents.iter().find_map(|item| at(item, "videoPrimaryInfoRenderer.viewCount.videoViewCountRenderer"))?;
    if flag_at(count, "isLive") { count_at(count, "originalViewCount") } else { None }
}
