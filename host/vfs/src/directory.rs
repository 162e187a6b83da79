//! Directories in pages, in memory as in the store, so that looking up an entry loads one page and a change rewrites
//! one.
//!
//! A name begins a page if its hash is one of 1 in [`PAGE_ENTRIES`](super::format_params::PAGE_ENTRIES); the first page
//! begins before every name, and may be empty. So the pages of a directory follow from its names alone.
//!
//! A directory or a page from a store is loaded when it is first accessed, and then checked: its sums must match those
//! claimed where it is referred to. A failed load can be retried.

use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use imbl::OrdMap;

use super::blob_ref::{BlobOrigin, BlobSeal};
use super::errno::Errno;
use super::format_params::{PAGE_ENTRIES, ends_part};
use super::node::{EntryMeta, Name, SubtreeSums, TreeNode};
use super::snapshot::load::{self, PageClaim};
use tollhouse_store::BlobId;

/// The entries of a page, by name.
pub(super) type Entries = OrdMap<Name, TreeNode>;

#[derive(Debug, Clone)]
pub(super) struct DirectoryNode {
    pub(super) meta: EntryMeta,
    sums: SubtreeSums,
    /// The pages, sorted, never empty. In a vector: changing one page of a shared directory copies 72 bytes for each of
    /// the others, which is what writing the list of pages costs anyway.
    pages: OnceLock<Vec<PageSlot>>,
    unloaded: Option<UnloadedPart>,
    seal: BlobSeal,
}

/// A page in the list of its directory.
#[derive(Debug, Clone)]
pub(super) struct PageSlot {
    /// Lower bound of the names in the page. The page contains this name, unless it is the empty one.
    pub(super) first: Name,
    pub(super) sums: SubtreeSums,
    pub(super) page: Arc<DirectoryPage>,
}

#[derive(Debug, Clone)]
pub(super) struct DirectoryPage {
    entries: OnceLock<Entries>,
    unloaded: Option<UnloadedPart>,
    pub(super) seal: BlobSeal,
}

/// Location of a part that may not be loaded yet. Its blob is that of its seal, since parts are loaded before they are
/// changed.
#[derive(Debug, Clone)]
pub(super) struct UnloadedPart {
    pub(super) origin: Arc<BlobOrigin>,
    /// Id of the first entry of the part.
    pub(super) first_id: u64,
}

/// Returns true if a name begins a page.
pub(super) fn begins_page(name: &str) -> bool {
    ends_part(blake3::hash(name.as_bytes()).as_bytes(), PAGE_ENTRIES)
}

impl DirectoryPage {
    fn new(entries: Entries) -> Arc<DirectoryPage> {
        Arc::new(DirectoryPage { entries: OnceLock::from(entries), unloaded: None, seal: BlobSeal::default() })
    }

    /// Creates a page that is read from a store.
    pub(super) fn stored(id: BlobId, unloaded: UnloadedPart) -> Arc<DirectoryPage> {
        let seal = BlobSeal::new(id, unloaded.origin.place());
        Arc::new(DirectoryPage { entries: OnceLock::new(), unloaded: Some(unloaded), seal })
    }

    /// Returns the entries if they are loaded, otherwise their location.
    pub(super) fn peek(&self) -> Result<&Entries, Option<&UnloadedPart>> {
        self.entries.get().ok_or(self.unloaded.as_ref())
    }

    /// Returns the entries for a change. They must be loaded.
    fn change(&mut self) -> &mut Entries {
        (self.unloaded, self.seal) = (None, BlobSeal::default());
        self.entries.get_mut().expect("who changes a page has loaded it")
    }
}

impl PageSlot {
    fn new(first: Name, entries: Entries) -> PageSlot {
        let mut sums = SubtreeSums::default();
        for (name, node) in &entries {
            sums.exchange(SubtreeSums::default(), SubtreeSums::of(name, node), std::iter::empty());
        }
        PageSlot { first, sums, page: DirectoryPage::new(entries) }
    }

    /// Changes the entry `name` of the page, and updates the sums.
    fn exchange(&mut self, name: &str, change: impl FnOnce(&mut Entries)) {
        let entries = Arc::make_mut(&mut self.page).change();
        let sums =
            |entries: &Entries| entries.get(name).map_or_else(SubtreeSums::default, |node| SubtreeSums::of(name, node));
        let before = sums(entries);
        change(entries);
        let after = sums(entries);
        self.sums.exchange(before, after, entries.iter().map(|(name, node)| node.reach().above(name.len())));
    }
}

