//! Asks a human on the terminal before a call, where a grant says so.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::{Mutex, PoisonError};

use tollhouse::gate::{ApprovalRequest, Approver};

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
    terminal.write_all(visible(&question).as_bytes())?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The text with everything escaped that a terminal would act on or that changes the order of what is read: what a
/// human is shown is what there is.
fn visible(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_acts_on_the_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb\u{202e}c\nd é"), "a\\u{1b}[2Jb\\u{202e}c\nd é");
    }
}
