//! Progress messages on a terminal, for operations that take long. Without a terminal, nothing is shown.

use std::io::{self, IsTerminal as _, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::format;
use super::stdio::note_part;
use super::terminal_escape::escape_hidden;

/// Shortest duration that is worth a message.
const PATIENCE: Duration = Duration::from_millis(500);

/// Interval at which the message is updated.
const EVERY: Duration = Duration::from_millis(200);

/// Progress line on the terminal's standard error, as long as this value lives.
pub(crate) struct Progress {
    what: Arc<Mutex<String>>,
    bytes: Arc<AtomicU64>,
    all: Arc<AtomicU64>,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to show an operation, with the number of bytes that were counted and the time.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        let (bytes, all, what) = (Arc::default(), Arc::default(), Arc::new(Mutex::new(what.into())));
        let shown = io::stderr().is_terminal().then(|| {
            let (end, ended) = channel::<()>();
            let (what, begun) = (Arc::clone(&what), Instant::now());
            let (bytes, all): (Arc<AtomicU64>, Arc<AtomicU64>) = (Arc::clone(&bytes), Arc::clone(&all));
            let show = move || {
                let mut pause = PATIENCE;
                while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(pause) {
                    pause = EVERY;
                    let what = what.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    say(&line(&what, bytes.load(Ordering::Relaxed), all.load(Ordering::Relaxed), begun.elapsed()));
                }
                if pause == EVERY {
                    say("");
                }
            };
            (end, std::thread::spawn(show))
        });
        Self { what, bytes, all, shown }
    }

    /// Sets the progress in bytes. It is called by whoever moves them.
    pub(crate) fn at(&self, bytes: u64, all: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }

    /// Switches to another operation.
    pub(crate) fn now(&self, what: impl Into<String>) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    }

    /// Counts the bytes that go through a stream.
    pub(crate) fn count<T>(&self, stream: T) -> CountedStream<T> {
        CountedStream { stream, bytes: Arc::clone(&self.bytes) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.shown.take() {
            drop(end);
            // The thread does not panic; if it did, no message of value would be lost.
            let _ = thread.join();
        }
    }
}

/// Overwrites the line. A failed write to a terminal is ignored.
fn say(line: &str) {
    note_part(&format!("\r\x1b[K{}", escape_hidden(line)));
}

fn line(what: &str, bytes: u64, all: u64, elapsed: Duration) -> String {
    /// Width of the bar.
    const WIDE: u64 = 20;
    let seconds = elapsed.as_secs();
    if let Some(done) = bytes.saturating_mul(WIDE).checked_div(all) {
        let done = usize::try_from(done.min(WIDE)).unwrap_or(0);
        let bar = format!("{:<20}", "#".repeat(done));
        format!("{what} [{bar}] {} of {}, {seconds} s", format::size(bytes), format::size(all))
    } else if bytes == 0 {
        format!("{what} … {seconds} s")
    } else {
        format!("{what} … {}, {seconds} s", format::size(bytes))
    }
}

/// Reader or writer whose bytes are counted.
pub(crate) struct CountedStream<T> {
    stream: T,
    bytes: Arc<AtomicU64>,
}

impl<T> CountedStream<T> {
    fn add(&self, count: usize) -> usize {
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        count
    }
}

impl<T: Read> Read for CountedStream<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer).map(|count| self.add(count))
    }
}

impl<T: Write> Write for CountedStream<T> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.write(buffer).map(|count| self.add(count))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_and_shows_bytes_that_pass() {
        let progress = Progress::new("copying");
        let mut written = progress.count(Vec::new());
        io::copy(&mut progress.count([7; 3000].as_slice()), &mut written).expect("it is copied");
        assert_eq!(written.stream.len(), 3000);
        let bytes = progress.bytes.load(Ordering::Relaxed);
        assert_eq!(line("copying", bytes, 0, Duration::from_millis(2900)), "copying … 5.8 KiB, 2 s");
        assert_eq!(line("freeing", 0, 0, Duration::ZERO), "freeing … 0 s");
        let half = line("pulling", 3000, 6000, Duration::from_secs(1));
        assert_eq!(half, "pulling [##########          ] 2.9 KiB of 5.8 KiB, 1 s");
        assert!(line("pulling", u64::MAX, 1, Duration::ZERO).contains(&"#".repeat(20)));
    }
}
