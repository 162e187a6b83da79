//! Untrusted files: files that others wrote, or put where a file is expected. They are opened without blocking, checked
//! to be regular files, and read up to a limit. The length that the system reports is not trusted: a file of `/proc`
//! may report none and have no end. Must not know what the files mean.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read},
    path::Path,
};

/// Streams that are safe to open by name: they lead to this process's own descriptors, or to nothing at all.
const STREAMS: [&str; 2] = ["/dev/stdin", "/dev/null"];

/// Directories of this process's own descriptors. Shells use them for process substitutions: `<(…)`.
const DESCRIPTORS: [&str; 2] = ["/dev/fd", "/proc/self/fd"];

/// Initial capacity of a buffer in bytes: a short secret then leaves no copy behind when the buffer grows.
const AT_ONCE: u64 = 64 << 10;

/// Reason why a file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file system refused an operation.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not a regular one.
    #[error("it is {kind}, not a regular file")]
    Kind {
        /// Kind of the file, with its article.
        kind: &'static str,
    },
    /// The file is longer than the limit.
    #[error("it has more than {limit} bytes")]
    TooLarge {
        /// Largest allowed size in bytes.
        limit: u64,
    },
    /// The file is not UTF-8 text.
    #[error("it is not UTF-8 text")]
    NotText,
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => error,
            ReadError::NotText => Self::new(io::ErrorKind::InvalidData, error),
            error => Self::other(error),
        }
    }
}

/// Opens a regular file for reading. Links are followed.
///
/// # Errors
/// If the path names something else, or the system refuses.
pub fn open_regular(path: &Path) -> Result<File, ReadError> {
    open_regular_with(path, OpenOptions::new().read(true))
}

/// Opens a regular file with these options, which may create it. Links are followed.
///
/// # Errors
/// As [`open_regular`].
pub fn open_regular_with(path: &Path, options: &OpenOptions) -> Result<File, ReadError> {
    let opened = open_at_once(path, options);
    let found = match &opened {
        Ok(file) => file.metadata()?,
        // For sockets, pipes without a reader, and directories opened for writing, the system's error does not name the
        // kind.
        Err(error) if error.kind() != io::ErrorKind::NotFound => match fs::metadata(path) {
            Ok(found) => found,
            Err(_) => return Ok(opened?),
        },
        Err(_) => return Ok(opened?),
    };
    match other_kind(&found) {
        Some(kind) => Err(ReadError::Kind { kind }),
        None => Ok(opened?),
    }
}

/// Opens a file that a person named: a regular file, `/dev/null`, or one of this process's own descriptors
/// (`/dev/stdin`, `/dev/fd/N`), which may be a pipe or a terminal.
///
/// # Errors
/// As [`open_regular`].
pub fn open_named(path: &Path) -> Result<File, ReadError> {
    if !is_stream(path) {
        return open_regular(path);
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(ReadError::Kind { kind: "a directory" }) } else { Ok(file) }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// If it is longer, or as [`open_regular`].
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_limited(open_regular(path)?, limit)
}

/// Reads a file of at most `limit` bytes that a person named, as [`open_named`] opens it.
///
/// # Errors
/// If it is longer, or as [`open_named`].
pub fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_limited(open_named(path)?, limit)
}

/// Reads a text file as [`read_regular`] does.
///
/// # Errors
/// If it is not UTF-8, or as [`read_regular`].
pub fn read_regular_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    text(read_regular(path, limit)?)
}

/// Reads a text file as [`read_named`] does.
///
/// # Errors
/// If it is not UTF-8, or as [`read_named`].
pub fn read_named_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    text(read_named(path, limit)?)
}

/// Reads a stream of at most `limit` bytes to its end. The stream is not closed, and bytes after the limit are left in
/// it.
///
/// # Errors
/// If it is longer, or the system refuses.
pub fn read_limited(source: impl Read, limit: u64) -> Result<Vec<u8>, ReadError> {
    let room = usize::try_from(limit.min(AT_ONCE)).expect("64 KiB fit") + 1;
    let mut bytes = Vec::with_capacity(room);
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ReadError::TooLarge { limit }) } else { Ok(bytes) }
}

/// Converts bytes to text.
///
/// # Errors
/// If they are not UTF-8.
pub fn text(bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|_| ReadError::NotText)
}

/// Returns true if a path names one of this process's own streams.
fn is_stream(path: &Path) -> bool {
    STREAMS.iter().any(|stream| path == Path::new(stream)) || descriptor(path).is_some()
}

