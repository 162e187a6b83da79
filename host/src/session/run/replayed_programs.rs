//! Programs of a run that is replayed. None of them runs: what the script has read of them is in the journal.
//!
//! Where the journal ends, a program that had not ended runs again, with the files, the time and the input that it had
//! been given, and without the output that the script has. Of one that had ended, the script reads the rest of its output.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::{Bytes, BytesMut};

use crate::guest::{OperationId, ProgramRun};
use crate::session::guest_process::{self, Pid};
use crate::session::stream_table::RepeatedStreams;
use crate::vfs::Tree;

/// Most bytes of input that the programs have been given which still run when a run is suspended, or its process dies:
/// they are given them again.
pub(super) const MAX_PROGRAM_INPUT: usize = 8 << 20;

/// Files and time with which a program started.
#[derive(Clone)]
pub(super) struct Launch {
    pub(super) files: Tree,
    pub(super) now: u64,
}

/// Programs that the scripts of a replayed run have started and not stopped.
#[derive(Default)]
pub(super) struct ReplayedPrograms {
    programs: BTreeMap<OperationId, ReplayedProgram>,
    /// Program and role of each stream, by the process that started the program and the stream's number.
    streams: HashMap<(Pid, u32), (OperationId, Role)>,
    /// Operations of the programs that end in the journal: what they read is not needed.
    ends: HashSet<OperationId>,
    /// Bytes of input that is given again.
    input: usize,
}

/// Role of a stream for its program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Input,
    Stdout,
    Stderr,
}

/// Program as far as it has been replayed.
struct ReplayedProgram {
    run: ProgramRun,
    launch: Option<Launch>,
    /// Writes of the script, each with its operation.
    input: Vec<(OperationId, Bytes)>,
    is_input_ended: bool,
    /// The writes are not kept, since they are too long.
    is_given_too_much: bool,
    stdout: ReplayedOutput,
    stderr: ReplayedOutput,
    has_ended: bool,
}

/// Output of a program.
#[derive(Default)]
struct ReplayedOutput {
    /// Bytes that the script has read, while the program runs.
    read: BytesMut,
    /// Bytes that the script has not read, once the program has ended.
    unread: Bytes,
    is_end_read: bool,
    /// The script reads no more.
    is_abandoned: bool,
}

/// Program that had not ended where the journal ends.
pub(super) struct Repetition {
    pub(super) launch: Option<Launch>,
    pub(super) streams: RepeatedStreams,
    /// Output streams from which the script reads no more.
    pub(super) abandoned: Vec<u32>,
}

/// Stream of a program that has ended, with what the script has not read.
pub(super) struct UnreadStream {
    pub(super) program: OperationId,
    pub(super) number: u32,
    pub(super) bytes: Bytes,
}

impl ReplayedPrograms {
    /// Notes that a program ends in the journal.
    pub(super) fn will_end(&mut self, program: OperationId) {
        self.ends.insert(program);
    }

    /// Notes that a script starts a program.
    pub(super) fn start(&mut self, id: OperationId, run: &ProgramRun) {
        let pid = guest_process::owner(id);
        for (number, role) in [(run.stdin, Role::Input), (run.stdout, Role::Stdout), (run.stderr, Role::Stderr)] {
            self.streams.insert((pid, number), (id, role));
        }
        let program = ReplayedProgram {
            run: run.clone(),
            launch: None,
            input: Vec::new(),
            is_input_ended: false,
            is_given_too_much: false,
            stdout: ReplayedOutput::default(),
            stderr: ReplayedOutput::default(),
            has_ended: false,
        };
        self.programs.insert(id, program);
    }

    /// Notes that a script is started whose streams have the numbers that a program's streams had.
    pub(super) fn start_script(&mut self, id: OperationId, run: &ProgramRun) {
        let pid = guest_process::owner(id);
        for number in [run.stdin, run.stdout, run.stderr] {
            self.streams.remove(&(pid, number));
        }
    }

