//! Cursors over the records of all sessions, which read many at once where many are wanted.

use std::collections::VecDeque;

use super::{SessionId, record_key};
use crate::store::{Record, Store, StoreError};

/// Most records that a cursor reads at once.
const MAX_PAGE: usize = 500;

/// Page of records, whose size follows from the use that was made of the one before: where most records are wanted they are
/// read together, and where few are wanted, hardly any other is read.
struct RecordPage<'s> {
    records: &'s dyn Store,
    kind: [u8; 1],
    page: VecDeque<Record>,
    /// Number of records to be read at once.
    size: usize,
    /// Number of records of the page that were wanted.
    used: usize,
    /// True if no records follow.
    is_last: bool,
}

impl<'s> RecordPage<'s> {
    fn new(records: &'s dyn Store, kind: u8) -> Self {
        Self { records, kind: [kind], page: VecDeque::new(), size: 0, used: 0, is_last: false }
    }

    /// Reads the records behind a key.
    fn load(&mut self, after: Option<&[u8]>) -> Result<(), StoreError> {
        self.size = match self.used * 2 >= self.size {
            true => (self.size * 2).clamp(1, MAX_PAGE),
            false => (self.size / 2).max(1),
        };
        self.used = 0;
        self.page = self.records.scan(&self.kind, after, self.size)?.into();
        self.is_last = self.page.len() < self.size;
        Ok(())
    }
}

/// Cursor that looks up single records of sessions, whose names are in ascending order.
pub(super) struct RecordCursor<'s>(RecordPage<'s>);

impl<'s> RecordCursor<'s> {
    /// Creates a cursor over the records of a kind of which each session has one.
    pub(super) fn new(records: &'s dyn Store, kind: u8) -> Self {
        Self(RecordPage::new(records, kind))
    }

    /// Returns the record of a session, which is not before the one that was looked up last.
    pub(super) fn get(&mut self, id: &SessionId) -> Result<Option<&[u8]>, StoreError> {
        let Self(page) = self;
        let key = record_key::single(page.kind[0], id);
        while page.page.front().is_some_and(|(found, _)| *found < key) {
            page.page.pop_front();
        }
        if page.page.is_empty() && !page.is_last {
            page.load(Some(&before(&key)))?;
        }
        match page.page.front() {
            Some((found, value)) if *found == key => {
                page.used += 1;
                Ok(Some(value))
            }
            _ => Ok(None),
        }
    }
}

/// Returns a key in front of this one of a session, so that no session's key lies between: names have no byte 255.
fn before(key: &[u8]) -> Vec<u8> {
    let mut before = key.to_vec();
    if let Some(last) = before.last_mut() {
        *last = last.saturating_sub(1);
    }
    before.push(u8::MAX);
    before
}

/// Cursor over the journals of all sessions, run by run.
pub(super) struct JournalCursor<'s> {
    page: RecordPage<'s>,
    /// Key behind which to read on.
    after: Option<Vec<u8>>,
}

impl<'s> JournalCursor<'s> {
    /// Creates a cursor in front of the first journal.
    pub(super) fn new(records: &'s dyn Store) -> Self {
        Self { page: RecordPage::new(records, b'J'), after: None }
    }

    /// Returns the session and the run of the next journal. Keys that are of no journal are passed over.
    pub(super) fn next(&mut self) -> Result<Option<(SessionId, u64)>, StoreError> {
        while let Some((key, _)) = self.front()? {
            if let Some(found) = record_key::read_journal(key) {
                return Ok(Some(found));
            }
            self.pop();
        }
        Ok(None)
    }

    /// Returns the next chunk of the journal of a run, as its record has it; `None` behind the last one.
    pub(super) fn next_chunk(&mut self, id: &SessionId, run: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let prefix = record_key::numbered(b'J', id, run);
        match self.front()? {
            Some((key, _)) if key.starts_with(&prefix) => {
                self.page.used += 1;
                Ok(self.pop())
            }
            _ => Ok(None),
        }
    }

    /// Passes over the rest of the journal of a run.
    pub(super) fn skip(&mut self, id: &SessionId, run: u64) {
        let prefix = record_key::numbered(b'J', id, run);
        while self.page.page.front().is_some_and(|(key, _)| key.starts_with(&prefix)) {
            self.pop();
        }
        if self.page.page.is_empty() {
            self.after = Some(record_key::journal(id, run, u64::MAX));
        }
    }

