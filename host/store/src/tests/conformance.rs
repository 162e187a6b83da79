//! Conformance tests, run for every store.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::group_commit::{GroupCommitStore, StorageEngine};
use crate::record::{Batch, MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES, Owner, Record, Store, StoreError};
use crate::store_dir::{Backend, StoreDirectory};
use crate::{MemoryStore, OpenStore, open};

/// A store that can be closed and opened again.
pub(super) trait Fixture {
    fn new() -> Self;
    fn store(&self) -> Arc<dyn Store>;
    fn reopen(&mut self);
}

struct MemoryFixture(Arc<MemoryStore>);

impl Fixture for MemoryFixture {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0) as Arc<dyn Store>
    }

    /// A store in memory cannot be reopened.
    fn reopen(&mut self) {}
}

/// A store on a storage engine, in a directory of its own.
struct EngineFixture<E: StorageEngine> {
    store: Option<Arc<GroupCommitStore<E>>>,
    dir: tempfile::TempDir,
}

impl<E: StorageEngine> Fixture for EngineFixture<E> {
    fn new() -> Self {
        let mut fixture = Self { store: None, dir: tempfile::tempdir().expect("a directory") };
        fixture.reopen();
        fixture
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone().expect("it is open")
    }

    fn reopen(&mut self) {
        self.store = None;
        let directory = StoreDirectory::new(self.dir.path(), Backend::Sled);
        self.store = Some(Arc::new(GroupCommitStore::open(directory).expect("it opens")));
    }
}

/// A store opened while a leader has it, so that requests go over the socket.
#[cfg(unix)]
struct FollowerFixture {
    /// The follower, then the leader; they are dropped in this order.
    open: Option<(Arc<OpenStore>, OpenStore)>,
    dir: tempfile::TempDir,
}

#[cfg(unix)]
impl Fixture for FollowerFixture {
    fn new() -> Self {
        let mut fixture = Self { open: None, dir: tempfile::tempdir().expect("a directory") };
        fixture.reopen();
        fixture
    }

    fn store(&self) -> Arc<dyn Store> {
        let (follower, _) = self.open.as_ref().expect("it is open");
        assert!(!follower.leads());
        Arc::clone(follower) as Arc<dyn Store>
    }

    fn reopen(&mut self) {
        self.open = None;
        let open = || open(self.dir.path(), Backend::Sled).expect("it opens");
        let leader = open();
        assert!(leader.leads());
        self.open = Some((Arc::new(open()), leader));
    }
}

fn put(pairs: &[(&[u8], &[u8])]) -> Batch {
    let mut batch = Batch::default();
    for (key, value) in pairs {
        batch.put(*key, *value);
    }
    batch
}

fn keys(records: &[Record]) -> Vec<&[u8]> {
    records.iter().map(|(key, _)| key.as_slice()).collect()
}

