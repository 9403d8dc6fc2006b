//! The demo's test picture: a clip that goes round and round, published as an encoder would (O1).
//!
//! A lap begins whenever the Unix time is a whole number of laps, so the number that each picture shows in binary tells
//! when it was sent. `picture/clip.sh` is how the clip is made.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Cursor;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use moq_mux::Clock;
use moq_mux::catalog::{Config, Producer};
use moq_mux::container::fmp4::Import;
use moq_mux::container::fmp4::mp4_atom::{Any, DecodeMaybe, Encode, Moof};
use moq_net::origin;
use tokio::time::sleep_until;

/// The clip in pieces.
struct Clip {
    /// What stands before the first fragment.
    head: &'static [u8],
    fragments: Vec<Fragment>,
}

/// One frame of sound or picture.
struct Fragment {
    /// Since the clip's beginning.
    at: Duration,
    /// The same in the track's own units.
    base: u64,
    /// Units in a second.
    timescale: u64,
    moof: Moof,
    mdat: &'static [u8],
}

/// Shows the picture among a stream's broadcasts, in real time, until it is dropped.
///
/// # Errors
/// The media library's.
pub(crate) async fn show(stream: &origin::Producer) -> Result<Infallible, moq_mux::Error> {
    let clip = Clip::read()?;
    let (start, wall) = last_lap();
    let mut broadcast = stream.create_broadcast(BROADCAST)?;
    let catalog = Producer::new(&mut broadcast, Config::default().with_clock(Clock::at(start, wall)?))?;
    let mut import = Import::new(broadcast.clone(), catalog.reserve());
    import.decode(clip.head)?;
    broadcast.announce(origin::Route::default())?;
    // The clip can be cut in at each whole second, where a group of pictures begins.
    let first = Duration::from_secs(start.elapsed().as_secs() + 1);
    for lap in 0_u32.. {
        for fragment in &clip.fragments {
            let at = LAP * lap + fragment.at;
            if at >= first {
                sleep_until((start + at).into()).await;
                import.decode(&fragment.in_lap(lap)?)?;
            }
        }
    }
    unreachable!("laps of eight seconds last for a thousand years")
}

/// When the lap under way began, by the clock that never jumps and by the wall's. A machine that has just booted has no
/// such time; then it is now.
fn last_lap() -> (Instant, SystemTime) {
    let (now, wall) = (Instant::now(), SystemTime::now());
    let since = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
    let gone = Duration::from_secs(since.as_secs() % LAP.as_secs()) + Duration::from_nanos(since.subsec_nanos().into());
    now.checked_sub(gone).map_or((now, wall), |start| (start, wall - gone))
}

impl Clip {
    fn read() -> Result<Self, moq_mux::Error> {
        let mut clip = Self { head: &[], fragments: Vec::new() };
        let (mut timescales, mut moof) = (HashMap::new(), None);
        let mut cursor = Cursor::new(CLIP);
        loop {
            let from = place(&cursor);
            let Some(atom) = Any::decode_maybe(&mut cursor)? else { return Ok(clip) };
            let to = place(&cursor);
            if let Any::Moov(moov) = atom {
                clip.head = &CLIP[..to];
                timescales.extend(moov.trak.iter().map(|it| (it.tkhd.track_id, it.mdia.mdhd.timescale.into())));
            } else if let Any::Moof(it) = atom {
                moof = Some(it);
            } else if let Any::Mdat(_) = atom {
                let fragment = moof.take().and_then(|moof| Fragment::new(moof, &timescales, &CLIP[from..to]));
                clip.fragments.extend(fragment);
            }
        }
    }
}

impl Fragment {
    /// `None` for one that has no time, of which the clip has none.
    fn new(moof: Moof, timescales: &HashMap<u32, u64>, mdat: &'static [u8]) -> Option<Self> {
        let [track] = moof.traf.as_slice() else { return None };
        let base = track.tfdt.as_ref()?.base_media_decode_time;
        let timescale = *timescales.get(&track.tfhd.track_id)?;
        let at = Duration::from_nanos(base * 1_000_000_000 / timescale);
        Some(Self { at, base, timescale, moof, mdat })
    }

    /// As it is sent in a lap.
    fn in_lap(&self, lap: u32) -> Result<Vec<u8>, moq_mux::Error> {
        let mut moof = self.moof.clone();
        let time = self.base + u64::from(lap) * LAP.as_secs() * self.timescale;
        moof.traf.iter_mut().filter_map(|track| track.tfdt.as_mut()).for_each(|at| at.base_media_decode_time = time);
        let mut bytes = Vec::with_capacity(self.mdat.len() + 200);
        moof.encode(&mut bytes)?;
        bytes.extend_from_slice(self.mdat);
        Ok(bytes)
    }
}

fn place(cursor: &Cursor<&[u8]>) -> usize {
    usize::try_from(cursor.position()).expect("within a file in memory")
}

static CLIP: &[u8] = include_bytes!("picture/clip.mp4");
/// How long the clip is.
const LAP: Duration = Duration::from_secs(8);
/// The broadcast's path under the stream's.
const BROADCAST: &str = "picture";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o1_the_clip_joins_on_to_itself_to_the_last_sample() {
        let clip = Clip::read().unwrap();
        let count = |timescale| clip.fragments.iter().filter(|it| it.timescale == timescale).count();
        assert_eq!((count(15_360), count(48_000), clip.fragments.len()), (240, 375, 615));
        for (timescale, frame) in [(15_360, 512), (48_000, 1024)] {
            let bases: Vec<_> =
                clip.fragments.iter().filter(|it| it.timescale == timescale).map(|it| it.base).collect();
            let even: Vec<_> = (0..bases.len() as u64).map(|n| n * frame).collect();
            assert_eq!(bases, even);
            assert_eq!(bases.len() as u64 * frame, LAP.as_secs() * timescale);
        }
    }

    #[test]
    fn o1_a_fragment_differs_from_lap_to_lap_in_its_time_alone() {
        let clip = Clip::read().unwrap();
        for fragment in &clip.fragments {
            let sent = fragment.in_lap(0).unwrap();
            let mut cursor = Cursor::new(sent.as_slice());
            let Some(Any::Moof(moof)) = Any::decode_maybe(&mut cursor).unwrap() else { panic!("no moof") };
            // Where the data begins is counted from the box, which must be as long as it was.
            assert_eq!(moof.traf[0].trun[0].data_offset, i32::try_from(cursor.position() + 8).ok());
            assert!(moof == fragment.moof);
        }
        let fragment = &clip.fragments[1];
        let (first, third) = (fragment.in_lap(0).unwrap(), fragment.in_lap(2).unwrap());
        assert_eq!(first.len(), third.len());
        let Some(Any::Moof(moof)) = Any::decode_maybe(&mut Cursor::new(&third)).unwrap() else { panic!("no moof") };
        let time = moof.traf[0].tfdt.as_ref().unwrap().base_media_decode_time;
        assert_eq!(time, fragment.base + 16 * fragment.timescale);
    }
}
