//! Amounts: from "¥1,000" to a number of minor units and a currency, or to as much of that as the text says.

use serde_json::Value;

use super::currency::named;
use super::text::plain_at;
use crate::event::{Amount, Money};

/// The region that an answer was asked for, which is what a bare `$` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Region {
    /// Our own requests: all of them pin it.
    #[default]
    UnitedStates,
    /// A capture of somebody else's.
    Unknown,
}

/// Reads the amount in a text object.
pub(super) fn amount_at(value: &Value, path: &str, region: Region) -> Option<Amount> {
    plain_at(value, path).map(|text| read_amount(&text, region))
}

/// Reads an amount as it is shown. The currency's symbol or code stands before or after the number; separators are
/// those of any language. Nothing is guessed: a currency that is not known is left out, and so is a number that could
/// be two.
#[must_use]
pub fn read_amount(text: &str, region: Region) -> Amount {
    let (number, money) = parse(&plain(text), region);
    Amount { text: text.to_owned(), number, money }
}

fn parse(plain: &str, region: Region) -> (Option<String>, Option<Money>) {
    let Some((before, digits, after)) = split(plain) else { return (None, None) };
    let currency = match (before.trim(), after.trim()) {
        (symbol, "") | ("", symbol) => named(symbol, region),
        // "US$ 5.00 USD": what both say.
        (first, second) => match (named(first, region), named(second, region)) {
            (Some(first), Some(second)) => (first == second).then_some(first),
            (one, None) | (None, one) => one,
        },
    };
    let minor_digits = currency.and_then(|currency| u8::try_from(currency.exponent()?).ok());
    let Some((whole, fraction)) = decimal(digits, minor_digits) else { return (None, None) };
    let money = currency.zip(minor_digits).and_then(|(currency, minor_digits)| {
        let minor = minor_units(&whole, fraction, minor_digits)?;
        Some(Money { currency: currency.code().to_owned(), minor, minor_digits })
    });
    let number = if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") };
    (Some(number), money)
}

/// The text with plain spaces, ASCII digits and separators, and without direction marks, which stand around amounts in
/// right-to-left languages.
fn plain(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
            '\u{a0}' | '\u{202f}' | '\u{2009}' | '\u{3000}' => Some(' '),
            '，' => Some(','),
            '．' => Some('.'),
            '’' | '٬' => Some('\''),
            '٠'..='٩' => ascii_digit(c, '٠'),
            '۰'..='۹' => ascii_digit(c, '۰'),
            '०'..='९' => ascii_digit(c, '०'),
            '০'..='৯' => ascii_digit(c, '০'),
            '０'..='９' => ascii_digit(c, '０'),
            c => Some(c),
        })
        .collect()
}

fn ascii_digit(c: char, zero: char) -> Option<char> {
    char::from_digit(u32::from(c) - u32::from(zero), 10)
}

/// What is before the number, the number with its separators, and what is after. A negative one is none.
fn split(plain: &str) -> Option<(&str, &str, &str)> {
    let start = plain.find(|c: char| c.is_ascii_digit())?;
    let end = plain.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (before, digits, after) = (&plain[..start], &plain[start..end], &plain[end..]);
    let is_number = digits.chars().all(|c| c.is_ascii_digit() || SEPARATORS.contains(&c));
    (is_number && !before.contains(['-', '−', '(']) && digits.len() <= MAX_DIGITS).then_some((before, digits, after))
}

/// Digits before and after the decimal point.
///
/// With two kinds of separators the last is the decimal point. With one it is the decimal point if it stands once and
/// not before exactly three digits; a currency of three minor digits takes a dot even then.
fn decimal(digits: &str, minor_digits: Option<u8>) -> Option<(String, &str)> {
    let marks: Vec<(usize, char)> = digits.char_indices().filter(|(_, c)| SEPARATORS.contains(c)).collect();
    let Some(&(at, last)) = marks.last() else { return Some((whole(&[digits])?, "")) };
    let count = marks.iter().filter(|(_, mark)| *mark == last).count();
    let mixed = count < marks.len();
    let (head, tail) = (&digits[..at], &digits[at + last.len_utf8()..]);
    let may_be_point = matches!(last, '.' | ',' | '٫') && count == 1;
    let is_point = may_be_point
        && (mixed || tail.len() != 3 || last == '٫' || head == "0" || (last == '.' && minor_digits == Some(3)));
    if is_point { Some((grouped(head)?, tail)) } else { Some((grouped(digits)?, "")) }
}

/// Joins groups of digits. Behind the first they have three digits, or two before the last three (India); anything else
/// is no number that somebody wrote in groups.
fn grouped(digits: &str) -> Option<String> {
    let groups: Vec<&str> = digits.split(SEPARATORS).collect();
    let marks: Vec<char> = digits.chars().filter(|c| SEPARATORS.contains(c)).collect();
    let (first, rest) = groups.split_first()?;
    let same_mark = marks.windows(2).all(|pair| pair[0] == pair[1]);
    let shaped = match rest.split_last() {
        None => true,
        Some((last, middle)) => {
            let by = |length: usize| middle.iter().all(|group| group.len() == length);
            (1..=3).contains(&first.len()) && last.len() == 3 && (by(3) || by(2))
        }
    };
    if same_mark && shaped { whole(&groups) } else { None }
}

