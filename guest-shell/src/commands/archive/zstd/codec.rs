//! Data of zstd: one or more frames.

use std::io::{Error, ErrorKind, Read, Result};

use bashkit::limits::{BudgetedBytes, ExecutionBudget};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::commands::archive::codec::{append_unpacked, is_limit};

/// First bytes of a frame.
pub(in crate::commands::archive) const ZSTD_MAGIC: &[u8] = b"\x28\xB5\x2F\xFD";

/// Largest window of a frame, as for zstd without `--long`.
const LARGEST_WINDOW: u64 = 128 << 20;

/// Largest growth of data that does not compress: a header of three bytes for each block of 128 KiB, and the frame.
const FRAME_SIZE: usize = 64;

/// Compresses data. There is one level, which is like zstd's first one.
pub(in crate::commands::archive) fn compress(input: &[u8], budget: Option<&ExecutionBudget>) -> Result<BudgetedBytes> {
    let most = input.len() + input.len() / 1024 + FRAME_SIZE;
    let _working_copy = budget.map(|budget| budget.lease_bytes(most)).transpose().map_err(Error::other)?;
    let compressed = compress_to_vec(input, CompressionLevel::Fastest);
    let mut output = BudgetedBytes::new(budget).map_err(Error::other)?;
    output.try_extend_from_slice(&compressed).map_err(Error::other)?;
    Ok(output)
}

/// Decompresses all frames into `max_size` bytes at most.
pub(in crate::commands::archive) fn decompress(
    input: &[u8],
    max_size: u64,
    budget: Option<&ExecutionBudget>,
) -> Result<BudgetedBytes> {
    let mut output = BudgetedBytes::new(budget).map_err(Error::other)?;
    let mut rest = input;
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(LARGEST_WINDOW);
    while !rest.is_empty() {
        match decoder.init(&mut rest) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                rest = rest.get(length..).ok_or_else(|| truncated("a skipped frame"))?;
                continue;
            }
            Err(error) => return Err(frame_error(error, rest)),
        }
        while !decoder.is_finished() {
            decoder
                .decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|error| frame_error(error, rest))?;
            take_decoded(&mut decoder, &mut output, input.len(), max_size)?;
        }
        take_decoded(&mut decoder, &mut output, input.len(), max_size)?;
        let (stored, calculated) = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
        if stored.is_some() && stored != calculated {
            return Err(Error::new(ErrorKind::InvalidData, "restored data doesn't match checksum"));
        }
    }
    Ok(output)
}

/// Appends what a decoder need not keep for later blocks.
fn take_decoded(
    decoder: &mut FrameDecoder,
    output: &mut BudgetedBytes,
    compressed_size: usize,
    max_size: u64,
) -> Result<()> {
    let mut buffer = [0u8; 8192];
    while decoder.can_collect() > 0 {
        let length = decoder.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        append_unpacked(output, &buffer[..length], compressed_size, max_size)?;
    }
    Ok(())
}

/// Returns the error of a frame. Data that ends within one is told from data that is wrong: the decoder has read it all.
fn frame_error(error: FrameDecoderError, rest: &[u8]) -> Error {
    match error {
        FrameDecoderError::WindowSizeTooBig { .. } => Error::new(ErrorKind::OutOfMemory, error),
        _ if rest.is_empty() => truncated(&error.to_string()),
        _ => Error::new(ErrorKind::InvalidData, error),
    }
}

fn truncated(what: &str) -> Error {
    Error::new(ErrorKind::UnexpectedEof, what.to_owned())
}

/// Returns what is wrong with data that cannot be decompressed, in the words of zstd. None for an error that the data
/// has no part in, such as a limit.
pub(super) fn data_problem(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::UnexpectedEof => Some("Read error (39) : premature end"),
        ErrorKind::OutOfMemory => Some("Decoding error (36) : Frame requires too much memory for decoding"),
        _ if is_limit(error) => None,
        _ => Some("Decoding error (36) : Data corruption detected"),
    }
}
