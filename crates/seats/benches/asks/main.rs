//! How fast the engine answers, how long its slowest answer takes, and what a waiting viewer costs.
//!
//! `cargo bench -p tidegate-seats` measures a million viewers; `-- 10000000` as many as are named. One core; the
//! clock is virtual, so that deadlines move and pass as they would in a busy house.
#![expect(clippy::unwrap_used, reason = "a benchmark")]

mod crowd;

use std::time::{Duration, Instant};

use crate::crowd::Crowd;

fn main() {
    let mut sizes: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if std::env::args().any(|argument| argument == WEIGH) {
        return weigh(sizes[0]);
    }
    if sizes.is_empty() {
        sizes.push(1_000_000);
    }
    println!("{:>11}  {:<44} {:>12} {:>10} {:>10} {:>11}", "viewers", "", "calls/s", "median", "99.9 %", "slowest");
    for viewers in sizes {
        in_a_process_of_its_own(viewers);
        floor(viewers);
        waiting(viewers);
        seated(viewers);
        offers(viewers);
        a_line_that_leaves(viewers);
        a_line_that_lapses(viewers);
    }
}

/// Memory that others gave back would blur the difference.
fn in_a_process_of_its_own(viewers: u32) {
    let this = std::env::current_exe().unwrap();
    let weighed = std::process::Command::new(this).args([WEIGH, &viewers.to_string()]).status().unwrap();
    assert!(weighed.success());
}

/// What a waiting viewer costs in all: entry, indexes, line, alarm, and the room that growth leaves.
fn weigh(viewers: u32) {
    let mut crowd = Crowd::new(viewers, 0);
    let before = resident_bytes();
    crowd.fills(viewers);
    let bytes = (resident_bytes() - before) as f64 / f64::from(viewers);
    println!("{viewers:>11}  {:<44} {bytes:>12.1}", "bytes a waiting viewer, nonce included");
    assert_eq!(crowd.queued(), viewers);
}

/// What this machine needs to read one word in as much memory as the viewers take, each read naming the next. An ask
/// is about three of these: two in the index, one for the entry; the line's bits stay in the cache.
fn floor(viewers: u32) {
    let order = shuffled(viewers);
    let mut next = vec![[0_u32; WORDS_A_VIEWER]; viewers as usize];
    for pair in order.windows(2) {
        next[pair[0] as usize][0] = pair[1];
    }
    let mut viewer = order[0];
    report(viewers, "floor: one random read after the other", measure(viewers, |_| viewer = next[viewer as usize][0]));
    assert_ne!(std::hint::black_box(viewer), viewers);
}

/// A full line behind one seat: everybody comes, then everybody asks again and again.
fn waiting(viewers: u32) {
    let mut crowd = Crowd::new(viewers, 0);
    report(viewers, "newcomers who join the line", measure(viewers, |viewer| crowd.comes(viewer)));
    let order = shuffled(viewers);
    crowd.polls_every(Duration::from_secs(5));
    report(
        viewers,
        "asks of waiting viewers, in random order",
        measure(2 * viewers, |ask| {
            crowd.asks(order[(ask % viewers) as usize]);
        }),
    );
    assert_eq!(crowd.queued(), viewers, "nobody lapsed meanwhile");
}

/// As many seats as viewers, all kept by heartbeats.
fn seated(viewers: u32) {
    let mut crowd = Crowd::new(viewers, viewers);
    report(viewers, "newcomers who are seated at once", measure(viewers, |viewer| crowd.comes(viewer)));
    let order = shuffled(viewers);
    crowd.polls_every(Duration::from_secs(5));
    report(
        viewers,
        "heartbeats, in random order",
        measure(2 * viewers, |beat| {
            crowd.beats(order[(beat % viewers) as usize]);
        }),
    );
}

/// A seat is freed, the head of a long line is offered it and joins: three calls each time.
fn offers(viewers: u32) {
    let mut crowd = Crowd::new(viewers, 1);
    crowd.fills(viewers);
    report(
        viewers,
        "leave, offer and join at the head, each turn",
        measure(viewers / 4, |turn| {
            crowd.leaves(turn);
            crowd.is_offered(turn + 1);
            crowd.joins(turn + 1);
        }),
    );
}

/// The head leaves with its untold offer, which passes to the next, who leaves.
fn a_line_that_leaves(viewers: u32) {
    let mut crowd = Crowd::new(viewers, 1);
    crowd.fills(viewers);
    report(viewers, "leaves at the head, the offer passing on", measure(viewers - 1, |viewer| crowd.leaves(viewer)));
    assert_eq!(crowd.queued(), 1);
}

/// The whole line falls silent at once.
fn a_line_that_lapses(viewers: u32) {
    let mut crowd = Crowd::new(viewers, 1);
    crowd.fills(viewers);
    let (mut slowest, mut ticks) = (Duration::ZERO, 0_u32);
    let started = time_on_cpu();
    for _ in 0..40 {
        crowd.second_passes(|call| {
            slowest = slowest.max(call);
            ticks += 1;
        });
    }
    assert_eq!(crowd.queued(), 0);
    let name = format!("bounded sweeps while all lapse ({ticks} calls)");
    println!(
        "{viewers:>11}  {name:<44} {:>12.0} {:>10} {:>10} {:>11}",
        f64::from(ticks) / (time_on_cpu() - started).as_secs_f64(),
        "",
        "",
        shown(slowest)
    );
}

struct Measured {
    /// By the time that this thread ran, whatever else the machine did.
    per_second: f64,
    /// By the wall, so that a busy machine shows in the slowest.
    each: Vec<Duration>,
}

/// Every other batch is timed as a whole, so that the clock costs nothing, and the rest call by call.
fn measure(calls: u32, mut call: impl FnMut(u32)) -> Measured {
    let (mut together, mut each) = (Duration::ZERO, Vec::with_capacity(calls as usize));
    let batch = calls.div_ceil(BATCHES);
    let mut counted = 0;
    for number in 0..BATCHES {
        let batch = number * batch..calls.min((number + 1) * batch);
        if number % 2 == 0 {
            counted += batch.len();
            let started = time_on_cpu();
            batch.for_each(&mut call);
            together += time_on_cpu() - started;
        } else {
            for number in batch {
                let started = Instant::now();
                call(number);
                each.push(started.elapsed());
            }
        }
    }
    each.sort_unstable();
    Measured { per_second: counted as f64 / together.as_secs_f64(), each }
}

fn report(viewers: u32, what: &str, measured: Measured) {
    let Measured { per_second, each } = measured;
    let at = |share: f64| shown(each[((each.len() - 1) as f64 * share) as usize]);
    let (median, high, slowest) = (at(0.5), at(0.999), at(1.0));
    println!("{viewers:>11}  {what:<44} {per_second:>12.0} {median:>10} {high:>10} {slowest:>11}");
}

fn shown(time: Duration) -> String {
    format!("{:.2} µs", time.as_secs_f64() * 1e6)
}

fn shuffled(viewers: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..viewers).collect();
    let mut dice = 88_172_645_463_325_252_u64;
    for last in (1..order.len()).rev() {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        order.swap(last, (dice % (last as u64 + 1)) as usize);
    }
    order
}

/// What this process holds in memory.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

/// How long this thread has run.
fn time_on_cpu() -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(schedstat.split(' ').next().unwrap().parse().unwrap())
}

const BATCHES: u32 = 40;
/// Asks this program to weigh instead of running.
const WEIGH: &str = "weigh";
/// 120 bytes.
const WORDS_A_VIEWER: usize = 30;
