//! Table of `xz -l`.

use lzma_rust2::CheckType;

use super::index::XzSizes;

const HEADER: &str = "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename\n";

/// Table of files, with their sums.
#[derive(Default)]
pub(super) struct ListTable {
    rows: String,
    files: usize,
    totals: XzSizes,
}

impl ListTable {
    /// Adds the row of a file, and its sizes to the totals.
    pub(super) fn add(&mut self, name: &str, sizes: XzSizes) {
        self.rows.push_str(&row(&sizes, name));
        self.totals = XzSizes {
            streams: self.totals.streams + sizes.streams,
            blocks: self.totals.blocks + sizes.blocks,
            compressed: self.totals.compressed + sizes.compressed,
            uncompressed: self.totals.uncompressed + sizes.uncompressed,
            check: if self.files == 0 { sizes.check } else { self.totals.check.filter(|it| Some(*it) == sizes.check) },
        };
        self.files += 1;
    }

    /// Returns the table, which has sums if the call had several operands.
    pub(super) fn render(&self, operands: usize) -> String {
        match self.files {
            0 => String::new(),
            _ if operands < 2 => format!("{HEADER}{}", self.rows),
            files => {
                let end = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
                format!("{HEADER}{}{}\n{}", self.rows, "-".repeat(79), row(&self.totals, &end))
            }
        }
    }
}

fn row(sizes: &XzSizes, name: &str) -> String {
    let check = match sizes.check {
        Some(CheckType::None) => "None",
        Some(CheckType::Crc32) => "CRC32",
        Some(CheckType::Crc64) => "CRC64",
        Some(CheckType::Sha256) => "SHA-256",
        None => "Mixed",
    };
    let uncompressed = usize::try_from(sizes.uncompressed).unwrap_or(usize::MAX);
    format!(
        "{:>5} {:>7}  {:>11}  {:>11}  {:>5}  {check:<7} {name}\n",
        sizes.streams,
        sizes.blocks,
        size(sizes.compressed),
        size(uncompressed),
        ratio(sizes.compressed, uncompressed).unwrap_or_else(|| "---".to_owned()),
    )
}

/// Returns a size in bytes, or in the unit of which it has fewer than ten thousand.
#[expect(clippy::cast_precision_loss, reason = "sizes of files, printed with one place")]
pub(super) fn size(bytes: usize) -> String {
    if bytes < 10_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        value /= 1024.0;
        unit = next;
        if value < 9999.95 {
            break;
        }
    }
    format!("{value:.1} {unit}")
}

/// Returns the ratio of sizes with three places. None if it is too large to tell.
#[expect(clippy::cast_precision_loss, reason = "sizes of files, printed with three places")]
pub(super) fn ratio(compressed: usize, uncompressed: usize) -> Option<String> {
    let ratio = compressed as f64 / uncompressed as f64;
    (uncompressed > 0 && ratio <= 9.999).then(|| format!("{ratio:.3}"))
}
