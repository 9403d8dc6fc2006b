//! Who we say we are, as the page told us.

use serde_json::{Map, Value, json};

use super::walk::string_at;

/// What a page says that its own script would send with each poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// `INNERTUBE_API_KEY`: the same public constant for years, and optional by now.
    pub api_key: Option<String>,
    /// `INNERTUBE_CONTEXT_CLIENT_VERSION`.
    pub version: String,
    /// Ties calls to one visitor. Percent-encoded base64, sent as it came.
    pub visitor_data: Option<String>,
}

impl Client {
    /// Reads a page's configuration and data.
    pub(super) fn read(config: &Map<String, Value>, data: Option<&Value>) -> Self {
        let text =
            |key: &str| config.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        let context = config.get("INNERTUBE_CONTEXT");
        let in_context = |path: &str| context.and_then(|context| string_at(context, path));
        let version = text("INNERTUBE_CONTEXT_CLIENT_VERSION")
            .or_else(|| text("INNERTUBE_CLIENT_VERSION"))
            .or_else(|| in_context("client.clientVersion"));
        let visitor_data = text("VISITOR_DATA")
            .or_else(|| in_context("client.visitorData"))
            .or_else(|| string_at(data?, "responseContext.visitorData"));
        Self {
            api_key: text("INNERTUBE_API_KEY"),
            version: version.unwrap_or_else(|| FALLBACK_VERSION.to_owned()),
            visitor_data,
        }
    }

    /// The `context` of a poll. Language and region are ours, not those of the page's address: amounts and the few
    /// sentences that have to be read depend on them.
    pub(super) fn context(&self) -> Value {
        let mut client = json!({
            "clientName": CLIENT_NAME,
            "clientVersion": self.version,
            "hl": LANGUAGE,
            "gl": REGION,
        });
        if let Some(visitor_data) = &self.visitor_data {
            client["visitorData"] = visitor_data.as_str().into();
        }
        json!({ "client": client })
    }
}

/// The language that is asked for everywhere.
pub(super) const LANGUAGE: &str = "en";
/// The region that is asked for everywhere: in it a bare `$` is USD.
pub(super) const REGION: &str = "US";
pub(super) const CLIENT_NAME: &str = "WEB";
/// `WEB` as a number.
pub(super) const CLIENT_NAME_CODE: &str = "1";
/// A version that is known to work, for a page that names none.
const FALLBACK_VERSION: &str = "2.20260213.01.00";
