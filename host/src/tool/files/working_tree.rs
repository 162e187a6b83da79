//! Tree that a call works on, its open entries, and read access. `write_operations` has the rest.
//!
//! An open file or directory is tracked by an [`EntryLocation`]: every change of the tree goes through here, so it is
//! updated when its entry is moved or removed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{Code, errno_code, refusal_code};
use crate::vfs::{Content, Edit, Entry, Kind, Limits, Resolved, Scope, Stat, Tree};

/// Working tree of a call.
pub(super) struct WorkingTree {
    pub(super) tree: Tree,
    pub(super) scope: Scope,
    /// Time of the call, nanoseconds since the Unix epoch.
    pub(super) now: u64,
    /// Working directory of a program, preopened as `.`.
    pub(super) directory: Option<String>,
    /// Limits of the tree, which are reduced while removed files are open.
    pub(super) limits: Limits,
    /// Open entries by path.
    spots: BTreeMap<String, Weak<EntryLocation>>,
    /// Open files that were removed.
    gone: Vec<Weak<EntryLocation>>,
    /// Size of these files in bytes, at the last count.
    pub(super) held: u64,
    /// Changes of the call, once it has ended.
    pub(super) left: Option<Vec<Edit>>,
}

/// Location of an open entry. Descriptors and streams of one entry share it.
pub(super) struct EntryLocation {
    directory: bool,
    place: Mutex<LocationState>,
}

pub(super) enum LocationState {
    /// At this path, which contains no link.
    At(String),
    /// A file that was removed.
    Removed(RemovedFile),
    /// A directory that was removed, or an entry that an earlier call left open.
    Nowhere,
}

/// Content and metadata of a removed file.
pub(super) struct RemovedFile {
    pub(super) content: Content,
    pub(super) stat: Stat,
}

impl EntryLocation {
    /// Locks the location. Only holders of the lock on the tree, or single owners, may do so.
    pub(super) fn lock(&self) -> MutexGuard<'_, LocationState> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Open file or directory, with its rights.
#[derive(Clone)]
pub(super) struct OpenEntry {
    pub(super) spot: Arc<EntryLocation>,
    pub(super) read: bool,
    pub(super) write: bool,
    /// True if a path from here may go up: from a program's working directory, as far as its grants permit. Its C
    /// library has no other way to reach `../file`.
    pub(super) may_go_up: bool,
}

impl OpenEntry {
    pub(super) fn is_directory(&self) -> bool {
        self.spot.directory
    }

    /// Returns an error unless the entry is open for reading.
    pub(super) fn readable(&self) -> Result<(), Code> {
        match (self.is_directory(), self.read) {
            (true, _) => Err(Code::IsDirectory),
            (false, false) => Err(Code::BadDescriptor),
            (false, true) => Ok(()),
        }
    }

    /// Returns an error unless the entry is open for writing; a directory never is.
    pub(super) fn writable(&self) -> Result<(), Code> {
        if self.write { Ok(()) } else { Err(Code::BadDescriptor) }
    }

    /// Returns an error for a directory.
    pub(super) fn file(&self) -> Result<(), Code> {
        if self.is_directory() { Err(Code::BadDescriptor) } else { Ok(()) }
    }

    pub(super) fn directory(&self) -> Result<(), Code> {
        if self.is_directory() { Ok(()) } else { Err(Code::NotDirectory) }
    }
}

impl WorkingTree {
    pub(super) fn new(tree: Tree, scope: Scope, now: u64) -> Self {
        let limits = tree.limits();
        let (directory, spots, gone, left) = Default::default();
        Self { tree, scope, now, directory, limits, spots, gone, held: 0, left }
    }

    /// Switches to another tree. Open entries stay open if the same kind of entry is at their path.
    pub(super) fn begin(&mut self, tree: Tree, scope: Scope, now: u64) {
        (self.limits, self.tree, self.scope, self.now) = (tree.limits(), tree, scope, now);
        self.left = None;
        let tree = &self.tree;
        self.spots.retain(|path, spot| {
            let Some(spot) = spot.upgrade() else { return false };
            let kept = tree.stat_here(path).is_ok_and(|stat| match stat.kind {
                Kind::Directory => spot.directory,
                Kind::File => !spot.directory,
                Kind::Link => false,
            });
            if !kept {
                *spot.lock() = LocationState::Nowhere;
            }
            kept
        });
    }

    /// Takes the tree out.
    pub(super) fn end(&mut self, empty: Tree) -> Tree {
        self.scope = Scope::default();
        std::mem::replace(&mut self.tree, empty)
    }

