//! Session archives: one file that holds a session, as a tar archive compressed with zstd, which `tar` can read.
//!
//! ```text
//! tollhouse-session.json   the manifest, defined by the caller; always first
//! records/NAME             records, defined by the caller, in order of their names
//! blobs/<64 digits>        the plain bytes of blobs, in order of their names
//! ```
//!
//! `docs/formats/archive.md` describes the bytes. Equal content yields equal bytes. Archives may come from untrusted sources: the position, kind and size of each
//! entry, and the hash of each blob, are checked before the caller sees it, using memory for one entry at a time.
//! Entries are not written to paths made from their names, so that no name can escape a directory.

use std::io::{self, BufRead, BufReader, Read, Write};

use tar::{Builder, EntryType, Header};

use super::{BlobError, BlobId, BlobSource, MAX_BLOB_BYTES};

/// Name of the first entry, the manifest.
const MANIFEST: &str = "tollhouse-session.json";

/// Maximum size of an entry that is not a blob.
const MAX_RECORD_BYTES: usize = 16 << 20;

/// Maximum length of a record's name: with its directory it fits into the header that every `tar` supports.
const MAX_NAME_BYTES: usize = 80;

/// zstd compression level: exports are rare, and are sent over networks.
const COMPRESSION_LEVEL: i32 = 6;

/// Maximum window of the decoder, as a power of two: 16 MiB. The encoder here uses less.
const MAX_WINDOW_LOG: u32 = 24;

/// An error of writing or reading an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The operating system reported an error, or the file is not an archive or is incomplete.
    #[error("the archive cannot be read or written")]
    Io(#[from] io::Error),
    /// A blob could not be read or stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The archive contains an entry that does not belong there.
    #[error("the archive is damaged, or was written by another program: `{entry}` {problem}")]
    Entry {
        /// Name of the entry.
        entry: String,
        /// Description of what is wrong.
        problem: &'static str,
    },
    /// The archive exceeds the size limit of the caller.
    #[error("the archive holds more than {0} bytes")]
    TooLarge(u64),
}

impl ArchiveError {
    fn entry(entry: impl Into<String>, problem: &'static str) -> Self {
        Self::Entry { entry: entry.into(), problem }
    }
}

/// An entry of an archive; the variants appear in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The manifest. First, and exactly once.
    Manifest(Vec<u8>),
    /// A record, with its name.
    Record(String, Vec<u8>),
    /// A blob whose bytes match its name.
    Blob(BlobId, Vec<u8>),
}

/// Writer of an archive.
pub struct ArchiveWriter<W: Write> {
    tar: Builder<zstd::Encoder<'static, W>>,
    position: ArchivePosition,
}

impl<W: Write> ArchiveWriter<W> {
    /// Begins an archive with its manifest.
    ///
    /// # Errors
    /// Errors of the output; a manifest of more than 16 MiB.
    pub fn new(output: W, manifest: &[u8]) -> Result<Self, ArchiveError> {
        let mut zstd = zstd::Encoder::new(output, COMPRESSION_LEVEL)?;
        zstd.include_checksum(true)?;
        let mut writer = Self { tar: Builder::new(zstd), position: ArchivePosition::Start };
        writer.entry(MANIFEST, manifest)?;
        Ok(writer)
    }

    /// Writes a record. Records come before all blobs, in order of their names. A name consists of letters, digits,
    /// `.`, `-`, `_` and, between its parts, `/`, at most 80 of them; no part begins with `.`.
    ///
    /// # Errors
    /// Errors of the output; an invalid name or order; more than 16 MiB.
    pub fn record(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.entry(&format!("records/{name}"), bytes)
    }

    /// Writes blobs, in order of their names, each once.
    ///
    /// # Errors
    /// Errors of the output or of the source; blobs out of order.
    pub fn blobs(
        &mut self,
        ids: impl IntoIterator<Item = BlobId>,
        source: &dyn BlobSource,
    ) -> Result<(), ArchiveError> {
        ids.into_iter().try_for_each(|id| self.entry(&format!("blobs/{id}"), &source.get(&id)?))
    }

    fn entry(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.position = self.position.next(name, bytes.len() as u64)?;
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        Ok(self.tar.append_data(&mut header, name, bytes)?)
    }

    /// Finishes the archive. It is then complete in the output, and as durable as the output makes it.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn finish(self) -> Result<W, ArchiveError> {
        Ok(self.tar.into_inner()?.finish()?)
    }
}

