//! Currency symbols, as far as they name one currency.
//!
//! ISO 4217 codes and their minor digits are `iso_currency`'s. The symbols are those that CLDR writes in English
//! (`A$`, `CA$`, `NT$` …), the currencies' own where no two share one, and what captures show. A symbol that several
//! currencies share (`kr`, `Rs`, `£` of others than the United Kingdom, a bare `$`) names none, but for `£`, `¥` and,
//! where the answer was asked for as in the United States, `$`.

use iso_currency::Currency;

use super::amount::Region;

/// The currency that a symbol or a code names.
pub(super) fn named(symbol: &str, region: Region) -> Option<Currency> {
    let symbol = symbol.trim_matches(|c: char| c == '.' || c == ' ');
    if symbol == "$" {
        return (region == Region::UnitedStates).then_some(Currency::USD);
    }
    let code = SYMBOLS.iter().find(|(known, _)| *known == symbol).map_or(symbol, |(_, code)| code);
    // Codes without minor digits, as those of metals and of tests, are no money that anybody pays with.
    Currency::from_code(code).filter(|currency| currency.exponent().is_some())
}

const SYMBOLS: &[(&str, &str)] = &[
    ("US$", "USD"),
    ("A$", "AUD"),
    ("AU$", "AUD"),
    ("CA$", "CAD"),
    ("C$", "CAD"),
    ("EC$", "XCD"),
    ("HK$", "HKD"),
    ("MX$", "MXN"),
    ("NT$", "TWD"),
    ("NZ$", "NZD"),
    ("R$", "BRL"),
    ("S$", "SGD"),
    ("£", "GBP"),
    ("€", "EUR"),
    ("¥", "JPY"),
    ("￥", "JPY"),
    ("JP¥", "JPY"),
    ("円", "JPY"),
    ("CN¥", "CNY"),
    ("₩", "KRW"),
    ("￦", "KRW"),
    ("원", "KRW"),
    ("₪", "ILS"),
    ("₱", "PHP"),
    ("₹", "INR"),
    ("₫", "VND"),
    ("đ", "VND"),
    ("฿", "THB"),
    ("₺", "TRY"),
    ("₽", "RUB"),
    ("₴", "UAH"),
    ("₦", "NGN"),
    ("₡", "CRC"),
    ("₲", "PYG"),
    ("₸", "KZT"),
    ("₾", "GEL"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("Ft", "HUF"),
    ("лв", "BGN"),
    ("lei", "RON"),
    ("Rp", "IDR"),
    ("RM", "MYR"),
    ("S/", "PEN"),
    ("FCFA", "XAF"),
    ("F CFA", "XOF"),
    ("CFPF", "XPF"),
    ("ر.س", "SAR"),
    ("د.إ", "AED"),
    ("د.ك", "KWD"),
    ("ج.م", "EGP"),
];
