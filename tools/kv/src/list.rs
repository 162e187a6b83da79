//! Sorted lists of keys. A store returns keys in pages, in arbitrary order.

use std::collections::BTreeSet;

use crate::bucket::{Bucket, Page};
use crate::error::{Error, Failure};

/// Conditions and limit for the listed keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Prefix of the keys.
    pub prefix: String,
    /// Largest number of keys.
    pub limit: Option<u32>,
    /// Key after which the selection begins.
    pub after: Option<String>,
}

impl Wanted {
    fn fits(&self, key: &str) -> bool {
        key.starts_with(&self.prefix) && self.after.as_deref().is_none_or(|after| key > after)
    }
}

/// Reads all keys of the store, and returns the selected ones in order.
///
/// # Errors
///
/// Those of the store, and an error if its pages never end.
pub fn list(bucket: &impl Bucket, wanted: &Wanted) -> Result<Vec<String>, Error> {
    let limit = wanted.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    // A set, because a key that moves to a later page during the reading appears twice.
    let mut first = BTreeSet::new();
    let mut cursors = BTreeSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let Page { keys, cursor: next } = bucket.keys(cursor.as_deref())?;
        for key in keys.into_iter().filter(|key| wanted.fits(key)) {
            first.insert(key);
            if first.len() > limit {
                first.pop_last();
            }
        }
        match next {
            None => return Ok(first.into_iter().collect()),
            Some(next) if !cursors.insert(next.clone()) => {
                return Err(Failure::Other("the store's list of keys goes round in a circle".to_owned()).into());
            }
            next => cursor = next,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bucket::memory::Memory;

    fn store(keys: &[&str]) -> Memory {
        Memory::of(keys.iter().map(|key| (*key, &b""[..])))
    }

    fn wanted(prefix: &str, limit: Option<u32>, after: Option<&str>) -> Wanted {
        Wanted { prefix: prefix.to_owned(), limit, after: after.map(str::to_owned) }
    }

    #[test]
    fn keys_of_all_pages_are_listed_in_order() {
        let store = store(&["b", "a/2", "a/10", "a", "B", "ä", "a/1"]);
        assert_eq!(list(&store, &Wanted::default()).expect("keys"), ["B", "a", "a/1", "a/10", "a/2", "b", "ä"]);
        for (prefix, limit, after, expected) in [
            ("a/", None, None, &["a/1", "a/10", "a/2"][..]),
            ("a/", Some(2), None, &["a/1", "a/10"]),
            ("a/", Some(2), Some("a/10"), &["a/2"]),
            ("a/", None, Some("a/11"), &["a/2"]),
            ("", Some(1), Some("b"), &["ä"]),
            ("", Some(0), None, &[]),
            ("c", None, None, &[]),
            ("", None, Some("ö"), &[]),
        ] {
            assert_eq!(list(&store, &wanted(prefix, limit, after)).expect("keys"), expected, "{prefix} {limit:?}");
        }
        assert_eq!(list(&self::store(&[]), &Wanted::default()).expect("none"), [""; 0]);
    }

    /// Faulty store, whose second page refers to itself as the next one.
    struct Circle(Memory);

    impl Bucket for Circle {
        fn keys(&self, _: Option<&str>) -> Result<Page, Failure> {
            Ok(Page { keys: vec!["a".into()], cursor: Some("1".into()) })
        }
        fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
            self.0.get(key)
        }
        fn set(&self, key: &str, value: &[u8]) -> Result<(), Failure> {
            self.0.set(key, value)
        }
        fn delete(&self, key: &str) -> Result<(), Failure> {
            self.0.delete(key)
        }
        fn exists(&self, key: &str) -> Result<bool, Failure> {
            self.0.exists(key)
        }
        fn increment(&self, key: &str, by: i64) -> Result<i64, Failure> {
            self.0.increment(key, by)
        }
        fn get_many(&self, keys: &[String]) -> Result<Vec<(String, Vec<u8>)>, Failure> {
            self.0.get_many(keys)
        }
        fn set_many(&self, entries: &[(String, Vec<u8>)]) -> Result<(), Failure> {
            self.0.set_many(entries)
        }
        fn delete_many(&self, keys: &[String]) -> Result<(), Failure> {
            self.0.delete_many(keys)
        }
    }

    #[test]
    fn listing_with_circular_pages_is_an_error() {
        let error = list(&Circle(store(&[])), &Wanted::default()).expect_err("a circle");
        assert!(error.message.contains("circle"), "{error}");
    }

    proptest! {
        #[test]
        fn pages_by_after_are_the_whole(keys in proptest::collection::btree_set("[ab/]{1,4}", 0..20), limit in 1..5_u32) {
            let store = Memory::of(keys.iter().map(|key| (key.as_str(), &b""[..])));
            let mut found = Vec::new();
            loop {
                let page = list(&store, &wanted("a", Some(limit), found.last().map(String::as_str))).expect("keys");
                if page.is_empty() {
                    break;
                }
                found.extend(page);
            }
            let expected: Vec<String> = keys.into_iter().filter(|key| key.starts_with('a')).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
