//! Arguments with which available system calls are refused (`EPERM`).

use std::ffi::c_int;

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::ConfinePhase;

mod files;
mod sockets;

/// Restriction of a system call's arguments.
pub(super) struct CallRestriction {
    pub(super) name: &'static str,
    pub(super) number: c_long,
    /// Description of the remaining use, for people.
    pub(super) left: String,
    /// Rules; the call is refused if one of them matches, or always if there are none.
    pub(super) refused: Vec<SeccompRule>,
}

type Result<T> = std::result::Result<T, BackendError>;

/// `PR_GET_AUXV`, by which a process learns what the kernel told it at its start (prctl(2)).
const PR_GET_AUXV: c_int = 0x4155_5856;

/// Request by which a process learns which of its own pages it has written to (the kernel's admin-guide/mm/pagemap).
const PAGEMAP_SCAN: u32 = 0xc060_6610;

/// Allowed requests to terminals and descriptors. Not included are those that type into a terminal (`TIOCSTI`,
/// `TIOCLINUX`), take one over (`TIOCSCTTY`, `TIOCSPGRP`, `TIOCCONS`), or attach kernel code to it (`TIOCSETD`).
const IOCTLS: [(&str, u32); 14] = [
    ("TCGETS", libc::TCGETS as u32),
    ("TCSETS", libc::TCSETS as u32),
    ("TCSETSW", libc::TCSETSW as u32),
    ("TCSETSF", libc::TCSETSF as u32),
    ("TCGETS2", libc::TCGETS2 as u32),
    ("TCSETS2", libc::TCSETS2 as u32),
    ("TCSETSW2", libc::TCSETSW2 as u32),
    ("TCSETSF2", libc::TCSETSF2 as u32),
    ("TCFLSH", libc::TCFLSH as u32),
    ("TIOCGWINSZ", libc::TIOCGWINSZ as u32),
    ("FIONBIO", libc::FIONBIO as u32),
    ("FIONREAD", libc::FIONREAD as u32),
    ("FIOCLEX", libc::FIOCLEX as u32),
    ("PAGEMAP_SCAN", PAGEMAP_SCAN),
];

/// Allowed commands of `fcntl`. Not included are those that send a signal to another process (`F_SETOWN`, `F_SETSIG`),
/// or tell of other processes (`F_SETLEASE`, `F_NOTIFY`).
const FCNTLS: [(&str, c_int); 13] = [
    ("F_DUPFD_CLOEXEC", libc::F_DUPFD_CLOEXEC),
    ("F_GETFD", libc::F_GETFD),
    ("F_SETFD", libc::F_SETFD),
    ("F_GETFL", libc::F_GETFL),
    ("F_SETFL", libc::F_SETFL),
    ("F_GETLK", libc::F_GETLK),
    ("F_SETLK", libc::F_SETLK),
    ("F_SETLKW", libc::F_SETLKW),
    ("F_OFD_GETLK", libc::F_OFD_GETLK),
    ("F_OFD_SETLK", libc::F_OFD_SETLK),
    ("F_OFD_SETLKW", libc::F_OFD_SETLKW),
    ("F_ADD_SEALS", libc::F_ADD_SEALS),
    ("F_GET_SEALS", libc::F_GET_SEALS),
];

/// Allowed options of `prctl`. Not included are those that make memory readable for others again (`PR_SET_DUMPABLE`),
/// and all of `PR_SET_MM`, `PR_SET_PTRACER`, …
const PRCTLS: [(&str, c_int); 5] = [
    ("PR_SET_NAME", libc::PR_SET_NAME),
    ("PR_SET_VMA", libc::PR_SET_VMA),
    ("PR_SET_NO_NEW_PRIVS", libc::PR_SET_NO_NEW_PRIVS),
    ("PR_GET_DUMPABLE", libc::PR_GET_DUMPABLE),
    ("PR_GET_AUXV", PR_GET_AUXV),
];

