//! Publishing, listing, and what happens when a release is tampered with.

use serde_json::Value;
use tollhouse_tests::{Home, components, root};

#[test]
fn a_package_directory_is_published_once() {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tools/stats"));
    let listed: Value = serde_json::from_str(&home.run(["registry", "ls", "--json"]).stdout).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!(listed[0]["name"], "tollhouse:stats");
    assert_eq!(listed[0]["version"], "0.1.0");
    assert!(listed[0]["digest"].as_str().is_some_and(|digest| digest.starts_with("sha256:")), "{listed}");
    let shown = home.run(["registry", "show", "tollhouse:stats"]);
    assert!(shown.stdout.contains("describe"), "{shown:?}");
    assert_eq!(home.run(["registry", "show", "tollhouse:nothere"]).status, 1);
}

#[test]
fn a_release_never_changes() {
    let home = Home::new();
    home.file("a.wasm", components::echo("", "u32"));
    home.file("b.wasm", components::echo("", "u64"));
    let publish = |file: &str| home.run(["publish", file, "--name", "test:echo", "--version", "1.0.0"]);
    assert_eq!(publish("a.wasm").status, 0);
    assert_eq!(publish("a.wasm").status, 0, "the same bytes again are fine");
    let other = publish("b.wasm");
    assert_eq!(other.status, 1, "{other:?}");
    assert!(other.stderr.contains("other bytes"), "{}", other.stderr);
}

#[test]
fn a_stock_component_is_called() {
    let home = Home::new();
    home.file("echo.wasm", components::echo("", "string"));
    // Its own name, `test:echo`, would hide the shell's `echo`: such a package is mounted under another.
    let ran = home.run(["publish", "echo.wasm"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let padding: String = (1..=16).map(|n| format!(", p{n}: 0")).collect();
    let code = format!("return (await mirror.echo({{x: 'there and back', a: 1{padding}}}))[0]");
    let ran = home.js(&code, &["--allow", "**", "--tool", "mirror=test:echo"]);
    assert_eq!(ran["value"], "there and back", "{ran}");
    assert_eq!(home.run(["run", "-e", "1", "--tool", "echo=test:echo"]).status, 2);
}

#[test]
fn a_tampered_component_does_not_run() {
    let home = Home::with_tools(&["stats"]);
    // What was compiled before is not asked for its blob again, so this test needs a cache of its own.
    let cache = home.path().join("cache");
    let blobs = home.path().join("tollhouse/registry/blobs/sha256");
    for blob in std::fs::read_dir(blobs).expect("the registry has blobs") {
        let path = blob.expect("it lists").path();
        let mut bytes = std::fs::read(&path).expect("it reads");
        if bytes.starts_with(b"\0asm") {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            let mut permissions = std::fs::metadata(&path).expect("it is there").permissions();
            #[expect(clippy::permissions_set_readonly_false, reason = "a file of this test's own")]
            permissions.set_readonly(false);
            std::fs::set_permissions(&path, permissions).expect("it is this user's");
            std::fs::write(&path, bytes).expect("it writes");
        }
    }
    let mut command = home.command([
        "run",
        "--allow",
        "**",
        "-e",
        "return await stats.describe({values: [1]})",
        "--tool",
        "s=tollhouse:stats",
    ]);
    let output = command.env("XDG_CACHE_HOME", cache).output().expect("it runs");
    assert_ne!(output.status.code(), Some(0));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("altered"), "{told}");
}

#[test]
fn a_thousand_tools_are_mounted() {
    let home = Home::new();
    let directory = home.path().join("tollhouse/registry");
    let registry = tollhouse_registry::Registry::open(&directory).expect("it opens");
    for number in 0..1_000 {
        let wit = format!(
            "package many:t{number}@1.0.0; interface api {{ double: func(n: u32) -> u32; }} world tool {{ export api; }}"
        );
        let module = format!(
            "(module (func (export \"many:t{number}/api@1.0.0#double\") (param i32) (result i32)
                (i32.mul (local.get 0) (i32.const 2))))"
        );
        let component = components::encode(&wit, "tool", &module);
        registry.publish(tollhouse_registry::PublishRequest::new(component)).expect("it publishes");
    }
    let ran =
        home.js("return [listTools().length, await t999.double({n: 21}), await t0_double({n: 1})]", &["--allow", "**"]);
    assert_eq!(ran["value"], serde_json::json!([1_000, 42, 2]), "{ran}");
}