    /// Returns true if a stream of a process is that of a program.
    pub(super) fn has_stream(&self, pid: Pid, number: u32) -> bool {
        self.streams.contains_key(&(pid, number))
    }

    /// Notes the files and the time with which a program starts.
    pub(super) fn launch(&mut self, program: OperationId, launch: Launch) {
        if let Some(program) = self.programs.get_mut(&program) {
            program.launch = Some(launch);
        }
    }

    /// Notes a write of a script to a stream of a program.
    pub(super) fn write(&mut self, id: OperationId, number: u32, bytes: &[u8], end: bool) {
        let Some((owner, role)) = self.streams.get(&(guest_process::owner(id), number)).copied() else { return };
        let Some(program) = self.programs.get_mut(&owner).filter(|program| !program.has_ended) else { return };
        if let Some(output) = program.output(role) {
            output.is_abandoned |= end && bytes.is_empty();
            return;
        }
        program.is_input_ended |= end;
        if self.ends.contains(&owner) || program.is_given_too_much {
            return;
        }
        self.input += bytes.len();
        program.input.push((id, Bytes::copy_from_slice(bytes)));
        if self.input > MAX_PROGRAM_INPUT {
            program.is_given_too_much = true;
            self.input -= program.input.drain(..).map(|(_, bytes)| bytes.len()).sum::<usize>();
        }
    }

    /// Returns a program that has not ended and was given more than is kept.
    pub(super) fn was_given_too_much(&self) -> Option<OperationId> {
        let mut running = self.programs.iter().filter(|(_, program)| !program.has_ended);
        running.find(|(_, program)| program.is_given_too_much).map(|(id, _)| *id)
    }

    /// Notes that a write has failed.
    pub(super) fn write_failed(&mut self, id: OperationId, number: u32) {
        if let Some((owner, Role::Input)) = self.streams.get(&(guest_process::owner(id), number))
            && let Some(program) = self.programs.get_mut(owner)
        {
            program.input.retain(|(write, _)| *write != id);
        }
    }

