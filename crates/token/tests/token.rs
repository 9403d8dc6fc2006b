//! The rules of tokens: T1, T2, T4, and what S20 allows during an outage.
#![expect(clippy::unwrap_used, reason = "tests")]

use data_encoding::BASE64URL_NOPAD;
use proptest::prelude::*;
use tidegate_token::{
    Claims, KeyFileError, KeySet, KeysError, PublicKeys, Role, Seed, TOKEN_MAX_BYTES, TokenError, VerifyAt,
};

const NOW: u64 = 1_800_000_000;

fn keys() -> KeySet {
    KeySet::generate(Seed([7; 32]), NOW - 1000)
}

fn claims() -> Claims {
    Claims {
        sub: "c2VhdC1zZWF0LXNlYXQtMQ".into(),
        stream: "launch".into(),
        tenant: "acme".into(),
        role: Role::Viewer,
        iat: NOW,
        exp: NOW + 120,
        jti: "j-1".into(),
        back: false,
    }
}

/// Signs a header and claims of the test's own making with the key of [`keys`].
fn forged(header: &str, claims: &str) -> String {
    use aws_lc_rs::signature::Ed25519KeyPair;
    let message =
        format!("{}.{}", BASE64URL_NOPAD.encode(header.as_bytes()), BASE64URL_NOPAD.encode(claims.as_bytes()));
    let signature = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap().sign(message.as_bytes());
    format!("{message}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
}

#[test]
fn t2_a_signed_token_verifies_and_says_what_was_signed() {
    let token = keys().sign(&claims());
    let verified = keys().verify(&token, VerifyAt::Now(NOW)).unwrap();
    assert_eq!(verified.role(), Role::Viewer);
    assert_eq!(verified.viewer_of("launch").unwrap(), claims());
}

#[test]
fn t2_the_claims_are_the_specified_ones_and_no_more() {
    let token = keys().sign(&claims());
    let mut parts = token.split('.');
    let header: serde_json::Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(parts.next().unwrap().as_bytes()).unwrap()).unwrap();
    let body: serde_json::Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(parts.next().unwrap().as_bytes()).unwrap()).unwrap();
    assert_eq!(header, serde_json::json!({"alg": "EdDSA", "typ": "JWT", "kid": keys().signer()}));
    assert_eq!(
        body,
        serde_json::json!({"sub": "c2VhdC1zZWF0LXNlYXQtMQ", "stream": "launch", "tenant": "acme", "role": "viewer",
            "iat": NOW, "exp": NOW + 120, "jti": "j-1", "back": false})
    );
}

#[test]
fn t2_a_token_is_dead_in_the_second_of_its_end() {
    let token = keys().sign(&claims());
    assert!(keys().verify(&token, VerifyAt::Now(NOW + 119)).is_ok());
    assert_eq!(keys().verify(&token, VerifyAt::Now(NOW + 120)), Err(TokenError::Expired { ago_s: 0 }));
    assert_eq!(keys().verify(&token, VerifyAt::Now(NOW + 150)), Err(TokenError::Expired { ago_s: 30 }));
}

#[test]
fn s20_a_token_that_ended_since_the_outage_began_is_taken_and_an_older_one_is_not() {
    let token = keys().sign(&claims());
    let outage = |began| VerifyAt::Outage { began, now: NOW + 900 };
    assert!(keys().verify(&token, outage(NOW + 119)).is_ok());
    assert_eq!(keys().verify(&token, outage(NOW + 121)), Err(TokenError::Expired { ago_s: 1 }));
}

#[test]
fn e1_a_token_opens_only_its_role_and_its_stream() {
    let verified = |role| {
        let token = keys().sign(&Claims { role, ..claims() });
        keys().verify(&token, VerifyAt::Now(NOW)).unwrap()
    };
    let wrong = |wanted, got| Err(TokenError::WrongRole { wanted, got });
    assert_eq!(verified(Role::Viewer).viewer_of("other"), Err(TokenError::WrongStream));
    assert_eq!(verified(Role::Viewer).publisher_of("launch"), wrong(Role::Publisher, Role::Viewer));
    assert_eq!(verified(Role::Publisher).viewer_of("launch"), wrong(Role::Viewer, Role::Publisher));
    assert!(verified(Role::Publisher).publisher_of("launch").is_ok());
    assert_eq!(verified(Role::Viewer).peer(), wrong(Role::Peer, Role::Viewer));
    assert!(verified(Role::Peer).peer().is_ok());
}

