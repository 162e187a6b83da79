//! Streams between a script and the programs that it runs, by the numbers that its guest gave them.

use std::collections::HashMap;

use bytes::Bytes;

use crate::code::{Interrupt, MemoryAccount};
use crate::error::Failure;
use crate::guest::{OperationId, ProgramRun, Runnable};
use crate::remedy::Remedy;
use crate::tool::{OnComplete, Pipe, ProgramStart, WriteError};

/// Table of a process's streams.
#[derive(Default)]
pub(super) struct StreamTable {
    open: HashMap<u32, OpenStream>,
    /// Output streams that have ended and left `open`, but whose end the guest has not read, each with whether a
    /// script wrote it.
    ended: HashMap<u32, bool>,
}

struct OpenStream {
    /// Operation that runs the program.
    owner: OperationId,
    role: StreamRole,
    pipe: Pipe,
    /// True if a script is at the other end.
    is_script: bool,
}

/// Role of a stream for its program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamRole {
    Input,
    Output,
}

/// Streams of a program as the script has left them, for a program that runs again.
pub(super) struct RepeatedStreams {
    /// Writes of the script.
    pub(super) input: Vec<Bytes>,
    /// True if the script has ended the input.
    pub(super) is_input_ended: bool,
    /// Bytes that the script has read of standard output and of standard error.
    pub(super) output: [Bytes; 2],
}

impl StreamTable {
    /// Returns true if all streams have ended, and the guest has read all that it may of them.
    pub(super) fn is_over(&self) -> bool {
        let is_over =
            |open: &OpenStream| open.pipe.is_over() && (open.role == StreamRole::Input || open.pipe.is_read());
        self.ended.is_empty() && self.open.values().all(is_over)
    }

    /// Opens the streams of a program, unless too many programs run: each has a thread. A program counts until its
    /// output has been read.
    ///
    /// # Errors
    /// If there are too many programs, or a stream number is taken.
    pub(super) fn start(
        &mut self,
        id: OperationId,
        run: &ProgramRun,
        interrupt: &Interrupt,
        most: u32,
        memory: &MemoryAccount,
    ) -> Result<ProgramStart, Failure> {
        let Self { open, ended } = self;
        open.retain(|number, open| {
            let over = open.pipe.is_over();
            if over && open.role == StreamRole::Output && !open.pipe.is_read() {
                ended.insert(*number, open.is_script);
            }
            !over
        });
        let mut programs: Vec<OperationId> = self.open.values().map(|open| open.owner).collect();
        programs.sort_unstable();
        programs.dedup();
        if programs.len() as u64 >= u64::from(most) {
            let message = format!("{} does not start: {most} programs run already", name_of(&run.what));
            let raise = Remedy::RaiseLimit("processes");
            let hint = format!("run fewer at once: `wait` for some, make shorter pipelines, or {raise}");
            return Err(Failure::limit(message, hint));
        }
        let numbers = [run.stdin, run.stdout, run.stderr];
        let taken = |number: &u32| *number == 0 || self.open.contains_key(number) || self.ended.contains_key(number);
        let same = numbers[0] == numbers[1] || numbers[0] == numbers[2] || numbers[1] == numbers[2];
        if same || numbers.iter().any(taken) {
            return Err(Failure::host(format!("one of the streams {numbers:?} is already open")));
        }
        let is_script = matches!(run.what, Runnable::Script { .. });
        let mut open = |number: u32, role: StreamRole| {
            let pipe = Pipe::charged(interrupt, memory);
            self.open.insert(number, OpenStream { owner: id, role, pipe: pipe.clone(), is_script });
            pipe
        };
        let stdin = open(run.stdin, StreamRole::Input);
        let (stdout, stderr) = (open(run.stdout, StreamRole::Output), open(run.stderr, StreamRole::Output));
        Ok(ProgramStart { environment: run.environment.clone(), stdin, stdout, stderr })
    }

