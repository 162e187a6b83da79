//! Support for tests of the whole system: temporary homes, the real binary, the real tools.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot be set up fails by panicking, and says why")]

pub mod components;
pub mod disk;
pub mod mcp_server;
pub mod oci;
pub mod screen;
pub mod server;
pub mod tutorial;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tempfile::TempDir;
use tollhouse::gate::{Audit, AuditError, Event};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostOptions, RunOptions, RunResult, Session};

/// Returns the root of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned()
}

/// Returns the directory in which cargo built this test, such as `target/debug`.
#[must_use]
pub fn built() -> PathBuf {
    let test = std::env::current_exe().expect("the test runs");
    let deps = test.parent().expect("it lies in a directory");
    // Tests are in `deps`, binaries in the directory above it.
    let built = if deps.ends_with("deps") { deps.parent().expect("`deps` lies in a directory") } else { deps };
    built.to_owned()
}

/// Returns the binary under test: `TOLLHOUSE_BIN`, or the one that was built beside the tests.
#[must_use]
pub fn binary() -> PathBuf {
    std::env::var_os("TOLLHOUSE_BIN").map_or_else(|| built().join("tollhouse"), PathBuf::from)
}

/// Inserts lines into a manifest: keys before its first table, tables at its end.
fn with_lines(manifest: &str, lines: &str) -> String {
    if lines.trim_start().starts_with('[') { format!("{manifest}\n{lines}\n") } else { format!("{lines}\n{manifest}") }
}

/// Copies a directory with everything in it.
fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the home can be written");
    for entry in std::fs::read_dir(from).expect("the directory is there") {
        let entry = entry.expect("it can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy_directory(&from, &to),
            false => drop(std::fs::copy(&from, &to).expect("the home can be written")),
        }
    }
}

/// Returns the cache of compiled code, shared by the tests of a process and the next: compiling a tool takes longer
/// than most tests.
fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let cache = built().join("test-cache");
        std::fs::create_dir_all(&cache).expect("the target directory can be written");
        cache
    })
}

/// Home directory with a registry.
pub struct Home {
    directory: TempDir,
}

/// Result of running the binary.
#[derive(Debug)]
pub struct Ran {
    /// Exit status; -1 for a signal.
    pub status: i32,
    /// Standard output of the command.
    pub stdout: String,
    /// Standard error of the command.
    pub stderr: String,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// Creates an empty home.
    #[must_use]
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    /// Creates a home in whose registry these tools of `tools/` are published.
    #[must_use]
    pub fn with_tools(tools: &[&str]) -> Self {
        let home = Self::new();
        for tool in tools {
            home.publish(&root().join("tools").join(tool));
        }
        home
    }

    /// Creates a home with the fixture `test:probe` in its registry: a tool that misbehaves on request.
    #[must_use]
    pub fn with_fixture() -> Self {
        let home = Self::new();
        home.publish(&root().join("tests/fixtures/probe"));
        home
    }

    /// Creates a home with the fixture `test:probe`, and appends these lines to the fixture's manifest.
    #[must_use]
    pub fn with_fixture_and(manifest: &str) -> Self {
        let home = Self::new();
        home.publish_with(&root().join("tests/fixtures/probe"), "tollhouse_fixture_probe.wasm", manifest);
        home
    }

    /// Publishes a package of this workspace with additional lines in its manifest. `built` is the file of its
    /// component.
    pub fn publish_with(&self, source: &Path, built: &str, manifest: &str) {
        let package = self.path().join("package");
        copy_directory(&source.join("wit"), &package.join("wit"));
        let component = self::built().join("../wasm32-wasip2/guest").join(built);
        std::fs::copy(component, package.join("component.wasm")).expect("it is built: run `cargo xtask build`");
        let head = std::fs::read_to_string(source.join("tool.toml")).expect("the package has a manifest");
        // Keys of the manifest itself must precede its tables.
        let text = format!("component = \"component.wasm\"\n{}", with_lines(&head, manifest));
        std::fs::write(package.join("tool.toml"), text).expect("the home can be written");
        self.publish(&package);
    }

    /// Publishes the program `test:prog`, as built for a target. Each target is a version of its own.
    pub fn publish_program(&self, target: &str) {
        let component = program_file(target);
        let manifest = std::fs::read_to_string(root().join("tests/fixtures/program/tool.toml")).expect("it is there");
        let package = self.path().join(format!("program-{target}"));
        std::fs::create_dir_all(&package).expect("the home can be written");
        std::fs::copy(component, package.join("program.wasm")).expect("it is built: run `cargo xtask build`");
        let version = if target.ends_with('2') { "0.2.0" } else { "0.1.0" };
        let text = with_lines(&manifest.replace("0.1.0", version), "component = \"program.wasm\"");
        std::fs::write(package.join("tool.toml"), text).expect("the home can be written");
        self.publish(&package);
    }

