//! D1 by force: a process that asks as fast as it can is killed at any instant, and nothing that it was told is lost.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tidegate_seats::{Answer, BeatAnswer, SeatId};
use tidegate_store::{Embedded, EmbeddedSettings, OpenError, Seats};

use crate::support::*;

const DIR: &str = "TIDEGATE_TEST_STORE_DIR";
const SEATS: u32 = 20;

/// Runs this program again, as the one test `name`, on a store in `dir`.
fn child(name: &str, dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Says one line; it is in the pipe when this returns.
fn say(words: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    out.write_fmt(format_args!("> {words}\n")).and_then(|()| out.flush()).unwrap();
}

#[tokio::test]
async fn o1_a_second_process_is_told_who_has_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = child("crash::as_a_child_holds_the_store", dir.path());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_ref().unwrap().ends_with("> open")).unwrap().unwrap();
    let error = Embedded::open(dir.path(), EmbeddedSettings::default()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { pid: Some(pid), .. } if pid == child.id()), "{error:?}");
    let told = format!("{} is in use by process {}", dir.path().display(), child.id());
    assert!(error.to_string().starts_with(&told), "{error}");

    child.kill().unwrap();
    child.wait().unwrap();
    open(dir.path());
}

/// Not a test by itself: the other process of the test above.
#[tokio::test]
async fn as_a_child_holds_the_store() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let _store = open(Path::new(&dir));
    say(format_args!("open"));
    std::future::pending().await
}

#[tokio::test]
async fn d1_kill_9_at_any_instant_keeps_every_answered_seat_and_the_order_of_the_line() {
    let (mut seated, mut places, mut left) = (0, 0, 0);
    for round in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let mut child = child("crash::as_a_child_asks_as_fast_as_it_can", dir.path());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut log = String::new();
        while !log.contains("> in ") {
            assert!(out.read_line(&mut log).unwrap() > 0, "the child ended early");
        }
        let reader = std::thread::spawn(move || {
            out.read_to_string(&mut log).unwrap();
            log
        });
        // Any instant will do, so no event is waited for.
        std::thread::sleep(Duration::from_micros(rand::random_range(0..150_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let log = reader.join().unwrap();
        let told = Told::parse(&log);
        (seated, places, left) = (seated + told.seated.len(), places + told.places.len(), left + told.left.len());
        told.check(dir.path(), round).await;
    }
    assert!(seated > 0 && places > 0 && left > 0, "the rounds ended too early to prove anything");
}

/// Not a test by itself: the process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_a_child_asks_as_fast_as_it_can() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let Fixture { store, dir: _ignored } = {
        let store = open(Path::new(&dir));
        tidegate_store::Catalogue::add_tenant(&*store, &acme(), tenant_settings(1_000), [1; 32]).await.unwrap();
        let settings = stream_settings(SEATS, 10_000);
        tidegate_store::Catalogue::open_stream(&*store, &acme(), &live(), settings).await.unwrap();
        Fixture { store, dir: tempfile::tempdir().unwrap() }
    };
    let tasks: Vec<_> = (0..16).map(|task| tokio::spawn(ask_on_and_on(Arc::clone(&store), task))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Asks for new seats and again for old ones, leaves now and then, and says what it is told.
async fn ask_on_and_on(store: Arc<Embedded>, task: usize) {
    let mut mine: Vec<SeatId> = Vec::new();
    for turn in 0..2_000_u32 {
        let ask = match turn % 4 {
            1 | 3 => mine[rand::random_range(0..mine.len())],
            2 if turn % 8 == 6 => {
                let seat = mine.swap_remove(rand::random_range(0..mine.len()));
                say(format_args!("leaving {seat}"));
                store.leave(&live(), seat).await.unwrap();
                say(format_args!("left {seat}"));
                continue;
            }
            _ => {
                let ask = newcomer();
                mine.push(ask.fresh);
                tell(task, &store.ask(&live(), ask).await.unwrap());
                continue;
            }
        };
        tell(task, &store.ask(&live(), join(ask)).await.unwrap());
    }
}

fn tell(task: usize, answer: &Answer) {
    match answer {
        Answer::In { seat, .. } => say(format_args!("in {seat}")),
        Answer::Wait { seat, position, .. } => say(format_args!("wait {seat} {task} {}", position.0)),
        Answer::Offer { .. } | Answer::Full { .. } | Answer::Refused(_) => panic!("{answer:?}"),
    }
}

/// What the child had been told when it died.
#[derive(Default)]
struct Told {
    seated: HashSet<SeatId>,
    /// Each task's places in the order of its asks, with the position last told.
    places: HashMap<usize, Vec<(SeatId, u32)>>,
    leaving: HashSet<SeatId>,
    left: HashSet<SeatId>,
}

impl Told {
    fn parse(log: &str) -> Self {
        let mut told = Self::default();
        // What stands after the last newline was cut off by the kill.
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        // The harness's own words may stand before the first line.
        for line in whole.lines().filter_map(|line| Some(line.split_once("> ")?.1)) {
            let words: Vec<&str> = line.split(' ').collect();
            let seat = SeatId::parse(words[1]).unwrap();
            match words[0] {
                "in" => {
                    told.seated.insert(seat);
                }
                "wait" => told.note_place(seat, words[2].parse().unwrap(), words[3].parse().unwrap()),
                "leaving" => {
                    told.leaving.insert(seat);
                }
                "left" => {
                    told.left.insert(seat);
                }
                other => panic!("{other}"),
            }
        }
        told
    }

    fn note_place(&mut self, seat: SeatId, task: usize, position: u32) {
        let places = self.places.entry(task).or_default();
        match places.iter_mut().find(|(place, _)| *place == seat) {
            Some((_, last)) => {
                assert!(position <= *last, "S3: a position rose while the store was alive");
                *last = position;
            }
            None => places.push((seat, position)),
        }
    }

    /// Opens what the dead process left, and asks everybody again.
    async fn check(&self, dir: &Path, round: u32) {
        let store = open(dir);
        let stats = store.stats(&live()).await.unwrap();
        assert!(stats.seats + stats.turns <= SEATS, "round {round}: {stats:?}");
        for seat in &self.left {
            assert_eq!(store.find(&live(), Some(*seat), None).await, None, "round {round}: {seat} had left");
        }
        for seat in self.seated.difference(&self.leaving) {
            let kept = store.beat(&live(), beat(*seat)).await;
            assert!(matches!(kept, BeatAnswer::Kept { .. }), "round {round}: {seat} was seated, now {kept:?}");
        }
        for places in self.places.values() {
            let mut ahead = 0;
            for (seat, last) in places {
                if self.seated.contains(seat) || self.leaving.contains(seat) {
                    continue;
                }
                // Without a join: a place whose turn has come is told of its offer and stays who it is.
                match store.ask(&live(), again(*seat)).await.unwrap() {
                    Answer::Wait { seat: same, position, .. } => {
                        let position = position.0.get();
                        assert_eq!(same, *seat, "round {round}: a place was lost");
                        assert!(position > ahead, "round {round}: the order of the line was inverted");
                        assert!(position <= *last, "round {round}: told {last}, now {position}");
                        ahead = position;
                    }
                    Answer::In { seat: same, .. } | Answer::Offer { seat: same, .. } => {
                        assert_eq!(same, *seat, "round {round}: a place was lost");
                        assert_eq!(ahead, 0, "round {round}: a turn passed somebody who came earlier");
                    }
                    answer @ (Answer::Full { .. } | Answer::Refused(_)) => panic!("round {round}: {answer:?}"),
                }
            }
        }
    }
}
