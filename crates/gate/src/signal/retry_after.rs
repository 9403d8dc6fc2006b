//! `Retry-After` in every form that is sent (G16), and its cousin in milliseconds (G15).

use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

use super::number::{Decimal, LONGEST};

/// How long a server asked to stay away: usable, whole seconds where it came as seconds, clamped.
///
/// There is no other way to make one than reading a response, so nobody downstream can hold a bad one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetryAfter(Duration);

impl RetryAfter {
    /// Reads the longest usable value of all `Retry-After` headers, of lists in them, and, where the upstream
    /// sends it, of `retry-after-ms`.
    ///
    /// `max` is the clamp (`max_cooldown`): what is over it holds exactly that long, never the fallback.
    /// Absent, malformed, zero, negative and past values are `None`: the caller falls back, never to no wait.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap, millis: bool, clock: ServerClock<'_>, max: Duration) -> Option<Self> {
        let seconds = headers.get_all(RETRY_AFTER).iter().filter_map(|value| parse(value.as_bytes(), clock.now()));
        let millis = millis.then(|| headers.get_all(&RETRY_AFTER_MS)).into_iter().flatten();
        let millis = millis.filter_map(|value| Decimal::parse(value.as_bytes())?.thousandth().seconds());
        seconds.chain(millis).max().map(|asked| Self(asked.min(max)))
    }

    /// A time that came another way (a reset, a body), clamped in the same manner.
    #[must_use]
    pub fn clamped(asked: Duration, max: Duration) -> Option<Self> {
        (!asked.is_zero()).then(|| Self(asked.min(max)))
    }

    /// The time.
    #[must_use]
    pub fn get(self) -> Duration {
        self.0
    }
}

/// The server's own idea of now: its `Date` header, so that a skewed clock here judges no date (G16).
///
/// Most responses name no time at all, so the header is read when one is asked about.
#[derive(Clone, Copy, Debug)]
pub struct ServerClock<'a> {
    /// The response's headers.
    pub headers: &'a HeaderMap,
    /// The wall clock here, for a response without a usable `Date`.
    pub wall: SystemTime,
}

impl ServerClock<'_> {
    /// When the response was sent.
    #[must_use]
    pub fn now(self) -> SystemTime {
        self.headers.get(DATE).and_then(|value| parse_date(value.as_bytes())).unwrap_or(self.wall)
    }
}

/// Reads one field value: delta-seconds, a date in one of the three historic forms, or a list of them.
///
/// Fractions of a second are rounded up: 299.997 is 300 s. Answers the longest usable member, unclamped.
#[must_use]
pub fn parse(value: &[u8], server_now: SystemTime) -> Option<Duration> {
    if value.len() > VALUE_MAX && !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let members = value.split(|&byte| byte == b',');
    let mut longest = None;
    let mut weekday: Option<&[u8]> = None;
    for member in members {
        // The comma after a date's weekday is part of the date.
        let dated = weekday.take().and_then(|day| parse_date(&[day, b"," as &[u8], member].concat()));
        let asked = match dated {
            Some(date) => date.duration_since(server_now).ok(),
            None => parse_member(member, server_now),
        };
        longest = longest.max(asked.and_then(whole_seconds));
        weekday = Some(member);
    }
    longest
}

fn parse_member(member: &[u8], server_now: SystemTime) -> Option<Duration> {
    match Decimal::parse(member) {
        Some(seconds) => seconds.seconds(),
        None => parse_date(member)?.duration_since(server_now).ok(),
    }
}

pub(super) fn parse_date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?.trim()).ok()
}

