//! Answers as short lines: `in`, `wait 3`, `offer 10 s`, `full 30 s`, `in, lost: left`.

use std::time::Duration;

use tidegate_seats::{Answer, Lost, Refusal, RetryAfter};

/// An answer in words. The retry of an offer and of a full line is exact, so it is checked here once for all.
pub(crate) fn in_words(answer: &Answer) -> String {
    match answer {
        Answer::In { lost, .. } => format!("in{}", lost_in_words(*lost)),
        Answer::Wait { position, lost, .. } => format!("wait {}{}", position.0, lost_in_words(*lost)),
        Answer::Offer { left, retry, .. } => {
            assert_eq!(*retry, RetryAfter(Duration::from_secs(2)), "S5: an offer's retry");
            format!("offer {}", seconds(*left))
        }
        Answer::Full { retry, lost } => format!("full {}{}", seconds(retry.0), lost_in_words(*lost)),
        Answer::Refused(refusal) => match refusal {
            Refusal::StreamNotFound => "no such stream".into(),
            Refusal::StreamEnded => "stream ended".into(),
            Refusal::ServerAdmission => "server admission".into(),
            Refusal::Kicked(retry) => format!("kicked {}", seconds(retry.0)),
            Refusal::TenantViewerCap(_) => "tenant full".into(),
            Refusal::SpendCapReached { seat: None } => "spend cap".into(),
            Refusal::SpendCapReached { seat: Some(_) } => "spend cap, place kept".into(),
        },
    }
}

fn lost_in_words(lost: Option<Lost>) -> &'static str {
    match lost {
        None => "",
        Some(Lost::Expired) => ", lost: expired",
        Some(Lost::Left) => ", lost: left",
        Some(Lost::Unknown) => ", lost: unknown",
    }
}

pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
