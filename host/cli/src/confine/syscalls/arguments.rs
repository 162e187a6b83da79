//! The arguments with which system calls that are left are refused (`EPERM`).

use std::ffi::c_int;

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::Phase;

/// What is left of a system call.
pub(super) struct Limit {
    pub(super) name: &'static str,
    pub(super) number: c_long,
    /// What is left of it, for people.
    pub(super) left: String,
    /// It is refused if one of these fits; if there is none, always.
    pub(super) refused: Vec<SeccompRule>,
}

type Result<T> = std::result::Result<T, BackendError>;

/// `PR_GET_AUXV`, by which a process learns what the kernel told it at its start (prctl(2)).
const PR_GET_AUXV: c_int = 0x4155_5856;

/// `PAGEMAP_SCAN`: which of its own pages a process has written to (the kernel's admin-guide/mm/pagemap).
const PAGEMAP_SCAN: u32 = 0xc060_6610;

/// What terminals and descriptors are asked and told. Not among them is what types into a terminal (`TIOCSTI`, `TIOCLINUX`),
/// takes one over (`TIOCSCTTY`, `TIOCSPGRP`, `TIOCCONS`), or puts code of the kernel's behind it (`TIOCSETD`).
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

/// Not among them is what has a signal sent to another process (`F_SETOWN`, `F_SETSIG`), or tells of other processes (`F_SETLEASE`,
/// `F_NOTIFY`).
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

/// Not among them is what makes memory readable for others again (`PR_SET_DUMPABLE`), and all of `PR_SET_MM`, `PR_SET_PTRACER`, …
const PRCTLS: [(&str, c_int); 5] = [
    ("PR_SET_NAME", libc::PR_SET_NAME),
    ("PR_SET_VMA", libc::PR_SET_VMA),
    ("PR_SET_NO_NEW_PRIVS", libc::PR_SET_NO_NEW_PRIVS),
    ("PR_GET_DUMPABLE", libc::PR_GET_DUMPABLE),
    ("PR_GET_AUXV", PR_GET_AUXV),
];

/// The kinds of namespaces. `CLONE_NEWTIME` is no flag of `clone`.
const NAMESPACES: [c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// `MADV_HWPOISON` and `MADV_SOFT_OFFLINE`: by them root takes memory from the machine.
const POISON: [c_int; 2] = [libc::MADV_HWPOISON, libc::MADV_SOFT_OFFLINE];

/// The limits of a phase. `own` is the number of this process.
pub(super) fn of(phase: Phase, own: u32) -> Result<Vec<Limit>> {
    let mut limits = vec![
        one_of("ioctl", libc::SYS_ioctl, 1, &IOCTLS)?,
        one_of("fcntl", libc::SYS_fcntl, 1, &FCNTLS.map(unsigned))?,
        prctl(phase)?,
        socket(phase)?,
        socketpair()?,
        clone()?,
        Limit {
            name: "madvise",
            number: libc::SYS_madvise,
            left: "all but MADV_HWPOISON, MADV_SOFT_OFFLINE".to_owned(),
            refused: POISON.map(|advice| rule([equal(2, advice.unsigned_abs())])).into_iter().collect::<Result<_>>()?,
        },
        // The whole group stops: that is what Ctrl-Z does, which the repl's line editor takes over.
        Limit {
            name: "kill",
            number: libc::SYS_kill,
            left: "to this process; SIGTSTP to its group".to_owned(),
            refused: vec![
                rule([other(0, own), other(0, 0)])?,
                rule([other(0, own), other(1, libc::SIGTSTP.unsigned_abs())])?,
            ],
        },
        Limit {
            name: "tgkill",
            number: libc::SYS_tgkill,
            left: "to threads of this process".to_owned(),
            refused: vec![rule([other(0, own)])?],
        },
        Limit {
            name: "prlimit64",
            number: libc::SYS_prlimit64,
            left: "to ask for limits of this process".to_owned(),
            refused: vec![rule([other(0, own), other(0, 0)])?, rule([is_given(2)])?],
        },
    ];
    if !phase.network {
        // Filters for packets are programs in the kernel.
        let timeouts = [("SO_RCVTIMEO", libc::SO_RCVTIMEO), ("SO_SNDTIMEO", libc::SO_SNDTIMEO)];
        limits.push(one_of("setsockopt", libc::SYS_setsockopt, 2, &timeouts.map(unsigned))?);
    }
    limits.extend(modes(phase)?);
    Ok(limits)
}

fn prctl(phase: Phase) -> Result<Limit> {
    let mut left = PRCTLS.map(unsigned).to_vec();
    if phase.opening {
        left.push(("PR_SET_DUMPABLE", libc::PR_SET_DUMPABLE.unsigned_abs()));
    }
    one_of("prctl", libc::SYS_prctl, 0, &left)
}

/// Local sockets lead to other programs of the user (D-Bus, a container engine), netlink to the kernel's network, raw ones past
/// its rules.
fn socket(phase: Phase) -> Result<Limit> {
    let network = [("AF_INET", libc::AF_INET), ("AF_INET6", libc::AF_INET6)];
    let families = network.into_iter().filter(|_| phase.network);
    let families: Vec<_> = families.chain(phase.store.then_some(("AF_UNIX", libc::AF_UNIX))).map(unsigned).collect();
    if families.is_empty() {
        return Ok(Limit { name: "socket", number: libc::SYS_socket, left: "nothing".to_owned(), refused: Vec::new() });
    }
    let mut limit = one_of("socket", libc::SYS_socket, 0, &families)?;
    let (kinds, shown): (&[c_int], _) = match phase.network {
        true => (&[libc::SOCK_STREAM, libc::SOCK_DGRAM], "streams and datagrams"),
        false => (&[libc::SOCK_STREAM], "streams"),
    };
    limit.left = format!("{}: {shown}", limit.left);
    limit.refused.extend(kinds_other_than(kinds)?);
    Ok(limit)
}

/// A pair of datagram sockets could be connected to something else.
fn socketpair() -> Result<Limit> {
    let mut refused = kinds_other_than(&[libc::SOCK_STREAM])?;
    refused.push(rule([other(0, libc::AF_UNIX.unsigned_abs())])?);
    Ok(Limit { name: "socketpair", number: libc::SYS_socketpair, left: "AF_UNIX: streams".to_owned(), refused })
}

/// Rules, one of which fits if the second argument, a type of sockets and flags, is none of these types.
fn kinds_other_than(kinds: &[c_int]) -> Result<Vec<SeccompRule>> {
    // The bits above these are flags.
    const TYPE: u64 = 0xf;
    let refused = (0..=TYPE).filter(|kind| kinds.iter().all(|left| u64::from(left.unsigned_abs()) != *kind));
    let is = |kind| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(TYPE), kind);
    refused.map(|kind| rule([is(kind)])).collect()
}

