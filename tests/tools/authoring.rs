//! `tollhouse new`, `build`, `test` and `dev`. Toolchains are those that the tests themselves need: Rust; the others are in
//! `foreign.rs`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tollhouse_tests::{Home, Ran, built, components, root, tutorial};

const LANGUAGES: [&str; 5] = ["rust", "rust-cargo-component", "js", "python", "c"];

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

/// A package whose component a command makes: `shell` is what `sh -c` runs.
fn package(home: &Home, manifest: &str, shell: &str) -> std::path::PathBuf {
    let directory = home.path().join("package");
    std::fs::create_dir_all(&directory).expect("the home can be written");
    std::fs::write(directory.join("made.wasm"), components::echo("", "string")).expect("the home can be written");
    let build = format!("[build]\ncommand = ['sh', '-c', '''{shell}''']\noutput = 'build/out.wasm'\n");
    let manifest =
        format!("name = 'test:mirror'\nversion = '0.1.0'\ndescription = 'Says it again.'\n{build}{manifest}");
    std::fs::write(directory.join("tool.toml"), manifest).expect("the home can be written");
    directory
}

/// The binary in a home, with the programs of this machine.
fn command(home: &Home, words: &[&str]) -> Command {
    let mut command = home.command(words);
    for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command
}

fn run(home: &Home, words: &[&str]) -> Ran {
    Ran::of(&command(home, words).output().expect("the binary is built: run `cargo xtask test`"))
}

/// The first minutes of a publisher, as the guide has them, with Rust. Nothing is fetched: what the template needs the tools
/// of this workspace need too.
#[test]
fn tutorial_with_rust_works() {
    let home = Home::new();
    let environment = [("CARGO_NET_OFFLINE", "true".into()), ("CARGO_TARGET_DIR", built().join("../tutorial").into())];
    tutorial::follow(&home, "Rust", &environment);
    // What cargo built is named, by the version that was built; and so are what builds it, and the rest of the form.
    let shown = run(&home, &["registry", "show", "local:shop"]);
    assert!(shown.stdout.contains("\ndependencies: ") && shown.stdout.contains(" that built it\n"), "{shown:?}");
    let listed = run(&home, &["registry", "show", "local:shop", "--dependencies"]).stdout;
    let lock = std::fs::read_to_string(home.path().join("shop/Cargo.lock")).expect("cargo wrote it");
    let version = lock.split_once("name = \"wit-bindgen\"\nversion = \"").expect("it is locked").1;
    let version = version.split('"').next().expect("there is always a first");
    let names = |name: &str, rest: &str| {
        listed.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == format!("{name} {rest}"))
    };
    assert!(names("wit-bindgen", &format!("{version} crates.io")), "{version}:\n{listed}");
    assert!(
        listed.lines().any(|line| line.starts_with("wit-bindgen-rust-macro ") && line.ends_with("  builds it")),
        "{listed}"
    );
    assert!(!listed.contains("shop"), "it is not built of itself: {listed}");
    let told = json(&run(&home, &["registry", "show", "local:shop", "--json"]));
    assert_eq!(told["dependencies"].as_array().map(Vec::len), Some(listed.lines().count()), "{told}");
}

