//! Operations of this run, as futures.
//!
//! [`begin`] records an operation, which is reported to the host at the end of the step, and returns a future of its
//! result. If the future is dropped before its completion (by `timeout`, `kill`, a closed pipe), the operation is
//! cancelled.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bashkit::CommandPlace;

use crate::bindings::types::{Completion, Failure, Location, Operation, OperationId, Pending, Value, Waiting};
use crate::clock;

/// Result of an operation.
pub(crate) type Ending = Result<Value, Failure>;

/// Operation that a future waits for.
#[derive(Default)]
struct Slot {
    waker: Option<Waker>,
    ending: Option<Ending>,
    /// True if the host delivered the completion, after which the operation need not be cancelled.
    over: bool,
    /// True if the operation runs a program or a script.
    runs: bool,
    /// True if the operation belongs to a [`changed`], which does not change files.
    follows: bool,
    /// Lower bound of the clock after the operation, in microseconds since the Unix epoch.
    until: Option<u64>,
}

/// State of the operations of one run.
struct Table {
    last: OperationId,
    slots: BTreeMap<OperationId, Slot>,
    started: Vec<Pending>,
    cancelled: Vec<OperationId>,
    /// True if a program or a script was cancelled, and the host does not know it yet.
    unheard: bool,
    /// Number of changes of files by this guest.
    changes: u64,
    /// Number of changes at the last wakeup of followers.
    seen: u64,
    /// Number of times that only followers were left.
    rests: u64,
}

thread_local! {
    static TABLE: RefCell<Table> = const {
        RefCell::new(Table {
            last: 0,
            slots: BTreeMap::new(),
            started: Vec::new(),
            cancelled: Vec::new(),
            unheard: false,
            changes: 0,
            seen: 0,
            rests: 0,
        })
    };
}

/// Future of the result of an operation.
#[must_use = "an operation whose future is dropped is given up"]
pub(crate) struct Outstanding {
    id: OperationId,
}

/// Returns the position in the script of the current command.
pub(crate) fn location() -> Option<Location> {
    let CommandPlace { file, line } = CommandPlace::current()?;
    Some(Location { file, line: u32::try_from(line).unwrap_or(u32::MAX), column: 0 })
}

/// Begins an operation and returns its handle.
pub(crate) fn begin(operation: Operation) -> Outstanding {
    begin_until(operation, None)
}

/// Begins a timer that ends after `duration`. When it ends, the clock has advanced by at least `duration`, regardless
/// of how the host rounds its time.
pub(crate) fn sleep(duration: Duration) -> Outstanding {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let until = clock::now_micros().saturating_add(micros);
    begin_until(Operation::Sleep(nanos), Some(until))
}

fn begin_until(operation: Operation, until: Option<u64>) -> Outstanding {
    TABLE.with_borrow_mut(|table| {
        table.last += 1;
        let id = table.last;
        let runs = matches!(operation, Operation::Run(_));
        table.slots.insert(id, Slot { until, runs, ..Slot::default() });
        table.started.push(Pending { id, operation });
        Outstanding { id }
    })
}

/// Delivers a completion, and wakes all futures that wait for an operation.
///
/// All are woken and not only the future of this operation: a `timeout` has no waker of its own. It wraps the future of
/// an operation that its command waits for, and checks the clock whenever that future is polled. Unnecessary polls are
/// harmless.
pub(crate) fn complete(completion: Completion) {
    let wakers: Vec<Waker> = TABLE.with_borrow_mut(|table| {
        // An unknown operation was cancelled in the previous step.
        if let Some(slot) = table.slots.get_mut(&completion.id) {
            slot.ending = Some(completion.result);
            slot.over = true;
            if let Some(until) = slot.until {
                clock::has_passed(until);
            }
        }
        table.slots.values_mut().filter_map(|slot| slot.waker.take()).collect()
    });
    // This is outside of the borrow: a waker may run code that begins operations.
    wakers.into_iter().for_each(Waker::wake);
}

