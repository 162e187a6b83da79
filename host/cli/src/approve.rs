//! Questions to a human on the terminal: approval of calls, where a grant requires it, and results of calls of a dry run.
//!
//! - `question`: the text that is shown;
//! - `device`: the terminal on which it is shown;
//! - `dry_run`: results that a human types.
//!
//! **Invariant:** nothing that a script printed affects how the human sees the question: output is held, the terminal
//! is reset, and the question is alone on a clean screen.
//!
//! **Invariant:** nothing that was typed before the question could be read allows a call: only a word that is generated
//! for this question and shown in it does.

mod device;
mod dry_run;
mod question;

use std::io;

use rustix::process::getuid;
use tollhouse::gate::{Answer, ApprovalError, ApprovalRequest, Approver};

use self::device::TerminalDevice;
pub(crate) use self::dry_run::TerminalDryRun;
use self::question::{CallPages, TerminalSize};
use super::stdio;

/// Approver at the controlling terminal, wherever standard input and output lead. Without a terminal, every call is
/// refused.
pub(crate) struct TerminalApprover {
    /// True if calls that are allowed are not made, which the question says.
    pub(crate) is_dry_run: bool,
}

impl Approver for TerminalApprover {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        // One question at a time, whoever asks; nothing else is written meanwhile.
        let _held = stdio::hold();
        let by = format!("uid {} at the terminal", getuid().as_raw());
        let mut device = TerminalDevice::open()?;
        let Some(size) = device.prepare()? else {
            // The question was given up before anything was shown.
            return Ok(request.put("")?.answer(false, by));
        };
        let word = word()?;
        let text = question::text(request, &word, self.is_dry_run, size);
        let question = request.put(&text)?;
        let allowed = ask(&mut device, request, &text, &word, size)?;
        device.leave(&text, if allowed { "-- allowed" } else { "-- refused" })?;
        Ok(question.answer(allowed, by))
    }

    fn is_present(&self) -> bool {
        TerminalDevice::open().is_ok()
    }
}

/// Shows the question until it is answered.
fn ask(
    device: &mut TerminalDevice,
    request: &ApprovalRequest<'_>,
    text: &str,
    word: &str,
    size: TerminalSize,
) -> io::Result<bool> {
    loop {
        device.show(text)?;
        let Some(line) = device.line()? else { return Ok(false) };
        match line.trim() {
            "v" | "V" => view(device, CallPages::of(request, size))?,
            answer => return Ok(answer.eq_ignore_ascii_case(word)),
        }
    }
}

/// Shows the call in full, page by page.
fn view(device: &mut TerminalDevice, pages: CallPages) -> io::Result<()> {
    for page in pages {
        device.show(&page)?;
        match device.line()? {
            Some(line) if line.trim().is_empty() => {}
            _ => break,
        }
    }
    Ok(())
}

/// Generates a word that is easy to say and type and that nobody can predict: one of 4,900.
fn word() -> io::Result<String> {
    const SOUNDS: [&[u8]; 4] = [b"bdfgklmnprstvz", b"aeiou", b"bdfgklmnprstvz", b"aeiou"];
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random)?;
    let letter = |(sounds, random): (&[u8], &[u8])| {
        let number = u32::from_le_bytes(random.try_into().expect("chunks of four"));
        char::from(sounds[number as usize % sounds.len()])
    };
    Ok(SOUNDS.into_iter().zip(random.chunks(4)).map(letter).collect())
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn consent_word_is_random() {
        let words: std::collections::HashSet<String> = (0..100).map(|_| word().expect("there is chance")).collect();
        assert!(words.len() > 80, "{words:?}");
        assert!(words.iter().all(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
}
