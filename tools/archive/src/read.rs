//! Reads an archive entry by entry, and limits what is unpacked.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use crate::error::{Error, Kind};

/// Largest archive, in bytes: an archive is held in memory.
pub const MAX_ARCHIVE: u64 = 64 << 20;

/// Format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Zip archive.
    Zip,
    /// Uncompressed tar archive.
    Tar,
    /// Tar archive, compressed with gzip.
    TarGz,
    /// Single file, compressed with gzip.
    Gzip,
}

/// Kind of an archive's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// Regular file.
    File,
    /// A directory.
    Directory,
    /// Symbolic or hard link.
    Link,
    /// Entry that is not a file, a directory or a link.
    Other,
}

/// Entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the entry.
    pub name: String,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Size of the content in bytes, as the archive states it; unknown for gzip.
    pub size: Option<u64>,
    /// Size in the archive in bytes, where the archive states it.
    pub packed: Option<u64>,
}

/// Limits on the size of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Largest number of entries.
    pub entries: u32,
    /// Largest total size of the contents, in bytes.
    pub bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { entries: 10_000, bytes: 256 << 20 }
    }
}

impl Bounds {
    /// Returns the requested limits if they are valid.
    ///
    /// # Errors
    ///
    /// `Parameter`.
    pub fn checked(entries: Option<u32>, bytes: Option<u64>) -> Result<Self, Error> {
        let default = Self::default();
        let bounds = Self { entries: entries.unwrap_or(default.entries), bytes: bytes.unwrap_or(default.bytes) };
        if (1..=100_000).contains(&bounds.entries) && (1..=1 << 30).contains(&bounds.bytes) {
            return Ok(bounds);
        }
        Err(Error::new(Kind::Parameter, "`bounds` allow 1 to 100000 entries and 1 to 1073741824 bytes"))
    }
}

/// Detects the format from the first bytes.
///
/// # Errors
///
/// `Format`.
pub fn detect(bytes: &[u8]) -> Result<Format, Error> {
    let is_tar = |head: &[u8]| head.get(257..262) == Some(b"ustar");
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Ok(Format::Zip);
    }
    if bytes.starts_with(b"\x1f\x8b") {
        let mut head = Vec::new();
        // An error is ignored here, and reported when the archive is read.
        let _ = MultiGzDecoder::new(bytes).take(512).read_to_end(&mut head);
        return Ok(if is_tar(&head) { Format::TarGz } else { Format::Gzip });
    }
    if is_tar(bytes) {
        return Ok(Format::Tar);
    }
    Err(Error::new(Kind::Format, "the bytes do not begin as zip, tar or gzip do; an old tar needs `format`"))
}

/// Reader that fails once a number of bytes is used up.
struct Counted<'a, R> {
    inner: R,
    left: &'a mut u64,
}

/// Message of the error with which [`Counted`] fails.
const BEYOND: &str = "more bytes than are allowed";

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => *self.left = left,
            None => return Err(io::Error::other(BEYOND)),
        }
        Ok(count)
    }
}

/// Callback for each entry, which reads as much of the content as it needs.
pub type Visit<'a> = dyn FnMut(&Entry, &mut dyn Read) -> Result<(), Error> + 'a;

/// Calls a visitor for each entry of an archive.
///
/// # Errors
///
/// `Format`, `Damaged`, `TooLarge`, and the errors of the visitor.
pub fn walk(bytes: &[u8], format: Format, bounds: Bounds, visit: &mut Visit<'_>) -> Result<(), Error> {
    match format {
        Format::Zip => walk_zip(bytes, bounds, visit),
        Format::Tar => walk_tar(bytes, bounds, visit),
        Format::TarGz => {
            // Headers and padding count as well: an archive of nothing but names is a decompression bomb, too.
            let mut left = bounds.bytes.saturating_add(u64::from(bounds.entries) * 2048).saturating_add(1 << 20);
            walk_tar(Counted { inner: MultiGzDecoder::new(bytes), left: &mut left }, bounds, visit)
        }
        Format::Gzip => {
            let mut decoder = MultiGzDecoder::new(bytes);
            let name = decoder.header().and_then(|header| header.filename()).map(String::from_utf8_lossy);
            let name = name.map_or_else(|| "data".to_owned(), std::borrow::Cow::into_owned);
            let entry = Entry { name, kind: EntryKind::File, size: None, packed: Some(bytes.len() as u64) };
            let mut left = bounds.bytes;
            visit(&entry, &mut Counted { inner: &mut decoder, left: &mut left })
        }
    }
}

fn walk_zip(bytes: &[u8], bounds: Bounds, visit: &mut Visit<'_>) -> Result<(), Error> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    if archive.len() > bounds.entries as usize {
        return Err(many(bounds, None));
    }
    let mut left = bounds.bytes;
    for index in 0..archive.len() {
        // Raw access comes first, because an entry that cannot be unpacked still has a name.
        let (entry, encrypted) = {
            let raw = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
            let name = raw.name().map_err(|error| damaged(&error))?.into_owned();
            let kind = match &raw {
                raw if raw.is_symlink() => EntryKind::Link,
                raw if raw.is_dir() => EntryKind::Directory,
                _ => EntryKind::File,
            };
            let packed = Some(raw.compressed_size());
            (Entry { name, kind, size: Some(raw.size()), packed }, raw.encrypted())
        };
        if entry.size.is_some_and(|size| size > left) {
            return Err(large(&entry, bounds));
        }
        if encrypted {
            return Err(Error::of(&entry.name, Kind::Format, "is encrypted, and that cannot be read here"));
        }
        let file =
            archive.by_index(index).map_err(|error| Error { entry: Some(entry.name.clone()), ..damaged(&error) })?;
        visit(&entry, &mut Counted { inner: file, left: &mut left })?;
    }
    Ok(())
}

