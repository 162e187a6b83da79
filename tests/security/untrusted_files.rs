//! Files that others put in place: nobody waits for a pipe, a device is not read, and what is too long is left. What a person names as
//! a stream is read all the same.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tollhouse_tests::{Home, Ran, binary, components};

/// Patience with a command that should end at once.
const PATIENCE: Duration = Duration::from_secs(20);

const MANIFEST: &str = "name = \"test:echo\"\nversion = \"1.0.0\"\n";

/// Runs the binary; kills it if it does not end by itself.
fn ended(home: &Home, arguments: &[&str]) -> Ran {
    let mut command = home.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is built");
    let begun = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().expect("it is ours");
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ran::of(&child.wait_with_output().expect("it ended"))
}

fn refused(home: &Home, arguments: &[&str], told: &str) {
    let ran = ended(home, arguments);
    let words: Vec<&str> = ran.stderr.split_whitespace().collect();
    assert!(ran.status > 0 && words.join(" ").contains(told), "{arguments:?}: {ran:?}");
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("it is there").success());
}

fn device(path: &Path) {
    symlink("/dev/zero", path).expect("it is made");
}

fn sparse(path: &Path) {
    File::create(path).and_then(|file| file.set_len(1 << 40)).expect("it is made");
}

/// Maker of something that can stand in the place of a file, and its name in a refusal.
type Strange = (fn(&Path), &'static str);

const STRANGE: [Strange; 3] =
    [(pipe, "it is a pipe, not a regular file"), (device, "it is a device"), (sparse, "it has more than")];

#[test]
fn head_of_a_log_that_is_no_small_file_is_refused_at_once() {
    let home = Home::new();
    assert_eq!(home.run(["policy", "keygen", "--audit", "key"]).status, 0);
    let run = ["run", "-e", "return 1", "--audit", "log", "--audit-key", "key"];
    let audit = ["policy", "audit", "log", "--key", "key"];
    assert_eq!(ended(&home, &run).status, 0);
    let head = home.path().join("log.head");
    let own = std::fs::read(&head).expect("it was written");
    for (make, told) in STRANGE {
        std::fs::remove_file(&head).expect("it is there");
        make(&head);
        refused(&home, &audit, told);
        refused(&home, &run, told);
    }
    std::fs::remove_file(&head).expect("it is there");
    std::fs::write(&head, own).expect("it is written");
    assert_eq!((ended(&home, &audit).status, ended(&home, &run).status), (0, 0));
}

#[test]
fn lock_beside_a_policy_that_is_no_small_file_is_refused_at_once() {
    let home = Home::new();
    home.file("policy.toml", "");
    for name in ["tollhouse.lock", "policy.tollhouse.lock"] {
        let lock = home.path().join(name);
        for (make, told) in STRANGE {
            make(&lock);
            refused(&home, &["run", "-e", "return 1", "--policy", "policy.toml"], told);
            refused(&home, &["lock", "--policy", "policy.toml"], told);
            refused(&home, &["run", "-e", "return 1", "--policy", "policy.toml", "--locked", name], told);
            std::fs::remove_file(&lock).expect("it is there");
        }
    }
    assert_eq!(ended(&home, &["run", "-e", "return 1", "--policy", "policy.toml"]).status, 0);
}

#[test]
fn named_file_that_is_no_file_or_too_long_is_refused_at_once() {
    let home = Home::new();
    home.file("small.toml", "limits.files = \"1MiB\"");
    home.file("key.pub", format!("ed25519/{}", "0".repeat(64)));
    assert_eq!(home.run(["session", "new", "s", "--policy", "small.toml"]).status, 0);
    let given = home.path().join("given");
    for (make, told) in STRANGE {
        make(&given);
        for arguments in [
            &["run", "given"][..],
            &["run", "-e", "return 1", "--policy", "given"],
            &["run", "-e", "return 1", "--token", "given", "--trust", "./key.pub"],
            &["run", "-e", "return 1", "--token", "given", "--trust", "./given"],
            &["run", "-e", "return 1", "--token", "given", "--trust", "./key.pub", "--revoked", "given"],
            &["run", "-e", "return 1", "--audit", "log", "--audit-key", "given"],
            &["run", "-e", "return 1", "--secret", "KEY=file:given"],
            &["policy", "inspect", "given"],
            &["policy", "check", "--policy", "given"],
            &["policy", "seal", "small.toml", "--key", "given"],
            &["publish", "given"],
            &["publish", "given", "--key", "given"],
            &["registry", "sign", "a:b@1.0.0", "--key", "given"],
            &["session", "put", "s", "given", "/workspace/x"],
        ] {
            refused(&home, arguments, told);
        }
        std::fs::remove_file(&given).expect("it is there");
    }
    // A log and an archive may be as long as they like: they are read a part at a time.
    for (make, told) in &STRANGE[..2] {
        make(&given);
        for arguments in [
            &["run", "-e", "return 1", "--audit", "given"][..],
            &["policy", "audit", "given"],
            &["policy", "suggest", "given"],
            &["session", "import", "given"],
        ] {
            refused(&home, arguments, told);
        }
        std::fs::remove_file(&given).expect("it is there");
    }
}

/// Process substitution and standard input are pipes that a person means.
#[test]
fn stream_that_a_person_names_is_read() {
    let home = Home::new();
    home.file("echo.wasm", components::echo("", "u32"));
    assert_eq!(home.run(["policy", "keygen", "--audit", "key"]).status, 0);
    assert_eq!(home.run(["policy", "keygen", "issuer.key"]).status, 0);
    assert_eq!(home.run(["session", "new", "s"]).status, 0);
    let shell = |script: &str| {
        let mut shell = Command::new("bash");
        shell.env_clear().envs(home.environment()).env("T", binary()).env("PATH", "/usr/bin:/bin");
        let output = shell.current_dir(home.path()).args(["-euc", script]).output().expect("bash is there");
        Ran::of(&output)
    };
    for (script, told) in [
        ("$T run <(sleep 0.1; echo 'return 1')", "1"),
        ("echo 'return 2' | $T run /dev/stdin", "2"),
        ("echo 'return 3' | $T run -", "3"),
        ("$T run --policy /dev/null -e 'return 4'", "4"),
        ("echo '' | $T run --policy - -e 'return 5'", "5"),
        ("$T run --policy <(sleep 0.1; echo '[limits]'; echo 'calls = 7') -e 'return 5'", "5"),
        (
            "$T policy check --policy /dev/fd/9 9< <(echo '[limits]') 2> /dev/null",
            "no grants: every call will be denied",
        ),
        (
            "$T policy seal <(echo '[limits]') --key <(cat issuer.key) --expires 1h > token
             $T run --token <(cat token) --trust <(cat issuer.key.pub) -e 'return 5'",
            "5",
        ),
        ("$T run -e 'return 6' --audit log --audit-key <(sleep 0.1; cat key)", "6"),
        ("$T policy audit log --key <(cat key) | head -1 | cut -c 1-18", "2 lines, unaltered"),
        ("$T policy audit /dev/fd/3 3< <(cat log) | head -1 | cut -c 1-18", "2 lines, unaltered"),
        ("$T run --secret KEY=file:<(echo value) -e 'return 7'", "7"),
        ("$T session put s <(echo eight) /workspace/x > /dev/null; $T session cat s /workspace/x", "eight"),
        ("echo nine | $T session put s - /workspace/x > /dev/null; $T session cat s /workspace/x", "nine"),
        (
            "$T session export s s.tar; $T session import <(cat s.tar) copy > /dev/null; $T session cat copy /workspace/x",
            "nine",
        ),
        ("$T publish <(cat echo.wasm) --name test:echo --version 1.0.0 | cut -c 1-25", "published test:echo@1.0.0"),
    ] {
        let ran = shell(script);
        let last = ran.stdout.lines().last();
        assert!(ran.status == 0 && last == Some(told), "{script}: {ran:?}");
    }
    let ran = shell("$T policy inspect <(yes)");
    assert!(ran.status == 2 && ran.stderr.contains("it has more than"), "a stream is bounded too: {ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn package_with_a_file_without_end_is_refused_at_once() {
    let home = Home::new();
    let package = home.path().join("package");
    std::fs::create_dir_all(package.join("wit/deps/other")).expect("it is made");
    home.file("package/echo.wasm", components::echo("", "u32"));
    home.file("package/tool.toml", format!("{MANIFEST}component = \"echo.wasm\"\n"));
    home.file("package/wit/world.wit", "package test:echo@1.0.0; world w {}");
    // It is a regular file of no bytes, says the system.
    for name in ["wit/a.wit", "wit/deps/a.wit", "wit/deps/other/a.wit", "wit/deps/a.wasm"] {
        symlink("/proc/self/pagemap", package.join(name)).expect("it is made");
        refused(&home, &["publish", "package"], "outside of the package");
        refused(&home, &["build", "package"], "outside of the package");
        std::fs::remove_file(package.join(name)).expect("it is there");
        sparse(&package.join(name));
        refused(&home, &["publish", "package"], "more than 67108864 bytes");
        std::fs::remove_file(package.join(name)).expect("it is there");
    }
}

#[test]
fn pipe_in_a_package_keeps_no_build_waiting() {
    let home = Home::new();
    let package = home.path().join("package");
    std::fs::create_dir_all(package.join("build")).expect("it is made");
    let build = |lines: &str, name: &str, told: &str| {
        home.file("package/tool.toml", format!("{MANIFEST}{lines}"));
        pipe(&package.join(name));
        for command in ["build", "test"] {
            refused(&home, &[command, "package"], told);
        }
        std::fs::remove_file(package.join(name)).expect("it is there");
    };
    build("", "Cargo.toml", "it is a pipe");
    build("[build]\nlang = \"js\"\n", "package.json", "it is a pipe");
    build("[build]\nlang = \"python\"\n", "requirements.txt", "it is a pipe");
    build("[build]\ncommand = [\"true\"]\noutput = \"build/made.wasm\"\n", "build/made.wasm", "it is a pipe");
    // What was built last is looked for where it would be.
    home.file("package/tool.toml", MANIFEST);
    pipe(&package.join("build/echo.wasm"));
    for arguments in [&["publish", "package"][..], &["test", "package", "--no-build"]] {
        refused(&home, arguments, "has no `Cargo.toml`");
    }
}

/// `--force` replaces a file, and nothing else: no device of the machine, and no pipe that another program reads.
#[test]
fn export_that_replaces_a_file_does_not_replace_a_pipe_or_a_directory() {
    let home = Home::new();
    assert_eq!(home.run(["run", "-e", "return 1", "--session", "s"]).status, 0);
    pipe(&home.path().join("pipe"));
    std::fs::create_dir(home.path().join("directory")).expect("it is made");
    home.file("file", "old");
    for (name, status) in [("pipe", 2), ("directory", 2), ("file", 0)] {
        let ran = ended(&home, &["session", "export", "s", name, "--force"]);
        assert_eq!(ran.status, status, "{name}: {ran:?}");
    }
    let kind = std::fs::symlink_metadata(home.path().join("pipe")).expect("it is there").file_type();
    assert!(!kind.is_file(), "the pipe is still one");
}

/// A recording is opened without waiting for somebody who reads it.
#[test]
fn recording_into_a_pipe_that_nobody_reads_is_an_error() {
    let home = Home::new();
    pipe(&home.path().join("pipe"));
    let ran = ended(&home, &["run", "--record", "pipe", "-e", "return 1"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("cannot write the recording"), "{ran:?}");
}

/// A file that others can write is theirs, whatever the rights of its directory are.
#[test]
fn registry_and_store_with_a_file_that_others_can_write_are_refused_unless_trusted() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::with_tools(&["stats"]);
    assert_eq!(home.run(["run", "--session", "s", "-e", "return 1"]).status, 0);
    let named = |name: &str| {
        let (_, path) = home.environment().into_iter().find(|(known, _)| *known == name).expect("it has one");
        std::path::PathBuf::from(path).join("tollhouse")
    };
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    let (registry, store) = (named("XDG_DATA_HOME").join("registry"), named("XDG_DATA_HOME").join("store"));
    assert!(registry.join("index").exists() && store.join("records").exists(), "{}", registry.display());
    // In a store that nobody else can enter, nothing else matters.
    mode(&store.join("records/format"), 0o666);
    assert_eq!(home.run(["session", "ls"]).status, 0);
    mode(&store, 0o755);
    let cases: [(&Path, &[&str]); 3] = [
        (&registry.join("index"), &["registry", "ls"]),
        (&store.join("records/format"), &["session", "ls"]),
        (&store.join("blobs"), &["session", "ls"]),
    ];
    for (path, command) in cases {
        let before = path.metadata().expect("it is there").permissions();
        mode(path, 0o666 | before.mode() & 0o111);
        refused(&home, command, "can be written by other users");
        let trusting: Vec<&str> = command.iter().copied().chain(["--trust-writers"]).collect();
        assert_eq!(home.run(&trusting).status, 0, "{trusting:?}");
        mode(path, 0o644 | before.mode() & 0o111);
        assert_eq!(home.run(command).status, 0, "{command:?}: it is ours alone again");
    }
}
