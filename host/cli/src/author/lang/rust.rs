//! Rust: cargo and wit-bindgen, or cargo-component.

use std::path::PathBuf;
use std::process::Command;

use tollhouse_registry::cargo_built;

use super::super::super::registry::failed;
use super::{BuildJob, CliError, Result};

/// Hint on how to install cargo.
const CARGO: &str = "install Rust: https://rustup.rs";

pub(super) fn build(job: &BuildJob<'_>) -> Result<PathBuf> {
    needs_target(job, "wasm32-wasip2")?;
    let mut cargo = job.command("cargo");
    cargo.args(["build", "--target", "wasm32-wasip2"]);
    leave_out_paths(job, &mut cargo, "WASIP2");
    run(job, cargo)
}

pub(super) fn build_with_cargo_component(job: &BuildJob<'_>) -> Result<PathBuf> {
    needs_target(job, "wasm32-wasip1")?;
    if job.ask("cargo", &["component", "--version"]).is_none() {
        let missing = CliError::usage("this package is built with cargo-component, which is not installed");
        return Err(missing.hint("type: cargo install --locked cargo-component"));
    }
    let mut cargo = job.command("cargo");
    cargo.args(["component", "build"]);
    leave_out_paths(job, &mut cargo, "WASIP1");
    run(job, cargo)
}

fn run(job: &BuildJob<'_>, mut cargo: Command) -> Result<PathBuf> {
    let profile = if job.debug { "debug" } else { "release" };
    if !job.debug {
        cargo.arg("--release");
    }
    job.run(cargo, CARGO)?;
    cargo_built(job.directory, profile)
        .map_err(|error| failed("cargo built nothing that is a component", &error, error.hint()))
}

/// Makes the compiler leave out this machine's paths, so that the same source gives the same output elsewhere.
fn leave_out_paths(job: &BuildJob<'_>, cargo: &mut Command, target: &str) {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let own = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(home?.join(".cargo")));
    let locations = [(own, "/cargo"), (sysroot(job), "/rust"), (Some(job.directory.to_owned()), "/tool")];
    let flag =
        |(place, name): (Option<PathBuf>, &str)| Some(format!("--remap-path-prefix={}={name}", place?.to_str()?));
    let flags: Vec<String> = locations.into_iter().filter_map(flag).collect();
    // Flags are separated by spaces. If `RUSTFLAGS` is set, cargo uses only that.
    if !flags.iter().any(|flag| flag.contains(' ')) {
        cargo.env(format!("CARGO_TARGET_WASM32_{target}_RUSTFLAGS"), flags.join(" "));
    }
}

/// Returns rustc's sysroot, or `None` if there is no rustc.
pub(super) fn sysroot(job: &BuildJob<'_>) -> Option<PathBuf> {
    job.ask("rustc", &["--print", "sysroot"]).map(PathBuf::from)
}

fn needs_target(job: &BuildJob<'_>, target: &str) -> Result<()> {
    let Some(sysroot) = sysroot(job) else {
        return Err(CliError::usage("this package is built with Rust, and there is no `rustc`").hint(CARGO));
    };
    if sysroot.join("lib/rustlib").join(target).is_dir() {
        return Ok(());
    }
    let missing = CliError::usage(format!("Rust cannot build for {target}: its library is not installed"));
    Err(missing.hint(format!("type: rustup target add {target}")))
}
