//! Finding what differs between two trees, without looking at what they share: the same page in memory, or the same blob in
//! the store. Of pages that are in the store only, nothing becomes part of a tree but what differs.
//!
//! Directories are compared level by level, so that what must be read of many is read by several threads. Nothing here
//! recurses, as no tree is too deep.

use std::cmp::Ordering;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use imbl::ordmap::DiffItem;

use super::directory::{Directory, Slot};
use super::errno::Errno;
use super::node::{Name, Node};
use super::scale::IS_SMALL;
use super::snapshot::load;
use crate::store::parallel_map;

/// From so many pages or directories on that are to be read it pays to have several threads read them: to start a thread
/// takes as long as a few pages.
const MANY: usize = if IS_SMALL { 2 } else { 32 };

/// An entry that is in one of two directories only, or perhaps different in both.
pub(super) struct Difference {
    pub(super) name: Name,
    pub(super) old: Option<Node>,
    pub(super) new: Option<Node>,
}

/// An entry that is in one of two trees only, or different in both by what is told of it itself.
pub(super) struct Changed {
    /// Where: absolute.
    pub(super) path: String,
    pub(super) old: Option<Node>,
    pub(super) new: Option<Node>,
}

impl Changed {
    /// Both, if they are of one kind.
    pub(super) fn same_kind(&self) -> Option<(&Node, &Node)> {
        self.old.as_ref().zip(self.new.as_ref()).filter(|(old, new)| old.kind() == new.kind())
    }

    /// Whether it is no change after all: a directory is here for what is below it, a file because its bytes were not
    /// compared yet.
    fn is_none(&self) -> Result<bool, Errno> {
        let Some((old, new)) = self.same_kind() else { return Ok(false) };
        let (before, after) = (old.meta(), new.meta());
        let same = before.mode == after.mode && before.modified == after.modified;
        Ok(match (old, new) {
            (Node::File(old), Node::File(new)) => same && old.content.same(&new.content)?,
            (Node::Link(old), Node::Link(new)) => same && old.target == new.target,
            _ => same,
        })
    }
}

/// Each entry that is in one of two trees only, with all that is below it, or different in both. A directory comes before
/// what is in it, and names in their order.
pub(super) fn changes(old: &Node, new: &Node) -> Result<Vec<Changed>, Errno> {
    if old == new {
        return Ok(Vec::new());
    }
    // Where what is below each begins and ends: that comes later in the list.
    let (mut found, mut below) = (vec![(String::new(), Some(old.clone()), Some(new.clone()))], Vec::new());
    while let Some(level) = found.get(below.len()..).filter(|level| !level.is_empty()) {
        let pairs: Vec<_> = level.iter().map(|(_, old, new)| (directory(old), directory(new))).collect();
        let (parents, differences) = (below.len()..found.len(), all_differences(&pairs)?);
        for (parent, differences) in parents.zip(differences) {
            let start = found.len();
            for Difference { name, old, new } in differences {
                let path = format!("{}/{name}", found[parent].0);
                found.push((path, old, new));
            }
            below.push(start..found.len());
        }
    }
    let (mut changes, mut todo) = (Vec::new(), vec![0]);
    while let Some(at) = todo.pop() {
        // The first is to be taken first.
        todo.extend(below[at].clone().rev());
        let (path, old, new) = mem::take(&mut found[at]);
        let path = if path.is_empty() { "/".to_owned() } else { path };
        let changed = Changed { path, old, new };
        if !changed.is_none()? {
            changes.push(changed);
        }
    }
    Ok(changes)
}

fn directory(node: &Option<Node>) -> Option<&Directory> {
    node.as_ref().and_then(Node::as_directory)
}

/// Two directories, or one that has no other side.
type Pair<'a> = (Option<&'a Directory>, Option<&'a Directory>);

/// Entries of each pair that may differ, sorted by name: what is not here is the same in both, with all that is below it.
pub(super) fn all_differences(pairs: &[Pair<'_>]) -> Result<Vec<Vec<Difference>>, Errno> {
    let cold = |directory: &Option<&Directory>| directory.is_some_and(|directory| directory.peek().is_err());
    let many = pairs.iter().filter(|(old, new)| cold(old) || cold(new)).nth(MANY - 1).is_some();
    let parts = parallel_map(pairs, many, |(old, new)| parts(*old, *new))?;
    let counts: Vec<usize> = parts.iter().map(Vec::len).collect();
    let parts: Vec<Part<'_>> = parts.into_iter().flatten().collect();
    let many = parts.iter().filter(|part| part.is_cold()).nth(MANY - 1).is_some();
    let mut found = parallel_map(&parts, many, Part::differences)?.into_iter();
    Ok(counts.into_iter().map(|count| found.by_ref().take(count).flatten().collect()).collect())
}

/// Pages of a directory.
type Pages<'a> = (&'a Directory, Range<usize>);

/// Pages of two directories that hold the names of one range.
struct Part<'a> {
    old: Option<Pages<'a>>,
    new: Option<Pages<'a>>,
}

