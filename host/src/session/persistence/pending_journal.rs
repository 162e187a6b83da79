//! Journal of the active run of a session, and the part of it that waits for a commit.

use std::collections::BTreeMap;

use super::session_log::JudgedOperation;
use super::stored_journal::StoredJournal;
use crate::gate::Chain;
use crate::guest::OperationId;
use crate::session::heap::HeapPosition;
use crate::session::journal::{self, JournalEntry, JournalMark};
use crate::session::run::TakenHeap;

/// Part of a journal that waits for a commit.
pub(super) struct PendingJournal {
    pub(super) run: u64,
    /// Number of bytes that this process has put into the store.
    pub(super) written: u64,
    pub(super) bytes: Vec<u8>,
    /// Chunks in the store.
    stored: JournalMark,
    /// BLAKE3 of the first of them, if it is known.
    first: Option<blake3::Hash>,
    /// Chunks in front of each question that may be open.
    questions: BTreeMap<OperationId, JournalMark>,
    /// Operation whose call is being judged.
    pub(super) judged: Option<JudgedOperation>,
    /// Set if the run did something that cannot be replayed.
    pub(super) is_broken: bool,
}

impl PendingJournal {
    /// Creates the journal of a run that starts.
    pub(super) fn new(run: u64, start: &JournalEntry) -> Self {
        let bytes = journal::encode(start);
        let (stored, questions) = (JournalMark::start(), BTreeMap::new());
        Self { run, written: 0, bytes, stored, first: None, questions, judged: None, is_broken: false }
    }

    /// Creates the journal of a run of which the store has this number of chunks, to add some bytes to it.
    pub(super) fn appended(run: u64, chunks: u64, bytes: Vec<u8>) -> Self {
        // Nothing is said of the chunks, since `first` is not known.
        let (stored, questions) = (JournalMark { chunks, ..JournalMark::start() }, BTreeMap::new());
        Self { run, written: 0, bytes, stored, first: None, questions, judged: None, is_broken: false }
    }

    /// Creates the journal of a run that is resumed.
    pub(super) fn stored(journal: &StoredJournal) -> Self {
        let StoredJournal { run, mark, first, questions, .. } = journal;
        let (run, stored, first, questions) = (*run, *mark, *first, questions.clone());
        Self { run, written: 0, bytes: Vec::new(), stored, first, questions, judged: None, is_broken: false }
    }

    /// Number of chunks in the store.
    pub(super) fn chunks(&self) -> u64 {
        self.stored.chunks
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, entry: &JournalEntry) {
        self.bytes.extend(journal::encode(entry));
        match entry {
            JournalEntry::Deferred { id, .. } => drop(self.questions.insert(*id, self.stored)),
            JournalEntry::Delivered { id, .. } => drop(self.questions.remove(id)),
            JournalEntry::Unreplayable { .. } => self.is_broken = true,
            _ => {}
        }
    }

    /// Notes that the bytes that waited are the next chunk in the store.
    pub(super) fn committed(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if self.stored.chunks == 0 {
            self.first = Some(blake3::hash(&bytes));
        }
        self.stored = self.stored.follow(&bytes);
        self.written += bytes.len() as u64;
    }

    /// Returns the position of a heap that is committed with what waits, and with a line behind this chain. `None` if it is
    /// not known.
    pub(super) fn position(&self, heap: &TakenHeap, chain: &Chain) -> Option<HeapPosition> {
        let chunks = if self.bytes.is_empty() { self.stored } else { self.stored.follow(&self.bytes) };
        let first = self.first.or_else(|| (self.stored.chunks == 0).then(|| blake3::hash(&self.bytes)))?;
        let questions = heap.heap.state.calls.iter().map(|call| self.questions.get(&call.id).copied());
        let unread = questions.collect::<Option<Vec<_>>>()?.into_iter().min_by_key(|mark| mark.chunks)?;
        Some(HeapPosition {
            chunks,
            unread,
            first: first.to_hex().to_string(),
            lines: chain.lines(),
            line_hash: chain.hash().to_string(),
            entries: heap.entries,
            now: heap.now,
            calls: heap.calls.clone(),
        })
    }
}
