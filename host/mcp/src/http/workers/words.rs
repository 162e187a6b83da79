//! What workers say on standard error. A worker may be in the hands of whoever escaped from its sandbox: its words come in
//! whole lines, with a name that no other worker has, without characters that a terminal obeys, and not without end.

use std::io::{self, BufRead as _, BufReader, Read};
use std::time::{Duration, Instant};

use crate::approvals::visible;

/// Longest line, in bytes. A longer one goes on in the next.
const MAX_LINE: u64 = 4 << 10;

/// Most bytes in a period. What is more is left out.
const MAX_BYTES: usize = 64 << 10;
const PERIOD: Duration = Duration::from_secs(1);

/// Passes on what a worker with this number says, line by line, until it has ended.
pub(super) fn relay_words(worker: u32, words: impl Read, say: impl Fn(&str)) {
    let mut words = BufReader::new(words);
    let (mut begun, mut said) = (Instant::now(), 0);
    while let Ok(Some(line)) = next_line(&mut words) {
        if begun.elapsed() >= PERIOD {
            (begun, said) = (Instant::now(), 0);
        }
        let has_room = said < MAX_BYTES;
        said = said.saturating_add(line.len());
        match has_room {
            true if said < MAX_BYTES => say(&format!("process {worker} of a client: {line}")),
            true => say(&format!("process {worker} of a client says too much: the rest of this second is left out")),
            false => {}
        }
    }
}

/// Reads a line, or the beginning of a long one; `None` at the end.
fn next_line(words: &mut impl io::BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = words.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    let text = String::from_utf8_lossy(&line);
    // A line break within it would be none: there is none but at its end.
    Ok((read > 0).then(|| visible(text.trim_end_matches(['\n', '\r']))))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn said(words: &[u8]) -> Vec<String> {
        let said = RefCell::new(Vec::new());
        relay_words(7, words, |line| said.borrow_mut().push(line.to_owned()));
        said.into_inner()
    }

    #[test]
    fn words_of_a_worker_have_its_name_and_obey_no_terminal() {
        let told = said(b"warning: x\n\x1b[2Jlistening on http://evil\r\nlast");
        assert_eq!(
            told,
            [
                "process 7 of a client: warning: x",
                "process 7 of a client: \\u{1b}[2Jlistening on http://evil",
                "process 7 of a client: last",
            ]
        );
        assert_eq!(said(b"a\rb")[0], "process 7 of a client: a\\u{d}b");
    }

    #[test]
    fn words_without_end_are_left_out() {
        let told = said(&b"x".repeat(1 << 20));
        let all: usize = told.iter().map(String::len).sum();
        assert!(all < 2 * MAX_BYTES, "{all}");
        assert_eq!(told.iter().filter(|line| line.contains("says too much")).count(), 1, "{}", told.len());
    }
}
