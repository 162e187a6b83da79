//! `/dev/null` and its like, for what opens them as files; redirections to `/dev/null`, and the standard streams, are
//! bashkit's own. They are the shell's, not the session's: no snapshot has them.

use std::path::Path;

use bashkit::time::UNIX_EPOCH;
use bashkit::{DirEntry, FileType, Metadata};

use crate::bindings::random;

/// Where they are.
const DIRECTORY: &str = "/dev";

/// What one reading of `/dev/zero` gives. Readers take a file whole, so no device can be endless.
const ZEROS: usize = 1 << 20;

/// What one reading of `/dev/random` gives: what the world gives at once, at most, is eight times that.
const RANDOM: u32 = 8 << 10;

/// A device. What is written to it is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Null,
    Zero,
    Random,
}

/// By name.
const DEVICES: [(&str, Device); 4] =
    [("null", Device::Null), ("random", Device::Random), ("urandom", Device::Random), ("zero", Device::Zero)];

impl Device {
    /// The device at an absolute path without `.` and `..`, if one is there.
    pub(crate) fn at(path: &Path) -> Option<Device> {
        let name = path.strip_prefix(DIRECTORY).ok()?.to_str()?;
        DEVICES.iter().find(|(known, _)| *known == name).map(|(_, device)| *device)
    }

    pub(crate) fn read(self) -> Vec<u8> {
        match self {
            Device::Null => Vec::new(),
            Device::Zero => vec![0; ZEROS],
            Device::Random => random::bytes(RANDOM),
        }
    }

    /// bashkit knows no devices: a file that is empty comes nearest.
    pub(crate) fn metadata() -> Metadata {
        Metadata { file_type: FileType::File, size: 0, mode: 0o666, modified: UNIX_EPOCH, created: UNIX_EPOCH }
    }
}

/// Whether devices are in this directory, which then is there too.
pub(crate) fn are_in(directory: &Path) -> bool {
    directory == Path::new(DIRECTORY)
}

/// Of the directory that devices are in, if the session has none of that name.
pub(crate) fn directory_metadata() -> Metadata {
    Metadata { file_type: FileType::Directory, size: 4096, mode: 0o755, ..Device::metadata() }
}

/// What a directory shows besides what is in it.
pub(crate) fn listed(directory: &Path) -> Vec<DirEntry> {
    if !are_in(directory) {
        return Vec::new();
    }
    let entry = |(name, _): &(&str, Device)| DirEntry { name: (*name).to_owned(), metadata: Device::metadata() };
    DEVICES.iter().map(entry).collect()
}
