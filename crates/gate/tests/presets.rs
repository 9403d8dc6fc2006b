//! Settings as written, presets, and what `tidegate check` says about them.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{ms, secs, settings};
use http::Method;
use tidegate_gate::{Preset, UpstreamSettings, UpstreamToml};

fn refused(toml: &str) -> String {
    toml::from_str::<UpstreamToml>(toml).unwrap().resolve().unwrap_err().to_string()
}

#[test]
fn every_preset_resolves_and_is_named_as_it_is_written() {
    for preset in Preset::ALL {
        assert_eq!(settings(&format!("preset = {:?}", preset.name())), preset.settings());
    }
}

#[test]
fn the_defaults_are_those_of_a_youtube_like_upstream() {
    for preset in ["preset = \"youtube\"", ""] {
        let settings = settings(preset);
        assert_eq!((settings.min_interval, settings.max_concurrency.get()), (ms(250), 4));
        assert_eq!((settings.cooldown, settings.max_cooldown), (secs(30), secs(300)));
        assert_eq!((settings.backoff_factor, settings.max_interval), (2.0, secs(60)));
        assert_eq!((settings.max_throttle_errors, settings.max_stream_errors), (8, 3));
        assert_eq!((settings.max_queue, settings.max_wait, settings.dedupe_max_bytes), (1000, secs(30), 8 << 20));
        let retry = settings.retry;
        assert_eq!((retry.max_attempts, retry.enable_cooldown), (3, true));
        assert_eq!((retry.max_delay, retry.max_retryable_delay), (secs(5), secs(10)));
    }
}

#[test]
fn what_is_written_wins_over_the_preset() {
    let settings = settings(
        r#"
        preset = "github"
        base_url = "http://127.0.0.1:9000/"
        min_interval_ms = 5
        cooldown_ms = 1000
        dedupe = []
        dedupe_ignore_headers = ["X-Trace"]
        "#,
    );
    assert_eq!((settings.min_interval, settings.cooldown), (ms(5), secs(1)));
    assert_eq!(settings.base_url.as_deref(), Some("http://127.0.0.1:9000"));
    assert_eq!(settings.max_cooldown, secs(3600), "the preset's");
    assert!(!settings.route(&Method::GET, "/user").shareable);
}

#[test]
fn g8_youtubes_polls_are_shared_and_its_pages_are_only_paced() {
    let youtube = Preset::Youtube.settings();
    let poll = youtube.route(&Method::POST, "/youtubei/v1/live_chat/get_live_chat");
    assert!(poll.shareable);
    assert_eq!(poll.operation.as_str(), "POST /youtubei/v1/live_chat/get_live_chat");
    for (method, path, operation) in [
        (Method::GET, "/watch", "GET /watch"),
        (Method::GET, "/live_chat", "GET /live_chat"),
        (Method::GET, "/@handle/live", "GET /{handle}/live"),
        (Method::POST, "/youtubei/v1/next", "POST /youtubei/v1/{method}"),
    ] {
        let route = youtube.route(&method, path);
        assert!(!route.shareable, "{path}");
        assert_eq!(route.operation.as_str(), operation);
    }
}

#[test]
fn g12_streams_routes_are_operations_without_ids() {
    let stream = Preset::StreamChat.settings();
    for (method, path, operation) in [
        (Method::POST, "/channels/messaging/general/query", "POST /channels/{type}/{id}/query"),
        (Method::POST, "/channels/messaging/query", "POST /channels/{type}/query"),
        (Method::POST, "/channels/read", "POST /channels/read"),
        (Method::POST, "/channels/messaging/general", "POST /channels/{type}/{id}"),
        (Method::POST, "/channels/messaging/general/message", "POST /channels/{type}/{id}/message"),
        (Method::DELETE, "/messages/abc/reaction/like", "DELETE /messages/{id}/reaction/{type}"),
        (Method::POST, "/users/abc/deactivate", "POST /users/{id}/{action}"),
        (Method::GET, "/polls/123/votes", "* /polls/**"),
        (Method::GET, "/somewhere/new/42", "GET /somewhere/**"),
    ] {
        assert_eq!(stream.route(&method, path).operation.as_str(), operation);
    }
    assert!(stream.route(&Method::GET, "/longpoll").long_poll);
    assert!(!stream.route(&Method::GET, "/users").long_poll);
}

