//! The newest segments of one rendition, in parts: what is kept, what is listed, what a request has to wait for.
//!
//! Fragments come frame by frame or in small runs, and are gathered into parts of even length. A segment begins at a
//! key frame, and ends at the first one after two seconds; where none comes it ends all the same, as the longest
//! segment that the playlist promises must never be exceeded.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::address::Reload;

/// A rendition's window.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// What players read before a part, the newest last: a publisher that comes back may send another.
    inits: VecDeque<(u64, Bytes)>,
    /// The oldest first; of them only the last may be unfinished.
    segments: VecDeque<Segment>,
    /// What is not yet a part.
    gathering: Option<Gathering>,
    /// The longest part so far: part of the playlist's promise, so it never shrinks.
    part_target: Duration,
    /// Discontinuities that are no longer kept.
    gone_discontinuities: u64,
    /// The publisher is gone for good.
    is_over: bool,
}

/// What moq sends at once: one or more frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) data: Bytes,
    /// When its first frame is shown, since the Unix epoch.
    pub(crate) at: Duration,
    pub(crate) duration: Duration,
    /// It begins with a key frame.
    pub(crate) is_independent: bool,
}

/// A segment, or the beginning of one.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    /// When it is shown, since the Unix epoch.
    pub(crate) at: Duration,
    pub(crate) parts: Vec<Part>,
    /// All of it, once it is whole.
    pub(crate) whole: Option<Bytes>,
    /// Whether it does not go on where the one before it ended.
    pub(crate) is_discontinuous: bool,
    /// Which init goes with it.
    pub(crate) init: u64,
}

/// A part of a segment.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) data: Bytes,
    pub(crate) duration: Duration,
    pub(crate) is_independent: bool,
}

#[derive(Debug)]
struct Gathering {
    at: Duration,
    data: BytesMut,
    duration: Duration,
    is_independent: bool,
}

/// What a request is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found<T> {
    /// It is there.
    Here(T),
    /// It is the next thing to come, or soon after.
    NotYet,
    /// It is no longer there, or never will be.
    Nowhere,
}

impl Window {
    /// Takes the beginning of what a publisher sends.
    pub(crate) fn handle_init(&mut self, data: Bytes) {
        self.finish_part();
        self.finish_segment();
        let number = self.inits.back().map_or(0, |(number, _)| number + 1);
        self.inits.push_back((number, data));
        self.forget();
    }

    /// Takes a fragment.
    pub(crate) fn handle_fragment(&mut self, fragment: Fragment) {
        let due = self.gathering.as_ref().is_some_and(|it| fragment.begins_part(it));
        if due {
            self.finish_part();
        }
        let Fragment { data, at, duration, is_independent } = fragment;
        let gathering = self.gathering.get_or_insert_with(|| Gathering {
            at,
            data: BytesMut::new(),
            duration: Duration::ZERO,
            is_independent,
        });
        gathering.data.extend_from_slice(&data);
        gathering.duration += duration;
        if gathering.duration + ROUNDING >= PART || gathering.data.len() >= PART_MAX_BYTES {
            self.finish_part();
        }
    }

