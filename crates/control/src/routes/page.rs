//! The page's own calls, told by method and path alone.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::Method;

use super::{Call, play};
use crate::control::Shared;

/// `POST /v1/play/{id}/…`. The router knows these routes too, and answers what is not quite one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageCall {
    Admit,
    Token,
    Heartbeat,
    Leave,
}

impl PageCall {
    /// The call that a request is.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Self> {
        let (id, call) = path.strip_prefix("/v1/play/")?.split_once('/')?;
        let call = match call {
            "admit" => Self::Admit,
            "token" => Self::Token,
            "hb" => Self::Heartbeat,
            "leave" => Self::Leave,
            _ => return None,
        };
        (method == Method::POST && !id.is_empty()).then_some(call)
    }

    /// Answers it as its route does.
    pub(crate) async fn answer(self, control: Arc<Shared>, call: Call) -> Response {
        let (control, stream) = (State(control), call.stream());
        match self {
            Self::Admit => play::admit(control, stream, call).await,
            Self::Token => play::token(control, stream, call).await,
            Self::Heartbeat => play::hb(control, stream, call).await,
            Self::Leave => play::leave(control, stream, call).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s25_only_what_the_router_would_take_is_a_page_call() {
        let post = |path| PageCall::of(&Method::POST, path);
        assert_eq!(post("/v1/play/a/admit"), Some(PageCall::Admit));
        assert_eq!(post("/v1/play/a/token"), Some(PageCall::Token));
        assert_eq!(post("/v1/play/no%20id/hb"), Some(PageCall::Heartbeat));
        assert_eq!(post("/v1/play/a/leave"), Some(PageCall::Leave));
        for path in
            ["/v1/play//hb", "/v1/play/a/b/hb", "/v1/play/a/hb/", "/v1/play/a/HB", "/v1/play/hb", "/v1/streams/a/hb"]
        {
            assert_eq!(post(path), None, "{path}");
        }
        assert_eq!(PageCall::of(&Method::GET, "/v1/play/a/hb"), None);
    }
}
