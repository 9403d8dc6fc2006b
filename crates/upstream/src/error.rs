//! Why a call has no answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tidegate_gate::{RateLimited, Refusal};

/// No upstream of this name is configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no upstream is named {name:?}; configured: {}", .known.join(", "))]
pub struct UnknownUpstream {
    /// What was asked for.
    pub name: String,
    /// The names there are.
    pub known: Vec<String>,
}

/// Why [`crate::Gate::call`] has no answer.
#[derive(thiserror::Error)]
pub enum CallError<T> {
    /// No such upstream.
    #[error(transparent)]
    UnknownUpstream(#[from] UnknownUpstream),
    /// The call was not made: a full queue, too long a wait, or a cooldown (then with everything known, G20).
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The upstream said stop, and trying again is out of attempts or would take too long (G20).
    #[error("{limited}")]
    RateLimited {
        /// Everything known about it.
        limited: RateLimited,
        /// What the last attempt gave.
        answer: T,
    },
}

impl<T> CallError<T> {
    /// The rate limit, whether the upstream told it or the gate knew it before.
    #[must_use]
    pub fn rate_limited(&self) -> Option<&RateLimited> {
        match self {
            Self::RateLimited { limited, .. } | Self::Refused(Refusal::RateLimited(limited)) => Some(limited),
            Self::Refused(_) | Self::UnknownUpstream(_) => None,
        }
    }
}

/// Without the answer, which may be of any type.
impl<T> fmt::Debug for CallError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownUpstream(error) => error.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::RateLimited { limited, .. } => limited.fmt(f),
        }
    }
}

/// Why a request that passes the gate has no response.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GateError {
    /// The call was not made.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The call failed; shared by all its callers (G5).
    #[error("the upstream call failed: {0}")]
    Failed(#[source] Failure),
}

/// What went wrong with a call or a body, for any number of callers.
#[derive(Clone, Debug)]
pub struct Failure(Arc<dyn Error + Send + Sync>);

impl Failure {
    /// Wraps an error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }

    /// The first of the error and its sources that is of this type.
    #[must_use]
    pub fn find<E: Error + 'static>(&self) -> Option<&E> {
        let mut next: Option<&(dyn Error + 'static)> = Some(&*self.0);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// A body that did not move for the upstream's `stall_ms` (G3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body did not move for too long and was ended")]
pub struct Stalled;

/// A shared call that ended without an answer, because the task that made it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the shared call ended without an answer")]
pub(crate) struct Unanswered;
