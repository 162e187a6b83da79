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

/// The key-value store of a session. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct KeyValue(Arc<Mutex<Entries>>);

#[derive(Clone, Default)]
struct Entries {
    /// By alias, bucket and key.
    values: OrdMap<(Arc<str>, Arc<str>, String), Bytes>,
    bytes: usize,
}

impl KeyValue {
    /// A store that begins with what this one holds now, and goes its own way.
    pub(crate) fn fork(&self) -> Self {
        Self(Arc::new(Mutex::new(self.lock().clone())))
    }

    /// Every change is whole, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn set(&mut self, bucket: &Bucket, key: String, value: Vec<u8>) -> Result<(), Error> {
        if key.is_empty() || key.len() > MAX_KEY {
            return Err(Error::Other(format!("a key has 1 to {MAX_KEY} bytes, and this one {}", key.len())));
        }
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
        self.values.insert(key, value.into());
        Ok(())
    }

    fn delete(&mut self, bucket: &Bucket, key: String) {
        let key = bucket.key(key);
        if let Some(value) = self.values.remove(&key) {
            self.bytes -= size(&key.2, &value);
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
}

/// An open bucket.
#[derive(Clone)]
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Bucket {
    alias: Arc<str>,
    name: Arc<str>,
}

impl Bucket {
    fn key(&self, key: String) -> (Arc<str>, Arc<str>, String) {
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
}

impl store::Host for View<'_> {
    fn open(&mut self, name: String) -> Result<Resource<Bucket>, Error> {
        if !self.authority.opens(&name) {
            return Err(Error::AccessDenied);
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
        Ok(self.store.lock().get(self.table.get(&bucket)?, key).map(|value| value.to_vec()))
    }

    fn set(&mut self, bucket: Resource<Bucket>, key: String, value: Vec<u8>) -> Result<(), Error> {
        self.store.lock().set(self.table.get(&bucket)?, key, value)
    }

    fn delete(&mut self, bucket: Resource<Bucket>, key: String) -> Result<(), Error> {
        self.store.lock().delete(self.table.get(&bucket)?, key);
        Ok(())
    }

    fn exists(&mut self, bucket: Resource<Bucket>, key: String) -> Result<bool, Error> {
        Ok(self.store.lock().get(self.table.get(&bucket)?, key).is_some())
    }

    fn list_keys(&mut self, bucket: Resource<Bucket>, cursor: Option<String>) -> Result<store::KeyResponse, Error> {
        let bucket = self.table.get(&bucket)?;
        let entries = self.store.lock();
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
        let mut entries = self.store.lock();
        let now = match entries.get(bucket, key.clone()) {
            None => 0,
            Some(value) => std::str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse::<i64>().ok())
                .ok_or_else(|| Error::Other(format!("the value of `{key}` is no count")))?,
        };
        let sum = now.checked_add(delta).ok_or_else(|| Error::Other(format!("the count of `{key}` is at its end")))?;
        entries.set(bucket, key, sum.to_string().into_bytes())?;
        Ok(sum)
    }

    /// A swap that failed gives the handle back, with what is there now.
    fn swap(&mut self, cas: Resource<Cas>, value: Vec<u8>) -> Result<Result<(), atomics::CasError>> {
        let mut cas = self.table.delete(cas)?;
        let mut entries = self.store.lock();
        let now = entries.get(&cas.bucket, cas.key.clone()).cloned();
        if now != cas.current {
            cas.current = now;
            drop(entries);
            return Ok(Err(atomics::CasError::CasFailed(self.table.push(cas)?)));
        }
        let set = entries.set(&cas.bucket, cas.key, value);
        drop(entries);
        match set {
            Ok(()) => Ok(Ok(())),
            Err(error) => Ok(Err(atomics::CasError::StoreError(store::Host::convert_error(self, error)?))),
        }
    }
}

impl atomics::HostCas for View<'_> {
    fn new(&mut self, bucket: Resource<Bucket>, key: String) -> Result<Resource<Cas>, Error> {
        let bucket = self.table.get(&bucket)?.clone();
        let current = self.store.lock().get(&bucket, key.clone()).cloned();
        Ok(self.table.push(Cas { bucket, key, current })?)
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
        let entries = self.store.lock();
        let found = |key: String| entries.get(bucket, key.clone()).map(|value| (key, value.to_vec()));
        Ok(keys.into_iter().map(found).collect())
    }

    /// All of them or none.
    fn set_many(&mut self, bucket: Resource<Bucket>, values: Vec<(String, Vec<u8>)>) -> Result<(), Error> {
        let bucket = self.table.get(&bucket)?;
        let mut entries = self.store.lock();
        let mut changed = entries.clone();
        for (key, value) in values {
            changed.set(bucket, key, value)?;
        }
        *entries = changed;
        Ok(())
    }

    fn delete_many(&mut self, bucket: Resource<Bucket>, keys: Vec<String>) -> Result<(), Error> {
        let bucket = self.table.get(&bucket)?;
        let mut entries = self.store.lock();
        keys.into_iter().for_each(|key| entries.delete(bucket, key));
        Ok(())
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

    #[test]
    fn buckets_know_nothing_of_each_other_and_a_fork_goes_its_own_way() {
        let store = KeyValue::default();
        let [one, two] = [bucket("a", "x"), bucket("b", "x")];
        store.lock().set(&one, "k".into(), b"1".to_vec()).ok().expect("there is room");
        assert!(store.lock().get(&two, "k".into()).is_none());
        let fork = store.fork();
        fork.lock().delete(&one, "k".into());
        assert!(store.lock().get(&one, "k".into()).is_some());
        assert_eq!((fork.lock().bytes, store.lock().bytes), (0, ENTRY + 2));
    }

    #[test]
    fn the_store_has_an_end() {
        let store = KeyValue::default();
        let one = bucket("a", "x");
        let mut entries = store.lock();
        assert!(entries.set(&one, String::new(), Vec::new()).is_err());
        assert!(entries.set(&one, "k".repeat(MAX_KEY + 1), Vec::new()).is_err());
        assert!(entries.set(&one, "k".into(), vec![0; MAX_VALUE + 1]).is_err());
        let full = (0..).take_while(|n| entries.set(&one, format!("{n:04}"), vec![0; MAX_VALUE]).is_ok()).count();
        assert_eq!(full, 15);
        assert!(entries.set(&one, "0000".into(), vec![1; MAX_VALUE]).is_ok(), "what replaces takes the other's place");
    }
}
