//! The guests of Tollhouse, which run scripts: components for WebAssembly, pre-initialised, compressed, the same for
//! every machine. `cargo xtask guests` makes them; `manifest.toml` has the digests of what they were made of.
#![deny(missing_docs)]

/// Portable guest.
#[derive(Clone, Copy, Debug)]
pub struct StoredGuest {
    /// Pre-initialised component, compressed with zstd.
    pub component: &'static [u8],
    /// blake3 of the uncompressed component in hexadecimal.
    pub digest: &'static str,
    /// Numbers of the memory pages that every script writes to, four bytes each.
    pub pages: &'static [u8],
}

/// The guest for JavaScript: QuickJS.
pub const JAVASCRIPT: StoredGuest = StoredGuest {
    component: include_bytes!("../js.wasm.zst"),
    digest: include_str!("../js.digest"),
    pages: include_bytes!("../js.pages"),
};

/// The guest for bash: bashkit.
pub const SHELL: StoredGuest = StoredGuest {
    component: include_bytes!("../shell.wasm.zst"),
    digest: include_str!("../shell.digest"),
    pages: include_bytes!("../shell.pages"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_guests_unpacked_have_their_digests() {
        for guest in [JAVASCRIPT, SHELL] {
            let component = zstd::decode_all(guest.component).expect("it is whole");
            assert_eq!(blake3::hash(&component).to_hex().as_str(), guest.digest);
        }
    }

    #[test]
    fn stored_guests_have_pages_in_ascending_order() {
        for guest in [JAVASCRIPT, SHELL] {
            let (pages, rest) = guest.pages.as_chunks();
            assert!(rest.is_empty() && pages.len() > 16);
            assert!(pages.iter().map(|page| u32::from_le_bytes(*page)).is_sorted());
        }
    }
}
