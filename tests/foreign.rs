//! Components that other toolchains built, and a registry that others serve. A test binary of its own, built with the feature `full`: `cargo xtask test
//! --full` installs those toolchains first.

mod coreutils;
mod shared;
mod shipped;

use std::path::Path;
use std::process::Command;

use tollhouse_tests::{Home, root, tutorial};

/// Runs a program that must succeed. It builds where it stands, not where these tests were built.
fn run(program: &str, arguments: &[&str], directory: &Path) {
    let status = Command::new(program).args(arguments).current_dir(directory).env_remove("CARGO_TARGET_DIR").status();
    assert!(status.unwrap_or_else(|error| panic!("{program}: {error}")).success(), "{program} {arguments:?}");
}

/// The first minutes of a publisher, in the languages that the other tests do not need. With Rust: `features/author.rs`.
#[test]
fn the_tutorial_with_cargo_component() {
    tutorial::follow(&Home::new(), "Rust with cargo-component", &[]);
}

#[test]
fn the_tutorial_with_javascript() {
    tutorial::follow(&Home::new(), "JavaScript", &[]);
}

#[test]
fn the_tutorial_with_python() {
    tutorial::follow(&Home::new(), "Python", &[]);
}

#[test]
fn the_tutorial_with_c() {
    tutorial::follow(&Home::new(), "C", &[]);
}

#[test]
fn a_tool_made_with_cargo_component_is_published_and_called() {
    let home = Home::new();
    run("cargo", &["component", "new", "--lib", "greeter"], home.path());
    let directory = home.path().join("greeter");
    run("cargo", &["component", "build", "--release"], &directory);
    let target = directory.join("target");
    let built = ["wasm32-wasip1", "wasm32-wasip2"].map(|triple| target.join(triple).join("release/greeter.wasm"));
    let component = built.iter().find(|path| path.exists()).expect("cargo-component built it");
    let ran = home.run([
        "publish".as_ref(),
        component.as_os_str(),
        "--name".as_ref(),
        "my:greeter".as_ref(),
        "--version".as_ref(),
        "0.1.0".as_ref(),
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = home.js("return await greeter.helloWorld({})", &["--allow", "**"]);
    assert_eq!(ran["value"], "Hello, World!", "{ran}");
}

/// What ComponentizeJS is asked to do: a component around SpiderMonkey.
const COMPONENTIZE: &str = "
import { componentize } from '@bytecodealliance/componentize-js';
import { writeFile } from 'node:fs/promises';
const source = 'export function greet(name) { return `Hello, ${name}, from JavaScript` }';
const wit = 'package npm:greeter@1.0.0; world tool { export greet: func(name: string) -> string; }';
const disableFeatures = ['random', 'stdio', 'clocks', 'http', 'fetch-event'];
const { component } = await componentize(source, wit, { disableFeatures });
await writeFile('greeter.wasm', component);
";

#[test]
fn a_tool_written_in_javascript_is_published_and_called() {
    let home = Home::new();
    let package = "@bytecodealliance/componentize-js@0.23.0";
    run("npm", &["install", "--no-audit", "--no-fund", package], home.path());
    home.file("make.mjs", COMPONENTIZE);
    run("node", &["make.mjs"], home.path());
    let ran = home.run(["publish", "greeter.wasm", "--name", "npm:greeter", "--version", "1.0.0"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = home.js("return await greeter.greet({name: 'Ada'})", &["--allow", "**"]);
    assert_eq!(ran["value"], "Hello, Ada, from JavaScript", "{ran}");
}

/// An agent around SpiderMonkey: it imports a tool by its WIT name, and is a program.
const AGENT: &str = "
import { componentize } from '@bytecodealliance/componentize-js';
import { writeFile } from 'node:fs/promises';
const source = `
import { describe } from 'tollhouse:stats/stats@0.1.0';
export const run = { run() { console.log('mean ' + describe([1, 2, 3]).mean); } };
`;
const disableFeatures = ['http', 'fetch-event'];
const { component } = await componentize(source, { witPath: 'wit', worldName: 'agent', disableFeatures });
await writeFile('agent.wasm', component);
";

#[test]
fn an_agent_written_in_javascript_calls_a_tool() {
    let home = Home::with_tools(&["stats"]);
    run("npm", &["install", "--no-audit", "--no-fund", "@bytecodealliance/componentize-js@0.23.0"], home.path());
    for directory in ["wit/deps/stats", "wit/deps/cli"] {
        std::fs::create_dir_all(home.path().join(directory)).expect("the home can be written");
    }
    let stats = std::fs::read(root().join("tools/stats/wit/stats.wit")).expect("the tool has WIT");
    home.file("wit/deps/stats/stats.wit", stats);
    home.file("wit/deps/cli/run.wit", "package wasi:cli@0.2.3; interface run { run: func() -> result; }");
    let world = "package test:agent; world agent { import tollhouse:stats/stats@0.1.0; export wasi:cli/run@0.2.3; }";
    home.file("wit/agent.wit", world);
    home.file("make.mjs", AGENT);
    run("node", &["make.mjs"], home.path());
    let ran = home.json(["agent.wasm", "--allow", "stats/*"]);
    assert_eq!((&ran["stdout"], &ran["status"]), (&"mean 2\n".into(), &"completed".into()), "{ran}");
    let ran = home.json(["agent.wasm"]);
    assert_eq!(ran["error"]["kind"], "capability", "{ran}");
}
