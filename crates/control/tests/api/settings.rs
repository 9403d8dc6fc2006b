//! The `[control]` and `[tokens]` sections.

use tidegate_control::{ControlSettings, ForwardedHeader, TokenSettings};

use crate::support::networks;

#[test]
fn o3_an_empty_section_is_the_defaults() {
    assert_eq!(toml::from_str::<ControlSettings>("").unwrap(), ControlSettings::default());
    assert_eq!(toml::from_str::<TokenSettings>("").unwrap(), TokenSettings::default());
}

#[test]
fn o3_every_key_is_read() {
    let text = r#"
        trusted_proxies = ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]
        forwarded_header = "x-forwarded-for"
        exempt_networks = ["127.0.0.0/8"]
        page_burst = 40
        page_refill_ms = 250
        addresses_max = 1000
        cors_origins = ["https://example.org"]
        connections_max = 10
        connections_per_address = 5
        header_timeout_ms = 1
        body_timeout_ms = 2
        write_timeout_ms = 3
        idle_timeout_ms = 4
        stop_notice_ms = 5
        stop_grace_ms = 6
        away_spread_ms = 7
    "#;
    let read: ControlSettings = toml::from_str(text).unwrap();
    assert_eq!(read.trusted_proxies, networks(&["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32"]));
    assert_eq!(read.forwarded_header, ForwardedHeader::XForwardedFor);
    assert_eq!((read.page_burst.get(), read.away_spread_ms), (40, 7));
    let read: TokenSettings = toml::from_str("viewer_life_s = 60\npublisher_life_s = 3600\nkey_overlap_s = 1").unwrap();
    assert_eq!((read.viewer_life_s.get(), read.key_overlap_s), (60, 1));
}

#[test]
fn o3_a_wrong_key_or_value_is_an_error_that_says_so() {
    let fault = |text: &str| toml::from_str::<ControlSettings>(text).unwrap_err().to_string();
    assert!(fault("page_brust = 3").contains("unknown field `page_brust`"));
    assert!(fault("page_burst = 0").contains("page_burst"));
    assert!(fault("page_burst = -1").contains("page_burst"));
    let network = fault(r#"trusted_proxies = ["10.0.0.0/33"]"#);
    assert!(
        network.contains("`10.0.0.0/33` is no address or network; write it like 192.0.2.7 or 10.0.0.0/8"),
        "{network}"
    );
}