/// The pages that are not the same in both. Those of one side only are parts of their own.
fn parts<'a>(old: Option<&'a Directory>, new: Option<&'a Directory>) -> Result<Vec<Part<'a>>, Errno> {
    let pages = |directory: Option<&'a Directory>| -> Result<Vec<Pages<'a>>, Errno> {
        let count = directory.map_or(Ok(0), |directory| directory.pages().map(<[Slot]>::len))?;
        Ok((0..count).filter_map(|at| Some((directory?, at..at + 1))).collect())
    };
    let (Some(old), Some(new)) = (old, new) else {
        let old = pages(old)?.into_iter().map(|pages| Part { old: Some(pages), new: None });
        let new = pages(new)?.into_iter().map(|pages| Part { old: None, new: Some(pages) });
        return Ok(old.chain(new).collect());
    };
    let mut found = Vec::new();
    if known_same(old.seal().id(), new.seal().id()) {
        return Ok(found);
    }
    let (left, right) = (old.pages()?, new.pages()?);
    let (mut at, mut other) = (0, 0);
    // Both are at pages that begin with the same name: first, with none.
    while let Some((page, twin)) = left.get(at).zip(right.get(other)) {
        let (end, other_end) = next_common(left, at, right, other);
        let single = end - at == 1 && other_end - other == 1;
        if !(single && same_page(page, twin)) {
            found.push(Part { old: Some((old, at..end)), new: Some((new, other..other_end)) });
        }
        (at, other) = (end, other_end);
    }
    Ok(found)
}

impl Part<'_> {
    /// Whether something of it must be read.
    fn is_cold(&self) -> bool {
        let mut sides = self.old.iter().chain(&self.new);
        sides.any(|(directory, pages)| pages.clone().any(|at| !directory.is_loaded(at)))
    }

    fn differences(&self) -> Result<Vec<Difference>, Errno> {
        let mut found = Vec::new();
        match (&self.old, &self.new) {
            (Some((old, at)), Some((new, other))) if at.len() == 1 && other.len() == 1 => {
                let (at, other) = (at.start, other.start);
                // A page that is loaded on one side is compared in memory.
                let unloaded = (!old.is_loaded(at) && !new.is_loaded(other)).then_some(());
                if let Some((old, new)) = unloaded.and_then(|()| old.claim(at).zip(new.claim(other))) {
                    return load::differences(&old, &new);
                }
                found.extend(old.page(at)?.diff(new.page(other)?).map(Difference::from));
            }
            // A page was split, or several were joined; or there is no other side.
            (old, new) => merge(&entries(old)?, &entries(new)?, &mut found),
        }
        found.retain(|difference| !difference.is_none());
        Ok(found)
    }
}

impl Difference {
    /// Whether it is none, as far as can be seen at once: trees that were opened apart share nothing in memory.
    fn is_none(&self) -> bool {
        let Some((old, new)) = self.old.as_ref().zip(self.new.as_ref()) else { return false };
        let (before, after) = (old.meta(), new.meta());
        let same = match (old, new) {
            (Node::File(old), Node::File(new)) => old.content.evidently_same(&new.content),
            (Node::Directory(old), Node::Directory(new)) => known_same(old.seal().id(), new.seal().id()),
            (Node::Link(old), Node::Link(new)) => old.target == new.target,
            _ => false,
        };
        same && before.mode == after.mode && before.modified == after.modified
    }
}

impl From<DiffItem<'_, '_, Name, Node>> for Difference {
    fn from(item: DiffItem<'_, '_, Name, Node>) -> Self {
        let (name, old, new) = match item {
            DiffItem::Add(name, new) => (name, None, Some(new)),
            DiffItem::Remove(name, old) => (name, Some(old), None),
            DiffItem::Update { old: (name, old), new: (_, new) } => (name, Some(old), Some(new)),
        };
        Difference { name: Name::clone(name), old: old.cloned(), new: new.cloned() }
    }
}

fn known_same<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    a.is_some() && a == b
}

fn same_page(a: &Slot, b: &Slot) -> bool {
    Arc::ptr_eq(&a.page, &b.page) || known_same(a.page.seal.id(), b.page.seal.id())
}

/// The next pages of both that begin with the same name, or the ends.
fn next_common(left: &[Slot], at: usize, right: &[Slot], other: usize) -> (usize, usize) {
    let (mut at, mut other) = (at + 1, other + 1);
    loop {
        match (left.get(at), right.get(other)) {
            (Some(a), Some(b)) => match a.first.cmp(&b.first) {
                Ordering::Less => at += 1,
                Ordering::Greater => other += 1,
                Ordering::Equal => return (at, other),
            },
            (Some(_), None) => at += 1,
            (None, Some(_)) => other += 1,
            (None, None) => return (at, other),
        }
    }
}

fn entries<'a>(pages: &Option<Pages<'a>>) -> Result<Vec<(&'a Name, &'a Node)>, Errno> {
    let mut entries = Vec::new();
    if let Some((directory, pages)) = pages {
        for page in pages.clone() {
            entries.extend(directory.page(page)?.iter());
        }
    }
    Ok(entries)
}

fn merge(mut old: &[(&Name, &Node)], mut new: &[(&Name, &Node)], found: &mut Vec<Difference>) {
    loop {
        let order = match (old.first(), new.first()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        let removed = if order.is_le() { old.split_off_first() } else { None };
        let added = if order.is_ge() { new.split_off_first() } else { None };
        let (was, is) = (removed.map(|(_, node)| *node), added.map(|(_, node)| *node));
        let shared = was.is_some() && was == is;
        if let Some((name, _)) = removed.or(added)
            && !shared
        {
            found.push(Difference { name: Name::clone(name), old: was.cloned(), new: is.cloned() });
        }
    }
}
