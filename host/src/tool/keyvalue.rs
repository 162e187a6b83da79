//! `wasi:keyvalue` for tools: buckets that belong to the session, each to one tool.
//!
//! A bucket's name means nothing outside the alias that opened it: no tool sees what another stored.

use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use imbl::OrdMap;
use wasmtime::Result;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable, ResourceTableError};

use super::authority::Authority;
use super::state::ToolState;
use crate::code::{MemoryAccount, MemoryCharge};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/deps/keyvalue",
        world: "imports",
        imports: { default: trappable },
        with: { "wasi:keyvalue/store.bucket": super::Bucket, "wasi:keyvalue/atomics.cas": super::Cas },
        trappable_error_type: { "wasi:keyvalue/store.error" => super::Error },
    });
}

use self::bindings::wasi::keyvalue::{atomics, batch, store};

/// The most bytes of keys and values in one session.
const MAX_BYTES: usize = 64 << 20;

/// The most bytes of one value, and of one key.
const MAX_VALUE: usize = 4 << 20;
const MAX_KEY: usize = 1024;

/// How many keys one page of a listing has.
const PAGE: usize = 1000;

/// What one entry takes besides its key and value, about.
const ENTRY: usize = 64;

/// What is told of a key that no tool can have stored.
fn check_key(key: &str) -> Result<(), Error> {
    if (1..=MAX_KEY).contains(&key.len()) {
        return Ok(());
    }
    Err(Error::Other(format!("a key has 1 to {MAX_KEY} bytes, and this one {}", key.len())))
}

/// The longest name of a bucket.
const MAX_BUCKET: usize = 512;

/// Alias, bucket and key.
pub(crate) type Key = (Arc<str>, Arc<str>, String);

/// What becomes of an entry; none: it goes.
pub(crate) type Changed = (Key, Option<Bytes>);

/// Where the entries of a session on disk are kept.
pub(crate) trait Backing: Send + Sync {
    /// All of them.
    fn load(&self) -> Result<Vec<(Key, Bytes)>, String>;

    /// Makes all changes or none, durably.
    fn keep(&self, changes: &[Changed]) -> Result<(), String>;
}

/// The key-value store of a session. Clones share it. One with a backing is read when it is first used, and a change is
/// durable before the tool is told of it.
#[derive(Clone, Default)]
pub(crate) struct KeyValue(Arc<State>);

#[derive(Default)]
struct State {
    entries: Mutex<Option<Entries>>,
    backing: Option<Arc<dyn Backing>>,
}

#[derive(Clone, Default)]
struct Entries {
    values: OrdMap<Key, Bytes>,
    bytes: usize,
    /// What became of which entry since it was last kept.
    changes: Vec<Changed>,
}

impl KeyValue {
    /// A store whose entries are kept.
    pub(crate) fn kept(backing: Arc<dyn Backing>) -> Self {
        Self(Arc::new(State { entries: Mutex::default(), backing: Some(backing) }))
    }

    /// A store in memory that begins with what this one holds now, and goes its own way.
    pub(crate) fn fork(&self) -> Result<Self, String> {
        let entries = Mutex::new(Some(self.read()?));
        Ok(Self(Arc::new(State { entries, backing: None })))
    }

    /// Others may have changed what is kept: it is read again when it is next used.
    pub(crate) fn forget(&self) {
        if self.0.backing.is_some() {
            *self.lock() = None;
        }
    }

    /// What is in it now.
    fn read(&self) -> Result<Entries, String> {
        Ok(self.loaded(&mut self.lock())?.clone())
    }

    /// Makes all changes or none, one caller at a time.
    fn change<R>(&self, change: impl FnOnce(&mut Entries) -> Result<R, Error>) -> Result<R, Error> {
        let mut entries = self.lock();
        let mut next = self.loaded(&mut entries)?.clone();
        let result = change(&mut next)?;
        let changes = std::mem::take(&mut next.changes);
        if let Some(backing) = &self.0.backing
            && !changes.is_empty()
            && let Err(error) = backing.keep(&changes)
        {
            // Whether it was kept is not known: it is read again.
            *entries = None;
            return Err(error.into());
        }
        *entries = Some(next);
        Ok(result)
    }

