//! System calls that stay available to a confined process, in groups, each with its reason.
//!
//! Each listed call was seen while the tests ran (`strace`), or is one that a library of ours uses elsewhere: on
//! another processor, or with another C library. Other calls do not exist for the process (`ENOSYS`), so that libraries
//! fall back as on an old kernel. `arguments` lists the arguments with which some of them are refused.

use libc::c_long;

use super::ConfinePhase;

/// System calls that are needed for one purpose.
pub(super) struct CallGroup {
    pub(super) when: CallPeriod,
    pub(super) reason: &'static str,
    pub(super) calls: &'static [Call],
}

/// Name of a system call, as libc's constant has it (`SYS_read`), and its number.
pub(super) type Call = (&'static str, c_long);

/// Time at which a group is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallPeriod {
    /// For the whole life of the process.
    Always,
    /// Until everything that will run is open: see [`ConfinePhase`].
    Opening,
    /// If a tool may reach the network.
    Network,
    /// If another process holds the store, or may come to hold it.
    Store,
    /// If this process hands connections to others.
    Handing,
    /// If another process hands connections to this one.
    Handed,
}

impl CallPeriod {
    pub(super) const ALL: [Self; 6] =
        [Self::Always, Self::Opening, Self::Network, Self::Store, Self::Handing, Self::Handed];

    /// Returns true if the group is needed in this phase.
    pub(super) fn is_in(self, phase: ConfinePhase) -> bool {
        match self {
            Self::Always => true,
            Self::Opening => phase.opening,
            Self::Network => phase.network,
            Self::Store => phase.store,
            Self::Handing => phase.handing,
            Self::Handed => phase.handed,
        }
    }

    /// Title of the group, for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Opening => "start: until the session is open",
            Self::Network => "run, if the policy lets a tool reach the network",
            Self::Store => "run, if another process holds the store of the session",
            Self::Handing => "front process of a server with a process for each client",
            Self::Handed => "process of a client of such a server",
        }
    }
}

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

