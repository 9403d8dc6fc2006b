//! Reads the beginning of a body for signals, without taking a byte from its reader (G19).

use std::error::Error;
use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body::Body;
use http_body_util::BodyExt;
use tidegate_gate::signal::body::LOOK_MAX;
use tokio::time::timeout;

use crate::body::Ahead;
use crate::error::Failure;

/// Reads up to 64 KiB of a body as it came. Ends early when the body ends or breaks, and after [`LOOK_TIME`]: what
/// comes slower than that is for its reader, who has had no byte of it yet.
pub(crate) async fn ahead<B>(body: &mut B) -> Ahead
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut ahead = Ahead::default();
    let mut bytes = 0;
    let look = async {
        while bytes < LOOK_MAX && ahead.end.is_none() {
            match body.frame().await {
                Some(Ok(frame)) => {
                    bytes += frame.data_ref().map_or(0, Bytes::len);
                    ahead.frames.push_back(frame);
                }
                Some(Err(error)) => ahead.end = Some(Err(Failure::new(error))),
                None => ahead.end = Some(Ok(())),
            }
        }
    };
    let _slow = timeout(LOOK_TIME, look).await;
    ahead
}

/// The beginning of a body, decoded: at most 64 KiB, nothing of a coding that is not known.
pub(crate) fn decoded(ahead: &Ahead, headers: &HeaderMap) -> Vec<u8> {
    let mut raw = Vec::new();
    for data in ahead.frames.iter().filter_map(|frame| frame.data_ref()) {
        raw.extend_from_slice(&data[..data.len().min(LOOK_MAX.saturating_sub(raw.len()))]);
    }
    let coding = headers.get(CONTENT_ENCODING).map(|coding| coding.as_bytes().trim_ascii().to_ascii_lowercase());
    match coding.as_deref() {
        None | Some(b"" | b"identity") => raw,
        Some(b"gzip" | b"x-gzip") => start_of(flate2::read::MultiGzDecoder::new(&raw[..])),
        Some(b"deflate") => inflated(&raw),
        Some(b"br") => start_of(brotli_decompressor::Decompressor::new(&raw[..], BROTLI_BUFFER)),
        Some(b"zstd") => ruzstd::decoding::StreamingDecoder::new(&raw[..]).map(start_of).unwrap_or_default(),
        Some(_) => Vec::new(),
    }
}

/// `deflate` means zlib, but some servers send it without its wrapping.
fn inflated(raw: &[u8]) -> Vec<u8> {
    let wrapped = start_of(flate2::read::ZlibDecoder::new(raw));
    if wrapped.is_empty() { start_of(flate2::read::DeflateDecoder::new(raw)) } else { wrapped }
}

/// What a decoder gives before it ends or fails, at most 64 KiB: a few compressed bytes may stand for gigabytes.
fn start_of(decoder: impl Read) -> Vec<u8> {
    let mut start = Vec::new();
    // A body that was cut at 64 KiB ends in an error, behind everything that was there.
    let _cut = decoder.take(LOOK_MAX as u64).read_to_end(&mut start);
    start
}

/// How long a body may take to show its first 64 KiB. A throttle's few words come at once; a reader that waits longer
/// would take its call for dead.
const LOOK_TIME: Duration = Duration::from_secs(5);
/// The decoder's input buffer, in bytes. It reads from memory, so a small one is enough.
const BROTLI_BUFFER: usize = 4096;
