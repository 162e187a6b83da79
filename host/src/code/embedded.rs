//! The guests that this binary carries.

/// A guest's machine code, as `tollhouse-precompile` made it.
#[derive(Clone, Copy)]
pub struct Embedded {
    /// zstd of what `precompile_component` gave.
    pub code: &'static [u8],
    /// blake3 of the unpacked code, known when the binary was built, in hexadecimal.
    pub digest: &'static str,
    /// The pages of its memory that every script writes to, four bytes each.
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
    /// Their numbers.
    pub(crate) fn pages(self) -> Vec<u32> {
        let (numbers, _) = self.pages.as_chunks();
        numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }
}

/// The guest of a name: `js`, anything else is the shell.
#[must_use]
pub fn embedded(name: &str) -> Embedded {
    if name == "js" { JS } else { SHELL }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the system does not say they are not known: on Linux it does.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_pages_are_known_that_scripts_write_to() {
        for name in ["js", "shell"] {
            let pages = embedded(name).pages();
            assert!(pages.len() > 16 && pages.is_sorted(), "{name}: {pages:?}");
        }
    }
}