    /// Publishes a package directory.
    pub fn publish(&self, directory: &Path) {
        let mut publish = self.command([OsStr::new("publish"), directory.as_os_str()]);
        // Publishing a package directory calls cargo to find the component.
        for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "CARGO_TARGET_DIR"] {
            publish.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        let ran = Ran::of(&publish.output().expect("the binary is built: run `cargo xtask test`"));
        assert_eq!(ran.status, 0, "publishing {}: {}", directory.display(), ran.stderr);
    }

    /// Returns the path of the home.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file beside the registry, and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).expect("the home can be written");
        path
    }

    /// Returns the files of the blobs in the store of this home.
    #[must_use]
    pub fn blobs(&self) -> Vec<PathBuf> {
        let list = |directory: PathBuf| {
            let listed = std::fs::read_dir(directory).expect("a directory");
            listed.map(|entry| entry.expect("it is read").path()).collect::<Vec<_>>()
        };
        let shelves = list(self.path().join("tollhouse/store/blobs")).into_iter();
        shelves.filter(|path| path.is_dir() && !path.ends_with("tmp")).flat_map(list).collect()
    }

    /// Returns the environment variables that make the binary use this home.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, OsString); 3] {
        [("XDG_DATA_HOME", self.path().into()), ("XDG_CACHE_HOME", cache().into()), ("NO_COLOR", "1".into())]
    }

    /// Creates a host in this process, with the registry of this home and the shared cache of compiled code.
    #[must_use]
    pub fn host(&self) -> Host {
        let options = HostOptions {
            cache: Some(cache().join("tollhouse")),
            registry: Some(self.path().join("tollhouse/registry")),
            ..HostOptions::default()
        };
        Host::new(&options).expect("the engines start")
    }

    /// Returns a command that runs the binary in this home, without the caller's environment.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(binary());
        command.env_clear().envs(self.environment());
        command.current_dir(self.path()).stdin(Stdio::null()).args(arguments);
        command
    }

    /// Runs the binary to its end.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        Ran::of(&self.command(arguments).output().expect("the binary is built: run `cargo xtask test`"))
    }

    /// Runs a script with `--json`, and parses its output.
    pub fn json<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Value {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        let ran = self.run([OsStr::new("run").to_owned(), "--json".into()].into_iter().chain(arguments));
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
    }

    /// Runs JavaScript with `--json` and these further arguments.
    pub fn js(&self, code: &str, arguments: &[&str]) -> Value {
        self.json(["-e", code].into_iter().chain(arguments.iter().copied()))
    }

    /// Runs bash with `--json` and these further arguments.
    pub fn sh(&self, code: &str, arguments: &[&str]) -> Value {
        self.json(["--lang", "sh", "-e", code].into_iter().chain(arguments.iter().copied()))
    }

    /// Runs `batch` with these arguments over these lines, and parses the lines that it prints.
    pub fn batch(&self, lines: &str, arguments: &[&str]) -> Vec<Value> {
        let mut command = self.command(["batch"].iter().chain(arguments));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary is built: run `cargo xtask test`");
        let mut input = child.stdin.take().expect("it is piped");
        // The binary may stop reading before the end of the input; its output then says why.
        let output = std::thread::scope(|scope| {
            scope.spawn(move || input.write_all(lines.as_bytes()));
            child.wait_with_output().expect("it ends")
        });
        let ran = Ran::of(&output);
        assert_eq!(ran.status, 0, "{ran:?}");
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        ran.stdout.lines().map(parse).collect()
    }
}

impl Ran {
    /// Converts the output of a finished process.
    #[must_use]
    pub fn of(output: &Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Returns the file of the fixture program for `wasm32-wasip1` or `wasm32-wasip2`.
#[must_use]
pub fn program_file(target: &str) -> PathBuf {
    built().join("..").join(target).join("guest/tollhouse_fixture_program.wasm")
}

/// Runs one script of a session in this process, to its end.
#[must_use]
pub fn run(session: &Session, language: Language, source: &str) -> RunResult {
    let script = Script { source: source.to_owned(), name: "test".to_owned(), ..Script::default() };
    session.start(language, script, RunOptions::default()).expect("a run").finish()
}

/// Audit sink that only counts the calls that the gate admits.
#[derive(Default)]
pub struct AdmissionCount(AtomicUsize);

impl AdmissionCount {
    /// Returns the number of admitted calls.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Audit for AdmissionCount {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        if matches!(event, Event::Admitted { .. }) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        Ok(())
    }
}

/// Changes a byte in the middle of a file.
pub fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).expect("it can be written");
}

/// Returns the number of cycles for a test that kills processes: `TOLLHOUSE_CRASH_CYCLES`, or else `few`.
#[must_use]
pub fn cycles(few: u32) -> u32 {
    std::env::var("TOLLHOUSE_CRASH_CYCLES").ok().and_then(|cycles| cycles.parse().ok()).unwrap_or(few)
}

/// Returns the number of cycles for a slower test, such as one of power cuts or archives: a sixth of [`cycles`].
#[must_use]
pub fn slow_cycles(few: u32) -> u32 {
    match std::env::var_os("TOLLHOUSE_CRASH_CYCLES") {
        Some(_) => (cycles(few) / 6).max(1),
        None => few,
    }
}
