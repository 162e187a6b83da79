//! `tollhouse:kv`: a key-value store that belongs to the session, over `wasi:keyvalue`.
//!
//! The modules hold the rules (what a key may be, how lists are ordered and cut) and know nothing of WIT or of
//! `wasi:keyvalue`, so they are tested natively against a store in memory; `component` binds them to `wit/` and exists
//! only in the wasm build. The tool cannot keep state of its own: each call has a fresh instance.

pub mod bucket;
#[cfg(target_family = "wasm")]
mod component;
pub mod error;
pub mod key;
pub mod list;
pub mod values;

#[cfg(test)]
mod tests {
    /// The tool has a copy of the WIT packages, so that its package directory is self-contained.
    #[test]
    fn wit_dependencies_match_those_of_the_host() {
        macro_rules! same {
            ($($file:literal),*) => {$(
                let own = include_str!(concat!("../wit/deps/keyvalue/", $file));
                assert_eq!(own, include_str!(concat!("../../../wit/deps/keyvalue/", $file)), $file);
            )*};
        }
        same!("atomic.wit", "batch.wit", "store.wit", "world.wit");
    }
}
