//! Prints what a person or a script asked for.

use std::fmt::Display;
use std::io::{self, Write, stdout};

/// Prints one text and ends its line. A reader that has gone (`tidegate tenant list | head -1`, or a service manager
/// that closed the pipe) is no reason to end.
pub(crate) fn say(text: impl Display) {
    try_to_say(text).ok();
}

/// The same for a command that prints for ever: an error says that nobody reads any more.
pub(crate) fn try_to_say(text: impl Display) -> io::Result<()> {
    writeln!(stdout().lock(), "{text}")
}
