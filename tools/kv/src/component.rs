//! Binding of the logic to WIT, in both directions: exports the tool's functions, and calls `wasi:keyvalue`. This
//! module holds no rules.

use bindings::exports::tollhouse::kv::kv as wit;
use bindings::wasi::keyvalue::{atomics, batch, store};

use crate::bucket::{self, Page};
use crate::error::{Error, Failure, Kind};
use crate::list::{Wanted, list};
use crate::values::Values;

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit", generate_all });
    export!(Tool with_types_in self);
    use super::Tool;
}

/// Name of the store. A session has a single one.
const STORE: &str = "default";

struct Tool;

impl wit::Guest for Tool {
    fn get(key: String) -> Result<Option<String>, wit::Error> {
        Ok(values()?.get(&key)?)
    }

    fn get_bytes(key: String) -> Result<Option<Vec<u8>>, wit::Error> {
        Ok(values()?.get_bytes(&key)?)
    }

    fn set(key: String, value: String) -> Result<(), wit::Error> {
        Ok(values()?.set(&key, value.as_bytes())?)
    }

    fn set_bytes(key: String, value: Vec<u8>) -> Result<(), wit::Error> {
        Ok(values()?.set(&key, &value)?)
    }

    fn delete(key: String) -> Result<bool, wit::Error> {
        Ok(values()?.delete(&key)?)
    }

    fn exists(key: String) -> Result<bool, wit::Error> {
        Ok(values()?.exists(&key)?)
    }

    fn list(prefix: Option<String>, limit: Option<u32>, after: Option<String>) -> Result<Vec<String>, wit::Error> {
        let wanted = Wanted { prefix: prefix.unwrap_or_default(), limit, after };
        Ok(list(&values()?.0, &wanted)?)
    }

    fn increment(key: String, by: Option<i64>) -> Result<i64, wit::Error> {
        Ok(values()?.increment(&key, by.unwrap_or(1))?)
    }

    fn get_many(keys: Vec<String>) -> Result<Vec<Option<String>>, wit::Error> {
        Ok(values()?.get_many(&keys)?)
    }

    fn set_many(entries: Vec<(String, String)>) -> Result<(), wit::Error> {
        Ok(values()?.set_many(entries)?)
    }

    fn delete_many(keys: Vec<String>) -> Result<(), wit::Error> {
        Ok(values()?.delete_many(&keys)?)
    }
}

fn values() -> Result<Values<Bucket>, Error> {
    match store::open(STORE) {
        Ok(bucket) => Ok(Values(Bucket(bucket))),
        Err(error) => Err(Failure::from(error).into()),
    }
}

/// Store that the host provides.
struct Bucket(store::Bucket);

impl bucket::Bucket for Bucket {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.0.get(key)?)
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), Failure> {
        Ok(self.0.set(key, value)?)
    }

    fn delete(&self, key: &str) -> Result<(), Failure> {
        Ok(self.0.delete(key)?)
    }

    fn exists(&self, key: &str) -> Result<bool, Failure> {
        Ok(self.0.exists(key)?)
    }

    fn keys(&self, cursor: Option<&str>) -> Result<Page, Failure> {
        let store::KeyResponse { keys, cursor } = self.0.list_keys(cursor)?;
        Ok(Page { keys, cursor })
    }

    fn increment(&self, key: &str, by: i64) -> Result<i64, Failure> {
        Ok(atomics::increment(&self.0, key, by)?)
    }

    fn get_many(&self, keys: &[String]) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        Ok(batch::get_many(&self.0, keys)?.into_iter().flatten().collect())
    }

    fn set_many(&self, entries: &[(String, Vec<u8>)]) -> Result<(), Failure> {
        Ok(batch::set_many(&self.0, entries)?)
    }

    fn delete_many(&self, keys: &[String]) -> Result<(), Failure> {
        Ok(batch::delete_many(&self.0, keys)?)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::NoSuchStore => Self::NoSuchStore,
            store::Error::AccessDenied => Self::AccessDenied,
            store::Error::Other(message) => Self::Other(message),
        }
    }
}

impl From<Kind> for wit::ErrorKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Denied => Self::Denied,
            Kind::NoStore => Self::NoStore,
            Kind::Key => Self::Key,
            Kind::NotText => Self::NotText,
            Kind::Store => Self::Store,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(Error { kind, message, key }: Error) -> Self {
        Self { kind: kind.into(), message, key }
    }
}
