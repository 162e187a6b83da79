//! The tree that a call works on, what is open in it, and looking at it. `change` has the rest.
//!
//! An open file or directory is a [`Spot`]: every change of the tree goes through here, so a spot is told when its entry
//! is moved or removed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Code;
use crate::vfs::{Content, Edit, Entry, Kind, Limits, Resolved, Scope, Stat, Tree};

/// The tree that a call works on.
pub(super) struct Work {
    pub(super) tree: Tree,
    pub(super) scope: Scope,
    /// The call's time, nanoseconds since the Unix epoch.
    pub(super) now: u64,
    /// Where a program works: the name `.` among the directories to begin at.
    pub(super) directory: Option<String>,
    /// The tree's own; it is held to less while removed files are open.
    pub(super) limits: Limits,
    /// What is open, by path.
    spots: BTreeMap<String, Weak<Spot>>,
    /// Open files that were removed.
    gone: Vec<Weak<Spot>>,
    /// Bytes in them, when last counted.
    pub(super) held: u64,
    /// What the call changed, once it has ended.
    pub(super) left: Option<Vec<Edit>>,
}

/// Where something open is. Descriptors and streams of one entry share one spot.
pub(super) struct Spot {
    directory: bool,
    place: Mutex<Place>,
}

pub(super) enum Place {
    /// At this path, which no link is on.
    At(String),
    /// A file that was removed.
    Removed(Removed),
    /// A directory that was removed, or something that an earlier call left open.
    Nowhere,
}

/// All that is left of a file.
pub(super) struct Removed {
    pub(super) content: Content,
    pub(super) stat: Stat,
}

impl Spot {
    /// Locked only by who has the work locked already, or alone.
    pub(super) fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open file or directory.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) spot: Arc<Spot>,
    pub(super) read: bool,
    pub(super) write: bool,
    /// Whether a path from here may go up: from where a program works, as far as its grants go. Its C library gives it
    /// no other way to `../file`.
    pub(super) roams: bool,
}

impl Open {
    pub(super) fn is_directory(&self) -> bool {
        self.spot.directory
    }

    /// Refuses to read what is not open for that.
    pub(super) fn readable(&self) -> Result<(), Code> {
        match (self.is_directory(), self.read) {
            (true, _) => Err(Code::IsDirectory),
            (false, false) => Err(Code::BadDescriptor),
            (false, true) => Ok(()),
        }
    }

    /// Refuses to write what is not open for that; no directory is.
    pub(super) fn writable(&self) -> Result<(), Code> {
        if self.write { Ok(()) } else { Err(Code::BadDescriptor) }
    }

    /// Refuses what is not about files.
    pub(super) fn file(&self) -> Result<(), Code> {
        if self.is_directory() { Err(Code::BadDescriptor) } else { Ok(()) }
    }

    pub(super) fn directory(&self) -> Result<(), Code> {
        if self.is_directory() { Ok(()) } else { Err(Code::NotDirectory) }
    }
}

impl Work {
    pub(super) fn new(tree: Tree, scope: Scope, now: u64) -> Self {
        let limits = tree.limits();
        let (directory, spots, gone, left) = Default::default();
        Self { tree, scope, now, directory, limits, spots, gone, held: 0, left }
    }

