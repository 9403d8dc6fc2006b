//! Decides what a call gets: the script and what it has counted so far.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::request::Parts;

use crate::answer::Answer;
use crate::budget::Spent;
use crate::limit::Window;
use crate::log::Why;
use crate::script::{KeyFrom, Operation, Script};
use crate::throttle::{Address, refuse};

/// A script at work.
#[derive(Debug)]
pub(crate) struct Desk {
    script: Arc<Script>,
    addresses: HashMap<IpAddr, Address>,
    /// Closes every address, by hand.
    closed: Address,
    /// By place of the operation, and key where each is counted by itself.
    windows: HashMap<(usize, String), Window>,
    spent: HashMap<usize, Spent>,
    /// Calls that each rule has answered.
    answered: Vec<usize>,
}

/// What a call gets.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) operation: String,
    pub(crate) key: String,
    pub(crate) why: Why,
    pub(crate) answer: Answer,
    /// Headers of the operation's limit and budget.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) script: Arc<Script>,
}

impl Desk {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            answered: vec![0; script.rules.len()],
            script: Arc::new(script),
            addresses: HashMap::new(),
            closed: Address::default(),
            windows: HashMap::new(),
            spent: HashMap::new(),
        }
    }

    pub(crate) fn script(&self) -> &Arc<Script> {
        &self.script
    }

    /// Forgets what was counted.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(Script::clone(&self.script));
    }

    /// Closes every address for a time.
    pub(crate) fn close(&mut self, hold: Duration, now: Duration) {
        self.closed.close(hold, now);
    }

    pub(crate) fn decide(&mut self, call: &Parts, from: IpAddr, now: Duration, wall: SystemTime) -> Decision {
        let script = self.script.clone();
        let (method, path) = (call.method.as_str(), call.uri.path());
        let key = key_of(&script.key, call);
        let place = script.operations.iter().position(|operation| operation.route.matches(method, path));
        let mut decision = Decision {
            operation: place.map_or_else(|| format!("{method} {path}"), |at| script.operations[at].route.to_string()),
            key,
            why: Why::Otherwise,
            answer: Answer::default(),
            headers: Vec::new(),
            script,
        };
        if let Some(left) = self.throttled(from, now) {
            decision.why = Why::Throttle;
            decision.answer = refuse(decision.script.throttle.as_ref(), left);
            return decision;
        }
        let refused = place.and_then(|at| self.count(at, &mut decision, now, wall));
        match refused {
            Some((why, answer)) => (decision.why, decision.answer) = (why, answer),
            None => self.follow_the_rules(call, place.is_some(), &mut decision),
        }
        decision
    }

    fn throttled(&mut self, from: IpAddr, now: Duration) -> Option<Duration> {
        let script = self.script.clone();
        let by_hand = self.closed.take(None, now);
        by_hand.or_else(|| self.addresses.entry(from).or_default().take(script.throttle.as_ref(), now))
    }

    /// Counts a call of an operation, adds its headers, and refuses it if a limit or the budget is used up.
    fn count(&mut self, at: usize, decision: &mut Decision, now: Duration, wall: SystemTime) -> Option<(Why, Answer)> {
        let script = decision.script.clone();
        let Operation { limit, budget, .. } = &script.operations[at];
        if let Some(limit) = limit {
            let key = if limit.per_key { decision.key.clone() } else { String::new() };
            let (standing, passes) = self.windows.entry((at, key)).or_default().take(limit, now);
            decision.headers.extend(limit.family.headers(standing, wall));
            if !passes {
                return Some((Why::Limit, limit.refuse(standing.left)));
            }
        }
        if let Some(budget) = budget {
            let (used_ms, refused) = self.spent.entry(at).or_default().take(budget, now);
            decision.headers.extend(budget.headers(used_ms));
            return refused.map(|left| (Why::Budget, budget.refuse(left)));
        }
        None
    }

    fn follow_the_rules(&mut self, call: &Parts, named: bool, decision: &mut Decision) {
        let script = decision.script.clone();
        decision.answer = script.otherwise.clone();
        for (rule, answered) in script.rules.iter().zip(&mut self.answered) {
            let own = rule.key.as_ref().is_none_or(|key| *key == decision.key);
            if !own || !rule.route.matches(call.method.as_str(), call.uri.path()) {
                continue;
            }
            if let Some(answer) = rule.nth(*answered) {
                *answered += 1;
                decision.answer = answer.clone();
                decision.why = Why::Rule;
                if !named {
                    decision.operation = rule.route.to_string();
                }
                break;
            }
        }
        decision.answer.delay_ms += script.latency_ms;
    }
}

