//! Landlock: the files that this process may access, whether it may use TCP, and which processes it may signal.

use std::fmt::Write as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, PathFd,
    RestrictSelfAttr as _, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
    make_bitflags,
};
use tollhouse::code::processor_count;

use super::{Confinement, ThreadScope};

/// Requested version of Landlock; the kernel enforces the part that it supports.
pub(super) const KNOWN: ABI = ABI::V9;

/// Files of the system, and those that its libraries read: certificates, host names, time zones.
pub(super) const SYSTEM: [&str; 7] =
    ["/etc", "/usr", "/lib", "/lib64", "/dev/null", "/dev/urandom", "/run/systemd/resolve"];

/// Files that describe the machine's resources for this process, and its own state. Its environment and its memory are
/// not among them.
const PROCESS: [&str; 6] = [
    "/sys/devices/system/cpu",
    "/proc/self/auxv",
    "/proc/self/maps",
    "/proc/self/mountinfo",
    "/proc/self/pagemap",
    "/proc/self/status",
];

/// Terminal on which a person is asked.
const TERMINAL: &str = "/dev/tty";

/// Access to files that are read.
const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// Access to files that are written: no devices, pipes, symbolic links or sockets are created there.
pub(super) const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir | Refer
});

/// Access to the store: a process that holds it has a socket there, to which others connect.
const STORE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir | Refer | MakeSock | ResolveUnix
});

/// Access to the terminal.
const ASK: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile | IoctlDev});

impl Confinement {
    /// Restricts the threads. Returns the version of the kernel's Landlock, as far as this program knows it, or `None`
    /// if it has none. [`ThreadScope::All`] are those that start later, and, where the kernel can, those that already run.
    ///
    /// # Errors
    /// If the kernel supports Landlock, and refuses these rules.
    pub(crate) fn stand(self, threads: ThreadScope) -> Result<Option<u8>, RulesetError> {
        // The quotas of the control groups cannot be read afterwards: what is in their directories tells of other processes.
        let _remembered = processor_count();
        // No rule allows a port.
        let ports = if self.network { BitFlags::from(AccessNet::BindTcp) } else { AccessNet::from_all(KNOWN) };
        let mut rules = Ruleset::default()
            .handle_access(AccessFs::from_all(KNOWN))?
            .handle_access(ports)?
            // No signals to other processes, and no connections to them by an abstract name.
            .scope(Scope::from_all(KNOWN))?
            .create()?;
        let read = self.read.iter().map(PathBuf::as_path);
        for path in SYSTEM.iter().chain(&PROCESS).map(Path::new).chain(read) {
            rules = allow(rules, path, READ)?;
        }
        for path in &self.write {
            rules = allow(rules, path, WRITE)?;
        }
        if let Some(path) = &self.store {
            rules = allow(rules, path, STORE)?;
        }
        let rules = allow(rules, Path::new(TERMINAL), ASK)?;
        let status = rules.all_threads(threads == ThreadScope::All)?.restrict_self()?;
        Ok(match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u8),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        })
    }
}

/// Forbids TCP for this thread and all that it starts, but connections to one port.
///
/// # Errors
/// Those of [`Confinement::stand`].
pub(super) fn refuse_tcp_but(port: Option<u16>) -> Result<(), RulesetError> {
    let mut rules = Ruleset::default()
        // Whatever is requested, the kernel lets nothing be moved between directories unless a rule allows it.
        .handle_access(AccessFs::Refer)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .create()?;
    if let Some(port) = port {
        rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    allow(rules, Path::new("/"), AccessFs::Refer.into())?.all_threads(true)?.restrict_self().map(drop)
}

/// Allows access to a path; for a file, the part of the access that applies to files.
pub(super) fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    // A missing file cannot be allowed, and need not be.
    let Ok(open) = PathFd::new(path) else { return Ok(rules) };
    let Ok(found) = std::fs::metadata(path) else { return Ok(rules) };
    // An unnamed pipe or socket, as of `<(…)`, is in no file system: it can be opened by its descriptor, and takes no
    // rule.
    if found.file_type().is_fifo() || found.file_type().is_socket() {
        return Ok(rules);
    }
    let access = if found.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
    rules.add_rule(PathBeneath::new(open, access))
}

