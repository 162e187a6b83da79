//! A parallel map over many items.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Number of threads. They mostly wait for the disk, so their number does not depend on the processor's cores.
const THREADS: usize = 4;

/// Calls `work` for each item, with several threads if `many`, and returns the results in the order of the items. The
/// first error stops the remaining work.
pub fn parallel_map<T: Sync, R: Send, E: Send>(
    items: &[T],
    many: bool,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    if !many {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return Ok(done) };
            let result = work(item).inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?;
            done.push((at, result));
        }
    };
    thread::scope(|scope| {
        // The calling thread works too: alone, if no other thread can be started.
        let helpers = items.len().min(THREADS).saturating_sub(1);
        let helpers: Vec<_> =
            (0..helpers).map_while(|_| thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let mut done = run();
        for helper in helpers {
            // `work` does not panic; if it does, the panic is propagated.
            let helped = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done = done.and_then(|mut done| {
                done.append(&mut helped?);
                Ok(done)
            });
        }
        let mut done = done?;
        done.sort_unstable_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn parallel_map_visits_each_item_and_returns_an_error() {
        for (count, many) in [(0_u64, true), (1, true), (2, true), (3, true), (100, true), (100, false)] {
            let (sum, items) = (AtomicU64::new(0), (0..count).collect::<Vec<_>>());
            let work = |item: &u64| {
                sum.fetch_add(*item, Ordering::Relaxed);
                Ok::<_, ()>(item * 2)
            };
            let doubled = parallel_map(&items, many, work).expect("no error");
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
            assert_eq!(sum.into_inner(), items.iter().sum::<u64>());
            let failed = parallel_map(&items, many, |item| if *item == count / 2 { Err(*item) } else { Ok(()) });
            assert_eq!(failed.is_err(), count > 0);
        }
    }
}
