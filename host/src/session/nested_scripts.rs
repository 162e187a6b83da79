//! Nested scripts: each has a guest of its own, and shares the files, grants, budgets and limits of its run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::first_step::{AbandonedStart, FirstStep};
use super::guest_process::{self, GuestProcess, PendingStart, Pid, ProcessTable};
use super::guest_seed::GuestSeed;
use super::inline_runner::InlineRunner;
use super::session_state::SessionState;
use crate::code::{CodeError, Interrupt};
use crate::error::{Failure, error_chain};
use crate::guest::{self, Guest, Language, OperationId, Output, ProgramRun, RunUsage, Runnable, Script, StepInput};
use crate::remedy::Remedy;
use crate::vfs::Tree;

/// Output and standard input of a guest.
pub(super) struct GuestStreams {
    pub(super) output: Output,
    pub(super) input: Box<dyn StepInput>,
}

/// Returns the world of a guest of this session. `depth` is the number of scripts above it that run each other.
pub(super) fn guest_world(
    session: &Arc<SessionState>,
    usage: &RunUsage,
    files: Tree,
    GuestStreams { output, input }: GuestStreams,
    seed: &GuestSeed,
    depth: u32,
    interrupt: &Interrupt,
) -> guest::GuestWorld {
    guest::GuestWorld {
        files,
        output,
        input: Some(input),
        catalog: Arc::clone(&session.catalog),
        usage: usage.clone(),
        seed: seed.value(),
        interrupt: interrupt.clone(),
        runner: Some(Box::new(InlineRunner::new(session, usage, seed, depth, interrupt))),
    }
}

/// Checks the limits on nested scripts for a script that is started at this depth.
///
/// # Errors
/// The limit that is reached.
pub(super) fn check_limits(session: &SessionState, usage: &RunUsage, depth: u32) -> Result<(), Failure> {
    let limits = session.limits();
    if usage.guests() >= u64::from(limits.processes) {
        let message =
            format!("the script does not start: {} scripts of this run are already running", limits.processes);
        let hint = format!("run fewer at once: wait for some, or {}", Remedy::RaiseLimit("processes"));
        return Err(Failure::limit(message, hint));
    }
    if depth >= limits.depth {
        let message = format!("the script does not start: scripts run scripts at most {} deep", limits.depth);
        let hint = format!("does the script run itself? If it must, {}", Remedy::RaiseLimit("depth"));
        return Err(Failure::limit(message, hint));
    }
    Ok(())
}

/// Instantiates the guest of a nested script, with no files yet.
///
/// # Errors
/// If there is no free slot for the guest.
pub(super) fn instantiate(
    session: &Arc<SessionState>,
    usage: &RunUsage,
    (language, name): (Language, &str),
    streams: GuestStreams,
    seed: &GuestSeed,
    depth: u32,
    interrupt: &Interrupt,
) -> Result<Guest, Failure> {
    let world = guest_world(session, usage, guest_process::no_files(), streams, seed, depth, interrupt);
    let patience = interrupt.deadline().map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
    // Loading a guest for the first time must not count against the run's time.
    let paused = interrupt.pause();
    let guest = session.guests().instantiate(language, world, patience);
    drop(paused);
    guest.map_err(|error| match error {
        CodeError::Full(full) => full.failure(&format!("`{name}`")),
        error => Failure::host(format!("`{name}` does not start: {}", error_chain(&error))),
    })
}

/// Starts a script that one of these processes runs. `seed` is that of the first process without its own number; each
/// further process appends its own.
///
/// If a limit is reached, or there is no free slot for the guest.
pub(super) fn start(
    session: &Arc<SessionState>,
    processes: &mut ProcessTable,
    seed: &GuestSeed,
    id: OperationId,
    run: ProgramRun,
    interrupt: Interrupt,
) -> Result<(), Failure> {
    let pid = guest_process::owner(id);
    let depth = processes.depth_of(pid).ok_or_else(Failure::cancelled)?;
    check_limits(session, processes.usage(), depth)?;
    let Some(parent) = processes.get(pid) else { return Err(Failure::cancelled()) };
    let streams = parent.streams.start(id, &run, &interrupt, session.limits().processes, &session.memory)?;
    let Runnable::Script { language, source, name } = run.what else {
        return Err(Failure::argument("a program is not a script"));
    };
    let first_step = FirstStep::new();
    let output = Output::new(first_step.output(&streams), session.limits().output);
    let given = GuestStreams { output, input: first_step.input(&streams) };
    let seed = seed.of(&[u64::from(processes.next())]);
    let guest = instantiate(session, processes.usage(), (language, &name), given, &seed, depth + 1, &interrupt)?;
    // A nested script is given as text: `shell(…)`, `node -e`.
    let (arguments, environment) = (run.arguments, run.environment);
    let script = Script { source, name, from_file: false, arguments, environment, typed: None };
    let pending_start = PendingStart { script, directory: run.directory, found: None, now: None };
    let process = GuestProcess::new(guest, language, pending_start, interrupt, depth + 1);
    processes.add(id, streams, process.with_first_step(first_step));
    Ok(())
}

/// Prepares a nested script to be started anew, once all of its input is there ([`first_step`](super::first_step)).
///
/// # Errors
/// If there is no free slot for the guest.
pub(super) fn start_anew(
    session: &Arc<SessionState>,
    processes: &mut ProcessTable,
    seed: &GuestSeed,
    pid: Pid,
) -> Result<(), Failure> {
    let usage = processes.usage().clone();
    let depth = processes.depth_of(pid).ok_or_else(Failure::cancelled)?;
    let process = processes.get(pid).ok_or_else(Failure::cancelled)?;
    let (language, interrupt) = (process.language(), process.interrupt.clone());
    let Some((abandoned, streams)) = process.abandon_start() else {
        return Err(Failure::host("a script that reads its input cannot be started anew"));
    };
    let AbandonedStart { first_step, pending_start, files } = abandoned;
    let given = GuestStreams {
        output: Output::new(first_step.output(streams), session.limits().output),
        input: first_step.input(streams),
    };
    let what = (language, pending_start.script.name.as_str());
    let guest = instantiate(session, &usage, what, given, &seed.of(&[u64::from(pid)]), depth, &interrupt)?;
    processes.start_over(pid, guest, pending_start, files);
    Ok(())
}
