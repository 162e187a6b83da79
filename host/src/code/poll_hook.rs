//! A hook that a thread polls while it works for long, so that an embedding program can look for signals there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Minimum time between two calls of a thread's poll hook.
const INTERVAL: Duration = Duration::from_millis(20);

thread_local! {
    static HOOK: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// Time of the last call of this thread's hook.
    static LAST_CALL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs `work` on this thread and calls `hook` on it about every 20 ms meanwhile, while scripts and tools run and while
/// the thread waits for others. The hook may cancel the run. It must wait neither for that nor for anyone who waits for
/// this thread.
pub fn attended<T>(hook: impl Fn() + 'static, work: impl FnOnce() -> T) -> T {
    let _guard = HookGuard(HOOK.replace(Some(Rc::new(hook))));
    LAST_CALL.set(Some(Instant::now()));
    work()
}

/// Guard that restores the thread's previous hook when it is dropped, also by a panic.
struct HookGuard(Option<Rc<dyn Fn()>>);

impl Drop for HookGuard {
    fn drop(&mut self) {
        HOOK.set(self.0.take());
    }
}

/// Calls this thread's hook if one is set and due. Called without a lock, wherever a thread checks whether it must
/// stop.
pub(crate) fn poll() {
    let now = || LAST_CALL.get().is_none_or(|last| last.elapsed() >= INTERVAL);
    if let Some(hook) = HOOK.with_borrow(Clone::clone)
        && now()
    {
        LAST_CALL.set(Some(Instant::now()));
        hook();
    }
}

/// Returns how long this thread may sleep at a time if it has a hook.
pub(crate) fn max_sleep() -> Option<Duration> {
    HOOK.with_borrow(Option::is_some).then_some(INTERVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_hook_runs_at_intervals_only_while_its_thread_works() {
        let (outer, inner) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let count = |seen: &Rc<Cell<u32>>| {
            let seen = Rc::clone(seen);
            move || seen.set(seen.get() + 1)
        };
        let work = || {
            poll();
            std::thread::sleep(INTERVAL);
            poll();
            poll();
        };
        let begun = Instant::now();
        attended(count(&outer), || {
            assert_eq!(max_sleep(), Some(INTERVAL));
            work();
            attended(count(&inner), work);
            work();
        });
        let seen = (outer.get(), inner.get());
        assert!(seen.0 >= 2 && seen.1 >= 1, "{seen:?}");
        let most = begun.elapsed().as_nanos() / INTERVAL.as_nanos();
        assert!(u128::from(seen.0 + seen.1) <= most, "{seen:?} of {most}");
        work();
        assert_eq!((outer.get(), inner.get(), max_sleep()), (seen.0, seen.1, None));
    }
}
