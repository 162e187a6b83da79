//! Operations that the guests of a run wait for, and the memory that the host holds for them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Deref;

use super::replayed_programs::Launch;
use crate::capability::Limits;
use crate::code::Interrupt;
use crate::error::Failure;
use crate::guest::OperationId;
use crate::session::journal::CallStart;
use crate::session::result::out_of_time;
use crate::session::step::Operation;
use crate::tool::WorkingFiles;
use crate::vfs::Tree;

/// Kind of an operation, as an error names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperationKind {
    /// Call of a tool or of a program, by its canonical method.
    Call(String),
    /// Timer of a script.
    Timer,
    /// Bytes of standard input.
    Input,
    /// Nested script.
    Script,
    /// Stream of a program or of a nested script.
    Stream,
    /// Operation that was refused; its failure is about to be delivered.
    Refused,
}

impl OperationKind {
    pub(super) fn of(operation: &Operation) -> Self {
        match operation {
            Operation::Call(admission) | Operation::Program(admission, _) => Self::Call(admission.method().to_owned()),
            Operation::Sleep(_) => Self::Timer,
            Operation::Read { .. } => Self::Input,
        }
    }
}

/// Operation that the guest waits for.
pub(super) struct OutstandingOperation {
    awaited: OperationKind,
    /// Number of the call and the interrupt that stops it, for calls.
    pub(super) call: Option<(u64, Interrupt)>,
    /// Files that a running program found, and those that it works on.
    pub(super) program: Option<(Tree, WorkingFiles)>,
    /// Bytes of a call's arguments that the host holds.
    bytes: u64,
    /// True if the operation has no effect besides its result, so that it may be repeated.
    pub(super) is_pure: bool,
    /// Digest of a call as the script made it, if its run has a journal.
    pub(super) digest: Option<String>,
    /// Stream that the operation reads or writes.
    pub(super) stream: Option<OperationStream>,
    /// Streams of a program.
    pub(super) streams: Option<ProgramStreamNumbers>,
    /// Start of a call without effects, once it was made.
    pub(super) started: Option<CallStart>,
    /// Files and time with which a program starts that had started before its run was resumed.
    pub(super) launch: Option<Launch>,
}

/// Stream that an operation reads or writes.
#[derive(Clone, Copy)]
pub(super) struct OperationStream {
    /// Number that the guest gave it.
    pub(super) number: u32,
    /// True if a script is at the other end: what is there then depends only on what the scripts have done.
    pub(super) is_of_script: bool,
}

/// Numbers of the streams of a program.
#[derive(Clone, Copy)]
pub(super) struct ProgramStreamNumbers {
    /// Standard output and standard error.
    pub(super) output: [u32; 2],
    /// Bytes that the script has written to its input.
    pub(super) given: usize,
}

impl OutstandingOperation {
    /// Creates an operation that holds this number of bytes.
    pub(super) fn new(awaited: OperationKind, call: Option<(u64, Interrupt)>, bytes: u64) -> Self {
        Self {
            awaited,
            call,
            program: None,
            bytes,
            is_pure: true,
            digest: None,
            stream: None,
            streams: None,
            started: None,
            launch: None,
        }
    }
}

impl OutstandingOperation {
    /// Creates an operation on a stream.
    pub(super) fn on_stream(awaited: OperationKind, stream: OperationStream) -> Self {
        Self { stream: Some(stream), ..Self::new(awaited, None, 0) }
    }

    /// Returns true for an operation that takes time outside of the guests: a call that was admitted, or input of the run.
    pub(super) fn is_elsewhere(&self, is_main: bool) -> bool {
        self.call.is_some() || (is_main && self.awaited == OperationKind::Input)
    }

    /// Returns true for a nested script, and for a stream between scripts, whose results the scripts of a run determine
    /// themselves.
    pub(super) fn is_between_scripts(&self, is_main: bool) -> bool {
        match self.awaited {
            OperationKind::Script => true,
            OperationKind::Stream => self.stream.is_some_and(|stream| stream.is_of_script),
            OperationKind::Input => !is_main,
            _ => false,
        }
    }

    /// Returns the method of a call.
    pub(super) fn method(&self) -> Option<&str> {
        match &self.awaited {
            OperationKind::Call(method) => Some(method),
            _ => None,
        }
    }
}

fn plural(number: usize, name: &str) -> String {
    if number == 1 { format!("1 {name}") } else { format!("{number} {name}s") }
}

/// All operations that guests wait for. Their bytes are summed incrementally: a guest may wait for thousands, and start
/// more in each step.
#[derive(Default)]
pub(super) struct OutstandingOperations {
    operations: HashMap<OperationId, OutstandingOperation>,
    bytes: u64,
}

