//! Directories, in pages: in memory as in the store, so that looking at an entry loads one page and a change rewrites one.
//!
//! A name whose hash is one of 1 in [`PAGE_ENTRIES`](super::scale::PAGE_ENTRIES) begins a page; the first page begins
//! before every name, and may be empty. So a directory's pages follow from its names alone.
//!
//! A directory or a page that came from a store is loaded when it is first looked into, and checked then: its sums must be
//! those that were claimed where it is named. What fails to load can be tried again.

use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use imbl::OrdMap;

use super::errno::Errno;
use super::node::{Meta, Name, Node, Sums};
use super::scale::{PAGE_ENTRIES, ends_part};
use super::snapshot::load::{self, Claim};
use super::stored::{Origin, Seal};
use crate::store::BlobId;

/// The entries of a page.
pub(super) type Entries = OrdMap<Name, Node>;

#[derive(Debug, Clone)]
pub(super) struct Directory {
    pub(super) meta: Meta,
    sums: Sums,
    /// Sorted, never empty. A vector: changing one of a shared directory's pages copies 72 bytes for each of the others,
    /// which is what writing the list of them costs anyway.
    pages: OnceLock<Vec<Slot>>,
    unloaded: Option<Unloaded>,
    seal: Seal,
}

/// A page in its directory.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// The least name that it can hold, which it does hold unless it is the empty one.
    pub(super) first: Name,
    pub(super) sums: Sums,
    pub(super) page: Arc<Page>,
}

#[derive(Debug, Clone)]
pub(super) struct Page {
    entries: OnceLock<Entries>,
    unloaded: Option<Unloaded>,
    pub(super) seal: Seal,
}

/// Where something is that may not be loaded yet. Its blob is that of its seal: nothing changes before it is loaded.
#[derive(Debug, Clone)]
pub(super) struct Unloaded {
    pub(super) origin: Arc<Origin>,
    /// The id of its first entry.
    pub(super) first_id: u64,
}

/// Whether a name begins a page.
pub(super) fn begins_page(name: &str) -> bool {
    ends_part(blake3::hash(name.as_bytes()).as_bytes(), PAGE_ENTRIES)
}

impl Page {
    fn new(entries: Entries) -> Arc<Page> {
        Arc::new(Page { entries: OnceLock::from(entries), unloaded: None, seal: Seal::default() })
    }

    /// A page of a store.
    pub(super) fn stored(id: BlobId, unloaded: Unloaded) -> Arc<Page> {
        let seal = Seal::new(id, unloaded.origin.place());
        Arc::new(Page { entries: OnceLock::new(), unloaded: Some(unloaded), seal })
    }

    /// The entries, if they are loaded; else, where they are.
    pub(super) fn peek(&self) -> Result<&Entries, Option<&Unloaded>> {
        self.entries.get().ok_or(self.unloaded.as_ref())
    }

    /// The entries, to be changed. They must be loaded.
    fn change(&mut self) -> &mut Entries {
        (self.unloaded, self.seal) = (None, Seal::default());
        self.entries.get_mut().expect("who changes a page has loaded it")
    }
}

impl Slot {
    fn new(first: Name, entries: Entries) -> Slot {
        let mut sums = Sums::default();
        for (name, node) in &entries {
            sums.exchange(Sums::default(), Sums::of(name, node), std::iter::empty());
        }
        Slot { first, sums, page: Page::new(entries) }
    }

    /// Changes the entry `name`, of which the page knows or is to know, and its sums with it.
    fn exchange(&mut self, name: &str, change: impl FnOnce(&mut Entries)) {
        let entries = Arc::make_mut(&mut self.page).change();
        let sums = |entries: &Entries| entries.get(name).map_or_else(Sums::default, |node| Sums::of(name, node));
        let before = sums(entries);
        change(entries);
        let after = sums(entries);
        self.sums.exchange(before, after, entries.iter().map(|(name, node)| node.reach().above(name.len())));
    }
}

impl Directory {
    pub(super) fn new(meta: Meta) -> Directory {
        let pages = OnceLock::from(vec![Slot::new(Name::from(""), Entries::new())]);
        Directory { meta, sums: Sums::default(), pages, unloaded: None, seal: Seal::default() }
    }

    /// A directory of a store.
    pub(super) fn stored(meta: Meta, sums: Sums, id: BlobId, origin: &Arc<Origin>) -> Directory {
        let unloaded = Some(Unloaded { origin: Arc::clone(origin), first_id: meta.id + 1 });
        Directory { meta, sums, pages: OnceLock::new(), unloaded, seal: Seal::new(id, origin.place()) }
    }

