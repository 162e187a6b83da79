//! What a run says between its steps, and what stops it.

use std::sync::mpsc::Sender;
use std::time::Duration;

use super::result::RunResult;
use super::work::News;
use crate::code::Interrupt;
use crate::gate::Admission;
use crate::guest::OperationId;
use crate::tool::ProgramStart;

/// Where a run stands.
pub enum Step {
    /// It waits: for these operations, which are new since the last step, and for those of earlier steps.
    Blocked(Vec<Pending>),
    /// It has ended.
    Finished(Box<RunResult>),
}

/// An operation to perform: hand it to [`Run::perform`](super::Run::perform), or do it yourself and give
/// [`Run::resume`](super::Run::resume) what came of it.
pub struct Pending {
    /// Its name in a [`Completion`](crate::guest::Completion).
    pub id: OperationId,
    /// What to do.
    pub operation: Operation,
}

/// Something that a run waits for.
#[non_exhaustive]
pub enum Operation {
    /// A call that the gate has admitted: granted, debited and on record. Denied calls never come here.
    Call(Admission),
    /// Input of a stream.
    Read {
        /// Which; 0 is the standard input of the script.
        stream: u32,
        /// At most so many bytes.
        limit: u32,
    },
    /// Time.
    Sleep(Duration),
    /// A program that the gate has admitted; it reads and writes streams of the run. It is for
    /// [`Run::perform`](super::Run::perform).
    Program(Admission, ProgramStreams),
    /// Bytes for a program. They are for [`Run::perform`](super::Run::perform).
    Write {
        /// Which stream.
        stream: u32,
        /// What.
        bytes: Vec<u8>,
        /// Nothing follows.
        end: bool,
    },
}

/// What a program that is to run reads and writes.
pub struct ProgramStreams(pub(super) ProgramStart);

impl Operation {
    /// Of what the gate has admitted.
    pub(super) fn admission(&self) -> Option<&Admission> {
        match self {
            Self::Call(admission) | Self::Program(admission, _) => Some(admission),
            _ => None,
        }
    }
}

/// Stops a run from another thread, or from a signal handler's.
#[derive(Clone)]
pub struct CancelHandle {
    pub(super) interrupt: Interrupt,
    pub(super) news: Sender<News>,
}

impl CancelHandle {
    /// Stops the run, wherever it is, and every call that it waits for.
    pub fn cancel(&self) {
        self.interrupt.cancel();
        let _ = self.news.send(News::Cancelled);
    }
}