    /// Returns the preopened directories with their names. A program's C library tries the name `.` for every path that
    /// no other name matches, and `/` likewise: so the working directory comes last, and the root is replaced by its
    /// entries.
    pub(super) fn preopened(&mut self) -> Vec<(OpenEntry, String)> {
        let mut paths = self.scope.beginnings(&self.tree);
        let directory = self.directory.clone().filter(|directory| self.is_directory(directory));
        if directory.is_some()
            && let Ok(root) = paths.binary_search_by(|path| path.as_str().cmp("/"))
        {
            paths.remove(root);
            let top = self.tree.read_directory("/").unwrap_or_default();
            paths.extend(top.into_iter().map(|entry| format!("/{}", entry.name)));
            paths.retain(|path| self.is_directory(path));
            paths.sort_unstable();
            paths.dedup();
        }
        let mut begin = |path: &str, name: String, may_go_up| {
            (OpenEntry { spot: self.spot(path, true), read: true, write: false, may_go_up }, name)
        };
        let mut found: Vec<_> = paths.into_iter().map(|path| begin(&path, path.clone(), false)).collect();
        found.extend(directory.map(|directory| begin(&directory, ".".to_owned(), true)));
        found
    }

    fn is_directory(&self, path: &str) -> bool {
        self.tree.stat_here(path).is_ok_and(|stat| stat.kind == Kind::Directory)
    }

    /// Resolves a path from an open directory.
    pub(super) fn resolve(&self, at: &OpenEntry, path: &str, follow: bool) -> Result<Resolved, Code> {
        at.directory()?;
        let base = self.path(&at.spot)?;
        if at.may_go_up && path.split('/').any(|name| name == "..") && !path.starts_with('/') {
            let path = format!("{}/{path}", base.trim_start_matches('/'));
            return self.tree.resolve("/", path.trim_start_matches('/'), follow, &self.scope).map_err(refusal_code);
        }
        self.tree.resolve(&base, path, follow, &self.scope).map_err(refusal_code)
    }

    /// As `resolve`, for operations on an existing entry: there must be one, and a trailing `/` follows a link.
    pub(super) fn find(&self, at: &OpenEntry, path: &str, follow: bool) -> Result<(String, Stat), Code> {
        let found = self.resolve(at, path, follow || path.ends_with('/'))?;
        Ok((found.path, found.stat.ok_or(Code::NoEntry)?))
    }

    /// Returns the current path of an open entry.
    pub(super) fn path(&self, spot: &EntryLocation) -> Result<String, Code> {
        match &*spot.lock() {
            LocationState::At(path) => Ok(path.clone()),
            LocationState::Removed(_) | LocationState::Nowhere => Err(Code::NoEntry),
        }
    }

    pub(super) fn stat(&self, open: &OpenEntry) -> Result<Stat, Code> {
        match &*open.spot.lock() {
            LocationState::At(path) => self.shown(path, self.tree.stat_here(path).map_err(errno_code)?),
            LocationState::Removed(removed) => Ok(Stat { size: removed.content.len(), ..removed.stat }),
            LocationState::Nowhere => Err(Code::NoEntry),
        }
    }

    pub(super) fn stat_at(&self, at: &OpenEntry, path: &str, follow: bool) -> Result<Stat, Code> {
        let (path, stat) = self.find(at, path, follow)?;
        self.shown(&path, stat)
    }

    /// Returns the visible metadata of an entry. For a directory on the way to a grant: only that it exists.
    fn shown(&self, path: &str, stat: Stat) -> Result<Stat, Code> {
        match self.scope.shown(path) {
            None => Ok(stat),
            Some(names) if stat.kind == Kind::Directory && !names.is_empty() => Ok(Stat { size: 0, ..stat }),
            Some(_) => Err(Code::Access),
        }
    }

    /// Reads from a file. Returns true if its end was reached.
    pub(super) fn read(&self, open: &OpenEntry, offset: u64, length: u64) -> Result<(Vec<u8>, bool), Code> {
        open.readable()?;
        let content = match &*open.spot.lock() {
            LocationState::At(path) => {
                self.may_read(path)?;
                self.tree.content(path).map_err(errno_code)?
            }
            LocationState::Removed(removed) => removed.content.clone(),
            LocationState::Nowhere => return Err(Code::NoEntry),
        };
        let bytes = content.read(offset, length).map_err(errno_code)?;
        // A length in memory fits. An empty read is the end, even if nothing was requested: C libraries take the other
        // answer for an interruption, and retry for ever.
        let end = bytes.is_empty() || offset.saturating_add(bytes.len() as u64) >= content.len();
        Ok((bytes, end))
    }

