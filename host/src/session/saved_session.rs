//! Serialization of a session in memory: its files, the spent part of its budgets, and the state of its last scripts.
//! Its authority is not included: the session that loads the bytes keeps its own grants, and counts the recorded
//! amounts as spent.
//!
//! The format is an [archive](crate::store::ArchiveWriter): a manifest, a record `state/LANGUAGE` for each language,
//! and the blobs of the files. The bytes may come from a stranger: before any of them is used, every blob is compared
//! with its hash, every blob that the snapshot names must be present, and everything is read within the limits of the
//! loading session.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::host::HostError;
use super::persistence::Balance;
use crate::gate::Gate;
use crate::guest::{Language, MAX_STATE_BYTES};
use crate::ledger::Used;
use crate::store::{
    ArchiveError, ArchiveWriter, BlobError, BlobId, BlobSource, Blobs, MemoryBlobs, Part, read_archive,
};
use crate::vfs::{self, Errno, Kind, Malformed, OpenError, ReferenceKind, SnapshotId, Tree, references};

/// Format name in the manifest.
const FORMAT: &str = "tollhouse sandbox 1";

/// Bytes that an archive may have besides the contents of files: directories, and states of scripts.
const OVERHEAD: u64 = 256 << 20;

/// Reason why a session cannot be saved to bytes, or loaded from them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PortableError {
    /// The session is on disk, and so are its budgets.
    #[error("a session on disk cannot be saved to bytes: export it")]
    OnDisk,
    /// The bytes are not a saved session.
    #[error("these bytes are not a snapshot of a sandbox")]
    Other,
    /// The archive is damaged, or larger than the session's limits.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A blob is missing.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A blob that should be a directory is not one.
    #[error("the blob {blob} is not part of a snapshot")]
    Node {
        /// Name of the blob.
        blob: BlobId,
        /// Problem with the blob.
        #[source]
        source: Malformed,
    },
    /// The files cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A file or directory differs from its entry in the parent directory.
    #[error("`{path}` in the snapshot cannot be read")]
    File {
        /// Path of the file or directory.
        path: String,
        /// Error of the file system.
        #[source]
        source: Errno,
    },
    /// The files exceed the limits of the session.
    #[error(
        "the snapshot has {bytes} bytes in {entries} entries, more than the session may have: raise `files` in `limits`"
    )]
    TooLarge {
        /// Total bytes of all files.
        bytes: u64,
        /// Number of files, directories and links.
        entries: u64,
    },
}

/// First entry of the archive.
#[derive(Serialize, Deserialize)]
struct PortableManifest {
    format: String,
    snapshot: SnapshotId,
    /// Spent amount of each account.
    spent: Vec<Balance>,
}

/// Contents of a session's bytes.
pub(super) struct LoadedSession {
    pub(super) files: Tree,
    pub(super) states: HashMap<Language, Vec<u8>>,
    pub(super) spent: HashMap<String, Used>,
}

/// Serializes a session.
pub(super) fn write(files: &Tree, states: &[(Language, Vec<u8>)], gate: &Gate) -> Result<Vec<u8>, PortableError> {
    let blobs = MemoryBlobs::default();
    let snapshot = files.seal(&mut &blobs)?;
    let mut spent: Vec<Balance> = gate.spent().iter().map(|(account, used)| Balance::of(account, *used)).collect();
    spent.sort_by(|one, other| one.account.cmp(&other.account));
    let manifest = PortableManifest { format: FORMAT.to_owned(), snapshot, spent };
    let manifest = serde_json::to_vec(&manifest).expect("it is plain data");
    let mut archive = ArchiveWriter::new(Vec::new(), &manifest)?;
    for language in Language::ALL {
        let left = states.iter().find(|(of, left)| *of == language && !left.is_empty());
        if let Some((_, left)) = left {
            archive.record(&state_name(language), left)?;
        }
    }
    archive.blobs(referenced_blobs(snapshot, &blobs)?, &blobs)?;
    Ok(archive.finish()?)
}

/// Deserializes a session, and checks all of it.
pub(super) fn read(bytes: &[u8], limits: vfs::Limits) -> Result<LoadedSession, HostError> {
    Ok(read_within(bytes, limits)?)
}

fn read_within(bytes: &[u8], limits: vfs::Limits) -> Result<LoadedSession, PortableError> {
    let blobs = Arc::new(MemoryBlobs::default());
    let (mut manifest, mut states) = (None, HashMap::new());
    let mut upload = blobs.begin()?;
    read_archive(bytes, limits.bytes.saturating_add(OVERHEAD), |part| -> Result<(), PortableError> {
        match part {
            Part::Manifest(bytes) => {
                let read: PortableManifest = serde_json::from_slice(&bytes).map_err(|_| PortableError::Other)?;
                manifest = Some(read);
            }
            Part::Record(name, left) => {
                let language = Language::ALL.into_iter().find(|language| state_name(*language) == name);
                let language = language.filter(|_| left.len() <= MAX_STATE_BYTES).ok_or(PortableError::Other)?;
                states.insert(language, left);
            }
            Part::Blob(_, bytes) => drop(upload.put(bytes)?),
        }
        Ok(())
    })?;
    drop(upload);
    let manifest = manifest.filter(|manifest| manifest.format == FORMAT).ok_or(PortableError::Other)?;
    if referenced_blobs(manifest.snapshot, &*blobs)?.len() != blobs.len() {
        // Unreferenced blobs would take memory for as long as the files exist.
        return Err(PortableError::Other);
    }
    let files = Tree::open(manifest.snapshot, blobs, limits)?;
    check_files(&files, limits)?;
    let amount = |balance: Balance| balance.used().map(|used| (balance.account, used));
    let spent = manifest
        .spent
        .into_iter()
        .map(|balance| amount(balance).ok_or(PortableError::Other))
        .collect::<Result<_, _>>()?;
    Ok(LoadedSession { files, states, spent })
}

