//! Trees of 100,000 files and files of one gigabyte, in memory and in blobs on disk.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tollhouse::session::Sessions;
use tollhouse::store::{self, Backend, Batch, BlobFiles, BlobSource, MemoryBlobs, Store};
use tollhouse::vfs::{Limits, SnapshotId, Tree, WriteMode, changed_paths};
use tollhouse_tests::built;

use crate::table::{bytes, figure, median, median_of, rate, row, taken};

/// Number of files in a tree.
const FILES: usize = 100_000;

/// Number of files that differ between two compared trees.
const CHANGES: usize = 1_000;

/// Size of a file in bytes: large enough that each file is a blob of its own and not stored inside its directory.
const FILE_BYTES: usize = 256;

/// Size of the pieces in which a large file, a gigabyte, is written.
pub(crate) const PIECE_BYTES: usize = 64 << 10;
/// Number of pieces of a large file: see [`PIECE_BYTES`].
pub(crate) const PIECES: usize = (1 << 30) / PIECE_BYTES;

/// Size of a large file in bytes, and of the data that is appended to it.
const LARGE_BYTES: usize = 100_000_000;
const APPENDED_BYTES: usize = 1_000_000;

/// Limits that no measurement reaches.
pub(crate) const LIMITS: Limits = Limits { bytes: 8 << 30, entries: 1 << 20, file_bytes: 8 << 30 };

/// Layout of a tree's files.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// Files in 100 directories.
    Deep,
    /// Files in one directory.
    Flat,
}

impl Shape {
    pub(crate) fn path(self, index: usize) -> String {
        match self {
            Self::Deep => format!("/workspace/directory-{:02}/file-{:03}.txt", index / 1_000, index % 1_000),
            Self::Flat => format!("/workspace/file-{index:05}.txt"),
        }
    }

    /// Returns a tree with all files.
    pub(crate) fn tree(self) -> Tree {
        let mut tree = Tree::new(LIMITS, 0);
        for index in (0..FILES).step_by(1_000).filter(|_| matches!(self, Self::Deep)) {
            let path = self.path(index);
            let (directory, _) = path.rsplit_once('/').expect("a path has names");
            tree.create_directory(directory, false, 0).expect("it is new");
        }
        for index in 0..FILES {
            write(&mut tree, self, index, 0);
        }
        tree
    }
}

/// Measures trees of files.
pub(crate) fn measure() {
    // Both are removed at the end: removing 100,000 files would keep the disk busy during the next measurement.
    let disks = [DiskStore::new(), DiskStore::new()];
    let shapes = [(Shape::Deep, "100 directories of 1,000 files"), (Shape::Flat, "a directory of 100,000 files")];
    for ((shape, name), disk) in shapes.into_iter().zip(&disks) {
        println!("{name}");
        let tree = shape.tree();
        in_memory(shape, &tree);
        let snapshots = on_disk(disk, shape, &tree);
        opening(disk, shape, snapshots);
    }
    println!("large files");
    throughput();
    appending(&DiskStore::new());
}

/// Store for sessions on the disk of cargo's target directory, since temporary directories may be in memory.
pub(crate) struct DiskStore {
    directory: TempDir,
    pub(crate) records: Arc<dyn Store>,
    pub(crate) blobs: Arc<BlobFiles>,
}

