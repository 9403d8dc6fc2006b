//! What a load run does, read from its flags.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::load::client::Target;

/// `tidegate load`: viewers that behave as pages do, and a check of what they were promised.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Plan {
    /// The server's control address, such as http://127.0.0.1:8080
    #[arg(long, value_name = "URL")]
    pub(crate) server: Target,

    /// The stream's id
    #[arg(long, value_name = "ID")]
    pub(crate) stream: String,

    /// How many viewers there are at any time
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    pub(crate) viewers: u32,

    /// How long to run
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) seconds: u32,

    /// Viewers come evenly over this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(crate) arrive: Duration,

    /// Share of viewers that leave per time; each is replaced by a new one
    #[arg(long, value_name = "SHARE/TIME", default_value = "10%/10s")]
    pub(crate) churn: Rate,

    /// Share of viewers that go silent without a word per time; each is replaced by a new one
    #[arg(long, value_name = "SHARE/TIME", default_value = "1%/10s")]
    pub(crate) crash: Rate,

    /// Share of viewers that come with a hidden tab, whose timers are slow, and turn to it now and then
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    pub(crate) hidden: Share,

    /// Share of offers that are let lapse
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    pub(crate) lapse: Share,

    /// Take an offer in the ask that finds it, without a click
    #[arg(long)]
    pub(crate) auto_join: bool,

    /// Repeats who does what and when (not the server's timing)
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The stream's viewer_cap, to judge by; asked of the server when there is a key
    #[arg(long, value_name = "N")]
    pub(crate) cap: Option<u32>,

    /// A secret key of the stream's tenant, to read its stats once a second
    #[arg(long, value_name = "KEY", env = "TIDEGATE_KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Give each viewer an address of its own (127.x.y.z), so that limits per address see different people
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Spread::Auto)]
    pub(crate) spread_addresses: Spread,

    /// Append one JSON line per answer to this file, unbuffered, to compare after a crash of the server.
    /// It holds full seat ids
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
}

/// When viewers get addresses of their own.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// When the server is on a loopback address
    Auto,
    On,
    Off,
}

/// A part of all, 0 to 1, written `10%` or `0.1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, scale) = match text.strip_suffix('%') {
            Some(number) => (number, 100.0),
            None => (text, 1.0),
        };
        let share = number.parse::<f64>().map_err(|_| "write a share such as 10% or 0.1".to_owned())? / scale;
        if (0.0..=1.0).contains(&share) { Ok(Self(share)) } else { Err("a share lies between 0% and 100%".to_owned()) }
    }
}

/// A part of all per time, written `10%/10s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// The mean number of times per second that it happens to one viewer.
    pub(crate) per_second: f64,
}

impl Rate {
    /// Draws how long one viewer stays spared; `None` if for ever. `uniform` lies in (0, 1].
    pub(crate) fn spared(self, uniform: f64) -> Option<Duration> {
        let seconds = -uniform.ln() / self.per_second;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (share, every) = text.split_once('/').ok_or("write a share per time such as 10%/10s")?;
        let (share, every) = (share.parse::<Share>()?, time(every)?);
        if every.is_zero() {
            return Err("the time must not be zero".to_owned());
        }
        Ok(Self { per_second: share.0 / every.as_secs_f64() })
    }
}

/// Reads `500ms`, `10s`, `2m` or a bare number of seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "write a time such as 500ms, 10s or 2m".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        _ => return Err(wrong()),
    };
    let number = digits.parse::<f64>().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        let read = |text| time(text).unwrap();
        assert_eq!(read("500ms"), Duration::from_millis(500));
        assert_eq!(read("10s"), Duration::from_secs(10));
        assert_eq!(read("2m"), Duration::from_secs(120));
        assert_eq!(read("7"), Duration::from_secs(7));
        for wrong in ["", "s", "-1s", "1h", "1s2", "infs", "é"] {
            assert!(time(wrong).is_err(), "{wrong:?} was read");
        }
    }

    #[test]
    fn shares_lie_between_none_and_all() {
        assert_eq!("10%".parse(), Ok(Share(0.1)));
        assert_eq!("0.25".parse(), Ok(Share(0.25)));
        for wrong in ["101%", "-1%", "10", "NaN", "%"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong:?} was read");
        }
    }

    #[test]
    fn a_rate_is_a_share_per_time() {
        let rate = "10%/10s".parse::<Rate>().unwrap();
        assert!((rate.per_second - 0.01).abs() < 1e-12);
        assert!("10%".parse::<Rate>().is_err());
        assert!("10%/0s".parse::<Rate>().is_err());
    }

    #[test]
    fn nobody_leaves_at_a_rate_of_nothing() {
        let never = "0%/10s".parse::<Rate>().unwrap();
        assert_eq!(never.spared(0.5), None);
        // The mean of an exponential is 1/rate, and its median ln 2/rate.
        let rate = "100%/10s".parse::<Rate>().unwrap();
        assert_eq!(rate.spared(0.5).unwrap().as_millis(), 6931);
    }
}
