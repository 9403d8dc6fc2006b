//! Paid messages and stickers.

use serde_json::Value;

use super::amount::{Region, amount_at};
use super::author::read_author;
use super::emoji::largest;
use super::text::words_at;
use super::walk::{string_at, whole_at};
use crate::event::{Kind, Paid, Sticker};

/// A paid message. Without an amount it cannot be told from a plain one, so then it is none.
pub(super) fn read_paid(renderer: &Value, region: Region) -> Option<Kind> {
    Some(Kind::Paid(Paid {
        author: read_author(renderer),
        amount: amount_at(renderer, "purchaseAmountText", region)?,
        words: words_at(renderer, "message"),
        tier: tier(renderer, &["headerBackgroundColor", "bodyBackgroundColor"]),
        color: color(renderer, "headerBackgroundColor"),
        body_color: color(renderer, "bodyBackgroundColor"),
    }))
}

pub(super) fn read_sticker(renderer: &Value, region: Region) -> Option<Kind> {
    Some(Kind::Sticker(Sticker {
        author: read_author(renderer),
        amount: amount_at(renderer, "purchaseAmountText", region)?,
        image: largest(renderer, "sticker.thumbnails"),
        alt: string_at(renderer, "sticker.accessibility.accessibilityData.label"),
        tier: tier(renderer, &["backgroundColor", "moneyChipBackgroundColor"]),
        color: color(renderer, "backgroundColor"),
    }))
}

/// An unsigned ARGB number as `#rrggbb`; it does not fit 32 signed bits.
fn color(renderer: &Value, path: &str) -> Option<String> {
    let argb = u32::try_from(whole_at(renderer, path)?).ok()?;
    Some(format!("#{:06x}", argb & 0x00ff_ffff))
}

fn tier(renderer: &Value, paths: &[&str]) -> Option<u8> {
    let colors = paths.iter().filter_map(|path| u32::try_from(whole_at(renderer, path)?).ok());
    colors.into_iter().find_map(|argb| Some(TIERS.iter().find(|(_, colors)| colors.contains(&argb))?.0))
}

/// Price bands by the ARGB colours of head and body, from captures: blue, light blue, green, yellow, orange, magenta,
/// red.
const TIERS: &[(u8, [u32; 2])] = &[
    (1, [0xff15_65c0, 0xff1e_88e5]),
    (2, [0xff00_b8d4, 0xff00_e5ff]),
    (3, [0xff00_bfa5, 0xff1d_e9b6]),
    (4, [0xffff_b300, 0xffff_ca28]),
    (5, [0xffe6_5100, 0xfff5_7c00]),
    (6, [0xffc2_185b, 0xffe9_1e63]),
    (7, [0xffd0_0000, 0xffe6_2117]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_seven_bands_are_told_by_their_colours() {
        let heads = [
            4_279_592_384_u32,
            4_278_237_396,
            4_278_239_141,
            4_294_947_584,
            4_293_284_096,
            4_290_910_299,
            4_291_821_568,
        ];
        for (band, head) in (1..).zip(heads) {
            assert_eq!(tier(&json!({"a": head}), &["a"]), Some(band), "{head}");
        }
        assert_eq!(color(&json!({"a": 4_294_947_584_u32}), "a").as_deref(), Some("#ffb300"));
        for nothing in [json!({}), json!({"a": -1}), json!({"a": 1e30}), json!({"a": "x"})] {
            assert_eq!((tier(&nothing, &["a"]), color(&nothing, "a")), (None, None));
        }
    }
}
