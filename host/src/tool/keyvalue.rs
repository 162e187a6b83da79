//! `wasi:keyvalue` for tools: buckets that belong to the session, each to one tool.
//!
//! The name of a bucket is local to the alias that opened it: no tool sees the data of another.

use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use imbl::OrdMap;
use wasmtime::Result;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable, ResourceTableError};

use super::authority::Authority;
use super::tool_state::ToolState;
use crate::code::{MemoryAccount, MemoryCharge};

mod bindings {
    wasmtime::component::bindgen!({
        path: "wit/deps/keyvalue",
        world: "imports",
        imports: { default: trappable },
        with: { "wasi:keyvalue/store.bucket": super::Bucket, "wasi:keyvalue/atomics.cas": super::Cas },
        trappable_error_type: { "wasi:keyvalue/store.error" => super::Error },
    });
}

use self::bindings::wasi::keyvalue::{atomics, batch, store};

/// Most bytes of keys and values in one session.
const MAX_BYTES: usize = 64 << 20;

/// Most bytes of one value, and of one key.
const MAX_VALUE: usize = 4 << 20;
const MAX_KEY: usize = 1024;

/// Number of keys on one page of a listing.
const PAGE: usize = 1000;

/// Approximate bytes of an entry besides its key and value.
const ENTRY: usize = 64;

/// Rejects a key that no tool can have stored.
fn check_key(key: &str) -> Result<(), Error> {
    if (1..=MAX_KEY).contains(&key.len()) {
        return Ok(());
    }
    Err(Error::Other(format!("a key has 1 to {MAX_KEY} bytes, and this one {}", key.len())))
}

/// Longest name of a bucket.
const MAX_BUCKET: usize = 512;

/// Alias, bucket and key.
pub(crate) type EntryKey = (Arc<str>, Arc<str>, String);

/// Change of an entry: its new value, or `None` if it is deleted.
pub(crate) type EntryChange = (EntryKey, Option<Bytes>);

/// Persistent storage of the entries of a session on disk.
pub(crate) trait KeyValueBacking: Send + Sync {
    /// Loads all entries of the session.
    fn load(&self) -> Result<Vec<(EntryKey, Bytes)>, String>;

    /// Applies all changes or none, durably.
    fn keep(&self, changes: &[EntryChange]) -> Result<(), String>;
}

/// Key-value store of a session. Clones share it. A store with a backing is loaded when it is first used, and a change
/// is durable before the tool gets its answer.
#[derive(Clone, Default)]
pub(crate) struct KeyValue(Arc<StoreState>);

#[derive(Default)]
struct StoreState {
    entries: Mutex<Option<EntryMap>>,
    backing: Option<Arc<dyn KeyValueBacking>>,
}

#[derive(Clone, Default)]
struct EntryMap {
    values: OrdMap<EntryKey, Bytes>,
    bytes: usize,
    /// Changes since the last write to the backing.
    changes: Vec<EntryChange>,
}

impl KeyValue {
    /// Creates a store with a backing.
    pub(crate) fn kept(backing: Arc<dyn KeyValueBacking>) -> Self {
        Self(Arc::new(StoreState { entries: Mutex::default(), backing: Some(backing) }))
    }

    /// Creates an independent store in memory with a copy of the current entries.
    pub(crate) fn fork(&self) -> Result<Self, String> {
        let entries = Mutex::new(Some(self.read()?));
        Ok(Self(Arc::new(StoreState { entries, backing: None })))
    }

    /// Drops the loaded entries, which another process may have changed: they are loaded again at the next use.
    pub(crate) fn forget(&self) {
        if self.0.backing.is_some() {
            *self.lock() = None;
        }
    }

    /// Returns the current entries.
    fn read(&self) -> Result<EntryMap, String> {
        Ok(self.loaded(&mut self.lock())?.clone())
    }

    /// Applies all changes or none, one caller at a time.
    fn change<R>(&self, change: impl FnOnce(&mut EntryMap) -> Result<R, Error>) -> Result<R, Error> {
        let mut entries = self.lock();
        let mut next = self.loaded(&mut entries)?.clone();
        let result = change(&mut next)?;
        let changes = std::mem::take(&mut next.changes);
        if let Some(backing) = &self.0.backing
            && !changes.is_empty()
            && let Err(error) = backing.keep(&changes)
        {
            // The outcome of the write is unknown: the entries are loaded again.
            *entries = None;
            return Err(error.into());
        }
        *entries = Some(next);
        Ok(result)
    }

