//! The control's view of its relays, rule by rule.

mod ranking;
mod reports;
mod shares;
mod stage;
