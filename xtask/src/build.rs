//! Builds guests, tools and host, in this order, since the host embeds the guests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::patched;
use crate::run::{cargo, command, root, run, say, target};
use crate::setup::{C, setup};

/// How the host is built. Guests and tools are always optimised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Own code quick to build, dependencies optimised.
    Debug,
    /// Everything optimised.
    Release,
}

impl Profile {
    /// The directory under `target`.
    pub(crate) fn directory(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    /// What cargo is told.
    fn flag(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &[],
            Self::Release => &["--release"],
        }
    }
}

/// The script guests: name of the artifact, and of the package.
const GUESTS: [(&str, &str); 2] = [("js", "tollhouse-guest-js"), ("shell", "tollhouse-guest-shell")];

/// What the shell guest's package is, beside the workspace: see `patched`.
pub(crate) const SHELL: &str = "guest-shell/Cargo.toml";

/// What the tests run as a program of the shell. For WASI 0.1 its exit status comes through: see `docs/programs.md`.
const PROGRAM: &str = "tollhouse-fixture-program";

/// Builds everything.
pub(crate) fn all(profile: Profile) -> Result<()> {
    let c = setup()?;
    guests(&c.compiler)?;
    tools(&c)?;
    say("building the host");
    // The selection of packages is the same in every call that reaches wasmtime (the default members), because the
    // features of shared dependencies follow from it: another selection would build wasmtime a second time.
    run(cargo(&["build", "--bin", "tollhouse-precompile"]).args(profile.flag()))?;
    precompile(profile)?;
    run(cargo(&["build"]).args(profile.flag()))?;
    say(&format!("built {}", binary(profile).display()));
    Ok(())
}

/// The host's binary.
pub(crate) fn binary(profile: Profile) -> PathBuf {
    target().join(profile.directory()).join("tollhouse")
}

fn guests(compiler: &str) -> Result<()> {
    patched::bashkit()?;
    say("building the guests (wasm32-unknown-unknown)");
    let compiler = patched::quickjs(compiler)?;
    run(guest("build", &["--package", "tollhouse-guest-js"]).env("CC_wasm32_unknown_unknown", compiler))?;
    run(&mut shell("build"))
}

/// A command of cargo's on what is built as the guests are.
pub(crate) fn guest(subcommand: &str, packages: &[&str]) -> std::process::Command {
    let mut cargo = cargo(&[subcommand, "--profile", "guest", "--target", "wasm32-unknown-unknown"]);
    cargo.args(packages);
    cargo
}

/// The same on the shell guest, which must not resolve anew.
pub(crate) fn shell(subcommand: &str) -> std::process::Command {
    let mut cargo = guest(subcommand, &["--locked", "--manifest-path", SHELL, "--target-dir"]);
    cargo.arg(target());
    cargo
}

/// The directories under `tools/`, each a package.
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

/// The name of a directory's package.
pub(crate) fn tool_package(directory: &Path) -> String {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    format!("tollhouse-tool-{name}")
}

fn tools(c: &C) -> Result<()> {
    say("building the tools (wasm32-wasip2)");
    let mut build = cargo(&["build", "--profile", "guest", "--target", "wasm32-wasip2"]);
    for directory in tool_directories()? {
        build.args(["--package", &tool_package(&directory)]);
    }
    // What the tests call and run, beside the real tools.
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

/// Has the compiler leave out where this machine keeps things: another one makes the same tools, to the byte.
fn leave_out_paths(build: &mut Command) {
    let home = std::env::var("HOME").map(|home| format!("{home}/.cargo"));
    let Ok(cargo) = std::env::var("CARGO_HOME").or(home) else { return };
    let root = root();
    let flags = [(cargo.as_str(), "/cargo"), (&root.to_string_lossy(), "/tollhouse")]
        .map(|(place, name)| format!("--remap-path-prefix={place}={name}"));
    // Flags are separated by spaces.
    if !flags.iter().any(|flag| flag.contains(' ')) {
        build.env("CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS", flags.join(" "));
    }
}

/// Pre-initialises and compiles the guests, if they or the compiler changed.
fn precompile(profile: Profile) -> Result<()> {
    let out = target().join("guests");
    std::fs::create_dir_all(&out)?;
    let compiler = target().join(profile.directory()).join("tollhouse-precompile");
    for (name, package) in GUESTS {
        let core = format!("wasm32-unknown-unknown/guest/{}.wasm", package.replace('-', "_"));
        let core = target().join(core);
        let made = out.join(name);
        if newer(&made.with_extension("digest"), &[&core, &compiler])? {
            continue;
        }
        say(&format!("pre-initialising and compiling the {name} guest"));
        run(command(&compiler).arg(&core).arg(&made))?;
    }
    Ok(())
}

/// Whether a file is there and newer than all of these.
fn newer(made: &Path, sources: &[&Path]) -> Result<bool> {
    let Ok(made) = made.metadata() else { return Ok(false) };
    let made = made.modified()?;
    for source in sources {
        let changed = source.metadata().with_context(|| format!("{} is not there", source.display()))?.modified()?;
        if changed > made {
            return Ok(false);
        }
    }
    Ok(true)
}