    pub(super) fn sums(&self) -> Sums {
        self.sums
    }

    pub(super) fn seal(&self) -> &Seal {
        &self.seal
    }

    /// The pages, if they are loaded; else, where they are.
    pub(super) fn peek(&self) -> Result<&[Slot], Option<&Unloaded>> {
        self.pages.get().map(Vec::as_slice).ok_or(self.unloaded.as_ref())
    }

    /// The pages, loaded if need be. What is in them may not be loaded.
    pub(super) fn pages(&self) -> Result<&[Slot], Errno> {
        if let Some(pages) = self.pages.get() {
            return Ok(pages);
        }
        let (id, unloaded) = self.seal.id().zip(self.unloaded.as_ref()).ok_or(Errno::Io)?;
        let pages = load::pages(&id, unloaded, self.sums)?;
        Ok(self.pages.get_or_init(|| pages))
    }

    /// The entries of a page, loaded if need be.
    pub(super) fn page(&self, index: usize) -> Result<&Entries, Errno> {
        let pages = self.pages()?;
        let slot = pages.get(index).ok_or(Errno::Io)?;
        if let Some(entries) = slot.page.entries.get() {
            return Ok(entries);
        }
        let entries = load::page(&self.claim(index).ok_or(Errno::Io)?)?;
        Ok(slot.page.entries.get_or_init(|| entries))
    }

    /// Whether a page's entries are loaded.
    pub(super) fn is_loaded(&self, index: usize) -> bool {
        self.pages.get().and_then(|pages| pages.get(index)).is_some_and(|slot| slot.page.peek().is_ok())
    }

    /// What is claimed of a page that came from a store.
    pub(super) fn claim(&self, index: usize) -> Option<Claim<'_>> {
        let pages = self.pages.get()?;
        let Slot { first, sums, page } = pages.get(index)?;
        let end = pages.get(index + 1).map(|slot| &*slot.first);
        Some(Claim { id: page.seal.id()?, unloaded: page.unloaded.as_ref()?, first, end, sums: *sums })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sums.entries == 0
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<(&Name, &Node)>, Errno> {
        Ok(self.page(self.place(name)?)?.get_key_value(name))
    }

    /// All entries, sorted by name. Loads all pages first.
    pub(super) fn entries(&self) -> Result<impl Iterator<Item = (&Name, &Node)>, Errno> {
        let pages = (0..self.pages()?.len()).map(|index| self.page(index)).collect::<Result<Vec<_>, _>>()?;
        Ok(pages.into_iter().flat_map(Entries::iter))
    }

    /// The first entry behind a name, or the very first.
    pub(super) fn next(&self, after: Option<&str>) -> Result<Option<(&Name, &Node)>, Errno> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        for index in self.place(after.unwrap_or(""))?..self.pages()?.len() {
            if let Some(found) = self.page(index)?.range::<_, str>((from, Bound::Unbounded)).next() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Enters `node` as `name`, in the place of what was there.
    pub(super) fn put(&mut self, name: Name, node: Node) -> Result<(), Errno> {
        let index = self.place(&name)?;
        let new = !self.page(index)?.contains_key(&name);
        if new && begins_page(&name) {
            self.split(index, name, node);
        } else {
            self.change(index, |slot| {
                let key = Name::clone(&name);
                slot.exchange(&name, |entries| drop(entries.insert(key, node)));
            });
        }
        Ok(())
    }

    /// Takes `name` out.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<Node>, Errno> {
        let index = self.place(name)?;
        let Some(node) = self.page(index)?.get(name).cloned() else { return Ok(None) };
        if index > 0 && begins_page(name) {
            self.page(index - 1)?;
        }
        self.change(index, |slot| slot.exchange(name, |entries| drop(entries.remove(name))));
        if index > 0 && begins_page(name) {
            self.merge(index);
        }
        Ok(Some(node))
    }

    /// Changes the entry `name` in place.
    pub(super) fn alter<R>(&mut self, name: &str, change: impl FnOnce(&mut Node) -> R) -> Result<Option<R>, Errno> {
        let index = self.place(name)?;
        if !self.page(index)?.contains_key(name) {
            return Ok(None);
        }
        let mut result = None;
        self.change(index, |slot| {
            slot.exchange(name, |entries| result = entries.get_mut(name).map(change));
        });
        Ok(result)
    }

    /// Which page a name belongs in.
    fn place(&self, name: &str) -> Result<usize, Errno> {
        // The first page begins with the empty name, which is behind none.
        Ok(self.pages()?.partition_point(|slot| &*slot.first <= name).saturating_sub(1))
    }