/// A component whose list of dependencies cannot be read is reported: anyone can write such a list.
#[test]
fn dependency_list_that_is_malformed_is_reported() {
    let home = Home::new();
    let section = b"\0\x0f\x07.dep-v0no zlib";
    let component = [&components::echo("", "string")[..], section].concat();
    std::fs::write(home.path().join("echo.wasm"), component).expect("the home can be written");
    let ran = home.run(["publish", "echo.wasm", "--name", "test:echo"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let shown = home.run(["registry", "show", "test:echo"]);
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(shown.stdout.contains("dependencies: cannot determine what `test:echo@0.1.0` was built from"), "{shown:?}");
    let shown = home.run(["registry", "show", "test:echo", "--dependencies"]);
    assert!(shown.status == 1 && shown.stderr.contains("section `.dep-v0`"), "{shown:?}");
    let told = json(&home.run(["registry", "show", "test:echo", "--json"]));
    assert!(told["dependencies"]["problem"].is_string(), "{told}");
}

/// A tool that imports another one: composed, it calls a part of itself, which no gate sees.
#[test]
fn tool_composed_with_its_import_needs_no_other_tool() {
    let home = Home::with_tools(&["stats"]);
    let relay =
        std::fs::read(built().join("../wasm32-wasip2/guest/tollhouse_fixture_relay.wasm")).expect("it is built");
    let directory = home.path().join("relay");
    std::fs::create_dir_all(&directory).expect("the home can be written");
    std::fs::write(directory.join("made.wasm"), relay).expect("the home can be written");
    let write = |compose: &str| {
        let build = format!("[build]\ncommand = ['true']\noutput = 'made.wasm'\ncompose = ['{compose}']\n");
        let manifest = format!("name = 'my:relay'\nversion = '0.1.0'\n{build}");
        std::fs::write(directory.join("tool.toml"), manifest).expect("the home can be written");
    };
    for (compose, problem) in [
        ("tollhouse:nosuch", "cannot compose with `tollhouse:nosuch@*`"),
        ("tollhouse:stats@^9", "tollhouse:stats"),
        ("tollhouse:", "compose"),
    ] {
        write(compose);
        let ran = run(&home, &["build", "relay"]);
        assert!(ran.status != 0 && ran.stderr.contains(problem), "{compose}: {ran:?}");
    }
    write("tollhouse:stats@^0.1");
    let built = json(&run(&home, &["build", "relay", "--json"]));
    assert_eq!(built["composed"], serde_json::json!(["tollhouse:stats@0.1.0"]), "{built}");
    let imports = built["imports"].as_array().expect("a list");
    assert!(imports.iter().any(|import| import == "test:filer/filer@0.1.0"), "what nobody serves stays: {built}");
    assert!(!imports.iter().any(|import| import == "tollhouse:stats/stats@0.1.0"), "{built}");
    let ran = run(&home, &["publish", "relay"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = home.js("return await relay.mean({ values: [1, 2, 6] })", &["--allow", "relay/*"]);
    assert_eq!((&ran["value"], ran["calls"].as_array().map(Vec::len)), (&3.into(), Some(1)), "{ran}");
}

#[test]
fn new_package_with_unusable_name_or_place_is_refused() {
    let home = Home::new();
    for language in LANGUAGES {
        let ran = home.run(["new", "acme:prices", "--lang", language, "--path", language]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(home.path().join(language).join("wit/prices.wit").is_file());
    }
    let manifest = std::fs::read_to_string(home.path().join("c/tool.toml")).expect("it was made");
    assert!(manifest.contains("name = \"acme:prices\""));
    let ran = home.run(["new", "other", "--path", "c"]);
    assert!(ran.status == 1 || ran.status == 2, "{ran:?}");
    assert!(ran.stderr.contains("not empty"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(home.path().join("c/tool.toml")).expect("it is there"), manifest);
    for (name, said) in
        [("Prices", "only a-z"), ("a:b:c", "only a-z"), ("echo", "a builtin of the shell"), ("1st", "digit")]
    {
        let ran = home.run(["new", name]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
    assert!(!home.path().join("echo").exists());
    assert_eq!(home.run(["new", "prices", "--lang", "cobol"]).status, 2);
    assert_eq!(home.run(["new", "prices"]).status, 0);
    let made = std::fs::read_to_string(home.path().join("prices/tool.toml")).expect("it was made");
    assert!(made.contains("name = \"local:prices\""));
}

#[test]
fn build_makes_one_file_that_says_what_it_is() {
    let home = Home::new();
    let directory = package(&home, "", "cp made.wasm build/out.wasm; echo working");
    let ran = run(&home, &["build", "package", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("working"), "what the toolchain prints is no result: {ran:?}");
    let told = json(&ran);
    assert_eq!((&told["name"], &told["lang"]), (&"test:mirror".into(), &"command".into()), "{told}");
    let component = directory.canonicalize().expect("it is there").join("build/mirror.wasm");
    assert_eq!(told["component"], component.display().to_string());
    assert!(told["size"].as_u64() > told["code"].as_u64() && told["code"].as_u64() > Some(0), "{told}");
    let again = std::fs::read(&component).expect("it was made");
    assert_eq!(run(&home, &["build", "package"]).status, 0);
    assert_eq!(std::fs::read(&component).expect("it was made"), again, "the same comes of the same");
    // That file alone is enough.
    let ran = run(&home, &["publish", "package/build/mirror.wasm", "--name", "test:mirror", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(json(&ran)["version"], "0.1.0");
    let shown = run(&home, &["registry", "show", "test:mirror"]);
    assert!(shown.stdout.contains("Says it again."), "{shown:?}");
}

#[test]
fn build_with_missing_parts_says_what_is_missing() {
    let home = Home::new();
    let no_manifest = run(&home, &["build"]);
    assert!(no_manifest.status == 2 && no_manifest.stderr.contains("tollhouse new"), "{no_manifest:?}");
    assert_eq!(run(&home, &["build", "nowhere"]).status, 2);
    package(&home, "", "exit 3");
    let failed = run(&home, &["build", "package"]);
    assert!(failed.status == 1 && failed.stderr.contains("exit status: 3"), "{failed:?}");
    package(&home, "", "true");
    let nothing = run(&home, &["build", "package"]);
    assert!(nothing.status == 1 && nothing.stderr.contains("`output`"), "{nothing:?}");
    package(&home, "", "echo text > build/out.wasm");
    let text = run(&home, &["build", "package"]);
    assert!(text.status == 1 && text.stderr.contains("it is text"), "{text:?}");
    // A machine with no toolchain at all.
    for (language, program) in [
        ("rust", "rustup.rs"),
        ("rust-cargo-component", "rustup.rs"),
        ("js", "nodejs.org"),
        ("python", "python.org"),
        ("c", "clang"),
    ] {
        assert_eq!(home.run(["new", "prices", "--lang", language, "--path", language]).status, 0);
        let manifest = home.path().join(language).join("tool.toml");
        let text = std::fs::read_to_string(&manifest).expect("it was made");
        // What lies in the directory says it too.
        let unsaid = text.replace(&format!("[build]\nlang = \"{language}\"\n"), "");
        assert_ne!(unsaid, text);
        for text in [text, unsaid] {
            std::fs::write(&manifest, text).expect("it is ours");
            let ran =
                Ran::of(&command(&home, &["build", language]).env("PATH", home.path()).output().expect("it runs"));
            assert_ne!(ran.status, 0, "{language}");
            assert!(ran.stderr.contains(program), "{language}: {ran:?}");
        }
    }
    std::fs::create_dir(home.path().join("bare")).expect("the home can be written");
    home.file("bare/tool.toml", "name = 'a:b'\nversion = '1.0.0'\n");
    let bare = run(&home, &["build", "bare"]);
    assert!(bare.status == 2 && bare.stderr.contains("nothing in"), "{bare:?}");
}

/// A machine whose Rust lacks the target: stands for rustc.
#[test]
fn build_says_which_target_to_add() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    assert_eq!(home.run(["new", "prices"]).status, 0);
    let rustc = home.file("rustc", "#!/bin/sh\necho /nowhere\n");
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let ran = Ran::of(&command(&home, &["build", "prices"]).env("PATH", home.path()).output().expect("it runs"));
    assert!(ran.status == 2 && ran.stderr.contains("rustup target add wasm32-wasip2"), "{ran:?}");
}

#[test]
fn test_shows_what_differs() {
    let home = Home::new();
    let padding: String = (1..=16).map(|n| format!(", p{n} = 0")).collect();
    let example =
        |outcome: &str| format!("[[example]]\nmethod = 'echo'\narguments = {{ x = 'a', a = 1{padding} }}\n{outcome}\n");
    package(&home, &example("result = ['a', 1]"), "cp made.wasm build/out.wasm");
    let ran = run(&home, &["test", "package"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("ok    echo  example 1"), "{ran:?}");
    package(&home, &example("error = 'a'"), "cp made.wasm build/out.wasm");
    let ran = run(&home, &["test", "package"]);
    assert!(ran.status == 1 && ran.stdout.contains("instead of failing with \"a\""), "{ran:?}");
    package(&home, &example("result = ['b', 1]"), "cp made.wasm build/out.wasm");
    let ran = run(&home, &["test", "package"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("-  \"b\",") && ran.stdout.contains("+  \"a\","), "{ran:?}");
    assert!(ran.stdout.contains("0 passed, 1 failed"), "{ran:?}");
    let told = json(&run(&home, &["test", "package", "--json", "--no-build"]));
    assert_eq!((&told["failed"], &told["tests"][0]["outcome"]), (&1.into(), &"failed".into()), "{told}");
    assert!(!home.path().join("tollhouse/registry").exists(), "nothing was published");
}

/// The fixture that misbehaves on request does so when it is called with nothing.
#[test]
fn test_calls_what_has_no_example() {
    let home = Home::new();
    let directory = home.path().join("probe");
    let source = root().join("tests/fixtures/probe");
    std::fs::create_dir_all(directory.join("build")).expect("the home can be written");
    let component = built().join("../wasm32-wasip2/guest/tollhouse_fixture_probe.wasm");
    std::fs::copy(component, directory.join("build/probe.wasm")).expect("it is built: run `cargo xtask build`");
    std::fs::copy(source.join("tool.toml"), directory.join("tool.toml")).expect("it is there");
    let ran = run(&home, &["test", "probe", "--no-build", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let told = json(&ran);
    let tests = told["tests"].as_array().expect("a list");
    let of =
        |method: &str| tests.iter().find(|test| test["method"] == method).unwrap_or_else(|| panic!("{method}: {told}"));
    for (method, said) in [("panic", "the tool said"), ("recurse", "trapped"), ("spin", "10000 ms")] {
        assert_eq!(of(method)["outcome"], "failed", "{told}");
        assert!(of(method)["message"].as_str().is_some_and(|message| message.contains(said)), "{told}");
    }
    for method in ["text", "read-file"] {
        assert_eq!(of(method)["outcome"], "passed", "{told}");
    }
    assert_eq!(of("counter/increment")["outcome"], "skipped", "{told}");
}

fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} took too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn interrupt(child: &std::process::Child) {
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(told.expect("kill runs").success());
}

/// A save is built, and what was built is there for a run in another terminal.
#[test]
fn dev_follows_what_is_saved() {
    let home = Home::new();
    let directory = package(&home, "", "cp made.wasm build/out.wasm; echo built >> build/log");
    let log = directory.join("build/log");
    let said = home.file("said", "");
    let mut child = command(&home, &["dev", "package"])
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&said).expect("the home can be written"))
        .spawn()
        .expect("it runs");
    let builds = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    let waits = || std::fs::read_to_string(&said).unwrap_or_default().matches("waiting for a change").count();
    wait_for("the first build", || builds() == 1 && waits() == 1);
    let listed = run(&home, &["registry", "ls", "--registry", "package/build/registry"]);
    assert!(listed.stdout.contains("test:mirror"), "{listed:?}");
    std::fs::write(directory.join("made.wasm"), components::echo("", "u32")).expect("it is saved");
    wait_for("the second build", || builds() == 2 && waits() == 2);
    let typed = run(&home, &["registry", "show", "test:mirror", "--registry", "package/build/registry"]);
    assert!(typed.stdout.contains("u32"), "{typed:?}");
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// Ctrl-C ends the build too, and what that started.
#[test]
fn build_interrupted_leaves_no_process() {
    let home = Home::new();
    let alive = home.path().join("alive");
    assert!(Command::new("mkfifo").arg(&alive).status().expect("it is there").success());
    // What runs holds the pipe open.
    let build = "exec 3<> ../alive; echo > build/begun; (sleep 30; echo survived >&3) & wait";
    let directory = package(&home, "", build);
    let mut child = command(&home, &["build", "package"]).stderr(Stdio::null()).spawn().expect("it runs");
    wait_for("the build", || directory.join("build/begun").exists());
    let mut alive = std::fs::File::open(alive).expect("it is a pipe");
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut alive, &mut said).expect("it ends when nothing holds it open");
    assert_eq!(said, "");
}

#[test]
fn dev_once_says_whether_it_passed_and_runs_a_script() {
    let home = Home::new();
    let padding: String = (1..=16).map(|n| format!(", p{n}: 0")).collect();
    home.file("try.js", format!("console.log((await mirror.echo({{x: 'there', a: 1{padding}}}))[0])"));
    package(&home, "", "cp made.wasm build/out.wasm");
    let ran = run(&home, &["dev", "package", "--once", "--run", "try.js"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.ends_with("there\n"), "{ran:?}");
    home.file("try.js", "throw new Error('no')");
    assert_eq!(run(&home, &["dev", "package", "--once", "--run", "try.js"]).status, 1);
    package(&home, "", "exit 1");
    assert_eq!(run(&home, &["dev", "package", "--once"]).status, 1);
}
