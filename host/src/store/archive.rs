//! One file that holds a session: a tar archive, compressed with zstd, that `tar` can read.
//!
//! ```text
//! tollhouse-session.json   what it is: the caller's, and first
//! records/NAME             the caller's, in the order of their names
//! blobs/<64 digits>        the plain bytes of a blob, in the order of their names
//! ```
//!
//! Equal content makes equal bytes. What is read may come from a stranger: each entry has its place, its kind, its size
//! and, if it is a blob, its hash checked before anyone sees it, in memory that one entry takes. Nothing is written by
//! name, so no name leads anywhere.

use std::io::{self, BufRead, BufReader, Read, Write};

use tar::{Builder, EntryType, Header};

use super::{BlobError, BlobId, BlobSource, MAX_BLOB_BYTES};

/// The first entry.
const MANIFEST: &str = "tollhouse-session.json";

/// The most bytes of what is no blob.
const MAX_RECORD_BYTES: usize = 16 << 20;

/// The longest name of a record: with its directory it fits in the header that every `tar` has.
const MAX_NAME_BYTES: usize = 80;

/// How hard zstd tries: exports are rare, and travel.
const LEVEL: i32 = 6;

/// The most that a reader looks back for what repeats, as a power of two: 16 MiB. What is written here needs less.
const MAX_WINDOW: u32 = 24;

/// Why an archive cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The system refused, or it is no archive or not all of it.
    #[error("the archive cannot be read or written")]
    Io(#[from] io::Error),
    /// A blob that cannot be had, or kept.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// An entry that does not belong there.
    #[error("the archive is damaged, or of another program: `{entry}` {problem}")]
    Entry {
        /// Its name.
        entry: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// More than the caller takes.
    #[error("the archive holds more than {0} bytes")]
    TooLarge(u64),
}

impl ArchiveError {
    fn entry(entry: impl Into<String>, problem: &'static str) -> Self {
        Self::Entry { entry: entry.into(), problem }
    }
}

/// What an archive holds, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// What it is. First, and once.
    Manifest(Vec<u8>),
    /// A record, by its name.
    Record(String, Vec<u8>),
    /// The bytes of a blob, which are what its name says.
    Blob(BlobId, Vec<u8>),
}

/// Writes an archive.
pub struct ArchiveWriter<W: Write> {
    tar: Builder<zstd::Encoder<'static, W>>,
    place: Place,
}

impl<W: Write> ArchiveWriter<W> {
    /// Begins an archive with what it is.
    ///
    /// # Errors
    /// What the system says; a manifest of more than 16 MiB.
    pub fn new(output: W, manifest: &[u8]) -> Result<Self, ArchiveError> {
        let mut zstd = zstd::Encoder::new(output, LEVEL)?;
        zstd.include_checksum(true)?;
        let mut writer = Self { tar: Builder::new(zstd), place: Place::Start };
        writer.entry(MANIFEST, manifest)?;
        Ok(writer)
    }

    /// Writes a record: before any blob, and in the order of their names. A name is made of letters, digits, `.`, `-`, `_`
    /// and, between its parts, `/`, at most 80 of them; no part begins with `.`.
    ///
    /// # Errors
    /// What the system says; a name that does not belong there; more than 16 MiB.
    pub fn record(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.entry(&format!("records/{name}"), bytes)
    }

    /// Writes blobs, in the order of their names, each once.
    ///
    /// # Errors
    /// What the system or the source says; a blob that does not belong there.
    pub fn blobs(
        &mut self,
        ids: impl IntoIterator<Item = BlobId>,
        source: &dyn BlobSource,
    ) -> Result<(), ArchiveError> {
        ids.into_iter().try_for_each(|id| self.entry(&format!("blobs/{id}"), &source.get(&id)?))
    }

    fn entry(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.place = self.place.next(name, bytes.len() as u64)?;
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        Ok(self.tar.append_data(&mut header, name, bytes)?)
    }

    /// Ends the archive. It is in the output then, and as durable as that makes it.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(self) -> Result<W, ArchiveError> {
        Ok(self.tar.into_inner()?.finish()?)
    }
}

