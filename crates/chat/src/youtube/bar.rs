//! The chat beside a video: where it starts, or why there is none.

use serde_json::Value;

use super::token::{Token, View};
use super::walk::{at, flag_at, list_at, text_at};

/// Where a chat starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatEntry {
    /// The page's own token, for the view that is chosen on the page: usually top chat.
    pub native: Token,
    /// The tokens of the page's menu, top chat first, where they are no stubs.
    pub menu: [Option<Token>; 2],
    /// The chat of a finished stream.
    pub is_replay: bool,
}

impl ChatEntry {
    /// The token for a view, and the view that it gives: another one than asked for only where the upstream's tokens
    /// have a layout that is not known.
    #[must_use]
    pub fn token(&self, view: View) -> (Token, View) {
        self.nth_token(view, 0)
    }

    /// The same for a chat that stayed silent with the tokens before: the page's own, rewritten; that of its menu; and
    /// its own as it is, which is for top chat. Behind the last one it begins anew (C6).
    #[must_use]
    pub fn nth_token(&self, view: View, nth: usize) -> (Token, View) {
        let [top, all] = &self.menu;
        let listed = match view {
            View::Top => top,
            View::All => all,
        };
        let rewritten = self.native.with_view(view);
        let mut tokens: Vec<_> = rewritten.into_iter().chain(listed.clone()).map(|token| (token, view)).collect();
        tokens.push((self.native.clone(), self.native.view().unwrap_or(View::Top)));
        tokens.dedup_by(|one, other| one.0 == other.0);
        tokens.swap_remove(nth % tokens.len())
    }

    /// Reads a `liveChatRenderer`.
    pub(super) fn read(chat: &Value) -> Option<Self> {
        let mut continuations = list_at(chat, "continuations").iter();
        let native = continuations.find_map(token_of)?;
        let menu = list_at(chat, "header.liveChatHeaderRenderer.viewSelector.sortFilterSubMenuRenderer.subMenuItems");
        let menu = [0, 1].map(|view| menu.get(view).and_then(|item| token_of(at(item, "continuation")?)));
        // A stub has the layout of a token and no video in it.
        let menu = menu.map(|token| token.filter(|token| token.view().is_none() || token.names_video()));
        Some(Self { native, menu, is_replay: flag_at(chat, "isReplay") })
    }
}

/// What a watch page says about its chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bar {
    /// A chat.
    Chat(Box<ChatEntry>),
    /// A message in place of one: chat is off, or not for this visitor. The words are localised and not read.
    Closed,
    /// The page has no place for a chat, or one that is not known.
    Absent,
}

impl Bar {
    /// Reads `ytInitialData` of a watch page.
    pub(super) fn read(data: &Value) -> Self {
        let Some(bar) = at(data, "contents.twoColumnWatchNextResults.conversationBar") else { return Self::Absent };
        if let Some(entry) = at(bar, "liveChatRenderer").and_then(ChatEntry::read) {
            return Self::Chat(Box::new(entry));
        }
        match at(bar, "conversationBarRenderer") {
            Some(_) => Self::Closed,
            None => Self::Absent,
        }
    }
}

/// The token of an entry, whatever its kind.
fn token_of(entry: &Value) -> Option<Token> {
    let data = entry.as_object()?.values().find(|data| text_at(data, "continuation").is_some())?;
    Token::new(text_at(data, "continuation")?)
}
