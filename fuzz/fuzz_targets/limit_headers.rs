//! What an upstream's response says of its limits, in every header family. No answer makes the gate wait over its bound.
#![no_main]

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use libfuzzer_sys::fuzz_target;
use tidegate_gate::signal::number::{Decimal, parse_duration};
use tidegate_gate::signal::rate_headers::{self, Families, HeaderFamily};
use tidegate_gate::signal::retry_after::{self, ServerClock};
use tidegate_gate::signal::{Head, HeadSigns, budget_headers, ietf};

fuzz_target!(|lines: &[u8]| {
    let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let mut headers = HeaderMap::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let _ = retry_after::parse(line, wall);
        let _ = rate_headers::parse_reset(line, wall);
        let _ = rate_headers::parse_count(line);
        let _ = rate_headers::parse_used_of_limit(line);
        let _ = (Decimal::parse(line), parse_duration(line));
        let _ = ietf::parse(line, b"\"default\";q=100;w=60");
        let _ = ietf::parse(b"\"default\";r=0;t=10", line);
        // The first byte chooses the header.
        let Some((name, value)) = line.split_first() else { continue };
        let Ok(value) = HeaderValue::from_bytes(value) else { continue };
        headers.append(HeaderName::from_static(NAMES[usize::from(*name) % NAMES.len()]), value);
    }
    let families: Families = FAMILIES.into_iter().collect();
    let _ = rate_headers::read(&headers, families, ServerClock { headers: &headers, wall });
    let _ = budget_headers::read(&headers);
    for status in [StatusCode::OK, StatusCode::TOO_MANY_REQUESTS, StatusCode::FOUND] {
        let signs = HeadSigns::read(Head { status, headers: &headers, wall }, families, MAX);
        assert!(signs.server_delay(MAX).is_none_or(|delay| delay.get() <= MAX));
    }
});

const MAX: Duration = Duration::from_secs(3_600);

const FAMILIES: [HeaderFamily; 7] = [
    HeaderFamily::XRateLimit,
    HeaderFamily::Ietf,
    HeaderFamily::RetryAfterMs,
    HeaderFamily::OpenAi,
    HeaderFamily::Discord,
    HeaderFamily::Shopify,
    HeaderFamily::XBudget,
];

const NAMES: [&str; 28] = [
    "retry-after",
    "retry-after-ms",
    "date",
    "location",
    "content-type",
    "ratelimit",
    "ratelimit-policy",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-reset-after",
    "x-ratelimit-bucket",
    "x-ratelimit-scope",
    "x-ratelimit-global",
    "x-rate-limit-limit",
    "x-rate-limit-remaining",
    "x-rate-limit-reset",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-shopify-shop-api-call-limit",
    "x-budget-used-ms",
    "x-budget-limit-ms",
    "x-budget-remaining-ms",
];
