//! The stand-in as a process, for tests in other languages: says its address, then does what each line of stdin says.
//!
//! `throttle MS`, `fail STATUS [RETRY_AFTER]` and `end`; each is answered with `done`. It ends with its stdin.

use std::io::{self, BufRead};
use std::time::Duration;

use tidegate_youtube::{Fault, Script, State, YouTube};

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> io::Result<()> {
    let rate = std::env::args().nth(1).and_then(|rate| rate.parse().ok()).unwrap_or(10.0);
    // The shortest interval of a room, so that a test waits for no rows longer than it must.
    let youtube = YouTube::start(Script { rate, hint_ms: 1_000, ..Script::default() }).await?;
    println!("{}", youtube.url());
    tokio::task::spawn_blocking(move || {
        for line in io::stdin().lock().lines() {
            obey(&youtube, &line?)?;
            println!("done");
        }
        Ok(())
    })
    .await
    .map_err(io::Error::other)?
}

fn obey(youtube: &YouTube, line: &str) -> io::Result<()> {
    let mut words = line.split_whitespace();
    let order = words.next().unwrap_or_default();
    let number = words.next().and_then(|number| number.parse().ok());
    match (order, number) {
        ("throttle", Some(ms)) => youtube.throttle_for(Duration::from_millis(ms)),
        ("fail", Some(status)) => {
            let status = u16::try_from(status).map_err(io::Error::other)?;
            youtube.fail([Fault { retry_after: words.next().map(str::to_owned), ..Fault::new(status, "") }]);
        }
        ("end", _) => youtube.change(|script| script.state = State::Ended),
        _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("cannot {line:?}"))),
    }
    Ok(())
}
