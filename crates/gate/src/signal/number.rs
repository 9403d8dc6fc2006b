//! Numbers and durations as header fields write them.

use std::time::Duration;

/// A decimal number, in millionths; huge ones saturate rather than fail (G16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(i128);

impl Decimal {
    /// Reads `12`, `-3`, `299.997`, with blanks around it. No exponent, no plus sign, no bare point.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let (negative, digits) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut parts = digits.splitn(2, |&byte| byte == b'.');
        let whole = parse_digits(parts.next()?)?;
        let fraction = parts.next().map_or(Some(0), parse_millionths)?;
        let value = whole.saturating_mul(MILLION).saturating_add(fraction);
        Some(Self(if negative { -value } else { value }))
    }

    /// A whole number.
    #[must_use]
    pub fn whole(value: i64) -> Self {
        Self(i128::from(value) * MILLION)
    }

    /// A number of thousandths.
    #[must_use]
    pub fn thousandths(value: i64) -> Self {
        Self(i128::from(value) * (MILLION / 1000))
    }

    /// The number in millionths.
    #[must_use]
    pub fn millionths(self) -> i128 {
        self.0
    }

    /// Divided by a thousand: milliseconds as seconds.
    #[must_use]
    pub fn thousandth(self) -> Self {
        Self(self.0 / 1000)
    }

    /// As a count: fractions are cut, anything below zero is zero.
    #[must_use]
    pub fn count(self) -> u64 {
        u64::try_from((self.0 / MILLION).max(0)).unwrap_or(u64::MAX)
    }

    /// As a time in seconds, if it is one: above zero. Longer than [`LONGEST`] is [`LONGEST`].
    #[must_use]
    pub fn seconds(self) -> Option<Duration> {
        let micros = u64::try_from(self.0.clamp(0, LONGEST_MICROS)).ok()?;
        (micros > 0).then(|| Duration::from_micros(micros))
    }
}

/// Reads a duration with units (`6m0s`, `1s`, `20ms`, `1h2m3.5s`), or plain seconds. Zero is none.
#[must_use]
pub fn parse_duration(text: &[u8]) -> Option<Duration> {
    let mut rest = text.trim_ascii();
    if let Some(seconds) = Decimal::parse(rest) {
        return seconds.seconds();
    }
    let mut micros: i128 = 0;
    while !rest.is_empty() {
        let number = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let letters = rest[number..].iter().take_while(|byte| !byte.is_ascii_digit()).count();
        let value = Decimal::parse(&rest[..number])?;
        let unit = unit_micros(&rest[number..number + letters])?;
        micros = micros.saturating_add(value.millionths().saturating_mul(unit) / MILLION);
        rest = &rest[number + letters..];
    }
    Decimal(micros).seconds()
}

fn unit_micros(unit: &[u8]) -> Option<i128> {
    match unit {
        b"d" => Some(86_400 * MILLION),
        b"h" => Some(3600 * MILLION),
        b"m" => Some(60 * MILLION),
        b"s" => Some(MILLION),
        b"ms" => Some(1000),
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => Some(1),
        b"ns" => Some(0),
        _ => None,
    }
}

/// At least one digit, nothing else.
fn parse_digits(digits: &[u8]) -> Option<i128> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0_i128, |sum, digit| (sum * 10 + i128::from(digit - b'0')).min(HUGE));
    Some(value)
}

/// The digits after the point, in millionths; what is smaller than one counts as one, so that nothing rounds down
/// to nothing.
fn parse_millionths(digits: &[u8]) -> Option<i128> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let shown = digits.iter().chain(std::iter::repeat(&b'0')).take(6);
    let value = shown.fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    let more = digits.iter().skip(6).any(|&digit| digit != b'0');
    Some(value + i128::from(more))
}

/// The longest time that is told apart from a longer one: a year. Every cooldown is clamped far below it.
pub const LONGEST: Duration = Duration::from_secs(365 * 86_400);
const LONGEST_MICROS: i128 = LONGEST.as_micros() as i128;
const MILLION: i128 = 1_000_000;
/// Where counting digits stops: above every 64-bit number, far from overflow.
const HUGE: i128 = 1 << 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g16_numbers_of_any_length_are_read_and_words_are_not() {
        let millionths = |text: &str| Decimal::parse(text.as_bytes()).map(Decimal::millionths);
        assert_eq!(millionths("42"), Some(42_000_000));
        assert_eq!(millionths(" 299.997 "), Some(299_997_000));
        assert_eq!(millionths("-3"), Some(-3_000_000));
        assert_eq!(millionths("0.0000001"), Some(1));
        assert_eq!(millionths("18446744073709551615"), Some(18_446_744_073_709_551_615_000_000));
        assert!(Decimal::parse("9".repeat(5000).as_bytes()) > Decimal::parse(b"18446744073709551615"));
        for junk in ["", "-", ".", "5.", ".5", "+5", "1e3", "0x10", "1 2", "soon", "٣", "--1", "1.2.3"] {
            assert_eq!(millionths(junk), None, "{junk:?}");
        }
    }

    #[test]
    fn g15_durations_with_units_are_read() {
        let ms = |text: &str| parse_duration(text.as_bytes()).map(|time| time.as_micros() as f64 / 1000.0);
        assert_eq!(ms("6m0s"), Some(360_000.0));
        assert_eq!(ms("1s"), Some(1000.0));
        assert_eq!(ms("20ms"), Some(20.0));
        assert_eq!(ms("1h2m3.5s"), Some(3_723_500.0));
        assert_eq!(ms("1d"), Some(86_400_000.0));
        assert_eq!(ms("12.5µs"), Some(0.012));
        assert_eq!(ms("59.5"), Some(59_500.0));
        for junk in ["", "0s", "0", "s", "1x", "1m-3s", "m1", "1s2", "-5s", "1..5s", "soon"] {
            assert_eq!(ms(junk), None, "{junk:?}");
        }
        assert_eq!(parse_duration("9".repeat(400).as_bytes()), Some(LONGEST));
        assert_eq!(parse_duration(format!("{}h", "9".repeat(400)).as_bytes()), Some(LONGEST));
    }
}
