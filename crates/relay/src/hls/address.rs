//! What an HTTP address under `/hls/` asks for.

/// A request's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// `STREAM/index.m3u8`: whoever shows a token there has a session from then on.
    Entrance {
        /// The stream, as it was written.
        stream: &'a str,
    },
    /// Something of an open session: `STREAM/s/SESSION/…`.
    Within {
        /// The stream, as it was written.
        stream: &'a str,
        /// The session's name.
        session: &'a str,
        /// What of it.
        thing: Thing,
    },
}

/// What a session asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    /// `token`: hands a renewed one in.
    Token,
    /// `v0.m3u8`.
    Playlist(TrackId),
    /// `v0/0.mp4`: what every player reads before the first part.
    Init(TrackId, u64),
    /// `v0/17.m4s`.
    Segment(TrackId, u64),
    /// `v0/17.3.m4s`.
    Part(TrackId, u64, usize),
}

/// One rendition of a stream, as addresses name it: what a publisher calls its tracks may be any text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TrackId {
    /// `v0`, `v1`…
    Video(u8),
    /// `a0`, `a1`…
    Audio(u8),
}

/// What a blocking reload waits for (RFC 8216bis, 6.2.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reload {
    /// The segment's number.
    pub(crate) segment: u64,
    /// Its part; without one the whole segment.
    pub(crate) part: Option<usize>,
}

/// A query that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadQuery;

impl<'a> Target<'a> {
    /// Reads a path; `None` for one that leads nowhere.
    pub(crate) fn parse(path: &'a str) -> Option<Self> {
        let mut names = path.strip_prefix(ROOT)?.split('/');
        let stream = names.next()?;
        let within = |session, thing| Some(Self::Within { stream, session, thing });
        match (names.next()?, names.next(), names.next(), names.next(), names.next()) {
            ("index.m3u8", None, None, None, None) => Some(Self::Entrance { stream }),
            ("s", Some(session), Some("token"), None, None) => within(session, Thing::Token),
            ("s", Some(session), Some(file), None, None) => {
                within(session, Thing::Playlist(TrackId::parse(file.strip_suffix(".m3u8")?)?))
            }
            ("s", Some(session), Some(track), Some(file), None) => {
                within(session, Thing::parse(TrackId::parse(track)?, file)?)
            }
            _ => None,
        }
    }
}

impl Thing {
    fn parse(track: TrackId, file: &str) -> Option<Self> {
        if let Some(init) = file.strip_suffix(".mp4") {
            return Some(Self::Init(track, number(init)?));
        }
        let name = file.strip_suffix(".m4s")?;
        Some(match name.split_once('.') {
            Some((segment, part)) => Self::Part(track, number(segment)?, usize::try_from(number(part)?).ok()?),
            None => Self::Segment(track, number(name)?),
        })
    }
}

impl TrackId {
    fn parse(text: &str) -> Option<Self> {
        let of = |text| number(text).and_then(|n| u8::try_from(n).ok());
        match text.split_at_checked(1)? {
            ("v", n) => of(n).map(Self::Video),
            ("a", n) => of(n).map(Self::Audio),
            _ => None,
        }
    }
}

impl std::fmt::Display for TrackId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Video(n) => write!(f, "v{n}"),
            Self::Audio(n) => write!(f, "a{n}"),
        }
    }
}

impl Reload {
    /// Reads a playlist's query; `None` for one that is to be answered at once.
    ///
    /// # Errors
    /// [`BadQuery`] for what is no number, and for a part of no segment.
    pub(crate) fn parse(query: Option<&str>) -> Result<Option<Self>, BadQuery> {
        let (mut segment, mut part) = (None, None);
        for (name, value) in query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "_HLS_msn" => segment = Some(number(value).ok_or(BadQuery)?),
                "_HLS_part" => part = Some(number(value).and_then(|n| usize::try_from(n).ok()).ok_or(BadQuery)?),
                _ => {}
            }
        }
        match (segment, part) {
            (Some(segment), part) => Ok(Some(Self { segment, part })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(BadQuery),
        }
    }
}

/// Digits only: what else `parse` takes would be a second address of the same thing.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok())?
}

/// What all these addresses begin with.
pub(crate) const ROOT: &str = "/hls/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e17_an_address_names_a_session_and_what_of_it() {
        let within = |thing| Some(Target::Within { stream: "demo", session: "abc", thing });
        let cases = [
            ("/hls/demo/index.m3u8", Some(Target::Entrance { stream: "demo" })),
            ("/hls/demo/s/abc/token", within(Thing::Token)),
            ("/hls/demo/s/abc/v0.m3u8", within(Thing::Playlist(TrackId::Video(0)))),
            ("/hls/demo/s/abc/a12/0.mp4", within(Thing::Init(TrackId::Audio(12), 0))),
            ("/hls/demo/s/abc/v0/17.m4s", within(Thing::Segment(TrackId::Video(0), 17))),
            ("/hls/demo/s/abc/v0/17.3.m4s", within(Thing::Part(TrackId::Video(0), 17, 3))),
            ("/hls/demo/", None),
            ("/hls/demo/index.m3u8/x", None),
            ("/hls/demo/s/abc", None),
            ("/hls/demo/s/abc/x0.m3u8", None),
            ("/hls/demo/s/abc/v.m3u8", None),
            ("/hls/demo/s/abc/v256.m3u8", None),
            ("/hls/demo/s/abc/é0.m3u8", None),
            ("/hls/demo/s/abc/v0/017.m4s", None),
            ("/hls/demo/s/abc/v0/+17.m4s", None),
            ("/hls/demo/s/abc/v0/17.3.1.m4s", None),
            ("/hls/demo/s/abc/v0/99999999999999999999.m4s", None),
            ("/hls/demo/s/abc/v0/../token", None),
            ("/metrics", None),
        ];
        for (path, target) in cases {
            assert_eq!(Target::parse(path), target, "{path}");
        }
    }

    #[test]
    fn e17_a_reload_names_a_segment_or_a_part_of_one() {
        let reload = |segment, part| Ok(Some(Reload { segment, part }));
        assert_eq!(Reload::parse(None), Ok(None));
        assert_eq!(Reload::parse(Some("_HLS_skip=YES&x")), Ok(None));
        assert_eq!(Reload::parse(Some("_HLS_msn=7")), reload(7, None));
        assert_eq!(Reload::parse(Some("_HLS_msn=7&_HLS_part=2")), reload(7, Some(2)));
        for bad in ["_HLS_part=2", "_HLS_msn=", "_HLS_msn=-1", "_HLS_msn=7&_HLS_part=x", "_HLS_msn=1e3"] {
            assert_eq!(Reload::parse(Some(bad)), Err(BadQuery), "{bad}");
        }
    }
}