impl DiskStore {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir_in(built()).expect("where cargo builds can be written");
        // The same layout as that of `Sessions::open`.
        let records = store::open(&directory.path().join("records"), Backend::Sled).expect("a new store");
        let blobs = BlobFiles::open(directory.path()).expect("new blobs");
        Self { directory, records: Arc::new(records), blobs: Arc::new(blobs) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn sessions(&self) -> Sessions {
        let (records, blobs) = (Arc::clone(&self.records), Arc::clone(&self.blobs));
        Sessions::new(records, blobs, &self.path().join("turns"))
    }

    /// Closes the store, so that another one can open it. Returns the directory, which is removed when dropped.
    pub(crate) fn close(self) -> TempDir {
        self.directory
    }

    /// Makes a tree durable, and commits a record with the snapshot's name.
    fn keep(&self, tree: &Tree) -> SnapshotId {
        let mut upload = self.blobs.begin().expect("blobs can be written");
        let snapshot = tree.seal(&mut upload).expect("it is put");
        upload.sync().expect("it is synced");
        let mut batch = Batch::default();
        // A value as long as the head of a session.
        batch.put(*b"head", format!("{snapshot:>400}"));
        self.records.commit(batch).expect("it is committed");
        snapshot
    }

    /// Returns the size of all blobs on disk, in bytes.
    fn bytes(&self) -> u64 {
        self.blobs.list().map(|blob| blob.expect("it is listed").1).sum()
    }
}

/// Measures operations that do not touch the disk.
fn in_memory(shape: Shape, tree: &Tree) {
    let (blobs, mut changing) = (MemoryBlobs::default(), tree.clone());
    changing.seal(&mut &blobs).expect("memory does not fail");
    let mut round = 0;
    let sealed = median(200, || {
        round += 1;
        write(&mut changing, shape, round * 97 % FILES, round);
        changing.seal(&mut &blobs).expect("memory does not fail");
    });
    row("  one write and a snapshot, in memory", sealed, "1 ms", None, None);
    let forks = 1_000;
    let forked = median(50, || (0..forks).for_each(|_| drop(std::hint::black_box(tree.clone()))));
    row("  fork of the tree", forked / forks, "10 us", None, None);
    let changed = spread(shape, tree);
    let compared = median(50, || assert_eq!(changed_paths(tree, &changed).map(|paths| paths.len()), Ok(CHANGES)));
    row("  diff of 1,000 changes, in memory", compared, "10 ms", None, None);
    let compared = median(50, || assert_eq!(changed.changes_since(tree).map(|edits| edits.len()), Ok(CHANGES)));
    row("  the same, with what makes one tree of the other", compared, "", None, None);
}

/// Flushes pending writes of the system, so that the next measurement does not pay for them.
fn settle() {
    // Without the program `sync`, the figures are only worse.
    let _ = Command::new("sync").status();
}

/// Measures durable operations. Returns the snapshots of the tree, and of the same tree with 1,000 changed files:
/// spread over all directories, and next to each other.
fn on_disk(disk: &DiskStore, shape: Shape, tree: &Tree) -> [SnapshotId; 3] {
    let mut first = None;
    let whole = taken(|| first = Some(disk.keep(tree)));
    row("  the first durable snapshot: 100,000 files", whole, "2 s", None, None);
    settle();
    let (mut changing, mut round) = (tree.clone(), 0);
    let kept = median(50, || {
        round += 1;
        write(&mut changing, shape, round * 97 % FILES, round);
        disk.keep(&changing);
    });
    row("  one write and a durable snapshot, named by a record", kept, "5 ms", None, None);
    let synced = median(50, || {
        let mut batch = Batch::default();
        batch.put(*b"head", [0; 400]);
        disk.records.commit(batch).expect("it is committed");
    });
    row("    of that, the record", synced, "", None, None);
    [first.expect("it was kept"), disk.keep(&spread(shape, tree)), disk.keep(&gathered(shape, tree))]
}

/// Measures opened trees and stores. The files are in the page cache of the system, and not in the memory of this
/// process.
fn opening(disk: &DiskStore, shape: Shape, [old, spread, gathered]: [SnapshotId; 3]) {
    let open = |id| {
        let blobs = Arc::new(BlobFiles::open(disk.path()).expect("they are there")) as Arc<dyn BlobSource>;
        Tree::open(id, blobs, LIMITS).expect("it is there")
    };
    let mut index = 0;
    let opened = median(50, || {
        index += 331;
        assert_eq!(open(old).read_file(&shape.path(index)).map(|bytes| bytes.len()), Ok(FILE_BYTES));
    });
    row("  open 100,000 files, and read one", opened, "5 ms", None, None);
    for (new, what) in [(gathered, "side by side"), (spread, "one of 100 files")] {
        let compared = median_of(10, || {
            let (old, new) = (open(old), open(new));
            taken(|| assert_eq!(changed_paths(&old, &new).map(|paths| paths.len()), Ok(CHANGES)))
        });
        row(&format!("  diff of 1,000 changes, trees on disk: {what}"), compared, "10 ms", None, None);
    }
}

/// Measures writing a gigabyte to a tree.
fn throughput() {
    let mut piece = noise(PIECE_BYTES, 1);
    let mut stamped = |index: usize| {
        piece[..8].copy_from_slice(&index.to_le_bytes());
        piece.clone()
    };
    let total = (PIECES * PIECE_BYTES) as u64;
    let mut tree = Tree::new(LIMITS, 0);
    let mut write_all = |work: &mut dyn FnMut(usize, &[u8])| {
        // Making the pieces is not part of the measurement.
        (0..PIECES).map(|index| (index, stamped(index))).map(|(index, piece)| taken(|| work(index, &piece))).sum()
    };
    let appended: Duration = write_all(&mut |_, piece| {
        tree.write("/workspace/appended", piece, WriteMode::Append, 0).expect("there is room");
    });
    figure("  1 GB in 64 KiB pieces, appended to a tree", &rate(total, appended), "300 MB/s");
    let disk = DiskStore::new();
    let kept = taken(|| _ = disk.keep(&tree));
    figure("    and made durable", &rate(total, kept), "");
    let over: Duration = write_all(&mut |index, piece| {
        let offset = (PIECES - 1 - index) * PIECE_BYTES;
        tree.write_at("/workspace/appended", offset as u64, piece, 0).expect("it is there");
    });
    figure("  the same, written over what is there", &rate(total, over), "300 MB/s");
}

/// Measures appending a megabyte to a file of a hundred, in a tree that was just opened.
fn appending(disk: &DiskStore) {
    let mut tree = Tree::new(LIMITS, 0);
    tree.write("/workspace/large", &noise(LARGE_BYTES, 2), WriteMode::Create, 0).expect("there is room");
    let mut snapshot = disk.keep(&tree);
    drop(tree);
    let (mut seed, rounds, before) = (3, 7, disk.bytes());
    let appended = median(rounds, || {
        let blobs = Arc::clone(&disk.blobs) as Arc<dyn BlobSource>;
        let mut tree = Tree::open(snapshot, blobs, LIMITS).expect("it was kept");
        seed += 1;
        tree.write("/workspace/large", &noise(APPENDED_BYTES, seed), WriteMode::Append, 0).expect("there is room");
        snapshot = disk.keep(&tree);
    });
    row("  1 MB appended to 100 MB: open, append, make durable", appended, "", None, None);
    // The median ignores one warm-up round, which wrote too.
    let written = (disk.bytes() - before) as f64 / (rounds + 1) as f64;
    figure("    bytes of new blobs on disk", &bytes(written), "");
}

/// Returns the tree with every hundredth file changed.
fn spread(shape: Shape, tree: &Tree) -> Tree {
    let mut changed = tree.clone();
    (0..FILES).step_by(FILES / CHANGES).for_each(|index| write(&mut changed, shape, index, 1 << 32));
    changed
}

/// Returns the tree with its first files changed.
fn gathered(shape: Shape, tree: &Tree) -> Tree {
    let mut changed = tree.clone();
    (0..CHANGES).for_each(|index| write(&mut changed, shape, index, 1 << 32));
    changed
}

/// Writes the contents of a file in a version.
fn write(tree: &mut Tree, shape: Shape, index: usize, version: usize) {
    let text = format!("{index} {version}\n").repeat(FILE_BYTES);
    tree.write(&shape.path(index), &text.as_bytes()[..FILE_BYTES], WriteMode::Replace, version as u64)
        .expect("there is room");
}

/// Returns incompressible bytes, different for each seed.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
