//! Whether the process lives and takes requests: `/healthz`, `/readyz` (O4).

use serde::Serialize;
use utoipa::ToSchema;

use crate::Reply;

/// `200`: it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Healthy {
    /// Always `ok`.
    #[schema(value_type = String)]
    pub status: &'static str,
}

impl Reply for Healthy {
    fn status(&self) -> u16 {
        200
    }
}
