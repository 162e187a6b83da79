//! Programs that know nothing of Tollhouse, on a session's files: uutils coreutils, one WASI component that is built from its
//! published crate. What each does to a session's tree, GNU coreutils do to a directory of this machine; both say the
//! same, and leave the same.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tollhouse::agent::Program;
use tollhouse::session::{Host, HostOptions, RunOptions, Session, SessionOptions, Stdin};
use tollhouse::vfs::{Kind, Tree};
use tollhouse_tests::built;

/// The version that is built. Without threads, `dd` has nothing to do; `stat`, `du` and `chmod` are for Unix only.
const VERSION: &str = "0.12.0";

/// Returns the bytes of the component, which is kept beside what cargo builds: a build takes minutes.
fn component() -> Vec<u8> {
    let directory = built().join("foreign-coreutils");
    let component = directory.join("bin/coreutils.wasm");
    if !component.exists() {
        let install = ["install", "coreutils", "--locked", "--version", VERSION, "--target", "wasm32-wasip2"];
        let mut cargo = Command::new("cargo");
        cargo.args(install).args(["--no-default-features", "--features", "feat_wasm", "--root"]).arg(&directory);
        let status = cargo.env("CARGO_TARGET_DIR", directory.join("target")).status().expect("there is cargo");
        assert!(status.success(), "coreutils {VERSION} do not build");
        // Some hundred megabytes that nothing else uses.
        let _ = fs::remove_dir_all(directory.join("target"));
    }
    fs::read(component).expect("it was built")
}

/// A session, and a directory that the same is done to.
struct Twins {
    session: Session,
    component: Vec<u8>,
    directory: tempfile::TempDir,
}

/// Outcome of a program.
#[derive(Debug, PartialEq)]
struct Ended {
    success: bool,
    stdout: String,
}

