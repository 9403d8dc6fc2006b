//! The engine's answers become the network's.

use std::time::Duration;

use tidegate_seats::{Answer, Lost, Refusal, SettingsRefusal, StreamId, StreamRecord};
use tidegate_store::CatalogueError;
use tidegate_wire::play::{self, Admission, NotYet, Seated, State};
use tidegate_wire::streams::Stream;
use tidegate_wire::{Code, Problem};

use crate::control::Shared;
use crate::routes::no_stream;
use crate::settings::HEARTBEAT_S;
use crate::tokens::Life;

/// An answer to an ask. Only here, for an `In`, is a token signed (T4).
pub(crate) async fn told(
    control: &Shared,
    stream: &StreamId,
    answer: Answer,
    now: u64,
    token_until: u64,
    region: Option<&str>,
) -> Result<Admission, Problem> {
    let not_yet = match answer {
        Answer::In { seat, lost } => {
            let tenant = control.seats.tenant_of(stream).await.ok_or_else(no_stream)?;
            let seat = seat.to_string();
            let back = control.relays.knows(&seat);
            let signed = control.tokens.viewer(&seat, stream, &tenant, back, Life { from: now, until: token_until });
            return Ok(Admission::Seated(Seated::In {
                seat,
                token: signed.token,
                token_expires_s: signed.life_s,
                heartbeat_s: HEARTBEAT_S,
                relays: control.relays.ranked(&tenant, region),
                lost: lost.map(gone),
            }));
        }
        Answer::Wait { seat, position, retry, lost } => {
            NotYet::wait(seat.to_string(), position.0.get(), retry.0, lost.map(gone))
        }
        Answer::Offer { seat, left, retry } => NotYet::offer(seat.to_string(), left, retry.0),
        Answer::Full { retry, lost } => NotYet::full(retry.0, lost.map(gone)),
        Answer::Refused(refusal) => return Err(refused(refusal)),
    };
    Ok(Admission::NotYet(not_yet))
}

fn gone(lost: Lost) -> play::Lost {
    match lost {
        Lost::Expired => play::Lost::Expired,
        Lost::Left => play::Lost::Left,
        Lost::Unknown => play::Lost::Unknown,
    }
}

fn refused(refusal: Refusal) -> Problem {
    match refusal {
        Refusal::StreamNotFound => no_stream(),
        Refusal::StreamEnded => stream_ended(),
        Refusal::ServerAdmission => {
            Problem::new(Code::ServerAdmission, "the stream is not public: ask the site that shows it for a seat")
        }
        Refusal::Kicked(retry) => Problem::new(Code::Kicked, "this viewer was removed from the stream").retry(retry.0),
        Refusal::TenantViewerCap(retry) => Problem {
            state: Some(State::Full),
            ..Problem::new(Code::TenantViewerCap, "the tenant's seats over all its streams are taken").retry(retry.0)
        },
        Refusal::SpendCapReached { seat } => Problem {
            seat: seat.map(|seat| seat.to_string()),
            ..Problem::new(Code::SpendCapReached, "no new seats until the tenant's spend cap is raised")
        },
    }
}

/// What a change to the catalogue was refused for.
pub(crate) fn unchanged(control: &Shared, error: CatalogueError) -> Problem {
    match error {
        CatalogueError::Settings(SettingsRefusal::StreamNotFound) => no_stream(),
        CatalogueError::Settings(SettingsRefusal::StreamEnded) => stream_ended(),
        CatalogueError::Settings(refusal @ SettingsRefusal::OverTenantCap { .. }) => {
            Problem::new(Code::TenantViewerCap, refusal.to_string())
        }
        CatalogueError::TooManyPlaces { .. } => Problem::new(Code::TooManyPlaces, error.to_string()),
        CatalogueError::Away(away) => control.store_away(away),
        CatalogueError::TenantNotFound => Problem::new(Code::Unauthorized, "the key's tenant is gone"),
        // Fresh ids are random; after several in a row that are taken, the store does not tell the truth.
        CatalogueError::IdTaken | CatalogueError::KeyTaken => {
            let retry = Duration::from_secs(1);
            Problem::new(Code::StoreUnavailable, "no free stream id was found; nothing was changed").retry(retry)
        }
    }
}

/// S25.
pub(crate) fn stream_ended() -> Problem {
    Problem::new(Code::StreamEnded, "its seats ended with it; there will be no more")
}

/// A stream as its owner reads it.
pub(crate) fn stream(record: StreamRecord) -> Stream {
    let StreamRecord { id, settings, created_at, ended_at, ingest_token_at, peak } = record;
    Stream {
        id: id.as_str().to_owned(),
        name: settings.name,
        viewer_cap: settings.viewer_cap,
        queue_max: settings.queue_max,
        public: settings.public,
        region: settings.region,
        estimate: settings.estimate,
        created_at,
        ended_at,
        ingest_token_at,
        peak,
    }
}
