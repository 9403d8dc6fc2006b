//! The address of a media session: its stream and its token.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_wire::TOKEN_MAX_BYTES;
use tidegate_wire::relay::SessionAsk;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (path, query) = text.split_once('?').map_or((&*text, None), |(path, query)| (path, Some(query)));
    if let Ok(ask) = SessionAsk::parse(path, query) {
        assert!(ask.stream.is_none_or(|stream| !stream.is_empty() && !stream.contains('/')));
        assert!(!ask.token.is_empty() && ask.token.len() <= TOKEN_MAX_BYTES);
    }
});
