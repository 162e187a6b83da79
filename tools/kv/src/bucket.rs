//! Interface to a store: the functions of `wasi:keyvalue` that the tool uses. This module holds no rules.

use crate::error::Failure;

/// Page of a store's keys, in arbitrary order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Keys of the page.
    pub keys: Vec<String>,
    /// Cursor of the next page; `None` on the last page.
    pub cursor: Option<String>,
}

/// Store of keys and values.
pub trait Bucket {
    /// Returns the value of a key.
    ///
    /// # Errors
    ///
    /// Those of the store, as for all methods here.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure>;

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// See [`Bucket::get`].
    fn set(&self, key: &str, value: &[u8]) -> Result<(), Failure>;

    /// Removes a key if it exists.
    ///
    /// # Errors
    ///
    /// See [`Bucket::get`].
    fn delete(&self, key: &str) -> Result<(), Failure>;

    /// Returns true if the key exists.
    ///
    /// # Errors
    /// See [`Bucket::get`].
    fn exists(&self, key: &str) -> Result<bool, Failure>;

    /// Returns a page of keys; the cursor `None` means the first page.
    ///
    /// # Errors
    ///
    /// See [`Bucket::get`].
    fn keys(&self, cursor: Option<&str>) -> Result<Page, Failure>;

    /// Adds to the number of a key atomically, and returns the sum.
    ///
    /// # Errors
    ///
    /// See [`Bucket::get`].
    fn increment(&self, key: &str, by: i64) -> Result<i64, Failure>;

    /// Returns those of the keys that exist, with their values, in any order.
    ///
    /// # Errors
    ///
    /// See [`Bucket::get`].
    fn get_many(&self, keys: &[String]) -> Result<Vec<(String, Vec<u8>)>, Failure>;

    /// Sets the values of several keys, in any order.
    ///
    /// # Errors
    ///
    /// See [`Bucket::get`].
    fn set_many(&self, entries: &[(String, Vec<u8>)]) -> Result<(), Failure>;

    /// Removes those of the keys that exist.
    ///
    /// # Errors
    ///
    /// See [`Bucket::get`].
    fn delete_many(&self, keys: &[String]) -> Result<(), Failure>;
}

#[cfg(test)]
pub(crate) mod memory {
    //! Store in memory, with pages so small that every test needs several.

    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::{Bucket, Failure, Page};

    /// Number of keys on a page.
    const PAGE: usize = 2;

    /// Store in memory; [`Bucket::set`] fails when it is full.
    #[derive(Debug)]
    pub(crate) struct Memory {
        pub(crate) values: RefCell<BTreeMap<String, Vec<u8>>>,
        pub(crate) room: usize,
    }

    impl Memory {
        pub(crate) fn of<'v>(values: impl IntoIterator<Item = (&'v str, &'v [u8])>) -> Self {
            let values = values.into_iter().map(|(key, value)| (key.to_owned(), value.to_vec())).collect();
            Self { values: RefCell::new(values), room: 100 }
        }
    }

    impl Bucket for Memory {
        fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
            Ok(self.values.borrow().get(key).cloned())
        }

        fn set(&self, key: &str, value: &[u8]) -> Result<(), Failure> {
            if self.values.borrow().len() >= self.room {
                return Err(Failure::Other("the store is full".into()));
            }
            self.values.borrow_mut().insert(key.to_owned(), value.to_vec());
            Ok(())
        }

        fn delete(&self, key: &str) -> Result<(), Failure> {
            self.values.borrow_mut().remove(key);
            Ok(())
        }

        fn exists(&self, key: &str) -> Result<bool, Failure> {
            Ok(self.values.borrow().contains_key(key))
        }

        // In descending order, so that no code can rely on an ascending one.
        fn keys(&self, cursor: Option<&str>) -> Result<Page, Failure> {
            let start = cursor.map_or(0, |cursor| cursor.parse().expect("a cursor that was given out"));
            let keys: Vec<String> = self.values.borrow().keys().rev().skip(start).take(PAGE).cloned().collect();
            let next = start + keys.len();
            Ok(Page { cursor: (next < self.values.borrow().len()).then(|| next.to_string()), keys })
        }

        fn increment(&self, key: &str, by: i64) -> Result<i64, Failure> {
            let old = self.get(key)?.unwrap_or_else(|| b"0".to_vec());
            let old: Option<i64> = std::str::from_utf8(&old).ok().and_then(|text| text.parse().ok());
            let sum = old.and_then(|old| old.checked_add(by)).ok_or(Failure::Other("no number".into()))?;
            self.set(key, sum.to_string().as_bytes())?;
            Ok(sum)
        }

        fn get_many(&self, keys: &[String]) -> Result<Vec<(String, Vec<u8>)>, Failure> {
            let values = self.values.borrow();
            Ok(keys.iter().rev().filter_map(|key| Some((key.clone(), values.get(key)?.clone()))).collect())
        }

        fn set_many(&self, entries: &[(String, Vec<u8>)]) -> Result<(), Failure> {
            entries.iter().try_for_each(|(key, value)| self.set(key, value))
        }

        fn delete_many(&self, keys: &[String]) -> Result<(), Failure> {
            keys.iter().try_for_each(|key| self.delete(key))
        }
    }
}
