//! Data of xz and of its predecessor lzma.

use std::io::{Error, ErrorKind, Result, Write};

use bashkit::limits::{BudgetedBytes, ExecutionBudget};
use lzma_rust2::{CheckType, LzmaOptions, LzmaReader, LzmaWriter, XzOptions, XzReader, XzWriter};

use crate::commands::archive::codec::{is_limit, read_with_limit};

/// First bytes of data of xz.
pub(in crate::commands::archive) const XZ_MAGIC: &[u8] = b"\xFD7zXZ\0";

/// First bytes of data of lzma with the usual properties.
pub(in crate::commands::archive) const LZMA_MAGIC: &[u8] = b"\x5D\0\0";

/// Memory of a decoder in KiB: what level 9 needs, which has a window of 64 MiB.
const DECODER_MEMORY: u32 = 80 << 10;

/// Largest window of an encoder, that of level 6: an encoder takes some twelve times its window.
const LARGEST_WINDOW: u32 = 8 << 20;

/// Smallest window of an encoder, with which the first bytes of lzma are those that programs look for.
const SMALLEST_WINDOW: u32 = 64 << 10;

/// Container of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::commands::archive) enum XzFormat {
    Xz,
    /// The format of LZMA Utils, with neither checks nor padding.
    Lzma,
}

impl XzFormat {
    /// Returns the format of data by its first bytes.
    pub(in crate::commands::archive) fn detect(data: &[u8]) -> Option<Self> {
        if data.starts_with(XZ_MAGIC) {
            Some(Self::Xz)
        } else if data.starts_with(LZMA_MAGIC) && data.len() > 13 {
            Some(Self::Lzma)
        } else {
            None
        }
    }

    /// Compresses data at a level from 0 to 9. The window is not larger than the data.
    pub(in crate::commands::archive) fn compress(
        self,
        input: &[u8],
        level: u32,
        check: CheckType,
        budget: Option<&ExecutionBudget>,
    ) -> Result<BudgetedBytes> {
        let mut options = LzmaOptions::with_preset(level);
        let whole = u32::try_from(input.len()).ok().and_then(u32::checked_next_power_of_two).unwrap_or(LARGEST_WINDOW);
        options.dict_size = whole.clamp(SMALLEST_WINDOW, options.dict_size.min(LARGEST_WINDOW));
        let _memory = budget
            .map(|budget| budget.lease_bytes(usize::try_from(options.get_memory_usage()).unwrap_or(usize::MAX) << 10))
            .transpose()
            .map_err(Error::other)?;
        let output = BudgetedBytes::new(budget).map_err(Error::other)?;
        match self {
            Self::Xz => {
                let options = XzOptions { lzma_options: options, check_type: check, ..XzOptions::default() };
                let mut writer = XzWriter::new(output, options)?;
                writer.write_all(input)?;
                writer.finish()
            }
            Self::Lzma => {
                let mut writer = LzmaWriter::new_use_header(output, &options, None)?;
                writer.write_all(input)?;
                writer.finish()
            }
        }
    }

    /// Decompresses data into `max_size` bytes at most.
    pub(in crate::commands::archive) fn decompress(
        self,
        input: &[u8],
        max_size: u64,
        budget: Option<&ExecutionBudget>,
    ) -> Result<BudgetedBytes> {
        match self {
            Self::Xz => {
                let reader = XzReader::new_mem_limit(input, true, DECODER_MEMORY);
                read_with_limit(reader, input.len(), max_size, budget)
            }
            Self::Lzma => {
                let reader = LzmaReader::new_mem_limit(input, DECODER_MEMORY, None)?;
                read_with_limit(reader, input.len(), max_size, budget)
            }
        }
    }
}

/// Returns what is wrong with data that cannot be decompressed, in the words of xz. None for an error that the data has
/// no part in, such as a limit.
pub(super) fn data_problem(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::UnexpectedEof => Some("Unexpected end of input"),
        ErrorKind::OutOfMemory => Some("Memory usage limit reached"),
        ErrorKind::Unsupported => Some("Unsupported options"),
        _ if is_limit(error) => None,
        _ => Some("Compressed data is corrupt"),
    }
}
