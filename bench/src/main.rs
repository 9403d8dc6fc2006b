//! Measures the server beside a floor in the same run.
//!
//! `tidegate-bench http PATH-OF-TIDEGATE` starts both servers pinned to core 0, drives them in turn from core 1, and
//! prints CPU microseconds a request and the ratio within each round. CPU is the scheduler's run time of the
//! server's threads: the figure that a busy neighbour does not move.
//!
//! `tidegate-bench proxy PATH-OF-TIDEGATE` does the same for the gate's reverse proxy, beside a bare hyper proxy, nginx,
//! HAProxy and Envoy, and adds open-loop latency and what becomes of identical calls.
//!
//! `tidegate-bench fanout PATH-OF-TIDEGATE` sends a live chat to thousands of viewers, beside nginx with nchan.
//!
//! `tidegate-bench edge PATH-OF-TIDEGATE [PATH-OF-MOQ-RELAY]` offers a relay three times what it can carry.
//!
//! `tidegate-bench soak PATH-OF-TIDEGATE` keeps the gate at its full rate for ten minutes and holds its memory to a bound.

mod cpu;
mod drive;
mod edge;
mod fanout;
mod floor;
mod http;
mod memory;
mod proxy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["http", tidegate] => http::run(tidegate.as_ref(), 35),
        ["http", tidegate, rounds] => {
            rounds.parse().map_err(anyhow::Error::from).and_then(|rounds| http::run(tidegate.as_ref(), rounds))
        }
        ["proxy", tidegate] => proxy::run(tidegate.as_ref(), 5),
        ["proxy", tidegate, rounds] => {
            rounds.parse().map_err(anyhow::Error::from).and_then(|rounds| proxy::run(tidegate.as_ref(), rounds))
        }
        ["soak", tidegate] => proxy::soak(tidegate.as_ref(), 600),
        ["soak", tidegate, seconds] => {
            seconds.parse().map_err(anyhow::Error::from).and_then(|seconds| proxy::soak(tidegate.as_ref(), seconds))
        }
        ["fanout", tidegate] => fanout::run(tidegate.as_ref(), fanout::PLAN),
        ["fanout", tidegate, rounds, seconds, viewers] => {
            plan(rounds, seconds, viewers).and_then(|plan| fanout::run(tidegate.as_ref(), plan))
        }
        ["edge", tidegate] => edge::run(&edge::Programs { tidegate: tidegate.into(), moq_relay: None }),
        ["edge", tidegate, moq_relay] => {
            edge::run(&edge::Programs { tidegate: tidegate.into(), moq_relay: Some(moq_relay.into()) })
        }
        ["room", youtube] => fanout::serve_room(youtube),
        ["floor", address] => floor::serve(address),
        ["pass", address, origin] => proxy::serve_floor(address, origin),
        ["origin", address] => proxy::serve_origin(address),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn plan(rounds: &str, seconds: &str, viewers: &str) -> anyhow::Result<fanout::Plan> {
    Ok(fanout::Plan { rounds: rounds.parse()?, seconds: seconds.parse()?, viewers: viewers.parse()? })
}

const USAGE: &str = "usage: tidegate-bench http PATH-OF-TIDEGATE [ROUNDS] | proxy PATH-OF-TIDEGATE [ROUNDS]
       | soak PATH-OF-TIDEGATE [SECONDS]
       | edge PATH-OF-TIDEGATE [PATH-OF-MOQ-RELAY]
       | fanout PATH-OF-TIDEGATE [ROUNDS SECONDS VIEWERS]
       | room YOUTUBE | floor ADDRESS | pass ADDRESS ORIGIN | origin ADDRESS";