    fn front(&mut self) -> Result<Option<&Record>, StoreError> {
        if self.page.page.is_empty() && !self.page.is_last {
            self.page.load(self.after.as_deref())?;
        }
        Ok(self.page.page.front())
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let (key, value) = self.page.page.pop_front()?;
        self.after = Some(key);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::store::{Batch, MemoryStore};

    /// Store that counts scans and the records that they return.
    #[derive(Default)]
    struct CountingStore {
        records: MemoryStore,
        scans: Mutex<(usize, usize)>,
    }

    impl Store for CountingStore {
        fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
            self.records.get(key)
        }

        fn scan(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, StoreError> {
            let found = self.records.scan(prefix, after, limit)?;
            let mut scans = self.scans.lock().expect("nobody panics");
            *scans = (scans.0 + 1, scans.1 + found.len());
            Ok(found)
        }

        fn commit(&self, batch: Batch) -> Result<(), StoreError> {
            self.records.commit(batch)
        }
    }

    fn name(number: usize) -> SessionId {
        format!("s{number:05}").parse().expect("a name")
    }

    /// Store of so many sessions, with a head each, and journals of two chunks of those that are chosen.
    fn store(sessions: usize, has_journal: impl Fn(usize) -> bool) -> CountingStore {
        let store = CountingStore::default();
        let mut batch = Batch::default();
        for number in 0..sessions {
            batch.put(record_key::single(b'H', &name(number)), number.to_string());
            for chunk in 0..if has_journal(number) { 2 } else { 0 } {
                batch.put(record_key::journal(&name(number), 1, chunk), format!("{number} {chunk}"));
            }
        }
        store.commit(batch).expect("it is written");
        store
    }

    /// Reads all journals and the heads of their sessions, and returns the number of scans and of records.
    fn read(store: &CountingStore, expected: &[usize]) -> (usize, usize) {
        let (mut journals, mut heads) = (JournalCursor::new(store), RecordCursor::new(store, b'H'));
        let mut found = Vec::new();
        while let Some((id, run)) = journals.next().expect("it is read") {
            let head = heads.get(&id).expect("it is read").map(<[u8]>::to_vec);
            assert_eq!(heads.get(&id).expect("it is read").map(<[u8]>::to_vec), head, "it can be asked for again");
            let number: usize =
                String::from_utf8(head.expect("there is one")).expect("text").parse().expect("a number");
            assert_eq!((&id, run), (&name(number), 1));
            if number.is_multiple_of(2) {
                let mut chunks = Vec::new();
                while let Some(chunk) = journals.next_chunk(&id, run).expect("it is read") {
                    chunks.push(String::from_utf8(chunk).expect("text"));
                }
                assert_eq!(chunks, [format!("{number} 0"), format!("{number} 1")]);
            }
            journals.skip(&id, run);
            found.push(number);
        }
        assert_eq!(found, expected);
        *store.scans.lock().expect("nobody panics")
    }

    #[test]
    fn journals_of_most_sessions_are_read_in_large_pages() {
        let store = store(3000, |number| number % 2 == 0);
        let (scans, records) = read(&store, &(0..3000).step_by(2).collect::<Vec<_>>());
        assert!(scans < 60 && records < 7000, "{scans} scans of {records} records");
    }

    #[test]
    fn journals_of_few_sessions_cost_the_others_nothing() {
        let store = store(3000, |number| number % 300 == 1);
        let (scans, records) = read(&store, &(1..3000).step_by(300).collect::<Vec<_>>());
        assert!(scans < 60 && records < 100, "{scans} scans of {records} records");
    }

    #[test]
    fn record_cursor_returns_nothing_for_sessions_without_a_record() {
        let store = store(10, |_| false);
        let mut heads = RecordCursor::new(&store, b'H');
        for (id, has_one) in [("a", false), ("s00003", true), ("s000035", false), ("s00004", true), ("t", false)] {
            assert_eq!(heads.get(&id.parse().expect("a name")).expect("it is read").is_some(), has_one, "{id}");
        }
    }
}
