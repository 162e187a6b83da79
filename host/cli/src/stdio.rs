//! The process's standard output and standard error.
//!
//! **Invariant:** a failed write to standard output is never forgotten. The first error is kept, and [`conclude`] turns it
//! into an exit status.
//!
//! **Invariant:** nothing is written while a human is asked on the terminal ([`hold`]).

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::terminal_escape::escape_hidden;
use super::{CliError, Result};
use crate::Exit;

/// Exit status after nobody reads standard output: 128 + SIGPIPE, as a shell reports it for other programs.
const BROKEN_PIPE: u8 = 141;

static FAILURE: OnceLock<io::Error> = OnceLock::new();
static USED: AtomicBool = AtomicBool::new(false);

/// Lock of the terminal, held by whoever writes to it or asks on it.
static TERMINAL: Mutex<()> = Mutex::new(());

/// Locks the terminal: all other output of this process waits until this is dropped. Earlier output is flushed. The
/// holder writes directly, not through this module.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    let held = turn();
    // Standard output keeps its first error.
    let _ = remember(io::stdout().flush());
    held
}

#[cfg(target_os = "linux")]
mod closed {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    /// Runs before Rust's own start, which opens `/dev/null` in place of a closed standard stream.
    #[used]
    #[expect(unsafe_code, reason = "nothing later can tell a closed stream from one that was sent to /dev/null")]
    // SAFETY: `.init_array` holds functions of this type, and `look` needs nothing that is set up after it.
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        #[expect(unsafe_code, reason = "a number that may belong to no open file cannot be borrowed")]
        // SAFETY: asking for a descriptor's flags changes nothing, whether it is open or not.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        CLOSED.store(flags == -1, Ordering::Relaxed);
    }

    /// Returns the error of a write to standard output if this process was started with it closed.
    pub(super) fn check() -> std::io::Result<()> {
        if CLOSED.load(Ordering::Relaxed) { Err(std::io::Error::from_raw_os_error(libc::EBADF)) } else { Ok(()) }
    }
}

#[cfg(not(target_os = "linux"))]
mod closed {
    /// Returns no error: only Linux tells whether standard output was closed at the start.
    pub(super) fn check() -> std::io::Result<()> {
        Ok(())
    }
}

/// Locks the terminal for one write.
fn turn() -> MutexGuard<'static, ()> {
    TERMINAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes to standard output, and flushes it.
pub(crate) fn write_out(bytes: &[u8]) -> io::Result<()> {
    let _turn = turn();
    closed::check().and_then(|()| io::stdout().write_all(bytes)).and_then(|()| io::stdout().flush())
}

/// Writes to standard error.
pub(crate) fn write_err(bytes: &[u8]) -> io::Result<()> {
    let _turn = turn();
    io::stderr().write_all(bytes)
}

/// Writer to standard output that remembers its first error.
pub(crate) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        USED.store(true, Ordering::Relaxed);
        let _turn = turn();
        remember(closed::check().and_then(|()| io::stdout().write(bytes)))
    }

    fn flush(&mut self) -> io::Result<()> {
        let _turn = turn();
        remember(io::stdout().flush())
    }
}

/// Records an error of standard output.
pub(crate) fn remember<T>(done: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &done
        && error.kind() != ErrorKind::Interrupted
    {
        // Only the first error counts: what comes after it follows from it.
        let _ = FAILURE.set(copy(error));
    }
    done
}

/// Copies an error.
fn copy(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::new(error.kind(), error.to_string()), io::Error::from_raw_os_error)
}

/// Records the outcome of a text that other code wrote to standard output.
pub(crate) fn remember_printed(done: io::Result<()>) {
    // Standard output keeps its first error.
    let _ = remember(closed::check().and(done));
}

/// Returns true if anything was written by way of [`Stdout`].
pub(crate) fn is_used() -> bool {
    USED.load(Ordering::Relaxed)
}

/// Returns true once a write to standard output has failed.
pub(crate) fn has_failed() -> bool {
    FAILURE.get().is_some()
}

/// Changes the result of a command whose output was lost: to an error, or quietly to status 141 if nobody reads
/// standard output.
pub(crate) fn conclude(done: Result) -> Result {
    let Some(error) = FAILURE.get() else { return done };
    match done {
        Ok(exit) if exit != Exit::SUCCESS => Ok(exit),
        _ if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::from(BROKEN_PIPE)),
        Ok(_) => Err(CliError::because("cannot write to standard output", error)),
        failed => failed,
    }
}

/// Prints a line on standard error, with hidden characters escaped. A failure cannot be reported anywhere, so it is
/// ignored; `eprintln!` would panic.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    note_part(&(escape_hidden(&text.to_string()) + "\n"));
}

/// Prints a text unchanged, without a line break, on standard error: our own text, perhaps with colors.
pub(crate) fn note_part(text: &str) {
    let _ = write_err(text.as_bytes());
}
