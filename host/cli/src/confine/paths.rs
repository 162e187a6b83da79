//! Landlock: the files that this process may touch, and whether it may use TCP.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, make_bitflags,
};

use super::{Confinement, Wall};

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

/// Lets nothing that this thread does, and what it starts, use TCP.
///
/// # Errors
/// As [`Confinement::stand`].
pub(super) fn refuse_tcp() -> Result<(), RulesetError> {
    let rules = Ruleset::default()
        // Whatever is asked for, the kernel lets nothing be moved between directories unless a rule says so.
        .handle_access(AccessFs::Refer)?
        // No rule allows a port.
        .handle_access(AccessNet::from_all(KNOWN))?
        .create()?;
    allow(rules, Path::new("/"), AccessFs::Refer.into())?.restrict_self().map(drop)
}

/// Allows what can be done with a path; of a file, what can be done with one.
fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    // What is not there cannot be allowed, and need not be.
    let Ok(open) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
    rules.add_rule(PathBeneath::new(open, access))
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::process::Command;
    use std::{fs, net};

    use super::super::tests::in_a_process;
    use super::*;

    #[test]
    fn what_was_not_said_is_refused() {
        in_a_process(|home| {
            for name in ["said", "writable", "secret"] {
                fs::create_dir(home.join(name)).expect("it is new");
                fs::write(home.join(name).join("file"), name).expect("there is room");
            }
            let log = home.join("writable").join("log");
            let said = home.join("said");
            let at = move |name: &str| home.join(name).join("file");
            let wall = Confinement::default().reading([said]).writing(Some(&log)).stand();
            let wall = wall.expect("the kernel takes it");
            if wall == Wall::None {
                return note!("this kernel has no Landlock");
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
        });
    }

    #[test]
    fn without_the_network_nothing_connects() {
        in_a_process(|home| {
            let server = net::TcpListener::bind("127.0.0.1:0").expect("there is room");
            let address = server.local_addr().expect("it is bound");
            let said = Confinement::default().writing_in(Some(&home));
            if said.stand().expect("the kernel takes it") != Wall::Whole {
                return note!("this kernel has no Landlock, or not for TCP");
            }
            net::TcpStream::connect(address).expect("a tool may");
            fs::create_dir(home.join("one")).expect("it is new");
            fs::write(home.join("one").join("file"), "kept").expect("there is room");
            refuse_tcp().expect("the kernel takes it");
            fs::rename(home.join("one").join("file"), home.join("file")).expect("a store moves files");
            let refused = net::TcpStream::connect(address).expect_err("no tool may");
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        });
    }
}
