//! Dates in all three historic HTTP forms, and `Retry-After` in every form that is sent (G16).

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clock::shifted;

/// One `Retry-After` header of a scripted answer. Dates are seconds from the stand-in's own `Date`; negative is past.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryAfter {
    /// `42`
    Seconds(u64),
    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    ImfDate(i64),
    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    Rfc850Date(i64),
    /// `Sun Nov  6 08:49:37 1994`
    AsctimeDate(i64),
    /// The other header, `retry-after-ms: 1500`.
    Millis(u64),
    /// Whatever is written: `299.997`, `-3`, `991, 98`, `soon`.
    Raw(String),
}

impl RetryAfter {
    /// Name and value of the header.
    pub(crate) fn header(&self, wall: SystemTime) -> (&'static str, String) {
        let date = |form, in_s: &i64| ("retry-after", format_date(form, shifted(wall, *in_s)));
        match self {
            Self::Seconds(seconds) => ("retry-after", seconds.to_string()),
            Self::ImfDate(in_s) => date(IMF, in_s),
            Self::Rfc850Date(in_s) => date(RFC850, in_s),
            Self::AsctimeDate(in_s) => date(ASCTIME, in_s),
            Self::Millis(millis) => ("retry-after-ms", millis.to_string()),
            Self::Raw(text) => ("retry-after", text.clone()),
        }
    }
}

/// The form in which a throttle or a limit tells the time that is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryForm {
    /// Whole seconds, rounded up.
    #[default]
    Seconds,
    /// Seconds with a fraction, as Shopify sends them: `2.0`.
    Fraction,
    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    ImfDate,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    Rfc850Date,
    /// `Sun Nov  6 08:49:37 1994`
    AsctimeDate,
    /// `retry-after-ms`
    Millis,
    /// No header at all.
    None,
}

impl RetryForm {
    /// The header for this much time, if the form has one.
    pub(crate) fn of(self, left: Duration) -> Option<RetryAfter> {
        let seconds = whole_seconds(left);
        let date_s = i64::try_from(seconds).unwrap_or(i64::MAX);
        match self {
            Self::Seconds => Some(RetryAfter::Seconds(seconds)),
            Self::Fraction => Some(RetryAfter::Raw(format!("{:.1}", left.as_secs_f64()))),
            Self::ImfDate => Some(RetryAfter::ImfDate(date_s)),
            Self::Rfc850Date => Some(RetryAfter::Rfc850Date(date_s)),
            Self::AsctimeDate => Some(RetryAfter::AsctimeDate(date_s)),
            Self::Millis => Some(RetryAfter::Millis(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))),
            Self::None => None,
        }
    }
}

/// Rounded up, so that nobody is told to come back too early.
pub(crate) fn whole_seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

/// The `Date` header's form.
pub(crate) fn imf_date(time: SystemTime) -> String {
    format_date(IMF, time)
}

fn format_date(form: &str, time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime(form).to_string()
}

const IMF: &str = "%a, %d %b %Y %H:%M:%S GMT";
const RFC850: &str = "%A, %d-%b-%y %H:%M:%S GMT";
const ASCTIME: &str = "%a %b %e %H:%M:%S %Y";

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn g16_each_form_is_the_one_of_the_standard() {
        let then = UNIX_EPOCH + Duration::from_secs(784_111_777 - 60);
        let value = |retry: RetryAfter| retry.header(then);
        assert_eq!(value(RetryAfter::Seconds(42)), ("retry-after", "42".to_owned()));
        assert_eq!(value(RetryAfter::ImfDate(60)), ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT".to_owned()));
        assert_eq!(value(RetryAfter::Rfc850Date(60)), ("retry-after", "Sunday, 06-Nov-94 08:49:37 GMT".to_owned()));
        assert_eq!(value(RetryAfter::AsctimeDate(60)), ("retry-after", "Sun Nov  6 08:49:37 1994".to_owned()));
        assert_eq!(value(RetryAfter::ImfDate(-60)).1, "Sun, 06 Nov 1994 08:47:37 GMT");
        assert_eq!(value(RetryAfter::Millis(1500)), ("retry-after-ms", "1500".to_owned()));
        assert_eq!(value(RetryAfter::Raw("991, 98".to_owned())).1, "991, 98");
    }

    #[test]
    fn g16_what_is_left_is_never_told_too_short() {
        let left = Duration::from_millis(1001);
        assert_eq!(RetryForm::Seconds.of(left), Some(RetryAfter::Seconds(2)));
        assert_eq!(RetryForm::ImfDate.of(left), Some(RetryAfter::ImfDate(2)));
        assert_eq!(RetryForm::Millis.of(left), Some(RetryAfter::Millis(1001)));
        assert_eq!(RetryForm::Fraction.of(Duration::from_secs(2)), Some(RetryAfter::Raw("2.0".to_owned())));
        assert_eq!(RetryForm::None.of(left), None);
    }
}