fn walk_tar(reader: impl Read, bounds: Bounds, visit: &mut Visit<'_>) -> Result<(), Error> {
    let mut archive = tar::Archive::new(reader);
    let entries = archive.entries().map_err(|error| broken(&error, None, bounds))?;
    let (mut left, mut last) = (bounds.bytes, None);
    for (count, file) in entries.enumerate() {
        let file = file.map_err(|error| broken(&error, last.as_deref(), bounds))?;
        let name = String::from_utf8_lossy(&file.path_bytes()).into_owned();
        if count >= bounds.entries as usize {
            return Err(many(bounds, Some(&name)));
        }
        use tar::EntryType as Type;
        let kind = match file.header().entry_type() {
            Type::Regular | Type::Continuous | Type::GNUSparse => EntryKind::File,
            Type::Directory => EntryKind::Directory,
            Type::Link | Type::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let entry = Entry { name, kind, size: Some(file.size()), packed: None };
        if file.size() > left {
            return Err(large(&entry, bounds));
        }
        visit(&entry, &mut Counted { inner: file, left: &mut left })?;
        last = Some(entry.name);
    }
    Ok(())
}

/// Copies the content of an entry.
///
/// # Errors
///
/// `Damaged`, `TooLarge`; and the error of `written` for a failed write.
pub fn copy(
    entry: &Entry,
    bounds: Bounds,
    from: &mut dyn Read,
    mut to: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        let count = from.read(&mut buffer).map_err(|error| broken(&error, Some(&entry.name), bounds))?;
        if count == 0 {
            return Ok(total);
        }
        to(&buffer[..count])?;
        total += count as u64;
    }
}

/// Lists the entries of an archive.
///
/// # Errors
///
/// Those of [`walk`].
pub fn list(bytes: &[u8], format: Format, bounds: Bounds) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    walk(bytes, format, bounds, &mut |entry, content| {
        // The size of a gzip file is only known after unpacking it.
        let size = match entry.size {
            Some(size) => size,
            None => copy(entry, bounds, content, |_| Ok(()))?,
        };
        entries.push(Entry { size: Some(size), ..entry.clone() });
        Ok(())
    })?;
    Ok(entries)
}

/// Returns the content of the first entry with this name.
///
/// # Errors
///
/// Those of [`walk`], `NotFound`, `Link`, `Unsupported`.
pub fn content(bytes: &[u8], format: Format, bounds: Bounds, name: &str) -> Result<Vec<u8>, Error> {
    let mut found = None;
    walk(bytes, format, bounds, &mut |entry, content| {
        if found.is_some() || entry.name != name {
            return Ok(());
        }
        must_be_file(entry)?;
        let mut bytes = Vec::new();
        copy(entry, bounds, content, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        found = Some(bytes);
        Ok(())
    })?;
    found.ok_or_else(|| Error::of(name, Kind::NotFound, "is not in the archive: see `list`"))
}

fn must_be_file(entry: &Entry) -> Result<(), Error> {
    match entry.kind {
        EntryKind::File => Ok(()),
        EntryKind::Link => Err(Error::of(&entry.name, Kind::Link, "is a link")),
        EntryKind::Directory => Err(Error::of(&entry.name, Kind::Unsupported, "is a directory")),
        EntryKind::Other => Err(Error::of(&entry.name, Kind::Unsupported, "is neither file nor directory")),
    }
}

fn damaged(error: &zip::result::ZipError) -> Error {
    use zip::result::ZipError;
    let kind = if matches!(error, ZipError::UnsupportedArchive(_)) { Kind::Format } else { Kind::Damaged };
    Error::new(kind, format!("the archive cannot be read: {error}"))
}

fn broken(error: &io::Error, entry: Option<&str>, bounds: Bounds) -> Error {
    if error.to_string().contains(BEYOND) {
        let why = format!("makes it more than the {} bytes that are allowed: `bounds.bytes`", bounds.bytes);
        return Error::of(entry.unwrap_or_default(), Kind::TooLarge, &why);
    }
    match entry {
        Some(entry) => Error::of(entry, Kind::Damaged, &format!("cannot be read: {error}")),
        None => Error::new(Kind::Damaged, format!("the archive cannot be read: {error}")),
    }
}

fn large(entry: &Entry, bounds: Bounds) -> Error {
    let why = format!("makes it more than the {} bytes that are allowed: `bounds.bytes`", bounds.bytes);
    Error::of(&entry.name, Kind::TooLarge, &why)
}

fn many(bounds: Bounds, entry: Option<&str>) -> Error {
    let message =
        format!("the archive has more than the {} entries that are allowed: `bounds.entries`", bounds.entries);
    Error { entry: entry.map(str::to_owned), ..Error::new(Kind::TooLarge, message) }
}
