//! A second wall: on Linux the kernel holds the process to the few places that it says it will touch (Landlock).
//!
//! The first wall is WebAssembly. Whoever breaks through that finds a process that can read no more of this machine than
//! the system's own files and what the command line names, writes nothing but the cache, the log and, for a session that
//! is kept, the store, starts no program, and listens on no port.
//!
//! It holds for threads that start later: it must stand before the host does.

use std::path::{Path, PathBuf};

use clap::Args;

use super::places::Places;
use super::{CliError, Result};

/// How a command is confined.
#[derive(Args, Default)]
pub(crate) struct ConfineArgs {
    /// Do without the second wall: on Linux the kernel (Landlock) holds this process to the files that it needs
    #[arg(long)]
    no_landlock: bool,
}

impl ConfineArgs {
    /// Holds this process, and the threads that it will start, to what it will touch.
    pub(crate) fn apply(&self, confinement: impl FnOnce() -> Confinement) -> Result<()> {
        if self.no_landlock {
            return Ok(());
        }
        let stands = confinement().stand();
        stands.map(drop).map_err(|error| {
            CliError::because("cannot confine this process to the files that it needs", &error)
                .hint("`--no-landlock` runs without that: scripts and tools stay in their sandboxes")
        })
    }
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

#[cfg(target_os = "linux")]
mod linux {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
        RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, make_bitflags,
    };

    use super::{Confinement, PathBuf, Wall};

    /// What is asked for; of that the kernel does what it knows.
    const KNOWN: ABI = ABI::V5;

    /// What the system is made of, and what its libraries read: certificates, names of hosts, time zones, this process.
    const SYSTEM: [&str; 9] =
        ["/etc", "/usr", "/lib", "/lib64", "/proc/self", "/sys", "/dev/null", "/dev/urandom", "/run/systemd/resolve"];

    /// Where a person is asked.
    const TERMINAL: &str = "/dev/tty";

    impl Confinement {
        /// Holds this process to it.
        ///
        /// # Errors
        /// If the kernel has such walls, and refuses this one.
        pub(crate) fn stand(self) -> std::result::Result<Wall, RulesetError> {
            let read = make_bitflags!(AccessFs::{ReadFile | ReadDir});
            let write = AccessFs::from_all(KNOWN) & !BitFlags::from(AccessFs::Execute);
            let mut rules = Ruleset::default()
                .handle_access(AccessFs::from_all(KNOWN))?
                // No rule allows a port.
                .handle_access(AccessNet::BindTcp)?
                .create()?;
            for path in SYSTEM.iter().map(PathBuf::from).chain(self.read) {
                rules = allow(rules, &path, read)?;
            }
            for path in self.write.iter().chain([&PathBuf::from(TERMINAL)]) {
                rules = allow(rules, path, write)?;
            }
            Ok(match rules.restrict_self()?.ruleset {
                RulesetStatus::FullyEnforced => Wall::Whole,
                RulesetStatus::PartiallyEnforced => Wall::Partial,
                RulesetStatus::NotEnforced => Wall::None,
            })
        }
    }

    /// Allows what can be done with a path; of a file, what can be done with one.
    fn allow(
        rules: RulesetCreated,
        path: &PathBuf,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, RulesetError> {
        // What is not there cannot be allowed, and need not be.
        let Ok(open) = PathFd::new(path) else { return Ok(rules) };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
        rules.add_rule(PathBeneath::new(open, access))
    }

    #[cfg(test)]
    mod tests {
        use std::io::ErrorKind;
        use std::process::Command;
        use std::{env, fs, net};

        use super::*;

        const CHILD: &str = "TOLLHOUSE_TEST_CONFINED";

        /// A process of its own: a wall does not go away.
        #[test]
        fn what_was_not_said_is_refused() {
            if let Some(home) = env::var_os(CHILD) {
                return confined(PathBuf::from(home));
            }
            let home = tempfile::tempdir().expect("a directory");
            for name in ["said", "writable", "secret"] {
                fs::create_dir(home.path().join(name)).expect("it is new");
                fs::write(home.path().join(name).join("file"), name).expect("there is room");
            }
            let name = std::thread::current().name().expect("a test has its name").to_owned();
            let child = Command::new(env::current_exe().expect("it is known"))
                .args(["--exact", &name, "--nocapture"])
                .env(CHILD, home.path())
                .output()
                .expect("it starts");
            assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        }

        fn confined(home: PathBuf) {
            let log = home.join("writable").join("log");
            let said = home.join("said");
            let at = move |name: &str| home.join(name).join("file");
            let wall = Confinement::default().reading([said]).writing(Some(&log)).stand();
            let wall = wall.expect("the kernel takes it");
            if wall == Wall::None {
                eprintln!("this kernel has no Landlock");
                return;
            }
            let denied = |result: std::io::Result<()>| {
                assert_eq!(result.expect_err("nobody said it").kind(), ErrorKind::PermissionDenied);
            };
            // In a thread, as what guests do.
            let thread = std::thread::spawn(move || {
                assert_eq!(fs::read_to_string(at("said")).expect("it was said"), "said");
                fs::write(log, "line").expect("it was said");
                denied(fs::read(at("secret")).map(drop));
                denied(fs::write(at("said"), "other"));
                denied(fs::write(at("writable"), "the log's neighbour"));
                denied(fs::read_dir("/").map(drop));
                denied(Command::new("/bin/true").status().map(drop));
                if wall == Wall::Whole {
                    denied(net::TcpListener::bind("127.0.0.1:0").map(drop));
                }
            });
            thread.join().expect("all of it");
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Confinement {
    /// There is no such wall here.
    pub(crate) fn stand(self) -> std::result::Result<Wall, std::convert::Infallible> {
        Ok(Wall::None)
    }
}
