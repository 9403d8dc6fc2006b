//! Who speaks for a tenant: `Authorization: Bearer KEY` (S25).

use aws_lc_rs::digest::{SHA256, digest};
use http::{HeaderMap, header};
use tidegate_seats::TenantId;
use tidegate_store::{Catalogue, KeyDigest};
use tidegate_wire::{Code, Problem};

/// The key of an `Authorization: Bearer KEY` header; `None` for anything else.
///
/// The scheme is read in any case. A second such header makes both void: which one a proxy checked is unknown.
///
/// ```
/// use tidegate_control::auth::bearer;
///
/// let mut headers = http::HeaderMap::new();
/// headers.insert("authorization", "Bearer sk-1".parse().unwrap());
/// assert_eq!(bearer(&headers), Some("sk-1"));
/// ```
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let (line, None) = (lines.next()?, lines.next()) else { return None };
    let (scheme, key) = line.to_str().ok()?.split_once(' ')?;
    let key = key.trim_ascii();
    let is_token = !key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then_some(key)
}

/// What is kept of a secret key. Keys are long and random, so one round of SHA-256 is enough to hide them.
#[must_use]
pub fn key_digest(key: &str) -> KeyDigest {
    digest(&SHA256, key.as_bytes()).as_ref().try_into().expect("SHA-256 is 32 bytes")
}

/// The tenant whose key came with the request.
pub(crate) async fn tenant(catalogue: &dyn Catalogue, headers: &HeaderMap) -> Result<TenantId, Problem> {
    let Some(key) = bearer(headers) else {
        let detail = "send the tenant's secret key: `Authorization: Bearer KEY`";
        return Err(Problem::new(Code::Unauthorized, detail));
    };
    let opened = catalogue.tenant_of_key(&key_digest(key)).await;
    opened.ok_or_else(|| {
        Problem::new(Code::Unauthorized, "this secret key opens nothing; list keys with `tidegate tenant list`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::AUTHORIZATION, http::HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        bearer(&headers).map(str::to_owned)
    }

    #[test]
    fn s25_a_bearer_key_is_read_in_any_case_of_the_scheme() {
        assert_eq!(read(&["Bearer sk_1"]).as_deref(), Some("sk_1"));
        assert_eq!(read(&["bearer  sk_1 "]).as_deref(), Some("sk_1"));
    }

    #[test]
    fn s25_anything_else_is_no_key() {
        for lines in [
            &[][..],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["Basic c2sx"],
            &["sk_1"],
            &["Bearer a b"],
            &["Bearer \u{e9}"],
            &["Bearer a", "Bearer b"],
        ] {
            assert_eq!(read(lines), None, "{lines:?}");
        }
    }

    #[test]
    fn s25_a_key_is_kept_as_its_sha_256() {
        let hex: String = key_digest("abc").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
