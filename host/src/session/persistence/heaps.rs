//! Heaps of suspended runs in the store: written with the suspension, read when the run is resumed, and removed with the
//! run's end.

use tracing::debug;

use super::open_session::PersistentSession;
use super::record_key;
use super::session_log::CommitBuilder;
use super::{SessionId, SessionsError};
use crate::session::heap::{Heap, HeapPosition};
use crate::session::run::TakenHeap;
use crate::store::MAX_BLOB_BYTES;
use crate::vfs::{Action, Body, Errno, Limits, SnapshotId, Tree};

/// Heap that is about to be written with the suspension of its run.
pub(super) struct EncodedHeap<'h> {
    bytes: Vec<u8>,
    files: &'h Tree,
}

impl<'h> EncodedHeap<'h> {
    /// Encodes a heap that stands for the run's records up to this position; `None` if it is too large.
    pub(super) fn new(taken: &'h TakenHeap, position: &HeapPosition) -> Option<Self> {
        let TakenHeap { heap, files, .. } = taken;
        match Heap::encode(heap, position) {
            Ok(bytes) => (bytes.len() <= MAX_BLOB_BYTES).then_some(Self { bytes, files }),
            Err(error) => {
                debug!(target: "tollhouse::run", %error, "no heap is kept");
                None
            }
        }
    }

    /// Adds the heap of a run to a commit, with the files that the run has.
    pub(super) fn put(&self, id: &SessionId, run: u64, commit: &mut CommitBuilder<'_>) -> Result<(), SessionsError> {
        let files = self.files.seal(commit.upload()?)?;
        let heap = commit.upload()?.put(self.bytes.clone())?;
        commit.batch.put(record_key::numbered(b'I', id, run), record_key::heap_value(&heap, &files.blob()));
        Ok(())
    }
}

/// Reads the files that a run has changed: a replay writes them again, and what lies in the store may be damaged.
fn check_changes(files: &Tree, base: &Tree) -> Result<(), Errno> {
    for edit in files.changes_since(base)? {
        if let Action::Put { body: Body::File(content), .. } = edit.action {
            content.to_vec()?;
        }
    }
    Ok(())
}

impl PersistentSession {
    /// Returns the bytes of the heap of a run, and the run's files; `None` if there is none, or it cannot be read.
    pub(in crate::session) fn heap(&self, run: u64, limits: Limits) -> Option<(bytes::Bytes, Tree)> {
        match self.read_heap(run, limits) {
            Ok(heap) => heap,
            Err(error) => {
                debug!(target: "tollhouse::run", run, %error, "the heap of the run cannot be read");
                None
            }
        }
    }

    fn read_heap(&self, run: u64, limits: Limits) -> Result<Option<(bytes::Bytes, Tree)>, SessionsError> {
        let value = self.sessions.records().get(&record_key::numbered(b'I', &self.id, run))?;
        let Some([heap, files]) = value.and_then(|value| record_key::decode_heap(&value)) else { return Ok(None) };
        let files = Tree::open(SnapshotId::from(files), self.sessions.record_reader().source(), limits)?;
        if let Err(error) = check_changes(&files, &self.head(limits)?) {
            debug!(target: "tollhouse::run", run, %error, "the files of the heap cannot be read");
            return Ok(None);
        }
        Ok(Some((self.sessions.blobs().get(&heap)?, files)))
    }
}
