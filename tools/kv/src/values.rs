//! Access to values: checks keys before calling the store, and converts values to text.

use std::collections::BTreeMap;

use crate::bucket::Bucket;
use crate::error::{Error, Failure, Kind};
use crate::key;

/// Store with the rules of the tool.
#[derive(Debug)]
pub struct Values<B>(pub B);

impl<B: Bucket> Values<B> {
    /// Returns the text of a key.
    ///
    /// # Errors
    ///
    /// `Key`, `NotText`, and those of the store, as for all methods here.
    pub fn get(&self, key: &str) -> Result<Option<String>, Error> {
        self.get_bytes(key)?.map(|value| text(key, value)).transpose()
    }

    /// Returns the bytes of a key.
    ///
    /// # Errors
    ///
    /// See [`Values::get`].
    pub fn get_bytes(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        self.with(key, |bucket| bucket.get(key))
    }

    /// Sets the value of a key to bytes, which may be those of a text.
    ///
    /// # Errors
    ///
    /// See [`Values::get`].
    pub fn set(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        self.with(key, |bucket| bucket.set(key, value))
    }

    /// Removes a key. Returns true if it existed.
    ///
    /// # Errors
    ///
    /// See [`Values::get`].
    pub fn delete(&self, key: &str) -> Result<bool, Error> {
        self.with(key, |bucket| {
            let existed = bucket.exists(key)?;
            bucket.delete(key)?;
            Ok(existed)
        })
    }

    /// Returns true if the key exists.
    ///
    /// # Errors
    ///
    /// See [`Values::get`].
    pub fn exists(&self, key: &str) -> Result<bool, Error> {
        self.with(key, |bucket| bucket.exists(key))
    }

    /// Adds to the number of a key, and returns the sum.
    ///
    /// # Errors
    ///
    /// See [`Values::get`].
    pub fn increment(&self, key: &str, by: i64) -> Result<i64, Error> {
        self.with(key, |bucket| bucket.increment(key, by))
    }

    /// Returns the text of each key.
    ///
    /// # Errors
    ///
    /// See [`Values::get`].
    pub fn get_many(&self, keys: &[String]) -> Result<Vec<Option<String>>, Error> {
        keys.iter().try_for_each(|key| key::check(key))?;
        // By key, because a store may return them in any order.
        let mut found = BTreeMap::new();
        for (key, value) in self.0.get_many(keys)? {
            let value = text(&key, value)?;
            found.insert(key, value);
        }
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    /// Sets the texts of several keys.
    ///
    /// # Errors
    ///
    /// See [`Values::get`].
    pub fn set_many(&self, entries: Vec<(String, String)>) -> Result<(), Error> {
        key::check_each_once(entries.iter().map(|(key, _)| key.as_str()))?;
        let entries: Vec<_> = entries.into_iter().map(|(key, value)| (key, value.into_bytes())).collect();
        Ok(self.0.set_many(&entries)?)
    }

    /// Removes several keys at once.
    ///
    /// # Errors
    /// See [`Values::get`].
    pub fn delete_many(&self, keys: &[String]) -> Result<(), Error> {
        keys.iter().try_for_each(|key| key::check(key))?;
        Ok(self.0.delete_many(keys)?)
    }

    fn with<T>(&self, key: &str, act: impl FnOnce(&B) -> Result<T, Failure>) -> Result<T, Error> {
        key::check(key)?;
        act(&self.0).map_err(|failure| Error::from(failure).or_of(key))
    }
}

fn text(key: &str, value: Vec<u8>) -> Result<String, Error> {
    let no_text =
        |_| Error::of(key, Kind::NotText, format!("the value of `{key}` is no text: get it with `get-bytes`"));
    String::from_utf8(value).map_err(no_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::memory::Memory;

    fn store() -> Values<Memory> {
        Values(Memory::of([("a", &b"1"[..]), ("b", b"\xff"), ("c", b"")]))
    }

    fn keys(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|&key| key.to_owned()).collect()
    }

    #[test]
    fn value_set_is_read_back() {
        let store = store();
        assert_eq!(store.get("a"), Ok(Some("1".into())));
        assert_eq!(store.get("c"), Ok(Some(String::new())));
        assert_eq!(store.get("nothing"), Ok(None));
        store.set("a", "ä".as_bytes()).expect("set");
        assert_eq!(store.get("a"), Ok(Some("ä".into())));
        assert_eq!((store.exists("a"), store.delete("a")), (Ok(true), Ok(true)));
        assert_eq!((store.exists("a"), store.delete("a")), (Ok(false), Ok(false)));
    }

    #[test]
    fn value_that_is_no_text_is_readable_as_bytes_only() {
        let error = store().get("b").expect_err("no text");
        assert_eq!((error.kind, error.key.as_deref()), (Kind::NotText, Some("b")));
        assert_eq!(store().get_bytes("b"), Ok(Some(vec![0xff])));
        assert_eq!(store().get_many(&keys(&["a", "b"])).expect_err("no text").kind, Kind::NotText);
    }

    #[test]
    fn values_are_set_read_and_deleted_in_batches() {
        let store = store();
        let got = store.get_many(&keys(&["c", "x", "a", "c"]));
        assert_eq!(got, Ok(vec![Some(String::new()), None, Some("1".into()), Some(String::new())]));
        store.set_many(vec![("x".into(), "2".into()), ("a".into(), "3".into())]).expect("set");
        assert_eq!(store.get_many(&keys(&["a", "x"])), Ok(vec![Some("3".into()), Some("2".into())]));
        store.delete_many(&keys(&["a", "x", "y"])).expect("deleted");
        assert_eq!(store.exists("a"), Ok(false));
        assert_eq!(store.get_many(&[]), Ok(Vec::new()));
    }

    #[test]
    fn counter_is_incremented_and_text_is_refused() {
        let store = store();
        assert_eq!((store.increment("a", 2), store.increment("new", -5)), (Ok(3), Ok(-5)));
        let error = store.increment("b", 1).expect_err("no number");
        assert_eq!((error.kind, error.key.as_deref()), (Kind::Store, Some("b")));
    }

    #[test]
    fn key_that_is_invalid_never_reaches_the_store() {
        let store = store();
        let before = store.0.values.borrow().clone();
        let pair = |key: &str| (key.to_owned(), String::new());
        assert_eq!(store.set("", b"x").expect_err("empty").kind, Kind::Key);
        assert_eq!(store.increment("\0", 1).expect_err("control").kind, Kind::Key);
        assert_eq!(store.set_many(vec![pair("a"), pair("")]).expect_err("empty").kind, Kind::Key);
        assert_eq!(store.set_many(vec![pair("a"), pair("a")]).expect_err("twice").kind, Kind::Key);
        assert_eq!(store.delete_many(&keys(&["a", ""])).expect_err("empty").kind, Kind::Key);
        assert_eq!(*store.0.values.borrow(), before);
    }

    #[test]
    fn value_beyond_a_full_store_is_refused() {
        let store = Values(Memory { room: 0, ..store().0 });
        let error = store.set("d", b"").expect_err("full");
        assert_eq!(
            (error.kind, error.message.as_str(), error.key.as_deref()),
            (Kind::Store, "the store is full", Some("d"))
        );
    }
}
