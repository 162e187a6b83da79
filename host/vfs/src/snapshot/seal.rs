//! Stores those parts of a tree as blobs that are not stored yet.

use std::collections::HashSet;

use super::super::blob_ref::BlobOrigin;
use super::super::directory::{DirectoryNode, Entries, PageSlot};
use super::super::format_params::INLINE_BYTES;
use super::super::node::{FileNode, Name, TreeNode};
use super::encode::encode;
use super::record::{BodyRecord, EntryRecord, NodeRecord, PageRecord};
use super::{ReferenceKind, references};
use tollhouse_store::{BlobError, BlobId, BlobSink};

/// Stores a tree at a place. A blob is stored after all blobs that it refers to.
pub(super) struct TreeSealer<'a> {
    pub(super) sink: &'a mut dyn BlobSink,
    /// Blobs that were copied from another place without being decoded into a tree. A blob may be both a node and the bytes
    /// of a file, which a guest chooses: as a file it was copied without what the node refers to.
    copied: HashSet<(BlobId, ReferenceKind)>,
}

impl<'a> TreeSealer<'a> {
    pub(super) fn new(sink: &'a mut dyn BlobSink) -> TreeSealer<'a> {
        TreeSealer { sink, copied: HashSet::new() }
    }

    /// Stores a directory, after those below it. Uses a list instead of recursion, since a tree may be too deep for a
    /// small stack.
    pub(super) fn directory(&mut self, directory: &DirectoryNode) -> Result<BlobId, BlobError> {
        let place = self.sink.place();
        let mut todo = vec![(directory, false)];
        while let Some((directory, ready)) = todo.pop() {
            if ready {
                self.pages(directory)?;
            } else if directory.seal().at(place).is_none() {
                todo.push((directory, true));
                let pages = directory.peek().unwrap_or_default().iter();
                let pages = pages.filter(|slot| slot.page.seal.at(place).is_none());
                let entries = pages.filter_map(|slot| slot.page.peek().ok()).flat_map(Entries::values);
                todo.extend(entries.filter_map(TreeNode::as_directory).map(|below| (below, false)));
            }
        }
        directory.seal().at(place).ok_or_else(nowhere)
    }

    /// Stores a directory whose subdirectories are stored already.
    fn pages(&mut self, directory: &DirectoryNode) -> Result<(), BlobError> {
        let id = match (directory.peek(), directory.seal().id()) {
            (Ok([slot]), _) => self.page(slot)?,
            (Ok(slots), _) => {
                let page = |slot: &PageSlot| {
                    Ok(PageRecord { first: Name::clone(&slot.first), sums: slot.sums, id: self.page(slot)? })
                };
                let pages = slots.iter().map(page).collect::<Result<_, BlobError>>()?;
                self.sink.put(encode(&NodeRecord::Pages(pages)))?
            }
            (Err(unloaded), Some(id)) => self.copy(id, unloaded.map(|unloaded| &*unloaded.origin))?,
            (Err(_), None) => return Err(nowhere()),
        };
        directory.seal().set(id, self.sink.place());
        Ok(())
    }

    fn page(&mut self, slot: &PageSlot) -> Result<BlobId, BlobError> {
        let (page, place) = (&slot.page, self.sink.place());
        if let Some(id) = page.seal.at(place) {
            return Ok(id);
        }
        let id = match (page.peek(), page.seal.id()) {
            (Ok(entries), _) => self.entries(entries)?,
            (Err(unloaded), Some(id)) => self.copy(id, unloaded.map(|unloaded| &*unloaded.origin))?,
            (Err(_), None) => return Err(nowhere()),
        };
        page.seal.set(id, place);
        Ok(id)
    }

    fn entries(&mut self, entries: &Entries) -> Result<BlobId, BlobError> {
        let mut records = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            let meta = node.meta();
            let body = self.body(node)?;
            records.push(EntryRecord { name, mode: meta.mode, modified: meta.modified, body });
        }
        self.sink.put(encode(&NodeRecord::Page(records)))
    }

    fn body<'n>(&mut self, node: &'n TreeNode) -> Result<BodyRecord<'n>, BlobError> {
        Ok(match node {
            TreeNode::File(file) => self.file(file)?,
            TreeNode::Directory(directory) => {
                let id = directory.seal().at(self.sink.place()).ok_or_else(nowhere)?;
                BodyRecord::Directory { sums: directory.sums(), id }
            }
            TreeNode::Link(link) => BodyRecord::Link(&link.target),
        })
    }

    fn file(&mut self, file: &FileNode) -> Result<BodyRecord<'static>, BlobError> {
        let len = file.content.len();
        if len <= INLINE_BYTES {
            let mut bytes = Vec::new();
            file.content.read_to(0, len, &mut bytes)?;
            return Ok(BodyRecord::Inline(bytes.into()));
        }
        Ok(BodyRecord::Stored { len, id: file.content.seal(self.sink)?.id })
    }

    /// Copies a node blob from its origin, with everything that it refers to, and returns its id. Uses a list instead
    /// of recursion: the blobs match their names, but their contents have not been checked.
    fn copy(&mut self, id: BlobId, origin: Option<&BlobOrigin>) -> Result<BlobId, BlobError> {
        let origin = origin.ok_or(BlobError::Missing(id))?;
        let mut todo = vec![(id, ReferenceKind::Node, false)];
        while let Some((id, kind, ready)) = todo.pop() {
            if self.copied.contains(&(id, kind)) {
                continue;
            }
            let bytes = origin.get(&id)?;
            if kind == ReferenceKind::Node && !ready {
                let below = references(&bytes).map_err(|_| BlobError::Damaged(id))?;
                todo.push((id, kind, true));
                todo.extend(below.into_iter().map(|reference| (reference.id, reference.kind, false)));
            } else {
                self.sink.put(bytes.to_vec())?;
                self.copied.insert((id, kind));
            }
        }
        Ok(id)
    }
}

/// Error for a state that cannot occur: a part that is neither loaded nor stored, or one that should be stored by now.
fn nowhere() -> BlobError {
    BlobError::Missing(BlobId::of(&[]))
}