    fn loaded<'e>(&self, entries: &'e mut Option<Entries>) -> Result<&'e mut Entries, String> {
        if entries.is_none() {
            let mut loaded = Entries::default();
            for (key, value) in self.0.backing.as_ref().map_or_else(|| Ok(Vec::new()), |backing| backing.load())? {
                loaded.bytes += size(&key.2, &value);
                loaded.values.insert(key, value);
            }
            *entries = Some(loaded);
        }
        Ok(entries.as_mut().expect("it was just filled"))
    }

    /// Every change is whole, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Option<Entries>> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an entry takes of its session's store; none if no tool can have stored it.
pub(crate) fn keyvalue_size((_, bucket, key): &Key, value: usize) -> Option<usize> {
    let fits = (1..=MAX_KEY).contains(&key.len()) && bucket.len() <= MAX_BUCKET && value <= MAX_VALUE;
    fits.then(|| key.len() + value + ENTRY)
}

impl Entries {
    fn set(&mut self, bucket: &Bucket, key: String, value: Vec<u8>) -> Result<(), Error> {
        check_key(&key)?;
        if value.len() > MAX_VALUE {
            return Err(Error::Other(format!("a value has at most {MAX_VALUE} bytes, and this one {}", value.len())));
        }
        let key = bucket.key(key);
        let before = self.values.get(&key).map_or(0, |value| size(&key.2, value));
        let after = self.bytes - before + size(&key.2, &value);
        if after > MAX_BYTES {
            return Err(Error::Other(format!("the session's key-value store is full: at most {MAX_BYTES} bytes")));
        }
        self.bytes = after;
        let value = Bytes::from(value);
        self.changes.push((key.clone(), Some(value.clone())));
        self.values.insert(key, value);
        Ok(())
    }

    fn delete(&mut self, bucket: &Bucket, key: String) {
        let key = bucket.key(key);
        if let Some(value) = self.values.remove(&key) {
            self.bytes -= size(&key.2, &value);
            self.changes.push((key, None));
        }
    }

    fn get(&self, bucket: &Bucket, key: String) -> Option<&Bytes> {
        self.values.get(&bucket.key(key))
    }
}

fn size(key: &str, value: &[u8]) -> usize {
    key.len() + value.len() + ENTRY
}

/// A value as it was, to be replaced only if it still is.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Cas {
    bucket: Bucket,
    key: String,
    current: Option<Bytes>,
    /// What key and value take of the session's memory: the store may have other values by now.
    charge: MemoryCharge,
}

impl Cas {
    fn new(memory: &MemoryAccount, bucket: Bucket, key: String) -> Result<Self, Error> {
        let mut cas = Self { bucket, key, current: None, charge: memory.open() };
        cas.see(None)?;
        Ok(cas)
    }

    /// Takes note of what the value is now.
    fn see(&mut self, current: Option<Bytes>) -> Result<(), Error> {
        let bytes = size(&self.key, current.as_deref().unwrap_or_default());
        if !self.charge.resize(bytes as u64) {
            return Err(no_memory(bytes));
        }
        self.current = current;
        Ok(())
    }
}

/// What is told of values that there is no memory for.
fn no_memory(bytes: usize) -> Error {
    Error::Other(format!("no memory of the session is left for {bytes} bytes: raise `memory` in `limits`"))
}

/// An open bucket.
#[derive(Clone)]
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Bucket {
    alias: Arc<str>,
    name: Arc<str>,
}

impl Bucket {
    fn key(&self, key: String) -> Key {
        (Arc::clone(&self.alias), Arc::clone(&self.name), key)
    }
}

/// What a tool is told, or why it traps.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub enum Error {
    /// It may not open the bucket.
    AccessDenied,
    /// Anything else, in words.
    Other(String),
    /// The tool used a resource that it does not have.
    Trap(wasmtime::Error),
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::Other(message)
    }
}