impl DirectoryNode {
    pub(super) fn new(meta: EntryMeta) -> DirectoryNode {
        let pages = OnceLock::from(vec![PageSlot::new(Name::from(""), Entries::new())]);
        DirectoryNode { meta, sums: SubtreeSums::default(), pages, unloaded: None, seal: BlobSeal::default() }
    }

    /// Creates a directory that is read from a store.
    pub(super) fn stored(meta: EntryMeta, sums: SubtreeSums, id: BlobId, origin: &Arc<BlobOrigin>) -> DirectoryNode {
        let unloaded = Some(UnloadedPart { origin: Arc::clone(origin), first_id: meta.id + 1 });
        DirectoryNode { meta, sums, pages: OnceLock::new(), unloaded, seal: BlobSeal::new(id, origin.place()) }
    }

    pub(super) fn sums(&self) -> SubtreeSums {
        self.sums
    }

    pub(super) fn seal(&self) -> &BlobSeal {
        &self.seal
    }

    /// Returns the pages if they are loaded, otherwise their location.
    pub(super) fn peek(&self) -> Result<&[PageSlot], Option<&UnloadedPart>> {
        self.pages.get().map(Vec::as_slice).ok_or(self.unloaded.as_ref())
    }

    /// Returns the pages, loading the list if necessary. Their entries may not be loaded.
    pub(super) fn pages(&self) -> Result<&[PageSlot], Errno> {
        if let Some(pages) = self.pages.get() {
            return Ok(pages);
        }
        let (id, unloaded) = self.seal.id().zip(self.unloaded.as_ref()).ok_or(Errno::Io)?;
        let pages = load::pages(&id, unloaded, self.sums)?;
        Ok(self.pages.get_or_init(|| pages))
    }

    /// Returns the entries of a page, loading them if necessary.
    pub(super) fn page(&self, index: usize) -> Result<&Entries, Errno> {
        let pages = self.pages()?;
        let slot = pages.get(index).ok_or(Errno::Io)?;
        if let Some(entries) = slot.page.entries.get() {
            return Ok(entries);
        }
        let entries = load::page(&self.claim(index).ok_or(Errno::Io)?)?;
        Ok(slot.page.entries.get_or_init(|| entries))
    }

    /// Returns true if the entries of a page are loaded.
    pub(super) fn is_loaded(&self, index: usize) -> bool {
        self.pages.get().and_then(|pages| pages.get(index)).is_some_and(|slot| slot.page.peek().is_ok())
    }

    /// Returns the claims about a page that came from a store.
    pub(super) fn claim(&self, index: usize) -> Option<PageClaim<'_>> {
        let pages = self.pages.get()?;
        let PageSlot { first, sums, page } = pages.get(index)?;
        let end = pages.get(index + 1).map(|slot| &*slot.first);
        Some(PageClaim { id: page.seal.id()?, unloaded: page.unloaded.as_ref()?, first, end, sums: *sums })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sums.entries == 0
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<(&Name, &TreeNode)>, Errno> {
        Ok(self.page(self.place(name)?)?.get_key_value(name))
    }

    /// Returns all entries, sorted by name. Loads all pages first.
    pub(super) fn entries(&self) -> Result<impl Iterator<Item = (&Name, &TreeNode)>, Errno> {
        let pages = (0..self.pages()?.len()).map(|index| self.page(index)).collect::<Result<Vec<_>, _>>()?;
        Ok(pages.into_iter().flat_map(Entries::iter))
    }

