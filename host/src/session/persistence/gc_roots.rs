//! Roots of garbage collection: the blobs that the records of sessions name.

use std::collections::HashSet;

use super::record::{Head, RunRecord, States};
use super::record_reader::damaged;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::store::{BlobId, Record};
use crate::vfs::{Claimed, ReferenceKind, SnapshotId, Usage, references};

/// Blob that a record names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BlobRoot {
    /// Snapshot, which names other blobs.
    Snapshot(BlobId),
    /// Value of a record.
    Value(BlobId),
}

/// References between blobs: from records to blobs, and from directories to their entries.
#[derive(Clone, Copy)]
pub(super) struct BlobReferences<'s> {
    pub(super) sessions: &'s Sessions,
}

impl BlobReferences<'_> {
    /// Adds these blobs, and all that they name at any depth, to those reached.
    pub(super) fn reach(
        &self,
        roots: impl IntoIterator<Item = BlobRoot>,
        reached: &mut ReachedBlobs,
    ) -> Result<(), SessionsError> {
        let mut next = Vec::new();
        for root in roots {
            match root {
                BlobRoot::Value(blob) => drop(reached.blobs.insert(blob)),
                BlobRoot::Snapshot(blob) => next.push(blob),
            }
        }
        while let Some(node) = next.pop() {
            reached.blobs.insert(node);
            if !reached.nodes.insert(node) {
                continue;
            }
            let bytes = self.sessions.blobs().get(&node)?;
            let named = references(&bytes).map_err(|source| SessionsError::Node { blob: node, source })?;
            for reference in named {
                match reference.kind {
                    ReferenceKind::Node => next.push(reference.id),
                    ReferenceKind::Plain => drop(reached.blobs.insert(reference.id)),
                }
            }
        }
        Ok(())
    }

    /// Compares these blobs, and all that they name at any depth, with the claims of the blobs that name them.
    pub(super) fn compare(
        &self,
        roots: impl IntoIterator<Item = BlobRoot>,
        compared: &mut ComparedBlobs,
    ) -> Result<(), SessionsError> {
        for root in roots {
            let (BlobRoot::Value(blob) | BlobRoot::Snapshot(blob)) = root;
            if compared.roots.insert(root) {
                let bytes = self.sessions.blobs().get(&blob)?;
                compared.blobs.insert(blob);
                if matches!(root, BlobRoot::Snapshot(_)) {
                    self.compare_snapshot(blob, &bytes, compared)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the most bytes, and the most entries, that a snapshot of a session claims to have. Snapshots that cannot
    /// be read claim nothing: [`Self::compare`] reports their problems.
    pub(super) fn claimed(&self, id: &SessionId) -> Result<Usage, SessionsError> {
        let (mut largest, mut seen) = (Usage::default(), HashSet::new());
        self.sessions.record_reader().records_of(id, |record| {
            for root in roots_of(id, &record).unwrap_or_default() {
                if let BlobRoot::Snapshot(blob) = root
                    && seen.insert(blob)
                    && let Ok(bytes) = self.sessions.blobs().get(&blob)
                    && let Ok((_, Usage { bytes, entries })) = Claimed::root(&bytes)
                {
                    largest = Usage { bytes: bytes.max(largest.bytes), entries: entries.max(largest.entries) };
                }
            }
            Ok(())
        })?;
        Ok(largest)
    }

    fn compare_snapshot(&self, blob: BlobId, bytes: &[u8], compared: &mut ComparedBlobs) -> Result<(), SessionsError> {
        let (root, _) = Claimed::root(bytes).map_err(|source| SessionsError::Node { blob, source })?;
        let mut next = vec![root];
        while let Some(claimed) = next.pop() {
            if compared.claimed.contains(&claimed) {
                continue;
            }
            let blob = claimed.id;
            let found = claimed.compare(&self.sessions.blobs().get(&blob)?);
            next.extend(found.map_err(|source| SessionsError::Node { blob, source })?);
            compared.blobs.insert(blob);
            compared.claimed.insert(claimed);
        }
        Ok(())
    }
}

/// Returns the blobs that one record of a session names.
pub(super) fn roots_of(id: &SessionId, record: &Record) -> Result<Vec<BlobRoot>, SessionsError> {
    let (name, value) = record;
    let kind = name.first().copied().unwrap_or_default();
    let bad = |error: serde_json::Error| damaged(id, &error.to_string());
    Ok(match kind {
        b'H' => {
            let head: Head = serde_json::from_slice(value).map_err(bad)?;
            of_point([Some(head.snapshot), None], &head.states)
        }
        b'R' => {
            let run: RunRecord = serde_json::from_slice(value).map_err(bad)?;
            of_point([Some(run.base), run.snapshot], &run.states)
        }
        b'I' => {
            let [heap, files] = record_key::decode_heap(value).ok_or_else(|| damaged(id, "the heap of a run"))?;
            vec![BlobRoot::Value(heap), BlobRoot::Snapshot(files)]
        }
        kind if record_key::MAY_BE_LONG.contains(&kind) => match record_key::decode_value(value) {
            Some(record_key::StoredValue::Blob(blob)) => vec![BlobRoot::Value(blob)],
            Some(record_key::StoredValue::Inline(_)) => Vec::new(),
            None => return Err(damaged(id, "a record")),
        },
        _ => Vec::new(),
    })
}

/// Blobs that were compared with what is claimed of them.
#[derive(Debug, Default)]
pub(super) struct ComparedBlobs {
    /// Every blob.
    pub(super) blobs: HashSet<BlobId>,
    roots: HashSet<BlobRoot>,
    claimed: HashSet<Claimed>,
}

fn of_point(snapshots: [Option<SnapshotId>; 2], states: &States) -> Vec<BlobRoot> {
    let snapshots = snapshots.into_iter().flatten().map(|snapshot| BlobRoot::Snapshot(snapshot.blob()));
    snapshots.chain(states.values().copied().map(BlobRoot::Value)).collect()
}

/// Blobs that were reached from records.
#[derive(Debug, Default)]
pub(super) struct ReachedBlobs {
    /// Every blob.
    pub(super) blobs: HashSet<BlobId>,
    /// Blobs that were named as directories and have been read. A guest chooses the bytes of a file, so a blob may be
    /// named as both.
    nodes: HashSet<BlobId>,
}
