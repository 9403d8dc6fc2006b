//! Decides how things are written on the network: request bodies, answers, and the one table of problem codes.
//!
//! Pure, and free of the house's other vocabulary: shells turn an engine's answer into one of these types, and
//! the type says its status, its media type and its retry time ([`Reply`]). Times are Unix seconds; durations
//! carry their unit in their name (`_ms`, `_s`).
//!
//! ```
//! use tidegate_wire::{Code, Reply, play};
//!
//! let ask = play::parse_admit(br#"{"seat":"a6Zc1nPzQ0uW4xYb2kLm9A","a page's own field":1}"#)?;
//! assert_eq!(ask.seat.as_deref(), Some("a6Zc1nPzQ0uW4xYb2kLm9A"));
//!
//! let problem = play::parse_admit(br#"{"seat":5}"#).unwrap_err();
//! assert_eq!((problem.status(), problem.code), (400, Code::BadRequest));
//! assert_eq!(problem.field.as_deref(), Some("seat"));
//! # Ok::<(), tidegate_wire::Problem>(())
//! ```

mod codes;
pub mod health;
mod json;
pub mod play;
mod problem;
pub mod relay;
mod reply;
pub mod report;
pub mod seats;
pub mod streams;
pub mod tenant;
mod text;

pub use codes::Code;
pub use json::JSON_DEPTH_MAX;
pub use problem::Problem;
pub use reply::{Media, Reply, retry_after_s};
pub use text::{COUNT_MAX, Cap, Count, NAME_MAX_CHARS, TOKEN_MAX_BYTES};