impl Twins {
    fn new() -> Self {
        let cache = Some(built().join("test-cache"));
        fs::create_dir_all(built().join("test-cache")).expect("the target directory can be written");
        let host = Host::new(&HostOptions { cache, ..HostOptions::default() }).expect("the engines start");
        let session = host.session(SessionOptions::default()).expect("a session");
        Self { session, component: component(), directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn path(&self) -> &str {
        self.directory.path().to_str().expect("it is text")
    }

    /// Runs the component on the session's files.
    fn ours(&self, words: &[&str], stdin: &str) -> Ended {
        let program = Program {
            name: "coreutils".into(),
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            environment: vec![("LC_ALL".into(), "C".into()), ("TZ".into(), "UTC0".into())],
        };
        let options = RunOptions { stdin: Stdin::Bytes(stdin.as_bytes().to_vec()), ..RunOptions::default() };
        let ended = self.session.start_component(self.component.clone(), program, options).expect("a run").finish();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        // WASI 0.2 knows no other status of failure.
        assert!(
            ended.exit_code == 0 && stderr.is_empty() || ended.exit_code == 1,
            "{words:?}: {:?} {stderr}",
            ended.error
        );
        Ended { success: ended.exit_code == 0, stdout: String::from_utf8_lossy(&ended.stdout).into_owned() }
    }

    /// Runs the same program of this machine on the directory.
    fn theirs(&self, words: &[&str], stdin: &str) -> Ended {
        let words: Vec<String> = words.iter().map(|word| word.replace("/workspace", self.path())).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("TZ", "UTC0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("this machine has coreutils");
        // A program that reads none of it may be gone.
        let _ = child.stdin.take().expect("it is piped").write_all(stdin.as_bytes());
        let output = child.wait_with_output().expect("it ends");
        let stdout = String::from_utf8_lossy(&output.stdout).replace(self.path(), "/workspace");
        Ended { success: output.status.success(), stdout }
    }

    /// Runs both, which must say the same and leave the same.
    fn both(&self, line: &str) -> String {
        self.both_with(line, "")
    }

    fn both_with(&self, line: &str, stdin: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let (ours, theirs) = (self.ours(&words, stdin), self.theirs(&words, stdin));
        assert_eq!(ours, theirs, "`{line}`: ours, theirs");
        assert_eq!(of_tree(&self.session.files()), of_directory(self.directory.path()), "after `{line}`");
        ours.stdout
    }

    /// Runs both, which must refuse.
    fn refused(&self, line: &str) {
        self.both(line);
        let words: Vec<&str> = line.split(' ').collect();
        assert!(!self.ours(&words, "").success, "`{line}` is not refused");
    }
}

/// Entry of a tree: the content of a file, or the target of a link.
#[derive(Debug, PartialEq)]
enum Entry {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
}

fn of_tree(tree: &Tree) -> BTreeMap<String, Entry> {
    let mut todo = vec!["/workspace".to_owned()];
    let mut entries = BTreeMap::new();
    while let Some(directory) = todo.pop() {
        for entry in tree.read_directory(&directory).expect("it is a directory") {
            let path = format!("{directory}/{}", entry.name);
            let found = match entry.kind {
                Kind::Directory => Entry::Directory,
                Kind::Link => Entry::Link(tree.read_link(&path).expect("it is a link").into()),
                _ => Entry::File(tree.read_file(&path).expect("it is a file")),
            };
            if found == Entry::Directory {
                todo.push(path.clone());
            }
            entries.insert(path["/workspace/".len()..].to_owned(), found);
        }
    }
    entries
}

fn of_directory(root: &Path) -> BTreeMap<String, Entry> {
    let mut todo = vec![root.to_owned()];
    let mut entries = BTreeMap::new();
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory).expect("it is a directory") {
            let path = entry.expect("it is listed").path();
            let kind = fs::symlink_metadata(&path).expect("it is there").file_type();
            let found = if kind.is_symlink() {
                Entry::Link(fs::read_link(&path).expect("it is a link"))
            } else if kind.is_dir() {
                todo.push(path.clone());
                Entry::Directory
            } else {
                Entry::File(fs::read(&path).expect("it is a file"))
            };
            let name = path.strip_prefix(root).expect("it is below");
            entries.insert(name.to_str().expect("it is text").to_owned(), found);
        }
    }
    entries
}

const FRUIT: &str = "pear 3\napple 10\nfig 2\napple 10\nquince 7\n";

#[test]
fn coreutils_work_on_a_sessions_files() {
    let twins = Twins::new();
    twins.both("mkdir -p /workspace/a/b/c /workspace/d");
    twins.both_with("tee /workspace/a/fruit /workspace/d/copy", FRUIT);
    twins.both_with("tee -a /workspace/a/fruit", "medlar 1\n");
    for line in [
        "cat /workspace/a/fruit /workspace/d/copy",
        "head -n 2 /workspace/a/fruit",
        "head -c 7 /workspace/a/fruit",
        "tail -n 2 /workspace/a/fruit",
        "tail -c 8 /workspace/a/fruit",
        "wc /workspace/a/fruit /workspace/d/copy",
        "sort /workspace/a/fruit",
        "sort -k2,2n -u -o /workspace/d/sorted /workspace/a/fruit",
        "uniq -c /workspace/d/sorted",
        "cut -d e -f 1,3 /workspace/a/fruit",
        "paste /workspace/a/fruit /workspace/d/sorted",
        "comm /workspace/d/sorted /workspace/d/copy",
        "nl /workspace/a/fruit",
        "od -c /workspace/a/fruit",
        "fold -w 4 /workspace/a/fruit",
        "sha256sum /workspace/a/fruit",
        "cksum /workspace/a/fruit /workspace/d/copy",
        "base64 /workspace/a/fruit",
        "split -l 2 /workspace/a/fruit /workspace/d/part-",
        "csplit -f /workspace/d/cut- /workspace/a/fruit /fig/",
        "truncate -s 100000 /workspace/d/large",
        "truncate -s 3 /workspace/d/copy",
        "ls /workspace/a /workspace/d",
        "ls -1pRA /workspace",
        "cp -r /workspace/a /workspace/e",
        "cp /workspace/a/fruit /workspace/e/b",
        "mv /workspace/e/b /workspace/e/moved",
        "mv /workspace/e/fruit /workspace/d/copy",
        "ln -s ../a/fruit /workspace/d/link",
        "ln -s nowhere /workspace/d/dangling",
        "readlink /workspace/d/link",
        "realpath /workspace/d/link",
        "cat /workspace/d/link",
        "cp -r -P /workspace/d /workspace/f",
        "test -f /workspace/d/link",
        "test -d /workspace/d/link",
        "test -e /workspace/d/dangling",
        "test -s /workspace/d/large",
        "rm /workspace/d/link /workspace/d/part-aa",
        "unlink /workspace/d/dangling",
        "rmdir /workspace/a/b/c",
        "rm -r /workspace/e",
        "dir -1 /workspace/d",
    ] {
        twins.both(line);
    }
    times_and_temporary_files(&twins);
    what_is_refused(&twins);
}

fn times_and_temporary_files(twins: &Twins) {
    twins.both("touch -d 2020-02-29T12:34:56Z /workspace/a/fruit");
    assert_eq!(twins.both("date -u -r /workspace/a/fruit +%s"), "1582979696\n");
    twins.both("touch -d 2021-01-01T00:00:00Z /workspace/a/later /workspace/a/new");
    assert_eq!(twins.both("ls -t /workspace/a").lines().last(), Some("fruit"));
    twins.both("test /workspace/a/later -nt /workspace/a/fruit");
    let made = twins.ours(&["mktemp", "-d", "/workspace/XXXXXX"], "").stdout;
    let made = made.trim_end();
    assert!(made.len() == "/workspace/XXXXXX".len() && made.starts_with("/workspace/"), "{made:?}");
    assert!(twins.ours(&["rmdir", made], "").success);
    assert!(twins.ours(&["mktemp"], "").stdout.starts_with("/tmp/"));
}

fn what_is_refused(twins: &Twins) {
    for line in [
        "cat /workspace/absent",
        "cat /workspace/d",
        "rm /workspace/d",
        "rmdir /workspace/d",
        "mkdir /workspace/d",
        "mkdir /workspace/a/fruit/x",
        "mv /workspace/absent /workspace/x",
        "mv /workspace/d /workspace/d/below",
        "cp /workspace/a /workspace/x",
        "ln -s x /workspace/a/fruit",
        "readlink /workspace/a/fruit",
        "ls /workspace/absent",
        "head /workspace/absent/x",
    ] {
        twins.refused(line);
    }
    // What no program may do to a session, whatever it may elsewhere.
    for line in ["mkdir /etc", "tee /outside", "ln -s /workspace/a /workspace/absolute"] {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(!twins.ours(&words, "").success, "`{line}` is not refused");
    }
    assert_eq!(of_tree(&twins.session.files()), of_directory(twins.directory.path()));
}
