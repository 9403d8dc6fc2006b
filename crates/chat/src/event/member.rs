//! Memberships and gifts.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Author, Words};

/// A new member, a milestone, or an upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Membership {
    /// Who.
    pub author: Author,
    /// What happened.
    pub step: Step,
    /// For a milestone: how many months.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub months: Option<u32>,
    /// The channel's name for this kind of membership, where it stands by itself in the upstream's answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub level: Option<String>,
    /// The upstream's sentence, in the language of the room: "Welcome to The Club!"
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub header: String,
    /// What the member wrote with a milestone.
    #[serde(flatten)]
    pub words: Words,
}

/// What happened to a membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Somebody became a member. An upgrade in a language other than English counts as this too: the upstream tells
    /// the two apart by its sentence alone.
    Joined,
    /// A member says how long they have been one.
    Milestone,
    /// A member chose a higher level.
    Upgraded,
}

/// Somebody gave something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gift {
    /// Who gave.
    pub author: Author,
    /// What.
    pub gift: GiftKind,
    /// How many memberships.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub count: Option<u32>,
    /// The gift's picture.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub image: Option<String>,
    /// The upstream's sentence, in the language of the room.
    #[serde(flatten)]
    pub words: Words,
}

/// What was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GiftKind {
    /// Memberships for others; each taker is a `gift_received` of its own.
    Memberships,
    /// A picture for the channel, paid with Jewels.
    Jewels,
}

/// Somebody got a membership as a gift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GiftReceived {
    /// Who got it.
    pub author: Author,
    /// Who gave it: a shown name, not a channel id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub giver: Option<String>,
    /// The upstream's sentence, in the language of the room.
    #[serde(flatten)]
    pub words: Words,
}
