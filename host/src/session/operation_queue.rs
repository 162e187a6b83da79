//! Operations that wait, in an order, and any of which may be cancelled.

use std::collections::{BTreeMap, HashMap};

use crate::guest::OperationId;

/// Operations in the order of a key, each with a value. An operation is found by its id too, so that a script which cancels
/// thousands of them one by one takes no search among the others for each.
pub(super) struct OperationQueue<K, V> {
    operations: BTreeMap<(K, OperationId), V>,
    keys: HashMap<OperationId, K>,
}

impl<K: Copy + Ord, V> OperationQueue<K, V> {
    pub(super) fn new() -> Self {
        Self { operations: BTreeMap::new(), keys: HashMap::new() }
    }

    /// Adds an operation, in place of one with the same id, which is returned.
    pub(super) fn insert(&mut self, key: K, id: OperationId, value: V) -> Option<V> {
        let earlier = self.remove(id);
        self.keys.insert(id, key);
        self.operations.insert((key, id), value);
        earlier
    }

    /// Returns the first operation, with its key.
    pub(super) fn first(&self) -> Option<(K, OperationId, &V)> {
        self.operations.first_key_value().map(|((key, id), value)| (*key, *id, value))
    }

    /// Removes the first operation and returns it.
    pub(super) fn pop(&mut self) -> Option<(OperationId, V)> {
        let ((_, id), value) = self.operations.pop_first()?;
        self.keys.remove(&id);
        Some((id, value))
    }

    /// Removes the operation with an id and returns it, if it is there.
    pub(super) fn remove(&mut self, id: OperationId) -> Option<V> {
        let key = self.keys.remove(&id)?;
        self.operations.remove(&(key, id))
    }

    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn operations_leave_in_order_of_keys_and_cancelled_ones_never(
            steps in prop::collection::vec((0..40_u64, 0..6_u32, 0..3_u8), 0..120),
        ) {
            let mut queue = OperationQueue::new();
            let mut model: Vec<(u32, OperationId, u64)> = Vec::new();
            for (value, (id, key, step)) in (0_u64..).zip(steps) {
                let known = model.iter().position(|(_, known, _)| *known == id);
                match step {
                    0 => {
                        let earlier = known.map(|known| model.remove(known).2);
                        prop_assert_eq!(queue.insert(key, id, value), earlier);
                        model.push((key, id, value));
                        model.sort_unstable();
                    }
                    1 => prop_assert_eq!(queue.remove(id), known.map(|known| model.remove(known).2)),
                    _ => {
                        let first = (!model.is_empty()).then(|| model.remove(0));
                        prop_assert_eq!(queue.pop(), first.map(|(_, id, value)| (id, value)));
                    }
                }
                prop_assert_eq!(queue.first(), model.first().map(|(key, id, value)| (*key, *id, value)));
                prop_assert_eq!((queue.len(), queue.is_empty()), (model.len(), model.is_empty()));
            }
        }
    }
}
