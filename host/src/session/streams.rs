//! The streams between a script and the programs that it runs, by the numbers that its guest gave them.

use std::collections::HashMap;

use crate::code::Interrupt;
use crate::error::Failure;
use crate::guest::{OperationId, ProgramRun, Runnable};
use crate::tool::{Pipe, Started, Told, WriteError};

/// How many programs of a run there may be at once: each has a thread. One counts until what it wrote was read.
const MAX_PROGRAMS: usize = 16;

/// The streams of a run.
#[derive(Default)]
pub(super) struct Streams {
    open: HashMap<u32, (OperationId, Pipe)>,
}

impl Streams {
    /// Opens those of a program.
    ///
    /// # Errors
    /// If there are too many programs, or a number is taken.
    pub(super) fn start(
        &mut self,
        id: OperationId,
        run: &ProgramRun,
        interrupt: &Interrupt,
    ) -> Result<Started, Failure> {
        self.open.retain(|_, (_, pipe)| !pipe.is_over());
        let mut programs: Vec<OperationId> = self.open.values().map(|(owner, _)| *owner).collect();
        programs.sort_unstable();
        programs.dedup();
        if programs.len() >= MAX_PROGRAMS {
            let message = format!("{} does not start: {MAX_PROGRAMS} programs run already", name_of(&run.what));
            return Err(Failure::limit(message, "run fewer at once: `wait` for some, or make shorter pipelines"));
        }
        let numbers = [run.stdin, run.stdout, run.stderr];
        let taken = |number: &u32| *number == 0 || self.open.contains_key(number);
        let same = numbers[0] == numbers[1] || numbers[0] == numbers[2] || numbers[1] == numbers[2];
        if same || numbers.iter().any(taken) {
            return Err(Failure::host(format!("of the streams {numbers:?} one is taken")));
        }
        let [stdin, stdout, stderr] = numbers.map(|number| {
            let pipe = Pipe::new(interrupt);
            self.open.insert(number, (id, pipe.clone()));
            pipe
        });
        Ok(Started { environment: run.environment.clone(), stdin, stdout, stderr })
    }

    /// Gives bytes to a program.
    pub(super) fn write(&self, number: u32, bytes: &[u8], end: bool, told: Told<Result<(), WriteError>>) {
        match self.open.get(&number) {
            Some((_, pipe)) => pipe.write(bytes, end, told),
            // Its program is over, and what it wrote was read.
            None => told(Err(WriteError::Broken)),
        }
    }

    /// Takes what a program wrote.
    ///
    /// # Errors
    /// If there is no such stream.
    pub(super) fn read(&self, number: u32, limit: u32, told: Told<bytes::Bytes>) -> Result<(), Failure> {
        let (_, pipe) = self.open.get(&number).ok_or_else(|| Failure::host(format!("there is no stream {number}")))?;
        pipe.read(usize::try_from(limit).unwrap_or(usize::MAX), told);
        Ok(())
    }

    /// Lets go of the streams of a program that nobody waits for any more.
    pub(super) fn forget(&mut self, id: OperationId) {
        self.open.retain(|_, (owner, _)| *owner != id);
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
        let mut streams = Streams::default();
        let mut start = |id: u64, first: u32| streams.start(id, &run(first), &Interrupt::default());
        let started: Vec<Started> =
            (1..=16).map(|id| start(id, u32::try_from(id).expect("small") * 3).expect("there is room")).collect();
        assert!(start(17, 900).is_err_and(|failure| failure.message.contains("16 programs")));
        drop(started);
        let one = start(18, 900).expect("all of them ended, and wrote nothing");
        assert!(start(19, 901).is_err(), "901 is taken");
        assert!(start(20, 0).is_err(), "0 is the script's");
        streams.forget(18);
        drop(one);
        assert!(streams.read(901, 1, Box::new(drop)).is_err());
    }
}
