//! Confinement of the program of an MCP server: the files and ports that the policy names for it, and the system's files
//! to read. It stands for the program and all that it starts, and cannot be lifted by them.
//!
//! Unlike this process, such a program may start others, since package managers do. What it may not do is reach other
//! processes: neither by signals and debugging, nor by sockets of this machine.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

use landlock::{
    Access as _, AccessFs, AccessNet, BitFlags, NetPort, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, Scope, make_bitflags,
};
use libc::c_long;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::paths::{KNOWN, SYSTEM, WRITE, allow};

/// Further files of the system that programs read or execute.
const PROGRAMS: [&str; 4] = ["/bin", "/sbin", "/dev/zero", "/dev/random"];

/// Access to files that are read and executed.
const EXECUTE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir | Execute});

/// Device that programs write what they drop.
const NULL: &str = "/dev/null";

/// System calls that a server does not need: those that inspect other processes, change the kernel or what is mounted,
/// use keys of the user, or make other system calls unseen.
const REFUSED: [c_long; 25] = [
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Access of a server's program.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramAccess {
    /// Paths to read and execute.
    pub(crate) read: Vec<PathBuf>,
    /// Paths to write too.
    pub(crate) write: Vec<PathBuf>,
    /// TCP ports to connect to.
    pub(crate) ports: Vec<u16>,
}

impl ProgramAccess {
    /// Restricts the files and ports of this thread, and of all that it starts.
    ///
    /// # Errors
    /// If the kernel supports Landlock, and refuses these rules.
    pub(crate) fn restrict_files(&self) -> Result<(), RulesetError> {
        let mut rules = Ruleset::default()
            .handle_access(AccessFs::from_all(KNOWN))?
            .handle_access(AccessNet::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?
            .create()?;
        let read = self.read.iter().map(PathBuf::as_path);
        for path in SYSTEM.iter().chain(&PROGRAMS).map(Path::new).chain(read) {
            rules = allow(rules, path, EXECUTE)?;
        }
        for path in &self.write {
            rules = allow(rules, path, WRITE | EXECUTE)?;
        }
        rules = allow(rules, Path::new(NULL), make_bitflags!(AccessFs::{ReadFile | WriteFile}))?;
        for port in &self.ports {
            rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
        rules.restrict_self().map(drop)
    }

    /// Refuses system calls of this thread, and of all that it starts. Without ports there are no sockets at all, since
    /// Landlock knows neither UDP nor, in most kernels, sockets of this machine; with ports, those of the internet.
    ///
    /// # Errors
    /// If the kernel supports filters, and refuses this one.
    pub(crate) fn restrict_calls(&self) -> Result<(), Error> {
        let Ok(processor) = TargetArch::try_from(ARCH) else { return Ok(()) };
        let mut refused: BTreeMap<c_long, Vec<SeccompRule>> = REFUSED.map(|call| (call, Vec::new())).into();
        refused.insert(libc::SYS_socket, self.refused_sockets()?);
        for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            refused.insert(call, vec![is_fast_open(flags)?]);
        }
        let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let filter = BpfProgram::try_from(SeccompFilter::new(refused, SeccompAction::Allow, refuse, processor)?)?;
        match apply_filter(&filter) {
            // A kernel without seccomp.
            Err(Error::Prctl(error) | Error::Seccomp(error))
                if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) =>
            {
                Ok(())
            }
            applied => applied,
        }
    }

    /// Returns rules that match the sockets that are refused; none match all.
    fn refused_sockets(&self) -> Result<Vec<SeccompRule>, Error> {
        if self.ports.is_empty() {
            return Ok(Vec::new());
        }
        // The kernel takes these arguments as 32 bits, and looks at no others.
        let other = |argument: u8, value: i32| {
            let value = u64::from(value.unsigned_abs());
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
        };
        // The bits above these are flags.
        let raw = SeccompCmpOp::MaskedEq(0xf);
        let is_raw = SeccompCondition::new(1, SeccompCmpArgLen::Dword, raw, u64::from(libc::SOCK_RAW.unsigned_abs()))?;
        Ok(vec![
            SeccompRule::new(vec![other(0, libc::AF_INET)?, other(0, libc::AF_INET6)?])?,
            SeccompRule::new(vec![is_raw])?,
            // Other protocols (MPTCP, SCTP) are not TCP for Landlock, which would not look at their ports.
            SeccompRule::new(vec![other(2, 0)?, other(2, libc::IPPROTO_TCP)?, other(2, libc::IPPROTO_UDP)?])?,
        ])
    }
}

/// Returns a rule that matches a message which connects its socket: Landlock looks at connections that `connect` makes.
fn is_fast_open(flags: u8) -> Result<SeccompRule, Error> {
    let flag = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
    let is_set = SeccompCondition::new(flags, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag), flag)?;
    Ok(SeccompRule::new(vec![is_set])?)
}