/// Returns the number of this process's own descriptor that a path names, as `/dev/fd/63` does.
pub fn descriptor(path: &Path) -> Option<i32> {
    let parent = path.parent()?;
    DESCRIPTORS.iter().find(|directory| parent == Path::new(directory))?;
    path.file_name()?.to_str()?.parse().ok()
}

/// Opens a path without waiting for the other end of a pipe or for a device.
#[cfg(unix)]
fn open_at_once(path: &Path, options: &OpenOptions) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    // The flag stays set, so that reads from files of a driver, such as `/proc/kmsg`, do not block either. The standard
    // library adds CLOEXEC.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.clone().custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path, options: &OpenOptions) -> io::Result<File> {
    options.open(path)
}

/// Returns the kind of a file that is not regular, with its article.
#[cfg(unix)]
fn other_kind(found: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt as _;

    let kind = found.file_type();
    Some(match () {
        () if kind.is_file() => return None,
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "something else",
    })
}

#[cfg(not(unix))]
fn other_kind(found: &Metadata) -> Option<&'static str> {
    if found.is_file() {
        None
    } else if found.is_dir() {
        Some("a directory")
    } else {
        Some("something else")
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        io::Write as _,
        os::{
            fd::AsRawFd as _,
            unix::{fs::symlink, net::UnixListener},
        },
        process::Command,
    };

    use super::*;

    fn kind(result: Result<Vec<u8>, ReadError>) -> &'static str {
        match result {
            Err(ReadError::Kind { kind }) => kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn untrusted_file_that_is_not_regular_is_refused_without_waiting() {
        let home = tempfile::tempdir().expect("a directory");
        let at = |name: &str| home.path().join(name);
        assert!(Command::new("mkfifo").arg(at("pipe")).status().expect("it starts").success());
        let _socket = UnixListener::bind(at("socket")).expect("it is bound");
        symlink("/dev/zero", at("zero")).expect("it is made");
        fs::write(at("file"), "text").expect("it is written");
        symlink("file", at("link")).expect("it is made");
        for read in [read_regular, read_named] {
            assert_eq!(kind(read(&at("pipe"), 9)), "a pipe");
            assert_eq!(kind(read(&at("socket"), 9)), "a socket");
            assert_eq!(kind(read(&at("zero"), 9)), "a device");
            assert_eq!(kind(read(home.path(), 9)), "a directory");
            assert_eq!(read(&at("link"), 4).expect("it is a file in the end"), b"text");
            assert!(
                matches!(read(&at("none"), 4), Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound)
            );
        }
        let written = |name: &str| open_regular_with(&at(name), OpenOptions::new().write(true).create(true));
        for (name, kind) in [("pipe", "a pipe"), ("zero", "a device"), (".", "a directory")] {
            assert!(matches!(written(name), Err(ReadError::Kind { kind: found }) if found == kind), "{name}");
        }
        written("new").expect("it is made");
    }

    #[test]
    fn length_is_counted_and_not_believed() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("file");
        fs::write(&path, "123456").expect("it is written");
        assert_eq!(read_regular_text(&path, 6).expect("it fits"), "123456");
        assert!(matches!(read_regular(&path, 5), Err(ReadError::TooLarge { limit: 5 })));
        File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("it is sparse");
        assert!(matches!(read_regular(&path, 1 << 20), Err(ReadError::TooLarge { .. })));
        fs::write(&path, [0xff]).expect("it is written");
        assert!(matches!(read_named_text(&path, 5), Err(ReadError::NotText)));
        // It reports no bytes, has no end, and is read in eights.
        if cfg!(target_os = "linux") {
            let pagemap = read_regular("/proc/self/pagemap".as_ref(), 1 << 20);
            assert!(pagemap.is_err(), "{} bytes", pagemap.map_or(0, |bytes| bytes.len()));
        }
    }

    #[test]
    fn descriptors_that_a_person_names_are_streams_and_bounded() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"told").expect("it has room");
        let named = format!("/dev/fd/{}", reader.as_raw_fd());
        let late = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            writer.write_all(b" late").expect("it is read");
        });
        assert_eq!(read_named_text(named.as_ref(), 9).expect("it ends"), "told late");
        late.join().expect("it ended");
        assert_eq!(read_named(Path::new("/dev/null"), 9).expect("nothing"), b"");
        assert_eq!(kind(read_regular(named.as_ref(), 9)), "a pipe");
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"0123456789").expect("it has room");
        let named = format!("/dev/fd/{}", reader.as_raw_fd());
        assert!(matches!(read_named(named.as_ref(), 9), Err(ReadError::TooLarge { limit: 9 })));
        let directory = File::open("/").expect("it is there");
        assert_eq!(kind(read_named(format!("/dev/fd/{}", directory.as_raw_fd()).as_ref(), 9)), "a directory");
    }
}
