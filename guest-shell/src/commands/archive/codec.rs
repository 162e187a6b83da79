//! Compression and bounded decompression of whole texts.
//!
//! The crate `bzip2` has a codec in Rust, whose state has a fixed size.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::io::{Error, Read, Write};

use ::bzip2::read::MultiBzDecoder;
use ::bzip2::write::BzEncoder;
use bashkit::Result;
use bashkit::limits::{BudgetedBytes, ExecutionBudget, LimitExceeded};
use flate2::GzBuilder;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lzma_rust2::CheckType;

use super::xz::codec::XzFormat;
use super::zstd::codec::{ZSTD_MAGIC, compress as compress_zstd, decompress as decompress_zstd};
use crate::commands::budget::archive_io_error;

/// Size up to which the ratio to the compressed size does not count: archives of small files are mostly zeros, and logs
/// repeat themselves. What memory and files may hold is bounded by their own limits.
const ALWAYS_UNPACKED: usize = 32 << 20;

/// Largest ratio of the sizes of a text and of its compressed form: more is an attack on the memory.
const MAX_DECOMPRESSION_RATIO: usize = 100;

/// Level of xz, of those from 0 to 9.
pub(super) const XZ_LEVEL: u32 = 6;

/// Compression of an archive.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum ArchiveCompression {
    #[default]
    None,
    Gzip,
    Bzip2,
    Xz,
    Lzma,
    Zstd,
}

impl ArchiveCompression {
    /// Returns the compression that the name of an archive stands for (`tar -a`).
    pub(super) fn named(archive: &str) -> Self {
        let has_suffix = |suffixes: &[&str]| suffixes.iter().any(|end| archive.ends_with(end));
        if has_suffix(&[".gz", ".tgz", ".taz"]) {
            Self::Gzip
        } else if has_suffix(&[".bz2", ".tbz", ".tbz2", ".tz2"]) {
            Self::Bzip2
        } else if has_suffix(&[".xz", ".txz"]) {
            Self::Xz
        } else if has_suffix(&[".lzma", ".tlz"]) {
            Self::Lzma
        } else if has_suffix(&[".zst", ".tzst"]) {
            Self::Zstd
        } else {
            Self::None
        }
    }

    /// Returns the compression of data by its first bytes.
    pub(super) fn detect(data: &[u8]) -> Self {
        if data.starts_with(b"BZh") {
            Self::Bzip2
        } else if data.starts_with(&[0x1f, 0x8b]) {
            Self::Gzip
        } else if data.starts_with(ZSTD_MAGIC) {
            Self::Zstd
        } else {
            match XzFormat::detect(data) {
                Some(XzFormat::Xz) => Self::Xz,
                Some(XzFormat::Lzma) => Self::Lzma,
                None => Self::None,
            }
        }
    }

    /// Returns the program of this compression.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::None => "cat",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Lzma => "lzma",
            Self::Zstd => "zstd",
        }
    }

    /// Compresses data for a command, whose name begins its errors.
    pub(super) fn compress(
        self,
        input: &[u8],
        command: &str,
        budget: Option<&ExecutionBudget>,
    ) -> Result<BudgetedBytes> {
        let compressed = match self {
            Self::None => return uncompressed(input, budget),
            Self::Gzip => {
                // The system is Unix, as in what gzip writes there.
                let header = GzBuilder::new().operating_system(3);
                let encoder = header.write(BudgetedBytes::new(budget)?, flate2::Compression::default());
                encode(encoder, input, GzEncoder::finish)
            }
            Self::Bzip2 => return compress_bzip2(input, 9, command, budget),
            Self::Xz => XzFormat::Xz.compress(input, XZ_LEVEL, CheckType::Crc64, budget),
            Self::Lzma => XzFormat::Lzma.compress(input, XZ_LEVEL, CheckType::None, budget),
            Self::Zstd => compress_zstd(input, budget),
        };
        compressed
            .map_err(|error| archive_io_error(&format!("{command}: {} compression failed", self.program()), error))
    }

    /// Decompresses data for a command, whose name begins its errors, into `max_size` bytes at most.
    pub(super) fn decompress(
        self,
        input: &[u8],
        max_size: u64,
        command: &str,
        budget: Option<&ExecutionBudget>,
    ) -> Result<BudgetedBytes> {
        let decompressed = match self {
            Self::None => return uncompressed(input, budget),
            Self::Gzip => read_with_limit(GzDecoder::new(input), input.len(), max_size, budget),
            Self::Bzip2 => read_with_limit(MultiBzDecoder::new(input), input.len(), max_size, budget),
            Self::Xz => XzFormat::Xz.decompress(input, max_size, budget),
            Self::Lzma => XzFormat::Lzma.decompress(input, max_size, budget),
            Self::Zstd => decompress_zstd(input, max_size, budget),
        };
        decompressed.map_err(|error| archive_io_error(command, error))
    }
}

/// Compresses data with bzip2 in blocks of so many times 100 kB, from 1 to 9.
pub(super) fn compress_bzip2(
    input: &[u8],
    level: u32,
    command: &str,
    budget: Option<&ExecutionBudget>,
) -> Result<BudgetedBytes> {
    let encoder = BzEncoder::new(BudgetedBytes::new(budget)?, ::bzip2::Compression::new(level));
    let compressed = encode(encoder, input, BzEncoder::finish);
    compressed.map_err(|error| archive_io_error(&format!("{command}: bzip2 compression failed"), error))
}

