//! Confinement: on Linux the kernel restricts the process to the few files that it declares (Landlock, `paths`), and to
//! the system calls that it needs (seccomp, `syscalls`); inherited descriptors and its memory are closed (`process`).
//!
//! It is a second wall. The first wall is WebAssembly. Whoever breaks through that finds a process that can read no
//! more of this machine than the system's own files and those that the command line names, writes nothing but the
//! cache, the log and, for a session on disk, the store, starts no program, opens no socket that was not granted, and
//! cannot inspect or signal other processes. If no tool may reach the network, the process has none.
//!
//! Confinement comes in two steps. [`ConfineArgs::apply`] comes before anything untrusted is read: from then on the
//! process opens what it will run. [`ConfineArgs::isolate`] comes when that is open, and leaves only what a run needs.
//!
//! Landlock applies to threads that start later: it must be in force before the host starts.

mod embedding;
#[cfg(target_os = "linux")]
mod paths;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod server_program;
#[cfg(target_os = "linux")]
mod syscalls;

use std::path::{Path, PathBuf};

use clap::Args;
use tollhouse::session::Session;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{ProgramAccess, describe, hold};
#[cfg(not(target_os = "linux"))]
use elsewhere::{process, refuse_tcp_but};
#[cfg(target_os = "linux")]
use paths::refuse_tcp_but;
#[cfg(target_os = "linux")]
pub(crate) use server_program::ProgramAccess;
#[cfg(target_os = "linux")]
pub(crate) use syscalls::hold;

use super::locations::Locations;
use super::{CliError, Result};

pub use embedding::{ConfineError, ProcessConfinement};
pub(crate) use process::remember_inherited;

/// Options for the confinement of a command.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct ConfineArgs {
    /// Disable Landlock file restrictions
    #[arg(long)]
    no_landlock: bool,
    /// Disable the seccomp filters, which leave this process the system calls that it needs
    #[arg(long)]
    no_seccomp: bool,
}

impl ConfineArgs {
    /// Confines this process, and the threads that it will start, to the files that it declares, and to the system
    /// calls that it needs to open them.
    pub(crate) fn apply(&self, confinement: impl FnOnce() -> Confinement) -> Result<()> {
        if self.is_off() {
            return Ok(());
        }
        let confinement = confinement();
        let phase = ConfinePhase {
            opening: true,
            network: confinement.network,
            store: confinement.store.is_some(),
            ..ConfinePhase::RUN
        };
        process::close_inherited(&confinement.read);
        said(process::refuse_core(), "keep its memory out of core dumps", BOTH)?;
        if !self.no_landlock {
            said(
                confinement.stand(ThreadScope::All),
                "confine this process to the files that it needs",
                "--no-landlock",
            )?;
        }
        self.hold(phase)
    }

    /// Removes the access that was needed to open a session, and the network, unless a tool of the session may reach
    /// it.
    pub(crate) fn isolate(&self, session: &Session) -> Result<()> {
        self.isolate_but(session, None)
    }

    /// Isolates like [`Self::isolate`], and leaves connections to a port, at which this program itself fetches something.
    pub(crate) fn isolate_but(&self, session: &Session, port: Option<u16>) -> Result<()> {
        self.isolate_in(ConfinePhase::RUN, session, port)
    }

    /// Isolates like [`Self::isolate`], and leaves connections that another process hands over.
    pub(crate) fn isolate_worker(&self, session: &Session) -> Result<()> {
        self.isolate_in(ConfinePhase { handed: true, ..ConfinePhase::RUN }, session, None)
    }

    fn isolate_in(&self, phase: ConfinePhase, session: &Session, port: Option<u16>) -> Result<()> {
        let (reaches, store) = (session.gate().reaches_network(), session.may_open_sockets());
        let phase = ConfinePhase { network: reaches || port.is_some(), store, ..phase };
        if !self.is_off() {
            process::close_inherited::<&Path>(&[]);
        }
        self.enter(phase, if reaches { TcpAccess::All } else { TcpAccess::Only(port) })
    }

    /// Isolates a process that runs nothing and hands connections to others. It may connect to this port, if there is one.
    pub(crate) fn isolate_front(&self, port: Option<u16>) -> Result<()> {
        if !self.is_off() {
            process::close_inherited::<&Path>(&[]);
        }
        let phase = ConfinePhase { network: port.is_some(), handing: true, ..ConfinePhase::RUN };
        self.enter(phase, TcpAccess::Only(port))
    }

