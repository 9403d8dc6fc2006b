//! G13–G15: every header family in the forms that services send, in one table.

mod common;

use std::time::{Duration, SystemTime};

use common::{WALL_S, headers, ms, secs};
use tidegate_gate::signal::rate_headers::{Families, HeaderFamily, Rate, Rates, parse_reset, read};
use tidegate_gate::signal::retry_after::ServerClock;

use HeaderFamily::{Discord, Ietf, OpenAi, Shopify, XRateLimit};

/// What a response sends, and what it says: limit, remaining, and in how many milliseconds it is whole again.
struct Row {
    name: &'static str,
    family: HeaderFamily,
    sent: &'static [(&'static str, &'static str)],
    tightest: (Option<u64>, Option<u64>, Option<u64>),
    /// The reset that a throttle would wait for.
    reset_ms: Option<u64>,
}

/// The wall clock of the table is 1,700,000,000 s.
const TABLE: &[Row] = &[
    Row {
        name: "stream: epoch seconds",
        family: XRateLimit,
        sent: &[("x-ratelimit-limit", "10000"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700000042")],
        tightest: (Some(10_000), Some(0), Some(42_000)),
        reset_ms: Some(42_000),
    },
    Row {
        name: "github: the same, something left, so nothing to wait for",
        family: XRateLimit,
        sent: &[
            ("x-ratelimit-limit", "5000"),
            ("x-ratelimit-remaining", "4999"),
            ("x-ratelimit-reset", "1700003600"),
            ("x-ratelimit-used", "1"),
            ("x-ratelimit-resource", "core"),
        ],
        tightest: (Some(5000), Some(4999), Some(3_600_000)),
        reset_ms: None,
    },
    Row {
        name: "epoch milliseconds",
        family: XRateLimit,
        sent: &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700000042500")],
        tightest: (None, Some(0), Some(42_500)),
        reset_ms: Some(42_500),
    },
    Row {
        name: "a delta in seconds",
        family: XRateLimit,
        sent: &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "42")],
        tightest: (None, Some(0), Some(42_000)),
        reset_ms: Some(42_000),
    },
    Row {
        name: "twitter's spelling",
        family: XRateLimit,
        sent: &[("x-rate-limit-limit", "900"), ("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "1700000900")],
        tightest: (Some(900), Some(0), Some(900_000)),
        reset_ms: Some(900_000),
    },
    Row {
        name: "a limit with its windows behind it",
        family: XRateLimit,
        sent: &[("x-ratelimit-limit", "100, 100;window=60"), ("x-ratelimit-remaining", "4")],
        tightest: (Some(100), Some(4), None),
        reset_ms: None,
    },
    Row {
        name: "below zero is nothing left",
        family: XRateLimit,
        sent: &[("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "-3"), ("x-ratelimit-reset", "1.5")],
        tightest: (Some(100), Some(0), Some(1500)),
        reset_ms: Some(1500),
    },
    Row {
        name: "a past epoch, zero and words are no time",
        family: XRateLimit,
        sent: &[
            ("x-ratelimit-limit", "100"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1699999999"),
            ("x-rate-limit-reset", "soon"),
        ],
        tightest: (Some(100), Some(0), None),
        reset_ms: None,
    },
    Row {
        name: "ietf, three fields of drafts 0 to 6",
        family: Ietf,
        sent: &[("ratelimit-limit", "100, 100;w=60"), ("ratelimit-remaining", "0"), ("ratelimit-reset", "30")],
        tightest: (Some(100), Some(0), Some(30_000)),
        reset_ms: Some(30_000),
    },
    Row {
        name: "ietf, one dictionary of draft 7",
        family: Ietf,
        sent: &[("ratelimit", "limit=100, remaining=0, reset=30"), ("ratelimit-policy", "100;w=60")],
        tightest: (Some(100), Some(0), Some(30_000)),
        reset_ms: Some(30_000),
    },
    Row {
        name: "ietf, a list of draft 8 and later",
        family: Ietf,
        sent: &[("ratelimit", r#""default";r=5;t=30"#), ("ratelimit-policy", r#""default";q=100;w=60"#)],
        tightest: (Some(100), Some(5), Some(30_000)),
        reset_ms: None,
    },
    Row {
        name: "ietf, two policies in two lines, the tighter one counts",
        family: Ietf,
        sent: &[
            ("ratelimit", r#""burst";r=90;t=1"#),
            ("ratelimit", r#""daily";r=0;t=3600"#),
            ("ratelimit-policy", r#""burst";q=100;w=1, "daily";q=1000;w=86400;pk=:YWJj:"#),
        ],
        tightest: (Some(1000), Some(0), Some(3_600_000)),
        reset_ms: Some(3_600_000),
    },
    Row {
        name: "ietf, no policy, no structured field",
        family: Ietf,
        sent: &[("ratelimit", r#""default";r=0;t=7"#), ("ratelimit-policy", "((")],
        tightest: (None, Some(0), Some(7000)),
        reset_ms: Some(7000),
    },
    Row {
        name: "openai: requests and tokens, minutes",
        family: OpenAi,
        sent: &[
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ],
        tightest: (Some(150_000), Some(0), Some(360_000)),
        reset_ms: Some(360_000),
    },
    Row {
        name: "openai: milliseconds",
        family: OpenAi,
        sent: &[
            ("x-ratelimit-limit-requests", "10000"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "20ms"),
        ],
        tightest: (Some(10_000), Some(0), Some(20)),
        reset_ms: Some(20),
    },
    Row {
        name: "discord: the delta wins over the epoch beside it",
        family: Discord,
        sent: &[
            ("x-ratelimit-limit", "5"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1700000099.123"),
            ("x-ratelimit-reset-after", "64.57"),
            ("x-ratelimit-bucket", "abcd1234"),
        ],
        tightest: (Some(5), Some(0), Some(64_570)),
        reset_ms: Some(64_570),
    },
    Row {
        name: "discord: without the delta, a fractional epoch",
        family: Discord,
        sent: &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700000001.250")],
        tightest: (None, Some(0), Some(1250)),
        reset_ms: Some(1250),
    },
    Row {
        name: "shopify: used of limit",
        family: Shopify,
        sent: &[("x-shopify-shop-api-call-limit", "32/40")],
        tightest: (Some(40), Some(8), None),
        reset_ms: None,
    },
    Row {
        name: "shopify: over the limit, and no fraction at all",
        family: Shopify,
        sent: &[("x-shopify-shop-api-call-limit", "44/40")],
        tightest: (Some(40), Some(0), None),
        reset_ms: None,
    },
];

fn read_row(row: &Row, families: &[HeaderFamily]) -> Rates {
    let headers = headers(row.sent);
    read(&headers, families.iter().copied().collect(), ServerClock { headers: &headers, wall: wall() })
}

fn wall() -> SystemTime {
    SystemTime::UNIX_EPOCH + secs(WALL_S)
}

#[test]
fn g15_every_family_is_read_in_its_real_forms() {
    for row in TABLE {
        let (limit, remaining, reset) = row.tightest;
        let expected =
            Rates { tightest: Some(Rate { limit, remaining, reset: reset.map(ms) }), reset: row.reset_ms.map(ms) };
        assert_eq!(read_row(row, &[row.family]), expected, "{}", row.name);
    }
}

#[test]
fn g19_a_family_that_an_upstream_does_not_send_is_not_read() {
    for row in TABLE {
        assert_eq!(read_row(row, &[]), Rates::default(), "{}", row.name);
        let other = if row.family == Shopify { OpenAi } else { Shopify };
        assert_eq!(read_row(row, &[other]), Rates::default(), "{}", row.name);
    }
}

#[test]
fn g15_an_epoch_is_not_read_as_a_delta_nor_a_delta_as_an_epoch() {
    let reset = |text: &str| parse_reset(text.as_bytes(), wall());
    assert_eq!(reset("1"), Some(secs(1)));
    assert_eq!(reset("999999999"), Some(Duration::from_secs(365 * 86_400)), "a delta, at most a year");
    assert_eq!(reset("1000000000"), None, "an epoch of 2001");
    assert_eq!(reset("1700000000"), None, "this very second");
    assert_eq!(reset("1700000001"), Some(secs(1)));
    assert_eq!(reset("1700000000001"), Some(ms(1)));
    assert_eq!(reset("1700000000000001"), Some(Duration::from_micros(1)));
    assert_eq!(reset("99999999999"), Some(secs(99_999_999_999 - WALL_S)));
    assert_eq!(reset("Tue, 14 Nov 2023 22:14:20 GMT"), Some(secs(60)));
    assert_eq!(reset("18446744073709551615"), Some(secs(18_446_744_073_709 - WALL_S) + Duration::from_micros(551_615)));
    for junk in ["", "0", "-1", "1e9", "soon", "Tue, 14 Nov 2023 22:13:20 GMT", "0s"] {
        assert_eq!(reset(junk), None, "{junk:?}");
    }
    let _ = reset(&"9".repeat(5000));
}

#[test]
fn g15_an_epoch_is_judged_by_the_responses_own_clock() {
    use tidegate_gate::signal::{Head, HeadSigns};
    let sent = headers(&[
        ("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1700000042"),
    ]);
    for skew in [0, 7200] {
        let head = Head { status: http::StatusCode::TOO_MANY_REQUESTS, headers: &sent, wall: wall() + secs(skew) };
        let signs = HeadSigns::read(head, Families::from_iter([XRateLimit]), secs(300));
        assert_eq!(signs.server_delay(secs(300)).unwrap().get(), secs(42));
    }
}

#[test]
fn g21_what_the_server_asks_for_wins_over_its_reset() {
    use tidegate_gate::signal::{Head, HeadSigns};
    let sent = headers(&[("retry-after", "7"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "42")]);
    let head = Head { status: http::StatusCode::TOO_MANY_REQUESTS, headers: &sent, wall: wall() };
    let signs = HeadSigns::read(head, Families::from_iter([XRateLimit]), secs(300));
    assert_eq!(signs.server_delay(secs(300)).unwrap().get(), secs(7));
}