fn scan(store: &dyn Store, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Vec<Record> {
    store.scan(prefix, after, limit).expect("it scans")
}

fn record_put_is_read_back(fixture: &mut impl Fixture) {
    let store = fixture.store();
    assert_eq!(store.get(b"a").expect("it reads"), None);
    store.commit(put(&[(b"a", b"1"), (b"b", b""), (b"a", b"2")])).expect("it commits");
    assert_eq!(store.get(b"a").expect("it reads").as_deref(), Some(&b"2"[..]), "of two changes the later");
    assert_eq!(store.get(b"b").expect("it reads").as_deref(), Some(&b""[..]), "empty is not absent");
    let mut batch = Batch::default();
    batch.remove("a");
    batch.remove("never there");
    store.commit(batch).expect("it commits");
    assert_eq!(store.get(b"a").expect("it reads"), None);
}

fn scan_returns_records_in_order(fixture: &mut impl Fixture) {
    let store = fixture.store();
    let all: [&[u8]; 7] = [b"a", b"b", b"b\0", b"ba", b"b\xff", b"b\xff\xff", b"c"];
    store.commit(put(&all.map(|key| (key, key)))).expect("it commits");
    let store = &*store;
    assert_eq!(keys(&scan(store, b"", None, usize::MAX)), all, "and nothing of the store's own");
    assert_eq!(keys(&scan(store, b"b", None, 100)), all[1..6]);
    assert_eq!(keys(&scan(store, b"b", None, 2)), all[1..3]);
    assert_eq!(keys(&scan(store, b"b", Some(b"b"), 100)), all[2..6], "behind, not at");
    assert_eq!(keys(&scan(store, b"b", Some(b"b\xfe"), 100)), all[4..6], "behind what is not there");
    assert_eq!(keys(&scan(store, b"b", Some(b"a"), 100)), all[1..6], "from before the prefix");
    assert_eq!(keys(&scan(store, b"b", Some(b"c"), 100)), Vec::<&[u8]>::new(), "from behind the prefix");
    assert_eq!(keys(&scan(store, b"b\xff", None, 100)), all[4..6], "a prefix that ends with the last byte");
    assert_eq!(keys(&scan(store, b"\xff\xff", None, 100)), Vec::<&[u8]>::new());
    assert_eq!(keys(&scan(store, b"", Some(b"ba"), 2)), all[4..6]);
    assert_eq!(scan(store, b"b", None, 0), []);
}

fn batch_is_applied_whole_or_not_at_all(fixture: &mut impl Fixture) {
    let store = fixture.store();
    store.commit(put(&[(b"a", b"1")])).expect("it commits");
    for (expected, holds) in [(Some(b"1".to_vec()), true), (Some(b"2".to_vec()), false), (None, false)] {
        let mut batch = put(&[(b"b", b"new"), (b"c", b"new")]);
        batch.expect("nothing", None);
        batch.expect("a", expected);
        let outcome = store.commit(batch);
        assert_eq!(store.get(b"b").expect("it reads").is_some(), holds);
        assert_eq!(store.get(b"c").expect("it reads").is_some(), holds);
        match outcome {
            Err(StoreError::Conflict { key }) => assert!(!holds && key == b"a"),
            outcome => assert!(holds && outcome.is_ok(), "{outcome:?}"),
        }
        let mut batch = Batch::default();
        batch.remove("b");
        batch.remove("c");
        store.commit(batch).expect("it commits");
    }
}

fn commit_of_a_replaced_owner_is_refused(fixture: &mut impl Fixture) {
    let store = fixture.store();
    let owner = |epoch: u64| Owner { key: b"epoch".to_vec(), epoch };
    let write = |epoch| {
        let mut batch = Batch::of(owner(epoch));
        batch.put("a", epoch.to_string());
        store.commit(batch)
    };
    assert!(matches!(write(0), Err(StoreError::Stale { held: 0, found: None })), "nobody owns yet");
    store.commit(put(&[(b"epoch", &1_u64.to_be_bytes())])).expect("it commits");
    write(1).expect("the owner writes");
    // Another owner takes over in the same batch as its first write.
    let mut batch = Batch::of(owner(1));
    batch.put("epoch", 2_u64.to_be_bytes());
    batch.put("a", "taken");
    store.commit(batch).expect("it takes over");
    assert!(matches!(write(1), Err(StoreError::Stale { held: 1, found: Some(2) })));
    assert_eq!(store.get(b"a").expect("it reads").as_deref(), Some(&b"taken"[..]));
    write(2).expect("the new owner writes");
    store.commit(put(&[(b"epoch", b"no number")])).expect("it commits");
    assert!(matches!(write(2), Err(StoreError::Stale { held: 2, found: None })));
}

fn record_that_is_too_large_is_refused(fixture: &mut impl Fixture) {
    let store = fixture.store();
    let (key, value) = (vec![b'k'; MAX_KEY_BYTES], vec![1; MAX_VALUE_BYTES]);
    store.commit(put(&[(&key, &value)])).expect("the largest is taken");
    assert_eq!(store.get(&key).expect("it reads"), Some(value));
    let large = [vec![b'k'; MAX_KEY_BYTES + 1], Vec::new()];
    for key in large {
        assert!(matches!(store.commit(put(&[(b"a", b"1"), (&key, b"")])), Err(StoreError::TooLarge { .. })));
    }
    let value = vec![0; MAX_VALUE_BYTES + 1];
    assert!(matches!(store.commit(put(&[(b"a", b"1"), (b"b", &value)])), Err(StoreError::TooLarge { .. })));
    assert!(matches!(store.commit(put(&[(b"a", b"1"), (b"\0own", b"")])), Err(StoreError::Reserved)));
    assert_eq!(store.get(b"a").expect("it reads"), None, "nothing of a refused batch");
}

fn batch_of_maximum_size_is_applied_whole(fixture: &mut impl Fixture) {
    let value = [7; MAX_VALUE_BYTES];
    let entries = MAX_BATCH_BYTES / (MAX_VALUE_BYTES + 32);
    let batch = |entries: usize| {
        let mut batch = Batch::default();
        for entry in 0..entries {
            batch.put(format!("large/{entry:08}"), value);
        }
        batch
    };
    fixture.store().commit(batch(entries)).expect("it commits");
    assert!(matches!(fixture.store().commit(batch(entries + 200)), Err(StoreError::TooMuch { .. })));
    fixture.reopen();
    let store = fixture.store();
    let found = scan(&*store, b"large/", None, usize::MAX);
    assert_eq!(found.len(), entries);
    assert!(found.iter().all(|(_, found)| found == &value));
}

fn concurrent_updates_are_not_lost(fixture: &mut impl Fixture) {
    let (threads, each) = (8, 25_u64);
    let store = fixture.store();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let store = &store;
            scope.spawn(move || {
                for at in 0..each {
                    store.commit(put(&[(format!("t/{thread}/{at:03}").as_bytes(), b"")])).expect("it commits");
                    count_up(&**store);
                }
            });
        }
    });
    drop(store);
    fixture.reopen();
    let store = fixture.store();
    let counted = store.get(b"count").expect("it reads").expect("it was counted");
    assert_eq!(u64::from_be_bytes(counted.try_into().expect("a number")), threads * each);
    assert_eq!(scan(&*store, b"t/", None, usize::MAX).len() as u64, threads * each);
}

