//! Files that `find` visits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;

use bashkit::fs::{FileType, Metadata};

/// File that is visited.
pub(super) struct FoundFile {
    /// Absolute path of the file, without following a link at its end.
    pub(super) path: PathBuf,
    /// Directory that is listed to descend: the target, if links are followed.
    pub(super) directory: PathBuf,
    /// Path in the printed form.
    pub(super) shown_path: String,
    /// Index of the starting point.
    pub(super) starting_point: usize,
    pub(super) depth: usize,
    /// Status of the file itself.
    pub(super) own_status: Metadata,
    /// Status of the target of a link, if there is one.
    pub(super) target_status: Option<Metadata>,
    pub(super) link_target: Option<String>,
    /// True if tests examine the target of a link.
    pub(super) is_followed: bool,
    /// Number of links, if the expression needs it.
    pub(super) links: u64,
    /// Inode, if the expression needs it.
    pub(super) inode: u64,
}

impl FoundFile {
    /// Returns the status that tests examine.
    pub(super) fn status(&self) -> &Metadata {
        if self.is_followed { self.target_or_own_status() } else { &self.own_status }
    }

    /// Returns the status that `-xtype` examines.
    pub(super) fn status_of_other_end(&self) -> &Metadata {
        if self.is_followed { &self.own_status } else { self.target_or_own_status() }
    }

    fn target_or_own_status(&self) -> &Metadata {
        self.target_status.as_ref().unwrap_or(&self.own_status)
    }

    /// Returns the status for access(2), which follows links; a dangling link has none.
    pub(super) fn status_for_access(&self) -> Option<&Metadata> {
        match self.own_status.file_type.is_symlink() {
            true => self.target_status.as_ref(),
            false => Some(self.target_or_own_status()),
        }
    }

    /// Returns the name that `-name` tests: the last component, without trailing slashes.
    pub(super) fn name(&self) -> &str {
        let trimmed = self.shown_path.trim_end_matches('/');
        match trimmed.rsplit('/').next() {
            Some(name) if !trimmed.is_empty() => name,
            _ => "/",
        }
    }

    /// Returns the printed path of a child.
    pub(super) fn shown_path_of(&self, child: &str) -> String {
        let slash = if self.shown_path.ends_with('/') { "" } else { "/" };
        format!("{}{slash}{child}", self.shown_path)
    }
}

/// Returns the type letter of `-type` and `-printf %y`.
pub(super) fn type_letter(status: &Metadata) -> char {
    match status.file_type {
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::Fifo => 'p',
        FileType::File => 'f',
    }
}
