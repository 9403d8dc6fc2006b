//! What no act may break, and what must come of a place that is kept.

use tidegate_seats::{EntryRecord, StandingRecord};

use crate::scene::{Act, OFFER_STEPS, PLACE_STEPS, SEAT_STEPS, Scene};

impl Scene {
    /// The promise that an act broke, if it did.
    pub(crate) fn breaks_a_promise(&self, before: &Self, act: Act) -> Option<&'static str> {
        let (stats, earlier) = (self.stats(), before.stats());
        let line: Vec<bool> = self.entries().filter_map(untold).collect();
        let mut seats_ended = before.entries().filter(|entry| {
            entry.standing == StandingRecord::Seated && !self.entries().any(|now| now.seat == entry.seat)
        });
        if stats.seats + stats.turns > stats.cap.max(earlier.seats + earlier.turns) {
            Some("S6: seats and turns over the cap")
        } else if stats.seats + stats.turns < stats.cap && line.contains(&false) {
            Some("S7: somebody waits beside a free seat")
        } else if line.windows(2).any(|pair| !pair[0] && pair[1]) {
            Some("S7: a turn went past somebody who waits without one")
        } else if seats_ended.any(|entry| !before.may_end(entry, act)) {
            Some("S1: a seat ended without leave, kick or silence")
        } else if stats.queued != u32::try_from(line.len()).unwrap() {
            Some("S6: queued is not what stands in line")
        } else if act == Act::Restart && !self.entries().eq(before.entries()) {
            Some("D1: a restart changed who stands where")
        } else {
            None
        }
    }

    fn may_end(&self, seated: &EntryRecord, act: Act) -> bool {
        let page = self.pages.iter().position(|page| page.seat == Some(seated.seat));
        match (page, act) {
            (None, Act::Step) => true,
            (Some(page), Act::Step) => self.pages[page].silent + 1 >= SEAT_STEPS,
            (Some(page), Act::Leave(other) | Act::Kick(other)) => page == other,
            _ => false,
        }
    }

    pub(crate) fn each_place_gets_in_when_the_others_fall_silent(&self) -> bool {
        (0..self.pages.len()).filter(|page| self.waits(*page)).all(|page| {
            let mut story = self.clone();
            (0..=PLACE_STEPS).any(|_| {
                story.act(Act::Join(page));
                let seated = story.is_seated(page);
                story.act(Act::Step);
                seated
            })
        })
    }

    /// The others keep asking and never join; those who are seated keep their seats.
    pub(crate) fn a_freed_seat_reaches_who_takes_it(&self) -> bool {
        let stats = self.stats();
        if stats.seats >= stats.cap {
            return true;
        }
        (0..self.pages.len()).filter(|page| self.waits(*page)).all(|page| {
            let mut story = self.clone();
            (0..=2 * OFFER_STEPS + PLACE_STEPS).any(|_| {
                for other in (0..self.pages.len()).filter(|other| *other != page) {
                    story.act(Act::Ask(other));
                }
                story.act(Act::Join(page));
                let seated = story.is_seated(page);
                story.act(Act::Step);
                seated
            })
        })
    }
}

/// Whether a place in line has an untold turn; `None` for an entry that does not stand in line.
fn untold(entry: &EntryRecord) -> Option<bool> {
    match entry.standing {
        StandingRecord::Waiting { turn } => Some(turn.is_some()),
        StandingRecord::Offered | StandingRecord::Seated => None,
    }
}
