//! What one call says about itself (G22). Everything is optional; what is missing comes from the upstream.

use std::time::{Duration, Instant};

use tidegate_gate::{Call, Key, Operation, Priority, Resource, RetryPolicy};

/// Options of one call: for [`crate::Gate::call`], or as an extension of a request that passes a
/// [`crate::GateLayer`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// What it does: cooldowns of one operation hold by this name (G12). Default: the route of a request, by the
    /// upstream's templates; for other calls `call`.
    pub operation: Option<Operation>,
    /// Whose turn it takes (G2). Default: one key for all that name none.
    pub key: Option<Key>,
    /// Before or behind those who wait (G2). Default: [`Priority::Background`].
    pub priority: Option<Priority>,
    /// What it is about: one that is gone closes no other (G11b). Default: the key if there is one, else the
    /// request's path and query.
    pub resource: Option<Resource>,
    /// The longest wait in the gate, retries included (G3). Default: none in the library, `max_wait_ms` at the proxy.
    pub max_wait: Option<Duration>,
    /// Attempts in all, the first included (G20). Default: the upstream's, 3.
    pub max_attempts: Option<u32>,
    /// Whether cooldowns hold the call back before it is made (G20). Default: the upstream's, true.
    pub enable_cooldown: Option<bool>,
    /// Caps the fallback delay of a retry (G21). Default: the upstream's, 5 s.
    pub max_delay: Option<Duration>,
    /// A retry is not waited for longer than this (G20). Default: the upstream's, 10 s.
    pub max_retryable_delay: Option<Duration>,
    /// Made from inside another call of the same upstream, and runs in its slot. A call made in the same task is
    /// recognised by itself; a call made in a task spawned from there must say so, or it may wait for itself.
    pub nested: bool,
}

impl CallOptions {
    /// The engine's call. `usual` names the operation and the resource where these options do not.
    pub(crate) fn call(&self, usual: Usual, retry: &RetryPolicy, nested: bool, now: Instant) -> Call {
        let operation = self.operation.clone().unwrap_or(usual.operation);
        let call = Call::new(self.key.unwrap_or(usual.key), operation);
        let resource = if self.key.is_some() { call.resource } else { usual.resource };
        Call {
            priority: self.priority.unwrap_or(call.priority),
            resource: self.resource.unwrap_or(resource),
            deadline: self.max_wait.and_then(|wait| now.checked_add(wait)),
            nested: nested || self.nested,
            heeds_cooldowns: self.enable_cooldown.unwrap_or(retry.enable_cooldown),
            ..call
        }
    }

    /// The upstream's policy with this call's changes.
    pub(crate) fn policy(&self, retry: &RetryPolicy) -> RetryPolicy {
        RetryPolicy {
            max_attempts: self.max_attempts.unwrap_or(retry.max_attempts),
            enable_cooldown: self.enable_cooldown.unwrap_or(retry.enable_cooldown),
            max_delay: self.max_delay.unwrap_or(retry.max_delay),
            max_retryable_delay: self.max_retryable_delay.unwrap_or(retry.max_retryable_delay),
        }
    }
}

/// What a call is when its options do not say.
pub(crate) struct Usual {
    pub(crate) key: Key,
    pub(crate) operation: Operation,
    pub(crate) resource: Resource,
}
