//! Ways out of a process whose WebAssembly has been broken out of, each tried behind the second wall and without it.
//!
//! `tests/support/escape.c` is what has broken out. Each way has a name here, and an error that it must end with.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tollhouse_tests::oci::OciRegistry;
use tollhouse_tests::{Home, Ran, components, root};

use crate::mcp::http::{HttpServer, bearer, seal};
use crate::mcp::oauth::{Key, configure};

/// The kernel does not let the process touch it (Landlock).
const TOUCHED: &str = "EACCES";
/// The filters leave the system call, and not with these arguments.
const REFUSED: &str = "EPERM";
/// The filters do not leave the system call.
const MISSING: &str = "ENOSYS";

/// Each way, what comes of it in a run without the network, and whether it is open without the wall, to every process on every
/// machine: what is not may fail for reasons of its own.
const WAYS: &[(&str, &str, bool)] = &[
    ("read-file", TOUCHED, true),
    ("write-file", TOUCHED, true),
    ("create-file", TOUCHED, true),
    ("list-directory", TOUCHED, true),
    ("make-directory", TOUCHED, true),
    ("remove-file", TOUCHED, true),
    ("rename-file", TOUCHED, true),
    ("link-file", TOUCHED, true),
    ("symlink", MISSING, true),
    ("make-pipe", MISSING, true),
    ("truncate-file", MISSING, true),
    ("chmod-file", MISSING, true),
    ("chown-file", MISSING, true),
    ("touch-file", MISSING, true),
    ("set-attribute", MISSING, false),
    ("fchmod-file", REFUSED, true),
    ("own-environment", TOUCHED, true),
    ("own-memory", TOUCHED, true),
    ("environment-of-parent", TOUCHED, true),
    ("list-root", TOUCHED, true),
    ("own-control-group", TOUCHED, true),
    ("list-control-groups", TOUCHED, false),
    ("lead-to-file-by-handle", MISSING, false),
    ("watch-files", MISSING, false),
    ("watch-all-files", MISSING, false),
    ("make-program", REFUSED, true),
    ("make-set-user-id", REFUSED, true),
    ("make-set-group-id", REFUSED, true),
    ("make-program-without-name", REFUSED, false),
    ("make-whiteout", REFUSED, false),
    ("open-by-handle", MISSING, false),
    ("inherited-descriptor", "EBADF", true),
    ("execve", MISSING, false),
    ("execveat", MISSING, false),
    ("fork", REFUSED, true),
    ("clone-new-user", REFUSED, false),
    ("clone3", MISSING, false),
    ("unshare", MISSING, false),
    ("setns", MISSING, false),
    ("chroot", MISSING, false),
    ("pivot-root", MISSING, false),
    ("mount", MISSING, false),
    ("umount", MISSING, false),
    ("open-tree", MISSING, false),
    ("personality", MISSING, false),
    ("signal-to-parent", REFUSED, true),
    ("signal-to-thread-of-parent", REFUSED, true),
    ("signal-to-thread", MISSING, true),
    ("queue-signal", MISSING, false),
    ("signal-to-group", REFUSED, true),
    ("signal-to-all", REFUSED, false),
    ("descriptor-of-process", MISSING, false),
    ("signals-of-a-terminal-for-parent", REFUSED, true),
    ("signals-of-a-terminal-for-foreground", REFUSED, false),
    ("clock-of-parent", REFUSED, true),
    ("resolution-of-clock-of-parent", REFUSED, true),
    ("wait-for-clock-of-parent", REFUSED, true),
    ("group-of-parent", REFUSED, true),
    ("session-of-parent", MISSING, true),
    ("scheduling-of-parent", MISSING, true),
    ("pages-of-parent", MISSING, false),
    ("shared-memory", MISSING, false),
    ("message-queue", MISSING, false),
    ("timer", MISSING, false),
    ("trace", MISSING, false),
    ("read-memory-of-process", MISSING, false),
    ("write-memory-of-process", MISSING, false),
    ("compare-processes", MISSING, false),
    ("limits-of-parent", REFUSED, true),
    ("raise-own-limit", REFUSED, true),
    ("priority-of-parent", MISSING, true),
    ("become-dumpable", REFUSED, true),
    ("allow-tracing", REFUSED, false),
    ("seccomp", MISSING, false),
    ("landlock", MISSING, false),
    ("type-into-terminal", REFUSED, false),
    ("type-into-console", REFUSED, false),
    ("line-discipline", REFUSED, false),
    ("take-terminal", REFUSED, false),
    ("foreground-group", REFUSED, false),
    ("type-with-high-bits", REFUSED, false),
    ("socket-unix", REFUSED, true),
    ("socket-unix-datagrams", REFUSED, true),
    ("socket-tcp", REFUSED, true),
    ("socket-udp", REFUSED, true),
    ("socket-tcp6", REFUSED, false),
    ("socket-raw", REFUSED, false),
    ("socket-netlink", REFUSED, true),
    ("socket-packet", REFUSED, false),
    ("socket-crypto", REFUSED, false),
    ("socket-machine", REFUSED, false),
    ("socket-multipath", REFUSED, false),
    ("socket-sctp", REFUSED, false),
    ("socket-udp-lite", REFUSED, false),
    ("socket-ping", REFUSED, false),
    ("bind-to-device", REFUSED, false),
    ("mark-packets", REFUSED, false),
    ("foreign-addresses", REFUSED, false),
    ("replace-firewall", REFUSED, false),
    ("repair-connection", REFUSED, false),
    ("attach-program", REFUSED, false),
    ("pair-of-datagrams", REFUSED, true),
    ("send-descriptor", MISSING, true),
    ("filter-packets", REFUSED, false),
    ("connect-abstract", MISSING, true),
    ("connect-path", MISSING, true),
    ("bind", MISSING, false),
    ("listen", MISSING, false),
    ("bpf", MISSING, false),
    ("perf", MISSING, false),
    ("userfaultfd", MISSING, false),
    ("io-uring", MISSING, false),
    ("keyctl", MISSING, false),
    ("add-key", MISSING, false),
    ("load-module", MISSING, false),
    ("load-kernel", MISSING, false),
    ("reboot", MISSING, false),
    ("swap", MISSING, false),
    ("set-clock", MISSING, false),
    ("adjust-clock", MISSING, false),
];

