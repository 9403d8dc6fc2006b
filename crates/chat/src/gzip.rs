//! One viewer's gzip stream out of pieces that are deflated once for all (C9).
//!
//! A compressor for each viewer would cost many times what a viewer does. Each piece is deflated by itself instead,
//! without a look at what came before, up to a whole byte; such pieces make one valid stream in whatever order they
//! stand one behind another (RFC 1951, section 3.2.3). Only the checksum at the end is a viewer's own (RFC 1952).

use std::collections::VecDeque;
use std::io::Write;

use bytes::Bytes;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// What a viewer has been sent so far, for the end of its stream.
#[derive(Debug, Default)]
pub(crate) struct Gzip {
    sent: Crc,
}

/// The pieces that were deflated last, for the next viewer that is sent the same.
#[derive(Debug, Default)]
pub(crate) struct Deflated {
    newest: VecDeque<(Bytes, Bytes)>,
}

impl Gzip {
    /// Counts a piece as sent, as it was before it was deflated.
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.sent.update(piece);
    }

    /// What ends the stream: an empty last block, the checksum and the length.
    pub(crate) fn end(self) -> Bytes {
        let (sum, length) = (self.sent.sum().to_le_bytes(), self.sent.amount().to_le_bytes());
        [&LAST_BLOCK[..], &sum, &length].concat().into()
    }
}

impl Deflated {
    /// A piece as it is sent. Two are the same if they lie in the same place, which is kept for as long as this knows
    /// it; what they say is not compared.
    pub(crate) fn of(&mut self, piece: &Bytes) -> Bytes {
        let same = |(known, _): &&(Bytes, Bytes)| known.as_ptr() == piece.as_ptr() && known.len() == piece.len();
        if let Some((_, deflated)) = self.newest.iter().rev().find(same) {
            return deflated.clone();
        }
        let deflated = deflate(piece);
        if self.newest.len() == KEPT {
            self.newest.pop_front();
        }
        self.newest.push_back((piece.clone(), deflated.clone()));
        deflated
    }
}

fn deflate(piece: &[u8]) -> Bytes {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(piece.len() / 2), Compression::fast());
    encoder.write_all(piece).and_then(|()| encoder.flush()).expect("a vector takes every write");
    Bytes::copy_from_slice(encoder.get_ref())
}

/// What a gzip stream begins with (RFC 1952, section 2.3): deflated, no name, no time, an unknown system.
pub(crate) const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// The last block, with nothing in it.
const LAST_BLOCK: [u8; 2] = [3, 0];
/// Pieces that are kept: the news, and where those begin who come at the same time. Of at most 64 KiB each.
const KEPT: usize = 16;

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn c9_pieces_in_any_order_are_one_stream_with_its_own_checksum() {
        let pieces = [Bytes::from("id: 1\n\n".repeat(300)), Bytes::from_static(b":\n\n"), Bytes::from("id: 2\n\n")];
        let mut deflated = Deflated::default();
        for order in [[0, 1, 2], [2, 0, 0], [1, 1, 0]] {
            let (mut gzip, mut stream, mut plain) = (Gzip::default(), HEADER.to_vec(), Vec::new());
            for piece in order.map(|index| &pieces[index]) {
                gzip.add(piece);
                stream.extend_from_slice(&deflated.of(piece));
                plain.extend_from_slice(piece);
                // What has come so far can be read at once: an event does not wait for the next one.
                let mut got = vec![0; plain.len()];
                GzDecoder::new(stream.as_slice()).read_exact(&mut got).unwrap();
                assert_eq!(got, plain);
            }
            stream.extend_from_slice(&gzip.end());
            let mut got = Vec::new();
            GzDecoder::new(stream.as_slice()).read_to_end(&mut got).unwrap();
            assert_eq!(got, plain);
        }
    }

    #[test]
    fn c9_a_piece_is_deflated_once_for_all_and_few_are_kept() {
        let mut deflated = Deflated::default();
        let piece = Bytes::from("a piece of a chat ".repeat(100));
        let first = deflated.of(&piece);
        assert!(first.len() * 10 < piece.len());
        assert_eq!(deflated.of(&piece.clone()).as_ptr(), first.as_ptr());
        for number in 0..100 {
            deflated.of(&Bytes::from(format!("piece {number}")));
        }
        assert_eq!(deflated.newest.len(), KEPT);
        assert_ne!(deflated.of(&piece).as_ptr(), first.as_ptr());
    }
}
