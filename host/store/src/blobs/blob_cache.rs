//! A cache of recently read blobs in memory.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

use crate::BlobId;

/// Memory of an entry besides its bytes: its places in both maps and the header of the bytes.
const ENTRY_OVERHEAD: usize = 200;

/// A least-recently-used cache, bounded by the number of bytes.
#[derive(Debug)]
pub(super) struct BlobCache {
    capacity: usize,
    used: usize,
    /// Counter of uses, for the order of eviction.
    clock: u64,
    entries: HashMap<BlobId, (Bytes, u64)>,
    /// Blobs ordered by their last use.
    by_use: BTreeMap<u64, BlobId>,
}

impl BlobCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, used: 0, clock: 0, entries: HashMap::new(), by_use: BTreeMap::new() }
    }

    pub(super) fn get(&mut self, id: &BlobId) -> Option<Bytes> {
        let (bytes, used) = self.entries.get_mut(id)?;
        self.by_use.remove(used);
        self.clock += 1;
        *used = self.clock;
        self.by_use.insert(self.clock, *id);
        Some(bytes.clone())
    }

    /// Adds a blob, unless it is so large that it would evict a quarter of the rest.
    pub(super) fn insert(&mut self, id: BlobId, bytes: Bytes) {
        if cost(&bytes) > self.capacity / 4 {
            return;
        }
        self.remove(&id);
        self.clock += 1;
        self.used += cost(&bytes);
        self.entries.insert(id, (bytes, self.clock));
        self.by_use.insert(self.clock, id);
        while self.used > self.capacity {
            let Some((_, oldest)) = self.by_use.pop_first() else { break };
            self.remove(&oldest);
        }
    }

    pub(super) fn remove(&mut self, id: &BlobId) {
        if let Some((bytes, used)) = self.entries.remove(id) {
            self.by_use.remove(&used);
            self.used -= cost(&bytes);
        }
    }
}

fn cost(bytes: &Bytes) -> usize {
    bytes.len() + ENTRY_OVERHEAD
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(n: u8) -> BlobId {
        BlobId::from([n; 32])
    }

    #[test]
    fn blob_cache_keeps_the_most_recently_used() {
        let mut cache = BlobCache::new(10 * (100 + ENTRY_OVERHEAD));
        for n in 0..10 {
            cache.insert(id(n), vec![n; 100].into());
        }
        assert!(cache.get(&id(0)).is_some());
        cache.insert(id(10), vec![10; 100].into());
        assert_eq!((cache.get(&id(0)).is_some(), cache.get(&id(1)).is_some()), (true, false));
    }

    #[test]
    fn blob_cache_does_not_keep_large_blobs() {
        let mut cache = BlobCache::new(10_000);
        cache.insert(id(1), vec![0; 5_000].into());
        assert_eq!(cache.get(&id(1)), None);
    }

    proptest! {
        #[test]
        fn blob_cache_stays_within_its_capacity(steps in prop::collection::vec((0..3_u8, 0..20_u8, 0..2_000_usize), 0..200)) {
            let mut cache = BlobCache::new(8_000);
            for (step, n, size) in steps {
                match step {
                    0 => cache.insert(id(n), vec![n; size].into()),
                    1 => cache.remove(&id(n)),
                    _ => if let Some(bytes) = cache.get(&id(n)) {
                        prop_assert!(bytes.iter().all(|byte| *byte == n));
                    },
                }
                let used: usize = cache.entries.values().map(|(bytes, _)| cost(bytes)).sum();
                prop_assert_eq!(used, cache.used);
                prop_assert!(used <= cache.capacity);
                prop_assert_eq!(cache.entries.len(), cache.by_use.len());
            }
        }
    }
}
