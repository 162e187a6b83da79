//! Journals of runs in the store, and how they are read: whole, or from the position that a heap names.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::record::Head;
use super::record_reader::damaged;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::capability::JournalRetention;
use crate::guest::OperationId;
use crate::session::heap::{HeapPosition, HeapScope, JournalPrefix};
use crate::session::journal::{JournalEntry, JournalMark, JournalReader};
use crate::vfs::now;

/// Journal of a run as it is in the store, or as much of it as is needed beside the run's heap.
pub(in crate::session) struct StoredJournal {
    pub(in crate::session) run: u64,
    /// All its chunks. Chunks are added, and never changed.
    pub(super) mark: JournalMark,
    /// BLAKE3 of the first chunk.
    pub(super) first: Option<blake3::Hash>,
    pub(in crate::session) entries: Vec<JournalEntry>,
    /// Number of these entries that the heap stands for. `None` if it is for another journal, or there is none.
    pub(in crate::session) restored: Option<usize>,
    /// Chunks in front of each question that may be open.
    pub(super) questions: BTreeMap<OperationId, JournalMark>,
}

/// Journals of runs in the store.
#[derive(Clone, Copy)]
pub(super) struct RunJournals<'s> {
    pub(super) sessions: &'s Sessions,
}

impl RunJournals<'_> {
    /// Returns the keys of the journals that are kept no longer, of runs that have ended: of at most so many runs, the
    /// oldest first.
    pub(super) fn outdated(
        &self,
        id: &SessionId,
        retention: JournalRetention,
        head: &Head,
        max_runs: usize,
    ) -> Result<Vec<Vec<u8>>, SessionsError> {
        let JournalRetention::For(time) = retention else { return Ok(Vec::new()) };
        let oldest = now().saturating_sub(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let prefix = record_key::prefix(b'J', id);
        let (mut keys, mut after) = (Vec::new(), None);
        for _ in 0..max_runs {
            let Some((key, _)) = self.sessions.records().scan(&prefix, after.as_deref(), 1)?.pop() else { break };
            let (_, run) = record_key::read_journal(&key).ok_or_else(|| damaged(id, "the key of a journal"))?;
            if !head.needs_journal(run) {
                let record = self.sessions.record_reader().run(id, run)?;
                if record.ended.unwrap_or(record.started) >= oldest {
                    // Later runs have ended later.
                    break;
                }
                self.sessions.record_reader().for_each_record(&record_key::numbered(b'J', id, run), |(key, _)| {
                    keys.push(key);
                    Ok(())
                })?;
            }
            after = Some(record_key::journal(id, run, u64::MAX));
        }
        Ok(keys)
    }

    /// Returns the number of chunks of a run's journal.
    pub(super) fn chunks(&self, id: &SessionId, run: u64) -> Result<u64, SessionsError> {
        let mut chunks = 0;
        self.sessions.record_reader().for_each_record(&record_key::numbered(b'J', id, run), |_| {
            chunks += 1;
            Ok(())
        })?;
        Ok(chunks)
    }

    /// Reads the first entry of a run's journal; `None` if it has none.
    pub(super) fn first(&self, id: &SessionId, run: u64) -> Result<Option<JournalEntry>, SessionsError> {
        self.first_chunk(id, run)?.map_or(Ok(None), |chunk| first_entry(id, run, &chunk))
    }

    fn first_chunk(&self, id: &SessionId, run: u64) -> Result<Option<Bytes>, SessionsError> {
        let value = self.sessions.records().get(&record_key::journal(id, run, 0))?;
        value.map(|value| Ok(self.sessions.record_reader().value(id, &value)?.into())).transpose()
    }

    /// Reads the journal of a run; empty if it has none.
    pub(super) fn journal(&self, id: &SessionId, run: u64) -> Result<Vec<JournalEntry>, SessionsError> {
        Ok(self.stored(id, run, None)?.entries)
    }

    /// Reads the journal of a run, or what is needed of it beside the run's heap, which stands for this part of it.
    pub(super) fn stored(
        &self,
        id: &SessionId,
        run: u64,
        heap: Option<&HeapScope>,
    ) -> Result<StoredJournal, SessionsError> {
        let prefix = match heap {
            Some(HeapScope::Position(position)) => match self.behind(id, run, position)? {
                Some(journal) => return Ok(journal),
                None => None,
            },
            Some(HeapScope::Whole(prefix)) => Some(prefix),
            None => None,
        };
        let (mut chunks, mut restored) = (ChunkReader::new(id, run, JournalMark::start()), None);
        let mut first = None;
        let mut beginning = prefix.map(BeginningCheck::new);
        self.sessions.record_reader().for_each_record(&record_key::numbered(b'J', id, run), |(_, value)| {
            let chunk = Bytes::from(self.sessions.record_reader().value(id, &value)?);
            first.get_or_insert_with(|| blake3::hash(&chunk));
            let ends = beginning.as_mut().is_some_and(|beginning| beginning.ends_with(&chunk));
            chunks.read(&chunk)?;
            if ends {
                restored = Some(chunks.entries.len());
            }
            Ok(())
        })?;
        let ChunkReader { mark, entries, questions, .. } = chunks;
        Ok(StoredJournal { run, mark, first, entries, restored, questions })
    }

    /// Reads the first entry of a run's journal, and all behind the chunks that need not be read beside the run's heap.
    /// Returns `None` if the heap is for another journal.
    fn behind(
        &self,
        id: &SessionId,
        run: u64,
        position: &HeapPosition,
    ) -> Result<Option<StoredJournal>, SessionsError> {
        let Some(chunk) = self.first_chunk(id, run)? else { return Ok(None) };
        let first = blake3::hash(&chunk);
        if first.to_hex().as_str() != position.first {
            return Ok(None);
        }
        let mut chunks = ChunkReader::new(id, run, position.unread);
        let after = position.unread.chunks.checked_sub(1).map(|last| record_key::journal(id, run, last));
        if after.is_some() {
            chunks.entries.extend(first_entry(id, run, &chunk)?);
        }
        let (mut restored, mut is_other) = (None, false);
        let prefix = record_key::numbered(b'J', id, run);
        self.sessions.record_reader().for_each_record_after(&prefix, after, |(key, value)| {
            is_other |= record_key::number(&key) != Some(chunks.mark.chunks);
            chunks.read(&self.sessions.record_reader().value(id, &value)?.into())?;
            if chunks.mark.chunks == position.chunks.chunks {
                is_other |= chunks.mark != position.chunks;
                restored = Some(chunks.entries.len());
            }
            Ok(())
        })?;
        let ChunkReader { mark, entries, questions, .. } = chunks;
        let is_whole = !is_other && restored.is_some();
        Ok(is_whole.then_some(StoredJournal { run, mark, first: Some(first), entries, restored, questions }))
    }

    /// Reads the journal of a run without the values that its guests were given: what waits and what is in doubt is seen
    /// without them, and they may take much memory. Each of its records, which has whole entries, is read by itself.
    pub(super) fn without_values(&self, id: &SessionId, run: u64) -> Result<Vec<JournalEntry>, SessionsError> {
        let mut reader = ValuelessReader::new(self.sessions, id, run);
        let prefix = record_key::numbered(b'J', id, run);
        self.sessions.record_reader().for_each_record(&prefix, |(_, value)| reader.read(&value))?;
        Ok(reader.entries)
    }
}

