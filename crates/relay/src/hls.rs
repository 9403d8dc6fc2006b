//! The same broadcasts over HTTP, as LL-HLS (E17): partial segments and blocking reloads, from the broadcast's own
//! frames, without transcoding.
//!
//! ```text
//! GET  /hls/STREAM/index.m3u8?jwt=TOKEN      a session begins: the playlist of playlists, with its name in every address
//! GET  /hls/STREAM/s/SESSION/v0.m3u8         a rendition's playlist (?_HLS_msn=17&_HLS_part=3 waits for that)
//! GET  /hls/STREAM/s/SESSION/v0/17.3.m4s     a part; 17.m4s the segment, 0.mp4 what goes before both
//! POST /hls/STREAM/s/SESSION/token           goes on with a renewed token
//! ```
//!
//! Who comes in is asked of the same desk as over MoQ, and is counted there. What decides nothing but text and time is
//! `address`, `window`, `playlist` and `lineup`; `track` packages, `show` follows the broadcasts, `guest` is a session.

mod address;
mod guest;
mod lineup;
mod playlist;
mod reply;
mod show;
mod track;
mod window;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tidegate_edge::Pass;
use tidegate_wire::relay::SessionAsk;
use tidegate_wire::{Code, Problem, TOKEN_MAX_BYTES};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

use self::address::{Reload, Target, Thing, TrackId};
pub(crate) use self::guest::Ending;
use self::guest::Guest;
use self::show::Show;
use self::window::Found;
use crate::desk::{Line, Place};
use crate::metrics;
use crate::visit::House;

/// The relay's door for players without WebTransport.
pub struct Hls {
    house: House,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    guests: HashMap<String, Arc<Guest>>,
    shows: HashMap<Arc<str>, Watched>,
}

/// A show, and since when nobody has a session of it.
struct Watched {
    show: Arc<Show>,
    deserted: Option<Instant>,
}

impl Hls {
    pub(crate) fn new(house: House) -> Self {
        Self { house, open: Mutex::default() }
    }

    /// Whether a path is one of these.
    #[must_use]
    pub fn serves(path: &str) -> bool {
        path.starts_with(address::ROOT)
    }

    /// Answers a request for a path that it [serves](Self::serves).
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Bytes> {
        if request.method() == Method::OPTIONS {
            return reply::preflight();
        }
        self.try_answer(request).await.unwrap_or_else(|problem| reply::problem(&problem))
    }

