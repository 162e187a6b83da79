//! Table of the handles that a tool's instance has of its host, and the memory that they take.
//!
//! A handle is small for the tool and may be large for the host: a request holds its address and its fields, a body
//! holds bytes that were written and not yet sent. The first handles of an instance are free; room for more is charged
//! to its session's memory.

use wasmtime::component::ResourceTable;

use crate::code::{MemoryAccount, MemoryCharge};

/// Most bytes that the host holds for one handle: the fields of a message and its address, or chunks of a body.
const HANDLE_BYTES: u64 = 64 << 10;

/// Number of handles by which the table grows. The first ones are not charged.
const STEP: usize = 32;

/// Most handles of an instance.
const MAX_HANDLES: usize = 4_096;

/// Most handles that one call of the host makes.
const SPARE: usize = 4;

/// Table of the handles of one instance.
pub(super) struct HandleTable {
    table: ResourceTable,
    charge: MemoryCharge,
}

impl HandleTable {
    /// Creates an empty table, which charges a session's memory as it grows.
    pub(super) fn new(session: &MemoryAccount) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(STEP);
        Self { table, charge: session.open() }
    }

    /// Returns the number of handles that there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.table.max_capacity()
    }

    /// Returns true if the table has its largest size, whatever the memory.
    pub(super) fn is_largest(&self) -> bool {
        self.capacity() >= MAX_HANDLES
    }

    /// Returns the table with room for one call of the host, if there is memory for it. Otherwise the table is full
    /// once its last slots are used.
    pub(super) fn with_room(&mut self) -> &mut ResourceTable {
        let capacity = self.capacity();
        if !self.has_room() && capacity < MAX_HANDLES && self.charge.grow(STEP as u64 * HANDLE_BYTES) {
            self.table.set_max_capacity(capacity + STEP);
        }
        &mut self.table
    }

    /// Returns true if some entries fit, which is tried: a table does not report how many it has.
    fn has_room(&mut self) -> bool {
        let tried = [(); SPARE].map(|()| self.table.push(()).ok());
        let fits = tried.iter().all(Option::is_some);
        for entry in tried.into_iter().flatten() {
            let _ = self.table.delete(entry);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_beyond_the_first_are_charged_until_their_instance_is_dropped() {
        let session = MemoryAccount::new(1 << 30);
        let mut handles = HandleTable::new(&session);
        for _ in 0..STEP - SPARE {
            handles.with_room().push("a handle").expect("there is room");
        }
        assert_eq!(session.taken(), 0);
        for _ in 0..STEP {
            handles.with_room().push("a handle").expect("there is room");
        }
        assert_eq!(session.taken(), STEP as u64 * HANDLE_BYTES);
        drop(handles);
        assert_eq!(session.taken(), 0);
    }

    #[test]
    fn handles_that_are_dropped_make_room() {
        let session = MemoryAccount::new(1 << 30);
        let mut handles = HandleTable::new(&session);
        for _ in 0..10 * STEP {
            let handle = handles.with_room().push("a handle").expect("there is room");
            handles.with_room().delete(handle).expect("it is there");
        }
        assert_eq!((session.taken(), handles.capacity()), (0, STEP));
    }

    #[test]
    fn table_is_full_where_the_session_has_no_memory_for_more_and_at_its_end() {
        for (memory, most) in [(STEP as u64 * HANDLE_BYTES, 2 * STEP), (u64::MAX, MAX_HANDLES)] {
            let session = MemoryAccount::new(memory);
            let mut handles = HandleTable::new(&session);
            let made = (0..2 * MAX_HANDLES).take_while(|_| handles.with_room().push("a handle").is_ok()).count();
            assert_eq!(made, most);
        }
    }
}
