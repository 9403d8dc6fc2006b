//! The rules of the edge, one by one; each test names its rule.

mod intake;
mod saturation;
mod scopes;
mod sessions;
mod stage;
