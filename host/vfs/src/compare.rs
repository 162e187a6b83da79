//! Finds the differences between two trees, skipping what they share: the same page in memory, or the same blob in the
//! store. Of pages that are not loaded, only the differences are loaded into a tree.
//!
//! Directories are compared level by level, so that several threads can read them. Nothing here is recursive, since
//! trees may be too deep for that.

use std::cmp::Ordering;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use imbl::ordmap::DiffItem;

use super::directory::{DirectoryNode, PageSlot};
use super::errno::Errno;
use super::format_params::IS_SMALL;
use super::node::{Name, TreeNode};
use super::snapshot::load;
use tollhouse_store::parallel_map;

/// Minimum number of unloaded pages or directories that several threads read: starting a thread takes as long as
/// reading a few pages.
const MIN_PARALLEL_READS: usize = if IS_SMALL { 2 } else { 32 };

/// An entry that only one of two directories contains, or that may differ between them.
pub(super) struct EntryDifference {
    pub(super) name: Name,
    pub(super) old: Option<TreeNode>,
    pub(super) new: Option<TreeNode>,
}

/// An entry that only one of two trees contains, or that itself differs between them.
pub(super) struct ChangedEntry {
    /// Absolute path of the entry.
    pub(super) path: String,
    pub(super) old: Option<TreeNode>,
    pub(super) new: Option<TreeNode>,
}

impl ChangedEntry {
    /// Returns both nodes if they are of the same kind.
    pub(super) fn same_kind(&self) -> Option<(&TreeNode, &TreeNode)> {
        self.old.as_ref().zip(self.new.as_ref()).filter(|(old, new)| old.kind() == new.kind())
    }

    /// Returns true if the nodes do not differ after all: a directory is listed for the entries below it, a file
    /// because its content was not compared yet.
    fn is_none(&self) -> Result<bool, Errno> {
        let Some((old, new)) = self.same_kind() else { return Ok(false) };
        let (before, after) = (old.meta(), new.meta());
        let same = before.mode == after.mode && before.modified == after.modified;
        Ok(match (old, new) {
            (TreeNode::File(old), TreeNode::File(new)) => same && old.content.same(&new.content)?,
            (TreeNode::Link(old), TreeNode::Link(new)) => same && old.target == new.target,
            _ => same,
        })
    }
}

/// Lists each entry that only one of the trees contains, with everything below it, or that differs. A directory
/// precedes its entries, and names are in order.
pub(super) fn changes(old: &TreeNode, new: &TreeNode) -> Result<Vec<ChangedEntry>, Errno> {
    if old == new {
        return Ok(Vec::new());
    }
    // Ranges of the entries below each entry found: they come later in the list.
    let (mut found, mut below) = (vec![(String::new(), Some(old.clone()), Some(new.clone()))], Vec::new());
    while let Some(level) = found.get(below.len()..).filter(|level| !level.is_empty()) {
        let pairs: Vec<_> = level.iter().map(|(_, old, new)| (directory(old), directory(new))).collect();
        let (parents, differences) = (below.len()..found.len(), all_differences(&pairs)?);
        for (parent, differences) in parents.zip(differences) {
            let start = found.len();
            for EntryDifference { name, old, new } in differences {
                let path = format!("{}/{name}", found[parent].0);
                found.push((path, old, new));
            }
            below.push(start..found.len());
        }
    }
    let (mut changes, mut todo) = (Vec::new(), vec![0]);
    while let Some(at) = todo.pop() {
        // Reversed, so that the first is popped first.
        todo.extend(below[at].clone().rev());
        let (path, old, new) = mem::take(&mut found[at]);
        let path = if path.is_empty() { "/".to_owned() } else { path };
        let changed = ChangedEntry { path, old, new };
        if !changed.is_none()? {
            changes.push(changed);
        }
    }
    Ok(changes)
}

fn directory(node: &Option<TreeNode>) -> Option<&DirectoryNode> {
    node.as_ref().and_then(TreeNode::as_directory)
}

/// Two directories to compare, of which one may be absent.
type Pair<'a> = (Option<&'a DirectoryNode>, Option<&'a DirectoryNode>);

/// Lists the entries of each pair that may differ, sorted by name: entries not listed are the same in both, with
/// everything below them.
pub(super) fn all_differences(pairs: &[Pair<'_>]) -> Result<Vec<Vec<EntryDifference>>, Errno> {
    let cold = |directory: &Option<&DirectoryNode>| directory.is_some_and(|directory| directory.peek().is_err());
    let many = pairs.iter().filter(|(old, new)| cold(old) || cold(new)).nth(MIN_PARALLEL_READS - 1).is_some();
    let parts = parallel_map(pairs, many, |(old, new)| parts(*old, *new))?;
    let counts: Vec<usize> = parts.iter().map(Vec::len).collect();
    let parts: Vec<PageGroup<'_>> = parts.into_iter().flatten().collect();
    let many = parts.iter().filter(|part| part.is_cold()).nth(MIN_PARALLEL_READS - 1).is_some();
    let mut found = parallel_map(&parts, many, PageGroup::differences)?.into_iter();
    Ok(counts.into_iter().map(|count| found.by_ref().take(count).flatten().collect()).collect())
}

/// A range of pages of a directory.
type Pages<'a> = (&'a DirectoryNode, Range<usize>);