/// Rounded up to whole seconds; nothing is none.
fn whole_seconds(asked: Duration) -> Option<Duration> {
    let up = asked.as_secs() + u64::from(asked.subsec_nanos() > 0);
    (up > 0).then(|| Duration::from_secs(up).min(LONGEST))
}

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");
/// A list longer than this is nobody's honest answer; a number may have as many digits as it likes.
const VALUE_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use http::HeaderValue;

    use super::*;

    /// Sunday, 6 November 1994, 08:49:37 GMT.
    const THEN: u64 = 784_111_777;

    fn asked(values: &[&str], server_now_s: u64) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(RETRY_AFTER, HeaderValue::from_str(value).unwrap());
        }
        let clock = ServerClock { headers: &headers, wall: UNIX_EPOCH + Duration::from_secs(server_now_s) };
        let max = Duration::from_secs(300);
        RetryAfter::from_headers(&headers, true, clock, max).map(|retry| retry.get().as_secs())
    }

    #[test]
    fn g16_delta_seconds() {
        assert_eq!(asked(&["42"], THEN), Some(42));
        assert_eq!(asked(&[" 42 "], THEN), Some(42));
        assert_eq!(asked(&["0.2"], THEN), Some(1));
    }

    #[test]
    fn g16_a_retry_after_of_299_997_is_300_s() {
        assert_eq!(asked(&["299.997"], THEN), Some(300));
    }

    #[test]
    fn g16_dates_in_all_three_historic_formats() {
        assert_eq!(asked(&["Sun, 06 Nov 1994 08:49:37 GMT"], THEN - 60), Some(60));
        assert_eq!(asked(&["Sunday, 06-Nov-94 08:49:37 GMT"], THEN - 60), Some(60));
        assert_eq!(asked(&["Sun Nov  6 08:49:37 1994"], THEN - 60), Some(60));
    }

    #[test]
    fn g16_absent_malformed_zero_negative_and_past_are_unusable() {
        for value in ["", "0", "0.0", "-3", "soon", "5 minutes", "1e3", "NaN", "Sun, 06 Nov 1994 08:49:37 CET"] {
            assert_eq!(asked(&[value], THEN - 60), None, "{value:?}");
        }
        assert_eq!(asked(&[], THEN), None);
        assert_eq!(asked(&["Sun, 06 Nov 1994 08:49:37 GMT"], THEN), None);
        assert_eq!(asked(&["Sun, 06 Nov 1994 08:49:37 GMT"], THEN + 1), None);
    }

    #[test]
    fn g16_whatever_is_over_the_clamp_holds_the_clamp() {
        for value in ["301", "18446744073709551615", "99999999999999999999", "4102444800"] {
            assert_eq!(asked(&[value], THEN), Some(300), "{value}");
        }
        assert_eq!(asked(&[&"9".repeat(5000)], THEN), Some(300));
        assert_eq!(asked(&["Sun, 06 Nov 1994 08:49:37 GMT"], THEN - 86_400), Some(300));
    }

    #[test]
    fn g16_of_two_headers_or_a_list_the_longer_usable_one() {
        assert_eq!(asked(&["98", "191"], THEN), Some(191));
        assert_eq!(asked(&["191", "98"], THEN), Some(191));
        assert_eq!(asked(&["98, 191"], THEN), Some(191));
        assert_eq!(asked(&["991, 98"], THEN), Some(300));
        assert_eq!(asked(&["soon", "7"], THEN), Some(7));
        assert_eq!(asked(&["-3, 7, soon"], THEN), Some(7));
        assert_eq!(asked(&["7, Sun, 06 Nov 1994 08:49:37 GMT"], THEN - 60), Some(60));
        assert_eq!(asked(&["Sun, 06 Nov 1994 08:49:37 GMT, 90"], THEN - 60), Some(90));
        assert_eq!(asked(&["Sunday, 06-Nov-94 08:49:37 GMT, Sun Nov  6 08:49:47 1994"], THEN - 60), Some(70));
    }

    #[test]
    fn g15_retry_after_ms_is_read_where_it_is_sent() {
        let mut headers = HeaderMap::new();
        headers.append("retry-after-ms", HeaderValue::from_static("1500"));
        let read = |headers: &HeaderMap, millis| {
            let clock = ServerClock { headers, wall: UNIX_EPOCH };
            RetryAfter::from_headers(headers, millis, clock, Duration::from_secs(300)).map(RetryAfter::get)
        };
        assert_eq!(read(&headers, true), Some(Duration::from_millis(1500)));
        assert_eq!(read(&headers, false), None);
        headers.append("retry-after", HeaderValue::from_static("1"));
        assert_eq!(read(&headers, true), Some(Duration::from_millis(1500)));
        headers.append("retry-after", HeaderValue::from_static("2"));
        assert_eq!(read(&headers, true), Some(Duration::from_secs(2)));
    }

    #[test]
    fn g16_a_date_is_judged_by_the_responses_own_clock() {
        let mut headers = HeaderMap::new();
        let wall = UNIX_EPOCH + Duration::from_secs(THEN + 7200);
        let now = |headers: &HeaderMap| ServerClock { headers, wall }.now();
        assert_eq!(now(&headers), wall);
        headers.insert(DATE, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(now(&headers), UNIX_EPOCH + Duration::from_secs(THEN));
        headers.insert(DATE, HeaderValue::from_static("today"));
        assert_eq!(now(&headers), wall);
    }
}
