//! Reads the stream's stats (S22) once a second, for the cap to judge by.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::{MissedTickBehavior, interval};

use crate::failure::{Failure, Outcome};
use crate::load::client::{Line, Reply};
use crate::load::viewer::Shared;

/// What is known about the stream's seats from the flags and from the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caps {
    /// The highest cap in force during the run: a lowered one unseats nobody (S10).
    pub(crate) highest: Option<u32>,
    latest: Option<u32>,
    /// The most seats that the server counted.
    pub(crate) most_seats: Option<u32>,
}

impl Caps {
    pub(crate) fn given(cap: Option<u32>) -> Self {
        Self { highest: cap, latest: cap, most_seats: None }
    }

    /// Takes one reading; true if the cap was lowered.
    fn read(&mut self, seen: &Viewers) -> bool {
        let lowered = self.latest.is_some_and(|latest| seen.cap < latest);
        self.latest = Some(seen.cap);
        self.highest = self.highest.max(self.latest);
        self.most_seats = self.most_seats.max(Some(seen.seats));
        lowered
    }
}

#[derive(Deserialize)]
struct Stats {
    viewers: Viewers,
}

#[derive(Deserialize)]
struct Viewers {
    cap: u32,
    seats: u32,
}

/// One reading, before the run: a wrong key is an error now rather than a run that judges nothing.
pub(crate) async fn first(line: &mut Line, stream: &str, caps: &mut Caps) -> Outcome<()> {
    let path = path(stream);
    let reply = line.get(&path).await.map_err(|why| Failure::new(format!("cannot read {path}: {}", why.label())))?;
    let Some(stats) = parse(&reply) else {
        return Err(Failure::new(format!("{path} answered {}", reply.status))
            .hint("--key (or TIDEGATE_KEY) must be a secret key of the stream's tenant; leave it out to do without"));
    };
    caps.read(&stats.viewers);
    Ok(())
}

/// Reads on until the task is dropped. An outage of the server is no news here: the viewers see it too.
pub(crate) async fn watch(mut line: Line, shared: &Shared, caps: &mut Caps) {
    let path = path(&shared.plan.stream);
    let mut ticks = interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Ok(reply) = line.get(&path).await else { continue };
        if let Some(stats) = parse(&reply)
            && caps.read(&stats.viewers)
        {
            shared.book().judge.cap_lowered();
        }
    }
}

fn path(stream: &str) -> String {
    format!("/v1/streams/{stream}/stats")
}

fn parse(reply: &Reply) -> Option<Stats> {
    if reply.status == 200 { serde_json::from_slice(&reply.body).ok() } else { None }
}