impl From<ResourceTableError> for Error {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

/// The store as one call sees it.
pub(super) struct View<'a> {
    pub(super) authority: &'a Authority,
    pub(super) store: &'a KeyValue,
    pub(super) table: &'a mut ResourceTable,
    pub(super) memory: &'a MemoryAccount,
}

impl store::Host for View<'_> {
    fn open(&mut self, name: String) -> Result<Resource<Bucket>, Error> {
        if !self.authority.opens(&name) {
            return Err(Error::AccessDenied);
        }
        if name.len() > MAX_BUCKET {
            return Err(Error::Other(format!("a bucket's name has at most {MAX_BUCKET} bytes")));
        }
        let bucket = Bucket { alias: Arc::clone(self.authority.alias()), name: name.into() };
        Ok(self.table.push(bucket)?)
    }

    fn convert_error(&mut self, error: Error) -> Result<store::Error> {
        match error {
            Error::AccessDenied => Ok(store::Error::AccessDenied),
            Error::Other(message) => Ok(store::Error::Other(message)),
            Error::Trap(error) => Err(error),
        }
    }
}

impl store::HostBucket for View<'_> {
    fn get(&mut self, bucket: Resource<Bucket>, key: String) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.store.read()?.get(self.table.get(&bucket)?, key).map(|value| value.to_vec()))
    }

    fn set(&mut self, bucket: Resource<Bucket>, key: String, value: Vec<u8>) -> Result<(), Error> {
        let bucket = self.table.get(&bucket)?;
        self.store.change(|entries| entries.set(bucket, key, value))
    }

    fn delete(&mut self, bucket: Resource<Bucket>, key: String) -> Result<(), Error> {
        let bucket = self.table.get(&bucket)?;
        self.store.change(|entries| {
            entries.delete(bucket, key);
            Ok(())
        })
    }

    fn exists(&mut self, bucket: Resource<Bucket>, key: String) -> Result<bool, Error> {
        Ok(self.store.read()?.get(self.table.get(&bucket)?, key).is_some())
    }

    fn list_keys(&mut self, bucket: Resource<Bucket>, cursor: Option<String>) -> Result<store::KeyResponse, Error> {
        let bucket = self.table.get(&bucket)?;
        let entries = self.store.read()?;
        // A cursor is the last key of the page before. No key is empty, so the first page is after the empty one.
        let after = bucket.key(cursor.unwrap_or_default());
        let own = entries.values.range((Bound::Excluded(after), Bound::Unbounded));
        let own = own.take_while(|((alias, name, _), _)| *alias == bucket.alias && *name == bucket.name);
        let mut keys: Vec<String> = own.take(PAGE + 1).map(|((_, _, key), _)| key.clone()).collect();
        let more = keys.len() > PAGE;
        keys.truncate(PAGE);
        let cursor = keys.last().filter(|_| more).cloned();
        Ok(store::KeyResponse { keys, cursor })
    }

    fn drop(&mut self, bucket: Resource<Bucket>) -> Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

impl atomics::Host for View<'_> {
    /// A counter is a decimal number as text, so that whoever gets it can read it.
    fn increment(&mut self, bucket: Resource<Bucket>, key: String, delta: i64) -> Result<i64, Error> {
        let bucket = self.table.get(&bucket)?;
        self.store.change(|entries| {
            let now = match entries.get(bucket, key.clone()) {
                None => 0,
                Some(value) => std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse::<i64>().ok())
                    .ok_or_else(|| format!("the value of `{key}` is no count"))?,
            };
            let sum = now.checked_add(delta).ok_or_else(|| format!("the count of `{key}` is at its end"))?;
            entries.set(bucket, key, sum.to_string().into_bytes())?;
            Ok(sum)
        })
    }

    /// A swap that failed gives the handle back, with what is there now.
    fn swap(&mut self, cas: Resource<Cas>, value: Vec<u8>) -> Result<Result<(), atomics::CasError>> {
        let mut cas = self.table.delete(cas)?;
        let swapped = self.store.change(|entries| {
            let now = entries.get(&cas.bucket, cas.key.clone()).cloned();
            if now != cas.current {
                cas.see(now)?;
                return Ok(false);
            }
            entries.set(&cas.bucket, cas.key.clone(), value)?;
            Ok(true)
        });
        match swapped {
            Ok(true) => Ok(Ok(())),
            Ok(false) => Ok(Err(atomics::CasError::CasFailed(self.table.push(cas)?))),
            Err(error) => Ok(Err(atomics::CasError::StoreError(store::Host::convert_error(self, error)?))),
        }
    }
}

