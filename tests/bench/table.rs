//! The printed table: measured figures, their aims, and the figures of other systems.

use std::time::{Duration, Instant};

/// Prints the header.
pub(crate) fn head() {
    println!("{:<58} {:>11} {:>8} {:>11} {:>11}", "", "tollhouse", "aim", "node", "seed");
}

/// Prints a time, next to those of Node.js and of the seed system.
pub(crate) fn row(what: &str, own: Duration, aim: &str, node: Option<Duration>, seed: Option<Duration>) {
    let (node, seed) = (node.map(time).unwrap_or_default(), seed.map(time).unwrap_or_default());
    println!("{what:<58} {:>11} {aim:>8} {node:>11} {seed:>11}", time(own));
}

/// Prints a figure that is measured for Tollhouse alone.
pub(crate) fn figure(what: &str, own: &str, aim: &str) {
    println!("{what:<58} {own:>11} {aim:>8}");
}

/// Formats a time in a suitable unit.
pub(crate) fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..10.0 => format!("{micros:.2} us"),
        ..1_000.0 => format!("{micros:.0} us"),
        _ => format!("{:.1} ms", micros / 1e3),
    }
}

/// Formats a number of bytes in a suitable unit.
pub(crate) fn bytes(bytes: f64) -> String {
    match bytes {
        ..1e6 => format!("{:.1} KB", bytes / 1e3),
        _ => format!("{:.2} MB", bytes / 1e6),
    }
}

/// Formats a throughput.
pub(crate) fn rate(bytes: u64, time: Duration) -> String {
    format!("{:.0} MB/s", bytes as f64 / 1e6 / time.as_secs_f64())
}

/// Measures the duration of some work.
pub(crate) fn taken(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// Returns the median duration of `rounds` rounds, after one warm-up round.
pub(crate) fn median(rounds: usize, mut round: impl FnMut()) -> Duration {
    median_of(rounds, || taken(&mut round))
}

/// Returns the median like [`median`], for rounds that report a duration themselves.
pub(crate) fn median_of(rounds: usize, mut round: impl FnMut() -> Duration) -> Duration {
    round();
    let mut times: Vec<Duration> = (0..rounds).map(|_| round()).collect();
    times.sort();
    times[rounds / 2]
}
