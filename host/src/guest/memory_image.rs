//! Memory of a guest that waits: taken as the pages that differ from the guest's image, and put into a fresh instance.
//!
//! Between two steps the stack of a guest is empty, and nothing that it has besides its memory ever changes: its only
//! variable global points to the top of that stack, and no script changes its table of functions. So the memory is all of
//! its state (`docs/decisions/0062-suspended-heaps.md`).
//!
//! A component's memory is out of the host's reach, except while a parameter is written into it. So the export `touch` is
//! called with a list that is empty, and lends the memory while it is lowered. The guest notices nothing of that.

use std::sync::{Mutex, PoisonError};

use wasmtime::component::__internal::{CanonicalAbiInfo, InstanceType, InterfaceType, LowerContext};
use wasmtime::component::{ComponentType, Lower};
use wasmtime::{Result, bail, ensure};

use super::instance_pool::GuestInstance;

/// Size of a page, in bytes. Smaller ones would differ less, and need longer lists.
pub(crate) const PAGE: usize = 4_096;

/// Size of WebAssembly's own pages, by which a memory grows.
const WASM_PAGE: usize = 65_536;

/// Largest memory that is taken, in bytes: what each guest may have besides the memory limit of its run, so that no limit
/// depends on whether a run was replayed.
pub(crate) const MAX_MEMORY: usize = 64 << 20;

/// Bytes that the guest's allocator needs for itself when it grows the memory: some 50.
const ALLOCATOR_OVERHEAD: usize = 1_024;

/// Most requests by which a memory is grown: the first use up what the guest's heap has left.
const MAX_REQUESTS: usize = 1_000;

/// Memory of a guest, as it differs from the guest's image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedMemory {
    /// Size of the whole memory, in bytes.
    pub(crate) size: usize,
    /// Numbers of the pages that differ, in ascending order.
    pub(crate) pages: Vec<u32>,
    /// Contents of these pages, one after the other.
    pub(crate) contents: Vec<u8>,
}

/// Memory of an instance, while a parameter is lowered into it.
pub(super) trait LentMemory {
    /// Returns all of the memory.
    fn bytes(&mut self) -> &mut [u8];
    /// Has the guest allocate so many bytes, which it never frees.
    fn allocate(&mut self, bytes: usize) -> Result<()>;
}

impl ChangedMemory {
    /// Takes the memory of an instance; `None` if it is larger than what is kept.
    pub(super) fn take(instance: &mut GuestInstance, image: &[u8]) -> Result<Option<Self>> {
        let mut taken = None;
        instance.lend_memory(&mut |memory| {
            let bytes = memory.bytes();
            taken = (bytes.len() <= MAX_MEMORY).then(|| Self::of(bytes, image));
            Ok(())
        })?;
        Ok(taken)
    }

    fn of(bytes: &[u8], image: &[u8]) -> Self {
        let (mut pages, mut contents) = (Vec::new(), Vec::new());
        for (number, page) in (0..).zip(bytes.chunks_exact(PAGE)) {
            if page != image_page(image, number) {
                pages.push(number);
                contents.extend_from_slice(page);
            }
        }
        Self { size: bytes.len(), pages, contents }
    }

    /// Returns true if this can be the memory of a guest, whoever wrote it down.
    pub(crate) fn is_valid(&self) -> bool {
        let most = self.size / PAGE;
        self.size <= MAX_MEMORY
            && self.size.is_multiple_of(WASM_PAGE)
            && self.contents.len() == self.pages.len() * PAGE
            && self.pages.is_sorted_by(|one, next| one < next)
            && self.pages.last().is_none_or(|last| (*last as usize) < most)
    }

    /// Puts the memory into an instance whose own is still the guest's image. `image` is only asked for if the memory has
    /// grown.
    ///
    /// # Errors
    /// If the memory is not valid, or the guest cannot grow its own to the same size. Then the instance is of no use.
    pub(super) fn put<'i>(&self, instance: &mut GuestInstance, image: impl Fn() -> Result<&'i [u8]>) -> Result<()> {
        ensure!(self.is_valid(), "the pages are not those of a memory");
        let mut fresh = 0;
        instance.lend_memory(&mut |memory| {
            fresh = memory.bytes().len();
            Ok(())
        })?;
        ensure!(fresh <= self.size, "the memory is smaller than the image");
        let image = if fresh < self.size { Some(image()?) } else { None };
        instance.lend_memory(&mut |memory| {
            if let Some(image) = image {
                self.grow(memory)?;
                reset(memory.bytes(), image);
            }
            let bytes = memory.bytes();
            for (number, page) in self.pages.iter().zip(self.contents.chunks_exact(PAGE)) {
                let start = *number as usize * PAGE;
                bytes[start..start + PAGE].copy_from_slice(page);
            }
            Ok(())
        })
    }

    /// Grows a memory to the size that this one has.
    fn grow(&self, memory: &mut dyn LentMemory) -> Result<()> {
        for _ in 0..MAX_REQUESTS {
            match self.size.checked_sub(memory.bytes().len()) {
                Some(0) => return Ok(()),
                Some(missing) => memory.allocate(missing - ALLOCATOR_OVERHEAD)?,
                None => break,
            }
        }
        bail!("the memory does not grow to {} bytes", self.size)
    }
}

/// Returns a page of the image; behind its end there are only zeros.
fn image_page(image: &[u8], number: u32) -> &[u8] {
    let start = number as usize * PAGE;
    image.get(start..start + PAGE).unwrap_or(&[0; PAGE])
}

/// Undoes what growing a memory has written to it.
fn reset(bytes: &mut [u8], image: &[u8]) {
    for (number, page) in (0..).zip(bytes.chunks_exact_mut(PAGE)) {
        let original = image_page(image, number);
        if page != original {
            page.copy_from_slice(original);
        }
    }
}