impl atomics::HostCas for View<'_> {
    fn new(&mut self, bucket: Resource<Bucket>, key: String) -> Result<Resource<Cas>, Error> {
        check_key(&key)?;
        let bucket = self.table.get(&bucket)?.clone();
        let current = self.store.read()?.get(&bucket, key.clone()).cloned();
        let mut cas = Cas::new(self.memory, bucket, key)?;
        cas.see(current)?;
        Ok(self.table.push(cas)?)
    }

    fn current(&mut self, cas: Resource<Cas>) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.table.get(&cas)?.current.as_ref().map(|value| value.to_vec()))
    }

    fn drop(&mut self, cas: Resource<Cas>) -> Result<()> {
        self.table.delete(cas)?;
        Ok(())
    }
}

impl batch::Host for View<'_> {
    fn get_many(
        &mut self,
        bucket: Resource<Bucket>,
        keys: Vec<String>,
    ) -> Result<Vec<Option<(String, Vec<u8>)>>, Error> {
        let bucket = self.table.get(&bucket)?;
        let entries = self.store.read()?;
        // One key may be named a thousand times: each time its value is copied.
        let found = keys.into_iter().map(|key| entries.get(bucket, key.clone()).map(|value| (key, value)));
        let found: Vec<Option<(String, &Bytes)>> = found.collect();
        let bytes = found.iter().flatten().map(|(key, value)| size(key, value)).fold(0, usize::saturating_add);
        let Some(_copies) = self.memory.charge(bytes as u64) else { return Err(no_memory(bytes)) };
        Ok(found.into_iter().map(|entry| entry.map(|(key, value)| (key, value.to_vec()))).collect())
    }

    /// All of them or none.
    fn set_many(&mut self, bucket: Resource<Bucket>, values: Vec<(String, Vec<u8>)>) -> Result<(), Error> {
        let bucket = self.table.get(&bucket)?;
        self.store.change(|entries| values.into_iter().try_for_each(|(key, value)| entries.set(bucket, key, value)))
    }

    fn delete_many(&mut self, bucket: Resource<Bucket>, keys: Vec<String>) -> Result<(), Error> {
        let bucket = self.table.get(&bucket)?;
        self.store.change(|entries| {
            keys.into_iter().for_each(|key| entries.delete(bucket, key));
            Ok(())
        })
    }
}

struct Whole;

impl HasData for Whole {
    type Data<'a> = View<'a>;
}

