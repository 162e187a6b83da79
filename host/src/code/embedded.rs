//! Guests that are embedded in this binary.

/// Guest that is part of this binary.
#[derive(Clone, Copy)]
pub struct Embedded {
    /// The guest itself.
    pub content: GuestContent,
    /// blake3 of the guest's component in hexadecimal, known when the binary was built.
    pub digest: &'static str,
    /// Numbers of the memory pages that every script writes to, four bytes each.
    pub pages: &'static [u8],
}

/// Forms in which a binary has a guest, each compressed with zstd.
#[derive(Clone, Copy)]
pub enum GuestContent {
    /// Output of `precompile_component`, made by `tollhouse-precompile` when the binary was built.
    MachineCode(&'static [u8]),
    /// Component of the crate `tollhouse-guests`, which is compiled when it is first loaded.
    Component(&'static [u8]),
}

#[cfg(compiled_guests)]
const JS: Embedded = Embedded {
    content: GuestContent::MachineCode(include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/js.cwasm.zst"))),
    digest: env!("TOLLHOUSE_GUEST_JS"),
    pages: include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/js.pages")),
};

#[cfg(compiled_guests)]
const SHELL: Embedded = Embedded {
    content: GuestContent::MachineCode(include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/shell.cwasm.zst"))),
    digest: env!("TOLLHOUSE_GUEST_SHELL"),
    pages: include_bytes!(concat!(env!("TOLLHOUSE_GUESTS"), "/shell.pages")),
};

#[cfg(not(compiled_guests))]
const JS: Embedded = portable(tollhouse_guests::JAVASCRIPT);

#[cfg(not(compiled_guests))]
const SHELL: Embedded = portable(tollhouse_guests::SHELL);

/// Takes a guest as it is for all machines.
#[cfg(any(test, not(compiled_guests)))]
pub(super) const fn portable(guest: tollhouse_guests::StoredGuest) -> Embedded {
    Embedded { content: GuestContent::Component(guest.component), digest: guest.digest, pages: guest.pages }
}

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
    fn embedded_guest_has_list_of_pages_that_scripts_write() {
        for name in ["js", "shell"] {
            let pages = embedded(name).pages();
            assert!(pages.len() > 16 && pages.is_sorted(), "{name}: {pages:?}");
        }
    }
}