impl OutstandingOperations {
    /// Returns the bytes that the host holds for all operations.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn insert(&mut self, id: OperationId, operation: OutstandingOperation) {
        // A number identifies one operation at a time (`GuestProcess::assign_ids`); in any case the sum stays right.
        drop(self.remove(id));
        self.bytes = self.bytes.saturating_add(operation.bytes);
        self.operations.insert(id, operation);
    }

    /// Sets the start of a call, if it is one without effects.
    pub(super) fn set_started(&mut self, id: OperationId, started: CallStart) {
        if let Some(operation) = self.operations.get_mut(&id).filter(|operation| operation.is_pure) {
            operation.started = Some(started);
        }
    }

    pub(super) fn remove(&mut self, id: OperationId) -> Option<OutstandingOperation> {
        let operation = self.operations.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(operation.bytes);
        Some(operation)
    }

    /// Returns the failure of a run whose time is over while its script waits for these operations.
    pub(super) fn out_of_time(&self, limits: &Limits) -> Failure {
        let mut failure = out_of_time(limits);
        let awaited = self.summary();
        if !awaited.is_empty() {
            let _ = write!(failure.message, " while the script waited for {}", awaited.join(" and "));
        }
        let only_timers = self.operations.values().all(|operation| operation.awaited == OperationKind::Timer);
        if only_timers && !self.operations.is_empty() {
            failure.hint = failure.hint.map(|hint| {
                format!("a run continues after its script has returned until its timers end: clear them, or {hint}")
            });
        }
        failure
    }

    /// Describes the operations, one phrase for each kind.
    fn summary(&self) -> Vec<String> {
        let count =
            |kind: &OperationKind| self.operations.values().filter(|operation| operation.awaited == *kind).count();
        let mut methods: Vec<&str> = self.operations.values().filter_map(|operation| operation.method()).collect();
        let calls = methods.len();
        methods.sort_unstable();
        methods.dedup();
        let mut phrases = Vec::new();
        if let [first, others @ ..] = methods.as_slice() {
            let and_others = if others.is_empty() {
                String::new()
            } else {
                format!(" and {}", plural(others.len(), "other method"))
            };
            phrases.push(format!("{} of `{first}`{and_others}", plural(calls, "call")));
        }
        for (kind, name) in [
            (OperationKind::Timer, "timer"),
            (OperationKind::Script, "nested script"),
            (OperationKind::Stream, "stream"),
        ] {
            match count(&kind) {
                0 => {}
                number => phrases.push(plural(number, name)),
            }
        }
        if count(&OperationKind::Input) > 0 {
            phrases.push("standard input".to_owned());
        }
        phrases
    }

    /// Counts bytes that the script has written to a program.
    pub(super) fn count_given(&mut self, program: OperationId, bytes: usize) {
        let program = self.operations.get_mut(&program).and_then(|operation| operation.streams.as_mut());
        if let Some(streams) = program {
            streams.given = streams.given.saturating_add(bytes);
        }
    }

    /// Sets the files and the time with which a program starts again.
    pub(super) fn set_launch(&mut self, program: OperationId, launch: Option<Launch>) {
        if let Some(operation) = self.operations.get_mut(&program) {
            operation.launch = launch;
        }
    }

    /// Takes the files and the time with which a program starts that had started before.
    pub(super) fn take_launch(&mut self, program: OperationId) -> Option<Launch> {
        self.operations.get_mut(&program)?.launch.take()
    }

    /// Sets the digest of a call.
    pub(super) fn set_digest(&mut self, id: OperationId, digest: Option<String>) {
        if let Some(operation) = self.operations.get_mut(&id) {
            operation.digest = digest;
        }
    }

    /// Records the files that a program works on.
    pub(super) fn track_working_files(&mut self, id: OperationId, found: Tree, working: WorkingFiles) {
        if let Some(operation) = self.operations.get_mut(&id) {
            operation.program = Some((found, working));
        }
    }
}

impl Deref for OutstandingOperations {
    type Target = HashMap<OperationId, OutstandingOperation>;

    fn deref(&self) -> &Self::Target {
        &self.operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remedy::Remedy;

    #[test]
    fn outstanding_operations_sum_the_bytes_of_those_present() {
        let mut all = OutstandingOperations::default();
        for (id, bytes) in [(1, 10), (2, 20), (3, 0), (2, 5)] {
            all.insert(id, OutstandingOperation::new(OperationKind::Timer, None, bytes));
        }
        assert_eq!((all.bytes(), all.len()), (15, 3));
        for (id, left) in [(1, 5), (1, 5), (9, 5), (3, 5), (2, 0)] {
            all.remove(id);
            assert_eq!(all.bytes(), left, "{id}");
        }
    }

    #[test]
    fn failure_out_of_time_names_what_is_waited_for() {
        let limits = Limits { wall: std::time::Duration::from_millis(400), ..Limits::default() };
        let mut all = OutstandingOperations::default();
        let message = |all: &OutstandingOperations| all.out_of_time(&limits).message;
        assert_eq!(message(&all), "time limit of 400 ms reached");
        all.insert(1, OutstandingOperation::new(OperationKind::Timer, None, 0));
        assert_eq!(message(&all), "time limit of 400 ms reached while the script waited for 1 timer");
        assert!(all.out_of_time(&limits).hint.is_some_and(|hint| hint.starts_with("a run continues after its script")));
        for (id, method) in [(2, "b/b"), (3, "a/a"), (4, "b/b")] {
            all.insert(id, OutstandingOperation::new(OperationKind::Call(method.to_owned()), None, 0));
        }
        all.insert(5, OutstandingOperation::new(OperationKind::Input, None, 0));
        let whole = "time limit of 400 ms reached while the script waited for 3 calls of `a/a` and 1 other method and 1 timer and \
                     standard input";
        assert_eq!(message(&all), whole);
        assert_eq!(all.out_of_time(&limits).hint, Some(Remedy::RaiseLimit("wall").to_string()));
    }
}
