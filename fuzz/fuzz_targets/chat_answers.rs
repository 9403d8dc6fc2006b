//! Whatever YouTube may answer: pages and polls of any status, and captures that a person hands in.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_chat::decode;
use tidegate_chat::youtube::{Fetched, Region, read_page, read_poll};

fuzz_target!(|answer: &[u8]| {
    let Some((status, body)) = answer.split_first() else { return };
    let status = [200, 302, 400, 403, 404, 429, 500, 503][usize::from(*status) % 8];
    let location = str::from_utf8(body).ok().filter(|_| status == 302);
    let fetched = Fetched { status, location, body };
    let _ = read_page(&fetched);
    let _ = read_poll(&fetched);
    let _ = decode(body, Region::Unknown);
});
