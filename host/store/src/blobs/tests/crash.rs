//! Tests of processes that are killed while they upload.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;

/// Environment variable with the directory for [`uploads_until_it_is_killed`], which does nothing without it.
const DIRECTORY: &str = "TOLLHOUSE_TEST_BLOBS";

/// Environment variable with the number of the first content.
const SEED: &str = "TOLLHOUSE_TEST_SEED";

/// The process that these tests kill, not a test by itself. It prints the blobs that it has synced, one line for each
/// upload.
#[test]
fn uploads_until_it_is_killed() {
    let (Ok(directory), Ok(seed)) = (env::var(DIRECTORY), env::var(SEED)) else { return };
    let mut seed: u64 = seed.parse().expect("it is a number");
    let files = BlobFiles::open(directory).expect("it opens");
    loop {
        // Some uploads are large enough for packs.
        let count = if seed.is_multiple_of(5) { 150 } else { seed % 23 };
        // Half of the blobs are put by every process.
        let ids = put(&files, (0..count).map(|n| content(if n % 2 == 0 { seed * 100 + n } else { seed % 1_000 + n })));
        let line = ids.iter().map(|id| format!("{id} ")).collect::<String>() + "\n";
        io::stdout().write_all(line.as_bytes()).expect("the parent listens");
        seed += 1;
    }
}

pub(super) fn spawn(directory: &Path, seed: u64) -> Child {
    let name = "uploads_until_it_is_killed";
    let module = module_path!().split_once("::").expect("it is in a crate").1;
    Command::new(env::current_exe().expect("it is known"))
        .args(["--exact", &format!("{module}::{name}"), "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs again")
}

/// Returns the blobs in all complete lines that a child has printed, once it is dead.
pub(super) fn acknowledged(child: &mut Child) -> Vec<BlobId> {
    let mut ids = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    while lines.read_line(&mut line).expect("it is read") > 0 {
        if line.ends_with('\n') {
            // The test harness prints lines too.
            ids.extend(line.split_whitespace().filter_map(|word| word.parse::<BlobId>().ok()));
        }
        line.clear();
    }
    ids
}

#[test]
fn blobs_acknowledged_survive_kills() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let mut all = 0;
    for cycle in 0..8_u64 {
        let mut children = [0, 1].map(|n| spawn(home.path(), cycle * 1_000_003 + n * 500));
        thread::sleep(Duration::from_millis(60 + cycle * 13 % 50));
        let ids = children.each_mut().map(|child| {
            child.kill().expect("it is killed");
            child.wait().expect("it is dead");
            acknowledged(child)
        });
        let files = BlobFiles::open(home.path()).expect("it opens");
        for id in ids.concat() {
            files.get(&id).expect("it was acknowledged");
            all += 1;
        }
        assert!(files.verify().expect("it is verified").faults.is_empty(), "what is visible is whole");
        let alone = files.lock_exclusive(PATIENCE).expect("it locks").expect("the dead hold nothing");
        alone.clear_leftovers().expect("it is cleared");
        assert_eq!(leftovers(&files), 0);
    }
    assert!(all > 0, "nothing was acknowledged");
}