    /// Changes a page, which is loaded, and the sums with it.
    fn change(&mut self, index: usize, change: impl FnOnce(&mut Slot)) {
        let pages = self.changed_pages();
        let Some(slot) = pages.get_mut(index) else { return };
        let before = slot.sums;
        change(slot);
        let after = slot.sums;
        let Directory { sums, pages, .. } = self;
        let pages = pages.get().into_iter().flatten();
        sums.exchange(before, after, pages.map(|slot| slot.sums.reach));
    }

    /// The pages, to be changed. They must be loaded.
    fn changed_pages(&mut self) -> &mut Vec<Slot> {
        (self.unloaded, self.seal) = (None, Seal::default());
        self.pages.get_mut().expect("who changes a directory has loaded its pages")
    }

    /// Enters a name that begins a page.
    fn split(&mut self, index: usize, name: Name, node: Node) {
        let added = Sums::of(&name, &node);
        let pages = self.changed_pages();
        let Some(slot) = pages.get_mut(index) else { return };
        let (left, mut right) = Arc::make_mut(&mut slot.page).change().split(&name);
        right.insert(Name::clone(&name), node);
        *slot = Slot::new(Name::clone(&slot.first), left);
        pages.insert(index + 1, Slot::new(name, right));
        self.sums.exchange(Sums::default(), added, std::iter::empty());
    }

    /// Joins a page, whose first name has been taken out, to the one before.
    fn merge(&mut self, index: usize) {
        let pages = self.changed_pages();
        let mut right = pages.remove(index);
        if let Some(left) = pages.get_mut(index - 1) {
            let right = std::mem::take(Arc::make_mut(&mut right.page).change());
            let mut entries = std::mem::take(Arc::make_mut(&mut left.page).change());
            entries.extend(right);
            *left = Slot::new(Name::clone(&left.first), entries);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::compare::all_differences;
    use super::super::content::Content;
    use super::super::node::Reach;
    use super::super::snapshot::seal_directory;
    use super::*;
    use crate::store::{BlobSource, MemoryBlobs};

    /// Name to time, which stands for all that can be different.
    type Model = BTreeMap<String, u64>;

    #[derive(Debug, Clone)]
    enum Step {
        Put(u8, u64),
        Take(u8),
        Alter(u8, u64),
        Fork,
        Reopen,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0..60_u8, 0..4_u64).prop_map(|(name, time)| Step::Put(name, time)),
            4 => (0..60_u8).prop_map(Step::Take),
            2 => (0..60_u8, 0..4_u64).prop_map(|(name, time)| Step::Alter(name, time)),
            1 => Just(Step::Fork),
            1 => Just(Step::Reopen),
        ]
    }

    const META: Meta = Meta { id: 1, mode: 0o755, modified: 0 };

    fn name(n: u8) -> Name {
        // Of many lengths, so that what reaches farthest changes.
        Name::from(format!("{n}{}", "n".repeat(usize::from(n % 7))))
    }

    fn node(time: u64) -> Node {
        Node::file(Meta { id: 0, mode: 0o644, modified: time }, Content::new())
    }

    fn seen(directory: &Directory) -> Model {
        let entries = directory.entries().expect("all is there");
        entries.map(|(name, node)| (name.to_string(), node.meta().modified)).collect()
    }

    fn seal(directory: &Directory, blobs: &MemoryBlobs) -> BlobId {
        seal_directory(directory, &mut &*blobs).expect("all is there")
    }

    fn reopen(directory: &Directory, blobs: &Arc<MemoryBlobs>) -> Directory {
        let id = seal(directory, blobs);
        Directory::stored(META, directory.sums(), id, &Origin::new(Arc::clone(blobs) as Arc<dyn BlobSource>))
    }

    /// Pages are where the names say, and every sum is what it sums.
    fn check(directory: &Directory) {
        let slots = directory.pages().expect("all is there");
        let mut whole = Sums::default();
        for (index, slot) in slots.iter().enumerate() {
            let entries = directory.page(index).expect("all is there");
            let mut sums = Sums::default();
            for (at, (name, node)) in entries.iter().enumerate() {
                assert_eq!(begins_page(name), at == 0 && index > 0, "{name}");
                sums = sums.and(Sums::of(name, node)).expect("small");
            }
            let first = if index == 0 { Some("") } else { entries.get_min().map(|(name, _)| &**name) };
            assert_eq!(first, Some(&*slot.first));
            assert_eq!(slot.sums, sums);
            whole = whole.and(sums).expect("small");
        }
        assert_eq!(directory.sums(), whole);
    }

    fn of(model: &Model) -> Directory {
        let mut directory = Directory::new(META);
        for (name, time) in model.iter().rev() {
            directory.put(Name::from(name.as_str()), node(*time)).expect("all is there");
        }
        directory
    }

