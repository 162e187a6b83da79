//! The terminal on which a human is asked, in a known state whatever a script did to it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

use super::super::signals;
use super::question::{LEAST, TerminalSize};

/// Escape sequences that undo whatever output can do to a terminal, so that the text written next appears as it is.
const RESET: &str = concat!(
    // An unfinished escape sequence or control string.
    "\x18\x1b\\",
    // Synchronized updates; printer mode; the alternate screen; the soft reset (DECSTR).
    "\x1b[?2026l\x1b[4i\x1b[?4i\x1b[?1049l\x1b[?47l\x1b[!p",
    // Character sets, the shift into another one, UTF-8.
    "\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b%G",
    // Margins, origin mode, insert mode, reverse video, slow scrolling, new-line mode.
    "\x1b[r\x1b[?69l\x1b[?6l\x1b[4l\x1b[?5l\x1b[?4l\x1b[20l",
    // Line wrapping, cursor, keyboard modes.
    "\x1b[?7h\x1b[?25h\x1b[?1l\x1b>\x1b[=0u\x1b[>4;0m",
    // No reports of mouse, focus or pasted text.
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?2004l",
    // Colors: palette, foreground, background; attributes, protected characters, open links.
    "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]8;;\x1b\\\x1b[0\"q\x1b[0m",
);

/// Escape sequences that clear the screen and move to its top.
const CLEAR: &str = "\x1b[0m\x1b[2J\x1b[H";

/// Time without keyboard input that is required before a question is shown.
const QUIET: Duration = Duration::from_millis(300);

/// Interval between checks for a signal while waiting for input.
const LOOK: Duration = Duration::from_millis(20);

/// Size of a terminal that does not report one.
const USUAL: TerminalSize = TerminalSize { rows: 24, columns: 80 };

/// The controlling terminal.
pub(super) struct TerminalDevice {
    terminal: File,
    /// Number of signals received before.
    before: u32,
}

impl TerminalDevice {
    pub(super) fn open() -> io::Result<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        Ok(Self { terminal, before: signals::received() })
    }

    /// Resets the terminal, scrolls its screen out of sight, and waits until the keyboard is quiet and the question
    /// fits. Returns `None` if Ctrl-C gives it up.
    pub(super) fn prepare(&mut self) -> io::Result<Option<TerminalSize>> {
        self.terminal.write_all(RESET.as_bytes())?;
        loop {
            tcflush(&self.terminal, QueueSelector::IFlush)?;
            match self.wait(QUIET)? {
                WaitResult::Input => {}
                WaitResult::Nothing => break,
                WaitResult::Signal => return Ok(None),
            }
        }
        let mut size = self.size();
        while size.rows < LEAST.rows || size.columns < LEAST.columns {
            let TerminalSize { rows, columns } = LEAST;
            self.terminal.write_all(
                format!("{CLEAR}A question waits: make this window\r\nat least {columns} by {rows}.\r\n").as_bytes(),
            )?;
            while self.size() == size {
                if self.wait(QUIET)? == WaitResult::Signal {
                    return Ok(None);
                }
                tcflush(&self.terminal, QueueSelector::IFlush)?;
            }
            size = self.size();
        }
        // To the last row, and as many further as there are: all that was seen is above.
        let rows = "\r\n".repeat(size.rows);
        self.terminal.write_all(format!("\x1b[{};1H{rows}", size.rows).as_bytes())?;
        Ok(Some(size))
    }

    /// Shows a text alone on the screen. Input that was typed before is discarded.
    pub(super) fn show(&mut self, text: &str) -> io::Result<()> {
        tcflush(&self.terminal, QueueSelector::IFlush)?;
        self.terminal.write_all(format!("{CLEAR}{}", text.replace('\n', "\r\n")).as_bytes())
    }

    /// Ends the question with a line below it. Later output goes below that line.
    pub(super) fn leave(&mut self, text: &str, end: &str) -> io::Result<()> {
        let below = text.lines().count() + 1;
        self.terminal.write_all(format!("\x1b[{below};1H\x1b[J{end}\r\n").as_bytes())
    }

    /// Reads the next line; `None` after Ctrl-C, or when the terminal is gone.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            match self.wait(LOOK)? {
                WaitResult::Nothing => {}
                WaitResult::Signal => return Ok(None),
                WaitResult::Input => break,
            }
        }
        let mut line = Vec::new();
        // A terminal delivers one line at a time.
        BufReader::new(&self.terminal).read_until(b'\n', &mut line)?;
        Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
    }

    /// Returns the current number of rows and columns.
    fn size(&self) -> TerminalSize {
        match tcgetwinsize(&self.terminal) {
            Ok(size) if size.ws_row > 0 && size.ws_col > 0 => {
                TerminalSize { rows: size.ws_row.into(), columns: size.ws_col.into() }
            }
            _ => USUAL,
        }
    }

    /// Waits for input, a signal, or the given time.
    fn wait(&self, time: Duration) -> io::Result<WaitResult> {
        let end = std::time::Instant::now() + time;
        loop {
            if signals::received() != self.before {
                return Ok(WaitResult::Signal);
            }
            let left = end.saturating_duration_since(std::time::Instant::now()).min(LOOK);
            let look = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&look)) {
                Ok(0) if left.is_zero() => return Ok(WaitResult::Nothing),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(WaitResult::Input),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Result of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitResult {
    Input,
    Signal,
    Nothing,
}
