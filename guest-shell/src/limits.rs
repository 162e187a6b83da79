//! Limits of bashkit, and messages about exceeded limits.
//!
//! The defaults of bashkit protect a host that shares its process with a script. Here the script has its own instance:
//! fuel and memory are the limits, and other limits are removed where these two suffice.

use std::time::Duration;

use bashkit::{ExecutionBudgetExceeded, ExecutionLimits, LimitExceeded, MemoryLimits, SessionLimits};

use crate::bindings::types::{ErrorKind, Failure, Limits};
use crate::clock;

/// Duration that exceeds any run, and can be added to the time of day without overflow. Limiting the wall clock is up
/// to the host.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Largest nesting of functions and sourced files. bash has no such limit. Each level takes some 30 KiB of the stacks
/// that `build.rs` and the engine provide, and more within loops and groups, for which the stack may overflow earlier.
pub(crate) const FUNCTIONS: usize = 1_000;

/// Largest nesting of `$( )` and `( )`, which take more of the stack.
pub(crate) const DEPTH: usize = 256;

/// Largest number of concurrent background jobs and stages of pipelines.
const JOBS: usize = 1_024;

/// Largest number of steps of the parser for one text. A script of 20 MB takes fewer. On some invalid scripts, such as
/// `case x in x) ; y)`, bashkit's parser would not terminate without it.
pub(crate) const PARSER_STEPS: usize = 5_000_000;

/// Exit status of a script that exceeded a limit, as in the CLI.
pub(crate) const LIMIT_STATUS: u8 = 4;

/// Returns the memory limit in bytes, as `usize` of this target.
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

/// Returns the limits of all executions of one interpreter together. There is only one execution.
pub(crate) fn session() -> SessionLimits {
    SessionLimits::unlimited()
}

/// Returns the limits of variables and functions.
pub(crate) fn variables(limits: &Limits) -> MemoryLimits {
    let memory = memory(limits);
    MemoryLimits::unlimited().max_total_variable_bytes(memory).max_function_body_bytes(memory)
}

/// Returns the failure for an exceeded limit, with a hint.
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
