//! The program `tollhouse`.

use std::env;

use tollhouse_cli::{Exit, Program};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Exit {
    // By its path, and by its name only if the path is unknown.
    let executable = env::current_exe().unwrap_or_else(|_| "tollhouse".into());
    tollhouse_cli::main(Program { executable, before: Vec::new() }, env::args_os())
}