    /// Applies [`Self::apply`] and all restrictions of [`Self::isolate`], for a command that opens no session on disk.
    pub(crate) fn seal(&self, confinement: impl FnOnce() -> Confinement) -> Result<()> {
        self.apply(confinement)?;
        self.enter(ConfinePhase::RUN, TcpAccess::Only(None))
    }

    /// Isolates the process like [`Self::isolate`], for a command that has opened the store and no session of it.
    pub(crate) fn isolate_with_store(&self) -> Result<()> {
        if !self.is_off() {
            process::close_inherited::<&Path>(&[]);
        }
        self.enter(ConfinePhase { store: true, ..ConfinePhase::RUN }, TcpAccess::Only(None))
    }

    fn enter(&self, phase: ConfinePhase, tcp: TcpAccess) -> Result<()> {
        if self.is_off() {
            return Ok(());
        }
        said(process::close_memory(), "close its memory to other processes", BOTH)?;
        if let TcpAccess::Only(port) = tcp
            && !self.no_landlock
        {
            said(refuse_tcp_but(port), "keep this process from the network", "--no-landlock")?;
        }
        self.hold(phase)
    }

    fn hold(&self, phase: ConfinePhase) -> Result<()> {
        if !self.no_seccomp {
            said(hold(phase, ThreadScope::All), "refuse system calls that this process does not need", "--no-seccomp")?;
        }
        Ok(())
    }

    /// Confines this thread, and the program of an MCP server that it starts, as the flags say. Descriptors that this
    /// process inherited are closed: no rule would hold what is open already.
    pub(crate) fn confine_program(&self, access: &ProgramAccess) -> Result<()> {
        process::close_inherited::<&Path>(&[]);
        if !self.no_landlock {
            said(access.restrict_files(), "confine the server to its files", "--no-landlock")?;
        }
        if !self.no_seccomp {
            said(access.restrict_calls(), "refuse system calls that the server does not need", "--no-seccomp")?;
        }
        Ok(())
    }

    /// Returns the same flags, for a process of this program that this one starts.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static str> {
        let flags = [(self.no_landlock, "--no-landlock"), (self.no_seccomp, "--no-seccomp")];
        flags.into_iter().filter_map(|(is_set, flag)| is_set.then_some(flag))
    }

    /// Returns true if this process is not confined at all.
    fn is_off(&self) -> bool {
        self.no_landlock && self.no_seccomp
    }
}

/// TCP connections that a process can make.
#[derive(Clone, Copy, Debug)]
enum TcpAccess {
    /// Those of a tool that may reach the network, as its policy says.
    All,
    /// Those to a port, or none.
    Only(Option<u16>),
}

/// Flags that disable all confinement.
const BOTH: &str = "--no-landlock --no-seccomp";

/// Converts an error of the confinement: if the kernel supports it and refuses it, nothing runs.
fn said<T, E: std::error::Error + 'static>(stood: std::result::Result<T, E>, what: &str, flag: &str) -> Result<T> {
    stood.map_err(|error| {
        CliError::because(format!("cannot {what}"), &error)
            .hint(format!("`{flag}` runs without that: scripts and tools stay in their sandboxes"))
    })
}

/// Files and network that this process will access.
#[derive(Default)]
pub(crate) struct Confinement {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    /// Store, which the process writes, and in which it has a socket.
    store: Option<PathBuf>,
    /// True if a tool may reach the network, as far as is known.
    network: bool,
}

/// Outcome of setting system call filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterStatus {
    /// The kernel enforces all restrictions.
    Active,
    /// This system has no such filters.
    Unsupported,
}

impl Confinement {
    /// Returns the access of each command that runs or compiles untrusted code: the registry, the cache, certificates,
    /// and the store if its session is on disk. Missing directories that are to be written are created, since a rule
    /// needs an existing directory.
    pub(crate) fn of(locations: &Locations, kept: bool) -> Self {
        let store = kept.then(|| locations.store.clone());
        let write: Vec<PathBuf> = locations.cache.iter().cloned().collect();
        for directory in store.iter().chain(&write) {
            // A directory that cannot be created is reported when it is used.
            let _ = make(directory);
        }
        let read = [locations.registry.clone(), locations.trusted.clone()].into_iter().chain(certificates()).collect();
        Self { read, write, store, network: false }
    }

    /// Returns the access of a process that runs nothing, and may fetch something.
    pub(crate) fn of_front() -> Self {
        Self { read: certificates().into_iter().collect(), network: true, ..Self::default() }
    }

    /// Adds the network: a tool may be granted it.
    pub(crate) fn with_network(self) -> Self {
        Self { network: true, ..self }
    }