    fn loaded<'e>(&self, entries: &'e mut Option<EntryMap>) -> Result<&'e mut EntryMap, String> {
        if entries.is_none() {
            let mut loaded = EntryMap::default();
            for (key, value) in self.0.backing.as_ref().map_or_else(|| Ok(Vec::new()), |backing| backing.load())? {
                loaded.bytes += size(&key.2, &value);
                loaded.values.insert(key, value);
            }
            *entries = Some(loaded);
        }
        Ok(entries.as_mut().expect("it was just filled"))
    }

    /// Locks the entries. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Option<EntryMap>> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the bytes that an entry takes of its session's store. Returns `None` if no tool can have stored it.
pub(crate) fn keyvalue_size((_, bucket, key): &EntryKey, value: usize) -> Option<usize> {
    let fits = (1..=MAX_KEY).contains(&key.len()) && bucket.len() <= MAX_BUCKET && value <= MAX_VALUE;
    fits.then(|| key.len() + value + ENTRY)
}

impl EntryMap {
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

/// Compare-and-swap handle: a value that is replaced only if it is still the current one.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Cas {
    bucket: Bucket,
    key: String,
    current: Option<Bytes>,
    /// Memory of key and value in the session's account: the store may have other values by now.
    charge: MemoryCharge,
}

impl Cas {
    fn new(memory: &MemoryAccount, bucket: Bucket, key: String) -> Result<Self, Error> {
        let mut cas = Self { bucket, key, current: None, charge: memory.open() };
        cas.see(None)?;
        Ok(cas)
    }

    /// Records the current value.
    fn see(&mut self, current: Option<Bytes>) -> Result<(), Error> {
        let bytes = size(&self.key, current.as_deref().unwrap_or_default());
        if !self.charge.resize(bytes as u64) {
            return Err(no_memory(bytes));
        }
        self.current = current;
        Ok(())
    }
}

/// Creates the error of values that there is no memory for.
fn no_memory(bytes: usize) -> Error {
    Error::Other(format!("no memory of the session is left for {bytes} bytes: raise `memory` in `limits`"))
}

/// Bucket that a tool has opened.
#[derive(Clone)]
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Bucket {
    alias: Arc<str>,
    name: Arc<str>,
}

impl Bucket {
    fn key(&self, key: String) -> EntryKey {
        (Arc::clone(&self.alias), Arc::clone(&self.name), key)
    }
}

/// Error of an operation: reported to the tool, or a trap.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub enum Error {
    /// The tool may not open the bucket.
    AccessDenied,
    /// Any other error, in words.
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

/// Store as one call sees it.
pub(super) struct KeyValueView<'a> {
    pub(super) authority: &'a Authority,
    pub(super) store: &'a KeyValue,
    pub(super) table: &'a mut ResourceTable,
    pub(super) memory: &'a MemoryAccount,
}

impl store::Host for KeyValueView<'_> {
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

impl store::HostBucket for KeyValueView<'_> {
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
        // A cursor is the last key of the previous page. No key is empty, so the first page follows the empty key.
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

impl atomics::Host for KeyValueView<'_> {
    /// Increments a counter: a decimal number as text, so that any reader of the key understands it.
    fn increment(&mut self, bucket: Resource<Bucket>, key: String, delta: i64) -> Result<i64, Error> {
        let bucket = self.table.get(&bucket)?;
        self.store.change(|entries| {
            let now = match entries.get(bucket, key.clone()) {
                None => 0,
                Some(value) => std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| text.parse::<i64>().ok())
                    .ok_or_else(|| format!("the value of `{key}` is not a counter"))?,
            };
            let sum = now.checked_add(delta).ok_or_else(|| format!("the count of `{key}` is at its end"))?;
            entries.set(bucket, key, sum.to_string().into_bytes())?;
            Ok(sum)
        })
    }

    /// Swaps the value. If that fails, returns the handle with the current value.
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

impl atomics::HostCas for KeyValueView<'_> {
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

impl batch::Host for KeyValueView<'_> {
    fn get_many(
        &mut self,
        bucket: Resource<Bucket>,
        keys: Vec<String>,
    ) -> Result<Vec<Option<(String, Vec<u8>)>>, Error> {
        let bucket = self.table.get(&bucket)?;
        let entries = self.store.read()?;
        // The same key may be named a thousand times: each time its value is copied.
        let found = keys.into_iter().map(|key| entries.get(bucket, key.clone()).map(|value| (key, value)));
        let found: Vec<Option<(String, &Bytes)>> = found.collect();
        let bytes = found.iter().flatten().map(|(key, value)| size(key, value)).fold(0, usize::saturating_add);
        let Some(_copies) = self.memory.charge(bytes as u64) else { return Err(no_memory(bytes)) };
        Ok(found.into_iter().map(|entry| entry.map(|(key, value)| (key, value.to_vec()))).collect())
    }

    /// Sets all values or none.
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

