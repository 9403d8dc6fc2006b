//! One machine behind a mutex, as a shell keeps it.

mod common;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Instant;

use common::{call, settings};
use tidegate_gate::{Claim, Enqueued, Next, Slot, Ticket, Upstream};

/// What 64 threads share: the machine, and the slots that were claimed for those who wait.
struct Shell {
    machine: Mutex<(Upstream, HashMap<Ticket, Slot>)>,
    woken: Condvar,
    now: Instant,
}

impl Shell {
    fn take(&self, key: &str) -> Slot {
        let mut guard = self.machine.lock().expect("no thread panicked");
        match guard.0.enqueue(call(key), self.now).expect("there is room") {
            Enqueued::Started(slot) => slot,
            Enqueued::Queued(ticket) => loop {
                self.pump(&mut guard);
                if let Some(slot) = guard.1.remove(&ticket) {
                    return slot;
                }
                guard = self.woken.wait(guard).expect("no thread panicked");
            },
        }
    }

    fn give_back(&self, slot: Slot) {
        let mut guard = self.machine.lock().expect("no thread panicked");
        guard.0.handle_end(slot);
        self.pump(&mut guard);
    }

    fn pump(&self, (up, slots): &mut (Upstream, HashMap<Ticket, Slot>)) {
        while let Next::Start(ticket) = up.poll_start(self.now) {
            let Claim::Started(slot) = up.claim(ticket, self.now) else { panic!("it was just woken") };
            slots.insert(ticket, slot);
            self.woken.notify_all();
        }
    }
}

#[test]
fn g1_sixty_four_threads_never_pass_the_concurrency_cap() {
    const CALLS_EACH: u32 = 20;
    let up = Upstream::new(settings("min_interval_ms = 0\nmax_concurrency = 4"));
    let shell = Shell { machine: Mutex::new((up, HashMap::new())), woken: Condvar::new(), now: Instant::now() };
    let (running, most, done) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for id in 0..64 {
            let (shell, running, most, done) = (&shell, &running, &most, &done);
            scope.spawn(move || {
                for _ in 0..CALLS_EACH {
                    let slot = shell.take(&format!("thread-{id}"));
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    done.fetch_add(1, Ordering::SeqCst);
                    shell.give_back(slot);
                }
            });
        }
    });
    assert_eq!(done.load(Ordering::SeqCst), 64 * CALLS_EACH);
    assert!(most.load(Ordering::SeqCst) <= 4);
    let after = shell.machine.lock().expect("no thread panicked").0.snapshot(shell.now);
    assert_eq!((after.running, after.waiting), (0, 0));
}
