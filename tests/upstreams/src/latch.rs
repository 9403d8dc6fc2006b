//! Latches: named points where answers wait until a test lets them go.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// All latches of a stand-in, each made when first named.
#[derive(Debug, Default)]
pub(crate) struct Latches(Mutex<HashMap<String, Arc<Semaphore>>>);

impl Latches {
    /// Waits until this latch lets one more pass.
    pub(crate) async fn pass(&self, name: &str) {
        // A closed semaphore is an open latch.
        if let Ok(permit) = self.latch(name).acquire().await {
            permit.forget();
        }
    }

    /// Lets all pass, those of later too.
    pub(crate) fn release(&self, name: &str) {
        self.latch(name).close();
    }

    /// Lets so many pass.
    pub(crate) fn release_some(&self, name: &str, calls: usize) {
        self.latch(name).add_permits(calls);
    }

    /// Makes all latches new; who waits at an old one passes.
    pub(crate) fn reset(&self) {
        let mut latches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latches.drain().for_each(|(_, latch)| latch.close());
    }

    fn latch(&self, name: &str) -> Arc<Semaphore> {
        let mut latches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latches.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))).clone()
    }
}
