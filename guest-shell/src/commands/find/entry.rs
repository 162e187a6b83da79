//! Files that `find` visits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;

use bashkit::fs::{FileType, Metadata};

/// File that is visited.
pub(super) struct FoundFile {
    /// Absolute path of the file itself, of which a link at its end is not followed.
    pub(super) path: PathBuf,
    /// Directory that is listed to descend: that of the target if links are followed.
    pub(super) directory: PathBuf,
    /// Path as it is printed.
    pub(super) shown_path: String,
    /// Place of the starting point among others.
    pub(super) starting_point: usize,
    pub(super) depth: usize,
    /// Status of the file itself.
    pub(super) own_status: Metadata,
    /// Status of the target of a link, if there is one.
    pub(super) target_status: Option<Metadata>,
    pub(super) link_target: Option<String>,
    /// Tests look at the target of a link.
    pub(super) is_followed: bool,
    /// Number of links, if the expression asks for it.
    pub(super) links: u64,
    /// Inode, if the expression asks for it.
    pub(super) inode: u64,
}

impl FoundFile {
    /// Returns the status that tests look at.
    pub(super) fn status(&self) -> &Metadata {
        if self.is_followed { self.target_or_own_status() } else { &self.own_status }
    }

    /// Returns the status that `-xtype` looks at.
    pub(super) fn status_of_other_end(&self) -> &Metadata {
        if self.is_followed { &self.own_status } else { self.target_or_own_status() }
    }

    fn target_or_own_status(&self) -> &Metadata {
        self.target_status.as_ref().unwrap_or(&self.own_status)
    }

    /// Returns the status that access(2) reads, which follows links; a link to nothing has none.
    pub(super) fn status_for_access(&self) -> Option<&Metadata> {
        match self.own_status.file_type.is_symlink() {
            true => self.target_status.as_ref(),
            false => Some(self.target_or_own_status()),
        }
    }

    /// Returns the name that `-name` tests: the last component, without slashes behind it.
    pub(super) fn name(&self) -> &str {
        let trimmed = self.shown_path.trim_end_matches('/');
        match trimmed.rsplit('/').next() {
            Some(name) if !trimmed.is_empty() => name,
            _ => "/",
        }
    }

    /// Returns the path of a child as it is printed.
    pub(super) fn shown_path_of(&self, child: &str) -> String {
        let slash = if self.shown_path.ends_with('/') { "" } else { "/" };
        format!("{}{slash}{child}", self.shown_path)
    }
}

/// Returns the letter that `-type` and `-printf %y` have for a file.
pub(super) fn type_letter(status: &Metadata) -> char {
    match status.file_type {
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::Fifo => 'p',
        FileType::File => 'f',
    }
}