    /// The publisher is gone for good.
    pub(crate) fn handle_end(&mut self) {
        self.finish_part();
        self.finish_segment();
        self.is_over = true;
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether a playlist is worth reading, or is now what it was asked to be.
    pub(crate) fn playlist(&self, reload: Option<Reload>) -> Found<()> {
        let Some(last) = self.segments.back() else {
            return if self.is_over { Found::Here(()) } else { Found::NotYet };
        };
        let is_there = match reload {
            None => self.segments.len() > 1,
            Some(Reload { segment, part: None }) => last.number > segment || self.is_whole(segment),
            Some(Reload { segment, part: Some(part) }) => {
                last.number > segment || (last.number == segment && last.parts.len() > part)
            }
        };
        if is_there || self.is_over {
            return Found::Here(());
        }
        let limit = last.parts.len() + PARTS_AHEAD;
        match reload {
            Some(Reload { segment, .. }) if segment > last.number + SEGMENTS_AHEAD => Found::Nowhere,
            Some(Reload { segment, part: Some(part) }) if segment == last.number && part > limit => Found::Nowhere,
            _ => Found::NotYet,
        }
    }

    pub(crate) fn init(&self, number: u64) -> Found<Bytes> {
        match self.inits.iter().find(|(known, _)| *known == number) {
            Some((_, data)) => Found::Here(data.clone()),
            None => Found::Nowhere,
        }
    }

    pub(crate) fn segment(&self, number: u64) -> Found<Bytes> {
        let whole = self.find(number).and_then(|segment| segment.whole.clone());
        whole.map_or(Found::Nowhere, Found::Here)
    }

    /// A part; the next one is waited for, as the playlist hints at it.
    pub(crate) fn part(&self, number: u64, part: usize) -> Found<Bytes> {
        let Some(segment) = self.find(number) else {
            let next = self.segments.back().map(|last| last.number + 1);
            return if next == Some(number) && part == 0 && !self.is_over { Found::NotYet } else { Found::Nowhere };
        };
        match segment.parts.get(part) {
            Some(part) => Found::Here(part.data.clone()),
            None if part == segment.parts.len() && segment.whole.is_none() => Found::NotYet,
            None => Found::Nowhere,
        }
    }

    /// The segments that the playlist lists, the oldest first.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().skip(self.segments.len().saturating_sub(LISTED))
    }

    /// Discontinuities before the first one listed.
    pub(crate) fn discontinuities_before(&self) -> u64 {
        let unlisted = self.segments.iter().take(self.segments.len().saturating_sub(LISTED));
        let unlisted = unlisted.filter(|segment| segment.is_discontinuous).count();
        self.gone_discontinuities + unlisted as u64
    }

    /// How long a part is at most.
    pub(crate) fn part_target(&self) -> Duration {
        self.part_target.max(PART)
    }

    fn find(&self, number: u64) -> Option<&Segment> {
        let first = self.segments.front()?.number;
        self.segments.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    fn is_whole(&self, number: u64) -> bool {
        self.find(number).is_some_and(|segment| segment.whole.is_some())
    }

    fn finish_part(&mut self) {
        let Some(Gathering { at, data, duration, is_independent }) = self.gathering.take() else { return };
        let part = Part { data: data.freeze(), duration, is_independent };
        if self.segments.back().is_none_or(|last| last.ends_before(&part, at)) {
            self.finish_segment();
            self.begin_segment(at);
        }
        self.part_target = self.part_target.max(duration);
        let last = self.segments.back_mut().expect("one was begun, if there was none");
        last.parts.push(part);
    }

    fn begin_segment(&mut self, at: Duration) {
        // From the time of day, so that a window that is made anew goes on above the numbers of the one before.
        let of_day = at.as_secs() / SEGMENT.as_secs();
        let last = self.segments.back();
        let number = last.map_or(of_day, |last| last.number + 1);
        let init = self.inits.back().map_or(0, |(number, _)| *number);
        let is_discontinuous = last.is_some_and(|last| last.init != init);
        self.segments.push_back(Segment { number, at, parts: Vec::new(), whole: None, is_discontinuous, init });
        self.forget();
    }

    fn finish_segment(&mut self) {
        let Some(last) = self.segments.back_mut().filter(|last| last.whole.is_none()) else { return };
        let mut whole = BytesMut::with_capacity(last.bytes());
        last.parts.iter().for_each(|part| whole.extend_from_slice(&part.data));
        let whole = whole.freeze();
        // Its parts are pieces of it from now on, and nothing is held twice.
        let mut from = 0;
        for part in &mut last.parts {
            let to = from + part.data.len();
            part.data = whole.slice(from..to);
            from = to;
        }
        last.whole = Some(whole);
    }

    fn forget(&mut self) {
        while self.segments.len() > KEPT {
            let gone = self.segments.pop_front();
            self.gone_discontinuities += u64::from(gone.is_some_and(|gone| gone.is_discontinuous));
        }
        let oldest = self.segments.front().map_or(0, |segment| segment.init);
        while self.inits.len() > KEPT || self.inits.front().is_some_and(|(number, _)| *number < oldest) {
            self.inits.pop_front();
        }
    }
}

impl Fragment {
    /// Whether it must begin a part of its own.
    fn begins_part(&self, gathering: &Gathering) -> bool {
        let gap = self.at.abs_diff(gathering.at + gathering.duration);
        // Sound is independent frame by frame, and gathered all the same.
        (self.is_independent && !gathering.is_independent) || gap > GAP
            // The end of a group of sound is short; with what follows it the part would be far longer than all others.
            || gathering.duration + self.duration > PART + PART / 4 || gathering.data.len() >= PART_MAX_BYTES
    }
}

impl Segment {
    /// How long it is so far.
    pub(crate) fn duration(&self) -> Duration {
        self.parts.iter().map(|part| part.duration).sum()
    }

    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.data.len()).sum()
    }

    /// Whether a part belongs to the next segment.
    fn ends_before(&self, part: &Part, at: Duration) -> bool {
        let duration = self.duration();
        let gap = at.abs_diff(self.at + duration);
        self.whole.is_some()
            || (part.is_independent && duration + ROUNDING >= SEGMENT)
            || duration + part.duration > SEGMENT_MAX
            || gap > GAP
            || self.parts.len() >= PARTS_MAX
            || self.bytes() + part.data.len() > SEGMENT_MAX_BYTES
    }
}