/// Reader of a journal without the values that its guests were given.
pub(super) struct ValuelessReader<'s> {
    sessions: &'s Sessions,
    id: &'s SessionId,
    run: u64,
    reader: JournalReader,
    pub(super) entries: Vec<JournalEntry>,
}

impl<'s> ValuelessReader<'s> {
    pub(super) fn new(sessions: &'s Sessions, id: &'s SessionId, run: u64) -> Self {
        Self { sessions, id, run, reader: JournalReader::default(), entries: Vec::new() }
    }

    /// Reads the next chunk, as its record has it.
    pub(super) fn read(&mut self, record: &[u8]) -> Result<(), SessionsError> {
        let chunk = self.sessions.record_reader().value(self.id, record)?.into();
        let read = decoded(self.id, self.run, &chunk, &mut self.reader)?;
        self.entries.extend(read.into_iter().map(JournalEntry::without_values));
        Ok(())
    }
}

/// Reader of the chunks of a journal, in their order.
struct ChunkReader<'i> {
    id: &'i SessionId,
    run: u64,
    reader: JournalReader,
    mark: JournalMark,
    entries: Vec<JournalEntry>,
    questions: BTreeMap<OperationId, JournalMark>,
}

impl<'i> ChunkReader<'i> {
    fn new(id: &'i SessionId, run: u64, mark: JournalMark) -> Self {
        let (reader, entries, questions) = <_>::default();
        Self { id, run, reader, mark, entries, questions }
    }

    fn read(&mut self, chunk: &Bytes) -> Result<(), SessionsError> {
        let entries = decoded(self.id, self.run, chunk, &mut self.reader)?;
        for entry in &entries {
            match entry {
                JournalEntry::Deferred { id, .. } => drop(self.questions.insert(*id, self.mark)),
                JournalEntry::Delivered { id, .. } => drop(self.questions.remove(id)),
                _ => {}
            }
        }
        self.entries.extend(entries);
        self.mark = self.mark.follow(chunk);
        Ok(())
    }
}

/// Comparison of a journal with the beginning that a heap of version 1 names: it ends with one of the chunks.
struct BeginningCheck<'p> {
    prefix: &'p JournalPrefix,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl<'p> BeginningCheck<'p> {
    fn new(prefix: &'p JournalPrefix) -> Self {
        Self { prefix, bytes: 0, hasher: blake3::Hasher::new() }
    }

    /// Returns true if the journal begins as it should, and that beginning ends with this chunk, the next one.
    fn ends_with(&mut self, chunk: &[u8]) -> bool {
        self.bytes += chunk.len() as u64;
        self.hasher.update(chunk);
        self.bytes == self.prefix.bytes && self.hasher.finalize().to_hex().as_str() == self.prefix.hash
    }
}

/// Decodes the first entry of a run's journal, given its first chunk, which may be long.
fn first_entry(id: &SessionId, run: u64, chunk: &Bytes) -> Result<Option<JournalEntry>, SessionsError> {
    let line = chunk.iter().position(|byte| *byte == b'\n').map_or(chunk.len(), |end| end + 1);
    Ok(decoded(id, run, &chunk.slice(..line), &mut JournalReader::default())?.into_iter().next())
}

/// Decodes a part of a run's journal.
fn decoded(
    id: &SessionId,
    run: u64,
    part: &Bytes,
    reader: &mut JournalReader,
) -> Result<Vec<JournalEntry>, SessionsError> {
    reader.read(part).map_err(|source| SessionsError::Replay { session: id.clone(), run, source })
}
