//! The beginning of an upstream's body, in every style of telling a throttle; and the routes of a settings file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_gate::RouteTemplate;
use tidegate_gate::signal::body::{BodyStyle, Finding, read};

fuzz_target!(|body: &[u8]| {
    for failed in [false, true] {
        assert_eq!(read(BodyStyle::Off, failed, body).finding, Finding::Nothing);
        let _ = read(BodyStyle::Google, failed, body);
        let _ = read(BodyStyle::Message, failed, body);
    }
    if let Ok(text) = str::from_utf8(body)
        && let Ok(route) = RouteTemplate::parse(text)
    {
        assert_eq!(route.to_string(), text);
    }
});
