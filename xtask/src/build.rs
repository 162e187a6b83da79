//! Builds guests, tools and host, in this order, since the host embeds the guests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::guests;
use crate::run::{cargo, root, run, say, target};
use crate::setup::{CToolchain, cargo_home, setup, targets};

/// Profile of the host. Guests and tools are always optimised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Own code without optimization, for quick builds; dependencies optimized.
    Debug,
    /// The profile `release`.
    Release,
}

impl Profile {
    /// Returns the directory of the profile below `target`.
    pub(crate) fn directory(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    /// Returns the arguments for cargo.
    pub(crate) fn flag(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &[],
            Self::Release => &["--release"],
        }
    }
}

/// Manifest of the shell guest, which is outside of the workspace because it depends on a patched crate; see `patched`.
pub(crate) const SHELL: &str = "guest-shell/Cargo.toml";

/// Arguments of cargo that build tools.
const TOOLS: [&str; 5] = ["build", "--profile", "guest", "--target", "wasm32-wasip2"];

/// Fixture program that the tests run in the shell. It is also built for WASI 0.1, where its exit status reaches the
/// host: see `docs/programs.md`.
const PROGRAM: &str = "tollhouse-fixture-program";

/// Builds guests, tools and host.
pub(crate) fn all(profile: Profile) -> Result<()> {
    let c = setup()?;
    tools(&c)?;
    host(profile, &[])
}

/// Builds the command line and these tools, which must not contain C: no compiler for it is set up.
pub(crate) fn demo(profile: Profile, packages: &[String]) -> Result<()> {
    targets(&["wasm32-wasip2"])?;
    say("building the tools (wasm32-wasip2)");
    let mut build = cargo(&TOOLS);
    for package in packages {
        build.args(["--package", package]);
    }
    leave_out_paths(&mut build);
    run(&mut build)?;
    host(profile, &["--bin", "tollhouse"])
}

/// Compiles the guests for this machine.
fn compiled_guests(profile: Profile) -> Result<()> {
    // The selection of packages is the same in every call that reaches wasmtime (the default members), because the
    // features of shared dependencies follow from it: another selection would build wasmtime a second time.
    run(cargo(&["build", "--bin", "tollhouse-precompile"]).args(profile.flag()))?;
    guests::prepare(profile)
}

/// Builds the host, or the selected packages of it, with the guests.
fn host(profile: Profile, selection: &[&str]) -> Result<()> {
    say("building the host");
    compiled_guests(profile)?;
    run(cargo(&["build"]).args(selection).args(profile.flag()))?;
    say(&format!("built {}", binary(profile).display()));
    Ok(())
}

/// Returns the path of the host's binary.
pub(crate) fn binary(profile: Profile) -> PathBuf {
    target().join(profile.directory()).join("tollhouse")
}

/// Returns the directories under `tools/`, each of which holds one package.
pub(crate) fn tool_directories() -> Result<Vec<PathBuf>> {
    let tools = root().join("tools");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&tools).with_context(|| format!("cannot read {}", tools.display()))? {
        let path = entry?.path();
        if path.join("tool.toml").exists() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the name of the cargo package in a directory of `tools/`.
pub(crate) fn tool_package(directory: &Path) -> String {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    format!("tollhouse-tool-{name}")
}

fn tools(c: &CToolchain) -> Result<()> {
    say("building the tools (wasm32-wasip2)");
    let mut build = cargo(&TOOLS);
    for directory in tool_directories()? {
        build.args(["--package", &tool_package(&directory)]);
    }
    // Components that the tests call and run, besides the real tools.
    for package in [
        "fixture-agent",
        "fixture-callers",
        "fixture-filer",
        "fixture-payments",
        "fixture-probe",
        "fixture-program",
        "fixture-relay",
        "example-agent",
    ] {
        build.args(["--package", &format!("tollhouse-{package}")]);
    }
    leave_out_paths(&mut build);
    run(c.for_tools(&mut build))?;
    say("building a program (wasm32-wasip1)");
    run(cargo(&["build", "--profile", "guest", "--target", "wasm32-wasip1"]).args(["--package", PROGRAM]))
}

/// Removes paths of this machine from the output of the compiler, so that builds on all machines give the same bytes.
fn leave_out_paths(build: &mut Command) {
    let Ok(cargo) = cargo_home() else { return };
    let flags = [(cargo, "/cargo"), (root(), "/tollhouse")]
        .map(|(place, name)| format!("--remap-path-prefix={}={name}", place.display()));
    // `RUSTFLAGS` separates flags by spaces.
    if !flags.iter().any(|flag| flag.contains(' ')) {
        build.env("CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS", flags.join(" "));
    }
}
