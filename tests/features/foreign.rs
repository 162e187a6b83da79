//! Components that other toolchains built. They run with `cargo xtask test --full`, which installs those.

use std::path::Path;
use std::process::Command;

use tollhouse_tests::{Home, full};

/// Runs a program that must succeed.
fn run(program: &str, arguments: &[&str], directory: &Path) {
    let status = Command::new(program).args(arguments).current_dir(directory).status();
    assert!(status.unwrap_or_else(|error| panic!("{program}: {error}")).success(), "{program} {arguments:?}");
}

#[test]
fn a_tool_made_with_cargo_component_is_published_and_called() {
    if !full() {
        return;
    }
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

#[test]
fn a_component_that_npm_ships_is_published_and_called() {
    if !full() {
        return;
    }
    // jco carries wasm-tools as a component that nobody here built.
    let home = Home::new();
    run(
        "npm",
        &["install", "--no-audit", "--no-fund", "--ignore-scripts", "@bytecodealliance/jco@1.35.0"],
        home.path(),
    );
    let mut found = Vec::new();
    components(&home.path().join("node_modules/@bytecodealliance"), &mut found);
    assert!(!found.is_empty(), "jco ships no component");
    let called = found.iter().any(|component| {
        let ran = home.run([
            "publish".as_ref(),
            component.as_os_str(),
            "--name".as_ref(),
            "npm:tools".as_ref(),
            "--version".as_ref(),
            "1.0.0".as_ref(),
        ]);
        ran.status == 0
            && home.js(
                "return await tools.print({binary: new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])})",
                &["--allow", "**"],
            )["value"]
                .as_str()
                .is_some_and(|text| text.contains("(module"))
    });
    assert!(called, "none of {found:?} could be called");
}

/// Files whose header says that they are components.
fn components(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            components(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "wasm")
            && std::fs::read(&path).is_ok_and(|bytes| bytes.starts_with(b"\0asm\x0d\0\x01\0"))
        {
            found.push(path);
        }
    }
}