fn uncompressed(input: &[u8], budget: Option<&ExecutionBudget>) -> Result<BudgetedBytes> {
    let mut output = BudgetedBytes::try_with_capacity(budget, input.len())?;
    output.try_extend_from_slice(input)?;
    Ok(output)
}

fn encode<E: Write>(
    mut encoder: E,
    input: &[u8],
    finish: impl FnOnce(E) -> std::io::Result<BudgetedBytes>,
) -> std::io::Result<BudgetedBytes> {
    encoder.write_all(input)?;
    finish(encoder)
}

/// Reads all of a decoder, if its output stays within the limits.
pub(super) fn read_with_limit(
    mut reader: impl Read,
    compressed_size: usize,
    max_size: u64,
    budget: Option<&ExecutionBudget>,
) -> std::io::Result<BudgetedBytes> {
    let mut output = BudgetedBytes::new(budget).map_err(Error::other)?;
    let mut buffer = [0u8; 8192];
    loop {
        let length = reader.read(&mut buffer)?;
        if length == 0 {
            return Ok(output);
        }
        append_unpacked(&mut output, &buffer[..length], compressed_size, max_size)?;
    }
}

/// Limit that the output of a decoder exceeded.
#[derive(Debug)]
pub(super) struct UnpackedTooLarge(String);

impl std::fmt::Display for UnpackedTooLarge {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} (zip bomb protection)", self.0)
    }
}

impl std::error::Error for UnpackedTooLarge {}

/// Returns true if an error tells of a limit, and not of wrong data.
pub(super) fn is_limit(error: &Error) -> bool {
    error.get_ref().is_some_and(|source| source.is::<UnpackedTooLarge>() || source.is::<LimitExceeded>())
}

/// Appends a part of a decoder's output, if the whole stays within the limits.
///
/// The limits are checked before memory is reserved for the part.
pub(super) fn append_unpacked(
    output: &mut BudgetedBytes,
    part: &[u8],
    compressed_size: usize,
    max_size: u64,
) -> std::io::Result<()> {
    let length = output
        .len()
        .checked_add(part.len())
        .ok_or_else(|| Error::other(UnpackedTooLarge("decompressed size overflow".to_owned())))?;
    if u64::try_from(length).unwrap_or(u64::MAX) > max_size {
        return Err(Error::other(UnpackedTooLarge(format!("decompressed size exceeds {max_size} byte limit"))));
    }
    let length_limit = compressed_size.saturating_mul(MAX_DECOMPRESSION_RATIO);
    if compressed_size > 0 && length > length_limit.max(ALWAYS_UNPACKED) {
        let message = format!("decompression ratio exceeds {MAX_DECOMPRESSION_RATIO}:1");
        return Err(Error::other(UnpackedTooLarge(message)));
    }
    output.try_extend_from_slice(part).map_err(Error::other)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use bashkit::limits::ExecutionLimits;

    use super::*;

    fn budget_of_live_bytes(limit: u64) -> ExecutionBudget {
        let limits = ExecutionLimits::new().max_live_intermediate_bytes(limit);
        ExecutionBudget::new(&limits, Arc::new(AtomicBool::new(false)))
    }

    fn read_failure(reader: impl Read, compressed_size: usize, max_size: u64) -> String {
        read_with_limit(reader, compressed_size, max_size, None).expect_err("limits are exceeded").to_string()
    }

    #[test]
    fn decompression_within_its_limits_succeeds() {
        let data = b"hello world";
        let output = read_with_limit(data.as_slice(), data.len(), 1000, None).expect("within the limits");
        assert_eq!(&*output, data);
    }

    #[test]
    fn decompression_above_a_limit_fails() {
        let data = vec![0u8; ALWAYS_UNPACKED + 1];
        assert_eq!(
            read_failure(data.as_slice(), data.len(), 500),
            "decompressed size exceeds 500 byte limit (zip bomb protection)"
        );
        let message = read_failure(data.as_slice(), 100, u64::MAX);
        assert!(message.starts_with("decompression ratio exceeds"), "{message}");
    }

    #[test]
    fn decompression_that_fails_releases_its_memory() {
        struct FailsAfterFirstRead(bool);

        impl Read for FailsAfterFirstRead {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                if self.0 {
                    return Err(Error::other("injected read failure"));
                }
                self.0 = true;
                buffer[..4].copy_from_slice(b"data");
                Ok(4)
            }
        }

        let budget = budget_of_live_bytes(8);
        assert!(read_with_limit(FailsAfterFirstRead(false), 4, 8, Some(&budget)).is_err());
        assert!(budget.lease_bytes(8).is_ok());
    }

    #[test]
    fn decompression_shares_the_budget_with_other_buffers() {
        let budget = budget_of_live_bytes(8);
        let _outer = budget.lease_bytes(4).expect("within the budget");
        let error = read_with_limit(&b"12345"[..], 5, 8, Some(&budget)).expect_err("above the budget");
        assert!(error.to_string().contains("live intermediate bytes"), "{error}");
    }

    #[test]
    fn compression_above_the_budget_is_a_resource_limit() {
        let budget = budget_of_live_bytes(0);
        let error = ArchiveCompression::Gzip.compress(b"input", "gzip", Some(&budget)).expect_err("above the budget");
        assert!(matches!(error, bashkit::Error::ResourceLimit(LimitExceeded::ExecutionBudget(_))));
    }
}
