//! Questions about a script that is not run: is the input complete, which undefined names does it use, does it parse. Each is
//! put to a fresh guest that is dropped afterwards.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::guest_state::{Catalog, MountedTool, Output, OutputSink, Stream};
use super::run_usage::RunUsage;
use super::{GuestWorld, Guests, Language, Mention, Script, Step};
use crate::code::{CodeError, Interrupt, MemoryAccount};
use crate::error::{ErrorKind, Failure};
use crate::vfs::{self, Tree};

/// Most time that parsing may take. Nobody types an input that takes longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Memory limit of the guest, in bytes.
const MEMORY: u64 = 256 << 20;

/// Output limit of a guest that reports a syntax error, in bytes. The output is discarded.
const OUTPUT: u64 = 1 << 20;

/// Fuel with which the shell reads a script that it does not run: time is the limit. JavaScript is compiled before it
/// takes any fuel.
const SHELL_FUEL: u64 = u64::MAX / 2;

/// Shell command after which bash only reads commands. It is put in the script's first line, so that line numbers stay
/// right.
const NO_EXECUTION: &str = "set -n; ";

/// Empty catalog, and a sink that discards output.
struct NullHost;

impl Catalog for NullHost {
    fn tools(&self) -> Vec<MountedTool> {
        Vec::new()
    }

    fn describe(&self, _method: &str) -> Option<String> {
        None
    }

    fn parse_words(&self, method: &str, _words: &[String]) -> Result<String, String> {
        Err(format!("`{method}` is not mounted"))
    }

    fn help(&self, _prefix: &str) -> Option<String> {
        None
    }

    fn budgets(&self) -> String {
        "[]".to_owned()
    }
}

impl OutputSink for NullHost {
    fn write(&mut self, _stream: Stream, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

impl GuestWorld {
    /// Creates a world without files, tools or a reader of the output.
    pub(super) fn empty() -> Self {
        Self {
            files: Tree::new(vfs::Limits::default(), 0),
            output: Output::closed(),
            catalog: Arc::new(NullHost),
            usage: RunUsage::new(0, &MemoryAccount::new(MEMORY)),
            seed: [0; 32],
            interrupt: Interrupt::default(),
            runner: None,
            input: None,
        }
    }
}

impl Output {
    /// Creates an output that accepts no bytes.
    pub(crate) fn closed() -> Self {
        Self::new(Box::new(NullHost), 0)
    }
}

impl Guests {
    /// Returns true if a text ends in the middle of a statement, according to its language's own parser. Returns false
    /// for a text that the parser cannot handle: running it reports why.
    ///
    /// # Errors
    /// If the guest cannot be loaded.
    pub fn is_open(&self, language: Language, source: &str, name: &str) -> Result<bool, CodeError> {
        // Loading the guest, which the first input does, must not count against the time.
        self.get(language)?;
        let interrupt = Interrupt::default();
        interrupt.set_deadline(Instant::now() + PATIENCE);
        let world = GuestWorld { interrupt, ..GuestWorld::empty() };
        Ok(self.instantiate(language, world, PATIENCE)?.is_open(source, name).unwrap_or(false))
    }

    /// Returns the names that a script uses but does not define itself; nothing if it cannot be parsed
    /// within a second. The script is not run.
    ///
    /// # Errors
    /// If the guest cannot be loaded.
    pub fn mentions(&self, language: Language, source: &str, name: &str) -> Result<Vec<Mention>, CodeError> {
        self.get(language)?;
        let interrupt = Interrupt::default();
        interrupt.set_deadline(Instant::now() + PATIENCE);
        let usage = RunUsage::new(SHELL_FUEL, &MemoryAccount::new(MEMORY));
        let world = GuestWorld { interrupt, usage, ..GuestWorld::empty() };
        Ok(self.instantiate(language, world, PATIENCE)?.mentions(source, name).unwrap_or_default())
    }

    /// Returns why a script does not parse or cannot be parsed within a second, or `None` if it parses or is JavaScript
    /// nested so deeply that its run ends at once. The script is not run: the shell reads it without execution, and
    /// JavaScript, which is compiled as a whole, gets no fuel, files or tools.
    ///
    /// # Errors
    /// If the guest cannot be loaded.
    pub fn syntax_error(&self, language: Language, source: &str, name: &str) -> Result<Option<Failure>, CodeError> {
        self.get(language)?;
        let interrupt = Interrupt::default();
        interrupt.set_deadline(Instant::now() + PATIENCE);
        let (prefix, fuel) = match language {
            Language::JavaScript => ("", 0),
            Language::Shell => (NO_EXECUTION, SHELL_FUEL),
        };
        let world = GuestWorld {
            interrupt,
            output: Output::new(Box::new(NullHost), OUTPUT),
            usage: RunUsage::new(fuel, &MemoryAccount::new(MEMORY)),
            ..GuestWorld::empty()
        };
        let script = Script { source: format!("{prefix}{source}"), name: name.to_owned(), ..Script::default() };
        let mut guest = self.instantiate(language, world, PATIENCE)?;
        let failure = match guest.start(&script, "/", None, 0) {
            // The shell runs nothing, so any failure is one of parsing.
            Ok(Step::Finished(outcome)) => {
                outcome.error.filter(|failure| failure.kind == ErrorKind::Syntax || language == Language::Shell)
            }
            Ok(Step::Blocked(_)) => None,
            Err(error) => Some(Failure::limit(format!("the script cannot be checked: {error}"), "make it shorter")),
        };
        Ok(failure.map(|mut failure| {
            if let Some(location) = &mut failure.location {
                location.quote(name, source);
            }
            failure
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    #[test]
    fn mistakes_in_syntax_are_found_and_nothing_is_run() {
        let guests = Guests::new(Code::new(None));
        let mistake = |language, source, name| guests.syntax_error(language, source, name).expect("there is the guest");
        let (js, sh) = (Language::JavaScript, Language::Shell);
        for (language, source, name) in [
            (js, "while (true) {}", "a.js"),
            (js, "JSON.parse('{')", "a.js"),
            (js, "throw new SyntaxError('later')", "a.js"),
            (js, "const a: number = 1", "a.ts"),
            (sh, "while :; do :; done", "a.sh"),
            (sh, "exit 3", "a.sh"),
        ] {
            assert_eq!(mistake(language, source, name), None, "{source}");
        }
        for (language, source, name, index) in [
            (js, "let a;\nlet b = = 2", "a.js", 1),
            (js, "let a;\nconst a: number = 1", "a.js", 1),
            (sh, "echo a\nfi", "a.sh", 1),
            (sh, "fi", "a.sh", 0),
        ] {
            let failure = mistake(language, source, name).unwrap_or_else(|| panic!("nothing is found in {source}"));
            assert_eq!(failure.kind, ErrorKind::Syntax);
            let location = failure.location.expect("it has a place");
            assert_eq!((location.file.as_str(), location.line), (name, u32::try_from(index + 1).expect("it is small")));
            assert_eq!(location.source.as_deref(), source.lines().nth(index), "{source}");
        }
    }
}
