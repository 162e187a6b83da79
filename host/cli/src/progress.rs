//! Says on a terminal how far something is that takes long. Where nobody looks, it says nothing.

use std::io::{self, IsTerminal as _, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::draw;
use super::stdio::note_part;
use super::tame::tame;

/// What takes no longer is not worth a word.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often it is said anew.
const EVERY: Duration = Duration::from_millis(200);

/// A line on the terminal's standard error, as long as this lives.
pub(crate) struct Progress {
    what: Arc<Mutex<String>>,
    bytes: Arc<AtomicU64>,
    all: Arc<AtomicU64>,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to say what is done, with the bytes that were counted and the time.
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

    /// Says how many bytes of how many are through. It is told by whoever moves them.
    pub(crate) fn at(&self, bytes: u64, all: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }

    /// Goes on with something else.
    pub(crate) fn now(&self, what: impl Into<String>) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    }

    /// Counts the bytes that go through.
    pub(crate) fn count<T>(&self, stream: T) -> Counted<T> {
        Counted { stream, bytes: Arc::clone(&self.bytes) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.shown.take() {
            drop(end);
            // It does not panic; if it did, what it says is no loss.
            let _ = thread.join();
        }
    }
}

/// Writes over the line. A terminal that is gone misses nothing.
fn say(line: &str) {
    note_part(&format!("\r\x1b[K{}", tame(line)));
}

fn line(what: &str, bytes: u64, all: u64, elapsed: Duration) -> String {
    /// As wide as a bar is.
    const WIDE: u64 = 20;
    let seconds = elapsed.as_secs();
    if let Some(done) = bytes.saturating_mul(WIDE).checked_div(all) {
        let done = usize::try_from(done.min(WIDE)).unwrap_or(0);
        let bar = format!("{:<20}", "#".repeat(done));
        format!("{what} [{bar}] {} of {}, {seconds} s", draw::size(bytes), draw::size(all))
    } else if bytes == 0 {
        format!("{what} … {seconds} s")
    } else {
        format!("{what} … {}, {seconds} s", draw::size(bytes))
    }
}

/// A reader or a writer whose bytes are counted.
pub(crate) struct Counted<T> {
    stream: T,
    bytes: Arc<AtomicU64>,
}

impl<T> Counted<T> {
    fn add(&self, count: usize) -> usize {
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        count
    }
}

impl<T: Read> Read for Counted<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer).map(|count| self.add(count))
    }
}

impl<T: Write> Write for Counted<T> {
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
    fn what_goes_through_is_counted_and_told() {
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
