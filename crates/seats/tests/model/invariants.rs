//! What must hold after each command, whatever the answers were. The engine holds what the reference holds (that is
//! compared first), so the promises are read from the reference, where they are easiest to see.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_seats::{SeatId, StreamId};

use crate::command::Command;
use crate::reference::{Place, Reference};
use crate::world::World;

/// What was so before the command.
pub(crate) struct Before {
    used: BTreeMap<StreamId, u32>,
    used_by_tenant: u32,
    seated: BTreeMap<SeatId, std::time::Instant>,
}

impl Before {
    pub(crate) fn of(world: &World) -> Self {
        let reference = &world.reference;
        let seated = |place: Place| place == Place::Seated;
        Self {
            used: reference.streams.iter().map(|record| (record.id.clone(), reference.used(&record.id))).collect(),
            used_by_tenant: reference.used_by_tenant(),
            seated: reference
                .entries
                .iter()
                .filter(|entry| seated(entry.place))
                .map(|entry| (entry.seat, entry.due))
                .collect(),
        }
    }
}

pub(crate) fn hold(world: &World, before: &Before, command: Command) {
    let reference = &world.reference;
    nobody_is_there_twice(reference);
    nobody_waits_beside_a_free_seat(reference);
    turns_belong_to_the_head(reference);
    if !may_put_back(command) {
        caps_are_kept(reference, before);
    }
    seats_end_only_as_they_may(world, before, command);
}

/// T5 puts a seat back over the cap if need be.
fn may_put_back(command: Command) -> bool {
    match command {
        Command::Ask { says, .. } => says.proof,
        Command::Beat { proof, .. } | Command::Renew { proof, .. } => proof,
        Command::Leave { .. }
        | Command::KickSeat { .. }
        | Command::KickViewer { .. }
        | Command::Forget { .. }
        | Command::Pass { .. }
        | Command::Change { .. }
        | Command::Limit { .. }
        | Command::SpendCapped(_)
        | Command::End { .. }
        | Command::Delete { .. }
        | Command::NoteIngestToken { .. }
        | Command::Restart
        | Command::LoseMemory => false,
    }
}

fn nobody_is_there_twice(reference: &Reference) {
    let entries = || reference.entries.iter();
    let seats: BTreeSet<_> = entries().map(|entry| entry.seat).collect();
    assert_eq!(seats.len(), reference.entries.len(), "a seat id twice");
    let named: Vec<_> = entries().filter_map(|entry| Some((&entry.stream, entry.viewer.as_ref()?))).collect();
    assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len(), "a viewer twice");
    let nonces: Vec<_> = entries().filter_map(|entry| Some((&entry.stream, entry.nonce?.0))).collect();
    assert_eq!(nonces.iter().collect::<BTreeSet<_>>().len(), nonces.len(), "a nonce twice");
}

/// S7, S13: a free seat is kept for whoever waits, unless the tenant is full or may not spend.
fn nobody_waits_beside_a_free_seat(reference: &Reference) {
    if reference.spend_capped || reference.used_by_tenant() >= reference.tenant_cap {
        return;
    }
    for record in &reference.streams {
        let free = reference.used(&record.id) < record.settings.viewer_cap;
        assert!(
            !free || reference.line(&record.id).all(|entry| entry.has_turn()),
            "S7: a free seat and a waiting line"
        );
    }
}

fn turns_belong_to_the_head(reference: &Reference) {
    for record in &reference.streams {
        let turns: Vec<bool> = reference.line(&record.id).map(|entry| entry.has_turn()).collect();
        assert!(turns.is_sorted_by(|ahead, behind| ahead >= behind), "S7: the order of the line inverted: {turns:?}");
    }
}

/// S6: never over the cap; over a lowered one (S10), never more than before.
fn caps_are_kept(reference: &Reference, before: &Before) {
    for record in &reference.streams {
        let used = reference.used(&record.id);
        let before = before.used.get(&record.id).copied().unwrap_or(0);
        assert!(used <= record.settings.viewer_cap.max(before), "S6: {used} of {}", record.settings.viewer_cap);
    }
    let used = reference.used_by_tenant();
    assert!(used <= reference.tenant_cap.max(before.used_by_tenant), "S13: {used} of {}", reference.tenant_cap);
}

/// S1: by its own leave, a kick, silence; or its stream or its store's memory is gone.
fn seats_end_only_as_they_may(world: &World, before: &Before, command: Command) {
    if matches!(
        command,
        Command::Leave { .. }
            | Command::KickSeat { .. }
            | Command::KickViewer { .. }
            | Command::End { .. }
            | Command::Delete { .. }
            | Command::LoseMemory
    ) {
        return;
    }
    let still: BTreeSet<SeatId> =
        world.reference.entries.iter().filter(|entry| entry.place == Place::Seated).map(|entry| entry.seat).collect();
    for (seat, due) in &before.seated {
        assert!(still.contains(seat) || *due <= world.now.at, "S1: {seat:?} was seated and is not, after {command:?}");
    }
}
