//! Publishing, listing, and what happens when a release is tampered with.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, components, root};

#[test]
fn package_directory_published_twice_is_listed_once() {
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
fn release_published_again_with_other_content_is_refused() {
    let home = Home::new();
    home.file("a.wasm", components::echo("", "u32"));
    home.file("b.wasm", components::echo("", "u64"));
    let publish = |file: &str| home.run(["publish", file, "--name", "test:echo", "--version", "1.0.0"]);
    assert_eq!(publish("a.wasm").status, 0);
    assert_eq!(publish("a.wasm").status, 0, "the same bytes again are fine");
    let other = publish("b.wasm");
    assert_eq!(other.status, 1, "{other:?}");
    assert!(other.stderr.contains("exists with other content"), "{}", other.stderr);
}

#[test]
fn component_without_manifest_is_published_and_called() {
    let home = Home::new();
    home.file("echo.wasm", components::echo("", "string"));
    let ran = home.run(["publish", "echo.wasm"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let padding: String = (1..=16).map(|n| format!(", p{n}: 0")).collect();
    let code = format!("return (await mirror.echo({{x: 'there and back', a: 1{padding}}}))[0]");
    let ran = home.js(&code, &["--allow", "**", "--tool", "mirror=test:echo"]);
    assert_eq!(ran["value"], "there and back", "{ran}");
}

#[test]
fn component_tampered_in_registry_does_not_run() {
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
            let writable = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, writable).expect("it is this user's");
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

/// Changes one byte of the component that a registry has.
fn alter_component(home: &Home) {
    for blob in std::fs::read_dir(home.path().join("tollhouse/registry/blobs/sha256")).expect("the registry has blobs")
    {
        let path = blob.expect("it lists").path();
        let mut bytes = std::fs::read(&path).expect("it reads");
        if bytes.starts_with(b"\0asm") {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            write(&path, &bytes);
        }
    }
}

#[test]
fn component_damaged_is_reported_with_its_digest() {
    let home = Home::new();
    home.file("t.wasm", number("one", 1));
    assert_eq!(home.run(["publish", "t.wasm", "--name", "t:one", "--version", "1.0.0"]).status, 0);
    let listed: Value = serde_json::from_str(&home.run(["registry", "ls", "--json"]).stdout).expect("JSON");
    let digest = listed[0]["digest"].as_str().expect("a digest").to_owned();
    alter_component(&home);
    home.file("named.toml", "[tools]\none = \"t:one\"\n[[grant]]\nmethod = \"**\"\n");
    home.file("grant.toml", "[[grant]]\nmethod = \"one/*\"\n");
    for (what, arguments, status) in [
        ("a call", vec!["call", "one/f", "{}", "--allow", "**"], None),
        ("a call in another face", vec!["call", "one.f", "{}", "--allow", "**"], None),
        ("a pattern", vec!["run", "-e", "1", "--allow", "one/*"], Some(2)),
        ("a grant", vec!["policy", "check", "--policy", "grant.toml"], Some(2)),
        ("a policy that names it", vec!["run", "-e", "1", "--policy", "named.toml"], Some(2)),
        ("a script", vec!["run", "--allow", "**", "-e", "return await one.f({})"], None),
        ("a script of bash", vec!["run", "--allow", "**", "--lang", "sh", "-e", "tool one.f"], None),
        ("help", vec!["tools", "one/f"], None),
        ("the list", vec!["tools"], Some(0)),
        ("verify", vec!["registry", "verify"], Some(1)),
    ] {
        let mut command = home.command(arguments);
        // What was compiled or reflected before is not asked for its blob again.
        let ran = Ran::of(&command.env("XDG_CACHE_HOME", home.path().join("fresh")).output().expect("it runs"));
        let told: String = format!("{}{}", ran.stdout, ran.stderr).split_whitespace().collect();
        assert!(told.contains("t:one") && told.contains(&digest) && told.contains("altered"), "{what}: {ran:?}");
        assert!(status.map_or(ran.status != 0, |status| ran.status == status), "{what}: {ran:?}");
    }
    // What is whole is compiled, mounted and called beside it, and nothing is said.
    home.file("u.wasm", number("two", 2));
    assert_eq!(home.run(["publish", "u.wasm", "--name", "t:two", "--version", "1.0.0"]).status, 0);
    let mut command = home.command(["precompile", "--json"]);
    let ran = Ran::of(&command.env("XDG_CACHE_HOME", home.path().join("fresh")).output().expect("it runs"));
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.status, &told["packages"]), (1, &json!(["t:two@1.0.0"])), "{ran:?}");
    assert_eq!(told["refused"][0]["package"], "t:one@1.0.0", "{ran:?}");
    let ran = home.run(["call", "two/f", "{}", "--allow", "two/*"]);
    assert_eq!((ran.stdout.trim(), ran.stderr.as_str()), ("2", ""), "{ran:?}");
}

#[test]
fn verify_tells_of_a_line_that_was_never_finished() {
    let home = Home::new();
    home.file("t.wasm", number("one", 1));
    assert_eq!(home.run(["publish", "t.wasm", "--name", "t:one", "--version", "1.0.0"]).status, 0);
    let index = home.path().join("tollhouse/registry/index");
    let whole = std::fs::read(&index).expect("the index is there");
    let verify = |option: &[&str]| home.run(["registry", "verify"].iter().chain(option).copied());
    assert_eq!(verify(&[]).stderr, "");
    std::fs::write(&index, &whole[..whole.len() - 1]).expect("it is written");
    let ran = verify(&[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.stderr.contains(&format!("ends with {} bytes of a line that is not whole", whole.len() - 1)),
        "{ran:?}"
    );
    let report: Value = serde_json::from_str(&verify(&["--json"]).stdout).expect("JSON");
    assert_eq!((&report["torn_bytes"], &report["releases"]), (&Value::from(whole.len() - 1), &Value::from(0)));
}

/// A component `t:NAME` whose one function gives a number.
fn number(name: &str, number: u32) -> Vec<u8> {
    let wit = format!("package t:{name}; interface api {{ f: func() -> u32; }} world tool {{ export api; }}");
    let module = format!("(module (func (export \"t:{name}/api#f\") (result i32) (i32.const {number})))");
    components::encode(&wit, "tool", &module)
}

/// An entry of the cache: where it is, and the file beside it that says who wrote it.
fn sealed(entry: &Path) -> [PathBuf; 2] {
    [entry.to_owned(), entry.with_added_extension("mac")]
}

fn write(path: &Path, bytes: &[u8]) {
    // A process that mapped the old file keeps it.
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).expect("it writes");
}

#[test]
fn code_cache_entry_tampered_does_not_run() {
    let home = Home::new();
    for (name, is) in [("one", 1), ("two", 2)] {
        home.file("t.wasm", number(name, is));
        assert_eq!(home.run(["publish", "t.wasm", "--name", &format!("t:{name}"), "--version", "1.0.0"]).status, 0);
    }
    let cache = home.path().join("cache");
    let run = || {
        let mut command =
            home.command(["run", "--allow", "**", "-e", "return `${await one.f({})} ${await two.f({})}`"]);
        Ran::of(&command.env("XDG_CACHE_HOME", &cache).output().expect("it runs"))
    };
    assert_eq!(run().stdout, "1 2\n");
    let listed = std::fs::read_dir(cache.join("tollhouse")).expect("there is a cache");
    let listed = listed.map(|entry| entry.expect("it lists").path());
    let entries: Vec<PathBuf> = listed.filter(|path| path.extension().is_some_and(|end| end == "cwasm")).collect();
    assert_eq!(entries.len(), 3, "the guest and two tools: {entries:?}");
    let read = |path: &PathBuf| std::fs::read(path).expect("it reads");
    let foreign = wasmtime::Engine::default().precompile_component(&number("one", 666)).expect("it compiles");
    for (at, entry) in entries.iter().enumerate() {
        let [code, mac] = sealed(entry).map(|path| read(&path));
        let [other, its_mac] = sealed(&entries[(at + 1) % 3]).map(|path| read(&path));
        let flipped = |bytes: &[u8], at: usize| {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= 1;
            bytes
        };
        for (what, new_code, new_mac) in [
            ("the first byte", flipped(&code, 0), mac.clone()),
            ("a byte in the middle", flipped(&code, code.len() / 2), mac.clone()),
            ("the last byte", flipped(&code, code.len() - 1), mac.clone()),
            ("half of it", code[..code.len() / 2].to_vec(), mac.clone()),
            ("nothing of it", vec![], mac.clone()),
            ("more than it", [&code[..], b"x"].concat(), mac.clone()),
            ("another's code", other.clone(), mac.clone()),
            ("another's code and seal", other, its_mac.clone()),
            ("another's seal", code.clone(), its_mac),
            ("code of another engine", foreign.clone(), mac.clone()),
            ("a flipped seal", code.clone(), flipped(&mac, 0)),
            ("no seal", code.clone(), vec![]),
        ] {
            let [place, seal] = sealed(entry);
            write(&place, &new_code);
            write(&seal, &new_mac);
            let ran = run();
            assert_eq!((ran.status, ran.stdout.as_str()), (0, "1 2\n"), "{what} of {}: {ran:?}", entry.display());
            assert!(sealed(entry).map(|path| read(&path)) == [code.clone(), mac.clone()], "it is made anew: {what}");
        }
    }
    let key = cache.join("tollhouse/key");
    write(&key, b"short");
    let ran = run();
    // Nothing of the cache is used then.
    assert!(ran.stdout == "1 2\n" && ran.stderr.contains(&key.display().to_string()), "{ran:?}");
}

#[test]
fn thousand_tools_are_mounted_and_called() {
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

/// Forty components, each of which makes two instances of the one before.
#[test]
fn component_of_a_trillion_instances_is_refused_at_once() {
    let mut text = "(component (component $c0 (core module $m) (core instance (instantiate $m)))".to_owned();
    for level in 1..40 {
        let twice = "(instance (instantiate $p)) (instance (instantiate $p))";
        text += &format!("(component $c{level} (alias outer 1 $c{} (component $p)) {twice})", level - 1);
    }
    text += "(instance (instantiate $c39)) (core module $f (func (export \"f\") (result i32) i32.const 7))
        (core instance $i (instantiate $f)) (func $f (result u32) (canon lift (core func $i \"f\")))
        (instance $a (export \"f\" (func $f))) (export \"e:v/api@1.0.0\" (instance $a)))";
    let home = Home::new();
    home.file("many.wasm", wat::parse_str(&text).expect("it parses"));
    let ran = home.run(["publish", "many.wasm", "--name", "e:x", "--version", "1.0.0"]);
    assert!(ran.status == 1 && ran.stderr.contains("more than 2000 instances"), "{ran:?}");
}

/// A package publishes only regular files from within its directory.
#[test]
fn package_with_links_and_pipes_is_refused() {
    let home = Home::new();
    let package = home.path().join("package");
    std::fs::create_dir_all(package.join("wit")).expect("it is made");
    let write = |name: &str, bytes: &[u8]| std::fs::write(package.join(name), bytes).expect("it is written");
    write("echo.wasm", &components::echo("", "u32"));
    write("tool.toml", b"name = \"test:echo\"\nversion = \"1.0.0\"\ncomponent = \"echo.wasm\"\n");
    home.file("secret", "private");
    let publish = || home.run(["publish", "package"]);
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, package.join(name)).expect("it is made");
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(package.join(name)).status().expect("it is there");
        assert!(made.success());
    };
    let remove = |name: &str| std::fs::remove_file(package.join(name)).expect("it is there");
    std::fs::remove_dir(package.join("wit")).expect("it is empty");

    link("../secret", "README.md");
    let ran = publish();
    assert!(ran.status != 0 && ran.stderr.contains("outside of the package"), "{ran:?}");
    remove("README.md");
    pipe("README.md");
    let ran = publish();
    assert!(ran.status != 0 && ran.stderr.contains("is a pipe, not a regular file"), "{ran:?}");
    remove("README.md");
    std::fs::create_dir(package.join("wit")).expect("it is made");
    for (make, told) in [
        (&(|name: &str| link("/dev/zero", name)) as &dyn Fn(&str), "outside of the package"),
        (&pipe, ", not a regular file"),
    ] {
        make("wit/a.wit");
        let ran = publish();
        assert!(ran.status != 0 && ran.stderr.contains(told), "{ran:?}");
        remove("wit/a.wit");
    }
    // Nothing but `deps` is looked into, and that no deeper than WIT knows of.
    write("wit/world.wit", b"package test:echo@1.0.0; world w {}");
    link("..", "wit/loop");
    link("..", "wit/deps");
    let ran = publish();
    assert!(ran.status != 0 && ran.stderr.contains("package/wit/deps"), "{ran:?}");
    remove("wit/loop");
    remove("wit/deps");
    remove("wit/world.wit");
    std::fs::remove_dir(package.join("wit")).expect("it is empty");
    write("README.txt", b"It says back what it is told.");
    link("README.txt", "README.md");
    assert_eq!(publish().status, 0, "a link within the package is fine");
}

/// A publisher's text is not taken for a line of the registry.
#[test]
fn description_forges_no_line_of_the_registry() {
    let home = Home::new();
    let package = home.path().join("package");
    std::fs::create_dir(&package).expect("it is made");
    std::fs::write(package.join("echo.wasm"), components::echo("", "u32")).expect("it is written");
    let manifest = "name = \"test:echo\"\nversion = \"1.0.0\"\ncomponent = \"echo.wasm\"\n\
        description = \"Echo.\\nsigned by wasmtime\"\n";
    std::fs::write(package.join("tool.toml"), manifest).expect("it is written");
    assert_eq!(home.run(["publish", "package"]).status, 0);
    let shown = home.run(["registry", "show", "test:echo"]).stdout;
    assert!(shown.contains("\ndescription: Echo.\n  signed by wasmtime\n"), "{shown}");
}
