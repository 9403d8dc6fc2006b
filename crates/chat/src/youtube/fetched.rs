//! One answer of the upstream, as far as reading needs it.

/// A whole answer. Redirects are not followed: where one leads says more than what lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The `Location` header of a redirect.
    pub location: Option<&'a str>,
    /// The body, decompressed. Over [`MAX_BODY_BYTES`] it is refused, so a caller may stop reading there.
    pub body: &'a [u8],
}

impl<'a> Fetched<'a> {
    /// A 200 with this body.
    #[must_use]
    pub const fn ok(body: &'a [u8]) -> Self {
        Self { status: 200, location: None, body }
    }

    /// Whether the body looks like a page rather than JSON.
    pub(super) fn is_html(&self) -> bool {
        self.body.trim_ascii_start().starts_with(b"<")
    }
}

/// The largest body that is read, in bytes. Watch pages have 1 to 2 MB.
pub const MAX_BODY_BYTES: usize = 8 << 20;
