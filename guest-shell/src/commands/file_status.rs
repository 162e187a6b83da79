//! Attributes of files for `ls`, `stat` and `find`, so that all three agree.
//!
//! The VFS stores a type, a size, a mode and two times. All other attributes are derived: the user of the shell owns
//! every file, each path has an inode of its own, and all files are on one device.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::Path;

use crate::commands::date::Date;
use bashkit::fs::{FileSystem, FileType, Metadata};
use bashkit::time_compat::{SystemTime, UNIX_EPOCH};

/// Device number of every file: major 0, minor 1.
pub(crate) const DEVICE: u64 = 1;

/// Seconds in half of a Gregorian year: GNU's limit for a date with the time of day.
pub(crate) const HALF_YEAR: i128 = 31_556_952 / 2;

/// Tolerance in seconds for files that are newer than the clock: the host may stop the clock during a step, while
/// writes get their real time.
const AHEAD: i128 = 3600;

pub(crate) fn type_letter(file_type: FileType) -> char {
    match file_type {
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::Fifo => 'p',
        FileType::File => '-',
    }
}

/// Returns the mode in the form of `ls -l`: `drwxr-xr-x`.
pub(crate) fn mode_string(meta: &Metadata) -> String {
    let mut s = String::with_capacity(10);
    s.push(type_letter(meta.file_type));
    let mode = meta.mode;
    for (shift, special, set_char) in [(6u32, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = (mode >> shift) & 7;
        s.push(if bits & 4 != 0 { 'r' } else { '-' });
        s.push(if bits & 2 != 0 { 'w' } else { '-' });
        let x = bits & 1 != 0;
        s.push(match (mode & special != 0, x) {
            (true, true) => set_char,
            (true, false) => set_char.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    s
}

/// Returns the number of 512-byte blocks, on a file system with blocks of 4096 bytes.
pub(crate) fn blocks(meta: &Metadata) -> u64 {
    match meta.file_type {
        FileType::File => meta.size.div_ceil(4096).saturating_mul(8),
        FileType::Directory => 8,
        FileType::Symlink | FileType::Fifo => 0,
    }
}

/// Size in bytes: a directory takes a page, whatever is in it.
pub(crate) fn apparent_size(meta: &Metadata) -> u64 {
    if meta.file_type.is_dir() { 4096 } else { meta.size }
}

/// The inode of what is at a [`place`]: a hash (FNV-1a) of 48 bits, so that a number fits a double.
pub(crate) fn inode(place: &Path) -> u64 {
    let hash = place
        .to_string_lossy()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    ((hash >> 48) ^ (hash & 0xffff_ffff_ffff)).max(1)
}

/// Returns the number of links: for a directory its two names, and one `..` for each subdirectory.
pub(crate) async fn links(fs: &dyn FileSystem, path: &Path, meta: &Metadata) -> u64 {
    if !meta.file_type.is_dir() {
        return 1;
    }
    let entries = fs.read_dir(path).await.unwrap_or_default();
    2 + entries.iter().filter(|entry| entry.metadata.file_type.is_dir()).count() as u64
}

/// Converts a time to nanoseconds since the epoch; negative before it.
pub(crate) fn nanos_of(t: SystemTime) -> i128 {
    match t.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// Clock, zone and owner for the output.
pub(crate) struct FmtEnv {
    pub(crate) clock: Date,
    pub(crate) tz: Option<String>,
    pub(crate) username: String,
}

impl FmtEnv {
    /// Returns the current time in nanoseconds since the epoch.
    pub(crate) fn now(&self) -> i128 {
        let (secs, nanos) = self.clock.now_epoch();
        i128::from(secs) * 1_000_000_000 + i128::from(nanos)
    }

    /// Formats a time in the syntax of `date`. An unknown `TZ` means UTC, and an invalid format is returned unchanged.
    pub(crate) fn strftime(&self, nanos: i128, fmt: &str) -> String {
        let format = |tz| Date::strftime_nanos(tz, nanos, fmt);
        format(self.tz.as_ref()).or_else(|_| format(None)).unwrap_or_else(|_| fmt.to_string())
    }
}

/// Returns true if `ls -l` shows the time of day instead of the year.
pub(crate) fn is_recent(nanos: i128, now: i128) -> bool {
    let age = (now - nanos).div_euclid(1_000_000_000);
    -AHEAD < age && age < HALF_YEAR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bits_replace_x() {
        let mode = |mode| mode_string(&Metadata { mode, ..Metadata::default() });
        assert_eq!(mode(0o644), "-rw-r--r--");
        assert_eq!(mode(0o7755), "-rwsr-sr-t");
        assert_eq!(mode(0o7644), "-rwSr-Sr-T");
    }

    #[test]
    fn blocks_are_of_whole_pages() {
        let of = |file_type, size| blocks(&Metadata { file_type, size, ..Metadata::default() });
        assert_eq!(of(FileType::File, 0), 0);
        assert_eq!(of(FileType::File, 1), 8);
        assert_eq!(of(FileType::File, 4097), 16);
        assert_eq!(of(FileType::Directory, 0), 8);
        assert_eq!(of(FileType::Symlink, 9), 0);
    }

    #[test]
    fn half_a_year_is_recent() {
        let second = 1_000_000_000;
        let now = 2_000_000_000 * second;
        assert!(is_recent(now, now));
        assert!(is_recent(now - (HALF_YEAR - 1) * second, now));
        assert!(!is_recent(now - HALF_YEAR * second, now));
        assert!(!is_recent(now + 2 * AHEAD * second, now));
    }

    #[test]
    fn inodes_differ_and_fit_a_double() {
        assert_ne!(inode(Path::new("/a")), inode(Path::new("/b")));
        assert!(inode(Path::new("/a")) < 1 << 48);
    }
}
