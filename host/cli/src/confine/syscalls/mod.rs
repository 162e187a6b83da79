//! seccomp: the system calls that stay available to this process, whichever of its threads makes them.
//!
//! - `list`: the calls, and their reasons;
//! - `arguments`: restrictions on their arguments.
//!
//! A phase has two filters: one makes unlisted calls fail as on a kernel that does not have them (`ENOSYS`), the other
//! refuses arguments (`EPERM`). Filters accumulate: a later phase has no more than an earlier one, and its filters only
//! name the difference.

mod arguments;
mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::ARCH;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use libc::c_long;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompFilter, SeccompRule, TargetArch, apply_filter, apply_filter_all_threads,
};

use self::list::{CallPeriod, GROUPS};
use super::{ConfinePhase, FilterStatus, ThreadScope};

/// Phase whose filters hold for all threads of the process with this number.
static APPLIED: Mutex<Option<(ConfinePhase, u32)>> = Mutex::new(None);

/// Restricts this process to the system calls of a phase. Filters accumulate, so those of a later phase only name what
/// the earlier one left: the kernel takes half a millisecond to check and to compile two whole ones.
///
/// # Errors
/// If the kernel supports filters, and refuses these.
pub(crate) fn hold(phase: ConfinePhase, threads: ThreadScope) -> Result<FilterStatus, Error> {
    let Ok(processor) = TargetArch::try_from(ARCH) else { return Ok(FilterStatus::Unsupported) };
    let own = std::process::id();
    let mut applied = APPLIED.lock().unwrap_or_else(PoisonError::into_inner);
    // After a fork, rules about the process itself name another one.
    let earlier = (*applied).filter(|&(_, process)| process == own && threads == ThreadScope::All);
    let filters = filters(phase, earlier.map(|(phase, _)| phase), own, processor)?;
    for filter in filters {
        if apply(filter, threads)? == FilterStatus::Unsupported {
            return Ok(FilterStatus::Unsupported);
        }
    }
    if threads == ThreadScope::All {
        *applied = Some((phase, own));
    }
    Ok(FilterStatus::Active)
}

/// Returns the filters of a phase, in the order in which they are set. If there is an earlier phase, its filters are in
/// force, and only what they do not refuse is named.
fn filters(
    phase: ConfinePhase,
    earlier: Option<ConfinePhase>,
    own: u32,
    processor: TargetArch,
) -> Result<Vec<SeccompFilter>, Error> {
    let mut refused = refused_arguments(phase, own)?;
    if let Some(earlier) = earlier {
        let in_force = refused_arguments(earlier, own)?;
        refused.retain(|number, rules| in_force.get(number) != Some(rules));
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let left: BTreeSet<c_long> = list::of(phase).map(|(_, number)| number).collect();
    let (named, unlisted, listed) = match earlier {
        None => (left, missing, SeccompAction::Allow),
        Some(earlier) => {
            let before: BTreeSet<c_long> = list::of(earlier).map(|(_, number)| number).collect();
            (before.difference(&left).copied().collect(), SeccompAction::Allow, missing)
        }
    };
    let named: BTreeMap<_, _> = named.into_iter().map(|number| (number, Vec::new())).collect();
    let mut filters = Vec::new();
    // Before the other filter, which may not allow the system call that sets filters.
    if !refused.is_empty() {
        filters.push(SeccompFilter::new(refused, SeccompAction::Allow, refuse, processor)?);
    }
    if !named.is_empty() {
        filters.push(SeccompFilter::new(named, unlisted, listed, processor)?);
    }
    Ok(filters)
}

/// Returns the rules of a phase by the number of their system call. A call is refused if one of its rules matches.
fn refused_arguments(phase: ConfinePhase, own: u32) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, Error> {
    let limits = arguments::of(phase, own)?;
    Ok(limits.into_iter().map(|limit| (limit.number, limit.refused)).collect())
}

fn apply(filter: SeccompFilter, threads: ThreadScope) -> Result<FilterStatus, Error> {
    let filter = BpfProgram::try_from(filter)?;
    let applied = match threads {
        ThreadScope::All => apply_filter_all_threads(&filter),
        ThreadScope::Current => apply_filter(&filter),
    };
    match applied {
        Ok(()) => Ok(FilterStatus::Active),
        // A kernel without seccomp.
        Err(Error::Prctl(error) | Error::Seccomp(error))
            if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) =>
        {
            Ok(FilterStatus::Unsupported)
        }
        Err(error) => Err(error),
    }
}

