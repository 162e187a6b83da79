//! Sessions: what they keep, who may use them, how runs in them wait, resume, fork and are proved.

mod call_places;
mod cancellation;
mod concurrent_sessions;
mod durable_decisions;
mod durable_programs;
#[cfg(target_os = "linux")]
mod durable_runs;
mod file_origins;
mod files;
mod forks_of_runs;
mod kept_state;
mod memory;
mod moved_run;
#[cfg(target_os = "linux")]
mod notifications;
pub(crate) mod on_disk;
mod operators;
mod pending_calls;
mod receipts;
#[cfg(target_os = "linux")]
mod repeated_calls;
mod run_journals;
mod step_api;
#[cfg(target_os = "linux")]
mod suspended_heaps;
