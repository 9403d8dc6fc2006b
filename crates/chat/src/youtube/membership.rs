//! Memberships: new, milestones, upgrades.

use serde_json::Value;

use super::author::read_author;
use super::text::{plain_at, runs_at, words_at};
use super::walk::at;
use crate::event::{Kind, Membership, Step};

/// A milestone has a head of its own, and its second line is the level alone; otherwise the second line is a sentence
/// with the level in it.
pub(super) fn read_membership(renderer: &Value) -> Kind {
    let subtext = plain_at(renderer, "headerSubtext");
    let primary = plain_at(renderer, "headerPrimaryText").filter(|_| at(renderer, "headerPrimaryText").is_some());
    let membership = match primary {
        Some(header) => Membership {
            author: read_author(renderer),
            step: Step::Milestone,
            months: number_in(&runs_at(renderer, "headerPrimaryText"), &header),
            level: subtext,
            header,
            words: words_at(renderer, "message"),
        },
        None => Membership {
            author: read_author(renderer),
            step: step_of(subtext.as_deref().unwrap_or_default()),
            months: None,
            level: level_in(&runs_at(renderer, "headerSubtext")),
            header: subtext.unwrap_or_default(),
            words: words_at(renderer, "message"),
        },
    };
    Kind::Membership(membership)
}

/// A new member as it was written until 2020.
pub(super) fn read_legacy(renderer: &Value) -> Kind {
    Kind::Membership(Membership {
        author: read_author(renderer),
        step: Step::Joined,
        months: None,
        level: None,
        header: plain_at(renderer, "eventText").unwrap_or_default(),
        words: words_at(renderer, "detailText"),
    })
}

/// A whole number that is a run of its own, or the only one in the sentence.
pub(super) fn number_in(runs: &[&str], sentence: &str) -> Option<u32> {
    let run = runs.iter().find_map(|run| run.trim().replace(',', "").parse().ok());
    run.or_else(|| {
        let mut numbers = sentence.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        let only = numbers.next().filter(|_| numbers.next().is_none());
        only?.parse().ok()
    })
}

/// Nothing but the sentence tells an upgrade, so this reads English: every poll asks for it.
fn step_of(sentence: &str) -> Step {
    if sentence.starts_with("Upgraded ") { Step::Upgraded } else { Step::Joined }
}

/// "Welcome to ", level, "!": the part that stands by itself in the middle.
fn level_in(runs: &[&str]) -> Option<String> {
    match runs {
        [_, level, _] => Some((*level).to_owned()),
        _ => None,
    }
}