    /// Writes bytes to a program's input. On an output stream, an empty last write means that nothing more is read from
    /// it.
    pub(super) fn write(
        &self,
        id: OperationId,
        number: u32,
        bytes: &[u8],
        end: bool,
        on_complete: OnComplete<Result<(), WriteError>>,
    ) {
        match self.open.get(&number) {
            Some(OpenStream { pipe, role: StreamRole::Input, .. }) => pipe.write(id, bytes, end, on_complete),
            Some(OpenStream { pipe, .. }) if end && bytes.is_empty() => {
                pipe.abandon();
                on_complete(Ok(()));
            }
            // Only the program may write there; or the stream has ended, and its output was read.
            Some(_) | None => on_complete(Err(WriteError::Broken)),
        }
    }

    /// Reads a program's output; nothing at the end of the stream.
    ///
    /// # Errors
    /// If there is no such stream.
    pub(super) fn read(
        &mut self,
        id: OperationId,
        number: u32,
        limit: u32,
        on_complete: OnComplete<bytes::Bytes>,
    ) -> Result<(), Failure> {
        match self.open.get(&number) {
            Some(OpenStream { pipe, role: StreamRole::Output, .. }) => {
                pipe.read(id, limit, on_complete);
                Ok(())
            }
            None if self.ended.remove(&number).is_some() => {
                on_complete(bytes::Bytes::new());
                Ok(())
            }
            Some(_) | None => Err(Failure::host(format!("there is no stream {number} to read"))),
        }
    }

    /// Returns true if a script is at the other end of a stream. What is there then depends only on what the scripts of
    /// the run have done.
    pub(super) fn is_of_script(&self, number: u32) -> bool {
        let open = self.open.get(&number).map(|open| open.is_script);
        open.or_else(|| self.ended.get(&number).copied()).unwrap_or(false)
    }

    /// Returns the operation that runs the program whose input a stream is.
    pub(super) fn program_with_input(&self, number: u32) -> Option<OperationId> {
        let open = self.open.get(&number)?;
        (open.role == StreamRole::Input && !open.is_script).then_some(open.owner)
    }

    /// Notes that the guest has the bytes that an operation read from a stream.
    pub(super) fn confirm(&self, number: u32, id: OperationId) {
        if let Some(open) = self.open.get(&number) {
            open.pipe.confirm(id);
        }
    }

    /// Returns the bytes of an output stream that the guest does not have yet.
    pub(super) fn unread(&self, number: u32) -> Bytes {
        self.open.get(&number).map(|open| open.pipe.unread()).unwrap_or_default()
    }

    /// Returns true if a program waits for the guest: to write its input, or to read what it wrote.
    pub(super) fn is_waiting(&self, program: OperationId) -> bool {
        self.open.values().filter(|open| open.owner == program).any(|open| match open.role {
            StreamRole::Input => open.pipe.is_wanted(),
            StreamRole::Output => open.pipe.is_full(),
        })
    }

    /// Opens an output stream of a program that has ended, with the bytes that the guest has not read.
    pub(super) fn restore_ended(
        &mut self,
        program: OperationId,
        number: u32,
        unread: &[u8],
        interrupt: &Interrupt,
        memory: &MemoryAccount,
    ) {
        let pipe = Pipe::charged(interrupt, memory);
        pipe.restore_unread(unread);
        self.open.insert(number, OpenStream { owner: program, role: StreamRole::Output, pipe, is_script: false });
    }

    /// Prepares the streams of a program that runs again.
    pub(super) fn repeat(&self, run: &ProgramRun, streams: RepeatedStreams) {
        let pipe = |number: u32| self.open.get(&number).map(|open| &open.pipe);
        if let Some(stdin) = pipe(run.stdin) {
            stdin.repeat_input(streams.input, streams.is_input_ended);
        }
        for (number, bytes) in [run.stdout, run.stderr].into_iter().zip(streams.output) {
            if let Some(pipe) = pipe(number) {
                pipe.repeat_output(bytes);
            }
        }
    }

