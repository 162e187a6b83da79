//! What a process inherited, and who may read its memory.

use std::fs;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tollhouse_registry::untrusted_file;

use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// The descriptors with which this process began, besides 0 to 2, and which it has not closed.
static INHERITED: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// Remembers the descriptors that are open. It is called before the program opens any; where `/proc` is missing, none are known.
pub(crate) fn remember_inherited() {
    let Ok(listed) = fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<RawFd> =
        listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(|fd| *fd > 2).collect();
    // The list has the descriptor by which it was read, which is closed by now.
    let open = numbers.into_iter().filter(|fd| fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok());
    *INHERITED.lock().unwrap_or_else(PoisonError::into_inner) = open.collect();
}

/// Closes what was inherited (a parent's log, a connection, a terminal) but for the descriptors that these paths name, as
/// `--policy <(…)` does: they have yet to be read, and the next call closes them.
pub(super) fn close_inherited<P: AsRef<Path>>(but: &[P]) {
    let kept: Vec<RawFd> = but.iter().filter_map(|path| untrusted_file::descriptor(path.as_ref())).collect();
    INHERITED.lock().unwrap_or_else(PoisonError::into_inner).retain(|fd| {
        let is_kept = kept.contains(fd);
        if !is_kept {
            #[expect(unsafe_code, reason = "nothing in this program owns what it was started with")]
            // SAFETY: it was open before the program opened anything, and is closed here only, once: so no owner is surprised.
            unsafe {
                rustix::io::close(*fd);
            }
        }
        is_kept
    });
}

/// Lets the kernel write no core file of this process, nor pipe one to a program that collects crashes: such a program is given
/// one under every limit but 1, which is too short for a file (core(5)).
pub(super) fn refuse_core() -> Result<(), Errno> {
    // None is no limit; a lower one stays, since only root raises it.
    let none = Some(getrlimit(Resource::Core).maximum.unwrap_or(1).min(1));
    setrlimit(Resource::Core, Rlimit { current: none, maximum: none })
}

/// Lets no other process of this user read this one's memory or environment, nor the kernel hand it to a program that collects
/// crashes.
///
/// Then only root opens `/proc/self/pagemap`, by which wasmtime knows what an instance has written to: it is opened before.
pub(super) fn close_memory() -> Result<(), Errno> {
    // Without it wiping an instance takes longer, which is all.
    let _ = tollhouse::code::open_pagemap();
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
