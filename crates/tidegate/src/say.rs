//! Prints what a person or a script asked for.

use std::fmt::Display;
use std::io::{Write, stdout};

/// Prints one text and ends its line. A reader that has gone (`tidegate tenant list | head -1`, or a service manager
/// that closed the pipe) is no reason to end.
pub(crate) fn say(text: impl Display) {
    writeln!(stdout().lock(), "{text}").ok();
}