fn key_of(from: &KeyFrom, call: &Parts) -> String {
    let found = match from {
        KeyFrom::Header(name) => call.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into()),
        KeyFrom::Query(name) => call.uri.query().and_then(|query| {
            query.split('&').find_map(|pair| pair.strip_prefix(name.as_str())?.strip_prefix('=').map(str::to_owned))
        }),
        KeyFrom::Segment(place) => call.uri.path().trim_start_matches('/').split('/').nth(*place).map(str::to_owned),
    };
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http::Request;

    use super::*;
    use crate::family::Family;
    use crate::limit::Limit;
    use crate::script::{Rule, Then};
    use crate::throttle::Throttle;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn ask(desk: &mut Desk, uri: &str, now_ms: u64) -> Decision {
        let (parts, ()) = Request::get(uri).header("x-key", "room-1").body(()).unwrap().into_parts();
        desk.decide(&parts, HERE, Duration::from_millis(now_ms), SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn the_throttle_comes_before_limits_and_limits_before_rules() {
        let mut desk = Desk::new(Script {
            throttle: Some(Throttle::new(3, 1000, 1000)),
            operations: vec![Operation::limited("GET /a/{id}", Limit::new(1, 60_000, Family::Stream)).unwrap()],
            rules: vec![Rule::new("* /*", [Answer::status(201)]).unwrap()],
            ..Script::default()
        });
        let first = ask(&mut desk, "/a/1", 0);
        assert_eq!((first.why, first.answer.status, first.headers.len()), (Why::Rule, Some(201), 3));
        assert_eq!((first.operation.as_str(), first.key.as_str()), ("GET /a/{id}", "room-1"));
        assert_eq!(ask(&mut desk, "/a/2", 1).why, Why::Limit);
        assert_eq!(ask(&mut desk, "/b", 2).operation, "* /*");
        let third = ask(&mut desk, "/b", 3);
        assert_eq!((third.why, third.headers.len()), (Why::Throttle, 0));
        assert_eq!(third.operation, "GET /b");
        desk.reset();
        assert_eq!(ask(&mut desk, "/a/1", 4).why, Why::Rule);
    }

    #[test]
    fn g9_every_address_can_be_closed_by_hand() {
        let mut desk = Desk::new(Script::default());
        desk.close(Duration::from_secs(2), Duration::from_secs(1));
        assert_eq!(ask(&mut desk, "/", 2999).why, Why::Throttle);
        assert_eq!(ask(&mut desk, "/", 3000).why, Why::Otherwise);
    }

    #[test]
    fn a_rule_of_a_key_leaves_other_keys_alone_and_a_spent_rule_passes_on() {
        let once = Rule { then: Then::PassOn, ..Rule::new("GET /", [Answer::status(429)]).unwrap() };
        let other = Rule { key: Some("room-2".to_owned()), ..Rule::new("GET /", [Answer::status(500)]).unwrap() };
        let mut desk = Desk::new(Script { rules: vec![other, once], latency_ms: 50, ..Script::default() });
        let first = ask(&mut desk, "/", 0);
        assert_eq!((first.answer.status, first.answer.delay_ms), (Some(429), 50));
        assert_eq!(ask(&mut desk, "/", 0).why, Why::Otherwise);
    }

    #[test]
    fn a_key_is_read_from_a_header_the_query_or_the_path() {
        let key = |key| ask(&mut Desk::new(Script { key, ..Script::default() }), "/rooms/r7/poll?a=1&k=9", 0).key;
        assert_eq!(key(KeyFrom::default()), "room-1");
        assert_eq!(key(KeyFrom::Query("k".to_owned())), "9");
        assert_eq!(key(KeyFrom::Segment(1)), "r7");
        assert_eq!(key(KeyFrom::Header("absent".to_owned())), "");
    }
}
