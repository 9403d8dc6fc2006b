//! What the owner of a data directory may do: tenants, their keys, the token keys.
//!
//! An [`Order`] is carried out by the one [`Office`] there is: the running server's, reached over the Unix socket in
//! its data directory, or, when none runs, this process's own, which opens the store for a moment.

mod client;
mod office;
mod order;
mod socket;

pub(crate) use client::carry_out_now;
pub(crate) use office::Office;
pub(crate) use order::{Done, Order, TenantChange, TenantRow};
pub(crate) use socket::Socket;