/// Describes the allowed access, for people.
pub(super) fn describe() -> String {
    let rights = |access: BitFlags<AccessFs>| {
        let names: Vec<String> = access.iter().map(|right| format!("{right:?}")).collect();
        names.join(" ")
    };
    let mut text = format!("files (Landlock, ABI {} or what the kernel has of it)\n", KNOWN as u8);
    let locations = [
        (format!("{} {}", SYSTEM.join(" "), PROCESS.join(" ")), READ),
        ("the registry, trusted keys, what the command line names to be read".to_owned(), READ),
        ("the cache, what the command line names to be written".to_owned(), WRITE),
        ("the store, if the session is kept".to_owned(), STORE),
        (TERMINAL.to_owned(), ASK),
    ];
    for (place, access) in locations {
        writeln!(text, "  {place}\n    {}", rights(access)).expect("writing to a string does not fail");
    }
    let refused: Vec<String> = Scope::from_all(KNOWN).iter().map(|scope| format!("{scope:?}")).collect();
    writeln!(
        text,
        "other processes\n  no ports of TCP to listen on, and none to connect to unless the policy lets a tool reach the network\n  \
         none of other processes: {}",
        refused.join(" ")
    )
    .expect("writing to a string does not fail");
    text
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::process::Command;
    use std::{fs, net};

    use super::super::tests::in_a_process;
    use super::*;

    /// First version of Landlock that knows TCP.
    const TCP: u8 = ABI::V4 as u8;

    #[test]
    fn paths_not_granted_are_refused_behind_the_wall() {
        in_a_process(|home| {
            for name in ["said", "writable", "secret"] {
                fs::create_dir(home.join(name)).expect("it is new");
                fs::write(home.join(name).join("file"), name).expect("there is room");
            }
            let log = home.join("writable").join("log");
            let said = home.join("said");
            let at = move |name: &str| home.join(name).join("file");
            let wall = Confinement::default().reading([said]).writing(Some(&log)).stand(ThreadScope::All);
            let Some(version) = wall.expect("the kernel takes it") else {
                return note!("this kernel has no Landlock");
            };
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
                if version >= TCP {
                    denied(net::TcpListener::bind("127.0.0.1:0").map(drop));
                }
            });
            thread.join().expect("all of it");
        });
    }

    #[test]
    fn processor_count_is_known_behind_the_wall_and_control_groups_are_not() {
        in_a_process(|_| {
            let before = std::thread::available_parallelism().expect("the system says");
            if Confinement::default().stand(ThreadScope::All).expect("the kernel takes it").is_none() {
                return note!("this kernel has no Landlock");
            }
            assert_eq!(processor_count(), before.get());
            let own = fs::read("/proc/self/cgroup").expect_err("it tells of others");
            assert_eq!(own.kind(), ErrorKind::PermissionDenied);
            let listed = fs::read_dir("/sys/fs/cgroup").expect_err("it tells of others");
            assert!(matches!(listed.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound));
        });
    }

    #[test]
    fn confinement_without_network_refuses_connections() {
        in_a_process(|home| {
            let server = net::TcpListener::bind("127.0.0.1:0").expect("there is room");
            let address = server.local_addr().expect("it is bound");
            let other = net::TcpListener::bind("127.0.0.1:0").expect("there is room");
            let elsewhere = other.local_addr().expect("it is bound");
            let said = Confinement::default().with_network().writing_in(Some(&home));
            if said.stand(ThreadScope::All).expect("the kernel takes it") < Some(TCP) {
                return note!("this kernel has no Landlock, or not for TCP");
            }
            net::TcpStream::connect(address).expect("a tool may");
            fs::create_dir(home.join("one")).expect("it is new");
            fs::write(home.join("one").join("file"), "kept").expect("there is room");
            refuse_tcp_but(Some(address.port())).expect("the kernel takes it");
            net::TcpStream::connect(address).expect("this program may");
            let refused = net::TcpStream::connect(elsewhere).expect_err("it may not");
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
            refuse_tcp_but(None).expect("the kernel takes it");
            fs::rename(home.join("one").join("file"), home.join("file")).expect("a store moves files");
            let refused = net::TcpStream::connect(address).expect_err("no tool may");
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        });
    }
}
