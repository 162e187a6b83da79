//! Operations of this run: which began in this step, which are outstanding, which were cancelled.
//!
//! This table holds numbers and records only. The continuation of an operation is in [`crate::calls`] or in the
//! prelude's table, under the same number.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::bindings::types::{Operation, OperationId, Pending, Waiting};

/// Table of the operations of one run.
struct OperationTable {
    last: OperationId,
    outstanding: BTreeSet<OperationId>,
    /// Outstanding operations that do not keep a script alive once it has come to its end.
    background: BTreeSet<OperationId>,
    started: Vec<Pending>,
    cancelled: Vec<OperationId>,
}

thread_local! {
    static TABLE: RefCell<OperationTable> = const {
        RefCell::new(OperationTable {
            last: 0,
            outstanding: BTreeSet::new(),
            background: BTreeSet::new(),
            started: Vec::new(),
            cancelled: Vec::new(),
        })
    };
}

/// Begins an operation, which the host learns about at the end of the step.
pub(crate) fn begin(operation: Operation) -> OperationId {
    TABLE.with_borrow_mut(|table| {
        table.last += 1;
        let id = table.last;
        table.outstanding.insert(id);
        table.started.push(Pending { id, operation });
        id
    })
}

/// Begins an operation that does not keep a script alive that has otherwise ended.
pub(crate) fn begin_in_background(operation: Operation) -> OperationId {
    let id = begin(operation);
    TABLE.with_borrow_mut(|table| table.background.insert(id));
    id
}

/// Sets whether an outstanding operation keeps alive a script that has otherwise ended.
pub(crate) fn set_background(id: OperationId, background: bool) {
    TABLE.with_borrow_mut(|table| {
        if !background {
            table.background.remove(&id);
        } else if table.outstanding.contains(&id) {
            table.background.insert(id);
        }
    });
}

/// Cancels an operation. An operation that the host has not learned about yet is dropped.
pub(crate) fn cancel(id: OperationId) {
    TABLE.with_borrow_mut(|table| {
        if !table.outstanding.remove(&id) {
            return;
        }
        table.background.remove(&id);
        let before = table.started.len();
        table.started.retain(|pending| pending.id != id);
        if table.started.len() == before {
            table.cancelled.push(id);
        }
    });
}

/// Records that an operation completed. Returns false if it was not outstanding, so that its completion must not be
/// delivered.
pub(crate) fn complete(id: OperationId) -> bool {
    TABLE.with_borrow_mut(|table| {
        table.background.remove(&id);
        table.outstanding.remove(&id)
    })
}

/// Returns true if no operation is outstanding.
pub(crate) fn none_outstanding() -> bool {
    TABLE.with_borrow(|table| table.outstanding.is_empty())
}

/// Returns true if no outstanding operation keeps alive a script that has otherwise ended.
pub(crate) fn only_background() -> bool {
    TABLE.with_borrow(|table| table.outstanding.len() == table.background.len())
}

/// Returns the changes since the last step.
pub(crate) fn take_changes() -> Waiting {
    TABLE.with_borrow_mut(|table| Waiting {
        started: std::mem::take(&mut table.started),
        cancelled: std::mem::take(&mut table.cancelled),
    })
}
