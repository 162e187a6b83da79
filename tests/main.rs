//! Tests of Tollhouse from outside: a file for each feature, the real binary, a home of its own for each test.

#[path = "features/across.rs"]
mod across;
#[path = "features/added_programs.rs"]
mod added_programs;
#[path = "features/agents.rs"]
mod agents;
#[path = "features/approval.rs"]
mod approval;
#[path = "features/architecture.rs"]
mod architecture;
#[path = "features/author.rs"]
mod author;
#[path = "features/bad_input.rs"]
mod bad_input;
#[path = "features/batch.rs"]
mod batch;
#[path = "features/blob_crash.rs"]
mod blob_crash;
#[path = "features/call_places.rs"]
mod call_places;
#[path = "features/calls.rs"]
mod calls;
#[path = "features/cancel.rs"]
mod cancel;
#[path = "features/cli_details.rs"]
mod cli_details;
#[path = "features/cli_input.rs"]
mod cli_input;
#[path = "features/clocks.rs"]
mod clocks;
#[path = "features/completions.rs"]
mod completions;
#[path = "features/confinement.rs"]
mod confinement;
#[path = "features/conformance.rs"]
mod conformance;
#[path = "features/crowd.rs"]
mod crowd;
#[path = "features/decisions.rs"]
mod decisions;
#[path = "features/demo.rs"]
mod demo;
#[path = "features/docs.rs"]
mod docs;
#[path = "features/dry_run.rs"]
mod dry_run;
#[cfg(target_os = "linux")]
#[path = "features/durable_crashes.rs"]
mod durable_crashes;
#[path = "features/durable_decisions.rs"]
mod durable_decisions;
#[path = "features/durable_programs.rs"]
mod durable_programs;
#[cfg(target_os = "linux")]
#[path = "features/durable_runs.rs"]
mod durable_runs;
#[path = "features/escape.rs"]
mod escape;
#[path = "features/file_origins.rs"]
mod file_origins;
#[path = "features/files.rs"]
mod files;
#[path = "features/fuzz.rs"]
mod fuzz;
#[path = "features/guests.rs"]
mod guests;
#[path = "features/holes.rs"]
mod holes;
#[cfg(target_os = "linux")]
#[path = "features/host_memory.rs"]
mod host_memory;
#[path = "features/host_tools.rs"]
mod host_tools;
#[path = "features/hostile.rs"]
mod hostile;
#[path = "features/input_at_once.rs"]
mod input_at_once;
#[path = "features/javascript.rs"]
mod javascript;
#[path = "features/limits.rs"]
mod limits;
#[path = "features/log_evidence.rs"]
mod log_evidence;
#[path = "features/log_limit.rs"]
mod log_limit;
#[cfg(target_os = "linux")]
#[path = "features/mcp/mod.rs"]
mod mcp;
#[path = "features/mcp_remote.rs"]
mod mcp_remote;
#[path = "features/mcp_servers.rs"]
mod mcp_servers;
#[path = "features/middle_forks.rs"]
mod middle_forks;
#[path = "features/more_tools.rs"]
mod more_tools;
#[path = "features/name_clashes.rs"]
mod name_clashes;
#[path = "features/nested.rs"]
mod nested;
#[path = "features/node.rs"]
mod node;
#[path = "features/oci.rs"]
mod oci;
#[path = "features/output_errors.rs"]
mod output_errors;
#[path = "features/policy.rs"]
mod policy;
#[path = "features/programs.rs"]
mod programs;
#[path = "features/reach.rs"]
mod reach;
#[path = "features/receipts.rs"]
mod receipts;
#[path = "features/recordings.rs"]
mod recordings;
#[path = "features/reflection.rs"]
mod reflection;
#[path = "features/registry.rs"]
mod registry;
#[path = "features/repl.rs"]
mod repl;
#[path = "features/run.rs"]
mod run;
#[path = "features/run_journals.rs"]
mod run_journals;
#[path = "features/secrets.rs"]
mod secrets;
#[path = "features/session_grant.rs"]
mod session_grant;
#[path = "features/session_memory.rs"]
mod session_memory;
#[path = "features/sessions.rs"]
mod sessions;
#[path = "features/shell_errors.rs"]
mod shell_errors;
#[path = "features/shell_limits.rs"]
mod shell_limits;
#[path = "features/shell_stdin.rs"]
mod shell_stdin;
#[path = "features/signed_approvals.rs"]
mod signed_approvals;
#[path = "features/snapshots.rs"]
mod snapshots;
#[path = "features/states.rs"]
mod states;
#[path = "features/steps.rs"]
mod steps;
#[path = "features/store_crash/mod.rs"]
mod store_crash;
#[path = "features/to_end.rs"]
mod to_end;
#[path = "features/tool_files.rs"]
mod tool_files;
#[path = "features/trust.rs"]
mod trust;
#[cfg(unix)]
#[path = "features/untrusted_files.rs"]
mod untrusted_files;
#[path = "features/walls.rs"]
mod walls;
#[path = "features/web_commands.rs"]
mod web_commands;