    /// Returns the entry of a directory that follows a name, or the first.
    pub(super) fn next_entry(&self, open: &OpenEntry, after: Option<&str>) -> Result<Option<Entry>, Code> {
        let Ok(path) = self.path(&open.spot) else { return Ok(None) };
        let Some(names) = self.scope.shown(&path) else {
            return self.tree.next_entry(&path, after).map_err(errno_code);
        };
        let later = names.into_iter().filter(|name| after.is_none_or(|after| *name > after));
        let above = path.trim_end_matches('/');
        let mut there = later.filter_map(|name| {
            let stat = self.tree.stat_here(&format!("{above}/{name}")).ok()?;
            Some(Entry { name: name.to_owned(), kind: stat.kind })
        });
        Ok(there.next())
    }

    pub(super) fn read_link(&self, at: &OpenEntry, path: &str) -> Result<String, Code> {
        let found = self.resolve(at, path, false)?;
        found.stat.ok_or(Code::NoEntry)?;
        self.may_read(&found.path)?;
        let target = self.tree.read_link(&found.path).map_err(errno_code)?;
        // WASI hides the target of absolute links from tools.
        if target.starts_with('/') { Err(Code::NotPermitted) } else { Ok(target) }
    }

    /// Returns true if anything may be changed below an open directory.
    pub(super) fn mutable(&self, open: &OpenEntry) -> bool {
        self.path(&open.spot).is_ok_and(|path| self.scope.writes_below(&path))
    }

    pub(super) fn may_read(&self, path: &str) -> Result<(), Code> {
        if self.scope.reads(path) { Ok(()) } else { Err(Code::Access) }
    }

    pub(super) fn may_write(&self, path: &str) -> Result<(), Code> {
        self.may_read(path)?;
        if self.scope.writes(path) { Ok(()) } else { Err(Code::ReadOnly) }
    }

    /// Returns the location of an entry of that kind at a path.
    pub(super) fn spot(&mut self, path: &str, directory: bool) -> Arc<EntryLocation> {
        if let Some(spot) = self.spots.get(path).and_then(Weak::upgrade) {
            return spot;
        }
        if self.spots.len() > 2 * super::MAX_OPEN {
            self.spots.retain(|_, spot| spot.strong_count() > 0);
        }
        let spot = Arc::new(EntryLocation { directory, place: Mutex::new(LocationState::At(path.to_owned())) });
        self.spots.insert(path.to_owned(), Arc::downgrade(&spot));
        spot
    }

    /// Saves the content for holders of an open entry, before it is removed.
    pub(super) fn part(&self, path: &str) -> Option<(Arc<EntryLocation>, LocationState)> {
        let spot = self.spots.get(path)?.upgrade()?;
        let rest = (!spot.directory).then(|| Some((self.tree.content(path).ok()?, self.tree.stat_here(path).ok()?)));
        let place = match rest.flatten() {
            Some((content, stat)) => LocationState::Removed(RemovedFile { content, stat }),
            None => LocationState::Nowhere,
        };
        Some((spot, place))
    }

    /// Updates the open entries after an entry was removed.
    pub(super) fn removed(&mut self, path: &str, parted: Option<(Arc<EntryLocation>, LocationState)>) {
        self.spots.remove(path);
        if let Some((spot, place)) = parted {
            *spot.lock() = place;
            self.gone.push(Arc::downgrade(&spot));
        }
    }

    /// Updates the open entries after an entry was moved, with everything below it.
    pub(super) fn moved(&mut self, from: &str, to: &str) {
        let below = format!("{from}/");
        let mut moved = self.spots.split_off(from);
        let others = moved.extract_if(.., |path, _| path != from && !path.starts_with(&below));
        self.spots.extend(others);
        for (path, spot) in moved {
            let Some(open) = spot.upgrade() else { continue };
            let path = format!("{to}{}", &path[from.len()..]);
            *open.lock() = LocationState::At(path.clone());
            self.spots.insert(path, spot);
        }
    }

    /// Counts the bytes of removed files that are still open, and subtracts them from the quota.
    pub(super) fn settle(&mut self) {
        self.gone.retain(|spot| spot.strong_count() > 0);
        let sizes = self.gone.iter().filter_map(Weak::upgrade).map(|spot| match &*spot.lock() {
            LocationState::Removed(removed) => removed.content.len(),
            LocationState::At(_) | LocationState::Nowhere => 0,
        });
        self.held = sizes.fold(0, u64::saturating_add);
        let bytes = self.limits.bytes.saturating_sub(self.held);
        self.tree.set_limits(Limits { bytes, ..self.limits });
    }
}