/// Flags stand in the first argument on all processors that there are filters for.
fn clone() -> Result<Limit> {
    let masked = |mask: c_int, value: c_int| {
        let [mask, value] = [mask, value].map(|flags| u64::from(flags.cast_unsigned()));
        rule([SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)])
    };
    let process = masked(libc::CLONE_THREAD, 0);
    let refused = NAMESPACES.into_iter().map(|kind| masked(kind, kind)).chain([process]).collect::<Result<_>>()?;
    let left = "threads, in the namespaces of this process".to_owned();
    Ok(Limit { name: "clone", number: libc::SYS_clone, left, refused })
}

/// Modes by which a file becomes the user's alone.
fn modes(phase: Phase) -> Result<Vec<Limit>> {
    const FILE: (&str, u32) = ("0600", 0o600);
    const DIRECTORY: (&str, u32) = ("0700", 0o700);
    let left = if phase.opening { &[FILE, DIRECTORY][..] } else { &[FILE] };
    let mut limits = vec![one_of("fchmod", libc::SYS_fchmod, 1, left)?];
    if phase.opening || phase.store {
        limits.push(one_of("fchmodat", libc::SYS_fchmodat, 2, left)?);
        #[cfg(target_arch = "x86_64")]
        limits.push(one_of("chmod", libc::SYS_chmod, 1, left)?);
    }
    Ok(limits)
}

/// A system call that is left with these values of one of its arguments.
fn one_of(name: &'static str, number: c_long, argument: u8, left: &[(&str, u32)]) -> Result<Limit> {
    let refused = vec![rule(left.iter().map(|(_, value)| other(argument, *value)))?];
    let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
    Ok(Limit { name, number, left: names.join(", "), refused })
}

fn unsigned((name, value): (&str, c_int)) -> (&str, u32) {
    (name, value.cast_unsigned())
}

/// Fits if all conditions are met.
fn rule(conditions: impl IntoIterator<Item = Result<SeccompCondition>>) -> Result<SeccompRule> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_>>()?)
}

/// Is met if an argument of 32 bits is not this. What the kernel takes as 32 bits is compared as such: it does not look at the others.
fn other(argument: u8, value: u32) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into())
}

fn equal(argument: u8, value: u32) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value.into())
}

/// Is met if a pointer is not null.
fn is_given(argument: u8) -> Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}
