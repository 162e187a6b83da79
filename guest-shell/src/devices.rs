//! `/dev/null` and similar devices, for commands that open them as files. bashkit handles redirections to `/dev/null`
//! and the standard streams itself. The devices belong to the shell and not to the session, so no snapshot contains
//! them.

use std::io;
use std::path::Path;

use bashkit::time::UNIX_EPOCH;
use bashkit::{DirEntry, Error, FileType, Metadata, Result};

use crate::bindings::random;

/// Directory of the devices.
const DIRECTORY: &str = "/dev";

/// Number of bytes per request for random data. The largest number for one call is eight times that.
const RANDOM: usize = 8 << 10;

/// Device file in `/dev`. Data written to a device is lost, except that writing to `/dev/full` fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    Full,
    Null,
    Zero,
    Random,
}

/// Devices by name.
const DEVICES: [(&str, Device); 5] = [
    ("full", Device::Full),
    ("null", Device::Null),
    ("random", Device::Random),
    ("urandom", Device::Random),
    ("zero", Device::Zero),
];

impl Device {
    /// Returns the device at an absolute path without `.` and `..`, if there is one.
    pub(crate) fn at(path: &Path) -> Option<Device> {
        let name = path.strip_prefix(DIRECTORY).ok()?.to_str()?;
        DEVICES.iter().find(|(known, _)| *known == name).map(|(_, device)| *device)
    }

    /// Reads the whole content of the device. Only `/dev/null` has an end.
    pub(crate) fn read(self) -> Result<Vec<u8>> {
        match self {
            Device::Null => Ok(Vec::new()),
            Device::Full | Device::Zero | Device::Random => Err(Error::Io(io::Error::other(
                "File has no end: read a part of it, as `head -c` does, or redirect it (`<`)",
            ))),
        }
    }

    /// Returns the first bytes of an endless device.
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

    /// Accepts or refuses data that is written to the device.
    pub(crate) fn write(self, content: &[u8]) -> Result<()> {
        if self == Device::Full && !content.is_empty() {
            return Err(Error::Io(io::Error::new(io::ErrorKind::StorageFull, "No space left on device")));
        }
        Ok(())
    }

    /// Returns the metadata of devices. bashkit has no type for devices; an empty file is the closest.
    pub(crate) fn metadata() -> Metadata {
        Metadata { file_type: FileType::File, size: 0, mode: 0o666, modified: UNIX_EPOCH, created: UNIX_EPOCH }
    }
}

/// Returns true if this directory contains devices, and therefore exists.
pub(crate) fn are_in(directory: &Path) -> bool {
    directory == Path::new(DIRECTORY)
}

/// Returns the metadata of the directory of devices, for a session without a directory of that name.
pub(crate) fn directory_metadata() -> Metadata {
    Metadata { file_type: FileType::Directory, size: 4096, mode: 0o755, ..Device::metadata() }
}

/// Returns the devices that a listing of a directory adds to its entries.
pub(crate) fn listed(directory: &Path) -> Vec<DirEntry> {
    if !are_in(directory) {
        return Vec::new();
    }
    let entry = |(name, _): &(&str, Device)| DirEntry { name: (*name).to_owned(), metadata: Device::metadata() };
    DEVICES.iter().map(entry).collect()
}