fn whole(groups: &[&str]) -> Option<String> {
    let digits = groups.concat();
    let trimmed = digits.trim_start_matches('0');
    (!digits.is_empty()).then(|| if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() })
}

/// The number of minor units; `None` where the text has more digits than the currency, or is too large.
fn minor_units(whole: &str, fraction: &str, minor_digits: u8) -> Option<i64> {
    let minor_digits = usize::from(minor_digits);
    let (kept, rest) = fraction.split_at_checked(minor_digits).unwrap_or((fraction, ""));
    if rest.bytes().any(|digit| digit != b'0') {
        return None;
    }
    format!("{whole}{kept:0<minor_digits$}").parse().ok()
}

/// Decimal points and what groups digits.
const SEPARATORS: [char; 5] = ['.', ',', '\'', ' ', '٫'];
/// A longer number is not what somebody paid.
const MAX_DIGITS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let Amount { number, money, .. } = read_amount(text, Region::UnitedStates);
        let number = number.as_deref().unwrap_or("-");
        match money {
            Some(Money { currency, minor, minor_digits }) => format!("{number} {currency} {minor}/{minor_digits}"),
            None => number.to_owned(),
        }
    }

    #[test]
    fn c7_amounts_of_captures_and_reports_become_minor_units() {
        for (text, expected) in [
            ("¥500", "500 JPY 500/0"),
            ("￥1,000", "1000 JPY 1000/0"),
            ("￥10,800", "10800 JPY 10800/0"),
            ("¥5,630", "5630 JPY 5630/0"),
            ("NT$14.00", "14.00 TWD 1400/2"),
            ("$9.99", "9.99 USD 999/2"),
            ("$1,000.00", "1000.00 USD 100000/2"),
            ("€2", "2 EUR 200/2"),
            ("€5.00", "5.00 EUR 500/2"),
            ("CZK\u{a0}20.00", "20.00 CZK 2000/2"),
            ("CA$20.00", "20.00 CAD 2000/2"),
            ("PLN 50.00", "50.00 PLN 5000/2"),
            ("R$100,00", "100.00 BRL 10000/2"),
            ("£10.00", "10.00 GBP 1000/2"),
            ("SEK 50.00", "50.00 SEK 5000/2"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn c7_amounts_of_other_languages_mean_the_same() {
        for (text, expected) in [
            ("5,00\u{a0}€", "5.00 EUR 500/2"),
            ("1.234,56 €", "1234.56 EUR 123456/2"),
            ("1\u{202f}234,50 €", "1234.50 EUR 123450/2"),
            ("1.000 €", "1000 EUR 100000/2"),
            ("CHF 1’000.50", "1000.50 CHF 100050/2"),
            ("50,00 zł", "50.00 PLN 5000/2"),
            ("₹1,00,000.00", "100000.00 INR 10000000/2"),
            ("₩10,000", "10000 KRW 10000/0"),
            ("10.000 ₫", "10000 VND 10000/0"),
            ("1000円", "1000 JPY 1000/0"),
            ("HUF 1,000", "1000 HUF 100000/2"),
            ("\u{200f}١٠٫٥٠\u{a0}ر.س.\u{200f}", "10.50 SAR 1050/2"),
            ("KWD 1.500", "1.500 KWD 1500/3"),
            ("KWD 1,500.000", "1500.000 KWD 1500000/3"),
            ("￥１，０００", "1000 JPY 1000/0"),
            ("¥500.00", "500.00 JPY 500/0"),
            ("$0.500", "0.500 USD 50/2"),
            ("US$5.00", "5.00 USD 500/2"),
            ("US$ 5.00 USD", "5.00 USD 500/2"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn c7_an_unknown_currency_is_never_guessed() {
        for (text, expected) in [
            ("[UNREGISTERD]10,800", "10800"),
            ("kr 50.00", "50.00"),
            ("Rs 50", "50"),
            ("50", "50"),
            ("XAU 5", "5"),
            ("$5.00 CAD", "5.00"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let elsewhere = read_amount("$5.00", Region::Unknown);
        assert_eq!((elsewhere.number.as_deref(), elsewhere.money), (Some("5.00"), None));
    }

    #[test]
    fn c7_what_is_no_amount_keeps_its_text() {
        for text in
            ["", "free", "-$5.00", "($5.00)", "$1,2,3", "$12,34.5.6", "5/10 €", "$1e5", "{{amountString}}", "¥5.5"]
        {
            let amount = read_amount(text, Region::UnitedStates);
            assert_eq!(amount.text, text);
            assert_eq!(amount.money, None, "{text}");
        }
        assert_eq!(read("€99999999999999999999.00"), "99999999999999999999.00", "too large for minor units");
        assert_eq!(read(&"9".repeat(40)), "-");
    }
}
