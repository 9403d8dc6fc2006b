//! The broadcast that everybody watches: ten frames a second, a group each second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use moq_net::{broadcast, origin, track};
use tidegate_token::Role;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};
use web_transport_moq::Session;
use web_transport_moq::proto::ConnectRequest;

use super::relay::Relay;

/// A publisher's session; it ends with this value.
pub(crate) struct Publisher {
    tasks: [JoinHandle<()>; 2],
    _media: moq_net::Session,
    _session: Session,
}

/// When each frame was written, by its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<Instant>>>);

/// The frames that were written by whatever publisher there is: one relay is measured at a time.
pub(crate) static WRITTEN: std::sync::LazyLock<Written> = std::sync::LazyLock::new(Written::default);

pub(crate) async fn publish(relay: &Relay) -> anyhow::Result<Publisher> {
    let origin = moq_tokio::origin::spawn();
    let broadcast = origin.create_broadcast(BROADCAST)?;
    broadcast.announce(origin::Route::default())?;
    let track = broadcast.create_track(TRACK, None)?;
    let request = ConnectRequest::new(relay.door().url(Role::Publisher)?)
        .with_protocols(moq_net::ALPNS.iter().map(|name| (*name).to_owned()));
    let session = relay.door().client()?.connect(request).await.context("connecting the publisher")?;
    let transport = moq_tokio::transport::Session::new(session.clone());
    let client = moq_net::Client::new().with_publisher(&origin);
    let (media, driver) = client.connect(std::time::Instant::now(), transport).await?;
    let driving = tokio::spawn(async move {
        let _end = moq_net::time::run(driver).await;
    });
    let writing = tokio::spawn(write(track, broadcast));
    Ok(Publisher { tasks: [driving, writing], _media: media, _session: session })
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Written {
    fn note(&self) -> u32 {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.push(Instant::now());
        u32::try_from(written.len() - 1).expect("a benchmark ends before")
    }

    pub(crate) fn at(&self, number: u32) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(number as usize).copied()
    }

    /// How many there are of which nobody may say any more that they are not late yet.
    pub(crate) fn due(&self, limit: Duration) -> u32 {
        let written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = written.partition_point(|at| at.elapsed() > limit);
        u32::try_from(due).expect("a benchmark ends before")
    }
}

async fn write(track: track::Producer, _broadcast: broadcast::Producer) {
    let mut ticks = interval(Duration::from_millis(100));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Ok(mut group) = track.append_group() else { return };
        for _ in 0..10 {
            ticks.tick().await;
            let mut frame = vec![0; FRAME];
            frame[..4].copy_from_slice(&WRITTEN.note().to_be_bytes());
            if group.write_frame(moq_net::Timestamp::now(), Bytes::from(frame)).is_err() {
                return;
            }
        }
        if group.finish().is_err() {
            return;
        }
    }
}

pub(crate) const BROADCAST: &str = "picture";
pub(crate) const TRACK: &str = "data";
const FRAME: usize = 1200;
