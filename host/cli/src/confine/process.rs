//! What a process inherited, and who may read its memory.

use std::fs;
use std::os::fd::RawFd;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// The descriptors with which this process began, besides 0 to 2.
static INHERITED: OnceLock<Vec<RawFd>> = OnceLock::new();

/// Remembers the descriptors that are open. It is called before the program opens any; where `/proc` is missing, none are known.
pub(crate) fn remember_inherited() {
    INHERITED.get_or_init(|| {
        let Ok(listed) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
        let numbers: Vec<RawFd> =
            listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(|fd| *fd > 2).collect();
        // The list has the descriptor by which it was read, which is closed by now.
        numbers.into_iter().filter(|fd| fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok()).collect()
    });
}

/// Closes what was inherited: a parent's log, a connection, a terminal. A script that was named as `/dev/fd/3` is read by now.
pub(super) fn close_inherited() {
    for fd in INHERITED.get().into_iter().flatten() {
        #[expect(unsafe_code, reason = "nothing in this program owns what it was started with")]
        // SAFETY: it was open before the program opened anything, and nothing has closed it: so no owner is surprised.
        unsafe {
            rustix::io::close(*fd);
        }
    }
}

/// Lets the kernel write no core file of this process.
pub(super) fn refuse_core() -> Result<(), Errno> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })
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
