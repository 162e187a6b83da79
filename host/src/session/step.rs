//! Steps of a run, and the handle that cancels it.

use std::sync::mpsc::Sender;
use std::time::Duration;

use super::operation_executor::RunEvent;
use super::result::RunResult;
use crate::code::Interrupt;
use crate::gate::Admission;
use crate::guest::OperationId;
use crate::tool::ProgramStart;

/// State of a run after a step.
pub enum Step {
    /// The run waits for these operations, which are new since the last step, and for those of earlier steps.
    Blocked(Vec<Pending>),
    /// The run has ended.
    Finished(Box<RunResult>),
}

/// Operation to perform: pass it to [`Run::perform`](super::Run::perform), or perform it yourself and pass the result
/// to [`Run::resume`](super::Run::resume).
pub struct Pending {
    /// Number that the operation's [`Completion`](crate::guest::Completion) repeats.
    pub id: OperationId,
    /// The operation itself.
    pub operation: Operation,
}

/// Operation that a run waits for.
#[non_exhaustive]
pub enum Operation {
    /// Call that the gate has admitted: granted, debited and on record. Denied calls never get here.
    Call(Admission),
    /// Read from the standard input of the script.
    Read {
        /// Most bytes to read.
        limit: u32,
    },
    /// Sleep for a duration.
    Sleep(Duration),
    /// Program that the gate has admitted, with streams of the run. It is for [`Run::perform`](super::Run::perform).
    Program(Admission, ProgramStreams),
}

/// Streams of a program that is about to run.
pub struct ProgramStreams(pub(super) ProgramStart);

impl Operation {
    /// Returns the gate's admission, for calls and programs.
    pub(super) fn admission(&self) -> Option<&Admission> {
        match self {
            Self::Call(admission) | Self::Program(admission, _) => Some(admission),
            _ => None,
        }
    }
}

/// Handle that cancels a run from another thread, or from a signal handler's.
#[derive(Clone)]
pub struct CancelHandle {
    pub(super) interrupt: Interrupt,
    pub(super) events: Sender<RunEvent>,
}

impl CancelHandle {
    /// Cancels the run in whatever state it is, and every call that it waits for.
    pub fn cancel(&self) {
        self.interrupt.cancel();
        let _ = self.events.send(RunEvent::Cancelled);
    }
}
