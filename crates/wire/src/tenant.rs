//! A tenant's limits and what is used of each: `GET /v1/tenant` (S23).

use serde::Serialize;
use utoipa::ToSchema;

use crate::Reply;

/// A tenant's account (S23).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Tenant {
    /// Its name in look-ups.
    pub id: String,
    /// A label for people.
    pub name: String,
    /// Its limits.
    pub limits: Limits,
    /// What is used of each limit now, under the same name.
    pub used: Used,
    /// What does not fit together in the limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub warning: Option<String>,
}

/// A tenant's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Limits {
    /// Seats over all its streams.
    pub viewer_cap: u32,
    /// Sessions at relays; follows the other two unless it was set.
    pub max_sessions: u32,
    /// Publishers at once.
    pub publishers: u32,
}

/// What is used of a tenant's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Used {
    /// Seats, offers and holds over all its streams.
    pub viewer_cap: u32,
    /// Sessions open at relays; null while no relay reports.
    pub max_sessions: Option<u32>,
    /// Publishers connected; null while no relay reports.
    pub publishers: Option<u32>,
}

/// Sessions that a tenant needs: a seat has two for a moment at every renewal (T3, S23).
#[must_use]
pub const fn sessions_needed(viewer_cap: u32, publishers: u32) -> u32 {
    viewer_cap.saturating_mul(2).saturating_add(publishers)
}

/// The warning about sessions that are fewer than the seats need (S23); `None` when they suffice.
#[must_use]
pub fn sessions_warning(viewer_cap: u32, publishers: u32, max_sessions: u32) -> Option<String> {
    let needed = sessions_needed(viewer_cap, publishers);
    (max_sessions < needed).then(|| {
        format!(
            "max_sessions: {max_sessions} is less than 2 x viewer_cap + publishers = 2 x {viewer_cap} + {publishers} \
             = {needed}; viewers with a seat may be refused at a relay (`scope full`)"
        )
    })
}

impl Reply for Tenant {
    fn status(&self) -> u16 {
        200
    }
}