#[test]
fn a_wrong_setting_is_refused_by_name() {
    for (toml, says) in [
        ("max_concurrency = 0", "max_concurrency: at least 1"),
        ("cooldown_ms = 0", "cooldown_ms: from 1 to 86400000 milliseconds"),
        ("min_interval_ms = 86400001", "min_interval_ms: from 0 to 86400000 milliseconds"),
        ("backoff_factor = 0.5", "backoff_factor: from 1 to 100"),
        ("backoff_factor = nan", "backoff_factor: from 1 to 100"),
        (
            "throttle_statuses = [200]",
            "throttle_statuses: statuses from 300 to 599; a throttle inside a 200 is told by `body`",
        ),
        ("base_url = \"ftp://x\"", "base_url: write http:// or https://, a host, and no query, fragment or password"),
        (
            "base_url = \"https://x/?q=1\"",
            "base_url: write http:// or https://, a host, and no query, fragment or password",
        ),
        (
            "base_url = \"https://user:word@x\"",
            "base_url: write http:// or https://, a host, and no query, fragment or password",
        ),
        (
            "base_url = \"https://x/#part\"",
            "base_url: write http:// or https://, a host, and no query, fragment or password",
        ),
        (
            "dedupe = [\"GET\"]",
            "dedupe: \"GET\" is no route: write a method and a path, such as \"GET /users/{id}\" or \"* /live/**\"",
        ),
        ("dedupe_ignore_headers = [\"a b\"]", "dedupe_ignore_headers: \"a b\" is no header name"),
        (
            "dedupe_ignore_headers = [\"Cookie\"]",
            "dedupe_ignore_headers: cookie is an identity, which is never ignored",
        ),
    ] {
        assert_eq!(refused(toml), says);
    }
    for unknown in ["min_intervall_ms = 1", "preset = \"yotube\"", "mode = \"off\"", "headers = [\"x\"]"] {
        let error = toml::from_str::<UpstreamToml>(unknown).unwrap_err().to_string();
        assert!(error.contains("expected"), "{error}");
    }
}

#[test]
fn a_fallback_is_never_longer_than_the_clamp() {
    assert_eq!(settings("cooldown_ms = 60000\nmax_cooldown_ms = 10000").cooldown, secs(10));
}

fn explained(settings: &UpstreamSettings) -> String {
    settings.explain().join("\n")
}

#[test]
fn check_says_what_a_config_means() {
    let plain = settings("throttle_statuses = [429]\nheaders = []\ndedupe = []\nevidence_statuses = []");
    assert_eq!(
        explained(&plain),
        "at most 4 calls/s, 4 at once; a 429 stops everything for its Retry-After, else 30 s\n\
         up to 1000 calls wait, at the proxy for up to 30 s; no cooldown is longer than 300 s\n\
         a throttled call is tried up to 3 times if the delay is at most 10 s; retries stay under 20 % of calls\n\
         no calls are shared"
    );
    assert_eq!(
        explained(&Preset::Youtube.settings()),
        "at most 4 calls/s, 4 at once; a 429 or 403 stops everything for its Retry-After, else 30 s\n\
         up to 1000 calls wait, at the proxy for up to 30 s; no cooldown is longer than 300 s\n\
         throttles inside answers below 500 are recognised by their body\n\
         a throttled call is tried up to 3 times if the delay is at most 10 s; retries stay under 20 % of calls\n\
         the same calls at the same time are one: POST /youtubei/v1/live_chat/get_live_chat, \
         POST /youtubei/v1/live_chat/get_live_chat_replay"
    );
    assert_eq!(
        explained(&Preset::StreamChat.settings()),
        "calls are not spaced, 100 at once; a 429 stops that operation, whose calls are refused at once for its \
         Retry-After, else a jittered delay of up to 5 s\n\
         up to 1000 calls wait, at the proxy for up to 30 s; no cooldown is longer than 300 s\n\
         a rate limit that is 70 / 85 / 95 % used up holds all calls for 0.5 / 1.5 / 3 s\n\
         a budget that is 60 / 70 / 80 % used up holds all calls for 1-2 / 5-10 / 30-60 s\n\
         a throttled call is tried up to 3 times if the delay is at most 10 s; retries stay under 20 % of calls\n\
         the same calls at the same time are one: GET /**, HEAD /**"
    );
    let pace = |toml: &str| settings(toml).explain()[0].clone();
    assert!(pace("min_interval_ms = 1000").starts_with("at most 1 call/s, "));
    assert!(pace("min_interval_ms = 2500").starts_with("at most 1 call every 2.5 s, "));
    assert!(pace("min_interval_ms = 300").starts_with("at most 3.33 calls/s, "));
    assert!(pace("mode = \"observe\"").starts_with("observe mode: everything passes"));
    assert!(explained(&settings("max_attempts = 1")).contains("a throttled call is not tried again"));
    assert!(
        explained(&settings("preset = \"github\""))
            .contains("a 403 is a throttle only where its headers or its message say so")
    );
}