struct HasKeyValue;

impl HasData for HasKeyValue {
    type Data<'a> = KeyValueView<'a>;
}

/// Adds the interfaces to a linker.
pub(super) fn add_to_linker(linker: &mut Linker<ToolState>) -> Result<()> {
    store::add_to_linker::<ToolState, HasKeyValue>(linker, ToolState::keyvalue)?;
    atomics::add_to_linker::<ToolState, HasKeyValue>(linker, ToolState::keyvalue)?;
    batch::add_to_linker::<ToolState, HasKeyValue>(linker, ToolState::keyvalue)
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
    fn keyvalue_buckets_and_forks_are_isolated() {
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
    fn keyvalue_store_beyond_its_limits_refuses() {
        let store = KeyValue::default();
        let one = bucket("a", "x");
        assert!(!set(&store, &one, "", &[]));
        assert!(!set(&store, &one, &"k".repeat(MAX_KEY + 1), &[]));
        assert!(!set(&store, &one, "k", &vec![0; MAX_VALUE + 1]));
        let full = (0..).take_while(|n| set(&store, &one, &format!("{n:04}"), &vec![0; MAX_VALUE])).count();
        assert_eq!(full, 15);
        assert!(set(&store, &one, "0000", &vec![1; MAX_VALUE]), "what replaces takes the other's place");
    }

    /// A value that the host holds for a tool is charged for the tool, as often as it is held.
    #[test]
    fn copies_of_values_take_of_the_sessions_memory() {
        let (store, memory) = (KeyValue::default(), MemoryAccount::new(16 << 20));
        let (one, authority) = (bucket("a", "x"), Authority::none("a".into()));
        assert!(set(&store, &one, "k", &vec![0; MAX_VALUE]));
        let mut table = ResourceTable::new();
        let mut handle = || table.push(one.clone()).expect("there is room");
        let (first, second, third, fourth) = (handle(), handle(), handle(), handle());
        let mut view = KeyValueView { authority: &authority, store: &store, table: &mut table, memory: &memory };
        let many = |count: usize| vec!["k".to_owned(); count];
        assert_eq!(batch::Host::get_many(&mut view, first, many(3)).ok().map(|found| found.len()), Some(3));
        assert!(
            matches!(batch::Host::get_many(&mut view, second, many(5)), Err(Error::Other(told)) if told.contains("`memory`"))
        );
        assert_eq!(memory.taken(), 0, "copies are the tool's once it has them");
        // A replaced value stays in memory for the handles that have seen it.
        let cas = atomics::HostCas::new(&mut view, third, "k".to_owned()).ok().expect("there is memory");
        assert!(memory.taken() >= MAX_VALUE as u64);
        assert!(atomics::HostCas::drop(&mut view, cas).is_ok());
        assert_eq!(memory.taken(), 0);
        assert!(matches!(atomics::HostCas::new(&mut view, fourth, "k".repeat(MAX_KEY + 1)), Err(Error::Other(_))));
    }

    /// Backing that records changes, and fails once it is broken.
    #[derive(Default)]
    struct TestBacking {
        kept: Mutex<Vec<EntryChange>>,
        broken: std::sync::atomic::AtomicBool,
    }

    impl KeyValueBacking for TestBacking {
        fn load(&self) -> Result<Vec<(EntryKey, Bytes)>, String> {
            let kept = self.kept.lock().expect("no panic");
            Ok(kept.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect())
        }

        fn keep(&self, changes: &[EntryChange]) -> Result<(), String> {
            if self.broken.load(std::sync::atomic::Ordering::Relaxed) {
                return Err("the disk is full".to_owned());
            }
            self.kept.lock().expect("no panic").extend_from_slice(changes);
            Ok(())
        }
    }

    #[test]
    fn keyvalue_change_that_cannot_be_persisted_is_not_applied() {
        let disk = Arc::new(TestBacking::default());
        let store = KeyValue::kept(Arc::clone(&disk) as Arc<dyn KeyValueBacking>);
        let one = bucket("a", "x");
        assert!(set(&store, &one, "k", b"1"));
        disk.broken.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(!set(&store, &one, "k", b"2"));
        assert_eq!(get(&store, &one, "k").as_deref(), Some(b"1".as_slice()));
        store.forget();
        assert_eq!(get(&store, &one, "k").as_deref(), Some(b"1".as_slice()), "it is read again");
    }
}
