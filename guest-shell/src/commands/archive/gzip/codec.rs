//! Compressed data: its frame, packing and unpacking.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::io::{Read, Write};

use bashkit::Result;
use bashkit::builtins::Context;
use bashkit::fs::Metadata;
use bashkit::limits::BudgetedBytes;
use flate2::GzBuilder;

use super::options::GzipOptions;
use crate::commands::archive::codec::append_unpacked;
use crate::commands::budget::{archive_io_error, budgeted_bytes};

/// Problem of data that ends too early.
pub(super) const END_OF_FILE: &str = "unexpected end of file";

/// First bytes of compressed data.
pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b];

/// Size of a header without a name.
pub(super) const HEADER_SIZE: usize = 10;
/// Size of the trailer with checksum and length, after the data.
pub(super) const TRAILER_SIZE: usize = 8;

/// Returns the share of the input that compression saved, as in ` -1.9%`.
pub(super) fn saved(original: usize, compressed: usize, frame: usize) -> String {
    let body = compressed as f64 - frame as f64;
    let share = match original {
        0 => 0.0,
        _ => (original as f64 - body) / original as f64 * 100.0,
    };
    format!("{share:5.1}%")
}

/// Name and time of a header, and the size of all that is not data.
pub(super) struct GzipFrame {
    pub(super) name: Option<String>,
    pub(super) time: u64,
    pub(super) size: usize,
}

impl GzipFrame {
    /// Reads the header of compressed data.
    pub(super) fn of(packed: &[u8]) -> Self {
        let decoder = flate2::bufread::GzDecoder::new(packed);
        let header = decoder.header();
        let name = header.and_then(|header| header.filename());
        let extra = header.and_then(|header| header.extra()).map_or(0, |extra| extra.len() + 2);
        Self {
            name: name.map(|name| String::from_utf8_lossy(name).into_owned()),
            time: header.map_or(0, |header| u64::from(header.mtime())),
            size: HEADER_SIZE + TRAILER_SIZE + extra + name.map_or(0, |name| name.len() + 1),
        }
    }
}

/// Unpacked data, with the message about an error in it.
pub(super) struct UnpackedData {
    pub(super) data: BudgetedBytes,
    pub(super) error: Option<&'static str>,
    pub(super) garbage: bool,
}

/// Unpacks data of one or more members.
pub(super) fn unpack(ctx: &Context<'_>, name: &str, packed: &[u8]) -> Result<UnpackedData> {
    let mut unpacked = UnpackedData { data: budgeted_bytes(ctx)?, error: None, garbage: false };
    let max_size = ctx.fs.limits().max_file_size;
    let mut rest = packed;
    let mut buffer = [0u8; 8192];
    loop {
        let mut member = flate2::bufread::GzDecoder::new(rest);
        loop {
            match member.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let size = packed.len();
                    append_unpacked(&mut unpacked.data, &buffer[..count], size, max_size)
                        .map_err(|error| archive_io_error(&format!("gzip: {name}"), error))?;
                }
                Err(error) => {
                    unpacked.error = Some(problem(&error));
                    return Ok(unpacked);
                }
            }
        }
        rest = member.into_inner();
        if !rest.starts_with(MAGIC) {
            // Zeros fill the last block on tapes.
            unpacked.garbage = rest.iter().any(|byte| *byte != 0);
            return Ok(unpacked);
        }
    }
}

fn problem(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => END_OF_FILE,
        _ if error.to_string().contains("checksum") => "invalid compressed data--crc error",
        _ => "invalid compressed data--format violated",
    }
}

/// Compresses data to a gzip member, whose header names the origin without its directories, and Unix as the system, as
/// GNU's does.
pub(super) fn pack(
    ctx: &Context<'_>,
    options: &GzipOptions,
    data: &[u8],
    origin: Option<(&str, &Metadata)>,
) -> Result<BudgetedBytes> {
    let mut header = GzBuilder::new().operating_system(3);
    if let Some((name, meta)) = origin.filter(|_| options.name != Some(false)) {
        let name = name.rsplit('/').next().unwrap_or(name);
        header = header.filename(name.as_bytes()).mtime(seconds(meta) as u32);
    }
    let failed = |error| archive_io_error("gzip: compression failed", error);
    let mut encoder = header.write(budgeted_bytes(ctx)?, options.level);
    encoder.write_all(data).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// Returns the time of the last change in seconds.
pub(super) fn seconds(meta: &Metadata) -> u64 {
    let since = meta.modified.duration_since(bashkit::time_compat::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
