//! What the guests of a run wait for, and what the host holds of it.

use std::collections::HashMap;
use std::ops::Deref;

use crate::code::Interrupt;
use crate::guest::OperationId;
use crate::tool::WorkingFiles;
use crate::vfs::Tree;

/// What is kept of an operation that the guest waits for.
pub(super) struct Outstanding {
    /// Of a call: its number, and the switch that stops it.
    pub(super) call: Option<(u64, Interrupt)>,
    /// Of a program that runs: the files that it found, and those that it works on.
    pub(super) program: Option<(Tree, WorkingFiles)>,
    /// Bytes that it holds in the host: a call's arguments.
    bytes: u64,
}

impl Outstanding {
    /// Of an operation that holds so many bytes.
    pub(super) fn new(call: Option<(u64, Interrupt)>, bytes: u64) -> Self {
        Self { call, program: None, bytes }
    }
}

/// All of them. The bytes are summed as they come and go: a guest may wait for thousands, and begin more in each step.
#[derive(Default)]
pub(super) struct AllOutstanding {
    operations: HashMap<OperationId, Outstanding>,
    bytes: u64,
}

impl AllOutstanding {
    /// Bytes that the host holds of all of them.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn insert(&mut self, id: OperationId, operation: Outstanding) {
        // A number names one at a time (`Process::named`); whatever comes, the sum stays right.
        drop(self.remove(id));
        self.bytes = self.bytes.saturating_add(operation.bytes);
        self.operations.insert(id, operation);
    }

    pub(super) fn remove(&mut self, id: OperationId) -> Option<Outstanding> {
        let operation = self.operations.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(operation.bytes);
        Some(operation)
    }

    /// Takes note of what a program works on.
    pub(super) fn works(&mut self, id: OperationId, found: Tree, working: WorkingFiles) {
        if let Some(operation) = self.operations.get_mut(&id) {
            operation.program = Some((found, working));
        }
    }
}

impl Deref for AllOutstanding {
    type Target = HashMap<OperationId, Outstanding>;

    fn deref(&self) -> &Self::Target {
        &self.operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_what_is_there() {
        let mut all = AllOutstanding::default();
        for (id, bytes) in [(1, 10), (2, 20), (3, 0), (2, 5)] {
            all.insert(id, Outstanding::new(None, bytes));
        }
        assert_eq!((all.bytes(), all.len()), (15, 3));
        for (id, left) in [(1, 5), (1, 5), (9, 5), (3, 5), (2, 0)] {
            all.remove(id);
            assert_eq!(all.bytes(), left, "{id}");
        }
    }
}
