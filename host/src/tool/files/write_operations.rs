//! Changes of the tree that a call works on: opening, writing, creating, moving and removing.

use super::working_tree::{LocationState, OpenEntry, RemovedFile, WorkingTree};
use super::{Code, errno_code};
use crate::vfs::{Content, Errno, Kind, WriteMode};

/// Options of an open.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags of `open-at`")]
pub(super) struct OpenOptions {
    pub(super) follow: bool,
    pub(super) create: bool,
    pub(super) directory: bool,
    pub(super) exclusive: bool,
    pub(super) truncate: bool,
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) mutate: bool,
}

/// Position of a write in a file.
#[derive(Clone, Copy)]
pub(super) enum WriteOffset {
    At(u64),
    End,
}

impl WorkingTree {
    pub(super) fn open(&mut self, at: &OpenEntry, path: &str, how: OpenOptions) -> Result<OpenEntry, Code> {
        if how.directory && (how.create || how.exclusive || how.truncate) {
            return Err(Code::Invalid);
        }
        let new = how.create && how.exclusive;
        let found = self.resolve(at, path, (how.follow || path.ends_with('/')) && !new)?;
        match found.stat.map(|stat| stat.kind) {
            Some(_) if new => return Err(Code::Exist),
            Some(Kind::Link) => return Err(Code::Loop),
            Some(Kind::Directory) => return self.open_directory(&found.path, how),
            Some(Kind::File) if how.directory => return Err(Code::NotDirectory),
            Some(Kind::File) => {
                self.may_read(&found.path)?;
                if how.write || how.truncate {
                    self.may_write(&found.path)?;
                }
                if how.truncate {
                    self.tree.truncate(&found.path, 0, self.now).map_err(errno_code)?;
                }
            }
            None if !how.create => return Err(Code::NoEntry),
            None => {
                self.may_write(&found.path)?;
                self.settle();
                self.tree.write(&found.spelling(), &[], WriteMode::Create, self.now).map_err(errno_code)?;
            }
        }
        // A descriptor opened without rights can be read, as everywhere.
        Ok(OpenEntry {
            spot: self.spot(&found.path, false),
            read: how.read || !how.write,
            write: how.write,
            may_go_up: false,
        })
    }

    fn open_directory(&mut self, path: &str, how: OpenOptions) -> Result<OpenEntry, Code> {
        if how.create || how.truncate || how.write {
            return Err(Code::IsDirectory);
        }
        if how.mutate && !self.scope.writes_below(path) {
            return Err(Code::ReadOnly);
        }
        Ok(OpenEntry { spot: self.spot(path, true), read: true, write: false, may_go_up: false })
    }

    /// Writes to a file, all or nothing.
    pub(super) fn write(&mut self, open: &OpenEntry, offset: WriteOffset, bytes: &[u8]) -> Result<(), Code> {
        open.writable()?;
        self.settle();
        match &mut *open.spot.lock() {
            LocationState::At(path) => {
                self.may_write(path)?;
                let written = match offset {
                    WriteOffset::At(offset) => self.tree.write_at(path, offset, bytes, self.now),
                    WriteOffset::End => self.tree.write(path, bytes, WriteMode::Append, self.now),
                };
                written.map_err(errno_code)
            }
            LocationState::Removed(_) if bytes.is_empty() => Ok(()),
            LocationState::Removed(removed) => {
                let old = removed.content.len();
                let start = if let WriteOffset::At(offset) = offset { offset } else { old };
                // A length in memory fits.
                let end = start.checked_add(bytes.len() as u64).ok_or(Code::FileTooLarge)?;
                self.change_removed(removed, old.max(end), |content| content.write_at(start, bytes))
            }
            LocationState::Nowhere => Err(Code::NoEntry),
        }
    }

    pub(super) fn set_size(&mut self, open: &OpenEntry, size: u64) -> Result<(), Code> {
        open.writable()?;
        self.settle();
        match &mut *open.spot.lock() {
            LocationState::At(path) => {
                self.may_write(path)?;
                self.tree.truncate(path, size, self.now).map_err(errno_code)
            }
            LocationState::Removed(removed) => self.change_removed(removed, size, |content| content.resize(size)),
            LocationState::Nowhere => Err(Code::NoEntry),
        }
    }

