//! Inherited descriptors of a process, and access to its memory.

use std::fs;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tollhouse_registry::untrusted_file;

use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// Descriptors with which this process started, besides 0 to 2, and which it has not closed.
static INHERITED: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// Remembers the open descriptors. It is called before the program opens any; without `/proc`, none are known.
pub(crate) fn remember_inherited() {
    let Ok(listed) = fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<RawFd> =
        listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(|fd| *fd > 2).collect();
    // The list contains the descriptor by which it was read, which is closed by now.
    let open = numbers.into_iter().filter(|fd| fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok());
    *INHERITED.lock().unwrap_or_else(PoisonError::into_inner) = open.collect();
}

/// Closes the inherited descriptors (a parent's log, a connection, a terminal) except those that these paths name, as
/// `--policy <(…)` does: they have yet to be read, and the next call closes them.
pub(super) fn close_inherited<P: AsRef<Path>>(but: &[P]) {
    let kept: Vec<RawFd> = but.iter().filter_map(|path| untrusted_file::descriptor(path.as_ref())).collect();
    INHERITED.lock().unwrap_or_else(PoisonError::into_inner).retain(|fd| {
        let is_kept = kept.contains(fd);
        if !is_kept {
            #[expect(unsafe_code, reason = "nothing in this program owns what it was started with")]
            // SAFETY: the descriptor was open before the program opened anything, and is closed only here, once, so no
            // owner is surprised.
            unsafe {
                rustix::io::close(*fd);
            }
        }
        is_kept
    });
}

/// Keeps the kernel from writing a core file of this process, and from piping one to a program that collects crashes:
/// such a program gets one under every limit but 1, which is too short for a file (core(5)).
pub(super) fn refuse_core() -> Result<(), Errno> {
    // `None` is no limit; a lower limit stays, since only root raises it.
    let none = Some(getrlimit(Resource::Core).maximum.unwrap_or(1).min(1));
    setrlimit(Resource::Core, Rlimit { current: none, maximum: none })
}

/// Keeps other processes of this user from reading this one's memory or environment, and the kernel from handing it to
/// a program that collects crashes.
///
/// Afterwards only root can open `/proc/self/pagemap`, by which wasmtime knows the pages that an instance has written
/// to: it is opened before.
pub(super) fn close_memory() -> Result<(), Errno> {
    // Without it, wiping an instance takes longer, which is all.
    let _ = tollhouse::code::open_pagemap();
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
