//! What an operator may set: the `[control]` and `[tokens]` sections of the configuration file.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de};

/// The `[control]` section. Everything may be changed while the process runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlSettings {
    /// Proxies whose `X-Forwarded-For` or `Forwarded` is believed: addresses or networks. Default none. Rule S16.
    /// Their connections are not counted per address.
    pub trusted_proxies: Networks,
    /// Which of the two headers a trusted proxy writes. Default `either`: `X-Forwarded-For` where there is one, else
    /// `Forwarded`. Name one if a proxy passes on the other as a client sent it. Rule S16.
    pub forwarded_header: ForwardedHeader,
    /// Clients that no limit by address or seat applies to: addresses or networks. Default none. Rule S16.
    pub exempt_networks: Networks,
    /// Page calls that an address, or a live seat, may make at once. Default 20. Rule S16.
    pub page_burst: NonZeroU32,
    /// Milliseconds until one more page call is allowed. Default 500: two a second. Rule S16.
    pub page_refill_ms: NonZeroU32,
    /// Addresses remembered at most; more share buckets by chance. Default 100,000, about 10 MiB. Rule S16.
    pub addresses_max: usize,
    /// Origins whose pages may call `/v1/play` and `/v1/chat`, such as `https://example.org`; `*` is every origin,
    /// without credentials. Default `["*"]`.
    pub cors_origins: Vec<String>,
    /// Open connections at most; more are closed at once. Default 20,000.
    pub connections_max: usize,
    /// Open connections of one address (IPv6: /64) at most; more are closed at once. Default 256. Trusted proxies
    /// and exempt networks are not counted.
    pub connections_per_address: usize,
    /// Milliseconds from a request's first byte to the end of its headers. Default 10,000.
    pub header_timeout_ms: u64,
    /// Milliseconds from the end of a request's headers to the end of its body. Default 10,000.
    pub body_timeout_ms: u64,
    /// Milliseconds that a client may take no byte of its answer. Default 10,000.
    pub write_timeout_ms: u64,
    /// Milliseconds that a connection may wait for its next request. Default 75,000: longer than the 60 s for which
    /// common proxies keep theirs, so that a proxy never sends into a closing connection.
    pub idle_timeout_ms: u64,
    /// Milliseconds between the end of readiness and the end of accepting, for balancers to notice. Default 500.
    /// Rule O9.
    pub stop_notice_ms: u64,
    /// Milliseconds that requests in flight have to finish at a stop. Default 10,000. Rule O9.
    pub stop_grace_ms: u64,
    /// Milliseconds over which clients are spread that come back after the store was away. Default 5,000. Rule D2.
    pub away_spread_ms: u64,
}

impl Default for ControlSettings {
    fn default() -> Self {
        Self {
            trusted_proxies: Networks::default(),
            forwarded_header: ForwardedHeader::Either,
            exempt_networks: Networks::default(),
            page_burst: NonZeroU32::new(20).expect("20 is not 0"),
            page_refill_ms: NonZeroU32::new(500).expect("500 is not 0"),
            addresses_max: 100_000,
            cors_origins: vec!["*".to_owned()],
            connections_max: 20_000,
            connections_per_address: 256,
            header_timeout_ms: 10_000,
            body_timeout_ms: 10_000,
            write_timeout_ms: 10_000,
            idle_timeout_ms: 75_000,
            stop_notice_ms: 500,
            stop_grace_ms: 10_000,
            away_spread_ms: 5_000,
        }
    }
}

/// The `[tokens]` section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenSettings {
    /// Seconds that a viewer's token lives. Default 120. Rule T2. A removed viewer's token opens nothing after that
    /// even at a relay that could not be told.
    pub viewer_life_s: NonZeroU32,
    /// Seconds that a publisher's token lives. Default 43,200 (12 h): an encoder takes one token for a whole event.
    /// Rule S24.
    pub publisher_life_s: NonZeroU32,
    /// Seconds that a key still verifies after another began to sign. Default 600; at least `viewer_life_s`.
    /// Publishers' tokens of the old key end with it. Rule T1.
    pub key_overlap_s: u32,
}

impl Default for TokenSettings {
    fn default() -> Self {
        Self {
            viewer_life_s: NonZeroU32::new(120).expect("120 is not 0"),
            publisher_life_s: NonZeroU32::new(43_200).expect("43,200 is not 0"),
            key_overlap_s: 600,
        }
    }
}

/// The header in which a trusted proxy says whom it speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For` where there is one, else `Forwarded`.
    #[default]
    Either,
    /// `X-Forwarded-For` only.
    XForwardedFor,
    /// `Forwarded` (RFC 7239) only.
    Forwarded,
}

/// Addresses and networks, such as `["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Networks(Vec<Network>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network(IpNet);

impl Networks {
    /// Whether the address is in one of them. An IPv4 address mapped into IPv6 is the IPv4 address.
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.0.contains(&address))
    }
}

impl FromIterator<IpNet> for Networks {
    fn from_iter<I: IntoIterator<Item = IpNet>>(networks: I) -> Self {
        Self(networks.into_iter().map(Network).collect())
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let network = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
        network.map(Self).ok_or_else(|| {
            de::Error::custom(format_args!("`{text}` is no address or network; write it like 192.0.2.7 or 10.0.0.0/8"))
        })
    }
}

impl ControlSettings {
    pub(crate) fn header_timeout(&self) -> Duration {
        Duration::from_millis(self.header_timeout_ms)
    }

    pub(crate) fn body_timeout(&self) -> Duration {
        Duration::from_millis(self.body_timeout_ms)
    }

    pub(crate) fn write_timeout(&self) -> Duration {
        Duration::from_millis(self.write_timeout_ms)
    }

    pub(crate) fn idle_timeout(&self) -> Duration {
        Duration::from_millis(self.idle_timeout_ms)
    }
}

/// Largest body that is read. Limits against bad input, 60-operations.
pub(crate) const BODY_MAX_BYTES: usize = 64 * 1024;

/// Largest request head that is read. Limits against bad input, 60-operations.
pub(crate) const HEADERS_MAX_BYTES: usize = 16 * 1024;

/// How often a page says that its viewer is still there. Rule S2, 5 s.
pub(crate) const HEARTBEAT_S: u64 = 5;
