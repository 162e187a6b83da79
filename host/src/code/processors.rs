//! The number of processors.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

/// Returns the number of processors that this process may use: those of its affinity, or fewer if its control groups have
/// a quota.
///
/// It is read at the first call, and is the same ever after: reading it takes 50 us, and a process that is confined cannot
/// read the quota any more.
#[must_use]
pub fn processor_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}
