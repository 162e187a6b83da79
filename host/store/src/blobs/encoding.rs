//! The format of a blob's file: the plain bytes, or compressed ones.
//!
//! | bytes | raw | compressed |
//! | --- | --- | --- |
//! | 0 | `00` | `01` |
//! | 1..9 | the plain bytes | the first eight bytes of the blake3 of all that follows |
//! | 9..13 | | the length of the plain bytes, little-endian |
//! | 13.. | | one zstd frame |
//!
//! The reader verifies the plain bytes against the blob's name. The checksum here is needed as well, because some bits
//! of a zstd frame have no meaning: with it, every flipped bit of a file is detected.

use std::fmt;
use std::io;

use bytes::Bytes;
use zstd::bulk::Compressor;

use crate::MAX_BLOB_BYTES;

const RAW: u8 = 0;
const ZSTD: u8 = 1;

/// Offset of the zstd frame.
const FRAME_OFFSET: usize = 13;

/// Maximum size of a blob's file.
pub(super) const MAX_FILE_BYTES: usize = MAX_BLOB_BYTES + 1;

/// zstd compression level: the fastest worthwhile one, since contents are written while a run waits.
const COMPRESSION_LEVEL: i32 = 1;

/// Block size of file systems: compression that does not save a block saves nothing.
const FILE_SYSTEM_BLOCK: usize = 4096;

/// Maximum size of a blob that counts as short. Pages of directories do: they consist mostly of hashes, so that
/// compression would save a third of them and double the time to read them. Text shrinks to half or less even if it is
/// short.
const MAX_SHORT_BYTES: usize = 64 << 10;

/// Encoder of blobs, reused for one after another.
pub(super) struct BlobEncoder {
    zstd: Compressor<'static>,
    /// Buffer, kept for the next blob.
    file: Vec<u8>,
}

impl fmt::Debug for BlobEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobEncoder").finish_non_exhaustive()
    }
}

impl BlobEncoder {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { zstd: Compressor::new(COMPRESSION_LEVEL)?, file: Vec::new() })
    }

    /// Encodes a blob into the contents of its file, in two parts. Equal bytes are always encoded in the same way.
    ///
    /// The caller ensures that there are at most [`MAX_BLOB_BYTES`].
    pub(super) fn encode<'a>(&'a mut self, plain: &'a [u8]) -> io::Result<[&'a [u8]; 2]> {
        if plain.len() >= FILE_SYSTEM_BLOCK && self.compress(plain)? {
            return Ok([&self.file, &[]]);
        }
        Ok([&[RAW], plain])
    }

    /// Compresses into `file`. Returns true if that is worthwhile.
    fn compress(&mut self, plain: &[u8]) -> io::Result<bool> {
        let length = u32::try_from(plain.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.file.clear();
        self.file.resize(FRAME_OFFSET, 0);
        self.file.resize(FRAME_OFFSET + zstd::zstd_safe::compress_bound(plain.len()), 0);
        let written = self.zstd.compress_to_buffer(plain, &mut self.file[FRAME_OFFSET..])?;
        self.file.truncate(FRAME_OFFSET + written);
        self.file[9..FRAME_OFFSET].copy_from_slice(&length.to_le_bytes());
        let check = check(&self.file[9..]);
        self.file[1..9].copy_from_slice(&check);
        self.file[0] = ZSTD;
        let (raw, compressed) = (plain.len() + 1, self.file.len());
        // Decompression takes time too, so it must save at least an eighth; of short blobs, which are read often, half.
        let most = if raw <= MAX_SHORT_BYTES { raw / 2 } else { raw - raw / 8 };
        Ok(compressed.div_ceil(FILE_SYSTEM_BLOCK) < raw.div_ceil(FILE_SYSTEM_BLOCK) && compressed < most)
    }
}

