//! A reference model of the tree, simple enough to be evidently correct: one map from path to entry, walked from the
//! root each time.
//!
//! Used by the tests in `host/vfs/src/model.rs` and by the fuzz target `vfs` (`tests/fuzz/src/vfs.rs`), which compiles this file
//! as its own. So it uses only public items, from the module around it.

use std::collections::BTreeMap;

use super::{ChangeKind, Errno, Kind, Limits, MAX_LINKS, Tree, Usage, WriteMode, changed_paths};

/// Small limits, so that each of them is reached often.
pub(super) const LIMITS: Limits = Limits { bytes: 150, entries: 18, file_bytes: 60 };

/// A read-only path inside a writable one.
pub(super) const SEALED: &str = "/workspace/r";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelBody {
    File(Vec<u8>),
    Directory,
    Link(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelItem {
    body: ModelBody,
    mode: u32,
    modified: u64,
    id: u64,
}

/// Entries by canonical path; the root has the empty path.
#[derive(Debug, Clone)]
pub(super) struct ReferenceModel {
    pub(super) items: BTreeMap<String, ModelItem>,
    next_id: u64,
}

/// The result of resolving a path. `named` is false for the root, `.` and `..`.
struct ModelPath {
    path: String,
    named: bool,
    slash: bool,
}

fn parent(path: &str) -> String {
    path.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_owned())
}

fn within(path: &str, above: &str) -> bool {
    path == above || path.starts_with(&format!("{above}/"))
}

fn writable(path: &str) -> bool {
    (within(path, "/workspace") || within(path, "/tmp")) && !within(path, SEALED)
}

fn pinned(path: &str) -> bool {
    ["/workspace", "/tmp", SEALED].iter().any(|place| within(place, path))
}

fn require(condition: bool, errno: Errno) -> Result<(), Errno> {
    if condition { Ok(()) } else { Err(errno) }
}

impl ReferenceModel {
    pub(super) fn new() -> ReferenceModel {
        let mut model = ReferenceModel { items: BTreeMap::new(), next_id: 1 };
        for (path, mode) in [("", 0o755), ("/workspace", 0o755), ("/tmp", 0o1777)] {
            model.make(path, ModelBody::Directory, mode, 0);
        }
        model
    }

    pub(super) fn make(&mut self, path: &str, body: ModelBody, mode: u32, now: u64) {
        self.items.insert(path.to_owned(), ModelItem { body, mode, modified: now, id: self.next_id });
        self.next_id += 1;
        self.touch(path, now);
    }

    fn touch(&mut self, path: &str, now: u64) {
        if let Some(item) = self.items.get_mut(&parent(path)) {
            item.modified = now;
        }
    }

    /// Numbers all entries in the order of a walk, as opening a snapshot does.
    pub(super) fn number(&mut self) {
        let mut paths: Vec<String> = self.items.keys().cloned().collect();
        paths.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        self.next_id = 1;
        for path in paths {
            self.items.get_mut(&path).expect("was listed").id = self.next_id;
            self.next_id += 1;
        }
    }

    pub(super) fn usage(&self) -> Usage {
        let bytes = self.items.values().map(|item| match &item.body {
            ModelBody::File(bytes) => bytes.len() as u64,
            ModelBody::Link(target) => target.len() as u64,
            ModelBody::Directory => 0,
        });
        Usage { bytes: bytes.sum(), entries: self.items.len() as u64 - 1 }
    }

    fn afford(&self, freed: usize, bytes: usize, entries: u64) -> Result<(), Errno> {
        let used = self.usage();
        let grown = used.bytes + bytes as u64 - freed as u64;
        require(bytes <= freed || grown <= LIMITS.bytes, Errno::Quota)?;
        require(entries == 0 || used.entries + entries <= LIMITS.entries, Errno::Quota)
    }

    fn body(&self, path: &str) -> Option<&ModelBody> {
        self.items.get(path).map(|item| &item.body)
    }

    fn is_directory(&self, path: &str) -> bool {
        self.body(path) == Some(&ModelBody::Directory)
    }

    fn is_empty(&self, path: &str) -> bool {
        !self.items.keys().any(|other| other != path && within(other, path))
    }

    fn walk(&self, path: &str, follow: bool, links: usize) -> Result<ModelPath, Errno> {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        let mut at = String::new();
        for (index, name) in names.iter().enumerate() {
            let last = index + 1 == names.len();
            let next = match *name {
                "." => continue,
                ".." => {
                    at = parent(&at);
                    continue;
                }
                name => format!("{at}/{name}"),
            };
            match self.body(&next) {
                Some(ModelBody::Link(target)) if follow || !last => {
                    require(links < MAX_LINKS, Errno::TooManyLinks)?;
                    let from = if target.starts_with('/') { "" } else { at.as_str() };
                    let slash = if last && !path.ends_with('/') { "" } else { "/" };
                    let tail = names[index + 1..].join("/");
                    let end = if !last && path.ends_with('/') { "/" } else { "" };
                    return self.walk(&format!("{from}/{target}{slash}{tail}{end}"), follow, links + 1);
                }
                _ if last => return Ok(ModelPath { path: next, named: true, slash: path.ends_with('/') }),
                None => return Err(Errno::NoEntry),
                Some(ModelBody::Directory) => at = next,
                Some(_) => return Err(Errno::NotDirectory),
            }
        }
        Ok(ModelPath { path: at, named: false, slash: false })
    }

    fn existing(&self, path: &str, follow: bool) -> Result<ModelPath, Errno> {
        let spot = self.walk(path, follow, 0)?;
        require(self.items.contains_key(&spot.path), Errno::NoEntry)?;
        require(!spot.slash || self.is_directory(&spot.path), Errno::NotDirectory)?;
        Ok(spot)
    }

    /// Resolves the path of a new entry.
    fn vacant(&self, path: &str) -> Result<ModelPath, Errno> {
        let spot = self.walk(path, false, 0)?;
        require(!self.items.contains_key(&spot.path), Errno::Exists)?;
        Ok(spot)
    }

    /// Resolves the path of a file to write, and returns the length of an existing one.
    fn target(&self, path: &str) -> Result<(String, Option<usize>), Errno> {
        let spot = self.walk(path, true, 0)?;
        let old = match self.body(&spot.path) {
            Some(ModelBody::Directory) => return Err(Errno::IsDirectory),
            Some(ModelBody::File(_)) if spot.slash => return Err(Errno::NotDirectory),
            Some(ModelBody::File(bytes)) => Some(bytes.len()),
            Some(ModelBody::Link(_)) => unreachable!("links were followed"),
            None => {
                require(!spot.slash, Errno::IsDirectory)?;
                None
            }
        };
        Ok((spot.path, old))
    }

    fn writable_target(&self, path: &str, old: Option<usize>) -> Result<(), Errno> {
        require(if old.is_some() { writable(path) } else { writable(&parent(path)) }, Errno::Access)
    }

    fn store(
        &mut self,
        path: &str,
        old: Option<usize>,
        bytes: Vec<u8>,
        mode: Option<u32>,
        now: u64,
    ) -> Result<(), Errno> {
        require(bytes.len() as u64 <= LIMITS.file_bytes, Errno::TooLarge)?;
        self.afford(old.unwrap_or(0), bytes.len(), u64::from(old.is_none()))?;
        match self.items.get_mut(path) {
            Some(item) => {
                *item =
                    ModelItem { body: ModelBody::File(bytes), mode: mode.unwrap_or(item.mode), modified: now, ..*item };
            }
            None => self.make(path, ModelBody::File(bytes), mode.unwrap_or(0o644), now),
        }
        Ok(())
    }

    fn file(&self, path: &str) -> Vec<u8> {
        match self.body(path) {
            Some(ModelBody::File(bytes)) => bytes.clone(),
            _ => Vec::new(),
        }
    }

    fn write(&mut self, path: &str, contents: &[u8], mode: WriteMode, now: u64) -> Result<(), Errno> {
        if mode == WriteMode::Create {
            self.vacant(path)?;
        }
        let (path, old) = self.target(path)?;
        self.writable_target(&path, old)?;
        if mode == WriteMode::Append && old.is_some() && contents.is_empty() {
            return Ok(());
        }
        let kept = if mode == WriteMode::Append { self.file(&path) } else { Vec::new() };
        self.store(&path, old, [&kept, contents].concat(), None, now)
    }

    fn truncate(&mut self, path: &str, size: usize, now: u64) -> Result<(), Errno> {
        self.existing(path, true)?;
        let (path, old) = self.target(path)?;
        let old = old.expect("exists and is no directory");
        self.writable_target(&path, Some(old))?;
        let mut bytes = self.file(&path);
        bytes.resize(size, 0);
        if size == old { Ok(()) } else { self.store(&path, Some(old), bytes, None, now) }
    }

    fn copy(&mut self, from: &str, to: &str, now: u64) -> Result<(), Errno> {
        let from = self.existing(from, true)?.path;
        require(!self.is_directory(&from), Errno::IsDirectory)?;
        let (to, old) = self.target(to)?;
        self.writable_target(&to, old)?;
        let mode = self.items[&from].mode;
        if from == to { Ok(()) } else { self.store(&to, old, self.file(&from), Some(mode), now) }
    }

    fn add(&mut self, path: &str, body: ModelBody, mode: u32, now: u64) -> Result<(), Errno> {
        require(writable(&parent(path)), Errno::Access)?;
        let bytes = if let ModelBody::Link(target) = &body { target.len() } else { 0 };
        self.afford(0, bytes, 1)?;
        self.make(path, body, mode, now);
        Ok(())
    }

    fn create_directory(&mut self, path: &str, parents: bool, now: u64) -> Result<(), Errno> {
        if !parents {
            let path = self.vacant(path)?.path;
            return self.add(&path, ModelBody::Directory, 0o755, now);
        }
        let before = self.clone();
        let result = self.create_parents(path, now);
        if result.is_err() {
            *self = before;
        }
        result
    }

    /// Creates each of the paths that the path begins with.
    fn create_parents(&mut self, path: &str, now: u64) -> Result<(), Errno> {
        let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0).chain([path.len()]);
        for end in ends {
            match self.vacant(&path[..end]) {
                Ok(spot) => self.add(&spot.path, ModelBody::Directory, 0o755, now)?,
                Err(Errno::Exists) => {
                    // A name followed only by slashes is the last one, too.
                    let last = path[end..].bytes().all(|byte| byte == b'/');
                    let spot = self.walk(&path[..end], true, 0);
                    let body = match &spot {
                        Ok(spot) => self.body(&spot.path),
                        Err(Errno::NoEntry) => None,
                        Err(errno) => return Err(*errno),
                    };
                    match body {
                        Some(ModelBody::Directory) => {}
                        Some(_) if !last => return Err(Errno::NotDirectory),
                        _ => return Err(Errno::Exists),
                    }
                }
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn remove(&mut self, path: &str, all: bool, now: u64) -> Result<(), Errno> {
        let spot = self.existing(path, false)?;
        require(!spot.path.is_empty() || spot.named, Errno::Busy)?;
        require(spot.named, Errno::Invalid)?;
        require(writable(&parent(&spot.path)), Errno::Access)?;
        require(!pinned(&spot.path), Errno::Busy)?;
        require(all || self.is_empty(&spot.path), Errno::NotEmpty)?;
        self.items.retain(|path, _| !within(path, &spot.path));
        self.touch(&spot.path, now);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str, now: u64) -> Result<(), Errno> {
        let (source, target) = (self.walk(from, false, 0)?, self.walk(to, false, 0)?);
        for spot in [&source, &target] {
            require(!spot.path.is_empty() || spot.named, Errno::Busy)?;
            require(spot.named, Errno::Invalid)?;
        }
        self.existing(from, false)?;
        let (old, new) = (source.path, target.path);
        require(!target.slash || self.is_directory(&old), Errno::NotDirectory)?;
        if old == new {
            return Ok(());
        }
        require(!within(&new, &old), Errno::Invalid)?;
        require(!within(&old, &new), Errno::NotEmpty)?;
        require(writable(&parent(&old)) && writable(&parent(&new)), Errno::Access)?;
        if self.items.contains_key(&new) {
            require(self.is_directory(&old) || !self.is_directory(&new), Errno::IsDirectory)?;
            require(!self.is_directory(&old) || self.is_directory(&new), Errno::NotDirectory)?;
        }
        require(!pinned(&old) && !pinned(&new), Errno::Busy)?;
        require(self.is_empty(&new), Errno::NotEmpty)?;
        self.items.remove(&new);
        let moved: Vec<String> = self.items.keys().filter(|path| within(path, &old)).cloned().collect();
        for path in moved {
            let item = self.items.remove(&path).expect("was listed");
            self.items.insert(format!("{new}{}", &path[old.len()..]), item);
        }
        self.touch(&old, now);
        self.touch(&new, now);
        Ok(())
    }

    fn create_link(&mut self, target: &str, path: &str, now: u64) -> Result<(), Errno> {
        require(!target.is_empty(), Errno::NoEntry)?;
        let spot = self.vacant(path)?;
        require(!spot.slash, Errno::NoEntry)?;
        self.add(&spot.path, ModelBody::Link(target.to_owned()), 0o777, now)
    }

    fn alter(&mut self, path: &str, change: impl FnOnce(&mut ModelItem)) -> Result<(), Errno> {
        let path = self.existing(path, true)?.path;
        require(writable(&path), Errno::Access)?;
        change(self.items.get_mut(&path).expect("was found"));
        Ok(())
    }
}

#[derive(Debug, Clone)]
pub(super) enum ModelOperation {
    Write(String, Vec<u8>, WriteMode),
    Truncate(String, u8),
    CreateDirectory(String, bool),
    Remove(String, bool),
    Rename(String, String),
    Copy(String, String),
    CreateLink(String, String),
    SetMode(String, u32),
    SetModified(String, u64),
    Fork,
    /// Seals the tree, and continues with the opened one.
    Reopen,
}
pub(super) fn apply_to_tree(tree: &mut Tree, operation: &ModelOperation, now: u64) -> Result<(), Errno> {
    match operation {
        ModelOperation::Write(path, bytes, mode) => tree.write(path, bytes, *mode, now),
        ModelOperation::Truncate(path, size) => tree.truncate(path, u64::from(*size), now),
        ModelOperation::CreateDirectory(path, parents) => tree.create_directory(path, *parents, now),
        ModelOperation::Remove(path, all) => tree.remove(path, *all, now),
        ModelOperation::Rename(from, to) => tree.rename(from, to, now),
        ModelOperation::Copy(from, to) => tree.copy(from, to, now),
        ModelOperation::CreateLink(target, path) => tree.create_link(target, path, now),
        ModelOperation::SetMode(path, mode) => tree.set_mode(path, *mode),
        ModelOperation::SetModified(path, time) => tree.set_modified(path, *time),
        ModelOperation::Fork | ModelOperation::Reopen => Ok(()),
    }
}

pub(super) fn apply_to_model(model: &mut ReferenceModel, operation: &ModelOperation, now: u64) -> Result<(), Errno> {
    match operation {
        ModelOperation::Write(path, bytes, mode) => model.write(path, bytes, *mode, now),
        ModelOperation::Truncate(path, size) => model.truncate(path, usize::from(*size), now),
        ModelOperation::CreateDirectory(path, parents) => model.create_directory(path, *parents, now),
        ModelOperation::Remove(path, all) => model.remove(path, *all, now),
        ModelOperation::Rename(from, to) => model.rename(from, to, now),
        ModelOperation::Copy(from, to) => model.copy(from, to, now),
        ModelOperation::CreateLink(target, path) => model.create_link(target, path, now),
        ModelOperation::SetMode(path, mode) => model.alter(path, |item| item.mode = *mode),
        ModelOperation::SetModified(path, time) => model.alter(path, |item| item.modified = *time),
        ModelOperation::Fork | ModelOperation::Reopen => Ok(()),
    }
}

/// Reads everything visible of a tree, through its public interface.
pub(super) fn seen(tree: &Tree) -> BTreeMap<String, ModelItem> {
    let mut items = BTreeMap::new();
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        let name = if path.is_empty() { "/" } else { path.as_str() };
        let stat = tree.stat(name, false).expect("was listed");
        let body = match stat.kind {
            Kind::File => ModelBody::File(tree.read(name, 0, u64::MAX).expect("a file")),
            Kind::Directory => {
                let entries = tree.read_directory(name).expect("a directory");
                assert!(entries.is_sorted_by(|a, b| a.name.as_bytes() < b.name.as_bytes()));
                assert_eq!(stat.size, entries.len() as u64);
                paths.extend(entries.iter().map(|entry| format!("{path}/{}", entry.name)));
                ModelBody::Directory
            }
            // The enum has no other kind yet.
            _ => ModelBody::Link(tree.read_link(name).expect("a link")),
        };
        items.insert(path, ModelItem { body, mode: stat.mode, modified: stat.modified, id: stat.id });
    }
    items
}

/// The result of `changed_paths`.
pub(super) fn changes(base: &Tree, new: &Tree) -> Vec<(String, ChangeKind)> {
    let changes = changed_paths(base, new).expect("all is there");
    changes.into_iter().map(|change| (change.path, change.kind)).collect()
}

/// The expected result of `changed_paths`, found by comparing everything.
pub(super) fn expected_changes(
    base: &BTreeMap<String, ModelItem>,
    new: &BTreeMap<String, ModelItem>,
) -> Vec<(String, ChangeKind)> {
    let same_kind = |a: &ModelBody, b: &ModelBody| std::mem::discriminant(a) == std::mem::discriminant(b);
    let mut changes = Vec::new();
    let mut note = |path: &str, kind| {
        let path = if path.is_empty() { "/" } else { path }.to_owned();
        changes.push((path, kind));
    };
    for (path, old) in base {
        match new.get(path) {
            Some(new) if same_kind(&old.body, &new.body) => {
                let timed = old.body != ModelBody::Directory && old.modified != new.modified;
                if timed || old.body != new.body || old.mode != new.mode {
                    note(path, ChangeKind::Modified);
                }
            }
            _ => note(path, ChangeKind::Removed),
        }
    }
    for (path, new) in new {
        if base.get(path).is_none_or(|old| !same_kind(&old.body, &new.body)) {
            note(path, ChangeKind::Added);
        }
    }
    changes.sort();
    changes
}
