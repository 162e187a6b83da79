//! seccomp: system calls that this process never needs are refused (`EPERM`), whichever of its threads makes them.
//!
//! What is listed reaches beyond the process or around the other wall, or is a part of the kernel that has often been broken
//! into. A list of what is allowed would say more, and break with the next version of a library.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::c_long;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, apply_filter_all_threads,
};

use super::{Threads, Wall};

/// What is refused. `docs/security.md` has the reasons.
const REFUSED: [&[c_long]; 7] = [
    // Looks into other processes of the user, or changes them.
    &[
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_pidfd_getfd,
        libc::SYS_kcmp,
    ],
    // Starts another program.
    &[libc::SYS_execve, libc::SYS_execveat],
    // Much of the kernel behind few calls. What `io_uring` does passes by this filter.
    &[
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ],
    // Another view of the machine's files, users or processes.
    &[
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
    ],
    // The machine: its kernel, its clock, its swap.
    &[
        libc::SYS_kexec_load,
        libc::SYS_kexec_file_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_acct,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
    ],
    // The user's keys in the kernel.
    &[libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key],
    // Opens files by no path, so that no rule on paths sees it.
    &[libc::SYS_open_by_handle_at],
];

/// On x86-64 a call can also be made by the numbers of x32: this bit, and for some calls another number.
const X32: c_long = 0x4000_0000;

/// Those calls: `execve`, `ptrace`, `kexec_load`, `process_vm_readv`, `process_vm_writev`, `execveat`.
const X32_OWN: [c_long; 6] = [520, 521, 528, 539, 540, 545];

/// Refuses what is listed.
///
/// # Errors
/// If the kernel has such filters, and does not take this one.
pub(crate) fn refuse(threads: Threads) -> Result<Wall, Error> {
    let listed = REFUSED.iter().copied().flatten().copied().chain(X32_OWN.map(|number| X32 | number));
    hold(listed.flat_map(numbers).map(|number| (number, Vec::new())).collect(), threads)
}

/// Refuses sockets, but for those by which processes of this machine share a store.
///
/// # Errors
/// As [`refuse`].
pub(super) fn refuse_sockets() -> Result<Wall, Error> {
    let local = u64::from(libc::AF_UNIX.unsigned_abs());
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, local)?;
    let rule = SeccompRule::new(vec![other])?;
    hold(numbers(libc::SYS_socket).map(|number| (number, vec![rule.clone()])).collect(), Threads::All)
}

/// By which numbers a call can be made.
fn numbers(number: c_long) -> impl Iterator<Item = c_long> {
    std::iter::once(number).chain(cfg!(target_arch = "x86_64").then_some(X32 | number))
}

fn hold(refused: BTreeMap<i64, Vec<SeccompRule>>, threads: Threads) -> Result<Wall, Error> {
    let Ok(processor) = TargetArch::try_from(ARCH) else { return Ok(Wall::None) };
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = BpfProgram::try_from(SeccompFilter::new(refused, SeccompAction::Allow, refuse, processor)?)?;
    let applied = match threads {
        Threads::All => apply_filter_all_threads(&filter),
        Threads::This => apply_filter(&filter),
    };
    match applied {
        Ok(()) => Ok(Wall::Whole),
        // A kernel without it.
        Err(Error::Prctl(error) | Error::Seccomp(error))
            if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) =>
        {
            Ok(Wall::None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::UdpSocket;
    use std::os::unix::net::{UnixDatagram, UnixListener};
    use std::process::Command;
    use std::sync::mpsc::channel;

    use super::super::tests::in_a_process;
    use super::*;

    fn starts_programs() -> std::io::Result<()> {
        Command::new("/bin/true").status().map(drop)
    }

    #[test]
    fn system_calls_that_nothing_needs_are_refused() {
        in_a_process(|home| {
            // It was there before.
            let (go, begun) = channel();
            let thread = std::thread::spawn(move || {
                begun.recv().expect("it is told");
                let denied = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::PermissionDenied);
                denied(starts_programs().expect_err("it is refused"));
                denied(rustix::process::chroot("/").expect_err("it is refused").into());
                denied(UdpSocket::bind("127.0.0.1:0").map(drop).expect_err("it is refused"));
                UnixListener::bind(home.join("socket")).expect("a store has one");
                UnixDatagram::pair().expect("they stay here");
            });
            UdpSocket::bind("127.0.0.1:0").expect("nothing refuses it yet");
            if refuse(Threads::All).expect("the kernel takes it") == Wall::None {
                return note!("this kernel has no seccomp");
            }
            UdpSocket::bind("127.0.0.1:0").expect("nothing refuses it yet");
            assert_eq!(refuse_sockets().expect("the kernel takes it"), Wall::Whole);
            go.send(()).expect("it waits");
            thread.join().expect("all of it");
        });
    }

    #[test]
    fn who_only_tries_is_the_only_one() {
        in_a_process(|_| {
            let tried = std::thread::spawn(|| (refuse(Threads::This).expect("the kernel takes it"), starts_programs()));
            let (wall, started) = tried.join().expect("it ends");
            assert_eq!(started.is_err(), wall == Wall::Whole);
            starts_programs().expect("nobody refuses it");
        });
    }
}
