//! Runs the tests, and the further checks of CI.

use anyhow::{Result, bail};

use crate::advisories;
use crate::build::{self, Profile, SHELL, tool_directories, tool_package};
use crate::conditional_tests;
use crate::differential;
use crate::docs;
use crate::guests::cargo_for_guests;
use crate::mcp;
use crate::package;
use crate::patched;
use crate::programs;
use crate::python;
use crate::release;
use crate::run::{cargo, command, run, say, succeeds, target};
use crate::seed;
use crate::setup::{reference_program, registry_server, setup};

/// Features of the test package that are off by default, and checked too.
const FEATURES: &str = "tollhouse-tests/full,tollhouse-tests/redb";

/// Builds everything and runs the tests.
pub(crate) fn test(full: bool) -> Result<()> {
    build::all(Profile::Debug)?;
    let runner = runner();
    // Real programs that the shell's commands of the same names are compared with.
    for program in ["curl", "jq", "wget"] {
        reference_program(program, program)?;
    }
    say("testing the host, the registry and the whole from outside");
    run(cargo(runner).args(["--features", "tollhouse-tests/redb"]))?;
    say("testing what takes more than every machine has");
    conditional_tests::run_possible(runner, &["--features", "tollhouse-tests/redb"])?;
    say("testing the examples in the documentation");
    run(&mut cargo(&["test", "--doc", "--quiet"]))?;
    say("testing what applies patches and makes releases");
    reference_program("nodejs", "node")?;
    run(cargo(runner).args(["--package", "xtask"]))?;
    say("testing the shell guest natively, as far as it needs no host");
    let mut shell = cargo(runner);
    run(shell.args(["--locked", "--manifest-path", SHELL, "--target-dir"]).arg(target()))?;
    say("testing the tools natively");
    let mut tools = cargo(runner);
    for directory in tool_directories()? {
        tools.args(["--package", &tool_package(&directory)]);
    }
    // Library that several tools share.
    run(tools.args(["--package", "tollhouse-tool-files"]))?;
    python::test(Profile::Debug)?;
    say("comparing the shell and its commands with the real programs");
    differential::bounded(full)?;
    if full { self::full(&[]) } else { Ok(()) }
}

/// Name of a part of the tests, and the function that runs it.
type Part = (&'static str, fn() -> Result<()>);

/// Parts of the tests that `--full` adds, in order.
const PARTS: [Part; 8] = [
    ("sizes", format_sizes),
    ("docs", docs::docs),
    ("packages", package::test),
    ("release", release::test),
    ("foreign", foreign),
    ("seed", || seed::test(Profile::Debug)),
    ("mcp", || mcp::test_full(Profile::Debug)),
    ("python", || python::test_full(Profile::Debug, &programs::publish_to("python/home", &programs::make(&[])?)?)),
];

/// Runs the named parts of `--full` after a build, or all of them if `names` is empty.
pub(crate) fn full(names: &[&str]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !PARTS.iter().any(|(part, _)| part == *name)) {
        let parts: Vec<&str> = PARTS.iter().map(|(part, _)| *part).collect();
        bail!("`{unknown}` is no part of the full tests: {}", parts.join(", "));
    }
    PARTS.iter().filter(|(part, _)| names.is_empty() || names.contains(part)).try_for_each(|(_, test)| test())
}

/// Tests stored trees with the real sizes of the format. The other tests use smaller ones.
fn format_sizes() -> Result<()> {
    say("testing stored trees with the sizes of the format");
    run(cargo(runner()).args(["--package", "tollhouse-vfs", "--features", "format-sizes"]))
}

/// Returns cargo's subcommand that runs tests: nextest if it is installed.
fn runner() -> &'static [&'static str] {
    let nextest = succeeds(&mut cargo(&["nextest", "--version"]));
    if nextest { &["nextest", "run"] } else { &["test", "--tests"] }
}

/// Builds a tool with another tool chain, as some publishers do, and runs programs by other authors.
fn foreign() -> Result<()> {
    if !succeeds(&mut cargo(&["component", "--version"])) {
        say("installing cargo-component");
        run(&mut cargo(&["install", "--locked", "cargo-component"]))?;
    }
    say("building tools/text with cargo-component");
    run(command("cargo").args(["component", "build", "--profile", "guest", "--package", "tollhouse-tool-text"]))?;
    programs::make(&[])?;
    registry_server()?;
    say("testing what other toolchains built");
    run(&mut cargo(&["test", "--features", "tollhouse-tests/full", "--test", "foreign"]))
}

/// Checks format, lints, licences, advisories and documentation, and that the tree could be released.
pub(crate) fn check() -> Result<()> {
    say("checking the format");
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    patched::bashkit()?;
    // Not `--all`, which would format the patched crate too.
    run(&mut cargo(&["fmt", "--check", "--manifest-path", SHELL]))?;
    release::check()?;
    advisories::check_if_possible()?;
    let c = setup()?;
    build::all(Profile::Debug)?;
    say("checking with clippy");
    run(&mut cargo(&["clippy", "--all-targets", "--features", FEATURES, "--", "-D", "warnings"]))?;
    run(&mut cargo(&["clippy", "--package", "xtask", "--", "-D", "warnings"]))?;
    // The fuzz targets are not a default member. The default members are named too, so that features stay the same.
    let mut fuzz = cargo(&["clippy", "--bins", "--package", "tollhouse-fuzz"]);
    for package in ["tollhouse", "tollhouse-engine", "tollhouse-registry", "tollhouse-tests"] {
        fuzz.args(["--package", package]);
    }
    run(fuzz.args(["--", "-D", "warnings"]))?;
    python::check()?;
    let warnings = ["--", "-D", "warnings"];
    let mut js = cargo_for_guests("clippy", &["--package", "tollhouse-guest-js"])?;
    run(js.args(warnings).env("CC_wasm32_unknown_unknown", patched::quickjs(&c.compiler)?))?;
    let mut shell = cargo_for_guests("clippy", &["--locked", "--manifest-path", SHELL, "--target-dir"])?;
    run(shell.arg(target()).args(warnings))?;
    say("building the documentation");
    let mut doc = cargo(&["doc", "--no-deps", "--package", "tollhouse"]);
    for part in ["audit", "gate", "mcp", "methods", "policy", "registry", "store", "token", "types", "vfs"] {
        doc.args(["--package", &format!("tollhouse-{part}")]);
    }
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}
