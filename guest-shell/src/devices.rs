//! `/dev/null` and its like, for what opens them as files; redirections to `/dev/null`, and the standard streams, are
//! bashkit's own. They are the shell's, not the session's: no snapshot has them.

use std::io;
use std::path::Path;

use bashkit::time::UNIX_EPOCH;
use bashkit::{DirEntry, Error, FileType, Metadata, Result};

use crate::bindings::random;

/// Directory that the devices are in.
const DIRECTORY: &str = "/dev";

/// Bytes that are asked of the world at once: the most that it gives is eight times that.
const RANDOM: usize = 8 << 10;

/// Device file under `/dev`. Data written to a device is gone, but that `/dev/full` takes nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Full,
    Null,
    Zero,
    Random,
}

/// List of the devices, by name.
const DEVICES: [(&str, Device); 5] = [
    ("full", Device::Full),
    ("null", Device::Null),
    ("random", Device::Random),
    ("urandom", Device::Random),
    ("zero", Device::Zero),
];

impl Device {
    /// The device at an absolute path without `.` and `..`, if one is there.
    pub(crate) fn at(path: &Path) -> Option<Device> {
        let name = path.strip_prefix(DIRECTORY).ok()?.to_str()?;
        DEVICES.iter().find(|(known, _)| *known == name).map(|(_, device)| *device)
    }

    /// Reads the whole content of the device, which only `/dev/null` has an end of.
    pub(crate) fn read(self) -> Result<Vec<u8>> {
        match self {
            Device::Null => Ok(Vec::new()),
            Device::Full | Device::Zero | Device::Random => Err(Error::Io(io::Error::other(
                "File has no end: read a part of it, as `head -c` does, or redirect it (`<`)",
            ))),
        }
    }

    /// The first bytes of one that has no end.
    pub(crate) fn read_endless(self, length: usize) -> Option<Vec<u8>> {
        match self {
            Device::Null => None,
            Device::Full | Device::Zero => Some(vec![0; length]),
            Device::Random => {
                let mut bytes = Vec::with_capacity(length);
                while bytes.len() < length {
                    let asked = (length - bytes.len()).min(RANDOM);
                    bytes.extend(random::bytes(u32::try_from(asked).unwrap_or(u32::MAX)));
                }
                Some(bytes)
            }
        }
    }

    /// Takes what is written to it.
    pub(crate) fn write(self, content: &[u8]) -> Result<()> {
        if self == Device::Full && !content.is_empty() {
            return Err(Error::Io(io::Error::new(io::ErrorKind::StorageFull, "No space left on device")));
        }
        Ok(())
    }

    /// bashkit knows no devices: a file that is empty comes nearest.
    pub(crate) fn metadata() -> Metadata {
        Metadata { file_type: FileType::File, size: 0, mode: 0o666, modified: UNIX_EPOCH, created: UNIX_EPOCH }
    }
}

/// Returns true if devices are in this directory, which then is there too.
pub(crate) fn are_in(directory: &Path) -> bool {
    directory == Path::new(DIRECTORY)
}

/// Returns the metadata of the directory that devices are in, if the session has none of that name.
pub(crate) fn directory_metadata() -> Metadata {
    Metadata { file_type: FileType::Directory, size: 4096, mode: 0o755, ..Device::metadata() }
}

/// Returns the devices that a directory shows besides what is in it.
pub(crate) fn listed(directory: &Path) -> Vec<DirEntry> {
    if !are_in(directory) {
        return Vec::new();
    }
    let entry = |(name, _): &(&str, Device)| DirEntry { name: (*name).to_owned(), metadata: Device::metadata() };
    DEVICES.iter().map(entry).collect()
}