    /// Notes what a script has read of a program's output.
    ///
    /// # Errors
    /// If the program did not write that.
    pub(super) fn read(&mut self, pid: Pid, number: u32, bytes: &[u8]) -> Result<(), String> {
        let Some((owner, role)) = self.streams.get(&(pid, number)).copied() else { return Ok(()) };
        let Some(program) = self.programs.get_mut(&owner) else { return Ok(()) };
        let (has_ended, repeats) = (program.has_ended, !self.ends.contains(&owner));
        let Some(output) = program.output(role) else { return Ok(()) };
        output.is_end_read |= bytes.is_empty();
        if has_ended {
            if !output.unread.starts_with(bytes) {
                return Err(format!("stream {number} has other bytes"));
            }
            let _ = output.unread.split_to(bytes.len());
        } else if repeats {
            output.read.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Notes that a program has ended, with the output that the script has not read.
    pub(super) fn end(&mut self, id: OperationId, unread: [Vec<u8>; 2]) {
        let Some(program) = self.programs.get_mut(&id) else { return };
        let [stdout, stderr] = unread.map(Bytes::from);
        program.has_ended = true;
        (program.stdout.unread, program.stderr.unread) = (stdout, stderr);
        program.stdout.read.clear();
        program.stderr.read.clear();
    }

    /// Forgets a program that a script stops.
    pub(super) fn stop(&mut self, id: OperationId) {
        if let Some(program) = self.programs.remove(&id) {
            self.input -= program.input.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        }
    }

    /// Takes a program out that had not ended, to run it again.
    pub(super) fn take(&mut self, id: OperationId) -> Option<Repetition> {
        let program = self.programs.remove(&id)?;
        let outputs = [(program.run.stdout, program.stdout), (program.run.stderr, program.stderr)];
        let abandoned = outputs.iter().filter(|(_, output)| output.is_abandoned).map(|(number, _)| *number).collect();
        let streams = RepeatedStreams {
            input: program.input.into_iter().map(|(_, bytes)| bytes).collect(),
            is_input_ended: program.is_input_ended,
            output: outputs.map(|(_, output)| output.read.freeze()),
        };
        Some(Repetition { launch: program.launch, streams, abandoned })
    }

    /// Takes the output out that scripts have not read of programs that have ended.
    pub(super) fn take_unread(&mut self) -> Vec<UnreadStream> {
        let mut all = Vec::new();
        for (id, program) in std::mem::take(&mut self.programs) {
            if !program.has_ended {
                self.programs.insert(id, program);
                continue;
            }
            for (number, output) in [(program.run.stdout, program.stdout), (program.run.stderr, program.stderr)] {
                if !output.is_end_read && !output.is_abandoned {
                    all.push(UnreadStream { program: id, number, bytes: output.unread });
                }
            }
        }
        all
    }
}

impl ReplayedProgram {
    fn output(&mut self, role: Role) -> Option<&mut ReplayedOutput> {
        match role {
            Role::Input => None,
            Role::Stdout => Some(&mut self.stdout),
            Role::Stderr => Some(&mut self.stderr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::Runnable;

    fn run() -> ProgramRun {
        let (what, directory) = (Runnable::Program("p".into()), "/".into());
        ProgramRun { what, arguments: vec![], environment: vec![], directory, stdin: 1, stdout: 2, stderr: 3 }
    }

    #[test]
    fn replayed_program_without_end_is_given_its_recorded_input() {
        let mut programs = ReplayedPrograms::default();
        programs.start(1, &run());
        assert!(programs.has_stream(0, 2) && !programs.has_stream(1, 2) && !programs.has_stream(0, 4));
        programs.write(2, 1, b"ab", false);
        programs.write(3, 1, b"lost", false);
        programs.write_failed(3, 1);
        programs.write(4, 1, b"c", true);
        programs.write(5, 3, b"", true);
        programs.read(0, 2, b"A").expect("it wrote that");
        programs.read(0, 2, b"B").expect("it wrote that");
        assert!(programs.take_unread().is_empty(), "it runs");
        let repetition = programs.take(1).expect("it runs");
        let RepeatedStreams { input, is_input_ended, output } = repetition.streams;
        assert_eq!((input, is_input_ended), (vec![Bytes::from("ab"), Bytes::from("c")], true));
        assert_eq!((output, repetition.abandoned), ([Bytes::from("AB"), Bytes::new()], vec![3]));
    }

    #[test]
    fn replayed_program_with_end_returns_its_unread_output() {
        let mut programs = ReplayedPrograms::default();
        programs.will_end(1);
        programs.start(1, &run());
        programs.write(2, 1, &vec![0; MAX_PROGRAM_INPUT + 1], false);
        programs.read(0, 2, b"before").expect("it wrote that");
        programs.end(1, [b"unread".to_vec(), Vec::new()]);
        programs.read(0, 2, b"un").expect("it wrote that");
        assert!(programs.read(0, 2, b"X").is_err(), "it did not write that");
        programs.read(0, 3, b"").expect("the end");
        let unread = programs.take_unread();
        assert_eq!(unread.len(), 1, "the end of the other was read");
        assert_eq!((unread[0].number, &unread[0].bytes[..]), (2, &b"read"[..]));
    }

    #[test]
    fn input_that_would_be_given_again_is_bounded() {
        let mut programs = ReplayedPrograms::default();
        programs.start(1, &run());
        programs.write(2, 1, &vec![0; MAX_PROGRAM_INPUT], false);
        assert_eq!(programs.was_given_too_much(), None);
        programs.write(3, 1, b"x", false);
        assert_eq!((programs.was_given_too_much(), programs.input), (Some(1), 0));
        programs.stop(1);
        programs.start(4, &run());
        programs.write(5, 1, b"x", false);
        assert_eq!((programs.was_given_too_much(), programs.input), (None, 1), "what the other read is forgotten");
    }
}
