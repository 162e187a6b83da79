//! The exit status of a script that an unset variable ends.
//!
//! `set -u; echo $unset` and `: ${unset?}` end a script that bash was given with `-c` with status 127, not 1 ("Shell
//! Parameters": the shell exits; the number is bash's own practice, from `expand_word` failing with `EX_BADUSAGE` at
//! the top). bashkit has 1. It tells a hook of every exit, with the status, but not the cause: that shows in what it
//! last wrote to standard error.

use std::sync::Mutex;
use std::sync::PoisonError;

use bashkit::hooks::{ExitEvent, HookAction};

/// bash's status.
const FATAL: i32 = 127;

/// What a script says of itself.
#[derive(Default)]
struct Script {
    /// Its text, if nothing in it says that the cause is another (an `exit` of its own), or that the status is 1: under
    /// `set -e` it is.
    source: Option<String>,
    /// The end of what was written to standard error last, unless something else was written since.
    complaint: Vec<u8>,
}

/// One script runs at a time.
static SCRIPT: Mutex<Script> = Mutex::new(Script { source: None, complaint: Vec::new() });

/// How much of a complaint is kept: more than its last line takes.
const KEPT: usize = 512;

fn with<T>(use_script: impl FnOnce(&mut Script) -> T) -> T {
    use_script(&mut SCRIPT.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Says that a script begins.
pub(crate) fn begin(source: &str) {
    let source = (!source.contains("exit") && !sets_errexit(source)).then(|| source.to_owned());
    with(|script| *script = Script { source, complaint: Vec::new() });
}

/// Whether there is a `set -e` in it, alone or with other options. (`errexit` has `exit` in it.)
fn sets_errexit(source: &str) -> bool {
    let options = source.match_indices("set -").map(|(at, found)| &source[at + found.len()..]);
    options
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default())
        .any(|set| set.contains('e'))
}

/// Says what a command has written.
pub(crate) fn delivered(stdout: &[u8], stderr: &[u8]) {
    if stderr.is_empty() && stdout.is_empty() {
        return;
    }
    with(|script| script.complaint = stderr[stderr.len().saturating_sub(KEPT)..].to_vec());
}

/// bashkit's hook.
pub(super) fn on_exit(event: ExitEvent) -> HookAction<ExitEvent> {
    let fatal = event.code == 1
        && with(|script| script.source.as_ref().is_some_and(|source| is_fatal(source, &script.complaint)));
    HookAction::Continue(if fatal { ExitEvent { code: FATAL } } else { event })
}

/// Whether this is what bashkit writes before it exits: `NAME: line N: VARIABLE: MESSAGE`.
fn is_fatal(source: &str, complaint: &[u8]) -> bool {
    let complaint = String::from_utf8_lossy(complaint);
    let Some(last) = complaint.trim_end_matches('\n').rsplit('\n').next() else { return false };
    let Some((_, rest)) = last.split_once(": line ") else { return false };
    let Some((_, rest)) = rest.split_once(": ") else { return false };
    let Some((variable, message)) = rest.split_once(": ") else { return false };
    message == "unbound variable"
        || message == "invalid indirect expansion"
        || source.contains(&format!("${{{variable}?"))
        || source.contains(&format!("${{{variable}:?"))
}

#[cfg(test)]
mod tests {
    use super::is_fatal;

    #[test]
    fn only_what_ends_a_script_is_fatal() {
        assert!(is_fatal("echo $x", b"bash: line 1: x: unbound variable\n"));
        assert!(is_fatal(": ${x:?no x}", b"before\nbash: line 3: x: no x\n"));
        assert!(!is_fatal("nothing", b"bash: line 3: nothing: command not found\n"));
        assert!(!is_fatal("", b""));
    }
}