    fn expected(old: &Model, new: &Model) -> Vec<String> {
        let names: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
        names.into_iter().filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

        #[test]
        fn behaves_as_a_map_and_knows_no_history(steps in prop::collection::vec(step(), 1..120)) {
            let blobs = Arc::new(MemoryBlobs::default());
            let (mut directory, mut model) = (Directory::new(META), Model::new());
            let mut forks = vec![(directory.clone(), model.clone())];
            for step in &steps {
                match step {
                    Step::Put(n, time) => {
                        directory.put(name(*n), node(*time)).expect("all is there");
                        model.insert(name(*n).to_string(), *time);
                    }
                    Step::Take(n) => {
                        let taken = directory.take(&name(*n)).expect("all is there");
                        prop_assert_eq!(taken.map(|node| node.meta().modified), model.remove(&*name(*n)));
                    }
                    Step::Alter(n, time) => {
                        let altered = directory.alter(&name(*n), |node| node.meta_mut().modified = *time);
                        let known = model.get_mut(&*name(*n)).map(|known| *known = *time);
                        prop_assert_eq!(altered.expect("all is there"), known);
                    }
                    Step::Fork => forks.push((directory.clone(), model.clone())),
                    Step::Reopen => directory = reopen(&directory, &blobs),
                }
                check(&directory);
            }
            prop_assert_eq!(seal(&directory, &blobs), seal(&of(&model), &blobs));
            prop_assert_eq!(&seen(&directory), &model);
            let next = |after: &str| directory.next(Some(after)).expect("all is there").map(|(name, _)| name.to_string());
            for n in 0..60 {
                let later = model.range::<str, _>((Bound::Excluded(&*name(n)), Bound::Unbounded)).next();
                prop_assert_eq!(next(&name(n)), later.map(|(name, _)| name.clone()));
            }
            for (fork, then) in forks {
                prop_assert_eq!(&seen(&fork), &then);
                prop_assert_eq!(seal(&fork, &blobs) == seal(&directory, &blobs), then == model);
                for (old, new) in [(fork.clone(), directory.clone()), (reopen(&fork, &blobs), reopen(&directory, &blobs))] {
                    let found = all_differences(&[(Some(&old), Some(&new))]).expect("all is there").into_iter().flatten();
                    let found = found.filter(|difference| {
                        let time = |node: &Option<Node>| node.as_ref().map(|node| node.meta().modified);
                        time(&difference.old) != time(&difference.new)
                    });
                    let found: Vec<_> = found.map(|difference| difference.name.to_string()).collect();
                    prop_assert_eq!(found, expected(&then, &model));
                }
            }
        }
    }

    #[test]
    fn what_reaches_farthest_is_known_when_it_is_gone() {
        let mut directory = Directory::new(META);
        for n in 0..50 {
            directory.put(name(n), node(0)).expect("all is there");
        }
        assert_eq!(directory.sums().reach, Reach { levels: 1, bytes: 9 });
        for n in (0..50).filter(|n| n % 7 == 6) {
            directory.take(&name(n)).expect("all is there");
        }
        assert_eq!(directory.sums().reach, Reach { levels: 1, bytes: 8 });
    }

    #[test]
    fn what_is_compared_in_the_store_is_not_loaded() {
        let blobs = Arc::new(MemoryBlobs::default());
        let old: Model = (0..60).map(|n| (name(n).to_string(), 0)).collect();
        let mut new = old.clone();
        new.values_mut().step_by(3).for_each(|time| *time = 1);
        let (left, right) = (reopen(&of(&old), &blobs), reopen(&of(&new), &blobs));
        let found = all_differences(&[(Some(&left), Some(&right))]).expect("all is there");
        assert_eq!(found.into_iter().flatten().count(), 20);
        for directory in [left, right] {
            assert!((0..directory.pages().expect("all is there").len()).all(|page| !directory.is_loaded(page)));
        }
    }

    // Its counts are those of small parts.
    #[cfg(not(feature = "format-sizes"))]
    #[test]
    fn a_change_loads_the_page_that_it_touches() {
        let blobs = Arc::new(MemoryBlobs::default());
        let whole = of(&(0..60).map(|n| (name(n).to_string(), 0)).collect());
        let mut directory = reopen(&whole, &blobs);
        directory.put(name(7), node(1)).expect("all is there");
        let slots = directory.pages().expect("all is there");
        assert!(slots.len() > 5);
        assert_eq!(slots.iter().filter(|slot| slot.page.peek().is_ok()).count(), 1);
    }
}
