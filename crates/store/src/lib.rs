//! Where shared state lives, behind one trait per kind of state.
//!
//! [`Seats`] answers viewers, [`Catalogue`] keeps tenants and streams. [`Embedded`] implements both with the pure
//! engine in memory and one SQLite file; what it answers is durable before it returns (D1).

#[cfg(feature = "seats")]
mod catalogue;
#[cfg(feature = "seats")]
mod embedded;
#[cfg(feature = "seats")]
mod seats;

#[cfg(feature = "seats")]
pub use catalogue::{Catalogue, CatalogueError, KeyDigest, Tenant, TenantSettings};
#[cfg(feature = "seats")]
pub use embedded::{CloseError, Embedded, EmbeddedSettings, OpenError, Written};
#[cfg(feature = "seats")]
pub use seats::{Named, Seats, StoreAway, Toll};