    /// Returns the first entry after a name, or the very first.
    pub(super) fn next(&self, after: Option<&str>) -> Result<Option<(&Name, &TreeNode)>, Errno> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        for index in self.place(after.unwrap_or(""))?..self.pages()?.len() {
            if let Some(found) = self.page(index)?.range::<_, str>((from, Bound::Unbounded)).next() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Adds `node` as `name`, replacing an existing entry.
    pub(super) fn put(&mut self, name: Name, node: TreeNode) -> Result<(), Errno> {
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

    /// Removes the entry `name`.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<TreeNode>, Errno> {
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
    pub(super) fn alter<R>(&mut self, name: &str, change: impl FnOnce(&mut TreeNode) -> R) -> Result<Option<R>, Errno> {
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

    /// Index of the page that a name belongs to.
    fn place(&self, name: &str) -> Result<usize, Errno> {
        // The first page begins with the empty name, which sorts before all names.
        Ok(self.pages()?.partition_point(|slot| &*slot.first <= name).saturating_sub(1))
    }

    /// Changes a page and updates the sums. The caller has loaded it with [`Self::page`], so the index is one of a page.
    fn change(&mut self, index: usize, change: impl FnOnce(&mut PageSlot)) {
        let slot = &mut self.changed_pages()[index];
        let before = slot.sums;
        change(slot);
        let after = slot.sums;
        let DirectoryNode { sums, pages, .. } = self;
        let pages = pages.get().into_iter().flatten();
        sums.exchange(before, after, pages.map(|slot| slot.sums.reach));
    }

    /// Returns the pages for a change. They must be loaded.
    fn changed_pages(&mut self) -> &mut Vec<PageSlot> {
        (self.unloaded, self.seal) = (None, BlobSeal::default());
        self.pages.get_mut().expect("who changes a directory has loaded its pages")
    }

    /// Adds a name that begins a page to the page before it, which the caller has loaded with [`Self::page`].
    fn split(&mut self, index: usize, name: Name, node: TreeNode) {
        let added = SubtreeSums::of(&name, &node);
        let pages = self.changed_pages();
        let slot = &mut pages[index];
        let (left, mut right) = Arc::make_mut(&mut slot.page).change().split(&name);
        right.insert(Name::clone(&name), node);
        *slot = PageSlot::new(Name::clone(&slot.first), left);
        pages.insert(index + 1, PageSlot::new(name, right));
        self.sums.exchange(SubtreeSums::default(), added, std::iter::empty());
    }

    /// Merges a page, whose first name has been removed, into the previous one. The caller has loaded both with
    /// [`Self::page`].
    fn merge(&mut self, index: usize) {
        let pages = self.changed_pages();
        let mut right = pages.remove(index);
        let left = &mut pages[index - 1];
        let right = std::mem::take(Arc::make_mut(&mut right.page).change());
        let mut entries = std::mem::take(Arc::make_mut(&mut left.page).change());
        entries.extend(right);
        *left = PageSlot::new(Name::clone(&left.first), entries);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::compare::all_differences;
    use super::super::content::Content;
    use super::super::node::PathExtent;
    use super::super::snapshot::seal_directory;
    use super::*;
    use tollhouse_store::{BlobSource, MemoryBlobs};

    /// Maps names to times, which stand for everything that can differ.
    type Model = BTreeMap<String, u64>;

    #[derive(Debug, Clone)]
    enum DirectoryStep {
        Put(u8, u64),
        Take(u8),
        Alter(u8, u64),
        Fork,
        Reopen,
    }

    fn step() -> impl Strategy<Value = DirectoryStep> {
        prop_oneof![
            6 => (0..60_u8, 0..4_u64).prop_map(|(name, time)| DirectoryStep::Put(name, time)),
            4 => (0..60_u8).prop_map(DirectoryStep::Take),
            2 => (0..60_u8, 0..4_u64).prop_map(|(name, time)| DirectoryStep::Alter(name, time)),
            1 => Just(DirectoryStep::Fork),
            1 => Just(DirectoryStep::Reopen),
        ]
    }

    const META: EntryMeta = EntryMeta { id: 1, mode: 0o755, modified: 0 };

    fn name(n: u8) -> Name {
        // Names of many lengths, so that the longest path changes.
        Name::from(format!("{n}{}", "n".repeat(usize::from(n % 7))))
    }

    fn node(time: u64) -> TreeNode {
        TreeNode::file(EntryMeta { id: 0, mode: 0o644, modified: time }, Content::new())
    }

    fn seen(directory: &DirectoryNode) -> Model {
        let entries = directory.entries().expect("all is there");
        entries.map(|(name, node)| (name.to_string(), node.meta().modified)).collect()
    }

    fn seal(directory: &DirectoryNode, blobs: &MemoryBlobs) -> BlobId {
        seal_directory(directory, &mut &*blobs).expect("all is there")
    }

    fn reopen(directory: &DirectoryNode, blobs: &Arc<MemoryBlobs>) -> DirectoryNode {
        let id = seal(directory, blobs);
        DirectoryNode::stored(META, directory.sums(), id, &BlobOrigin::new(Arc::clone(blobs) as Arc<dyn BlobSource>))
    }

    /// Checks that pages begin where the names demand, and that all sums are correct.
    fn check(directory: &DirectoryNode) {
        let slots = directory.pages().expect("all is there");
        let mut whole = SubtreeSums::default();
        for (index, slot) in slots.iter().enumerate() {
            let entries = directory.page(index).expect("all is there");
            let mut sums = SubtreeSums::default();
            for (at, (name, node)) in entries.iter().enumerate() {
                assert_eq!(begins_page(name), at == 0 && index > 0, "{name}");
                sums = sums.and(SubtreeSums::of(name, node)).expect("small");
            }
            let first = if index == 0 { Some("") } else { entries.get_min().map(|(name, _)| &**name) };
            assert_eq!(first, Some(&*slot.first));
            assert_eq!(slot.sums, sums);
            whole = whole.and(sums).expect("small");
        }
        assert_eq!(directory.sums(), whole);
    }

    fn of(model: &Model) -> DirectoryNode {
        let mut directory = DirectoryNode::new(META);
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
        fn directory_matches_a_map_and_its_digest_ignores_history(steps in prop::collection::vec(step(), 1..120)) {
            let blobs = Arc::new(MemoryBlobs::default());
            let (mut directory, mut model) = (DirectoryNode::new(META), Model::new());
            let mut forks = vec![(directory.clone(), model.clone())];
            for step in &steps {
                match step {
                    DirectoryStep::Put(n, time) => {
                        directory.put(name(*n), node(*time)).expect("all is there");
                        model.insert(name(*n).to_string(), *time);
                    }
                    DirectoryStep::Take(n) => {
                        let taken = directory.take(&name(*n)).expect("all is there");
                        prop_assert_eq!(taken.map(|node| node.meta().modified), model.remove(&*name(*n)));
                    }
                    DirectoryStep::Alter(n, time) => {
                        let altered = directory.alter(&name(*n), |node| node.meta_mut().modified = *time);
                        let known = model.get_mut(&*name(*n)).map(|known| *known = *time);
                        prop_assert_eq!(altered.expect("all is there"), known);
                    }
                    DirectoryStep::Fork => forks.push((directory.clone(), model.clone())),
                    DirectoryStep::Reopen => directory = reopen(&directory, &blobs),
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
                        let time = |node: &Option<TreeNode>| node.as_ref().map(|node| node.meta().modified);
                        time(&difference.old) != time(&difference.new)
                    });
                    let found: Vec<_> = found.map(|difference| difference.name.to_string()).collect();
                    prop_assert_eq!(found, expected(&then, &model));
                }
            }
        }
    }

    #[test]
    fn directory_reach_shrinks_when_its_longest_entry_is_removed() {
        let mut directory = DirectoryNode::new(META);
        for n in 0..50 {
            directory.put(name(n), node(0)).expect("all is there");
        }
        assert_eq!(directory.sums().reach, PathExtent { levels: 1, bytes: 9 });
        for n in (0..50).filter(|n| n % 7 == 6) {
            directory.take(&name(n)).expect("all is there");
        }
        assert_eq!(directory.sums().reach, PathExtent { levels: 1, bytes: 8 });
    }

    #[test]
    fn directory_comparison_in_the_store_loads_no_pages() {
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

    // The counts are those of small parts.
    #[cfg(not(feature = "format-sizes"))]
    #[test]
    fn directory_change_loads_only_the_page_touched() {
        let blobs = Arc::new(MemoryBlobs::default());
        let whole = of(&(0..60).map(|n| (name(n).to_string(), 0)).collect());
        let mut directory = reopen(&whole, &blobs);
        directory.put(name(7), node(1)).expect("all is there");
        let slots = directory.pages().expect("all is there");
        assert!(slots.len() > 5);
        assert_eq!(slots.iter().filter(|slot| slot.page.peek().is_ok()).count(), 1);
    }
}
