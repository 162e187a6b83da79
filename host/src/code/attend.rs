//! What a thread sees to while it works for long: a program that embeds this one looks for its signals there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How often.
const EVERY: Duration = Duration::from_millis(20);

thread_local! {
    static SEES: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// When it was last seen to.
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Does some work, and meanwhile calls `see` on this thread every 20 ms or so: while scripts and tools run on it, and while it
/// waits for others. It may throw the switch of the run. It must not wait for that, nor for whoever this thread keeps waiting.
pub fn attended<T>(see: impl Fn() + 'static, work: impl FnOnce() -> T) -> T {
    let _before = Before(SEES.replace(Some(Rc::new(see))));
    LAST.set(Some(Instant::now()));
    work()
}

/// What this thread saw to before, which it does again when this is dropped, also by a panic.
struct Before(Option<Rc<dyn Fn()>>);

impl Drop for Before {
    fn drop(&mut self) {
        SEES.set(self.0.take());
    }
}

/// Called wherever a thread looks whether it is to stop, without a lock.
pub(crate) fn see() {
    let now = || LAST.get().is_none_or(|last| last.elapsed() >= EVERY);
    if let Some(see) = SEES.with_borrow(Clone::clone)
        && now()
    {
        LAST.set(Some(Instant::now()));
        see();
    }
}

/// How long this thread may sleep at a time, if it sees to something.
pub(crate) fn sleeps_at_most() -> Option<Duration> {
    SEES.with_borrow(Option::is_some).then_some(EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_sees_to_it_now_and_then_and_only_while_it_works() {
        let (outer, inner) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let count = |seen: &Rc<Cell<u32>>| {
            let seen = Rc::clone(seen);
            move || seen.set(seen.get() + 1)
        };
        let work = || {
            see();
            std::thread::sleep(EVERY);
            see();
            see();
        };
        let begun = Instant::now();
        attended(count(&outer), || {
            assert_eq!(sleeps_at_most(), Some(EVERY));
            work();
            attended(count(&inner), work);
            work();
        });
        let seen = (outer.get(), inner.get());
        assert!(seen.0 >= 2 && seen.1 >= 1, "{seen:?}");
        let most = begun.elapsed().as_nanos() / EVERY.as_nanos();
        assert!(u128::from(seen.0 + seen.1) <= most, "{seen:?} of {most}");
        work();
        assert_eq!((outer.get(), inner.get(), sleeps_at_most()), (seen.0, seen.1, None));
    }
}