    /// Changes a file that was removed from the tree, within the limits of its former tree.
    fn change_removed(
        &self,
        removed: &mut RemovedFile,
        size: u64,
        change: impl FnOnce(&mut Content) -> Result<(), Errno>,
    ) -> Result<(), Code> {
        let old = removed.content.len();
        if size > old {
            let others = self.held.saturating_sub(old).saturating_add(self.tree.usage().bytes);
            if size > self.limits.file_bytes {
                return Err(Code::FileTooLarge);
            }
            if size.saturating_add(others) > self.limits.bytes {
                return Err(Code::Quota);
            }
        }
        change(&mut removed.content).map_err(errno_code)?;
        removed.stat.modified = self.now;
        Ok(())
    }

    pub(super) fn set_modified(&mut self, open: &OpenEntry, modified: u64) -> Result<(), Code> {
        match &mut *open.spot.lock() {
            LocationState::At(path) => {
                self.may_write(path)?;
                self.tree.set_own_modified(path, modified).map_err(errno_code)
            }
            LocationState::Removed(removed) => {
                removed.stat.modified = modified;
                Ok(())
            }
            LocationState::Nowhere => Err(Code::NoEntry),
        }
    }

    pub(super) fn set_modified_at(
        &mut self,
        at: &OpenEntry,
        path: &str,
        follow: bool,
        modified: u64,
    ) -> Result<(), Code> {
        let (path, _) = self.find(at, path, follow)?;
        self.may_write(&path)?;
        self.tree.set_own_modified(&path, modified).map_err(errno_code)
    }

    pub(super) fn create_directory(&mut self, at: &OpenEntry, path: &str) -> Result<(), Code> {
        let found = self.resolve(at, path, false)?;
        if found.stat.is_some() {
            return Err(Code::Exist);
        }
        self.may_write(&found.path)?;
        self.settle();
        self.tree.create_directory(&found.path, false, self.now).map_err(errno_code)
    }

    pub(super) fn create_link(&mut self, at: &OpenEntry, target: &str, path: &str) -> Result<(), Code> {
        if target.starts_with('/') {
            return Err(Code::NotPermitted);
        }
        let found = self.resolve(at, path, false)?;
        if found.stat.is_some() {
            return Err(Code::Exist);
        }
        self.may_write(&found.path)?;
        self.settle();
        self.tree.create_link(target, &found.spelling(), self.now).map_err(errno_code)
    }

    /// Removes an empty directory, or an entry that is not a directory.
    pub(super) fn remove(&mut self, at: &OpenEntry, path: &str, directory: bool) -> Result<(), Code> {
        let found = self.resolve(at, path, false)?;
        let is_directory = found.stat.ok_or(Code::NoEntry)?.kind == Kind::Directory;
        match (directory, is_directory) {
            (true, false) => return Err(Code::NotDirectory),
            (false, true) => return Err(Code::IsDirectory),
            _ if !found.named => return Err(Code::Invalid),
            _ => {}
        }
        self.may_write(&found.path)?;
        let parted = self.part(&found.path);
        self.tree.remove(&found.path, false, self.now).map_err(errno_code)?;
        self.removed(&found.path, parted);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: (&OpenEntry, &str), to: (&OpenEntry, &str)) -> Result<(), Code> {
        let (source, target) = (self.resolve(from.0, from.1, false)?, self.resolve(to.0, to.1, false)?);
        source.stat.ok_or(Code::NoEntry)?;
        if !source.named || !target.named {
            return Err(Code::Invalid);
        }
        self.may_write(&source.path)?;
        self.may_write(&target.path)?;
        let parted = self.part(&target.path);
        self.tree.rename(&source.spelling(), &target.spelling(), self.now).map_err(errno_code)?;
        if source.path != target.path {
            self.removed(&target.path, parted);
            self.moved(&source.path, &target.path);
        }
        Ok(())
    }
}