impl GuestInstance {
    /// Calls `visit` with the memory of the instance, which executes nothing of a script.
    fn lend_memory(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let touch = self.bindings.touch_function().typed::<(MemoryVisit<'_>,), ()>(&self.store)?;
        touch.call(&mut self.store, (MemoryVisit(Mutex::new(visit)),))
    }

    /// Copies the memory of the instance.
    pub(super) fn copy_memory(&mut self) -> Result<Box<[u8]>> {
        let mut copied = Box::default();
        self.lend_memory(&mut |memory| {
            copied = Box::from(&*memory.bytes());
            Ok(())
        })?;
        Ok(copied)
    }
}

/// What is done with a memory while it is lent.
type Visit<'v> = dyn FnMut(&mut dyn LentMemory) -> Result<()> + Send + 'v;

/// Parameter that is lowered as an empty list of numbers, and lends the memory meanwhile.
struct MemoryVisit<'v>(Mutex<&'v mut Visit<'v>>);

impl MemoryVisit<'_> {
    fn visit<T>(&self, context: &mut LowerContext<'_, T>) -> Result<()> {
        let mut visit = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        visit(&mut LoweredMemory(context))
    }
}

/// List that is passed to the guest.
const NO_PAGES: &[u32] = &[];

#[expect(unsafe_code, reason = "a type of parameters is one by an unsafe trait")]
// SAFETY: type, layout and check are those of a list of numbers, to which lowering is left.
unsafe impl ComponentType for MemoryVisit<'_> {
    type Lower = <[u32] as ComponentType>::Lower;

    const ABI: CanonicalAbiInfo = <[u32] as ComponentType>::ABI;

    fn typecheck(ty: &InterfaceType, types: &InstanceType<'_>) -> Result<()> {
        <[u32] as ComponentType>::typecheck(ty, types)
    }
}

#[expect(unsafe_code, reason = "a type of parameters is one by an unsafe trait")]
// SAFETY: what is lowered is an empty list of numbers, by the implementation of wasmtime. The memory is only accessed
// within its bounds, as a slice that wasmtime gives.
unsafe impl Lower for MemoryVisit<'_> {
    fn linear_lower_to_flat<T>(
        &self,
        context: &mut LowerContext<'_, T>,
        ty: InterfaceType,
        target: &mut std::mem::MaybeUninit<Self::Lower>,
    ) -> Result<()> {
        self.visit(context)?;
        NO_PAGES.linear_lower_to_flat(context, ty, target)
    }

    fn linear_lower_to_memory<T>(
        &self,
        context: &mut LowerContext<'_, T>,
        ty: InterfaceType,
        offset: usize,
    ) -> Result<()> {
        self.visit(context)?;
        NO_PAGES.linear_lower_to_memory(context, ty, offset)
    }
}

struct LoweredMemory<'m, 'c, T: 'static>(&'m mut LowerContext<'c, T>);

impl<T: 'static> LentMemory for LoweredMemory<'_, '_, T> {
    fn bytes(&mut self) -> &mut [u8] {
        self.0.as_slice_mut()
    }

    fn allocate(&mut self, bytes: usize) -> Result<()> {
        self.0.realloc(0, 0, 8, bytes).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Memory that grows like a guest's, and leaves traces of that.
    struct FakeMemory(Vec<u8>);

    impl LentMemory for FakeMemory {
        fn bytes(&mut self) -> &mut [u8] {
            &mut self.0
        }

        fn allocate(&mut self, bytes: usize) -> Result<()> {
            let grown = self.0.len() + (bytes + 50).next_multiple_of(WASM_PAGE);
            self.0[7] ^= 1;
            self.0.resize(grown, 0);
            self.0[grown - 8] = 1;
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn changed_memory_put_over_image_is_the_memory_taken(
            grown in 0_usize..4,
            writes in prop::collection::vec((0_usize..6 * WASM_PAGE, any::<u8>()), 0..40),
        ) {
            let image = vec![3; 2 * WASM_PAGE];
            let mut bytes = image.clone();
            bytes.resize(image.len() + grown * WASM_PAGE, 0);
            for (at, byte) in writes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let changed = ChangedMemory::of(&bytes, &image);
            prop_assert!(changed.is_valid());
            let mut fresh = FakeMemory(image.clone());
            if grown > 0 {
                changed.grow(&mut fresh).expect("it grows");
                reset(fresh.bytes(), &image);
            }
            for (number, page) in changed.pages.iter().zip(changed.contents.chunks_exact(PAGE)) {
                fresh.0[*number as usize * PAGE..][..PAGE].copy_from_slice(page);
            }
            prop_assert_eq!(fresh.0, bytes);
        }
    }

    #[test]
    fn changed_memory_with_pages_beyond_its_bounds_is_not_valid() {
        let good = ChangedMemory { size: 2 * WASM_PAGE, pages: vec![1, 31], contents: vec![0; 2 * PAGE] };
        assert!(good.is_valid());
        for bad in [
            ChangedMemory { pages: vec![1, 32], ..good.clone() },
            ChangedMemory { pages: vec![1, 1], ..good.clone() },
            ChangedMemory { pages: vec![2, 1], ..good.clone() },
            ChangedMemory { contents: vec![0; PAGE], ..good.clone() },
            ChangedMemory { size: 2 * WASM_PAGE + 1, ..good.clone() },
            ChangedMemory { size: MAX_MEMORY + WASM_PAGE, ..good.clone() },
            ChangedMemory { size: 0, ..good },
        ] {
            assert!(!bad.is_valid(), "{} {:?}", bad.size, bad.pages);
        }
    }
}
