//! Which calls the current task is inside of, so that a nested call does not wait for the slot that it holds itself.
//!
//! A token fetch made from inside a call, at full concurrency, would wait for ever: all slots are held by calls that
//! wait for their token. So a call made inside another one of the same upstream runs in that one's slot. It is still
//! spaced, and cooldowns still hold it. The mark is the task's: a spawned task does not inherit it (`nested` of
//! `CallOptions` says it instead). Two upstreams whose calls nest crosswise are told apart, and only their
//! deadlines end such a circle.

use std::future::Future;
use std::sync::Arc;

use tokio::task_local;

use crate::desk::Desk;

task_local! {
    static INSIDE: Arc<Link>;
}

/// The calls around the current one, innermost first.
struct Link {
    desk: Arc<Desk>,
    outer: Option<Arc<Link>>,
}

/// Whether the current task is inside a call of this desk.
pub(crate) fn is_in(desk: &Arc<Desk>) -> bool {
    let found = |innermost: &Arc<Link>| {
        let mut links = std::iter::successors(Some(innermost), |link| link.outer.as_ref());
        links.any(|link| Arc::ptr_eq(&link.desk, desk))
    };
    INSIDE.try_with(found).unwrap_or(false)
}

/// Runs a call's own future with the mark of its desk.
pub(crate) fn scope<F: Future>(desk: &Arc<Desk>, call: F) -> impl Future<Output = F::Output> + use<F> {
    let outer = INSIDE.try_with(Arc::clone).ok();
    INSIDE.scope(Arc::new(Link { desk: Arc::clone(desk), outer }), call)
}