#[test]
fn t1_the_algorithm_is_pinned() {
    let body = serde_json::to_string(&claims()).unwrap();
    let kid = keys().signer().to_owned();
    for (alg, refusal) in [
        ("none", TokenError::Malformed),
        ("HS256", TokenError::WrongAlgorithm),
        ("RS256", TokenError::WrongAlgorithm),
        ("ES256", TokenError::WrongAlgorithm),
        ("eddsa", TokenError::Malformed),
    ] {
        let token = forged(&format!(r#"{{"alg":"{alg}","typ":"JWT","kid":"{kid}"}}"#), &body);
        assert_eq!(keys().verify(&token, VerifyAt::Now(NOW)), Err(refusal), "{alg}");
    }
    let unsigned = forged(&format!(r#"{{"alg":"EdDSA","kid":"{kid}"}}"#), &body);
    let unsigned = unsigned.rsplit_once('.').unwrap().0.to_owned() + ".";
    assert_eq!(keys().verify(&unsigned, VerifyAt::Now(NOW)), Err(TokenError::BadSignature));
}

#[test]
fn t1_a_public_key_used_as_an_hmac_secret_opens_nothing() {
    // The classic confusion: sign HS256 with the published key's bytes.
    let jwks: serde_json::Value = serde_json::from_str(&keys().public().to_jwks(NOW)).unwrap();
    let public = BASE64URL_NOPAD.decode(jwks["keys"][0]["x"].as_str().unwrap().as_bytes()).unwrap();
    let mut header = jsonwebtoken::Header::new(jsonwebtoken::Algorithm::HS256);
    header.kid = Some(keys().signer().into());
    let secret = jsonwebtoken::EncodingKey::from_secret(&public).unwrap();
    let token = jsonwebtoken::encode(&header, &claims(), &secret).unwrap();
    assert_eq!(keys().verify(&token, VerifyAt::Now(NOW)), Err(TokenError::WrongAlgorithm));
}

#[test]
fn t1_an_unknown_or_missing_key_id_is_refused() {
    let body = serde_json::to_string(&claims()).unwrap();
    for header in [r#"{"alg":"EdDSA","kid":"someone-elses"}"#, r#"{"alg":"EdDSA"}"#] {
        assert_eq!(keys().verify(&forged(header, &body), VerifyAt::Now(NOW)), Err(TokenError::UnknownKey), "{header}");
    }
}

#[test]
fn t1_a_key_in_the_tokens_own_header_is_not_believed() {
    let other = KeySet::generate(Seed([8; 32]), NOW);
    let jwks: serde_json::Value = serde_json::from_str(&other.public().to_jwks(NOW)).unwrap();
    let token = other.sign(&claims());
    let mut header: serde_json::Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(token.split('.').next().unwrap().as_bytes()).unwrap()).unwrap();
    header["jwk"] = jwks["keys"][0].clone();
    let token = forged(&header.to_string(), &serde_json::to_string(&claims()).unwrap());
    assert_eq!(keys().verify(&token, VerifyAt::Now(NOW)), Err(TokenError::UnknownKey));
}

#[test]
fn tokens_over_4_kib_are_refused_unread() {
    let token = "a".repeat(TOKEN_MAX_BYTES + 1);
    assert_eq!(keys().verify(&token, VerifyAt::Now(NOW)), Err(TokenError::TooLong { bytes: 4097 }));
    let token = "a".repeat(TOKEN_MAX_BYTES);
    assert_eq!(keys().verify(&token, VerifyAt::Now(NOW)), Err(TokenError::Malformed));
}

#[test]
fn t1_rotation_keeps_old_tokens_good_for_the_overlap() {
    let old = keys();
    let token = old.sign(&claims());
    let new = old.rotate(Seed([9; 32]), NOW, 60);
    assert_ne!(new.signer(), old.signer());
    assert!(new.verify(&token, VerifyAt::Now(NOW + 59)).is_ok());
    assert_eq!(new.verify(&token, VerifyAt::Now(NOW + 60)), Err(TokenError::UnknownKey));
    // An outage excuses a token's end, never a retired key.
    let late = VerifyAt::Outage { began: NOW, now: NOW + 61 };
    assert_eq!(new.verify(&token, late), Err(TokenError::UnknownKey));
    // A verifier that read the old set alone does not know the new key until it reads again.
    let ahead = new.sign(&claims());
    assert_eq!(old.verify(&ahead, VerifyAt::Now(NOW)), Err(TokenError::UnknownKey));
    assert!(new.verify(&ahead, VerifyAt::Now(NOW)).is_ok());
}

#[test]
fn t1_keys_of_two_rotations_ago_are_dropped_once_retired() {
    let set = keys().rotate(Seed([9; 32]), NOW, 60).rotate(Seed([10; 32]), NOW + 30, 60);
    assert_eq!(set.public().to_jwks(NOW + 30).matches("kid").count(), 3);
    let set = set.rotate(Seed([11; 32]), NOW + 100, 60);
    assert_eq!(set.to_json().matches("kid").count(), 2);
}

#[test]
fn t1_the_key_file_round_trips_and_the_jwks_verifies() {
    let set = keys().rotate(Seed([9; 32]), NOW, 60);
    let read = KeySet::from_json(&set.to_json()).unwrap();
    assert_eq!(read.to_json(), set.to_json());
    let old_token = keys().sign(&claims());
    assert!(read.verify(&old_token, VerifyAt::Now(NOW + 1)).is_ok());

    let public = PublicKeys::from_jwks(&set.public().to_jwks(NOW)).unwrap();
    assert!(public.verify(&set.sign(&claims()), VerifyAt::Now(NOW)).is_ok());
    assert!(public.verify(&old_token, VerifyAt::Now(NOW)).is_ok());
    // What is published can not sign.
    let secret = BASE64URL_NOPAD.encode(&[9; 32]);
    assert!(set.to_json().contains(&secret));
    assert!(!set.public().to_jwks(NOW).contains(&secret));
}

#[test]
fn t1_a_damaged_key_file_says_what_to_do() {
    let good = keys().to_json();
    let advice = |text: &str| KeySet::from_json(text).unwrap_err();
    assert!(matches!(advice("nonsense"), KeyFileError::NotAKeyFile(_)));
    assert!(matches!(advice(r#"{"keys":[],"extra":1}"#), KeyFileError::NotAKeyFile(_)));
    assert_eq!(advice(r#"{"keys":[]}"#), KeyFileError::NotOneSigner(0));
    let seed = BASE64URL_NOPAD.encode(&[7; 32]);
    let kid = keys().signer().to_owned();
    assert_eq!(advice(&good.replace(&seed, "short")), KeyFileError::BadSeed { kid: kid.clone() });
    let swapped = good.replace(&seed, &BASE64URL_NOPAD.encode(&[8; 32]));
    assert_eq!(advice(&swapped), KeyFileError::WrongKeyId { kid });
    let row = good.trim_start_matches(|c| c != '[').trim_start_matches('[').rsplit_once(']').unwrap().0;
    let twice = format!(r#"{{"keys":[{row},{row}]}}"#);
    assert_eq!(advice(&twice), KeyFileError::NotOneSigner(2));
}

#[test]
fn t1_a_key_set_without_ed25519_keys_is_refused() {
    let rsa = r#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"r"}]}"#;
    assert_eq!(PublicKeys::from_jwks(rsa).unwrap_err(), KeysError::NoUsableKey);
    assert!(matches!(PublicKeys::from_jwks("[]").unwrap_err(), KeysError::NotAKeySet(_)));
}

#[test]
fn o4_nothing_secret_shows_in_debug_text() {
    let text = format!("{:?} {:?} {:?}", keys(), claims(), Seed([7; 32]));
    assert!(!text.contains(&claims().sub));
    assert!(!text.contains(&BASE64URL_NOPAD.encode(&[7; 32])));
}

proptest! {
    /// Round trip: whatever is signed verifies and comes back equal.
    #[test]
    fn t2_every_signed_claim_comes_back(
        sub in "\\PC{0,40}", stream in "\\PC{0,40}", tenant in "\\PC{0,40}", jti in "\\PC{0,40}",
        seed in any::<[u8; 32]>(), iat in any::<u64>(), life in 1..u64::from(u32::MAX), back in any::<bool>(),
    ) {
        let keys = KeySet::generate(Seed(seed), 0);
        let iat = iat >> 2;
        let claims = Claims { sub, stream, tenant, role: Role::Viewer, iat, exp: iat + life, jti, back };
        let verified = keys.verify(&keys.sign(&claims), VerifyAt::Now(iat)).unwrap();
        prop_assert_eq!(verified.viewer_of(&claims.stream).unwrap(), claims);
    }

    /// Any changed byte is refused, wherever it is.
    #[test]
    fn t1_any_flipped_byte_is_refused(at in any::<prop::sample::Index>(), flip in 1_u8..=255) {
        let keys = keys();
        let mut token = keys.sign(&claims()).into_bytes();
        let at = at.index(token.len());
        token[at] ^= flip;
        // A flip may leave UTF-8; such bytes never reach the parser as text.
        if let Ok(token) = String::from_utf8(token) {
            prop_assert!(keys.verify(&token, VerifyAt::Now(NOW)).is_err());
        }
    }

    /// Whatever text comes, the answer is an error, never a panic.
    #[test]
    fn t1_no_text_is_a_token_by_chance(text in "\\PC{0,300}", dots in "[A-Za-z0-9_.-]{0,300}") {
        prop_assert!(keys().verify(&text, VerifyAt::Now(NOW)).is_err());
        prop_assert!(keys().verify(&dots, VerifyAt::Now(NOW)).is_err());
        prop_assert!(KeySet::from_json(&text).is_err());
        prop_assert!(PublicKeys::from_jwks(&text).is_err());
    }
}
