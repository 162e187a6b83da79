//! Generates the collation data of languages whose alphabetical order differs from the usual one, and sets the size of
//! the guest's stack. The collation crate itself has all languages in one table of a megabyte, most of which is
//! Chinese.

use std::path::PathBuf;

use icu_collator::provider::{Baked, CollationTailoringV1};
use icu_provider::prelude::{DataIdentifierBorrowed, DataLocale, DataProvider, DataRequest};
use serde_json::Value;

/// Languages of `intl-data.mjs` and others with an alphabet, without those that use the usual order.
const LANGUAGES: [&str; 40] = [
    "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "el", "eo", "es", "et", "fa", "fi", "fil", "he", "hi",
    "hr", "hu", "hy", "is", "kk", "lt", "lv", "mk", "nb", "nn", "pl", "ro", "ru", "sk", "sl", "sq", "sr", "sv", "tr",
    "uk", "vi",
];

/// Size of the guest's own stack in bytes, at the beginning of its memory. QuickJS stops before its end (`MAX_STACK` in
/// `src/runtime.rs`). Untouched pages of the stack take no memory.
const STACK: usize = 5 << 19;

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-zstack-size={STACK}");
    println!("cargo::rerun-if-changed=build.rs");
    let mut bytes = Vec::new();
    for language in LANGUAGES {
        let locale: DataLocale = language.parse().expect("a language");
        let request = DataRequest { id: DataIdentifierBorrowed::for_locale(&locale), ..DataRequest::default() };
        let Ok(found) = DataProvider::<CollationTailoringV1>::load(&Baked, request) else { continue };
        bytes.extend_from_slice(&entry(language, found.payload.get()));
    }
    let directory = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(directory.join("tailorings.bin"), bytes).expect("the directory is there");
}

/// Returns the entry of a language: a name of eight bytes, the six numbers of the header, and five lists, each after
/// its length, all in little-endian order. `locales/collation.rs` reads it.
fn entry(language: &str, data: &icu_collator::provider::CollationData<'_>) -> Vec<u8> {
    let trie = serde_json::to_value(&data.trie).expect("a trie is plain data");
    let header = &trie["header"];
    let mut bytes = format!("{language:8}").into_bytes();
    for name in ["high_start", "shifted12_high_start", "index3_null_offset", "data_null_offset", "null_value"] {
        put(&mut bytes, number(&header[name]), 4);
    }
    put(&mut bytes, u64::from(header["trie_type"] == "Small"), 4);
    let numbers = |list: &Value| list.as_array().expect("a list").iter().map(number).collect::<Vec<_>>();
    let lists = [
        (numbers(&trie["index"]), 2),
        (numbers(&trie["data"]), 4),
        (data.ces.iter().collect(), 8),
        (data.ce32s.iter().map(u64::from).collect(), 4),
        (data.contexts.iter().map(u64::from).collect(), 2),
    ];
    for (list, width) in lists {
        put(&mut bytes, list.len() as u64, 4);
        list.into_iter().for_each(|value| put(&mut bytes, value, width));
    }
    bytes
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn put(bytes: &mut Vec<u8>, value: u64, width: usize) {
    bytes.extend_from_slice(&value.to_le_bytes()[..width]);
}