/// Kinds of namespaces that a new process could get. `CLONE_NEWTIME` is not a flag of `clone`.
const NAMESPACES: [c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// `MADV_HWPOISON` and `MADV_SOFT_OFFLINE`, by which root removes memory from the machine.
const POISON: [c_int; 2] = [libc::MADV_HWPOISON, libc::MADV_SOFT_OFFLINE];

/// Returns the restrictions of a phase. `own` is the number of this process.
pub(super) fn of(phase: ConfinePhase, own: u32) -> Result<Vec<CallRestriction>> {
    let mut limits = vec![
        one_of("ioctl", libc::SYS_ioctl, 1, &IOCTLS)?,
        fcntl()?,
        prctl(phase)?,
        sockets::socket(phase)?,
        sockets::socketpair()?,
        sockets::options(phase)?,
        clone()?,
        CallRestriction {
            name: "madvise",
            number: libc::SYS_madvise,
            left: "all but MADV_HWPOISON, MADV_SOFT_OFFLINE".to_owned(),
            refused: POISON.map(|advice| rule([equal(2, advice.unsigned_abs())])).into_iter().collect::<Result<_>>()?,
        },
        // The whole group stops: that is the effect of Ctrl-Z, which the repl's line editor takes over.
        CallRestriction {
            name: "kill",
            number: libc::SYS_kill,
            left: "to this process; SIGTSTP to its group".to_owned(),
            refused: vec![
                rule([other(0, own), other(0, 0)])?,
                rule([other(0, own), other(1, libc::SIGTSTP.unsigned_abs())])?,
            ],
        },
        CallRestriction {
            name: "tgkill",
            number: libc::SYS_tgkill,
            left: "to threads of this process".to_owned(),
            refused: vec![rule([other(0, own)])?],
        },
        CallRestriction {
            name: "getpgid",
            number: libc::SYS_getpgid,
            left: "of this process".to_owned(),
            refused: vec![rule([other(0, own), other(0, 0)])?],
        },
        CallRestriction {
            name: "prlimit64",
            number: libc::SYS_prlimit64,
            left: "to ask for limits of this process".to_owned(),
            refused: vec![rule([other(0, own), other(0, 0)])?, rule([is_given(2)])?],
        },
    ];
    limits.extend(clocks()?);
    limits.extend(files::of(phase)?);
    Ok(limits)
}

fn prctl(phase: ConfinePhase) -> Result<CallRestriction> {
    let mut left = PRCTLS.map(unsigned).to_vec();
    if phase.opening {
        left.push(("PR_SET_DUMPABLE", libc::PR_SET_DUMPABLE.unsigned_abs()));
    }
    one_of("prctl", libc::SYS_prctl, 0, &left)
}

/// Restricts `fcntl` to requests that reach no other process. A terminal whose descriptor is asynchronous (`O_ASYNC`) signals the foreground group, without
/// `F_SETOWN`.
fn fcntl() -> Result<CallRestriction> {
    let mut limit = one_of("fcntl", libc::SYS_fcntl, 1, &FCNTLS.map(unsigned))?;
    limit.refused.push(rule([equal(1, libc::F_SETFL.unsigned_abs()), having(2, libc::O_ASYNC.unsigned_abs())])?);
    limit.left += "; F_SETFL without O_ASYNC";
    Ok(limit)
}

/// Restricts the calls that read clocks. Clocks beyond the last of the system's own belong to other processes, to devices and to other
/// networks: such a clock tells the CPU time of another process, to the nanosecond.
fn clocks() -> Result<Vec<CallRestriction>> {
    let calls = [
        ("clock_gettime", libc::SYS_clock_gettime),
        ("clock_getres", libc::SYS_clock_getres),
        ("clock_nanosleep", libc::SYS_clock_nanosleep),
    ];
    let last = u64::from(libc::CLOCK_TAI.unsigned_abs());
    let limit = |(name, number)| {
        let beyond = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Gt, last);
        let left = "clocks of the system and of this process".to_owned();
        Ok(CallRestriction { name, number, left, refused: vec![rule([beyond])?] })
    };
    calls.into_iter().map(limit).collect()
}

/// Restricts `clone` to threads in the same namespaces. Flags are the first argument on all processors that there are filters for.
fn clone() -> Result<CallRestriction> {
    let process = rule([masked(0, libc::CLONE_THREAD.unsigned_abs(), 0)]);
    let namespaces = NAMESPACES.into_iter().map(|kind| rule([having(0, kind.unsigned_abs())]));
    let refused = namespaces.chain([process]).collect::<Result<_>>()?;
    let left = "threads, in the namespaces of this process".to_owned();
    Ok(CallRestriction { name: "clone", number: libc::SYS_clone, left, refused })
}

/// Restricts an argument of a system call to these values.
fn one_of(name: &'static str, number: c_long, argument: u8, left: &[(&str, u32)]) -> Result<CallRestriction> {
    let refused = vec![rule(left.iter().map(|(_, value)| other(argument, *value)))?];
    let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
    Ok(CallRestriction { name, number, left: names.join(", "), refused })
}

fn unsigned((name, value): (&str, c_int)) -> (&str, u32) {
    (name, value.cast_unsigned())
}

/// Returns a rule that matches if all conditions are met.
fn rule(conditions: impl IntoIterator<Item = Result<SeccompCondition>>) -> Result<SeccompRule> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_>>()?)
}

/// Returns a condition that is met if a 32-bit argument has another value. Arguments that the kernel takes as 32 bits
/// are compared as such: it does not look at the others.
fn other(argument: u8, value: u32) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into())
}

fn equal(argument: u8, value: u32) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value.into())
}

/// Returns a condition that is met if these bits of an argument are set.
fn having(argument: u8, bits: u32) -> Result<SeccompCondition> {
    masked(argument, bits, bits)
}

fn masked(argument: u8, mask: u32, value: u32) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask.into()), value.into())
}

/// Returns a condition that is met if a pointer is not null.
fn is_given(argument: u8) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}
