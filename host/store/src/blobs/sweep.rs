//! Garbage collection of blobs: marks the reachable ones, then removes the rest, while sessions are running.

use std::collections::HashMap;
use std::time::Duration;

use tracing::debug;

use super::files::BlobFiles;
use super::pack::Pack;
use super::removal_lock::Exclusive;
use crate::{BlobError, BlobId};

/// Number of files removed before commits may proceed: takes some milliseconds.
const REMOVAL_BATCH: usize = 256;

/// A reference from a record or a blob to a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// Name of the blob.
    pub id: BlobId,
    /// Set if the blob is referred to as a node, which refers to other blobs. A blob may be referred to both ways,
    /// since whoever writes a file chooses its bytes.
    pub node: bool,
}

/// Options of a sweep.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// Set to report what would be removed, and remove nothing.
    pub dry_run: bool,
    /// How long to wait for live uploads, each time. If an upload lasts longer, the sweep stops, and the remaining
    /// blobs are left to the next one.
    pub patience: Duration,
    /// Set to go on if a reachable node cannot be read. What only that node refers to is then removed.
    pub skip_unreadable: bool,
}

/// A number of blobs or files, and their size on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of blobs; of leftovers, number of files.
    pub files: u64,
    /// Size in bytes.
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// Result of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Blobs that are reachable.
    pub kept: Amount,
    /// Blobs that were removed, or would be by a dry run.
    pub removed: Amount,
    /// Temporary files of killed processes, which were removed too. A dry run does not look for them.
    pub leftovers: Amount,
    /// Set if an upload did not end in time, so that blobs remain to be removed.
    pub interrupted: bool,
    /// Number of reachable nodes that could not be read, and were skipped.
    pub unreadable: u64,
}

impl BlobFiles {
    /// Removes the blobs that cannot be reached.
    ///
    /// `roots` returns the blobs that records refer to: all of them or, when called again, at least those that were not
    /// among them before. It is called often, also while no upload is alive, and must then include everything committed
    /// so far. The caller must add blobs that are needed but not yet referred to by any record, such as the tree that a
    /// run began with. `references` returns what a node refers to, or `None` if the bytes are not a node.
    ///
    /// # Errors
    /// Errors of `roots`; a reachable node that cannot be read, unless such nodes are skipped: since its references are
    /// unknown, nothing more is removed.
    pub fn sweep<E: From<BlobError>>(
        &self,
        options: &SweepOptions,
        mut roots: impl FnMut() -> Result<Vec<Named>, E>,
        references: impl Fn(&[u8]) -> Option<Vec<Named>>,
    ) -> Result<Swept, E> {
        let skip = options.skip_unreadable;
        let mut marks = ReachableBlobs { files: self, references, expanded: HashMap::new(), skip, unreadable: 0 };
        marks.mark(roots()?)?;
        let mut swept = Swept::default();
        if options.dry_run {
            for listed in self.list() {
                let (id, bytes) = listed?;
                if marks.has(&id) { swept.kept.add(bytes) } else { swept.removed.add(bytes) }
            }
            swept.unreadable = marks.unreadable;
            return Ok(swept);
        }
        let mut candidates = Vec::new();
        for first in 0..=u8::MAX {
            for (id, bytes) in self.list_shelf(first)? {
                if marks.has(&id) { swept.kept.add(bytes) } else { candidates.push((id, bytes)) }
            }
        }
        let (kept, mut packs): (Vec<_>, Vec<_>) = self
            .find_packs()?
            .packs()
            .cloned()
            .partition(|pack| pack.entries().iter().all(|entry| marks.has(&entry.id)));
        kept.iter().flat_map(|pack| pack.entries()).for_each(|entry| swept.kept.add(entry.length.into()));
        // On a full disk, packs of which little is left make room for the others to be replaced.
        packs.sort_by_cached_key(|pack| {
            let left = pack.entries().iter().filter(|entry| marks.has(&entry.id));
            left.map(|entry| u64::from(entry.length)).sum::<u64>()
        });
        let files = candidates.chunks(REMOVAL_BATCH).map(Candidates::Files);
        let batches: Vec<_> = files.chain(packs.iter().map(|pack| Candidates::Pack(pack))).collect();
        // At least once, to remove temporary files.
        for batch in batches.iter().chain(batches.is_empty().then_some(&Candidates::Files(&[]))) {
            // Marks most of what is new before commits have to wait.
            marks.mark(roots()?)?;
            let Some(alone) = self.lock_exclusive(options.patience)? else {
                swept.interrupted = true;
                break;
            };
            marks.mark(roots()?)?;
            batch.remove(&alone, |id| marks.has(id), &mut swept)?;
            let (files, bytes) = alone.clear_leftovers()?;
            swept.leftovers = Amount { files: swept.leftovers.files + files, bytes: swept.leftovers.bytes + bytes };
        }
        swept.unreadable = marks.unreadable;
        debug!(target: "tollhouse::store", removed = swept.removed.files, kept = swept.kept.files, "garbage collected");
        Ok(swept)
    }
}

/// Blobs of which some were unreachable, and which are removed together, so that commits wait for some milliseconds.
enum Candidates<'a> {
    /// Blobs with files of their own, and their sizes.
    Files(&'a [(BlobId, u64)]),
    /// A pack.
    Pack(&'a Pack),
}

impl Candidates<'_> {
    /// Removes the blobs that are still unreachable, and counts all.
    fn remove(
        &self,
        alone: &Exclusive,
        reachable: impl Fn(&BlobId) -> bool,
        swept: &mut Swept,
    ) -> Result<(), BlobError> {
        match self {
            Self::Files(files) => {
                for (id, bytes) in *files {
                    if reachable(id) {
                        swept.kept.add(*bytes);
                    } else if let Some(bytes) = alone.remove_file(id)? {
                        swept.removed.add(bytes);
                    }
                }
            }
            // Another process may have replaced it.
            Self::Pack(pack) if alone.rewrite(pack, &reachable)? => {
                for entry in pack.entries() {
                    let amount = if reachable(&entry.id) { &mut swept.kept } else { &mut swept.removed };
                    amount.add(entry.length.into());
                }
            }
            Self::Pack(_) => {}
        }
        Ok(())
    }
}

/// The set of reachable blobs.
struct ReachableBlobs<'a, R> {
    files: &'a BlobFiles,
    references: R,
    /// Reachable blobs; true if their references are marked too.
    expanded: HashMap<BlobId, bool>,
    /// Set to skip nodes that cannot be read.
    skip: bool,
    /// Number of skipped nodes.
    unreadable: u64,
}

impl<R: Fn(&[u8]) -> Option<Vec<Named>>> ReachableBlobs<'_, R> {
    fn has(&self, id: &BlobId) -> bool {
        self.expanded.contains_key(id)
    }

    /// Marks blobs and everything they refer to. Blobs that are marked already cost nothing.
    fn mark(&mut self, mut todo: Vec<Named>) -> Result<(), BlobError> {
        while let Some(Named { id, node }) = todo.pop() {
            let expanded = self.expanded.entry(id).or_default();
            if node && !*expanded {
                // The cache is bypassed, since most of these blobs are read by nobody else.
                *expanded = true;
                let read =
                    self.files.read(&id).and_then(|bytes| (self.references)(&bytes).ok_or(BlobError::Damaged(id)));
                match read {
                    Ok(references) => todo.extend(references),
                    Err(BlobError::Missing(_) | BlobError::Damaged(_)) if self.skip => self.unreadable += 1,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