    /// Gives the places of sessions back that are no longer heard from, and stops what nobody watches.
    pub(crate) async fn tidy(&self) -> Infallible {
        let mut seconds = interval(SECOND);
        seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            seconds.tick().await;
            self.second(Instant::now());
        }
    }

    async fn try_answer(&self, request: Request<Incoming>) -> Result<Response<Bytes>, Problem> {
        let (head, body) = request.into_parts();
        let (path, query) = (head.uri.path(), head.uri.query());
        let target =
            Target::parse(path).ok_or_else(|| Problem::new(Code::NotFound, "there is nothing at this address"))?;
        let method =
            if matches!(target, Target::Within { thing: Thing::Token, .. }) { Method::POST } else { Method::GET };
        if head.method != method {
            return Err(Problem::new(Code::MethodNotAllowed, format!("this address takes {method}")));
        }
        match target {
            Target::Entrance { stream } => self.enter(stream, query).await,
            Target::Within { stream, session, thing } => {
                let guest = self.guest(stream, session)?;
                let too_many = || Problem::new(Code::RateLimited, "too many requests of one session at once");
                let _asking = guest.ask().ok_or_else(|| too_many().retry(SECOND))?;
                if thing == Thing::Token {
                    return self.renew(&guest, body).await;
                }
                tokio::select! {
                    // A session that is over gets nothing, also when that is ready.
                    biased;
                    code = guest.over() => Err(reply::over(Some(code))),
                    answer = fetch(&guest, thing, query) => answer,
                }
            }
        }
    }

    /// Lets a viewer in: the token, the broadcast, and the desk, in this order. Who comes before the publisher takes
    /// no place.
    async fn enter(&self, stream: &str, query: Option<&str>) -> Result<Response<Bytes>, Problem> {
        let pass = self.pass(stream, query).await.inspect_err(|_| metrics::refused_hls(Code::TokenRefused))?;
        let broadcasts = self.house.broadcasts(stream).map_err(|_| nothing_yet())?.consume();
        if !show::is_live(&broadcasts).await {
            return Err(nothing_yet());
        }
        let (token, seat, stream) = (Arc::clone(&pass.token), Arc::clone(&pass.seat), Arc::clone(&pass.stream));
        let (place, ending) = self.arrive(pass)?;
        let show = self.show(&stream, broadcasts);
        let lineup = show.lineup().await.ok_or_else(nothing_yet)?;
        // They are asked for next: begun now, they are ready the sooner.
        lineup.first().for_each(|track| drop(show.track(track)));
        let guest = Guest::new(show, stream, seat, token, place, ending);
        let session = new_name();
        let text = lineup.text(&session);
        self.open().guests.insert(session, Arc::new(guest));
        Ok(reply::playlist(text.into()))
    }

    /// Goes on with a renewed token, in a place of its own; the old one is given back.
    async fn renew(&self, guest: &Guest, body: Incoming) -> Result<Response<Bytes>, Problem> {
        let body = timeout(BODY_TIME, Limited::new(body, TOKEN_MAX_BYTES).collect()).await;
        let body = body.map_err(|_| Problem::new(Code::RequestTimeout, "the token did not come in time"))?;
        let body = body.map_err(|_| Problem::new(Code::BodyTooLarge, "the body is no token of ours"))?.to_bytes();
        let token = String::from_utf8_lossy(&body);
        let pass = self.house.viewer_pass(&guest.stream, token.trim()).await.map_err(unauthorized)?;
        if pass.seat != guest.seat {
            return Err(unauthorized("the token is of another seat"));
        }
        // The answer to the first try may have been lost.
        if !guest.holds(&pass.token) {
            let token = Arc::clone(&pass.token);
            let (place, ending) = self.arrive(pass)?;
            guest.move_to(token, place, ending);
        }
        Ok(reply::nothing())
    }

    async fn pass(&self, stream: &str, query: Option<&str>) -> Result<Pass, Problem> {
        let ask = SessionAsk::parse(stream, query).map_err(unauthorized)?;
        let stream = ask.stream.ok_or_else(|| unauthorized("the address names no stream"))?;
        self.house.viewer_pass(stream, &ask.token).await.map_err(unauthorized)
    }

    fn arrive(&self, pass: Pass) -> Result<(Place, watch::Receiver<Option<tidegate_wire::relay::CloseCode>>), Problem> {
        let ending = Ending::new(None);
        let heard = ending.subscribe();
        match self.house.desk.arrive(pass, Line::Http(ending)) {
            Ok(place) => Ok((place, heard)),
            Err(refusal) => {
                let problem = reply::refused(&refusal);
                metrics::refused_hls(problem.code);
                Err(problem)
            }
        }
    }

    fn guest(&self, stream: &str, session: &str) -> Result<Arc<Guest>, Problem> {
        let guest = self.open().guests.get(session).cloned();
        let guest = guest.filter(|guest| &*guest.stream == stream).ok_or_else(|| reply::over(None))?;
        match guest.ended() {
            Some(code) => Err(reply::over(Some(code))),
            None => Ok(guest),
        }
    }

    fn show(&self, stream: &Arc<str>, broadcasts: moq_net::origin::Consumer) -> Arc<Show> {
        let mut open = self.open();
        let begin = || Watched { show: Arc::new(Show::begin(broadcasts)), deserted: None };
        Arc::clone(&open.shows.entry(Arc::clone(stream)).or_insert_with(begin).show)
    }

    fn second(&self, now: Instant) {
        let mut open = self.open();
        let gone = |guest: &Guest| guest.ended().is_some() || guest.is_silent(now);
        let over: Vec<_> = open.guests.extract_if(|_, guest| gone(guest)).collect();
        open.shows.retain(|_, watched| {
            watched.show.tidy(now);
            // One is here.
            let is_deserted = Arc::strong_count(&watched.show) == 1;
            watched.deserted = is_deserted.then(|| watched.deserted.unwrap_or(now));
            watched.deserted.is_none_or(|since| now.saturating_duration_since(since) < show::UNASKED)
        });
        metrics::hls(open.guests.len());
        drop(open);
        // Their places are given back at the desk, outside of the lock.
        drop(over);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session may have.
async fn fetch(guest: &Guest, thing: Thing, query: Option<&str>) -> Result<Response<Bytes>, Problem> {
    let track = |id: TrackId| guest.show.track(id).ok_or_else(gone);
    let found = match thing {
        Thing::Playlist(id) => {
            let reload = Reload::parse(query);
            let reload =
                reload.map_err(|_| Problem::new(Code::BadRequest, "_HLS_msn and _HLS_part are whole numbers"))?;
            return match track(id)?.playlist(reload).await {
                Found::Here(text) => Ok(reply::playlist(text)),
                Found::NotYet => Err(late()),
                Found::Nowhere => {
                    Err(Problem::new(Code::BadRequest, "the playlist is far from there: reload it plainly"))
                }
            };
        }
        Thing::Init(id, number) => track(id)?.init(number),
        Thing::Segment(id, segment) => track(id)?.segment(segment),
        Thing::Part(id, segment, part) => track(id)?.part(segment, part).await,
        Thing::Token => unreachable!("handled before"),
    };
    match found {
        Found::Here(data) => Ok(reply::media(thing, data)),
        Found::NotYet => Err(late()),
        Found::Nowhere => Err(gone()),
    }
}

fn unauthorized(why: impl std::fmt::Display) -> Problem {
    Problem::new(Code::TokenRefused, why.to_string())
}

fn nothing_yet() -> Problem {
    Problem::new(Code::NoBroadcast, "nobody publishes this stream here; ask again").retry(ASK_AGAIN)
}

fn late() -> Problem {
    Problem::new(Code::MediaLate, "the publisher is late; ask again").retry(SECOND)
}

fn gone() -> Problem {
    Problem::new(Code::NotFound, "it is no longer kept, or never was")
}

/// A session's name: 128 bits, which nobody guesses.
fn new_name() -> String {
    let mut name = [0; 16];
    aws_lc_rs::rand::fill(&mut name).expect("the system has random bytes");
    HEXLOWER.encode(&name)
}

/// Between two looks.
const SECOND: Duration = Duration::from_secs(1);
/// When to ask again for a stream that nobody publishes.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// A token is one packet.
const BODY_TIME: Duration = Duration::from_secs(5);
