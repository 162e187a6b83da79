//! The terminal that a human is asked on, in a known state whatever a script did to it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

use super::super::signals;
use super::question::{LEAST, Size};

/// What undoes whatever output can do to a terminal, so that what is written next is seen as it is.
const RESET: &str = concat!(
    // An escape sequence or a string for the terminal that was begun and not ended.
    "\x18\x1b\\",
    // Updates that are held back; printing instead of showing; the other screen; the soft reset (DECSTR).
    "\x1b[?2026l\x1b[4i\x1b[?4i\x1b[?1049l\x1b[?47l\x1b[!p",
    // Character sets, the shift into another one, UTF-8.
    "\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b%G",
    // Margins, origin, insertion, reverse video, slow scrolling, line feeds that go to the first column.
    "\x1b[r\x1b[?69l\x1b[?6l\x1b[4l\x1b[?5l\x1b[?4l\x1b[20l",
    // Lines are broken at the edge, the cursor is seen, keys send what stands on them.
    "\x1b[?7h\x1b[?25h\x1b[?1l\x1b>\x1b[=0u\x1b[>4;0m",
    // No reports of the mouse, the focus or what is pasted.
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?2004l",
    // Colors: the palette, foreground, background; no attribute, no protected characters, no open link.
    "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]8;;\x1b\\\x1b[0\"q\x1b[0m",
);

/// Clears the screen, and begins at its top.
const CLEAR: &str = "\x1b[0m\x1b[2J\x1b[H";

/// How long nothing may come from the keyboard before a question is shown.
const QUIET: Duration = Duration::from_millis(300);

/// How long it is looked for input before it is looked for a signal.
const LOOK: Duration = Duration::from_millis(20);

/// Rows and columns of a terminal that does not say.
const USUAL: Size = Size { rows: 24, columns: 80 };

/// The controlling terminal.
pub(super) struct Device {
    terminal: File,
    /// Signals that had come before.
    before: u32,
}

impl Device {
    pub(super) fn open() -> io::Result<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        Ok(Self { terminal, before: signals::received() })
    }

    /// Undoes what was done to the terminal, moves what is on its screen out of sight, and waits until nothing comes from
    /// its keyboard and a question fits. None if that is given up by Ctrl-C.
    pub(super) fn prepare(&mut self) -> io::Result<Option<Size>> {
        self.terminal.write_all(RESET.as_bytes())?;
        loop {
            tcflush(&self.terminal, QueueSelector::IFlush)?;
            match self.wait(QUIET)? {
                Waited::Input => {}
                Waited::Nothing => break,
                Waited::Signal => return Ok(None),
            }
        }
        let mut size = self.size();
        while size.rows < LEAST.rows || size.columns < LEAST.columns {
            let Size { rows, columns } = LEAST;
            self.terminal.write_all(
                format!("{CLEAR}A question waits: make this window\r\nat least {columns} by {rows}.\r\n").as_bytes(),
            )?;
            while self.size() == size {
                if self.wait(QUIET)? == Waited::Signal {
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

    /// Shows a text alone on the screen. What was typed before is forgotten.
    pub(super) fn show(&mut self, text: &str) -> io::Result<()> {
        tcflush(&self.terminal, QueueSelector::IFlush)?;
        self.terminal.write_all(format!("{CLEAR}{}", text.replace('\n', "\r\n")).as_bytes())
    }

    /// Ends the question with a line below it. What comes next is written below that.
    pub(super) fn leave(&mut self, text: &str, end: &str) -> io::Result<()> {
        let below = text.lines().count() + 1;
        self.terminal.write_all(format!("\x1b[{below};1H\x1b[J{end}\r\n").as_bytes())
    }

    /// The next line that is typed; none after Ctrl-C, or when the terminal is gone.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            match self.wait(LOOK)? {
                Waited::Nothing => {}
                Waited::Signal => return Ok(None),
                Waited::Input => break,
            }
        }
        let mut line = Vec::new();
        // A terminal gives one line at a time.
        BufReader::new(&self.terminal).read_until(b'\n', &mut line)?;
        Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
    }

    /// Rows and columns as they are now.
    fn size(&self) -> Size {
        match tcgetwinsize(&self.terminal) {
            Ok(size) if size.ws_row > 0 && size.ws_col > 0 => {
                Size { rows: size.ws_row.into(), columns: size.ws_col.into() }
            }
            _ => USUAL,
        }
    }

    /// Waits for input, a signal, or so long.
    fn wait(&self, time: Duration) -> io::Result<Waited> {
        let end = std::time::Instant::now() + time;
        loop {
            if signals::received() != self.before {
                return Ok(Waited::Signal);
            }
            let left = end.saturating_duration_since(std::time::Instant::now()).min(LOOK);
            let look = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&look)) {
                Ok(0) if left.is_zero() => return Ok(Waited::Nothing),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(Waited::Input),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// What was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    Input,
    Signal,
    Nothing,
}
