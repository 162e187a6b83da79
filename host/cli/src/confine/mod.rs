//! A second wall: on Linux the kernel holds the process to the few places that it says it will touch (Landlock, `paths`),
//! and to the system calls that it may need (seccomp, `syscalls`).
//!
//! The first wall is WebAssembly. Whoever breaks through that finds a process that can read no more of this machine than
//! the system's own files and what the command line names, writes nothing but the cache, the log and, for a session that
//! is kept, the store, starts no program, listens on no port, and cannot look into other processes. If no tool may reach the
//! network, it has none.
//!
//! Landlock holds for threads that start later: it must stand before the host does.

#[cfg(target_os = "linux")]
mod paths;
#[cfg(target_os = "linux")]
mod syscalls;

use std::path::{Path, PathBuf};

use clap::Args;
use tollhouse::gate::Gate;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::refuse_calls;
#[cfg(not(target_os = "linux"))]
use elsewhere::{refuse_sockets, refuse_tcp};
#[cfg(target_os = "linux")]
pub(crate) use syscalls::refuse as refuse_calls;
#[cfg(target_os = "linux")]
use {paths::refuse_tcp, syscalls::refuse_sockets};

use super::places::Places;
use super::{CliError, Result};

/// How a command is confined.
#[derive(Args, Default)]
pub(crate) struct ConfineArgs {
    /// Disable Landlock file restrictions
    #[arg(long)]
    no_landlock: bool,
    /// Disable the seccomp filter, which refuses system calls that this process never needs
    #[arg(long)]
    no_seccomp: bool,
}

impl ConfineArgs {
    /// Holds this process, and the threads that it will start, to what it will touch and need.
    pub(crate) fn apply(&self, confinement: impl FnOnce() -> Confinement) -> Result<()> {
        if !self.no_landlock {
            said(confinement().stand(), "confine this process to the files that it needs", "--no-landlock")?;
        }
        if !self.no_seccomp {
            said(refuse_calls(Threads::All), "refuse system calls that this process never needs", "--no-seccomp")?;
        }
        Ok(())
    }

    /// Takes the network from this process, unless a tool of its session may reach it.
    pub(crate) fn isolate(&self, gate: &Gate) -> Result<()> {
        if gate.reaches_network() {
            return Ok(());
        }
        if !self.no_landlock {
            said(refuse_tcp(), "keep this process from the network", "--no-landlock")?;
        }
        if !self.no_seccomp {
            said(refuse_sockets(), "keep this process from the network", "--no-seccomp")?;
        }
        Ok(())
    }
}

/// The kernel may have such a wall and refuse this one: then nothing runs.
fn said<T, E: std::error::Error + 'static>(stood: std::result::Result<T, E>, what: &str, flag: &str) -> Result<T> {
    stood.map_err(|error| {
        CliError::because(format!("cannot {what}"), &error)
            .hint(format!("`{flag}` runs without that: scripts and tools stay in their sandboxes"))
    })
}

/// What this process will touch.
#[derive(Default)]
pub(crate) struct Confinement {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

/// Whether the wall stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wall {
    /// The kernel holds the process to all that was said.
    Whole,
    /// To as much of it as this kernel can.
    Partial,
    /// This system has none.
    None,
}

impl Confinement {
    /// What each run touches: the registry, the cache, and the store if its session is kept there. What is to be written and
    /// is not there yet is made, since nothing can be said of it else.
    pub(crate) fn of(places: &Places, kept: bool) -> Self {
        let store = kept.then(|| places.store.clone());
        let write: Vec<PathBuf> = store.into_iter().chain(places.cache.clone()).collect();
        for directory in &write {
            // Who uses it will say why it cannot be made.
            let _ = make(directory);
        }
        Self { read: vec![places.registry.clone(), places.trusted.clone()], write }
    }

    /// It will read these, and what is below them.
    pub(crate) fn reading<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.read.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// It will write this file, which is made if it is not there: its neighbours are not to be touched.
    pub(crate) fn writing(mut self, file: Option<&Path>) -> Self {
        if let Some(file) = file {
            // As above.
            let _ = make_file(file);
            self.write.push(file.to_owned());
        }
        self
    }

    /// It will write in this directory, which is made if it is not there.
    pub(crate) fn writing_in(mut self, directory: Option<&Path>) -> Self {
        if let Some(directory) = directory {
            // As above.
            let _ = make(directory);
            self.write.push(directory.to_owned());
        }
        self
    }
}

/// Which threads are not to make the calls that are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// All that there are, and those that they will start.
    All,
    /// This one, and those that it will start: for who only tries.
    This,
}

/// Only this user is to see what is in it.
#[cfg(unix)]
fn make(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn make(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)
}

/// The same, of a file; one that is there stays as it is.
fn make_file(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// There are no such walls here.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::convert::Infallible;

    use super::{Confinement, Threads, Wall};

    impl Confinement {
        pub(crate) fn stand(self) -> Result<Wall, Infallible> {
            Ok(Wall::None)
        }
    }

    pub(crate) fn refuse_calls(_: Threads) -> Result<Wall, Infallible> {
        Ok(Wall::None)
    }

    pub(super) fn refuse_tcp() -> Result<(), Infallible> {
        Ok(())
    }

    pub(super) fn refuse_sockets() -> Result<Wall, Infallible> {
        Ok(Wall::None)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;
    use std::{env, thread};

    const CHILD: &str = "TOLLHOUSE_TEST_CONFINED";

    /// Runs a test in a process of its own, with a directory: a wall does not go away.
    pub(super) fn in_a_process(test: impl FnOnce(PathBuf)) {
        if let Some(home) = env::var_os(CHILD) {
            return test(PathBuf::from(home));
        }
        let home = tempfile::tempdir().expect("a directory");
        let name = thread::current().name().expect("a test has its name").to_owned();
        let child = Command::new(env::current_exe().expect("it is known"))
            .args(["--exact", &name, "--nocapture"])
            .env(CHILD, home.path())
            .output()
            .expect("it starts");
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    }
}
