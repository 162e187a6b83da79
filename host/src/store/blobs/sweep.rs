//! Removing blobs that nothing names: mark what is reachable, then remove the rest, beside running sessions.

use std::collections::HashMap;
use std::time::Duration;

use super::files::BlobFiles;
use crate::store::{BlobError, BlobId};

/// How many blobs are removed before commits have their turn: some milliseconds' worth.
const BATCH: usize = 256;

/// A blob that a record or another blob names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// Which.
    pub id: BlobId,
    /// Whether it is named as one that names others. One blob may be named as both: whoever writes a file chooses its
    /// bytes.
    pub node: bool,
}

/// How to sweep.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// Only says what would be removed.
    pub dry_run: bool,
    /// How long to wait for uploads that are alive, each time. If one outlives that, what is left is left for another time.
    pub patience: Duration,
}

/// How many, and what they take on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Files.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// What a sweep came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Blobs that were there and are reachable.
    pub kept: Amount,
    /// Blobs that were removed; of a dry run, that would be.
    pub removed: Amount,
    /// What killed processes had left, and was removed too. A dry run does not look for it.
    pub leftovers: Amount,
    /// An upload did not end in time: there is more to remove.
    pub interrupted: bool,
}

impl BlobFiles {
    /// Removes the blobs that cannot be reached.
    ///
    /// `roots` gives the blobs that records name: all of them, or, when it is asked again, at least those that were not
    /// among them before. It is asked often, also while no upload is alive: what has been committed by then it must know.
    /// What is needed and named by no record yet, such as the tree that a run began with, is for the caller to name.
    /// `references` gives what a node names; none if the bytes are no node.
    ///
    /// # Errors
    /// What `roots` says; a node that is reachable and cannot be read: what it names is not known, so nothing more is
    /// removed.
    pub fn sweep<E: From<BlobError>>(
        &self,
        options: &SweepOptions,
        mut roots: impl FnMut() -> Result<Vec<Named>, E>,
        references: impl Fn(&[u8]) -> Option<Vec<Named>>,
    ) -> Result<Swept, E> {
        let mut marks = Marks { files: self, references, expanded: HashMap::new() };
        marks.mark(roots()?)?;
        let mut swept = Swept::default();
        let mut rest = Vec::new();
        for listed in self.list() {
            let (id, bytes) = listed?;
            if marks.has(&id) { swept.kept.add(bytes) } else { rest.push((id, bytes)) }
        }
        if options.dry_run {
            rest.iter().for_each(|(_, bytes)| swept.removed.add(*bytes));
            return Ok(swept);
        }
        // At least once, for the leftovers.
        for batch in rest.chunks(BATCH).chain(rest.is_empty().then_some(&[][..])) {
            // Most of what is new is marked before commits have to wait.
            marks.mark(roots()?)?;
            let Some(alone) = self.lock_exclusive(options.patience)? else {
                swept.interrupted = true;
                break;
            };
            marks.mark(roots()?)?;
            for (id, bytes) in batch {
                if marks.has(id) {
                    swept.kept.add(*bytes);
                } else if let Some(bytes) = alone.remove(id)? {
                    swept.removed.add(bytes);
                }
            }
            let (files, bytes) = alone.clear_leftovers()?;
            swept.leftovers = Amount { files: swept.leftovers.files + files, bytes: swept.leftovers.bytes + bytes };
        }
        Ok(swept)
    }
}

/// The blobs that can be reached.
struct Marks<'a, R> {
    files: &'a BlobFiles,
    references: R,
    /// Whether what it names is marked too.
    expanded: HashMap<BlobId, bool>,
}

impl<R: Fn(&[u8]) -> Option<Vec<Named>>> Marks<'_, R> {
    fn has(&self, id: &BlobId) -> bool {
        self.expanded.contains_key(id)
    }

    /// Marks these and all that they name. What is marked already costs nothing.
    fn mark(&mut self, mut todo: Vec<Named>) -> Result<(), BlobError> {
        while let Some(Named { id, node }) = todo.pop() {
            let expanded = self.expanded.entry(id).or_default();
            if node && !*expanded {
                // Not from the cache, and not into it: most of these nobody else reads.
                let bytes = self.files.read(&id)?;
                todo.extend((self.references)(&bytes).ok_or(BlobError::Damaged(id))?);
                *expanded = true;
            }
        }
        Ok(())
    }
}