/// How long a part is, about. Rule E17.
pub(crate) const PART: Duration = Duration::from_millis(200);
/// How long a segment is at least, where key frames allow. Rule E17.
const SEGMENT: Duration = Duration::from_secs(2);
/// How long a segment may be: the playlist's target duration, which must not change while it is read.
pub(crate) const SEGMENT_MAX: Duration = Duration::from_secs(4);
/// Whole frames and whole units of a track's clock never make exactly the length asked for.
const ROUNDING: Duration = Duration::from_millis(5);
/// A hole in the media that is longer begins a segment, whose time of day then says when it goes on.
const GAP: Duration = Duration::from_millis(500);
/// Segments that the playlist lists, the unfinished one with them: three target durations, as players want.
const LISTED: usize = 7;
/// Segments that are kept: whoever read a playlist has time to fetch what it lists.
const KEPT: usize = LISTED + 3;
/// A reload may ask for no segment further ahead (RFC 8216bis, 6.2.5.2).
const SEGMENTS_AHEAD: u64 = 2;
/// Nor for a part further ahead: three seconds of them, by the same section.
const PARTS_AHEAD: usize = 15;
/// Bounds memory, with the three below: times that a publisher makes up must not make a segment endless.
const PARTS_MAX: usize = 64;
/// A part is served early from here on.
const PART_MAX_BYTES: usize = 4 * 1024 * 1024;
/// A segment ends here; four seconds at 32 Mbit/s.
const SEGMENT_MAX_BYTES: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// A window that took this many fragments of this length, of which every so manieth begins with a key frame.
    fn filled(count: u32, duration: Duration, keys: u32) -> Window {
        let mut window = Window::default();
        window.handle_init(Bytes::from_static(b"init"));
        for n in 0..count {
            window.handle_fragment(fragment(BEGIN + duration * n, duration, n % keys == 0));
        }
        window
    }

    fn fragment(at: Duration, duration: Duration, is_independent: bool) -> Fragment {
        Fragment { data: Bytes::from_static(b"x"), at, duration, is_independent }
    }

    fn numbers(window: &Window) -> Vec<u64> {
        window.listed().map(|segment| segment.number).collect()
    }

    fn reload(segment: u64, part: impl Into<Option<usize>>) -> Option<Reload> {
        Some(Reload { segment, part: part.into() })
    }

    #[test]
    fn e17_frames_are_gathered_into_parts_of_even_length() {
        // 30 pictures a second, a key frame each two seconds.
        let window = filled(130, Duration::from_micros(33_333), 60);
        let parts: Vec<Vec<_>> =
            window.listed().map(|it| it.parts.iter().map(|part| part.duration.as_micros()).collect()).collect();
        assert_eq!(parts, [vec![199_998; 10], vec![199_998; 10], vec![199_998]]);
        let keys: Vec<_> =
            window.listed().map(|it| it.parts.iter().filter(|part| part.is_independent).count()).collect();
        assert_eq!(keys, [1, 1, 1]);
        assert_eq!(window.part_target(), PART);
    }

    #[test]
    fn e17_a_key_frame_begins_a_part_also_when_the_one_before_is_short() {
        let window = filled(50, Duration::from_millis(40), 48);
        let parts: Vec<_> = window.listed().flat_map(|it| &it.parts).map(|part| part.duration.as_millis()).collect();
        assert_eq!(parts, [200, 200, 200, 200, 200, 200, 200, 200, 200, 120]);
    }

    #[test]
    fn e17_without_key_frames_a_segment_ends_before_the_longest_that_is_promised() {
        let window = filled(60, Duration::from_millis(150), u32::MAX);
        let lengths: Vec<_> = window.listed().map(Segment::duration).collect();
        assert!(lengths.iter().all(|length| *length <= SEGMENT_MAX), "{lengths:?}");
        assert!(window.listed().flat_map(|it| &it.parts).all(|part| part.duration <= window.part_target()));
        assert_eq!(lengths.len(), 3);
    }

    #[test]
    fn e17_the_newest_segments_are_listed_and_a_few_more_are_kept() {
        let window = filled(4 * 13 + 1, Duration::from_millis(500), 4);
        assert_eq!(numbers(&window), [507, 508, 509, 510, 511, 512, 513]);
        assert_eq!(window.segment(503), Found::Nowhere);
        assert_eq!(window.segment(504), Found::Here(Bytes::from_static(b"xxxx")));
        assert_eq!(window.part(512, 3), Found::Here(Bytes::from_static(b"x")));
        assert_eq!(window.part(512, 4), Found::Nowhere);
        // Not whole yet.
        assert_eq!(window.segment(513), Found::Nowhere);
        assert_eq!(window.part(513, 1), Found::NotYet);
        assert_eq!(window.part(513, 2), Found::Nowhere);
        assert_eq!(window.part(514, 0), Found::NotYet);
        assert_eq!(window.part(514, 1), Found::Nowhere);
        assert_eq!((window.init(0), window.init(1)), (Found::Here(Bytes::from_static(b"init")), Found::Nowhere));
    }

    #[test]
    fn e17_a_reload_waits_for_what_it_names_and_for_nothing_that_is_far() {
        assert_eq!(Window::default().playlist(None), Found::NotYet);
        assert_eq!(filled(3, Duration::from_millis(500), 4).playlist(None), Found::NotYet);
        // Segment 500, and two parts of 501.
        let mut window = filled(6, Duration::from_millis(500), 4);
        for there in [None, reload(499, None), reload(500, None), reload(500, 9), reload(501, 1)] {
            assert_eq!(window.playlist(there), Found::Here(()), "{there:?}");
        }
        for awaited in [reload(501, None), reload(501, 2), reload(501, 17), reload(502, 0), reload(503, None)] {
            assert_eq!(window.playlist(awaited), Found::NotYet, "{awaited:?}");
        }
        for far in [reload(501, 18), reload(504, None), reload(u64::MAX, 0)] {
            assert_eq!(window.playlist(far), Found::Nowhere, "{far:?}");
        }
        window.handle_end();
        assert_eq!(window.playlist(reload(u64::MAX, 0)), Found::Here(()));
        assert_eq!(
            (window.segment(501), window.part(502, 0)),
            (Found::Here(Bytes::from_static(b"xx")), Found::Nowhere)
        );
    }

    #[test]
    fn e17_what_does_not_go_on_begins_a_segment_and_another_init_is_a_discontinuity() {
        let mut window = filled(6, Duration::from_millis(500), 4);
        let late = BEGIN + Duration::from_secs(4);
        window.handle_fragment(fragment(late, PART, false));
        window.handle_init(Bytes::from_static(b"other"));
        window.handle_fragment(fragment(late + PART, PART, true));
        let seen: Vec<_> = window.listed().map(|it| (it.number, it.at, it.is_discontinuous, it.init)).collect();
        let second = BEGIN + Duration::from_secs(2);
        let expected =
            [(500, BEGIN, false, 0), (501, second, false, 0), (502, late, false, 0), (503, late + PART, true, 1)];
        assert_eq!(seen, expected);
        assert_eq!(window.discontinuities_before(), 0);
        for n in 1..=110 {
            window.handle_fragment(fragment(late + PART + PART * n, PART, true));
        }
        assert_eq!((window.discontinuities_before(), window.init(0)), (1, Found::Nowhere));
    }

    /// The beginning of segment 500.
    const BEGIN: Duration = Duration::from_secs(1000);
}
