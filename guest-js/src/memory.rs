//! This instance's memory, as the system has it.
#![expect(unsafe_code, reason = "pages, whatever lies in them")]

/// Writes to these pages, of 4 KiB, what is there.
pub(crate) fn touch(pages: &[u32]) {
    let end = core::arch::wasm32::memory_size::<0>() << 4;
    for page in pages.iter().map(|page| *page as usize).filter(|page| *page < end) {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(page << 12);
        // SAFETY: it is within this memory, and what is read is what is written, at once.
        unsafe { place.write_volatile(place.read_volatile()) };
    }
}
