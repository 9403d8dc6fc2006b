//! What a command says when it cannot go on: one sentence, and what to do about it.

use std::fmt;
use std::process::ExitCode;

/// Why a command ended without doing what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    said: String,
    hint: Option<String>,
}

/// What every command returns.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(said: impl Into<String>) -> Self {
        Self { said: said.into(), hint: None }
    }

    /// Adds what the reader can do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the failure for a person and gives the exit code for a script.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("error: {self}");
        ExitCode::FAILURE
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Puts what was being done in front of what went wrong.
pub(crate) trait OrSay<T> {
    /// `doing` reads on after "error: ", such as `cannot read tidegate.toml`.
    fn or_say(self, doing: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: fmt::Display> OrSay<T> for Result<T, E> {
    fn or_say(self, doing: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|err| Failure::new(format!("{}: {err}", doing())))
    }
}