/// Decodes a file into the plain bytes, at most [`MAX_BLOB_BYTES`]; returns `None` if the file is damaged. The result
/// need not be what was encoded: the caller compares it with the blob's name.
pub(super) fn decode(file: Vec<u8>) -> Option<Bytes> {
    match *file.first()? {
        RAW if file.len() <= MAX_FILE_BYTES => Some(Bytes::from(file).slice(1..)),
        ZSTD => {
            let (head, frame) = (file.get(1..FRAME_OFFSET)?, file.get(FRAME_OFFSET..)?);
            if head[..8] != check(&file[9..]) {
                return None;
            }
            let length = u32::from_le_bytes(head[8..].try_into().ok()?);
            let length = usize::try_from(length).ok().filter(|length| *length <= MAX_BLOB_BYTES)?;
            // Stops if there is more data than announced.
            let plain = zstd::bulk::decompress(frame, length).ok()?;
            (plain.len() == length).then(|| plain.into())
        }
        _ => None,
    }
}

fn check(bytes: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(bytes);
    *hash.as_bytes().first_chunk().expect("a hash has 32 bytes")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(plain: &[u8]) -> Vec<u8> {
        BlobEncoder::new().expect("it is made").encode(plain).expect("it is encoded").concat()
    }

    /// A compressed file that claims a plain size of `length`.
    fn claims(plain: &[u8], length: u32) -> Vec<u8> {
        let mut file = vec![ZSTD; 9];
        file.extend(length.to_le_bytes());
        file.extend(zstd::bulk::compress(plain, COMPRESSION_LEVEL).expect("it compresses"));
        let check = check(&file[9..]);
        file[1..9].copy_from_slice(&check);
        file
    }

    #[test]
    fn blob_encoding_compresses_only_where_it_saves_enough() {
        let noise: Vec<u8> = (0..300_u32).flat_map(|n| *blake3::hash(&n.to_le_bytes()).as_bytes()).collect();
        assert_eq!(encode(&noise)[0], RAW);
        assert!(encode(&[7; 100_000]).len() < 100);
        assert_eq!(encode(&[7; 4095])[0], RAW, "it would save no block");
        let third = |noise: &[u8]| encode(&[noise, &vec![0; noise.len() / 2]].concat())[0];
        assert_eq!(third(&noise[..9_000]), RAW, "it is short, and would be so after a third is saved");
        assert_eq!(third(&noise.repeat(10)[..90_000]), ZSTD);
        assert_eq!(encode(b""), [RAW]);
    }

    #[test]
    fn blob_with_false_length_is_refused_before_decompression() {
        let zeros = vec![0; 10_000_000];
        assert_eq!(decode(claims(&zeros, 10_000_000)).as_deref(), Some(&zeros[..]));
        for length in [0, 1, 9_999_999, 10_000_001, u32::MAX] {
            assert_eq!(decode(claims(&zeros, length)), None, "{length}");
        }
        let largest = u32::try_from(MAX_BLOB_BYTES).expect("it fits");
        assert_eq!(decode(claims(&zeros, largest)), None);
        assert_eq!(decode(claims(&vec![0; MAX_BLOB_BYTES + 1], largest + 1)), None);
    }

    #[test]
    fn compressed_blob_with_any_bit_flipped_is_detected() {
        let plain = "the quick brown fox jumps over the lazy dog. ".repeat(200);
        let file = encode(plain.as_bytes());
        assert_eq!(file[0], ZSTD);
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // Read as raw, it does not match its name.
            assert!(decode(flipped).is_none_or(|decoded| decoded != plain.as_bytes()), "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn blob_encoded_is_decoded_equal(seed in prop::collection::vec(any::<u8>(), 0..200), times in 0_usize..500) {
            let plain = seed.repeat(times);
            let file = encode(&plain);
            prop_assert_eq!(&encode(&plain), &file);
            prop_assert!(file.len() <= plain.len() + 1);
            prop_assert_eq!(decode(file), Some(plain.into()));
        }

        #[test]
        fn blob_decoder_with_arbitrary_bytes_does_not_panic(file in prop::collection::vec(any::<u8>(), 0..200), kind in 0_u8..3) {
            let mut file = file;
            decode(file.clone());
            if file.len() > FRAME_OFFSET {
                file[0] = kind;
                let check = check(&file[9..]);
                file[1..9].copy_from_slice(&check);
                decode(file);
            }
        }
    }
}