/// Offers it to tools.
pub(super) fn add_to_linker(linker: &mut Linker<ToolState>) -> Result<()> {
    store::add_to_linker::<ToolState, Whole>(linker, ToolState::keyvalue)?;
    atomics::add_to_linker::<ToolState, Whole>(linker, ToolState::keyvalue)?;
    batch::add_to_linker::<ToolState, Whole>(linker, ToolState::keyvalue)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(alias: &str, name: &str) -> Bucket {
        Bucket { alias: alias.into(), name: name.into() }
    }

    fn set(store: &KeyValue, bucket: &Bucket, key: &str, value: &[u8]) -> bool {
        store.change(|entries| entries.set(bucket, key.to_owned(), value.to_vec())).is_ok()
    }

    fn get(store: &KeyValue, bucket: &Bucket, key: &str) -> Option<Bytes> {
        store.read().expect("in memory").get(bucket, key.to_owned()).cloned()
    }

    fn delete(store: &KeyValue, bucket: &Bucket, key: &str) {
        let deleted = store.change(|entries| {
            entries.delete(bucket, key.to_owned());
            Ok(())
        });
        assert!(deleted.is_ok());
    }

    #[test]
    fn buckets_know_nothing_of_each_other_and_a_fork_goes_its_own_way() {
        let store = KeyValue::default();
        let [one, two] = [bucket("a", "x"), bucket("b", "x")];
        assert!(set(&store, &one, "k", b"1"));
        assert!(get(&store, &two, "k").is_none());
        let fork = store.fork().expect("in memory");
        delete(&fork, &one, "k");
        assert!(get(&store, &one, "k").is_some());
        let bytes = |store: &KeyValue| store.read().expect("in memory").bytes;
        assert_eq!((bytes(&fork), bytes(&store)), (0, ENTRY + 2));
    }

    #[test]
    fn the_store_has_an_end() {
        let store = KeyValue::default();
        let one = bucket("a", "x");
        assert!(!set(&store, &one, "", &[]));
        assert!(!set(&store, &one, &"k".repeat(MAX_KEY + 1), &[]));
        assert!(!set(&store, &one, "k", &vec![0; MAX_VALUE + 1]));
        let full = (0..).take_while(|n| set(&store, &one, &format!("{n:04}"), &vec![0; MAX_VALUE])).count();
        assert_eq!(full, 15);
        assert!(set(&store, &one, "0000", &vec![1; MAX_VALUE]), "what replaces takes the other's place");
    }

    /// A value that the host holds for a tool counts as the tool's, as often as it is held.
    #[test]
    fn copies_of_values_take_of_the_sessions_memory() {
        let (store, memory) = (KeyValue::default(), MemoryAccount::new(16 << 20));
        let (one, authority) = (bucket("a", "x"), Authority::none("a".into()));
        assert!(set(&store, &one, "k", &vec![0; MAX_VALUE]));
        let mut table = ResourceTable::new();
        let mut handle = || table.push(one.clone()).expect("there is room");
        let (first, second, third, fourth) = (handle(), handle(), handle(), handle());
        let mut view = View { authority: &authority, store: &store, table: &mut table, memory: &memory };
        let many = |count: usize| vec!["k".to_owned(); count];
        assert_eq!(batch::Host::get_many(&mut view, first, many(3)).ok().map(|found| found.len()), Some(3));
        assert!(
            matches!(batch::Host::get_many(&mut view, second, many(5)), Err(Error::Other(told)) if told.contains("`memory`"))
        );
        assert_eq!(memory.taken(), 0, "copies are the tool's once it has them");
        // A value that was replaced is kept by whoever has seen it.
        let cas = atomics::HostCas::new(&mut view, third, "k".to_owned()).ok().expect("there is memory");
        assert!(memory.taken() >= MAX_VALUE as u64);
        assert!(atomics::HostCas::drop(&mut view, cas).is_ok());
        assert_eq!(memory.taken(), 0);
        assert!(matches!(atomics::HostCas::new(&mut view, fourth, "k".repeat(MAX_KEY + 1)), Err(Error::Other(_))));
    }

    /// Keeps what it is told, unless it is broken.
    #[derive(Default)]
    struct Disk {
        kept: Mutex<Vec<Changed>>,
        broken: std::sync::atomic::AtomicBool,
    }

    impl Backing for Disk {
        fn load(&self) -> Result<Vec<(Key, Bytes)>, String> {
            let kept = self.kept.lock().expect("no panic");
            Ok(kept.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect())
        }

        fn keep(&self, changes: &[Changed]) -> Result<(), String> {
            if self.broken.load(std::sync::atomic::Ordering::Relaxed) {
                return Err("the disk is full".to_owned());
            }
            self.kept.lock().expect("no panic").extend_from_slice(changes);
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_kept_is_not_changed() {
        let disk = Arc::new(Disk::default());
        let store = KeyValue::kept(Arc::clone(&disk) as Arc<dyn Backing>);
        let one = bucket("a", "x");
        assert!(set(&store, &one, "k", b"1"));
        disk.broken.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(!set(&store, &one, "k", b"2"));
        assert_eq!(get(&store, &one, "k").as_deref(), Some(b"1".as_slice()));
        store.forget();
        assert_eq!(get(&store, &one, "k").as_deref(), Some(b"1".as_slice()), "it is read again");
    }
}
