//! Which relays an answer lists, and in which order (E14).

use super::{Relay, Site};
use crate::Busy;

/// A relay of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it is.
    pub site: &'a Site,
    /// It takes no newcomers for now.
    pub full: bool,
}

pub(super) fn ranked<'a>(
    heard: impl Iterator<Item = (&'a str, &'a Relay)>,
    tenant: &str,
    region: Option<&str>,
    mut draw: impl FnMut() -> f64,
) -> Vec<Listed<'a>> {
    let all: Vec<_> = heard.collect();
    let none_open = all.iter().all(|(_, relay)| relay.full);
    let listed = all.into_iter().filter(|(_, relay)| none_open || !relay.full);
    let mut placed: Vec<_> = listed
        .map(|(name, relay)| {
            let far = region.map_or(0, |region| distance(region, &relay.site.region));
            let order = (!relay.has_share(tenant), far);
            (order, lot(relay.busy, draw()), Listed { name, site: &relay.site, full: relay.full })
        })
        .collect();
    placed.sort_by(|(order, lot, _), (other, other_lot, _)| order.cmp(other).then(other_lot.total_cmp(lot)));
    placed.truncate(LISTED_MAX);
    placed.into_iter().map(|(.., listed)| listed).collect()
}

/// How far two regions are, by their names: the same, of one part of the world (`eu-west`, `eu-north`), or elsewhere.
fn distance(a: &str, b: &str) -> u8 {
    let part = |region: &str| region.split(['-', '_', '.']).next().unwrap_or_default().to_ascii_lowercase();
    match a {
        a if a.eq_ignore_ascii_case(b) => 0,
        a if part(a) == part(b) => 1,
        _ => 2,
    }
}

/// A lottery with as many tickets as a relay has room (Efraimidis and Spirakis, 2006): were the idlest one always first,
/// all that come within one second would go to it.
fn lot(busy: Busy, draw: f64) -> f64 {
    let room = (1.0 - busy.share()).max(ROOM_MIN);
    draw.clamp(f64::MIN_POSITIVE, 1.0).powf(1.0 / room)
}

/// A busy relay keeps a few tickets: what was measured is a second old.
const ROOM_MIN: f64 = 0.02;
/// Bounds an answer; a player tries no more in a minute.
const LISTED_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e14_regions_are_near_by_their_names() {
        assert_eq!(distance("eu-west", "EU-west"), 0);
        assert_eq!(distance("eu-west", "eu-north-1"), 1);
        assert_eq!(distance("eu-west", "us-west"), 2);
    }
}
