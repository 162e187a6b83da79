//! A file as `ls` lists it.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;

use super::options::Options;
use crate::commands::file_status::{self, nanos_of};
use bashkit::fs::Metadata;

pub(super) struct File {
    /// Name as the operand or the directory has it.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// Metadata of the file; `None` for a followed link whose target does not exist.
    pub(super) meta: Option<Metadata>,
    /// Target of a link, in the long format.
    pub(super) target: Option<String>,
    /// Metadata of the target, if the options ask for it.
    pub(super) target_meta: Option<Metadata>,
    pub(super) links: u64,
    pub(super) inode: u64,
}

impl File {
    /// Returns the size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.meta.as_ref().map_or(0, file_status::apparent_size)
    }

    /// Returns the size in blocks of 512 bytes.
    pub(super) fn blocks(&self) -> u64 {
        self.meta.as_ref().map_or(0, file_status::blocks)
    }

    /// Returns the time that is shown and sorted by, in nanoseconds since the epoch. The time of the last change
    /// replaces all times that the VFS does not store.
    pub(super) fn time(&self, opts: &Options) -> i128 {
        self.meta.as_ref().map_or(0, |meta| nanos_of(if opts.created { meta.created } else { meta.modified }))
    }

    pub(super) fn is_directory(&self) -> bool {
        self.meta.as_ref().is_some_and(|meta| meta.file_type.is_dir())
    }

    pub(super) fn leads_to_directory(&self) -> bool {
        self.is_directory() || self.target_meta.as_ref().is_some_and(|meta| meta.file_type.is_dir())
    }
}
