//! What people type for a room, amounts of money in any locale, and YouTube's tokens, which come back for another view.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_chat::youtube::{Name, Region, Token, TokenParts, View, page_request, read_amount};

fuzz_target!(|text: &str| {
    if let Ok(name) = Name::parse(text) {
        let request = page_request(&name);
        assert!(request.path.parse::<http::Uri>().is_ok(), "{}", request.path);
    }
    let _ = read_amount(text, Region::Unknown);
    let _ = read_amount(text, Region::UnitedStates);
    let Some(token) = Token::new(text) else { return };
    let _ = TokenParts::read(&token);
    for view in [View::All, View::Top] {
        if let Some(other) = token.with_view(view) {
            assert_eq!(other.view(), Some(view));
        }
    }
});