/// Reads an archive, and passes each part to `visit`. Stops at the first error, including those of `visit`; parts
/// visited until then are valid by themselves, but not complete.
///
/// `most` limits the total size of the parts in bytes: an archive can expand to far more than its own length.
///
/// # Errors
/// Errors of the input; anything that does not belong in an archive.
pub fn read_archive<E: From<ArchiveError>>(
    input: impl Read,
    most: u64,
    mut visit: impl FnMut(Part) -> Result<(), E>,
) -> Result<(), E> {
    let mut position = ArchivePosition::Start;
    let mut left = most;
    let mut tar = tar::Archive::new(decoder(input).map_err(ArchiveError::Io)?);
    // Raw mode: header extensions, such as a longer name in an entry of its own, are not followed but rejected.
    for entry in tar.entries().map_err(ArchiveError::Io)?.raw(true) {
        let mut entry = entry.map_err(ArchiveError::Io)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() != EntryType::Regular {
            return Err(ArchiveError::entry(name, "is not a regular file").into());
        }
        let size = entry.size();
        position = position.next(&name, size)?;
        left = left.checked_sub(size).ok_or(ArchiveError::TooLarge(most))?;
        // `next` has limited the size.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        entry.read_to_end(&mut bytes).map_err(ArchiveError::Io)?;
        if bytes.len() as u64 != size {
            return Err(ArchiveError::entry(name, "is truncated").into());
        }
        visit(part(&position, name, bytes)?)?;
    }
    if matches!(position, ArchivePosition::Start) {
        return Err(ArchiveError::entry(MANIFEST, "is missing").into());
    }
    end(tar.into_inner())?;
    Ok(())
}

fn decoder<R: Read>(input: R) -> io::Result<zstd::Decoder<'static, BufReader<R>>> {
    let mut decoder = zstd::Decoder::new(input)?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    Ok(decoder)
}

fn part(position: &ArchivePosition, name: String, bytes: Vec<u8>) -> Result<Part, ArchiveError> {
    match position {
        ArchivePosition::Blob(id) if BlobId::of(&bytes) == *id => Ok(Part::Blob(*id, bytes)),
        ArchivePosition::Blob(_) => Err(ArchiveError::entry(name, "does not match the hash in its name")),
        ArchivePosition::Record(name) => Ok(Part::Record(name.clone(), bytes)),
        ArchivePosition::Start | ArchivePosition::Manifest => Ok(Part::Manifest(bytes)),
    }
}

/// Checks that nothing but the padding of `tar` follows the last entry, and reads to the end, so that zstd verifies its
/// checksum.
fn end(rest: impl Read) -> Result<(), ArchiveError> {
    let mut rest = BufReader::new(rest);
    // GNU tar pads to 10 KiB, and may begin another 10 KiB with the end of the archive, of which one block was read.
    for _ in 0..11 << 10 {
        let bytes = rest.fill_buf()?;
        match bytes.first() {
            None => return Ok(()),
            Some(0) => rest.consume(1),
            Some(_) => break,
        }
    }
    Err(ArchiveError::entry("", "is data after the end"))
}

/// Position in an archive: the last entry read or written.
#[derive(Clone, Debug)]
enum ArchivePosition {
    Start,
    Manifest,
    Record(String),
    Blob(BlobId),
}

impl ArchivePosition {
    /// Returns the position after an entry with this name and size, if it is allowed here.
    fn next(&self, name: &str, size: u64) -> Result<Self, ArchiveError> {
        let refuse = |problem| Err(ArchiveError::entry(name, problem));
        let next = match (name.strip_prefix("records/"), name.strip_prefix("blobs/")) {
            _ if name == MANIFEST => Self::Manifest,
            (Some(record), _) if is_name(record) => Self::Record(record.to_owned()),
            (_, Some(digits)) => match digits.parse::<BlobId>() {
                Ok(id) if id.to_string() == digits => Self::Blob(id),
                _ => return refuse("is not a valid blob name"),
            },
            _ => return refuse("is not an entry of a session archive"),
        };
        let follows = match (self, &next) {
            (Self::Start, next) => matches!(next, Self::Manifest),
            (_, Self::Start | Self::Manifest) => false,
            (Self::Manifest, _) | (Self::Record(_), Self::Blob(_)) => true,
            (Self::Record(last), Self::Record(next)) => last < next,
            (Self::Blob(last), Self::Blob(next)) => last < next,
            (Self::Blob(_), Self::Record(_)) => false,
        };
        if !follows {
            return refuse("is out of order or duplicated");
        }
        let most = if matches!(next, Self::Blob(_)) { MAX_BLOB_BYTES } else { MAX_RECORD_BYTES };
        if usize::try_from(size).is_ok_and(|size| size <= most) { Ok(next) } else { refuse("is too large") }
    }
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(plain);
    name.len() <= MAX_NAME_BYTES && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests;
