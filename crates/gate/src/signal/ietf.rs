//! The IETF's `RateLimit` and `RateLimit-Policy` fields, as structured fields, in their older and newer drafts.

use http::header::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, Item, List, ListEntry, Parameters, Parser};

use super::number::Decimal;
use super::rate_headers::{Rate, Rates};

/// Adds what the two fields say.
pub(super) fn read(headers: &HeaderMap, rates: &mut Rates) {
    let Some(limits) = joined(headers, &RATELIMIT) else { return };
    let policies = joined(headers, &RATELIMIT_POLICY).unwrap_or_default();
    for rate in parse(&limits, &policies) {
        rates.add(rate);
    }
}

/// Reads both fields: `"burst";r=50;t=30` with `"burst";q=100;w=60` of the newer drafts, or
/// `limit=100, remaining=50, reset=30` of draft 7. What cannot be read says nothing (G19).
#[must_use]
pub fn parse(limits: &[u8], policies: &[u8]) -> Vec<Rate> {
    if let Ok(members) = Parser::new(limits).parse::<List>() {
        let policies = Parser::new(policies).parse::<List>().unwrap_or_default();
        return items(&members).map(|item| read_item(item, &policies)).collect();
    }
    Parser::new(limits).parse::<Dictionary>().map(|fields| vec![read_draft_7(&fields)]).unwrap_or_default()
}

fn read_item(item: &Item, policies: &List) -> Rate {
    let policy = items(policies).find(|policy| policy.bare_item == item.bare_item);
    Rate {
        limit: policy.and_then(|policy| count(&policy.params, "q")),
        remaining: count(&item.params, "r"),
        reset: number(item.params.get("t")).and_then(Decimal::seconds),
    }
}

fn read_draft_7(fields: &Dictionary) -> Rate {
    let value = |name: &str| match fields.get(name) {
        Some(ListEntry::Item(item)) => number(Some(&item.bare_item)),
        Some(ListEntry::InnerList(_)) | None => None,
    };
    Rate {
        limit: value("limit").map(Decimal::count),
        remaining: value("remaining").map(Decimal::count),
        reset: value("reset").and_then(Decimal::seconds),
    }
}

fn items(members: &List) -> impl Iterator<Item = &Item> {
    members.iter().filter_map(|member| match member {
        ListEntry::Item(item) => Some(item),
        ListEntry::InnerList(_) => None,
    })
}

fn count(params: &Parameters, name: &str) -> Option<u64> {
    number(params.get(name)).map(Decimal::count)
}

fn number(value: Option<&BareItem>) -> Option<Decimal> {
    let value = value?;
    let whole = value.as_integer().map(|whole| Decimal::whole(whole.into()));
    let scaled = || value.as_decimal().map(|decimal| Decimal::thousandths(decimal.as_integer_scaled_1000().into()));
    whole.or_else(scaled)
}

/// All lines of a field as one.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<u8>> {
    let mut lines = headers.get_all(name).iter();
    let mut all = lines.next()?.as_bytes().to_vec();
    for line in lines {
        all.extend_from_slice(b", ");
        all.extend_from_slice(line.as_bytes());
    }
    Some(all)
}

static RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
static RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