    /// Makes the cache read-only: other processes would run code that this one could put there.
    pub(crate) fn reading_cache(mut self, locations: &Locations) -> Self {
        self.write.retain(|path| Some(path) != locations.cache.as_ref());
        self.read.extend(locations.cache.clone());
        self
    }

    /// Adds paths to read, with everything below them.
    pub(crate) fn reading<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.read.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Adds a file to write, which is created if it does not exist: its neighbours stay inaccessible.
    pub(crate) fn writing(mut self, file: Option<&Path>) -> Self {
        if let Some(file) = file {
            // As above.
            let _ = make_file(file);
            self.write.push(file.to_owned());
        }
        self
    }

    /// Adds a directory to write in, which is created if it does not exist.
    pub(crate) fn writing_in(mut self, directory: Option<&Path>) -> Self {
        if let Some(directory) = directory {
            // As above.
            let _ = make(directory);
            self.write.push(directory.to_owned());
        }
        self
    }
}

/// Returns the file of certificates that the user has named.
fn certificates() -> Option<PathBuf> {
    std::env::var_os("SSL_CERT_FILE").map(PathBuf::from)
}

/// Phase of a process, which determines the system calls that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConfinePhase {
    /// True while the process still has to open what it will run.
    opening: bool,
    /// True if a tool may reach the network, as far as is known.
    network: bool,
    /// True if another process holds the store of the session, or may come to hold it.
    store: bool,
    /// True if this process hands connections to others.
    handing: bool,
    /// True if another process hands connections to this one.
    handed: bool,
}

impl ConfinePhase {
    /// Run without the network, whose session is in memory or in a store that this process holds.
    pub(crate) const RUN: Self = Self { opening: false, network: false, store: false, handing: false, handed: false };

    /// Phases that differ in arguments, for people.
    #[cfg(target_os = "linux")]
    const SHOWN: [(&str, Self); 4] = [
        (
            "start of a session that is kept and may reach the network",
            Self { opening: true, network: true, store: true, ..Self::RUN },
        ),
        ("run", Self::RUN),
        ("run, if the policy lets a tool reach the network", Self { network: true, ..Self::RUN }),
        ("run, if another process holds the store of the session", Self { store: true, ..Self::RUN }),
    ];
}

/// Threads that a restriction applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadScope {
    /// All existing threads, and those that they will start.
    All,
    /// The current thread, and those that it will start: for trials.
    Current,
}

/// Creates a directory that only this user can read.
#[cfg(unix)]
fn make(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn make(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)
}

/// Creates a file that only this user can read; an existing one stays as it is.
fn make_file(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Ok(tollhouse_registry::untrusted_file::open_regular_with(path, &options)?)
}

/// Describes the files and system calls that stay available, for people.
#[cfg(target_os = "linux")]
pub(crate) fn describe() -> std::result::Result<String, seccompiler::Error> {
    Ok(format!("{}{}", paths::describe(), syscalls::describe()?))
}

/// Confinement on other systems: there is none.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::convert::Infallible;
    use std::path::PathBuf;

    use super::{ConfinePhase, Confinement, FilterStatus, ThreadScope};

    #[derive(Clone, Debug, Default)]
    pub(crate) struct ProgramAccess {
        pub(crate) read: Vec<PathBuf>,
        pub(crate) write: Vec<PathBuf>,
        pub(crate) ports: Vec<u16>,
    }

    impl ProgramAccess {
        pub(crate) fn restrict_files(&self) -> Result<(), Infallible> {
            Ok(())
        }

        pub(crate) fn restrict_calls(&self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    impl Confinement {
        pub(crate) fn stand(self, _: ThreadScope) -> Result<Option<u8>, Infallible> {
            Ok(None)
        }
    }

    pub(crate) fn hold(_: ConfinePhase, _: ThreadScope) -> Result<FilterStatus, Infallible> {
        Ok(FilterStatus::Unsupported)
    }

    pub(super) fn refuse_tcp_but(_: Option<u16>) -> Result<(), Infallible> {
        Ok(())
    }

    pub(crate) fn describe() -> Result<String, Infallible> {
        Ok("this system has no such wall\n".to_owned())
    }

    pub(super) mod process {
        use std::convert::Infallible;

        pub(crate) fn remember_inherited() {}

        pub(crate) fn close_inherited<P>(_: &[P]) {}

        pub(crate) fn refuse_core() -> Result<(), Infallible> {
            Ok(())
        }

        pub(crate) fn close_memory() -> Result<(), Infallible> {
            Ok(())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;
    use std::{env, thread};

    const CHILD: &str = "TOLLHOUSE_TEST_CONFINED";

    /// Runs a test in a process of its own, with a directory: confinement cannot be undone.
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
