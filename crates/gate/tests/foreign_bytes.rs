//! Whatever a server sends: no panic, no hold over the clamp, no error object missed by a cut.

mod common;

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use tidegate_gate::signal::body::{self, BodyStyle, Finding};
use tidegate_gate::signal::rate_headers::{Families, HeaderFamily, parse_count, parse_reset, parse_used_of_limit};
use tidegate_gate::signal::{Head, HeadSigns, Share, ietf, number, retry_after};
use tidegate_gate::{Fingerprint, FingerprintParts, RouteTemplate};

const NAMES: [&str; 26] = [
    "retry-after",
    "retry-after-ms",
    "date",
    "location",
    "content-type",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-reset-after",
    "x-ratelimit-bucket",
    "x-ratelimit-scope",
    "x-ratelimit-global",
    "x-rate-limit-reset",
    "ratelimit",
    "ratelimit-policy",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-shopify-shop-api-call-limit",
    "x-budget-used-ms",
    "x-budget-limit-ms",
    "x-budget-remaining-ms",
];

/// Bytes that look a little like what is expected, and bytes that do not.
fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..64),
        r#"[-+]?[0-9]{0,30}(\.[0-9]{0,12})?[a-zµ%/;=,]{0,3}"#.prop_map(String::into_bytes),
        r#"("?[a-z]{0,6}"?;?(q|r|t|w|limit|remaining|reset)=-?[0-9]{0,18},? ?){0,4}"#.prop_map(String::into_bytes),
        "(Sun|Monday|Tue), ?[0-9]{1,2}[ -](Nov|Feb|Xxx)[ -][0-9]{2,5} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
            .prop_map(String::into_bytes),
    ]
}

fn all_families() -> Families {
    use HeaderFamily::{Discord, Ietf, OpenAi, RetryAfterMs, Shopify, XBudget, XRateLimit};
    Families::from_iter([XRateLimit, Ietf, RetryAfterMs, OpenAi, Discord, Shopify, XBudget])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn g16_no_parser_panics_on_any_bytes(bytes in value(), now_s in 0_u64..4_000_000_000) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now_s);
        let _ = retry_after::parse(&bytes, now);
        let _ = parse_reset(&bytes, now);
        let _ = (parse_count(&bytes), parse_used_of_limit(&bytes), ietf::parse(&bytes, &bytes));
        let _ = (number::Decimal::parse(&bytes), number::parse_duration(&bytes));
        for style in [BodyStyle::Google, BodyStyle::Message] {
            let _ = body::read(style, true, &bytes);
        }
        let _ = RouteTemplate::parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn g16_no_head_holds_longer_than_the_clamp(
        lines in proptest::collection::vec((0..NAMES.len(), value()), 0..12),
        status in 100_u16..600,
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(HeaderName::from_static(NAMES[name]), value);
            }
        }
        let max = Duration::from_secs(300);
        let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let head = Head { status: StatusCode::from_u16(status).expect("in range"), headers: &headers, wall };
        let signs = HeadSigns::read(head, all_families(), max);
        let delay = signs.server_delay(max).map(|delay| delay.get());
        prop_assert!(delay.is_none_or(|delay| delay > Duration::ZERO && delay <= max), "{delay:?}");
        prop_assert!(signs.budget.is_none_or(|used| used <= Share::percent(100)));
        prop_assert!(signs.rates.tightest.and_then(|rate| rate.used()).is_none_or(|used| used <= Share::percent(100)));
    }

    #[test]
    fn g16_every_number_of_seconds_is_rounded_up_and_never_lost(whole in 0_u64..1_000_000, fraction in "[0-9]{0,9}") {
        let text = if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") };
        let up = whole + u64::from(fraction.bytes().any(|digit| digit != b'0'));
        let expected = (up > 0).then(|| Duration::from_secs(up));
        prop_assert_eq!(retry_after::parse(text.as_bytes(), SystemTime::UNIX_EPOCH), expected);
    }

    #[test]
    fn g10_a_cut_anywhere_behind_the_error_object_changes_nothing(rest in "[a-z\\[\\]{}\",:0-9 ]{0,200}") {
        let body = format!(r#"{{"a":[1,{{"b":null}}],"error":{{"code":429}},"rest":{rest}"#);
        prop_assert_eq!(body::read(BodyStyle::Google, false, body.as_bytes()).finding, Finding::Throttle);
    }

    #[test]
    fn g8_two_calls_are_the_same_only_if_all_their_parts_are(
        one in (value(), value(), value(), value()),
        other in (value(), value(), value(), value()),
    ) {
        let print = |(name, value, identity, body): &(Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>)| {
            let mut headers = HeaderMap::new();
            let name = HeaderName::from_bytes(name).ok().filter(|name| name.as_str().starts_with("x-any"));
            if let (Some(name), Ok(value)) = (name, HeaderValue::from_bytes(value)) {
                headers.insert(name, value);
            }
            let uri = http::Uri::from_static("https://a.example/");
            let parts = FingerprintParts {
                method: &http::Method::POST, uri: &uri, headers: &headers, ignore: &[], identity, body,
            };
            (Fingerprint::of(parts), headers)
        };
        let ((print_one, headers_one), (print_other, headers_other)) = (print(&one), print(&other));
        let same = (&one.2, &one.3, headers_one) == (&other.2, &other.3, headers_other);
        prop_assert_eq!(print_one == print_other, same);
    }
}
