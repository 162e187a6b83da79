//! From parts of a tree to blobs: those that are not there yet.

use std::collections::HashSet;

use super::super::directory::{Directory, Entries, Slot};
use super::super::node::{File, Name, Node};
use super::super::scale::INLINE_BYTES;
use super::super::stored::Origin;
use super::encode::encode;
use super::record::{BodyRecord, EntryRecord, PageRecord, Record};
use super::{ReferenceKind, references};
use crate::store::{BlobError, BlobId, BlobSink};

/// What puts a tree at a place. A blob is put after all that it names.
pub(super) struct Sealer<'a> {
    pub(super) sink: &'a mut dyn BlobSink,
    /// What was brought over from another place without being looked at.
    copied: HashSet<BlobId>,
}

impl<'a> Sealer<'a> {
    pub(super) fn new(sink: &'a mut dyn BlobSink) -> Sealer<'a> {
        Sealer { sink, copied: HashSet::new() }
    }

    /// Puts a directory, and before it those below: a list of what is to be done, since a tree may be too deep for
    /// recursion where a stack is small.
    pub(super) fn directory(&mut self, directory: &Directory) -> Result<BlobId, BlobError> {
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
                todo.extend(entries.filter_map(Node::as_directory).map(|below| (below, false)));
            }
        }
        directory.seal().at(place).ok_or_else(nowhere)
    }

    /// Puts a directory, in which all others are there already.
    fn pages(&mut self, directory: &Directory) -> Result<(), BlobError> {
        let id = match (directory.peek(), directory.seal().id()) {
            (Ok([slot]), _) => self.page(slot)?,
            (Ok(slots), _) => {
                let page = |slot: &Slot| {
                    Ok(PageRecord { first: Name::clone(&slot.first), sums: slot.sums, id: self.page(slot)? })
                };
                let pages = slots.iter().map(page).collect::<Result<_, BlobError>>()?;
                self.sink.put(encode(&Record::Pages(pages)))?
            }
            (Err(unloaded), Some(id)) => self.copy(id, unloaded.map(|unloaded| &*unloaded.origin))?,
            (Err(_), None) => return Err(nowhere()),
        };
        directory.seal().set(id, self.sink.place());
        Ok(())
    }

    fn page(&mut self, slot: &Slot) -> Result<BlobId, BlobError> {
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
        self.sink.put(encode(&Record::Page(records)))
    }

    fn body<'n>(&mut self, node: &'n Node) -> Result<BodyRecord<'n>, BlobError> {
        Ok(match node {
            Node::File(file) => self.file(file)?,
            Node::Directory(directory) => {
                let id = directory.seal().at(self.sink.place()).ok_or_else(nowhere)?;
                BodyRecord::Directory { sums: directory.sums(), id }
            }
            Node::Link(link) => BodyRecord::Link(&link.target),
        })
    }

    fn file(&mut self, file: &File) -> Result<BodyRecord<'static>, BlobError> {
        let len = file.content.len();
        if len <= INLINE_BYTES {
            let mut bytes = Vec::new();
            file.content.read_to(0, len, &mut bytes)?;
            return Ok(BodyRecord::Inline(bytes.into()));
        }
        Ok(BodyRecord::Stored { len, id: file.content.seal(self.sink)?.id })
    }

    /// Brings a node blob over, with all that it names, and gives its id back. A list, and no recursion: what it says has
    /// not been checked, only that it is what its name says.
    fn copy(&mut self, id: BlobId, origin: Option<&Origin>) -> Result<BlobId, BlobError> {
        let origin = origin.ok_or(BlobError::Missing(id))?;
        let mut todo = vec![(id, ReferenceKind::Node, false)];
        while let Some((id, kind, ready)) = todo.pop() {
            if self.copied.contains(&id) {
                continue;
            }
            let bytes = origin.get(&id)?;
            if kind == ReferenceKind::Node && !ready {
                let below = references(&bytes).map_err(|_| BlobError::Damaged(id))?;
                todo.push((id, kind, true));
                todo.extend(below.into_iter().map(|reference| (reference.id, reference.kind, false)));
            } else {
                self.sink.put(bytes.to_vec())?;
                self.copied.insert(id);
            }
        }
        Ok(id)
    }
}

/// What cannot be: a part that is neither loaded nor stored, or one that should be there by now.
fn nowhere() -> BlobError {
    BlobError::Missing(BlobId::of(&[]))
}
