//! Tokens and key files. A token that was tampered with never verifies.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tidegate_token::{Claims, KeySet, PublicKeys, Role, Seed, VerifyAt};

fuzz_target!(|bytes: &[u8]| {
    let keys = &*KEYS;
    let text = String::from_utf8_lossy(bytes);
    let _ = keys.verify(&text, VerifyAt::Now(1));
    let _ = KeySet::from_json(&text);
    let _ = PublicKeys::from_jwks(&text);

    let claims = Claims {
        sub: "seat".to_owned(),
        stream: "demo".to_owned(),
        tenant: "main".to_owned(),
        role: Role::Viewer,
        iat: 0,
        exp: 100,
        jti: "one".to_owned(),
        back: false,
    };
    let token = keys.sign(&claims);
    // Two bytes say where, the rest is written over what stands there.
    if let [high, low, patch @ ..] = bytes {
        let at = usize::from(u16::from_be_bytes([*high, *low])) % token.len();
        let mut tampered = token.clone().into_bytes();
        for (byte, new) in tampered[at..].iter_mut().zip(patch) {
            *byte = *new;
        }
        if tampered != token.as_bytes() {
            assert!(keys.verify(&String::from_utf8_lossy(&tampered), VerifyAt::Now(1)).is_err());
        }
    }
});

static KEYS: LazyLock<KeySet> = LazyLock::new(|| KeySet::generate(Seed([7; 32]), 0));
