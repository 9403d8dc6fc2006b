//! Where shared state lives, behind one trait per kind of state.
//!
//! [`Seats`] answers viewers, [`Catalogue`] keeps tenants and streams. The embedded store implements both with
//! the pure engine in memory and one SQLite file; what it answers is durable before it returns (D1).

mod catalogue;
mod seats;

pub use catalogue::{Catalogue, CatalogueError, KeyDigest, Tenant, TenantSettings};
pub use seats::{Seats, StoreAway};
