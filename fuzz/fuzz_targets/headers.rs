//! The headers that say who speaks and from where. A client that is no trusted proxy never names its own address.
#![no_main]

use std::net::{IpAddr, Ipv4Addr};

use http::{HeaderMap, HeaderValue, header};
use libfuzzer_sys::fuzz_target;
use tidegate_control::addresses::{TrustedProxies, client_address};
use tidegate_control::auth::bearer;
use tidegate_control::{ForwardedHeader, Networks};

fuzz_target!(|lines: &[u8]| {
    let mut headers = HeaderMap::new();
    for (number, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        let Ok(value) = HeaderValue::from_bytes(line) else { continue };
        let name = match number % 3 {
            0 => header::FORWARDED,
            1 => header::HeaderName::from_static("x-forwarded-for"),
            _ => header::AUTHORIZATION,
        };
        headers.append(name, value);
    }
    let peer = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    for header in [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded, ForwardedHeader::Either] {
        let nobody = TrustedProxies { networks: Networks::default(), header };
        assert_eq!(client_address(&headers, peer, &nobody), peer);
        let networks: Networks = "192.0.2.0/24".parse::<ipnet::IpNet>().into_iter().collect();
        let _ = client_address(&headers, peer, &TrustedProxies { networks, header });
    }
    let _ = bearer(&headers);
});
