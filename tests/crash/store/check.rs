//! What writers write, and what must be there after they were killed.
//!
//! A commit of a writer's thread, numbered from 1, in one batch: two records with its number, the number as the thread's
//! head, one more in the total of all, and the two records of a former commit removed. So:
//! - a head is what was acknowledged, or one more: the commit that was under way;
//! - the records of the last commits up to the head are there, both of each, as they were written, and no other;
//! - the total is the sum of the heads: no commit was made twice, none by halves.

use std::collections::BTreeMap;

use tollhouse::store::{Batch, Store};

/// Number of commits that leave their records.
pub(super) const KEPT: u64 = 40;

/// Thread of a writer: the numbers of both.
pub(super) type Thread = (u32, u32);

/// The last commit of each thread that it was told is made, or that a check has found made.
#[derive(Default)]
pub(super) struct Acknowledged(pub(super) BTreeMap<Thread, u64>);

impl Acknowledged {
    pub(super) fn commits(&self) -> u64 {
        self.0.values().sum()
    }
}

pub(super) fn head((writer, thread): Thread) -> Vec<u8> {
    format!("head/{writer}/{thread}").into_bytes()
}

fn thread_of(head: &[u8]) -> Option<Thread> {
    let mut numbers = std::str::from_utf8(head).ok()?.strip_prefix("head/")?.split('/').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn record((writer, thread): Thread, number: u64, half: char) -> Vec<u8> {
    format!("r/{writer}/{thread}/{number:010}/{half}").into_bytes()
}

/// The value of a record: its length and bytes differ from commit to commit, up to the largest.
fn value(thread: Thread, number: u64, half: char) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(thread.0 << 8 | thread.1) ^ u64::from(half);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let length = match next() % 4 {
        0 => 4096,
        1 => next() % 4096,
        _ => next() % 200,
    };
    (0..length).map(|_| next().to_le_bytes()[0]).collect()
}

pub(super) fn number(bytes: Option<&[u8]>) -> u64 {
    bytes.map_or(0, |bytes| u64::from_be_bytes(bytes.try_into().expect("a number")))
}

/// The commit of a thread with this number, when the total is this.
pub(super) fn commit(thread: Thread, number: u64, total: Option<Vec<u8>>) -> Batch {
    let mut batch = Batch::default();
    for half in ['a', 'b'] {
        batch.put(record(thread, number, half), value(thread, number, half));
        if number > KEPT {
            batch.remove(record(thread, number - KEPT, half));
        }
    }
    batch.put(head(thread), number.to_be_bytes());
    batch.put("total", (self::number(total.as_deref()) + 1).to_be_bytes());
    batch.expect("total", total);
    batch
}

/// Says what is missing, or too much.
pub(super) fn check(store: &dyn Store, acknowledged: &mut Acknowledged) -> Result<(), String> {
    let read = |prefix: &str| store.scan(prefix.as_bytes(), None, usize::MAX).map_err(|error| error.to_string());
    let mut heads = BTreeMap::new();
    for (key, value) in read("head/")? {
        heads.insert(thread_of(&key).ok_or("a head that nobody wrote")?, number(Some(&value)));
    }
    for thread in acknowledged.0.keys().chain(heads.keys()) {
        let last = acknowledged.0.get(thread).copied().unwrap_or(0);
        let found = heads.get(thread).copied().unwrap_or(0);
        if found < last || found > last + 1 {
            return Err(format!("{thread:?}: commit {last} was acknowledged, and {found} is the last that is there"));
        }
    }
    let total = number(store.get(b"total").map_err(|error| error.to_string())?.as_deref());
    let sum = heads.values().sum::<u64>();
    if total != sum {
        return Err(format!("the total is {total}, and {sum} commits are there"));
    }
    let found: BTreeMap<Vec<u8>, Vec<u8>> = read("r/")?.into_iter().collect();
    compare(&found, &expected(&heads))?;
    acknowledged.0 = heads;
    Ok(())
}

/// The records that are there if these are the last commits.
fn expected(heads: &BTreeMap<Thread, u64>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut records = BTreeMap::new();
    for (thread, last) in heads {
        for number in last.saturating_sub(KEPT) + 1..=*last {
            for half in ['a', 'b'] {
                records.insert(record(*thread, number, half), value(*thread, number, half));
            }
        }
    }
    records
}

fn compare(found: &BTreeMap<Vec<u8>, Vec<u8>>, expected: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<(), String> {
    if let Some((key, _)) = expected.iter().find(|(key, value)| found.get(*key) != Some(*value)) {
        return Err(format!("`{}` is missing, or not as it was written", key.escape_ascii()));
    }
    match found.keys().find(|key| !expected.contains_key(*key)) {
        Some(key) => Err(format!("`{}` is there, and should not be", key.escape_ascii())),
        None => Ok(()),
    }
}
