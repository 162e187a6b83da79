//! Measures what Tollhouse promises, next to Node.js and amla-sandbox (the *seed*: the system that Tollhouse started
//! from).

use std::path::PathBuf;

use anyhow::Result;

use crate::build::{self, Profile, binary};
use crate::rivals;
use crate::run::{command, run, say, succeeds, target};

/// Runs the soak test on a release build: many sessions at once, for a long time.
pub(crate) fn soak(options: &[&str]) -> Result<()> {
    build::all(Profile::Release)?;
    run(command(binary(Profile::Release).with_file_name("bench")).arg("soak").args(options))
}

/// PyPI requirement of the seed system, and the module that it has.
const SEED: [&str; 2] = ["amla-sandbox==0.2.8", "amla_sandbox"];

/// PyPI requirement of Monty, whose runs can be suspended too, and the module that it has.
const MONTY: [&str; 2] = ["pydantic-monty==1.4.0", "pydantic_monty"];

/// Measures these parts of a release build, or all of them if `parts` is empty.
pub(crate) fn bench(parts: &[&str]) -> Result<()> {
    build::all(Profile::Release)?;
    // The benchmark was built with the rest. `cargo run` would select other packages, and build wasmtime again.
    let binary = binary(Profile::Release);
    let mut bench = command(binary.with_file_name("bench"));
    if let Some(python) = seed() {
        bench.env("TOLLHOUSE_BENCH_PYTHON", python);
    }
    if (parts.is_empty() || parts.contains(&"sessions"))
        && let Some(python) = installed("bench-monty", MONTY)
    {
        bench.env("TOLLHOUSE_BENCH_MONTY", python);
    }
    if parts.is_empty() || parts.contains(&"shell") {
        if let Some(bashkit) = rivals::bashkit() {
            bench.env("TOLLHOUSE_BENCH_BASHKIT", bashkit);
        }
        if let Some(modules) = rivals::just_bash() {
            bench.env("TOLLHOUSE_BENCH_JUST_BASH", modules);
        }
    }
    if (parts.is_empty() || parts.contains(&"mcp"))
        && let Some(python) = crate::mcp::official_client()
    {
        bench.env("TOLLHOUSE_BENCH_MCP", python);
    }
    // Python measures itself.
    let (python, rest): (Vec<&str>, Vec<&str>) = parts.iter().partition(|part| **part == "python");
    if parts.is_empty() || !rest.is_empty() {
        run(bench.args(rest).env("TOLLHOUSE_BIN", &binary))?;
    }
    if parts.is_empty() || !python.is_empty() { crate::python::bench(self::seed()) } else { Ok(()) }
}

/// Returns a Python interpreter in an environment with the seed system, or `None` if that cannot be installed here.
fn seed() -> Option<PathBuf> {
    installed("bench-seed", SEED)
}

/// Returns the Python interpreter of an environment with a module from PyPI, or `None` if that cannot be installed here.
fn installed(environment: &str, [requirement, module]: [&str; 2]) -> Option<PathBuf> {
    let environment = target().join(environment);
    let python = environment.join("bin/python");
    let has_it = || succeeds(command(&python).args(["-c", &format!("import {module}")]));
    if !has_it() {
        say(&format!("installing {requirement} from PyPI, to measure beside"));
        let made = succeeds(command("python3").args(["-m", "venv"]).arg(&environment))
            && succeeds(command(&python).args(["-m", "pip", "install", "--quiet", requirement]));
        if !made {
            say("it cannot be installed: its figures are left out");
        }
    }
    has_it().then_some(python)
}