fn count_up(store: &dyn Store) {
    loop {
        let found = store.get(b"count").expect("it reads");
        let next = found.as_deref().map_or(0, |bytes| u64::from_be_bytes(bytes.try_into().expect("a number"))) + 1;
        let mut batch = put(&[(b"count", &next.to_be_bytes())]);
        batch.expect("count", found);
        match store.commit(batch) {
            Err(StoreError::Conflict { .. }) => {}
            outcome => return outcome.expect("it commits"),
        }
    }
}

fn compaction_keeps_all_records(fixture: &mut impl Fixture) {
    let store = fixture.store();
    for round in 0..20_u8 {
        let mut batch = Batch::default();
        for key in 0..50 {
            batch.put(format!("k/{key:03}"), vec![round; 1000]);
        }
        store.commit(batch).expect("it commits");
    }
    let before = scan(&*store, b"", None, usize::MAX);
    store.compact().expect("it compacts");
    assert_eq!(scan(&*store, b"", None, usize::MAX), before);
    store.commit(put(&[(b"z", b"after")])).expect("it commits");
    drop(store);
    fixture.reopen();
    let after = scan(&*fixture.store(), b"", None, usize::MAX);
    assert_eq!(after[..after.len() - 1], before);
    assert_eq!(after.last(), Some(&(b"z".to_vec(), b"after".to_vec())));
}

