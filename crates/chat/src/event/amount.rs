//! Money, as it was shown and as a number.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What was paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Amount {
    /// As the upstream wrote it, unchanged: "¥1,000".
    pub text: String,
    /// The number alone, with `.` before the decimals and nothing else: "1000". Left out when it cannot be read
    /// without a guess.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub number: Option<String>,
    /// Left out when the currency is not known: it is never guessed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(nullable = false)]
    pub money: Option<Money>,
}

/// An amount in a known currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Money {
    /// ISO 4217: "JPY".
    pub currency: String,
    /// In the currency's minor unit: cents for USD, whole yen for JPY.
    pub minor: i64,
    /// How many of `minor`'s digits stand after the decimal point: 2 for USD, 0 for JPY (ISO 4217).
    pub minor_digits: u8,
}
