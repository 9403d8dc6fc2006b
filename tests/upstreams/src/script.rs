//! What an instance does, as data: set in Rust, or as JSON with `POST /_script`.

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::budget::Budget;
use crate::limit::Limit;
use crate::route::{Route, RouteError};
use crate::throttle::Throttle;

/// A whole script. A call meets the throttle, then its operation's limit and budget, then the rules; what no rule
/// wants gets `otherwise`. The default echoes everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Whose call it is, for the log and for limits of each key.
    pub key: KeyFrom,
    /// Headers that the log keeps beyond the usual ones.
    pub log_headers: Vec<String>,
    /// How wrong this server's clock is: all its dates are off by so many seconds.
    pub date_skew_s: i64,
    /// Sends no `Date`.
    pub no_date: bool,
    /// Time before the head of each answer that is not a throttle, a limit's or a budget's.
    pub latency_ms: u64,
    /// Throttling by address.
    pub throttle: Option<Throttle>,
    /// Limits and budgets; the first whose route matches counts.
    pub operations: Vec<Operation>,
    /// The answers; the first rule that matches gives one.
    pub rules: Vec<Rule>,
    /// Answers what no rule wants.
    pub otherwise: Answer,
}

/// Where the key of a call is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyFrom {
    /// In this header.
    Header(String),
    /// In this query parameter.
    Query(String),
    /// In this segment of the path, counted from 0.
    Segment(usize),
}

impl Default for KeyFrom {
    fn default() -> Self {
        Self::Header("x-key".to_owned())
    }
}

/// What is counted together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Its calls; also its name in the log.
    pub route: Route,
    /// So many calls a window.
    #[serde(default)]
    pub limit: Option<Limit>,
    /// So many milliseconds of work a window.
    #[serde(default)]
    pub budget: Option<Budget>,
}

impl Operation {
    /// An operation with a limit.
    ///
    /// # Errors
    /// When the route is none.
    pub fn limited(route: &str, limit: Limit) -> Result<Self, RouteError> {
        Ok(Self { route: route.parse()?, limit: Some(limit), budget: None })
    }

    /// An operation with a budget.
    ///
    /// # Errors
    /// When the route is none.
    pub fn budgeted(route: &str, budget: Budget) -> Result<Self, RouteError> {
        Ok(Self { route: route.parse()?, limit: None, budget: Some(budget) })
    }
}

/// The answers of one route, in the order of its calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its calls.
    pub route: Route,
    /// Only calls of this key.
    #[serde(default)]
    pub key: Option<String>,
    /// The first for the first call, and so on.
    pub answers: Vec<Answer>,
    /// What comes after the last.
    #[serde(default)]
    pub then: Then,
}

impl Rule {
    /// A rule whose last answer repeats.
    ///
    /// # Errors
    /// When the route is none.
    pub fn new(route: &str, answers: impl IntoIterator<Item = Answer>) -> Result<Self, RouteError> {
        Ok(Self { route: route.parse()?, key: None, answers: answers.into_iter().collect(), then: Then::Repeat })
    }

    /// Which answer the n-th call gets, counted from 0; none passes the call on to the next rule.
    pub(crate) fn nth(&self, call: usize) -> Option<&Answer> {
        match self.then {
            Then::Repeat => self.answers.get(call).or(self.answers.last()),
            Then::Cycle => self.answers.get(call % self.answers.len().max(1)),
            Then::PassOn => self.answers.get(call),
        }
    }
}

/// What comes after a rule's last answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The last answer again.
    #[default]
    Repeat,
    /// All from the first.
    Cycle,
    /// The rule wants no more calls.
    PassOn,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_call_gets_the_nth_answer() {
        let answers = || [Answer::status(200), Answer::status(429)];
        let rule = |then| Rule { then, ..Rule::new("GET /", answers()).unwrap() };
        let given = |then| (0..4).map(|call| rule(then).nth(call).and_then(|answer| answer.status)).collect::<Vec<_>>();
        assert_eq!(given(Then::Repeat), [Some(200), Some(429), Some(429), Some(429)]);
        assert_eq!(given(Then::Cycle), [Some(200), Some(429), Some(200), Some(429)]);
        assert_eq!(given(Then::PassOn), [Some(200), Some(429), None, None]);
    }
}