fn state_name(language: Language) -> String {
    format!("state/{}", language.word())
}

/// Returns all blobs that a snapshot names, each of which must be present.
pub(super) fn referenced_blobs(
    snapshot: SnapshotId,
    blobs: &dyn BlobSource,
) -> Result<BTreeSet<BlobId>, PortableError> {
    let (mut all, mut nodes) = (BTreeSet::new(), BTreeSet::new());
    let mut next = vec![snapshot.blob()];
    while let Some(blob) = next.pop() {
        all.insert(blob);
        // A guest chooses the bytes of a file, so a blob may be named both as a file and as a directory.
        if !nodes.insert(blob) {
            continue;
        }
        let bytes = blobs.get(&blob)?;
        for reference in references(&bytes).map_err(|source| PortableError::Node { blob, source })? {
            match reference.kind {
                ReferenceKind::Node => next.push(reference.id),
                ReferenceKind::Plain => drop(all.insert(reference.id)),
            }
        }
    }
    for blob in &all {
        blobs.get(blob)?;
    }
    Ok(all)
}

/// Reads every directory and every file, after checking their claimed sizes: what a directory claims about its entries
/// is compared when they are read, so that no more is read than was claimed.
pub(super) fn check_files(files: &Tree, limits: vfs::Limits) -> Result<(), PortableError> {
    let vfs::Usage { bytes, entries } = files.usage();
    if bytes > limits.bytes || entries > limits.entries {
        return Err(PortableError::TooLarge { bytes, entries });
    }
    let mut next = vec![String::from("/")];
    while let Some(directory) = next.pop() {
        let failed = |path: &str| {
            let path = path.to_owned();
            move |source| PortableError::File { path, source }
        };
        for entry in files.read_directory(&directory).map_err(failed(&directory))? {
            let path = format!("{}/{}", directory.trim_end_matches('/'), entry.name);
            match entry.kind {
                Kind::Directory => next.push(path),
                Kind::File => drop(files.read_file(&path).map_err(failed(&path))?),
                _ => drop(files.stat(&path, false).map_err(failed(&path))?),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Host, HostOptions, SessionOptions};
    use crate::store::BlobSink;
    use crate::vfs::WriteMode;

    const LIMITS: vfs::Limits = vfs::Limits { bytes: 1 << 20, entries: 100, file_bytes: 1 << 20 };

    fn tree() -> Tree {
        let mut tree = Tree::new(LIMITS, 0);
        tree.write("/workspace/a", b"hello", WriteMode::Create, 1).expect("it is written");
        tree.write("/workspace/b", &[7; 300_000], WriteMode::Create, 1).expect("it is written");
        tree
    }

    /// Builds an archive of this manifest's snapshot and of these blobs.
    fn archive(snapshot: SnapshotId, blobs: &MemoryBlobs, ids: &BTreeSet<BlobId>) -> Vec<u8> {
        let manifest = PortableManifest { format: FORMAT.to_owned(), snapshot, spent: Vec::new() };
        let manifest = serde_json::to_vec(&manifest).expect("it is plain data");
        let mut archive = ArchiveWriter::new(Vec::new(), &manifest).expect("it is written");
        archive.blobs(ids.iter().copied(), blobs).expect("it is written");
        archive.finish().expect("it is written")
    }

    #[test]
    fn saved_snapshot_is_read_only_if_complete() {
        let blobs = MemoryBlobs::default();
        let snapshot = tree().seal(&mut &blobs).expect("it is sealed");
        let all = referenced_blobs(snapshot, &blobs).expect("they are there");
        assert!(all.len() > 2, "{all:?}");
        let read = read_within(&archive(snapshot, &blobs, &all), LIMITS).expect("it is whole");
        assert_eq!(read.files.read_file("/workspace/a"), Ok(b"hello".to_vec()));
        for missing in &all {
            let some = all.iter().copied().filter(|id| id != missing).collect();
            assert!(read_within(&archive(snapshot, &blobs, &some), LIMITS).is_err(), "{missing}");
        }
        let more = (&mut &blobs).put(b"of no file".to_vec()).expect("it is put");
        let with_more = all.iter().copied().chain([more]).collect();
        let refused = read_within(&archive(snapshot, &blobs, &with_more), LIMITS);
        assert!(matches!(refused, Err(PortableError::Other)));
    }

    #[test]
    fn saved_session_beyond_limits_is_refused() {
        let blobs = MemoryBlobs::default();
        let snapshot = tree().seal(&mut &blobs).expect("it is sealed");
        let bytes = archive(snapshot, &blobs, &referenced_blobs(snapshot, &blobs).expect("they are there"));
        for small in [vfs::Limits { bytes: 1000, ..LIMITS }, vfs::Limits { entries: 2, ..LIMITS }] {
            assert!(matches!(read_within(&bytes, small), Err(PortableError::TooLarge { .. })));
        }
    }

    #[test]
    fn saved_session_that_cannot_be_loaded_changes_nothing() {
        let host = Host::new(&HostOptions::default()).expect("there is a host");
        let session = host.session(SessionOptions { files: Some(tree()), ..SessionOptions::default() });
        let session = session.expect("there is a session");
        let saved = session.save().expect("it is saved");
        assert!(session.load(&saved[..saved.len() - 1]).is_err());
        assert_eq!(session.files().read_file("/workspace/a"), Ok(b"hello".to_vec()));
        session.load(&saved).expect("it is whole");
        assert_eq!(session.save().expect("it is saved"), saved);
    }
}
