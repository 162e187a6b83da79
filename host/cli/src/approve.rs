//! Asks a human on the terminal before a call, where a grant says so.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tollhouse::gate::{ApprovalRequest, Approver};

use super::error::tame;
use super::signals;

/// The controlling terminal, wherever standard input and output lead. Without one, nobody consents.
pub(crate) struct Terminal;

/// One question at a time, whoever asks.
static ASKING: Mutex<()> = Mutex::new(());

impl Approver for Terminal {
    fn approve(&self, request: &ApprovalRequest<'_>) -> bool {
        let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
        ask(request).unwrap_or(false)
    }

    fn is_present(&self) -> bool {
        OpenOptions::new().read(true).write(true).open("/dev/tty").is_ok()
    }
}

fn ask(request: &ApprovalRequest<'_>) -> std::io::Result<bool> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let arguments = serde_json::to_string_pretty(request.arguments).expect("a JSON value serialises");
    let question =
        format!("grant `{}` asks you first:\n{} {arguments}\nallow this call? [y/N] ", request.grant, request.method);
    // What a human is shown is what there is.
    terminal.write_all(tame(&question).as_bytes())?;
    if !is_answered(&terminal)? {
        return Ok(false);
    }
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Waits for a line, or Ctrl-C.
fn is_answered(terminal: &File) -> std::io::Result<bool> {
    const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    let before = signals::received();
    while signals::received() == before {
        match poll(&mut [PollFd::new(terminal, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}
