//! Values that are opened once for each key: the sessions of tokens and of subjects.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values by key, with what is known of a value before it is open. While one is being opened, the others can be used.
pub(super) struct OpenedOnce<A, V>(Mutex<Slots<A, V>>);

/// Slots of all keys.
pub(super) type Slots<A, V> = HashMap<String, Arc<Slot<A, V>>>;

/// Slot of a key.
pub(super) struct Slot<A, V> {
    /// What was known before the value was opened.
    pub(super) about: A,
    /// Locked while the value is opened.
    value: Mutex<Option<V>>,
}

impl<A, V> Default for OpenedOnce<A, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<A, V: Clone> OpenedOnce<A, V> {
    /// Returns the value of a key. If it is not there, it is opened, after `make_room` has agreed to another slot. Whoever
    /// asks for the same key meanwhile waits.
    ///
    /// # Errors
    /// Those of `make_room` and `open`; then the key takes no slot.
    pub(super) fn get_or_open<E>(
        &self,
        key: &str,
        about: A,
        make_room: impl FnOnce(&mut Slots<A, V>) -> Result<(), E>,
        open: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let slot = self.slot(key, about, make_room)?;
        let mut value = lock(&slot.value);
        if let Some(value) = &*value {
            return Ok(value.clone());
        }
        match open() {
            Ok(opened) => {
                *value = Some(opened.clone());
                Ok(opened)
            }
            Err(error) => {
                drop(value);
                self.forget_unopened(key, &slot);
                Err(error)
            }
        }
    }

    /// Returns true if a value is open, or is about to be.
    pub(super) fn has_any(&self) -> bool {
        // A lock that is held is that of a value which is being opened.
        lock(&self.0).values().any(|slot| slot.value.try_lock().map_or(true, |value| value.is_some()))
    }

    fn slot<E>(
        &self,
        key: &str,
        about: A,
        make_room: impl FnOnce(&mut Slots<A, V>) -> Result<(), E>,
    ) -> Result<Arc<Slot<A, V>>, E> {
        let mut slots = lock(&self.0);
        if let Some(slot) = slots.get(key) {
            return Ok(Arc::clone(slot));
        }
        make_room(&mut slots)?;
        let slot = Arc::new(Slot { about, value: Mutex::default() });
        slots.insert(key.to_owned(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Removes a slot whose value could not be opened, unless others are about to try.
    fn forget_unopened(&self, key: &str, slot: &Arc<Slot<A, V>>) {
        let mut slots = lock(&self.0);
        let is_there = slots.get(key).is_some_and(|known| Arc::ptr_eq(known, slot));
        // Whoever uses a slot has cloned it under the lock that is held here: the two are the map's and the caller's.
        if is_there && Arc::strong_count(slot) == 2 && lock(&slot.value).is_none() {
            slots.remove(key);
        }
    }
}

/// Locks a mutex. No change can be seen half done, so a poisoned one is still good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    fn room(_: &mut Slots<(), u32>) -> Result<(), &'static str> {
        Ok(())
    }

    #[test]
    fn value_that_takes_long_to_open_holds_up_no_other() {
        let opened = OpenedOnce::default();
        let (opening, opens) = channel();
        let (release, released) = channel();
        thread::scope(|scope| {
            let slow = move || {
                opening.send(()).expect("the test waits for it");
                released.recv().expect("the test goes on");
                Ok(1)
            };
            let opened = &opened;
            let slow = scope.spawn(move || opened.get_or_open("slow", (), room, slow));
            opens.recv().expect("it is being opened");
            assert_eq!(opened.get_or_open("fast", (), room, || Ok(2)), Ok(2));
            release.send(()).expect("it waits");
            assert_eq!(slow.join().expect("no panic"), Ok(1));
        });
        assert_eq!(opened.get_or_open("slow", (), room, || Err("it is open")), Ok(1));
    }

    /// A second session of a token would have its budgets again.
    #[test]
    fn value_that_many_ask_for_at_the_same_time_is_opened_once() {
        let (opened, opens) = (OpenedOnce::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let open = || {
                        opens.fetch_add(1, Ordering::Relaxed);
                        thread::yield_now();
                        Ok(1)
                    };
                    assert_eq!(opened.get_or_open("key", (), room, open), Ok(1));
                });
            }
        });
        assert_eq!(opens.into_inner(), 1);
    }

    #[test]
    fn value_that_cannot_be_opened_takes_no_slot() {
        let opened = OpenedOnce::default();
        let one = |slots: &mut Slots<(), u32>| if slots.is_empty() { Ok(()) } else { Err("it is full") };
        assert_eq!(opened.get_or_open("a", (), one, || Err("no")), Err("no"));
        assert!(!opened.has_any());
        assert_eq!(opened.get_or_open("b", (), one, || Ok(2)), Ok(2));
        assert!(opened.has_any());
        assert_eq!(opened.get_or_open("c", (), one, || Ok(3)), Err("it is full"));
        assert_eq!(opened.get_or_open("b", (), one, || Err("it is open")), Ok(2));
    }
}
