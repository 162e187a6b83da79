//! The table: what was measured, its aim, and what others take.

use std::time::{Duration, Instant};

/// The heads of the columns.
pub(crate) fn head() {
    println!("{:<58} {:>11} {:>8} {:>11} {:>11}", "", "tollhouse", "aim", "node", "seed");
}

/// A time, beside Node.js's and the seed's.
pub(crate) fn row(what: &str, own: Duration, aim: &str, node: Option<Duration>, seed: Option<Duration>) {
    let (node, seed) = (node.map(time).unwrap_or_default(), seed.map(time).unwrap_or_default());
    println!("{what:<58} {:>11} {aim:>8} {node:>11} {seed:>11}", time(own));
}

/// A figure that nobody else has.
pub(crate) fn figure(what: &str, own: &str, aim: &str) {
    println!("{what:<58} {own:>11} {aim:>8}");
}

/// A time, in the unit that suits it.
pub(crate) fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..10.0 => format!("{micros:.2} us"),
        ..1_000.0 => format!("{micros:.0} us"),
        _ => format!("{:.1} ms", micros / 1e3),
    }
}

/// Bytes, in the unit that suits them.
pub(crate) fn bytes(bytes: f64) -> String {
    match bytes {
        ..1e6 => format!("{:.1} KB", bytes / 1e3),
        _ => format!("{:.2} MB", bytes / 1e6),
    }
}

/// Returns the throughput of this many bytes, as text.
pub(crate) fn rate(bytes: u64, time: Duration) -> String {
    format!("{:.0} MB/s", bytes as f64 / 1e6 / time.as_secs_f64())
}

/// Returns the duration of some work.
pub(crate) fn taken(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// The median of so many rounds, behind one that does not count.
pub(crate) fn median(rounds: usize, mut round: impl FnMut()) -> Duration {
    median_of(rounds, || taken(&mut round))
}

/// Returns the median as [`median`] does, of rounds that report the duration of their part that counts.
pub(crate) fn median_of(rounds: usize, mut round: impl FnMut() -> Duration) -> Duration {
    round();
    let mut times: Vec<Duration> = (0..rounds).map(|_| round()).collect();
    times.sort();
    times[rounds / 2]
}