/// Describes the available system calls and arguments, for people.
///
/// # Errors
/// If a filter cannot be built from them.
pub(crate) fn describe() -> Result<String, Error> {
    let mut text = String::new();
    for when in CallPeriod::ALL {
        push(&mut text, format_args!("system calls, {}", when.title()));
        for group in GROUPS.iter().filter(|group| group.when == when) {
            push(&mut text, format_args!("  {}", group.reason));
            let mut names: Vec<&str> = group.calls.iter().map(|(name, _)| name.trim_start_matches("SYS_")).collect();
            names.sort_unstable();
            push(&mut text, format_args!("    {}", names.join(" ")));
        }
    }
    for (title, phase) in ConfinePhase::SHOWN {
        push(&mut text, format_args!("arguments, {title}"));
        for limit in arguments::of(phase, std::process::id())? {
            push(&mut text, format_args!("  {:<15} {}", limit.name, limit.left));
        }
    }
    Ok(text)
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::UdpSocket;
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
    use std::process::Command;
    use std::sync::mpsc::channel;

    use super::super::tests::in_a_process;
    use super::*;

    fn starts_programs() -> std::io::Result<()> {
        Command::new("/bin/true").status().map(drop)
    }

    #[test]
    fn system_calls_that_are_not_listed_are_missing_and_arguments_refused() {
        in_a_process(|home| {
            let before = home.join("before");
            // It was there before.
            let (go, begun) = channel();
            let thread = std::thread::spawn(move || {
                begun.recv().expect("it is told");
                let denied = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::PermissionDenied);
                starts_programs().expect_err("no process begins");
                let missing = rustix::process::chroot("/").expect_err("it is not listed");
                assert_eq!(missing, rustix::io::Errno::NOSYS);
                denied(UdpSocket::bind("127.0.0.1:0").map(drop).expect_err("it is refused"));
                denied(UnixListener::bind(home.join("socket")).map(drop).expect_err("it is refused"));
                denied(UnixDatagram::pair().map(drop).expect_err("one can be connected elsewhere"));
                UnixStream::pair().expect("they stay here");
            });
            UdpSocket::bind("127.0.0.1:0").expect("nothing refuses it yet");
            let start = ConfinePhase { opening: true, network: true, store: true, ..ConfinePhase::RUN };
            if hold(start, ThreadScope::All).expect("the kernel takes it") == FilterStatus::Unsupported {
                return note!("this kernel has no seccomp");
            }
            UdpSocket::bind("127.0.0.1:0").expect("a tool may yet be granted it");
            UnixListener::bind(before).expect("a store has one");
            let run = || hold(ConfinePhase::RUN, ThreadScope::All).expect("the kernel takes it");
            assert_eq!(run(), FilterStatus::Active);
            go.send(()).expect("it waits");
            thread.join().expect("all of it");
            let filters = || {
                let status = std::fs::read_to_string("/proc/self/status").expect("it is listed");
                let line = status.lines().find(|line| line.starts_with("Seccomp_filters:")).map(str::to_owned);
                line.expect("Linux 5.9 counts them")
            };
            let before = filters();
            run();
            assert_eq!(filters(), before, "a phase that holds needs nothing more");
        });
    }

    #[test]
    fn syscall_filter_on_one_thread_leaves_other_threads_free() {
        in_a_process(|_| {
            let tried = std::thread::spawn(|| {
                (hold(ConfinePhase::RUN, ThreadScope::Current).expect("the kernel takes it"), starts_programs())
            });
            let (wall, started) = tried.join().expect("it ends");
            assert_eq!(started.is_err(), wall == FilterStatus::Active);
            starts_programs().expect("nobody refuses it");
        });
    }
}