/// All available system calls.
pub(super) const GROUPS: &[CallGroup] = &[
    CallGroup {
        when: CallPeriod::Always,
        reason: "memory, and machine code in it",
        calls: calls![SYS_brk SYS_madvise SYS_membarrier SYS_memfd_create SYS_mmap SYS_mprotect SYS_mremap SYS_munmap],
    },
    CallGroup {
        when: CallPeriod::Always,
        reason: "threads of this process",
        calls: calls![
            SYS_clone SYS_exit SYS_exit_group SYS_futex SYS_getcpu SYS_gettid SYS_prctl SYS_rseq SYS_sched_getaffinity
            SYS_sched_setaffinity SYS_sched_yield SYS_set_robust_list
        ],
    },
    CallGroup {
        when: CallPeriod::Always,
        reason: "signals of this process: traps of WebAssembly, Ctrl-C",
        calls: calls![
            SYS_kill SYS_restart_syscall SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_sigaltstack SYS_tgkill
        ],
    },
    CallGroup {
        when: CallPeriod::Always,
        reason: "clocks, waiting, random numbers",
        calls: calls![
            SYS_clock_getres SYS_clock_gettime SYS_clock_nanosleep SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait
            SYS_eventfd2 SYS_getrandom SYS_gettimeofday SYS_nanosleep SYS_ppoll SYS_pselect6
        ],
    },
    CallGroup {
        when: CallPeriod::Always,
        reason: "what this process is and has",
        calls: calls![
            SYS_getegid SYS_geteuid SYS_getgid SYS_getgroups SYS_getpgid SYS_getpid SYS_getppid SYS_getrusage SYS_getuid
            SYS_prlimit64 SYS_sysinfo SYS_times SYS_uname
        ],
    },
    CallGroup {
        when: CallPeriod::Always,
        reason: "files, as far as Landlock lets it",
        calls: calls![
            SYS_close SYS_copy_file_range SYS_dup SYS_dup3 SYS_faccessat SYS_faccessat2 SYS_fadvise64 SYS_fallocate
            SYS_fchmod SYS_fcntl SYS_fdatasync SYS_flock SYS_fstat SYS_fstatfs SYS_fsync SYS_ftruncate SYS_getcwd
            SYS_getdents64 SYS_ioctl SYS_linkat SYS_lseek SYS_mkdirat SYS_newfstatat SYS_openat SYS_pipe2 SYS_pread64
            SYS_preadv SYS_pwrite64 SYS_pwritev SYS_read SYS_readlinkat SYS_readv SYS_renameat2 SYS_sendfile SYS_statfs
            SYS_statx SYS_sync_file_range SYS_unlinkat SYS_write SYS_writev
        ],
    },
    CallGroup {
        when: CallPeriod::Always,
        reason: "sockets that are open: signals of this process come by a pair of them, and others share the store by them",
        calls: calls![
            SYS_accept4 SYS_getpeername SYS_getsockname SYS_getsockopt SYS_recvfrom SYS_sendto SYS_setsockopt SYS_shutdown
            SYS_socket SYS_socketpair
        ],
    },
    #[cfg(target_arch = "x86_64")]
    CallGroup {
        when: CallPeriod::Always,
        reason: "older names of the same on x86-64",
        calls: calls![
            SYS_access SYS_arch_prctl SYS_dup2 SYS_epoll_wait SYS_getpgrp SYS_link SYS_lstat SYS_mkdir SYS_open SYS_poll
            SYS_readlink SYS_rename SYS_renameat SYS_rmdir SYS_select SYS_stat SYS_time SYS_unlink
        ],
    },
    #[cfg(target_arch = "aarch64")]
    CallGroup { when: CallPeriod::Always, reason: "an older name on ARM", calls: calls![SYS_renameat] },
    #[cfg(target_arch = "riscv64")]
    CallGroup {
        when: CallPeriod::Always,
        reason: "machine code on RISC-V",
        // libc has no names for them: the kernel's arch/riscv/include/uapi/asm/unistd.h.
        calls: &[("SYS_riscv_hwprobe", 258), ("SYS_riscv_flush_icache", 259)],
    },
    CallGroup {
        when: CallPeriod::Opening,
        reason: "this wall itself",
        calls: calls![SYS_landlock_add_rule SYS_landlock_create_ruleset SYS_landlock_restrict_self SYS_seccomp],
    },
    CallGroup { when: CallPeriod::Opening, reason: "modes of the store's directories", calls: calls![SYS_fchmodat] },
    CallGroup {
        when: CallPeriod::Network,
        reason: "connections that a tool is granted, and looking up the names of hosts",
        calls: calls![SYS_connect SYS_recvmmsg SYS_recvmsg SYS_sendmmsg SYS_sendmsg],
    },
    CallGroup {
        when: CallPeriod::Store,
        reason: "going on with the store when the process that holds it ends",
        calls: calls![SYS_bind SYS_connect SYS_fchmodat SYS_listen],
    },
    CallGroup {
        when: CallPeriod::Handing,
        reason: "connections that it hands to the processes of clients",
        calls: calls![SYS_sendmsg],
    },
    CallGroup {
        when: CallPeriod::Handed,
        reason: "connections that the front process hands to it",
        // Not SYS_sendmsg: descriptors that nobody receives count for the user, and too many of them keep the front from
        // handing out any.
        calls: calls![SYS_recvmsg],
    },
    #[cfg(target_arch = "x86_64")]
    CallGroup { when: CallPeriod::Opening, reason: "an older name of the same on x86-64", calls: calls![SYS_chmod] },
    #[cfg(target_arch = "x86_64")]
    CallGroup { when: CallPeriod::Store, reason: "an older name of the same on x86-64", calls: calls![SYS_chmod] },
];

/// Returns the system calls of a phase, each at least once.
pub(super) fn of(phase: ConfinePhase) -> impl Iterator<Item = Call> {
    GROUPS.iter().filter(move |group| group.when.is_in(phase)).flat_map(|group| group.calls).copied()
}
