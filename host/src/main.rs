//! The command line of Tollhouse.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
