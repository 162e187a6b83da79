//! The command line: what it prints, what it refuses, and with which status it ends.

mod arguments;
mod batch;
mod completions;
mod demo;
mod details;
mod dry_run;
mod input_errors;
mod mistakes;
mod output_errors;
mod recordings;
mod repl;
mod run;
mod snapshots;