/// Returns the operations that were started and cancelled since the last step.
pub(crate) fn take_changes() -> Waiting {
    TABLE.with_borrow_mut(|table| {
        table.unheard = false;
        Waiting { started: std::mem::take(&mut table.started), cancelled: std::mem::take(&mut table.cancelled) }
    })
}

/// Waits until the host has processed all cancellations. From then on, the files contain the output of cancelled
/// programs.
pub(crate) async fn heard() {
    if TABLE.with_borrow(|table| table.unheard) {
        // The result does not matter: a step has ended.
        let _ = sleep(Duration::ZERO).await;
    }
}

/// Records that a file changes.
pub(crate) fn note_change() {
    TABLE.with_borrow_mut(|table| table.changes += 1);
}

/// Waits until a file may have changed, and returns false if there is nothing else that could change one. Changes by
/// this guest are noticed at the end of a step's work. Other changes are checked for at each completion, and after each
/// `interval`.
pub(crate) fn changed(interval: Duration) -> Changed {
    let timer = sleep(interval);
    TABLE.with_borrow_mut(|table| {
        if let Some(slot) = table.slots.get_mut(&timer.id) {
            slot.follows = true;
        }
        Changed { timer, changes: table.changes, rests: table.rests }
    })
}

/// Wakes the followers if there may be changes for them. Returns true if any was woken.
///
/// This is called when nothing in this guest can continue. If no file has changed and only followers are outstanding,
/// no file will change any more.
pub(crate) fn wake_followers() -> bool {
    let wakers: Vec<Waker> = TABLE.with_borrow_mut(|table| {
        let waiting = |slot: &&mut Slot| slot.follows && !slot.over;
        if table.slots.values_mut().filter(waiting).count() == 0 {
            return Vec::new();
        }
        if table.seen == table.changes {
            if table.slots.values().any(|slot| !slot.follows && !slot.over) {
                return Vec::new();
            }
            table.rests += 1;
        }
        table.seen = table.changes;
        table.slots.values_mut().filter(waiting).filter_map(|slot| slot.waker.take()).collect()
    });
    let some = !wakers.is_empty();
    wakers.into_iter().for_each(Waker::wake);
    some
}

/// Wait for a change of files.
#[must_use = "a wait that is dropped is given up"]
pub(crate) struct Changed {
    timer: Outstanding,
    /// Counters at the beginning of the wait.
    changes: u64,
    rests: u64,
}

impl Future for Changed {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        let timed = Pin::new(&mut self.timer).poll(context).is_ready();
        let (changes, rests) = TABLE.with_borrow(|table| (table.changes, table.rests));
        match (timed || changes != self.changes, rests != self.rests) {
            (true, _) => Poll::Ready(true),
            (false, true) => Poll::Ready(false),
            (false, false) => Poll::Pending,
        }
    }
}

impl Outstanding {
    /// Returns true if the host delivered the completion of the operation.
    pub(crate) fn is_over(&self) -> bool {
        TABLE.with_borrow(|table| table.slots.get(&self.id).is_some_and(|slot| slot.over))
    }
}

impl Future for Outstanding {
    type Output = Ending;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ending> {
        TABLE.with_borrow_mut(|table| {
            let slot = table.slots.get_mut(&self.id).expect("a slot lives as long as its future");
            match slot.ending.take() {
                Some(ending) => Poll::Ready(ending),
                None => {
                    slot.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        let slot = TABLE.with_borrow_mut(|table| {
            let slot = table.slots.remove(&self.id)?;
            if !slot.over {
                let before = table.started.len();
                table.started.retain(|pending| pending.id != self.id);
                // An operation that the host does not know yet is simply removed.
                if table.started.len() == before {
                    table.cancelled.push(self.id);
                    table.unheard |= slot.runs;
                }
            }
            Some(slot)
        });
        // This is outside of the borrow: dropping a waker may drop a task, and with it other operations.
        drop(slot);
    }
}
