//! Guests that are embedded in this binary.

/// Machine code of a guest, as `tollhouse-precompile` made it.
#[derive(Clone, Copy)]
pub struct Embedded {
    /// Output of `precompile_component`, compressed with zstd.
    pub code: &'static [u8],
    /// blake3 of the uncompressed code in hexadecimal, known when the binary was built.
    pub digest: &'static str,
    /// Numbers of the memory pages that every script writes to, four bytes each.
    pub pages: &'static [u8],
}

const JS: Embedded = Embedded {
    code: include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/js.cwasm.zst")),
    digest: env!("TOLLHOUSE_GUEST_JS"),
    pages: include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/js.pages")),
};

const SHELL: Embedded = Embedded {
    code: include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/shell.cwasm.zst")),
    digest: env!("TOLLHOUSE_GUEST_SHELL"),
    pages: include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/shell.pages")),
};

impl Embedded {
    /// Decodes the numbers of these pages.
    pub(crate) fn pages(self) -> Vec<u32> {
        let (numbers, _) = self.pages.as_chunks();
        numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }
}

/// Returns an embedded guest: the one for JavaScript for `js`, else the shell.
#[must_use]
pub fn embedded(name: &str) -> Embedded {
    if name == "js" { JS } else { SHELL }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only Linux tells which pages were written.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_pages_are_known_that_scripts_write_to() {
        for name in ["js", "shell"] {
            let pages = embedded(name).pages();
            assert!(pages.len() > 16 && pages.is_sorted(), "{name}: {pages:?}");
        }
    }
}
