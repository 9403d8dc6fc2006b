//! The text of a rendition's playlist: RFC 8216bis, LL-HLS.
//!
//! Written here: of the crates that write playlists, `m3u8-rs` knows no partial segments; the others were not tried.

use std::fmt::Write;
use std::time::Duration;

use super::address::TrackId;
use super::window::{SEGMENT_MAX, Segment, Window};

/// Writes a window's playlist. Its addresses are relative to it.
pub(crate) fn text(track: TrackId, window: &Window) -> String {
    let mut out = String::with_capacity(4096);
    write(&mut out, track, window).expect("writing to a string cannot fail");
    out
}

fn write(out: &mut String, track: TrackId, window: &Window) -> std::fmt::Result {
    let target = window.part_target();
    let first = window.listed().next().map_or(0, |segment| segment.number);
    writeln!(out, "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:{}", SEGMENT_MAX.as_secs())?;
    let hold_back = Seconds(target * PARTS_BACK);
    writeln!(out, "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK={hold_back}")?;
    writeln!(out, "#EXT-X-PART-INF:PART-TARGET={}", Seconds(target))?;
    writeln!(out, "#EXT-X-MEDIA-SEQUENCE:{first}")?;
    let before = window.discontinuities_before();
    if before > 0 {
        writeln!(out, "#EXT-X-DISCONTINUITY-SEQUENCE:{before}")?;
    }
    let count = window.listed().count();
    let mut init = None;
    for (place, segment) in window.listed().enumerate() {
        if segment.is_discontinuous {
            writeln!(out, "#EXT-X-DISCONTINUITY")?;
        }
        if init.replace(segment.init) != Some(segment.init) {
            writeln!(out, "#EXT-X-MAP:URI=\"{track}/{}.mp4\"", segment.init)?;
        }
        write_segment(out, track, segment, place + IN_PARTS >= count)?;
    }
    if window.is_over() {
        return writeln!(out, "#EXT-X-ENDLIST");
    }
    if let Some(last) = window.listed().last() {
        let (segment, part) = if last.whole.is_some() { (last.number + 1, 0) } else { (last.number, last.parts.len()) };
        writeln!(out, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"{track}/{segment}.{part}.m4s\"")?;
    }
    Ok(())
}

fn write_segment(out: &mut String, track: TrackId, segment: &Segment, in_parts: bool) -> std::fmt::Result {
    let Segment { number, at, parts, whole, .. } = segment;
    writeln!(out, "#EXT-X-PROGRAM-DATE-TIME:{}", date_time(*at))?;
    if in_parts {
        for (place, part) in parts.iter().enumerate() {
            let independent = if part.is_independent { ",INDEPENDENT=YES" } else { "" };
            let duration = Seconds(part.duration);
            writeln!(out, "#EXT-X-PART:DURATION={duration},URI=\"{track}/{number}.{place}.m4s\"{independent}")?;
        }
    }
    if whole.is_some() {
        writeln!(out, "#EXTINF:{},\n{track}/{number}.m4s", Seconds(segment.duration()))?;
    }
    Ok(())
}

/// A duration as playlists write it.
struct Seconds(Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0.as_secs(), self.0.subsec_micros())
    }
}

fn date_time(since_epoch: Duration) -> String {
    let ms = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// A player stays this many parts behind the newest (RFC 8216bis, 4.4.3.8: three at least).
const PARTS_BACK: u32 = 3;
/// So many of the newest segments are listed in parts: nobody is further back with them.
const IN_PARTS: usize = 4;

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::window::Fragment;
    use super::*;

    fn give(window: &mut Window, parts: std::ops::Range<u32>) {
        for n in parts {
            let duration = Duration::from_millis(500);
            let at = Duration::from_secs(1000) + duration * n;
            let is_independent = n % 4 == 0;
            window.handle_fragment(Fragment { data: Bytes::from_static(b"x"), at, duration, is_independent });
        }
    }

    #[test]
    fn e17_a_playlist_lists_segments_and_parts_and_hints_at_the_next() {
        let mut window = Window::default();
        window.handle_init(Bytes::from_static(b"init"));
        give(&mut window, 0..5);
        let expected = r#"#EXTM3U
#EXT-X-VERSION:9
#EXT-X-TARGETDURATION:4
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.500000
#EXT-X-PART-INF:PART-TARGET=0.500000
#EXT-X-MEDIA-SEQUENCE:500
#EXT-X-MAP:URI="v0/0.mp4"
#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:16:40.000Z
#EXT-X-PART:DURATION=0.500000,URI="v0/500.0.m4s",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.500000,URI="v0/500.1.m4s"
#EXT-X-PART:DURATION=0.500000,URI="v0/500.2.m4s"
#EXT-X-PART:DURATION=0.500000,URI="v0/500.3.m4s"
#EXTINF:2.000000,
v0/500.m4s
#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:16:42.000Z
#EXT-X-PART:DURATION=0.500000,URI="v0/501.0.m4s",INDEPENDENT=YES
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="v0/501.1.m4s"
"#;
        assert_eq!(text(TrackId::Video(0), &window), expected);
    }

    #[test]
    fn e17_only_the_newest_segments_are_listed_in_parts() {
        let mut window = Window::default();
        window.handle_init(Bytes::from_static(b"init"));
        give(&mut window, 0..41);
        let text = text(TrackId::Audio(1), &window);
        assert_eq!(text.matches("#EXTINF:").count(), 6);
        assert_eq!(text.matches("#EXT-X-PART:").count(), 13);
        assert!(text.contains("#EXT-X-MEDIA-SEQUENCE:504\n#EXT-X-MAP:URI=\"a1/0.mp4\"\n"), "{text}");
    }

    #[test]
    fn e17_the_target_duration_stays_and_an_end_is_written() {
        let mut window = Window::default();
        window.handle_init(Bytes::from_static(b"init"));
        give(&mut window, 0..5);
        window.handle_init(Bytes::from_static(b"other"));
        give(&mut window, 5..6);
        window.handle_end();
        let text = text(TrackId::Video(0), &window);
        assert!(text.contains("#EXT-X-TARGETDURATION:4\n"), "{text}");
        assert!(text.contains("#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"v0/1.mp4\"\n"), "{text}");
        assert!(text.ends_with("v0/502.m4s\n#EXT-X-ENDLIST\n"), "{text}");
    }
}
