//! Random schedules: the machine against naive models, and a relay under any burst against its promises.

mod burst;
mod doors;
mod load;

/// As many cases as take a second or two without optimisation; `PROPTEST_CASES` asks for more.
fn cases(cases: u32) -> proptest::test_runner::Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    proptest::test_runner::Config { cases, failure_persistence: None, ..proptest::test_runner::Config::default() }
}