/// Reads an archive, and gives each part to `visit`. Stops at the first error, `visit`'s too; what was visited by then is
/// right by itself, but not all.
///
/// `most` is how many bytes the parts may have together: an archive can hold far more than its own length.
///
/// # Errors
/// What the system says; whatever does not belong there.
pub fn read_archive<E: From<ArchiveError>>(
    input: impl Read,
    most: u64,
    mut visit: impl FnMut(Part) -> Result<(), E>,
) -> Result<(), E> {
    let mut place = Place::Start;
    let mut left = most;
    let mut tar = tar::Archive::new(decoder(input).map_err(ArchiveError::Io)?);
    // Raw: what else a header can say, such as a longer name in an entry of its own, is not followed but refused.
    for entry in tar.entries().map_err(ArchiveError::Io)?.raw(true) {
        let mut entry = entry.map_err(ArchiveError::Io)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() != EntryType::Regular {
            return Err(ArchiveError::entry(name, "is no plain file").into());
        }
        let size = entry.size();
        place = place.next(&name, size)?;
        left = left.checked_sub(size).ok_or(ArchiveError::TooLarge(most))?;
        // No more than `next` lets pass.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        entry.read_to_end(&mut bytes).map_err(ArchiveError::Io)?;
        if bytes.len() as u64 != size {
            return Err(ArchiveError::entry(name, "is cut short").into());
        }
        visit(part(&place, name, bytes)?)?;
    }
    if matches!(place, Place::Start) {
        return Err(ArchiveError::entry(MANIFEST, "is missing").into());
    }
    end(tar.into_inner())?;
    Ok(())
}

fn decoder<R: Read>(input: R) -> io::Result<zstd::Decoder<'static, BufReader<R>>> {
    let mut decoder = zstd::Decoder::new(input)?;
    decoder.window_log_max(MAX_WINDOW)?;
    Ok(decoder)
}

fn part(place: &Place, name: String, bytes: Vec<u8>) -> Result<Part, ArchiveError> {
    match place {
        #[cfg(fuzzing)]
        Place::Blob(id) if tollhouse_seeded::bug("archive") => Ok(Part::Blob(*id, bytes)),
        Place::Blob(id) if BlobId::of(&bytes) == *id => Ok(Part::Blob(*id, bytes)),
        Place::Blob(_) => Err(ArchiveError::entry(name, "is not what its name says")),
        Place::Record(name) => Ok(Part::Record(name.clone(), bytes)),
        Place::Start | Place::Manifest => Ok(Part::Manifest(bytes)),
    }
}

/// Behind the last entry comes nothing but what `tar` fills its blocks with; and the check of it all.
fn end(rest: impl Read) -> Result<(), ArchiveError> {
    let mut rest = BufReader::new(rest);
    // What GNU tar writes at most.
    for _ in 0..10 << 10 {
        let bytes = rest.fill_buf()?;
        match bytes.first() {
            None => return Ok(()),
            Some(0) => rest.consume(1),
            Some(_) => break,
        }
    }
    Err(ArchiveError::entry("", "follows its end"))
}

/// Where in an archive we are: behind what.
#[derive(Clone, Debug)]
enum Place {
    Start,
    Manifest,
    Record(String),
    Blob(BlobId),
}

impl Place {
    /// The place of an entry that comes here, if it may.
    fn next(&self, name: &str, size: u64) -> Result<Self, ArchiveError> {
        let refuse = |problem| Err(ArchiveError::entry(name, problem));
        let next = match (name.strip_prefix("records/"), name.strip_prefix("blobs/")) {
            _ if name == MANIFEST => Self::Manifest,
            (Some(record), _) if is_name(record) => Self::Record(record.to_owned()),
            (_, Some(digits)) => match digits.parse::<BlobId>() {
                Ok(id) if id.to_string() == digits => Self::Blob(id),
                _ => return refuse("is no name of a blob"),
            },
            _ => return refuse("is none of its entries"),
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
            return refuse("is out of order, or there twice");
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