/// Pages of two directories that cover the same range of names.
struct PageGroup<'a> {
    old: Option<Pages<'a>>,
    new: Option<Pages<'a>>,
}

/// Returns the pages that differ between the directories. Pages of only one of them are groups of their own.
fn parts<'a>(old: Option<&'a DirectoryNode>, new: Option<&'a DirectoryNode>) -> Result<Vec<PageGroup<'a>>, Errno> {
    let pages = |directory: Option<&'a DirectoryNode>| -> Result<Vec<Pages<'a>>, Errno> {
        let count = directory.map_or(Ok(0), |directory| directory.pages().map(<[PageSlot]>::len))?;
        Ok((0..count).filter_map(|at| Some((directory?, at..at + 1))).collect())
    };
    let (Some(old), Some(new)) = (old, new) else {
        let old = pages(old)?.into_iter().map(|pages| PageGroup { old: Some(pages), new: None });
        let new = pages(new)?.into_iter().map(|pages| PageGroup { old: None, new: Some(pages) });
        return Ok(old.chain(new).collect());
    };
    let mut found = Vec::new();
    if known_same(old.seal().id(), new.seal().id()) {
        return Ok(found);
    }
    let (left, right) = (old.pages()?, new.pages()?);
    let (mut at, mut other) = (0, 0);
    // Both are at pages that begin with the same name: at the start, the empty one.
    while let Some((page, twin)) = left.get(at).zip(right.get(other)) {
        let (end, other_end) = next_common(left, at, right, other);
        let single = end - at == 1 && other_end - other == 1;
        if !(single && same_page(page, twin)) {
            found.push(PageGroup { old: Some((old, at..end)), new: Some((new, other..other_end)) });
        }
        (at, other) = (end, other_end);
    }
    Ok(found)
}

impl PageGroup<'_> {
    /// Returns true if a page must be read from the store.
    fn is_cold(&self) -> bool {
        let mut sides = self.old.iter().chain(&self.new);
        sides.any(|(directory, pages)| pages.clone().any(|at| !directory.is_loaded(at)))
    }

    fn differences(&self) -> Result<Vec<EntryDifference>, Errno> {
        let mut found = Vec::new();
        match (&self.old, &self.new) {
            (Some((old, at)), Some((new, other))) if at.len() == 1 && other.len() == 1 => {
                let (at, other) = (at.start, other.start);
                // A page that is loaded on one side is compared in memory.
                let unloaded = (!old.is_loaded(at) && !new.is_loaded(other)).then_some(());
                if let Some((old, new)) = unloaded.and_then(|()| old.claim(at).zip(new.claim(other))) {
                    return load::differences(&old, &new);
                }
                found.extend(old.page(at)?.diff(new.page(other)?).map(EntryDifference::from));
            }
            // A page was split, or several were merged; or one side is absent.
            (old, new) => merge(&entries(old)?, &entries(new)?, &mut found),
        }
        found.retain(|difference| !difference.is_none());
        Ok(found)
    }
}

impl EntryDifference {
    /// Returns true if the entry is evidently the same, which is checked without reading: trees that were opened
    /// separately share nothing in memory.
    fn is_none(&self) -> bool {
        let Some((old, new)) = self.old.as_ref().zip(self.new.as_ref()) else { return false };
        let (before, after) = (old.meta(), new.meta());
        let same = match (old, new) {
            (TreeNode::File(old), TreeNode::File(new)) => old.content.evidently_same(&new.content),
            (TreeNode::Directory(old), TreeNode::Directory(new)) => known_same(old.seal().id(), new.seal().id()),
            (TreeNode::Link(old), TreeNode::Link(new)) => old.target == new.target,
            _ => false,
        };
        same && before.mode == after.mode && before.modified == after.modified
    }
}

impl From<DiffItem<'_, '_, Name, TreeNode>> for EntryDifference {
    fn from(item: DiffItem<'_, '_, Name, TreeNode>) -> Self {
        let (name, old, new) = match item {
            DiffItem::Add(name, new) => (name, None, Some(new)),
            DiffItem::Remove(name, old) => (name, Some(old), None),
            DiffItem::Update { old: (name, old), new: (_, new) } => (name, Some(old), Some(new)),
        };
        EntryDifference { name: Name::clone(name), old: old.cloned(), new: new.cloned() }
    }
}

fn known_same<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    a.is_some() && a == b
}

fn same_page(a: &PageSlot, b: &PageSlot) -> bool {
    Arc::ptr_eq(&a.page, &b.page) || known_same(a.page.seal.id(), b.page.seal.id())
}

/// Returns the indexes of the next pages of both that begin with the same name, or the ends.
fn next_common(left: &[PageSlot], at: usize, right: &[PageSlot], other: usize) -> (usize, usize) {
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

fn entries<'a>(pages: &Option<Pages<'a>>) -> Result<Vec<(&'a Name, &'a TreeNode)>, Errno> {
    let mut entries = Vec::new();
    if let Some((directory, pages)) = pages {
        for page in pages.clone() {
            entries.extend(directory.page(page)?.iter());
        }
    }
    Ok(entries)
}

fn merge(mut old: &[(&Name, &TreeNode)], mut new: &[(&Name, &TreeNode)], found: &mut Vec<EntryDifference>) {
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
            found.push(EntryDifference { name: Name::clone(name), old: was.cloned(), new: is.cloned() });
        }
    }
}
