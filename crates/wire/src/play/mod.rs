//! The page's own calls: `POST /v1/play/{id}/admit`, `token`, `hb`, `leave`. Unknown fields are ignored (S25).

mod answers;
mod requests;

pub use answers::{Admission, Kept, Lost, NotYet, Relay, Renewed, Seated, State, WaitEstimate};
pub use requests::{
    AdmitRequest, HeartbeatRequest, LeaveRequest, TokenRequest, ViewerTokenRequest, parse_admit, parse_heartbeat,
    parse_leave, parse_token, parse_viewer_token,
};
