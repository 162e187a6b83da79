//! What bashkit may use, and how a limit reached is told.
//!
//! bashkit's own defaults protect a host that shares its process with a script. Here the script has an instance of its
//! own: fuel and memory are the limits, and everything that either of them bounds is lifted.

use std::time::Duration;

use bashkit::{ExecutionBudgetExceeded, ExecutionLimits, LimitExceeded, MemoryLimits, SessionLimits};

use crate::bindings::types::{ErrorKind, Failure, Limits};
use crate::clock;

/// Longer than any run, and still no overflow when added to the time of day. The wall clock is the host's to limit.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Nesting of functions and sourced files. bash has no such limit; each level takes some 30 KiB of the stacks that
/// `build.rs` and the engine give, and more where loops and groups stand around the call: then the stack ends it first.
pub(crate) const FUNCTIONS: usize = 1_000;

/// Nesting of `$( )` and `( )`, which takes more of the stack.
pub(crate) const DEPTH: usize = 256;

/// Background jobs, and stages of pipelines, at one time.
const JOBS: usize = 1_024;

/// Steps of the parser on one text. A script of 20 MB takes fewer; some that are wrong, such as `case x in x) ; y)`, take
/// bashkit's parser for ever.
pub(crate) const PARSER_STEPS: usize = 5_000_000;

/// The exit status of a script that a limit stopped, as in the CLI.
pub(crate) const LIMIT_STATUS: u8 = 4;

/// Bytes of memory, as this target counts them.
fn memory(limits: &Limits) -> usize {
    usize::try_from(limits.memory).unwrap_or(usize::MAX)
}

/// Returns the limits of one execution.
pub(crate) fn execution(limits: &Limits) -> ExecutionLimits {
    let memory = memory(limits);
    let mut execution = ExecutionLimits::new()
        .max_work_units(u64::MAX)
        .max_aggregate_input_bytes(u64::MAX)
        .max_live_intermediate_bytes(limits.memory)
        .max_commands(usize::MAX)
        .max_loop_iterations(usize::MAX)
        .max_total_loop_iterations(usize::MAX)
        .timeout(NEVER)
        .parser_timeout(NEVER)
        .max_input_bytes(memory)
        .max_parser_operations(PARSER_STEPS)
        .max_stdout_bytes(memory)
        .max_stderr_bytes(memory)
        .max_function_depth(FUNCTIONS)
        .max_subst_depth(DEPTH)
        .max_subshell_depth(DEPTH)
        .max_background_jobs(JOBS);
    execution.max_word_split_fields = usize::MAX;
    execution.max_word_split_bytes = memory;
    execution
}

/// Returns the limits of all executions of one interpreter together: there is only one.
pub(crate) fn session() -> SessionLimits {
    SessionLimits::unlimited()
}

/// Returns the limits of variables and functions.
pub(crate) fn variables(limits: &Limits) -> MemoryLimits {
    let memory = memory(limits);
    MemoryLimits::unlimited().max_total_variable_bytes(memory).max_function_body_bytes(memory)
}

/// Describes the limit that stopped the script, and how to raise it.
pub(crate) fn failure(exceeded: &LimitExceeded, limits: &Limits) -> Failure {
    let (message, hint) = if clock::out_of_fuel() {
        (
            format!("limit `fuel` reached: the script used its {} steps of the interpreter", limits.fuel),
            "raise `fuel` in the limits of the session",
        )
    } else if is_memory(exceeded) {
        (
            format!("limit `memory` reached: {} bytes ({exceeded})", limits.memory),
            "raise `memory` in the limits of the session",
        )
    } else {
        (
            format!("limit of the shell reached: {exceeded}"),
            "this limit is fixed: nest less deeply, use a loop, or do less at once",
        )
    };
    Failure {
        kind: ErrorKind::Limit,
        name: "LimitError".to_owned(),
        message,
        hint: Some(hint.to_owned()),
        stack: None,
        location: None,
        payload: None,
    }
}

fn is_memory(exceeded: &LimitExceeded) -> bool {
    matches!(
        exceeded,
        LimitExceeded::Memory(_)
            | LimitExceeded::InputTooLarge(..)
            | LimitExceeded::ExecutionBudget(ExecutionBudgetExceeded::LiveBytes { .. })
    )
}
