//! What a variable or an element holds, and the associative array.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;

use super::super::value::Value;
use crate::commands::awk::bounds::VARIABLE_OVERHEAD_BYTES;

/// Index of an array in the interpreter's arena.
pub(super) type ArrayId = usize;

/// Content of a variable or of an element of an array.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    Scalar(Value),
    Array(ArrayId),
}

impl Slot {
    /// Returns how many bytes of text are held. An array counts its own elements.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Slot::Scalar(value) => value.heap_bytes(),
            Slot::Array(_) => 0,
        }
    }

    /// Returns how many bytes an element counts for that has this content and a key of that length.
    pub(super) fn cost_as_element(&self, key_bytes: usize) -> usize {
        key_bytes + VARIABLE_OVERHEAD_BYTES + self.heap_bytes()
    }
}

/// Associative array that keeps the order of insertion. A deleted element leaves a gap until half of all are gaps.
#[derive(Debug, Default)]
pub(crate) struct AwkArray {
    positions: HashMap<String, usize>,
    entries: Vec<Option<(String, Slot)>>,
    /// True for an untyped variable that was only passed to a function whose parameter is an array. `typeof` still
    /// calls it untyped.
    pub(super) is_untyped: bool,
}

impl AwkArray {
    /// Gaps are not closed in arrays with fewer entries than this: there is little to gain.
    const FEWEST_TO_COMPACT: usize = 32;

    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Slot> {
        let position = *self.positions.get(key)?;
        self.entries[position].as_ref().map(|(_, slot)| slot)
    }

    /// Inserts or replaces an element; returns what was there before.
    pub(super) fn insert(&mut self, key: String, slot: Slot) -> Option<Slot> {
        if let Some(&position) = self.positions.get(&key) {
            let entry = self.entries[position].as_mut()?;
            return Some(std::mem::replace(&mut entry.1, slot));
        }
        self.positions.insert(key.clone(), self.entries.len());
        self.entries.push(Some((key, slot)));
        None
    }

    /// Removes an element and returns it.
    pub(super) fn remove(&mut self, key: &str) -> Option<Slot> {
        let position = self.positions.remove(key)?;
        let removed = self.entries[position].take().map(|(_, slot)| slot);
        if self.entries.len() > Self::FEWEST_TO_COMPACT && self.positions.len() * 2 < self.entries.len() {
            self.compact();
        }
        removed
    }

    /// Closes the gaps that deleted elements left.
    fn compact(&mut self) {
        let entries: Vec<_> = std::mem::take(&mut self.entries).into_iter().flatten().collect();
        self.positions.clear();
        for (position, (key, _)) in entries.iter().enumerate() {
            self.positions.insert(key.clone(), position);
        }
        self.entries = entries.into_iter().map(Some).collect();
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.iter().map(|(key, _)| key.clone()).collect()
    }

    /// Takes all elements out, in order of insertion.
    pub(super) fn drain(&mut self) -> Vec<(String, Slot)> {
        self.positions.clear();
        std::mem::take(&mut self.entries).into_iter().flatten().collect()
    }

    /// Iterates over elements in order of insertion.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Slot)> {
        self.entries.iter().flatten().map(|(key, slot)| (key, slot))
    }
}
