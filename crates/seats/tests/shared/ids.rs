//! Seat ids for stories that must go the same way each time.

use tidegate_seats::SeatId;

/// Ids that look random enough to spread, and never repeat.
pub(crate) fn seat_id(number: u64) -> SeatId {
    SeatId::from_random(u128::from(number).wrapping_mul(ODD).to_le_bytes())
}

/// Any odd number gives each multiple its own bits; this one mixes the low ones well.
const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
