//! Components that other toolchains built, and a registry that others serve. A test binary of its own, built with the feature `full`: `cargo xtask test
//! --full` installs those toolchains first.

mod coreutils;
mod shared;
mod shipped;

use std::path::Path;
use std::process::Command;

use serde_json::json;
use tollhouse_tests::{Home, root, tutorial};

/// Runs a program that must succeed. It builds where it stands, not where these tests were built.
fn run(program: &str, arguments: &[&str], directory: &Path) {
    let status = Command::new(program).args(arguments).current_dir(directory).env_remove("CARGO_TARGET_DIR").status();
    assert!(status.unwrap_or_else(|error| panic!("{program}: {error}")).success(), "{program} {arguments:?}");
}

/// The first minutes of a publisher, in the languages that the other tests do not need. With Rust: `tools/authoring.rs`.
#[test]
fn tutorial_with_cargo_component_works() {
    tutorial::follow(&Home::new(), "Rust with cargo-component", &[]);
}

#[test]
fn tutorial_with_javascript_works() {
    tutorial::follow(&Home::new(), "JavaScript", &[]);
}

#[test]
fn tutorial_with_python_works() {
    tutorial::follow(&Home::new(), "Python", &[]);
}

#[test]
fn tutorial_with_c_works() {
    tutorial::follow(&Home::new(), "C", &[]);
}

#[test]
fn tool_made_with_cargo_component_is_published_and_called() {
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

/// Program that asks ComponentizeJS for a component around SpiderMonkey.
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
fn tool_written_in_javascript_is_published_and_called() {
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
fn agent_written_in_javascript_calls_a_tool() {
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

/// Publishes what lies at that path. The digest that `publish` prints is the SHA-256 of the component's bytes.
fn publish_unchanged(home: &Home, component: &str, release: (&str, &str), digest: &str) {
    let (name, version) = release;
    let ran = home.run(["publish", component, "--name", name, "--version", version]);
    assert_eq!(ran.stdout, format!("published {name}@{version} sha256:{digest}\n"), "{ran:?}");
}

/// Two tools of others in one script: one makes a component, the other its bindings for JavaScript.
const BINDINGS: &str = r#"
const component = await wasmTools.parse({ wat: `(component
    (core module $m (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))
    (core instance $i (instantiate $m))
    (func (export "add") (param "a" u32) (param "b" u32) (result u32) (canon lift (core func $i "add"))))` });
const { files, exports } = await bindgen.generate({ component, options: { name: 'adder' } });
const refused = await wasmTools.parse({ wat: '(module' }).catch(error => error.payload);
return {
    wit: await wasmTools.componentWit({ binary: component }),
    files: files.map(([name]) => name),
    exports,
    refused: refused.includes('expected `)`'),
};
"#;

/// The archive of jco on npm holds wasm-tools and jco's own generator as components. Later versions hold core modules.
#[test]
fn components_from_npm_are_published_and_called() {
    let home = Home::new();
    run("npm", &["pack", "--silent", "@bytecodealliance/jco@1.0.3"], home.path());
    run("tar", &["-xzf", "bytecodealliance-jco-1.0.3.tgz"], home.path());
    publish_unchanged(
        &home,
        "package/obj/wasm-tools.component.wasm",
        ("jco:wasm-tools", "1.0.3"),
        "bf72604ccc334cdf0c6f74e675934de23853a53eed733a9b1396091e13ddba36",
    );
    publish_unchanged(
        &home,
        "package/obj/js-component-bindgen-component.component.wasm",
        ("jco:bindgen", "1.0.3"),
        "cdb3a8f52af34015cf00223e9a34deae98d11026a57fcc945d24599ad5531f35",
    );
    let ran = home.js(BINDINGS, &["--allow", "wasm-tools/*", "--allow", "bindgen/generate"]);
    let expected = json!({
        "wit": "package root:component;\n\nworld root {\n  export add: func(a: u32, b: u32) -> u32;\n}\n",
        "files": ["adder.d.ts", "adder.js"],
        "exports": [["add", "function"]],
        "refused": true,
    });
    assert_eq!(ran["value"], expected, "{ran}");
    let ran = home.sh("wasm-tools parse --wat '(module)'", &["--allow", "wasm-tools/parse"]);
    assert_eq!(ran["stdout"], "\"AGFzbQEAAAA=\"\n", "{ran}");
    let ran = home.js(BINDINGS, &["--allow", "wasm-tools/*"]);
    assert_eq!(ran["error"]["kind"], "capability", "{ran}");
}

/// Fits a trend to 0.1 + 0.8 t, which grows by 0.5 t less after 0.5, with some noise.
const TREND: &str = "
const t = Array.from({ length: 21 }, (_, i) => i / 20);
const y = t.map((t, i) => 0.1 + 0.8 * t - 0.5 * Math.max(t - 0.5, 0) + (i % 2 ? 0.01 : -0.01));
const data = JSON.stringify({
    T: 21, y, t, cap: t.map(() => 0), S: 1, t_change: [0.5], trend_indicator: 0,
    K: 1, s_a: [1], s_m: [0], X: t.map(() => [0]), sigmas: [10], tau: 0.5,
});
const init = { k: 1, m: 0, delta: [0], beta: [0], sigmaObs: 1 };
const { params } = await prophet.optimize({ init, data, opts: { algorithm: 'lbfgs', seed: 100 } });
return [params.m, params.k, params.delta[0]].map(number => number.toFixed(1));
";

/// The crate `augurs-prophet` holds Prophet's model, written in Stan and built with the WASI SDK.
#[test]
fn component_from_a_crate_is_published_and_called() {
    let home = Home::new();
    let manifest = "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\n[lib]\npath = \"lib.rs\"\n\
        [dependencies]\naugurs-prophet = { version = \"=0.10.3\", default-features = false }\n";
    home.file("Cargo.toml", manifest);
    home.file("lib.rs", "");
    run("cargo", &["vendor", "--quiet"], home.path());
    publish_unchanged(
        &home,
        "vendor/augurs-prophet/prophet-wasmstan.wasm",
        ("augurs:prophet", "0.10.3"),
        "0b50fe158cffca61e15d9db603d2b8b74ce23e3c0eb484819f94cffd668716d2",
    );
    let ran = home.js(TREND, &["--allow", "prophet/*"]);
    assert_eq!(ran["value"], json!(["0.1", "0.8", "-0.5"]), "{ran}");
    let ran = home.js(TREND, &[]);
    assert_eq!(ran["error"]["kind"], "capability", "{ran}");
}
