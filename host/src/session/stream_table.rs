//! Streams between a script and the programs that it runs, by the numbers that its guest gave them.

use std::collections::{HashMap, HashSet};

use crate::code::{Interrupt, MemoryAccount};
use crate::error::{Failure, how_to_raise};
use crate::guest::{OperationId, ProgramRun, Runnable};
use crate::tool::{OnComplete, Pipe, ProgramStart, WriteError};

/// Table of a process's streams.
#[derive(Default)]
pub(super) struct StreamTable {
    open: HashMap<u32, OpenStream>,
    /// Output streams that have ended and left `open`, but whose end the guest has not read.
    ended: HashSet<u32>,
}

struct OpenStream {
    /// Operation that runs the program.
    owner: OperationId,
    role: StreamRole,
    pipe: Pipe,
}

/// Role of a stream for its program.
#[derive(Clone, Copy)]
enum StreamRole {
    Input,
    Output,
}

impl StreamTable {
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
            if over && matches!(open.role, StreamRole::Output) && !open.pipe.is_read() {
                ended.insert(*number);
            }
            !over
        });
        let mut programs: Vec<OperationId> = self.open.values().map(|open| open.owner).collect();
        programs.sort_unstable();
        programs.dedup();
        if programs.len() as u64 >= u64::from(most) {
            let message = format!("{} does not start: {most} programs run already", name_of(&run.what));
            let raise = how_to_raise("processes");
            let hint = format!("run fewer at once: `wait` for some, make shorter pipelines, or {raise}");
            return Err(Failure::limit(message, hint));
        }
        let numbers = [run.stdin, run.stdout, run.stderr];
        let taken = |number: &u32| *number == 0 || self.open.contains_key(number) || self.ended.contains(number);
        let same = numbers[0] == numbers[1] || numbers[0] == numbers[2] || numbers[1] == numbers[2];
        if same || numbers.iter().any(taken) {
            return Err(Failure::host(format!("one of the streams {numbers:?} is already open")));
        }
        let mut open = |number: u32, role: StreamRole| {
            let pipe = Pipe::charged(interrupt, memory);
            self.open.insert(number, OpenStream { owner: id, role, pipe: pipe.clone() });
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
            None if self.ended.remove(&number) => {
                on_complete(bytes::Bytes::new());
                Ok(())
            }
            Some(_) | None => Err(Failure::host(format!("there is no stream {number} to read"))),
        }
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
    fn there_are_so_many_programs_until_what_they_wrote_is_read() {
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
