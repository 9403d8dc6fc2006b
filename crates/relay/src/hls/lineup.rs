//! The renditions of a broadcast, from its catalogue, and the playlist that lists them (RFC 8216bis, 4.4.6).

use std::fmt::Write;

use moq_mux::catalog::hang::Catalog;

use super::address::TrackId;

/// The renditions that there are now, the best picture first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lineup {
    pub(crate) renditions: Vec<Rendition>,
}

/// One rendition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendition {
    pub(crate) id: TrackId,
    /// What the publisher calls the track.
    pub(crate) name: String,
    /// Its codec as RFC 6381 writes it.
    codec: String,
    /// Bits in a second.
    bandwidth: u64,
    /// Pixels across and down.
    size: Option<(u32, u32)>,
    /// Pictures in a thousand seconds.
    rate_per_1000_s: Option<u64>,
    channels: u32,
    /// What people choose it by.
    label: Option<String>,
}

/// Which track has which id, for as long as a stream is shown: ids are in addresses that players keep.
#[derive(Debug, Default)]
pub(crate) struct Names {
    video: Vec<String>,
    audio: Vec<String>,
}

impl Lineup {
    /// Reads a catalogue.
    pub(crate) fn read(catalog: &Catalog, names: &mut Names) -> Self {
        let mut renditions = Vec::new();
        for (name, config) in catalog.video.ranked() {
            let Some(id) = id_of(&mut names.video, name) else { continue };
            renditions.push(Rendition {
                id: TrackId::Video(id),
                name: name.clone(),
                codec: out_of_band(config.codec.to_string()),
                bandwidth: config.bitrate.unwrap_or(VIDEO_BANDWIDTH),
                size: config.coded_width.zip(config.coded_height),
                rate_per_1000_s: config.framerate.and_then(thousandfold),
                channels: 0,
                label: config.label.clone(),
            });
        }
        for (name, config) in &catalog.audio.renditions {
            let Some(id) = id_of(&mut names.audio, name) else { continue };
            renditions.push(Rendition {
                id: TrackId::Audio(id),
                name: name.clone(),
                codec: config.codec.to_string(),
                bandwidth: config.bitrate.unwrap_or(AUDIO_BANDWIDTH),
                size: None,
                rate_per_1000_s: None,
                channels: config.channel_count,
                label: config.label.clone(),
            });
        }
        Self { renditions }
    }

    pub(crate) fn find(&self, id: TrackId) -> Option<&Rendition> {
        self.renditions.iter().find(|rendition| rendition.id == id)
    }

    /// What a player asks for first: the best picture, and a sound.
    pub(crate) fn first(&self) -> impl Iterator<Item = TrackId> {
        self.video().take(1).chain(self.audio().take(1)).map(|rendition| rendition.id)
    }

    /// The playlist of playlists, for one session.
    pub(crate) fn text(&self, session: &str) -> String {
        let mut out = String::with_capacity(1024);
        self.write(&mut out, session).expect("writing to a string cannot fail");
        out
    }

    fn write(&self, out: &mut String, session: &str) -> std::fmt::Result {
        writeln!(out, "#EXTM3U\n#EXT-X-VERSION:9")?;
        let (mut sound, mut sound_bandwidth) = (None, 0);
        for (place, Rendition { id, codec, bandwidth, channels, label, .. }) in self.audio().enumerate() {
            let label = label.as_deref().map_or_else(|| id.to_string(), quotable);
            let default = if place == 0 { "YES" } else { "NO" };
            writeln!(
                out,
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"sound\",NAME=\"{label}\",DEFAULT={default},AUTOSELECT=YES,\
                 CHANNELS=\"{channels}\",URI=\"s/{session}/{id}.m3u8\""
            )?;
            sound = sound.or(Some(codec));
            sound_bandwidth = sound_bandwidth.max(*bandwidth);
        }
        if self.video().next().is_none() {
            for Rendition { id, codec, bandwidth, .. } in self.audio() {
                writeln!(out, "#EXT-X-STREAM-INF:BANDWIDTH={bandwidth},CODECS=\"{codec}\",AUDIO=\"sound\"")?;
                writeln!(out, "s/{session}/{id}.m3u8")?;
            }
        }
        for Rendition { id, codec, bandwidth, size, rate_per_1000_s, .. } in self.video() {
            let bandwidth = bandwidth + sound_bandwidth;
            write!(out, "#EXT-X-STREAM-INF:BANDWIDTH={bandwidth},CODECS=\"{codec}")?;
            if let Some(sound) = sound {
                write!(out, ",{sound}\",AUDIO=\"sound")?;
            }
            out.push('"');
            if let Some((width, height)) = size {
                write!(out, ",RESOLUTION={width}x{height}")?;
            }
            if let Some(rate) = rate_per_1000_s {
                write!(out, ",FRAME-RATE={}.{:03}", rate / 1000, rate % 1000)?;
            }
            writeln!(out, "\ns/{session}/{id}.m3u8")?;
        }
        Ok(())
    }

    fn video(&self) -> impl Iterator<Item = &Rendition> {
        self.renditions.iter().filter(|rendition| matches!(rendition.id, TrackId::Video(_)))
    }

    fn audio(&self) -> impl Iterator<Item = &Rendition> {
        self.renditions.iter().filter(|rendition| matches!(rendition.id, TrackId::Audio(_)))
    }
}

/// The id of a track, a new one's too; `None` when a publisher has had more tracks than addresses can name.
fn id_of(names: &mut Vec<String>, name: &str) -> Option<u8> {
    let known = names.iter().position(|known| known == name);
    let id = u8::try_from(known.unwrap_or(names.len())).ok()?;
    if known.is_none() {
        names.push(name.to_owned());
    }
    Some(id)
}

/// What fragmented MP4 carries has its parameters in the init, wherever the publisher had them.
fn out_of_band(codec: String) -> String {
    for (inline, apart) in [("avc3.", "avc1."), ("hev1.", "hvc1.")] {
        if let Some(rest) = codec.strip_prefix(inline) {
            return format!("{apart}{rest}");
        }
    }
    codec
}

/// A label within quotes: nothing that a publisher writes ends them.
fn quotable(label: &str) -> String {
    label.chars().filter(|c| !c.is_control() && *c != '"').take(LABEL_MAX).collect()
}

fn thousandfold(rate: f64) -> Option<u64> {
    let rate = (rate * 1000.0).round();
    // Between these bounds the conversion is exact.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    (1.0..=1_000_000.0).contains(&rate).then_some(rate as u64)
}

/// What a catalogue that says nothing is taken to mean; players only compare it.
const VIDEO_BANDWIDTH: u64 = 2_000_000;
const AUDIO_BANDWIDTH: u64 = 128_000;
/// Characters of a label.
const LABEL_MAX: usize = 100;