    /// Goes on with another tree. What is open is where it was, if the same kind of entry is there.
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
                *spot.lock() = Place::Nowhere;
            }
            kept
        });
    }

    /// Lets go of the tree.
    pub(super) fn end(&mut self, empty: Tree) -> Tree {
        self.scope = Scope::default();
        std::mem::replace(&mut self.tree, empty)
    }

    /// The directories to begin at, with their names. Of a program, whose C library takes the name `.` for whatever no
    /// other name begins, and `/` for the same: where it works comes last, and the root as what is in it.
    pub(super) fn beginnings(&mut self) -> Vec<(Open, String)> {
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
        let mut begin = |path: &str, name: String, roams| {
            (Open { spot: self.spot(path, true), read: true, write: false, roams }, name)
        };
        let mut found: Vec<_> = paths.into_iter().map(|path| begin(&path, path.clone(), false)).collect();
        found.extend(directory.map(|directory| begin(&directory, ".".to_owned(), true)));
        found
    }

    fn is_directory(&self, path: &str) -> bool {
        self.tree.stat_here(path).is_ok_and(|stat| stat.kind == Kind::Directory)
    }

    /// Follows a path from an open directory.
    pub(super) fn resolve(&self, at: &Open, path: &str, follow: bool) -> Result<Resolved, Code> {
        at.directory()?;
        let base = self.path(&at.spot)?;
        if at.roams && path.split('/').any(|name| name == "..") && !path.starts_with('/') {
            let path = format!("{}/{path}", base.trim_start_matches('/'));
            return Ok(self.tree.resolve("/", path.trim_start_matches('/'), follow, &self.scope)?);
        }
        Ok(self.tree.resolve(&base, path, follow, &self.scope)?)
    }

    /// As `resolve`, for what looks at an entry: there must be one, and a `/` at the end asks for what a link leads to.
    pub(super) fn find(&self, at: &Open, path: &str, follow: bool) -> Result<(String, Stat), Code> {
        let found = self.resolve(at, path, follow || path.ends_with('/'))?;
        Ok((found.path, found.stat.ok_or(Code::NoEntry)?))
    }

    /// Where something open is.
    pub(super) fn path(&self, spot: &Spot) -> Result<String, Code> {
        match &*spot.lock() {
            Place::At(path) => Ok(path.clone()),
            Place::Removed(_) | Place::Nowhere => Err(Code::NoEntry),
        }
    }

    pub(super) fn stat(&self, open: &Open) -> Result<Stat, Code> {
        match &*open.spot.lock() {
            Place::At(path) => self.shown(path, self.tree.stat_here(path)?),
            Place::Removed(removed) => Ok(Stat { size: removed.content.len(), ..removed.stat }),
            Place::Nowhere => Err(Code::NoEntry),
        }
    }

    pub(super) fn stat_at(&self, at: &Open, path: &str, follow: bool) -> Result<Stat, Code> {
        let (path, stat) = self.find(at, path, follow)?;
        self.shown(&path, stat)
    }

    /// What may be known about an entry. Of a directory on the way to what is granted: that it is there.
    fn shown(&self, path: &str, stat: Stat) -> Result<Stat, Code> {
        match self.scope.shown(path) {
            None => Ok(stat),
            Some(names) if stat.kind == Kind::Directory && !names.is_empty() => Ok(Stat { size: 0, ..stat }),
            Some(_) => Err(Code::Access),
        }
    }

    /// Reads from a file, and says whether its end was reached.
    pub(super) fn read(&self, open: &Open, offset: u64, length: u64) -> Result<(Vec<u8>, bool), Code> {
        open.readable()?;
        let content = match &*open.spot.lock() {
            Place::At(path) => {
                self.may_read(path)?;
                self.tree.content(path)?
            }
            Place::Removed(removed) => removed.content.clone(),
            Place::Nowhere => return Err(Code::NoEntry),
        };
        let bytes = content.read(offset, length)?;
        // A length in memory fits. Nothing read is the end, also if nothing was asked for: C libraries take the other
        // answer for an interruption, and try again for ever.
        let end = bytes.is_empty() || offset.saturating_add(bytes.len() as u64) >= content.len();
        Ok((bytes, end))
    }

    /// The entry of a directory behind that of a name, or the first.
    pub(super) fn next_entry(&self, open: &Open, after: Option<&str>) -> Result<Option<Entry>, Code> {
        let Ok(path) = self.path(&open.spot) else { return Ok(None) };
        let Some(names) = self.scope.shown(&path) else { return Ok(self.tree.next_entry(&path, after)?) };
        let later = names.into_iter().filter(|name| after.is_none_or(|after| *name > after));
        let above = path.trim_end_matches('/');
        let mut there = later.filter_map(|name| {
            let stat = self.tree.stat_here(&format!("{above}/{name}")).ok()?;
            Some(Entry { name: name.to_owned(), kind: stat.kind })
        });
        Ok(there.next())
    }

    pub(super) fn read_link(&self, at: &Open, path: &str) -> Result<String, Code> {
        let found = self.resolve(at, path, false)?;
        found.stat.ok_or(Code::NoEntry)?;
        self.may_read(&found.path)?;
        let target = self.tree.read_link(&found.path)?;
        // Where that is, is none of the tool's business, says WASI.
        if target.starts_with('/') { Err(Code::NotPermitted) } else { Ok(target) }
    }

    /// Whether anything can be changed from an open directory on.
    pub(super) fn mutable(&self, open: &Open) -> bool {
        self.path(&open.spot).is_ok_and(|path| self.scope.writes_below(&path))
    }

    pub(super) fn may_read(&self, path: &str) -> Result<(), Code> {
        if self.scope.reads(path) { Ok(()) } else { Err(Code::Access) }
    }

    pub(super) fn may_write(&self, path: &str) -> Result<(), Code> {
        self.may_read(path)?;
        if self.scope.writes(path) { Ok(()) } else { Err(Code::ReadOnly) }
    }

    /// The spot at a path where an entry of that kind is.
    pub(super) fn spot(&mut self, path: &str, directory: bool) -> Arc<Spot> {
        if let Some(spot) = self.spots.get(path).and_then(Weak::upgrade) {
            return spot;
        }
        if self.spots.len() > 2 * super::MAX_OPEN {
            self.spots.retain(|_, spot| spot.strong_count() > 0);
        }
        let spot = Arc::new(Spot { directory, place: Mutex::new(Place::At(path.to_owned())) });
        self.spots.insert(path.to_owned(), Arc::downgrade(&spot));
        spot
    }

    /// What is left for those who have the entry at a path open, before it is removed.
    pub(super) fn part(&self, path: &str) -> Option<(Arc<Spot>, Place)> {
        let spot = self.spots.get(path)?.upgrade()?;
        let rest = (!spot.directory).then(|| Some((self.tree.content(path).ok()?, self.tree.stat_here(path).ok()?)));
        let place = match rest.flatten() {
            Some((content, stat)) => Place::Removed(Removed { content, stat }),
            None => Place::Nowhere,
        };
        Some((spot, place))
    }

    /// The entry at a path has been removed.
    pub(super) fn removed(&mut self, path: &str, parted: Option<(Arc<Spot>, Place)>) {
        self.spots.remove(path);
        if let Some((spot, place)) = parted {
            *spot.lock() = place;
            self.gone.push(Arc::downgrade(&spot));
        }
    }

    /// An entry has been moved, with all that is below it.
    pub(super) fn moved(&mut self, from: &str, to: &str) {
        let below = format!("{from}/");
        let mut moved = self.spots.split_off(from);
        let others = moved.extract_if(.., |path, _| path != from && !path.starts_with(&below));
        self.spots.extend(others);
        for (path, spot) in moved {
            let Some(open) = spot.upgrade() else { continue };
            let path = format!("{to}{}", &path[from.len()..]);
            *open.lock() = Place::At(path.clone());
            self.spots.insert(path, spot);
        }
    }

    /// Counts what removed files that are still open hold, and takes it off the quota.
    pub(super) fn settle(&mut self) {
        self.gone.retain(|spot| spot.strong_count() > 0);
        let sizes = self.gone.iter().filter_map(Weak::upgrade).map(|spot| match &*spot.lock() {
            Place::Removed(removed) => removed.content.len(),
            Place::At(_) | Place::Nowhere => 0,
        });
        self.held = sizes.fold(0, u64::saturating_add);
        let bytes = self.limits.bytes.saturating_sub(self.held);
        self.tree.set_limits(Limits { bytes, ..self.limits });
    }
}
