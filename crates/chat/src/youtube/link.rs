//! Where a link or a button leads.

use serde_json::Value;

use super::url::Address;
use super::walk::text_at;

/// The absolute address that an endpoint leads to; `None` for menus, sign-ins and other schemes than the web's.
pub(super) fn target(endpoint: &Value) -> Option<String> {
    if let Some(video) = text_at(endpoint, "watchEndpoint.videoId") {
        return Some(format!("{SITE}/watch?v={video}"));
    }
    let url =
        text_at(endpoint, "urlEndpoint.url").or_else(|| text_at(endpoint, "commandMetadata.webCommandMetadata.url"))?;
    let url = if url.starts_with('/') && !url.starts_with("//") { format!("{SITE}{url}") } else { absolute(url) };
    let address = Address::parse(&url).filter(|_| is_web(&url))?;
    // Links out of the chat go through a page that asks "are you sure?" and counts.
    let out = address.is_under("youtube.com") && address.path == "/redirect";
    match out.then(|| address.query_value("q")).flatten() {
        Some(target) => is_web(&target).then_some(target),
        None => Some(url),
    }
}

/// An address with its scheme: pictures often come as `//host/…`.
pub(super) fn absolute(url: &str) -> String {
    if url.starts_with("//") { format!("https:{url}") } else { url.to_owned() }
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

const SITE: &str = "https://www.youtube.com";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_link_leads_where_it_says_without_the_detour() {
        let url = |url: &str| target(&json!({"urlEndpoint": {"url": url}}));
        let out = "https://www.youtube.com/redirect?event=live_chat&redir_token=x&q=https%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D%C3%A9";
        assert_eq!(url(out).as_deref(), Some("https://example.com/?a=1&b=é"));
        assert_eq!(url("//support.google.com/x").as_deref(), Some("https://support.google.com/x"));
        assert_eq!(url("/hashtag/x").as_deref(), Some("https://www.youtube.com/hashtag/x"));
        let video = json!({"watchEndpoint": {"videoId": "abcdefghij0"}});
        assert_eq!(target(&video).as_deref(), Some("https://www.youtube.com/watch?v=abcdefghij0"));
        let relative = json!({"commandMetadata": {"webCommandMetadata": {"url": "/@x"}}});
        assert_eq!(target(&relative).as_deref(), Some("https://www.youtube.com/@x"));
    }

    #[test]
    fn only_addresses_of_the_web_pass() {
        for url in
            ["javascript:alert(1)", "data:text/html,x", "https://www.youtube.com/redirect?q=javascript%3Aalert(1)", "x"]
        {
            assert_eq!(target(&json!({"urlEndpoint": {"url": url}})), None, "{url}");
        }
        assert_eq!(target(&json!({"liveChatItemContextMenuEndpoint": {}})), None);
    }
}
