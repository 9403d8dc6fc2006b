//! What one unpaced call costs in the machine, and what a million waiting keys take.
//!
//! `cargo bench -p tidegate-gate --bench engine`. The engine must add at most 5 µs to an unpaced call. Figures are
//! time on the processor, so that a busy machine does not make them, and medians of many rounds.

use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use tidegate_gate::signal::Head;
use tidegate_gate::{
    Call, Enqueued, Fingerprint, FingerprintParts, Jitter, Joined, Key, Next, Operation, Preset, Upstream,
    UpstreamSettings, UpstreamToml,
};

fn main() {
    let plain = headers(&[("content-type", "application/json"), ("date", "Tue, 14 Nov 2023 22:13:20 GMT")]);
    let limits = headers(&[
        ("content-type", "application/json"),
        ("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ("x-ratelimit-limit", "10000"),
        ("x-ratelimit-remaining", "9000"),
        ("x-ratelimit-reset", "1700000042"),
        ("x-budget-used-ms", "100"),
        ("x-budget-limit-ms", "60000"),
        ("x-budget-remaining-ms", "59900"),
    ]);
    println!("one unpaced call: route, enqueue, poll_start, handle_response, handle_end");
    let spaceless = |preset| UpstreamToml { preset: Some(preset), min_interval_ms: Some(0), ..UpstreamToml::default() };
    for preset in Preset::ALL {
        let settings = spaceless(preset).resolve().expect("a preset and a zero");
        report(&format!("{}, plain answer", preset.name()), || unpaced(&settings, &plain));
        report(&format!("{}, rate-limit headers", preset.name()), || unpaced(&settings, &limits));
    }
    let settings = spaceless(Preset::Generic).resolve().expect("a preset and a zero");
    report("generic, shareable: fingerprint, join, end", || shared(&settings, &plain));
    println!("a paced call, with others waiting: enqueue, poll_start, claim, handle_end");
    for waiting in [10, 1000, 100_000] {
        report(&format!("{waiting} calls of as many keys ahead"), || paced(waiting));
    }
    million_keys();
}

fn report(name: &str, mut round: impl FnMut() -> Duration) {
    let mut rounds: Vec<Duration> = (0..ROUNDS).map(|_| round()).collect();
    rounds.sort();
    let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(CALLS);
    println!(
        "  {name:<45} {:>7.0} ns   (slowest round {:>7.0} ns)",
        each(rounds[ROUNDS / 2]),
        each(rounds[ROUNDS - 1])
    );
}

fn unpaced(settings: &UpstreamSettings, headers: &HeaderMap) -> Duration {
    let mut up = Upstream::new(settings.clone());
    let (key, wall, start) = (Key::of("client"), SystemTime::now(), Instant::now());
    let began = on_cpu();
    for call in 0..CALLS {
        let now = start + Duration::from_micros(u64::from(call));
        let route = up.settings().route(&Method::POST, black_box("/channels/messaging/general/message"));
        let Ok(Enqueued::Started(slot)) = up.enqueue(Call::new(key, route.operation), now) else {
            return Duration::MAX;
        };
        black_box(up.poll_start(now));
        let head = Head { status: StatusCode::OK, headers, wall };
        black_box(up.handle_response(&slot, head, now, Jitter::new(0.5)));
        up.handle_end(slot);
        black_box(up.poll_start(now));
    }
    on_cpu() - began
}

fn shared(settings: &UpstreamSettings, headers: &HeaderMap) -> Duration {
    let mut up = Upstream::new(settings.clone());
    let request = self::headers(&[
        ("accept", "application/json"),
        ("accept-encoding", "gzip, br"),
        ("authorization", "Bearer 0123456789abcdef0123456789abcdef"),
        ("user-agent", "bench/1"),
    ]);
    let (key, wall, start) = (Key::of("client"), SystemTime::now(), Instant::now());
    let uri = Uri::from_static("https://api.example.com/v1/things?limit=100&order=asc");
    let began = on_cpu();
    for call in 0..CALLS {
        let now = start + Duration::from_micros(u64::from(call));
        let route = up.settings().route(&Method::GET, black_box(uri.path()));
        let parts = FingerprintParts {
            method: &Method::GET,
            uri: &uri,
            headers: &request,
            ignore: &[],
            identity: b"",
            body: b"",
        };
        let Some(print) = Fingerprint::of(parts) else { return Duration::MAX };
        let joined = up.join(print, Call::new(key, route.operation), now);
        let Ok(Joined::Opened { caller, flight, enqueued: Enqueued::Started(slot) }) = joined else {
            return Duration::MAX;
        };
        let head = Head { status: StatusCode::OK, headers, wall };
        black_box(up.handle_response(&slot, head, now, Jitter::new(0.5)));
        up.handle_end(slot);
        up.end_flight(flight);
        up.handle_cancel(caller);
        black_box(up.poll_start(now));
    }
    on_cpu() - began
}

/// A line of `waiting` keys: each step takes the first one out and puts a new one in.
fn paced(waiting: u32) -> Duration {
    let settings = UpstreamToml { max_queue: Some(1_000_000), max_concurrency: Some(1), ..UpstreamToml::default() };
    let mut up = Upstream::new(settings.resolve().expect("two numbers"));
    let operation = Operation::new("GET /x");
    let call = |i: u32| Call::new(Key::of(&i.to_string()), operation.clone());
    let mut now = Instant::now();
    let Ok(Enqueued::Started(mut slot)) = up.enqueue(call(0), now) else { return Duration::MAX };
    (1..=waiting).for_each(|i| drop(up.enqueue(call(i), now)));
    let began = on_cpu();
    for i in 0..CALLS {
        let _ = up.enqueue(call(waiting + i + 1), now);
        up.handle_end(slot);
        now += Duration::from_millis(250);
        let Next::Start(ticket) = up.poll_start(now) else { return Duration::MAX };
        let tidegate_gate::Claim::Started(next) = up.claim(ticket, now) else { return Duration::MAX };
        slot = next;
        black_box(up.poll_start(now));
    }
    let took = on_cpu() - began;
    up.handle_end(slot);
    took
}

/// A million calls of a million keys wait, then all of them leave.
fn million_keys() {
    let settings = UpstreamToml { max_queue: Some(MILLION), ..UpstreamToml::default() };
    let mut up = Upstream::new(settings.resolve().expect("one number"));
    let operation = Operation::new("GET /x");
    let (before, start, began) = (resident_bytes(), Instant::now(), on_cpu());
    let deadline = Some(start + Duration::from_secs(864_000));
    let mut tickets = Vec::with_capacity(MILLION);
    for i in 0..=MILLION {
        let call = Call { deadline, ..Call::new(Key::of(&i.to_string()), operation.clone()) };
        match up.enqueue(Call { deadline: deadline.filter(|_| i % 2 == 0), ..call }, start) {
            Ok(Enqueued::Queued(ticket)) => tickets.push(ticket),
            Ok(Enqueued::Started(slot)) => up.handle_end(slot),
            Err(_) => {}
        }
    }
    let waiting = up.snapshot(start).waiting;
    let taken = resident_bytes().saturating_sub(before).saturating_sub(tickets.len() * size_of_val(&tickets[0]));
    let took = on_cpu() - began;
    println!("{waiting} calls of as many keys wait: {} bytes each, {:?} to queue", taken / waiting.max(1), took);
    let began = on_cpu();
    tickets.into_iter().for_each(|ticket| up.handle_cancel(ticket));
    println!("all of them leave: {:?}, {} wait", on_cpu() - began, up.snapshot(start).waiting);
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().expect("a name"), HeaderValue::from_static(value))).collect()
}

/// This thread's time on the processor, from Linux' own account; elsewhere the time that has passed.
fn on_cpu() -> Duration {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = account.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or_else(|| SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(), Duration::from_nanos)
}

/// Memory in use, from Linux' own account; elsewhere nothing.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

/// Long enough a round for an account that is kept in ticks of 4 ms.
const CALLS: u32 = 200_000;
const ROUNDS: usize = 5;
const MILLION: usize = 1_000_000;
