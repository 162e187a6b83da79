//! Finding what differs between two trees, without looking at what they share: the same page in memory, or the same blob in
//! the store. Nothing here recurses, as no tree is too deep.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use imbl::ordmap::DiffItem;

use super::directory::{Directory, Slot};
use super::errno::Errno;
use super::node::{Name, Node};

/// An entry that is in one of two directories only, or perhaps different in both.
pub(super) struct Difference<'a> {
    pub(super) name: &'a Name,
    pub(super) old: Option<&'a Node>,
    pub(super) new: Option<&'a Node>,
}

/// Visits each entry that is in one of two trees only, or perhaps different in both, with all that is below it if it is
/// there on one side only; with its path. A directory comes before what is in it, and names in their order.
pub(super) fn walk<'a>(
    old: &'a Node,
    new: &'a Node,
    mut visit: impl FnMut(String, Option<&'a Node>, Option<&'a Node>) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let mut todo = if old == new { Vec::new() } else { vec![(String::new(), Some(old), Some(new))] };
    while let Some((path, old, new)) = todo.pop() {
        let below = match (old.and_then(Node::as_directory), new.and_then(Node::as_directory)) {
            (Some(old), Some(new)) => differences(old, new)?,
            (Some(old), None) => {
                old.entries()?.map(|(name, node)| Difference { name, old: Some(node), new: None }).collect()
            }
            (None, Some(new)) => {
                new.entries()?.map(|(name, node)| Difference { name, old: None, new: Some(node) }).collect()
            }
            (None, None) => Vec::new(),
        };
        // The first is to be taken first.
        let below = below.into_iter().rev().filter(|difference| !difference.is_none());
        let below = below.map(|Difference { name, old, new }| (format!("{path}/{name}"), old, new));
        todo.extend(below);
        visit(if path.is_empty() { "/".to_owned() } else { path }, old, new)?;
    }
    Ok(())
}

/// Entries that may differ, sorted by name: what is not here is the same in both, with all that is below it.
pub(super) fn differences<'a>(old: &'a Directory, new: &'a Directory) -> Result<Vec<Difference<'a>>, Errno> {
    let mut found = Vec::new();
    if known_same(old.seal().id(), new.seal().id()) {
        return Ok(found);
    }
    let (left, right) = (old.pages()?, new.pages()?);
    let (mut at, mut other) = (0, 0);
    // Both are at pages that begin with the same name: first, with none.
    while let Some((page, twin)) = left.get(at).zip(right.get(other)) {
        let (end, other_end) = next_common(left, at, right, other);
        match (end - at, other_end - other) {
            (1, 1) if same_page(page, twin) => {}
            (1, 1) => found.extend(old.page(at)?.diff(new.page(other)?).map(Difference::from)),
            // A page was split, or several were joined.
            _ => merge(&entries(old, at..end)?, &entries(new, other..other_end)?, &mut found),
        }
        (at, other) = (end, other_end);
    }
    Ok(found)
}

impl Difference<'_> {
    /// Whether it is none, as far as can be seen at once: trees that were opened apart share nothing in memory.
    fn is_none(&self) -> bool {
        let Some((old, new)) = self.old.zip(self.new) else { return false };
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

impl<'a> From<DiffItem<'a, 'a, Name, Node>> for Difference<'a> {
    fn from(item: DiffItem<'a, 'a, Name, Node>) -> Self {
        match item {
            DiffItem::Add(name, new) => Difference { name, old: None, new: Some(new) },
            DiffItem::Remove(name, old) => Difference { name, old: Some(old), new: None },
            DiffItem::Update { old: (name, old), new: (_, new) } => Difference { name, old: Some(old), new: Some(new) },
        }
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

fn entries(directory: &Directory, pages: Range<usize>) -> Result<Vec<(&Name, &Node)>, Errno> {
    let mut entries = Vec::new();
    for page in pages {
        entries.extend(directory.page(page)?.iter());
    }
    Ok(entries)
}

fn merge<'a>(mut old: &[(&'a Name, &'a Node)], mut new: &[(&'a Name, &'a Node)], found: &mut Vec<Difference<'a>>) {
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
            found.push(Difference { name, old: was, new: is });
        }
    }
}