/// Operations that must go on working, or be as they are said to be.
const LEFT: [&str; 9] = [
    "left-make-file",
    "left-look-at-path",
    "left-read-status",
    "left-pair-of-streams",
    "left-signal-to-itself",
    "left-no-core",
    "left-not-dumpable",
    "left-no-thread-before",
    "end",
];

/// Time enough for a thread to begin when all filters stand.
const SCRIPT: &str = "await new Promise(go => setTimeout(go, 50)); return 'ran'";

/// Objects outside of everything that a process may touch, and the library that looks for a way there.
struct Outside {
    directory: tempfile::TempDir,
    library: PathBuf,
    /// Name of the abstract socket.
    name: String,
    _sockets: [UnixListener; 2],
}

impl Outside {
    fn new(home: &Home) -> Self {
        use std::os::linux::net::SocketAddrExt as _;
        let library = library(home);
        let directory = tempfile::tempdir().expect("a directory");
        for file in ["secret", "removable", "movable"] {
            std::fs::write(directory.path().join(file), "secret").expect("it is written");
        }
        let name = format!("tollhouse-escape-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("it is short");
        let sockets = [
            UnixListener::bind_addr(&address).expect("nobody has it"),
            UnixListener::bind(directory.path().join("socket")).expect("nobody has it"),
        ];
        Self { directory, library, name, _sockets: sockets }
    }

    /// Has a command look for ways out as soon as so many filters hold it.
    fn prepare(&self, home: &Home, command: &mut Command, filters: u32) {
        let inside = home.environment().into_iter().find(|(name, _)| *name == "XDG_CACHE_HOME").expect("it has one").1;
        command.env("ESCAPE_INSIDE", Path::new(&inside).join("tollhouse"));
        command.env("ESCAPE_INHERITED", self.directory.path().join("inherited"));
        command.env("ESCAPE_OUTSIDE", self.directory.path()).env("ESCAPE_ABSTRACT", &self.name);
        command.env("ESCAPE_FILTERS", filters.to_string()).env("LD_PRELOAD", &self.library);
    }

    /// Returns a command that inherits a descriptor, and looks for ways out as soon as `filters` hold it.
    fn command(&self, home: &Home, filters: u32, arguments: &[&str]) -> Command {
        let direct = home.command(arguments);
        // The shell opens a descriptor that the binary inherits.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec \"$0\" \"$@\" 9>\"$ESCAPE_INHERITED\""]).arg(direct.get_program());
        command.args(direct.get_args()).env_clear().envs(home.environment()).current_dir(home.path());
        self.prepare(home, command.stdin(Stdio::null()), filters);
        command
    }

    /// Runs the script, in a process that looks for ways out as soon as `filters` hold it: what came of each way.
    fn tried(&self, home: &Home, filters: u32, arguments: &[&str]) -> BTreeMap<String, String> {
        let mut command = self.command(home, filters, &[&["run", "-e", SCRIPT], arguments].concat());
        let ran = Ran::of(&command.output().expect("there is a shell"));
        assert_eq!((ran.status, ran.stdout.trim()), (0, "ran"), "{ran:?}");
        ran.stderr.lines().filter_map(way).collect()
    }

    /// Has a client ask a server with a process for each client, of which the one with this role looks for ways out: what
    /// came of each way.
    fn tried_by_server(&self, home: &Home, role: &str) -> BTreeMap<String, String> {
        assert_eq!(home.run(["policy", "keygen", "k"]).status, 0);
        let token = bearer(&seal(home, ""));
        let serve = ["mcp", "--http", "127.0.0.1:0", "--issuer", "k.pub", "--isolate", "process"];
        let mut command = self.command(home, 4, &serve);
        command.env("ESCAPE_ROLE", role);
        let (reader, writer) = std::io::pipe().expect("there is room");
        let server = HttpServer::of_command(command, writer);
        let ran = server.modern_js("return 1", &[("authorization", &token)]);
        assert_eq!(ran["structuredContent"]["value"], 1, "{ran:#}");
        let lines = BufReader::new(reader).lines().map_while(Result::ok);
        let mut tried = BTreeMap::new();
        // What a worker says has its name before it.
        let said = |line: String| line.rsplit_once(" of a client: ").map_or(line.clone(), |(_, said)| said.to_owned());
        for (name, result) in lines.filter_map(|line| way(&said(line))) {
            tried.insert(name.clone(), result);
            if name == "end" {
                break;
            }
        }
        tried
    }
}

/// Parses a line that says what came of a way.
fn way(line: &str) -> Option<(String, String)> {
    let (name, result) = line.strip_prefix("way ")?.split_once(' ')?;
    Some((name.to_owned(), result.to_owned()))
}

/// Compiles `escape.c` to a library.
fn library(home: &Home) -> PathBuf {
    let library = home.path().join("escape.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library);
    let built = compiler.arg(root().join("tests/support/escape.c")).arg("-ldl").output();
    let built = built.expect("a C compiler, `cc`, is installed");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

/// Says what came of each way that did not end as it must.
fn check(tried: &BTreeMap<String, String>, other: &[(&str, &[&str])]) {
    let named = WAYS.iter().map(|(name, ..)| *name).chain(LEFT);
    assert_eq!(tried.keys().map(String::as_str).collect::<Vec<_>>(), sorted(named), "every way has a name here");
    let mut wrong = Vec::new();
    let expected = WAYS.iter().map(|(name, error, _)| (*name, *error)).chain(LEFT.map(|name| (name, "open")));
    for (name, error) in expected {
        let usual = [error];
        let allowed = other.iter().find(|(of, _)| *of == name).map_or(&usual[..], |(_, errors)| errors);
        if !allowed.contains(&tried[name].as_str()) {
            wrong.push(format!("{name}: {} instead of {allowed:?}", tried[name]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

/// Returns true if this kernel's Landlock holds signals and abstract sockets.
fn has_scopes(home: &Home) -> bool {
    let doctor = home.run(["doctor"]).stdout;
    let landlock = doctor.lines().find(|line| line.contains("landlock")).expect("doctor names it");
    !landlock.contains("not on this system") && !landlock.contains("abstract")
}

fn leader(home: &Home) -> Child {
    use std::io::Read as _;
    let code = "console.log('leads'); await new Promise(go => setTimeout(go, 1e9))";
    let mut leader = home.command(["run", "--session", "leader", "-e", code]);
    let mut leader = leader.stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().expect("it runs");
    leader.stdout.as_mut().expect("it is piped").read_exact(&mut [0; 5]).expect("it begins");
    leader
}

#[test]
fn run_cannot_escape_to_the_system() {
    let home = Home::new();
    let outside = Outside::new(&home);
    check(&outside.tried(&home, 4, &[]), &[]);
    assert_untouched(outside.directory.path());
    // The process that holds a store needs no new sockets for it.
    check(&outside.tried(&home, 4, &["--session", "kept"]), &[]);
    assert_untouched(outside.directory.path());
}

fn assert_untouched(outside: &Path) {
    let entries = std::fs::read_dir(outside).expect("it is there");
    let names = entries.map(|entry| entry.expect("it is read").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    assert_eq!(names, ["inherited", "movable", "removable", "secret", "socket"]);
    assert_eq!(std::fs::read_to_string(outside.join("secret")).expect("it is read"), "secret");
}

#[test]
fn network_that_a_tool_is_granted_opens_no_other_way() {
    let home = Home::with_tools(&["http"]);
    home.file("online.toml", "[[grant]]\nmethod = '**'\n[tool.http]\nhttp = ['example.com']\n");
    let outside = Outside::new(&home);
    let opened: &[(&str, &[&str])] = &[
        ("socket-tcp", &["open"]),
        ("socket-udp", &["open"]),
        ("socket-tcp6", &["open", "EAFNOSUPPORT"]),
        ("send-descriptor", &["open"]),
        // Of which nothing is connected: there is no socket.
        ("connect-abstract", &["EBADF"]),
        ("connect-path", &["EBADF"]),
    ];
    check(&outside.tried(&home, 4, &["--policy", "online.toml"]), opened);
}

#[test]
fn store_of_another_process_opens_no_other_way() {
    let home = Home::new();
    let outside = Outside::new(&home);
    let mut leader = leader(&home);
    // Before version 9 Landlock does not know sockets by their paths: docs/security.md says so.
    let abstract_name = if has_scopes(&home) { "EPERM" } else { "open" };
    let opened: &[(&str, &[&str])] = &[
        ("socket-unix", &["open"]),
        ("connect-abstract", &[abstract_name]),
        ("connect-path", &["open", "EACCES"]),
        ("chmod-file", &["EPERM"]),
        ("bind", &["EBADF"]),
        ("listen", &["EBADF"]),
    ];
    let tried = outside.tried(&home, 4, &["--session", "follower"]);
    leader.kill().and_then(|()| leader.wait()).expect("it is killed");
    check(&tried, opened);
}

/// Each of them reads, compiles or runs what others wrote.
#[test]
fn commands_that_read_foreign_code_end_behind_the_wall() {
    let home = Home::with_tools(&["stats"]);
    home.file("policy.toml", "[[grant]]\nmethod = '**'\n");
    let library = library(&home);
    let stats = root().join("tools/stats").display().to_string();
    let package = package(&home);
    let layout = home.path().join("layout/test/small");
    std::fs::create_dir_all(&layout).expect("it is made");
    std::fs::copy(package.join("build/small.wasm"), layout.join("0.2.0.wasm")).expect("it is copied");
    let layout = home.path().join("layout").display().to_string();
    let package = package.display().to_string();
    for arguments in [
        &["run", "-e", "1"][..],
        &["call", "stats/describe", "{\"values\": [1]}", "--allow", "**"],
        &["batch"],
        &["repl"],
        &["publish", &stats, "--dry-run"],
        &["publish", &package],
        &["test", &package, "--no-build"],
        &["test", &package],
        &["build", &package],
        &["precompile", "tollhouse:stats"],
        &["registry", "import", &layout],
        &["registry", "ls"],
        &["registry", "show", "tollhouse:stats"],
        &["registry", "show", "tollhouse:stats", "--dependencies"],
        &["registry", "search", "mean"],
        &["registry", "diff", "test:small@0.1.0", "0.2.0"],
        &["registry", "verify"],
        &["lock", "--policy", "policy.toml"],
        &["lock", "--policy", "policy.toml", "--update", "stats"],
        &["tools"],
        &["types"],
        &["policy", "check", "--policy", "policy.toml"],
        &["policy", "explain", "stats/describe", "{\"values\": [1]}", "--allow", "**"],
        &["session", "new", "s", "--policy", "policy.toml"],
        &["tools", "--session", "s"],
    ] {
        for (flags, filters) in [(&[][..], 4), (&["--no-seccomp"][..], 0)] {
            // The same session is not made twice.
            if arguments.contains(&"new") && filters == 0 {
                continue;
            }
            let mut command = home.command([arguments, flags].concat());
            for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "CARGO_TARGET_DIR"] {
                command.envs(std::env::var_os(name).map(|value| (name, value)));
            }
            ends_with(command, &library, filters);
        }
    }
}

/// A command ends well, held by so many filters.
fn ends_with(mut command: Command, library: &Path, filters: u32) {
    command.env("LD_PRELOAD", library).env("ESCAPE_COUNT", "1");
    let ran = Ran::of(&command.output().expect("it runs"));
    let held = ran.stderr.lines().find_map(|line| line.strip_prefix("held "));
    assert_eq!((ran.status, held), (0, Some(filters.to_string().as_str())), "{command:?}: {ran:?}");
    assert!(filters == 0 || !ran.stderr.lines().any(|line| line == "early"), "{command:?}: {ran:?}");
}

/// An answer of a container registry is read by a process that is confined.
#[test]
fn registry_pull_ends_behind_the_wall() {
    let (oci, home) = (OciRegistry::default(), Home::with_tools(&["stats"]));
    let reference = format!("{}/acme/stats", oci.host());
    assert_eq!(home.run(["registry", "push", "tollhouse:stats", &reference]).status, 0);
    let (reference, other) = (format!("{reference}:0.1.0"), Home::new());
    let library = library(&other);
    for (flags, filters) in [(&[][..], 4), (&["--no-seccomp"], 0)] {
        ends_with(other.command([&["registry", "pull", &reference], flags].concat()), &library, filters);
    }
}

/// A session's archive comes from elsewhere.
#[test]
fn session_import_ends_behind_the_wall() {
    let (home, other) = (Home::new(), Home::new());
    let archive = home.path().join("s.tlh").display().to_string();
    assert_eq!(home.run(["session", "new", "s"]).status, 0);
    assert_eq!(home.run(["session", "export", "s", &archive]).status, 0);
    let library = library(&other);
    for (name, flags, filters) in [("first", &[][..], 4), ("second", &["--no-seccomp"], 0)] {
        ends_with(other.command([&["session", "import", &archive, name], flags].concat()), &library, filters);
        assert_eq!(other.run(["session", "show", name]).status, 0);
    }
}

/// `dev` starts toolchains, again and again. What they made is read, compiled and run by processes of its own, each confined.
#[test]
fn dev_leaves_what_is_foreign_to_confined_processes() {
    let home = Home::new();
    let library = library(&home);
    home.file("try.js", "return await small.seven({})");
    package(&home);
    for (flags, filters) in [(&[][..], "held 4"), (&["--no-seccomp"], "held 0")] {
        let arguments = [&["dev", "small", "--once", "--run", "try.js"], flags].concat();
        let mut command = home.command(arguments);
        for name in ["PATH", "HOME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("LD_PRELOAD", &library).env("ESCAPE_COUNT", "1");
        let ran = Ran::of(&command.output().expect("it runs"));
        let held: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("held ")).collect();
        // Build, publish, test and run, and at the end `dev`, which read none of it.
        assert_eq!((ran.status, &held[..]), (0, &[filters, filters, filters, filters, "held 0"][..]), "{ran:?}");
    }
}

/// A lock is replaced in the directory of its policy, and written nowhere else.
#[test]
fn lock_writes_behind_the_wall_where_its_policy_lies() {
    let home = Home::with_tools(&["stats"]);
    std::fs::create_dir(home.path().join("policies")).expect("it is made");
    home.file("policies/policy.toml", "[tools]\nstats = 'tollhouse:stats'\n[[grant]]\nmethod = '**'\n");
    std::fs::create_dir(home.path().join("other")).expect("it is made");
    for arguments in [
        &["lock", "--policy", "policies/policy.toml"][..],
        &["lock", "--policy", "policies/policy.toml", "--locked", "other/named.lock"],
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    let there = |path: &str| home.path().join(path).exists();
    assert!(there("policies/tollhouse.lock") && there("other/named.lock") && !there("tollhouse.lock"));
    let refused = home.run(["lock", "--policy", "policies/policy.toml", "--locked", "absent/named.lock"]);
    assert!(refused.status != 0 && refused.stderr.contains("absent/named.lock"), "{refused:?}");
    assert!(!there("absent"), "a directory is not made for it");
}

/// A package that is built by a command of its own, and whose component is there.
fn package(home: &Home) -> PathBuf {
    let package = home.path().join("small");
    std::fs::create_dir_all(package.join("wit")).expect("it is made");
    std::fs::create_dir_all(package.join("build")).expect("it is made");
    let wit = "package test:small@0.1.0;\ninterface small { /// Seven.\n seven: func() -> u32; }\nworld tool { export small; }\n";
    let module = "(module (memory (export \"memory\") 1)
        (func (export \"test:small/small@0.1.0#seven\") (result i32) (i32.const 7)))";
    std::fs::write(package.join("wit/small.wit"), wit).expect("it is written");
    let component = components::encode(wit, "tool", module);
    std::fs::write(package.join("small.wasm"), &component).expect("it is written");
    std::fs::write(package.join("build/small.wasm"), &component).expect("it is written");
    let manifest = "name = 'test:small'\nversion = '0.1.0'\ndescription = 'Seven.'\n
        [build]\ncommand = ['cp', 'small.wasm', 'made.wasm']\noutput = 'made.wasm'\n
        [[example]]\nmethod = 'seven'\narguments = {}\nresult = 7\n";
    std::fs::write(package.join("tool.toml"), manifest).expect("it is written");
    package
}

/// A process of one job cannot put anything into the cache that others would run.
#[test]
fn process_of_a_job_finds_no_way_into_the_cache() {
    let home = Home::new();
    let outside = Outside::new(&home);
    let line = format!("{}\n", json!({ "id": 1, "script": SCRIPT }));
    let mut command = home.command(["batch", "--isolate", "process", "--jobs", "1"]);
    outside.prepare(&home, &mut command, 4);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    std::io::Write::write_all(child.stdin.as_mut().expect("it is piped"), line.as_bytes()).expect("it reads");
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains(r#""status":"completed""#), "{ran:?}");
    let tried = |name: &str| -> Vec<String> {
        let results = ran.stderr.lines().filter_map(|line| line.strip_prefix("way ")?.split_once(' '));
        results.filter(|(way, _)| *way == name).map(|(_, result)| result.to_owned()).collect()
    };
    // The first process has no job, and compiles what the others run.
    let made = tried("left-make-file");
    assert!(made.len() > 1 && made[0] == "open" && made[1..].iter().all(|result| result == TOUCHED), "{made:?}");
    let early = tried("left-no-thread-before");
    assert!(early.len() > 1 && early.iter().all(|result| result == "open"), "{early:?}");
    let read = tried("read-file");
    assert!(read.len() > 1 && read.iter().all(|result| result == TOUCHED), "{read:?}");
}

/// It reads what strangers send, has the descriptors of all their connections, and needs no file. What the starter does for
/// it is tested where it is built (`host/mcp/src/http/workers/starter.rs`).
#[test]
fn front_process_of_a_server_finds_no_way_out() {
    let home = Home::new();
    let outside = Outside::new(&home);
    let other: &[(&str, &[&str])] = &[("left-make-file", &[TOUCHED]), ("send-descriptor", &["open"])];
    check(&outside.tried_by_server(&home, "front"), other);
    assert_untouched(outside.directory.path());
}

#[test]
fn process_of_a_client_finds_no_way_out() {
    let home = Home::new();
    let outside = Outside::new(&home);
    check(&outside.tried_by_server(&home, "worker"), &[("left-make-file", &[TOUCHED])]);
    assert_untouched(outside.directory.path());
}

/// A process whose tools reach the network can send descriptors, which a filter cannot tell from other messages. It has no socket
/// on which anybody receives them; and as many as it may have on their way leave room for those that the front hands out, also if
/// the user is root.
#[test]
fn descriptors_that_a_process_sends_to_itself_keep_the_front_from_nothing() {
    let home = Home::with_tools(&["http", "markdown", "stats"]);
    home.file("online.toml", "[tool.http]\nhttp = ['example.com']\n");
    let (outside, key) = (Outside::new(&home), Key::new("k1"));
    configure(&home, &key.set());
    let [one, two] = ["ann", "bob"].map(|subject| bearer(&key.token(subject, "html", &json!({}))));
    let serve = ["--oauth", "oauth.toml", "--isolate", "process", "--policy", "online.toml"];
    let serve = [&["mcp", "--http", "127.0.0.1:0"], &serve[..]].concat();
    let mut command = outside.command(&home, 4, &serve);
    command.env("ESCAPE_ROLE", "worker").env("ESCAPE_FLOOD", "1");
    let (reader, writer) = std::io::pipe().expect("there is room");
    let server = HttpServer::of_command(command, writer);
    let works = |token: &str| {
        let ran = server.modern_js("return 1", &[("authorization", token)]);
        assert_eq!(ran["structuredContent"]["value"], 1, "{ran:#}");
    };
    let mut lines = BufReader::new(reader).lines().map_while(Result::ok);
    let mut flooded = || {
        let said = lines.by_ref().filter_map(|line| way(line.rsplit_once(" of a client: ")?.1));
        said.take_while(|(name, _)| name != "end").collect::<BTreeMap<_, _>>()
    };
    works(&one);
    let first = flooded();
    assert_eq!(first.get("flood").map(String::as_str), Some("ETOOMANYREFS"), "{first:?}");
    let sent: u64 = first["sent"].parse().expect("a number");
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let current = limit.current.expect("there is one");
    assert!(sent > 0 && sent <= current / 2 + 512, "{first:?} of {current}");
    // Another client's process is started, and each is handed connections.
    works(&two);
    assert_eq!(flooded().get("flood").map(String::as_str), Some("ETOOMANYREFS"));
    (0..20).for_each(|_| [&one, &two].into_iter().for_each(|token| works(token)));
}

/// The ways out are open without the wall: else the tests above could pass because a way leads nowhere anyway.
#[test]
fn ways_out_are_open_without_the_wall() {
    let home = Home::new();
    let outside = Outside::new(&home);
    let tried = outside.tried(&home, 0, &["--no-landlock", "--no-seccomp"]);
    let closed: Vec<_> = WAYS.iter().filter(|(name, _, open)| *open && tried[*name] != "open").collect();
    assert!(closed.is_empty(), "{closed:?}");
}
