//! Lines of `-l`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;

use super::codec::{GzipFrame, TRAILER_SIZE, saved};
use super::options::GzipOptions;
use super::progress::GzipProgress;
use crate::commands::date::Date;

/// Adds a line of `-l`, the first one below a header.
pub(super) fn list(
    options: &GzipOptions,
    progress: &mut GzipProgress,
    name: &str,
    packed: &[u8],
    plain: &[u8],
    time: u64,
) -> Result<()> {
    let frame = GzipFrame::of(packed);
    if progress.listed == 0 && !options.quiet {
        let details = if options.verbose { "method  crc     date  time  " } else { "" };
        let header = "         compressed        uncompressed  ratio uncompressed_name\n";
        progress.stdout.try_extend_from_slice(details.as_bytes())?;
        progress.stdout.try_extend_from_slice(header.as_bytes())?;
    }
    progress.listed += 1;
    progress.totals.0 += packed.len();
    progress.totals.1 += plain.len();
    progress.totals.2 = frame.size;
    let mut details = String::new();
    if options.verbose {
        let crc = packed.len().checked_sub(TRAILER_SIZE).map(|at| &packed[at..at + 4]);
        let crc: String = crc.into_iter().flatten().rev().map(|b| format!("{b:02x}")).collect();
        let time = if frame.time == 0 { time } else { frame.time };
        let date = Date::strftime_nanos(None, i128::from(time) * 1_000_000_000, "%b %e %H:%M");
        details = format!("defla {crc} {} ", date.unwrap_or_default());
    }
    let line = list_line(packed.len(), plain.len(), frame.size, name);
    progress.stdout.try_extend_from_slice(format!("{details}{line}").as_bytes())?;
    Ok(())
}

fn list_line(packed: usize, plain: usize, frame: usize, name: &str) -> String {
    format!("{packed:19} {plain:19} {} {name}\n", saved(plain, packed, frame))
}

/// Adds the last line of a list of several files.
pub(super) fn list_totals(options: &GzipOptions, progress: &mut GzipProgress) -> Result<()> {
    // gzip subtracts one frame only.
    let (packed, plain, frame) = progress.totals;
    let indent = if options.verbose { "                            " } else { "" };
    let line = format!("{indent}{}", list_line(packed, plain, frame, "(totals)"));
    progress.stdout.try_extend_from_slice(line.as_bytes())?;
    Ok(())
}
