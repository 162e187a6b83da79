//! Interface to a store: the functions of `wasi:keyvalue` that the tool uses, and records in it. This module holds no
//! rules.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Failure, Kind};

/// Store of records under keys.
pub trait Store {
    /// Returns the value of a key.
    ///
    /// # Errors
    ///
    /// Those of the store, as for all methods here.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure>;

    /// Sets the value of a key if its current value is `old`. Returns true if it was.
    ///
    /// # Errors
    ///
    /// See [`Store::get`].
    fn swap(&self, key: &str, old: Option<&[u8]>, new: &[u8]) -> Result<bool, Failure>;

    /// Removes a key if it exists.
    ///
    /// # Errors
    ///
    /// See [`Store::get`].
    fn delete(&self, key: &str) -> Result<(), Failure>;

    /// Adds 1 to the number of a key atomically, and returns the sum.
    ///
    /// # Errors
    ///
    /// See [`Store::get`].
    fn next(&self, key: &str) -> Result<u64, Failure>;
}

/// Record, with the bytes that were read from the store.
#[derive(Debug)]
pub struct Record<T> {
    /// Value of the record.
    pub value: T,
    bytes: Vec<u8>,
}

/// Reads a record from the store.
///
/// # Errors
///
/// Those of the store, and an error if the value is not such a record.
pub fn read<T: DeserializeOwned>(store: &impl Store, key: &str) -> Result<Option<Record<T>>, Error> {
    let Some(bytes) = store.get(key)? else { return Ok(None) };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(Record { value, bytes })),
        Err(error) => Err(Error::new(Kind::Store, format!("the store holds no record under `{key}`: {error}"))),
    }
}

/// Replaces a record that was read; `None` stands for one that did not exist. Returns true if the store still had it.
///
/// # Errors
///
/// Those of the store.
pub fn replace<T: Serialize>(store: &impl Store, key: &str, old: Option<&Record<T>>, new: &T) -> Result<bool, Error> {
    let bytes = serde_json::to_vec(new).map_err(|error| Error::new(Kind::Store, error.to_string()))?;
    Ok(store.swap(key, old.map(|old| old.bytes.as_slice()), &bytes)?)
}

#[cfg(test)]
pub(crate) mod memory {
    //! Store in memory.

    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use super::{Failure, Store};

    /// Store in memory that can be full, and in which concurrent calls can write between a read and a swap.
    #[derive(Debug, Default)]
    pub(crate) struct Memory {
        pub(crate) values: RefCell<BTreeMap<String, Vec<u8>>>,
        pub(crate) full: Cell<bool>,
        /// Key and value that a concurrent call writes before the next swap of the key.
        pub(crate) race: RefCell<Option<(String, Vec<u8>)>>,
    }

    impl Store for Memory {
        fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
            Ok(self.values.borrow().get(key).cloned())
        }

        fn swap(&self, key: &str, old: Option<&[u8]>, new: &[u8]) -> Result<bool, Failure> {
            let raced = self.race.take();
            match raced {
                Some((raced, value)) if raced == key => drop(self.values.borrow_mut().insert(raced, value)),
                other => *self.race.borrow_mut() = other,
            }
            if self.full.get() {
                return Err(Failure::Other("the store is full".into()));
            }
            let same = self.values.borrow().get(key).map(Vec::as_slice) == old;
            if same {
                self.values.borrow_mut().insert(key.to_owned(), new.to_vec());
            }
            Ok(same)
        }

        fn delete(&self, key: &str) -> Result<(), Failure> {
            self.values.borrow_mut().remove(key);
            Ok(())
        }

        fn next(&self, key: &str) -> Result<u64, Failure> {
            let old = self.get(key)?.map_or(0, |old| String::from_utf8_lossy(&old).parse().expect("a number"));
            self.values.borrow_mut().insert(key.to_owned(), (old + 1u64).to_string().into_bytes());
            Ok(old + 1)
        }
    }
}