    /// Closes the reading end of a stream.
    pub(super) fn abandon(&self, number: u32) {
        if let Some(open) = self.open.get(&number) {
            open.pipe.abandon();
        }
    }

    /// Waits, for an operation of the guest, until a program that runs again has taken its input.
    pub(super) fn await_taken(&self, id: OperationId, number: u32, told: OnComplete<Result<(), WriteError>>) {
        match self.open.get(&number) {
            Some(open) => open.pipe.await_taken(id, told),
            None => told(Err(WriteError::Broken)),
        }
    }

    /// Returns true if a program that ran again did not write what it had written before.
    pub(super) fn differs(&self, program: OperationId) -> bool {
        let mut own = self.open.values().filter(|open| open.owner == program && open.role == StreamRole::Output);
        own.any(|open| open.pipe.differs())
    }

    /// Cancels the reads and writes of an operation, and releases the streams of its program.
    pub(super) fn forget(&mut self, id: OperationId) {
        self.open.retain(|_, open| open.owner != id);
        self.open.values().for_each(|open| open.pipe.forget(id));
    }
}

fn name_of(what: &Runnable) -> String {
    match what {
        Runnable::Program(method) => format!("`{method}`"),
        Runnable::Script { name, .. } => format!("the script `{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u32) -> ProgramRun {
        let (what, directory) = (Runnable::Program("p".into()), "/".into());
        let (stdin, stdout, stderr) = (first, first + 1, first + 2);
        ProgramRun { what, arguments: Vec::new(), environment: Vec::new(), directory, stdin, stdout, stderr }
    }

    #[test]
    fn stream_table_limits_programs_until_their_output_is_read() {
        let mut streams = StreamTable::default();
        let mut start =
            |id: u64, first: u32| streams.start(id, &run(first), &Interrupt::default(), 16, &MemoryAccount::new(0));
        let started: Vec<ProgramStart> =
            (1..=16).map(|id| start(id, u32::try_from(id).expect("small") * 3).expect("there is room")).collect();
        assert!(start(17, 900).is_err_and(|failure| failure.message.contains("16 programs")));
        drop(started);
        let one = start(18, 900).expect("all of them ended, and wrote nothing");
        assert!(start(19, 901).is_err(), "901 is taken");
        assert!(start(20, 0).is_err(), "0 is the script's");
        streams.forget(18);
        drop(one);
        assert!(streams.read(20, 901, 1, Box::new(drop)).is_err());
    }

    #[test]
    fn stream_that_ended_before_another_program_began_still_has_its_end() {
        let mut streams = StreamTable::default();
        let mut start =
            |id: u64, first: u32| streams.start(id, &run(first), &Interrupt::default(), 16, &MemoryAccount::new(0));
        drop(start(1, 1).expect("there is room"));
        let second = start(2, 4).expect("the first one ended");
        let (told, end) = std::sync::mpsc::channel();
        streams.read(3, 2, 1, Box::new(move |bytes| told.send(bytes).expect("it waits"))).expect("it ended");
        assert_eq!(end.recv().expect("it was told"), bytes::Bytes::new());
        assert!(streams.read(4, 2, 1, Box::new(drop)).is_err(), "its end was read");
        drop(second);
    }

    #[test]
    fn streams_whose_end_was_read_are_forgotten() {
        let mut streams = StreamTable::default();
        for id in 1..=100 {
            let first = u32::try_from(id).expect("small") * 3;
            drop(
                streams
                    .start(id, &run(first), &Interrupt::default(), 16, &MemoryAccount::new(0))
                    .expect("those before ended"),
            );
            for output in [first + 1, first + 2] {
                streams.read(id, output, 1, Box::new(drop)).expect("it is there");
            }
        }
        assert!(streams.open.len() <= 3 && streams.ended.is_empty(), "{} open", streams.open.len());
    }
}