/// A step of the property test below.
#[derive(Clone, Debug)]
enum StoreStep {
    /// Changes, and whether an expectation beside them holds, if there is one.
    Commit(Vec<(Vec<u8>, Option<Vec<u8>>)>, Option<bool>),
    Scan(Vec<u8>, Option<Vec<u8>>, usize),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<StoreStep>> {
    // Few distinct bytes, including extremes, so that keys collide.
    let byte = || prop_oneof![Just(1_u8), Just(b'a'), Just(b'b'), Just(0xfe), Just(0xff)];
    let key = move || proptest::collection::vec(byte(), 1..4);
    let value = proptest::collection::vec(any::<u8>(), 0..40);
    let change = (key(), proptest::option::weighted(0.7, value));
    let step = prop_oneof![
        8 => (proptest::collection::vec(change, 0..6), any::<Option<bool>>()).prop_map(|(c, e)| StoreStep::Commit(c, e)),
        4 => (proptest::collection::vec(byte(), 0..3), proptest::option::of(key()), 0_usize..8)
            .prop_map(|(prefix, after, limit)| StoreStep::Scan(prefix, after, limit)),
        1 => Just(StoreStep::Reopen),
    ];
    proptest::collection::vec(step, 1..40)
}

fn store_matches_a_map<F: Fixture>() {
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in steps())| {
        let (mut fixture, mut model) = (F::new(), BTreeMap::new());
        for step in steps {
            does_as_the_model(&mut fixture, &mut model, step);
        }
        fixture.reopen();
        let all: Vec<Record> = model.into_iter().collect();
        prop_assert_eq!(scan(&*fixture.store(), b"", None, usize::MAX), all);
    });
}

fn does_as_the_model(fixture: &mut impl Fixture, model: &mut BTreeMap<Vec<u8>, Vec<u8>>, step: StoreStep) {
    match step {
        StoreStep::Reopen => fixture.reopen(),
        StoreStep::Scan(prefix, after, limit) => {
            let expected = model.iter().filter(|(key, _)| key.starts_with(&prefix));
            let expected = expected.filter(|(key, _)| after.as_ref().is_none_or(|after| *key > after)).take(limit);
            let expected: Vec<Record> = expected.map(|(key, value)| (key.clone(), value.clone())).collect();
            assert_eq!(scan(&*fixture.store(), &prefix, after.as_deref(), limit), expected);
        }
        StoreStep::Commit(changes, expected) => {
            let mut batch = Batch::default();
            if let (Some(holds), Some((key, _))) = (expected, changes.first()) {
                let found = model.get(key).cloned();
                batch.expect(
                    key.clone(),
                    if holds { found } else { Some(b"something else, and longer than any".repeat(2)) },
                );
            }
            for (key, value) in &changes {
                match value {
                    Some(value) => batch.put(key.clone(), value.clone()),
                    None => batch.remove(key.clone()),
                }
            }
            let refused = expected == Some(false) && !changes.is_empty();
            let outcome = fixture.store().commit(batch);
            assert_eq!(matches!(outcome, Err(StoreError::Conflict { .. })), refused, "{outcome:?}");
            assert_eq!(outcome.is_ok(), !refused);
            for (key, value) in changes.into_iter().filter(|_| !refused) {
                match value {
                    Some(value) => model.insert(key, value),
                    None => model.remove(&key),
                };
            }
        }
    }
}

macro_rules! conforms {
    ($name:ident, $fixture:ty) => {
        mod $name {
            use super::Fixture;

            conforms! { $fixture: record_put_is_read_back scan_returns_records_in_order
            batch_is_applied_whole_or_not_at_all commit_of_a_replaced_owner_is_refused
            record_that_is_too_large_is_refused batch_of_maximum_size_is_applied_whole
            concurrent_updates_are_not_lost compaction_keeps_all_records }

            #[test]
            fn store_matches_a_map() {
                super::store_matches_a_map::<$fixture>();
            }
        }
    };
    ($fixture:ty: $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                super::$test(&mut <$fixture>::new());
            }
        )*
    };
}

conforms!(memory, super::MemoryFixture);
#[cfg(unix)]
conforms!(follower, super::FollowerFixture);
conforms!(on_sled, super::EngineFixture<crate::sled::SledEngine>);
#[cfg(feature = "redb")]
conforms!(on_redb, super::EngineFixture<crate::redb::RedbEngine>);
