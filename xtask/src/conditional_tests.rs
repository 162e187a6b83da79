//! Tests that not every machine can run. They are ignored, each with its reason, and run here where they can be; what is
//! not run is said.

use std::fs;

use anyhow::Result;

use crate::run::{cargo, command, run, say, succeeds};

/// Part of the names of tests that need Landlock. All other ignored tests mount file systems.
const LANDLOCK: &str = "landlock";

/// Mounts an image of a file system, and removes it again.
const MOUNT: &str = "\
    set -e\n\
    directory=$(mktemp -d /dev/shm/tollhouse-probe.XXXXXX)\n\
    trap 'umount \"$directory/at\" 2> /dev/null || :; rm -rf \"$directory\"' EXIT\n\
    mkdir \"$directory/at\"\n\
    truncate -s 16M \"$directory/image\"\n\
    mkfs.ext4 -q -F \"$directory/image\"\n\
    mount -o loop \"$directory/image\" \"$directory/at\"\n";

/// Returns true if images of file systems can be mounted here, which takes root and loop devices.
pub(crate) fn can_mount() -> bool {
    succeeds(command("sh").args(["-c", MOUNT]))
}

/// Returns true if the kernel has Landlock, as far as it says so.
fn has_landlock() -> bool {
    fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |modules| modules.contains(LANDLOCK))
}

/// Runs the ignored tests of the default members that this machine can run, with a runner of cargo's and more arguments.
pub(crate) fn run_possible(runner: &[&str], arguments: &[&str]) -> Result<()> {
    let is_nextest = runner.contains(&"nextest");
    let (disks, landlock): (&[&str], &[&str]) = match is_nextest {
        true => {
            (&["--run-ignored", "only", "-E", "not test(landlock)"], &["--run-ignored", "only", "-E", "test(landlock)"])
        }
        false => (&["--", "--ignored", "--skip", LANDLOCK], &["--", "--ignored", LANDLOCK]),
    };
    match can_mount() {
        true => run(cargo(runner).args(arguments).args(disks))?,
        false => {
            say("not run: full disks and power cuts, since no file system can be mounted here (root and loop devices)")
        }
    }
    match has_landlock() {
        true => run(cargo(runner).args(arguments).args(landlock)),
        false => {
            say("not run: servers under Landlock, which this kernel does not have");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::run::root;

    /// Collects the reason and the name of each ignored test below a directory.
    fn ignored(directory: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).expect("it is there") {
            let path = entry.expect("it is read").path();
            if path.is_dir() {
                ignored(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("text");
                let mut lines = text.lines().map(str::trim);
                while let Some(line) = lines.next() {
                    let Some(reason) = line.strip_prefix("#[ignore") else { continue };
                    let name = lines.by_ref().find_map(|line| line.strip_prefix("fn ")).expect("a test follows");
                    found.push((reason.to_owned(), name.split('(').next().unwrap_or_default().to_owned()));
                }
            }
        }
    }

    /// The names of tests tell which of them a machine can run: see `run_possible`.
    #[test]
    fn ignored_tests_have_reasons_that_are_probed_for() {
        let mut found = Vec::new();
        for directory in ["tests", "host", "registry"] {
            ignored(&root().join(directory), &mut found);
        }
        assert!(found.len() > 10, "{found:?}");
        for (reason, name) in found {
            let wanted = if name.contains(super::LANDLOCK) { "Landlock" } else { "mounts a file system" };
            assert!(reason.contains(wanted), "{name}: {reason}");
        }
    }
}
