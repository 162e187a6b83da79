//! What a guest says of a text without running it: whether it goes on, and whether it parses. Asked of a guest that is made
//! for the question, and gone after it.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::state::{Catalog, MountedTool, Output, OutputSink, Stream};
use super::together::Together;
use super::{Guests, Language, Script, Step, World};
use crate::code::{CodeError, Interrupt, MemoryAccount};
use crate::error::{ErrorKind, Failure};
use crate::vfs::{self, Tree};

/// How long a parser may take. What takes it longer is none that a person types.
const PATIENCE: Duration = Duration::from_secs(1);

/// Bytes of memory for it.
const MEMORY: u64 = 256 << 20;

/// Bytes for what a parser writes of a mistake. Nobody reads them.
const OUTPUT: u64 = 1 << 20;

/// Fuel with which the shell reads a script that it does not run. JavaScript is compiled before it takes any.
const SHELL_FUEL: u64 = 10_000_000;

/// First command of a shell script of which nothing more is run: it stands in the script's first line, so that lines are counted
/// as they are.
const NO_EXECUTION: &str = "set -n; ";

/// Nothing is mounted.
struct Nothing;

impl Catalog for Nothing {
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

impl OutputSink for Nothing {
    fn write(&mut self, _stream: Stream, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

impl World {
    /// Without files, tools or anybody who reads.
    pub(super) fn nothing() -> Self {
        Self {
            files: Tree::new(vfs::Limits::default(), 0),
            output: Output::new(Box::new(Nothing), 0),
            catalog: Arc::new(Nothing),
            together: Together::new(0, &MemoryAccount::new(MEMORY)),
            seed: [0; 32],
            interrupt: Interrupt::default(),
        }
    }
}

impl Guests {
    /// Whether a text ends in the middle of something, as its language's own parser sees it. A text that a parser cannot
    /// bear does not: running it says why.
    ///
    /// # Errors
    /// If the guest cannot be loaded.
    pub fn is_open(&self, language: Language, source: &str, name: &str) -> Result<bool, CodeError> {
        // Loading the guest, which the first input does, takes none of the time.
        self.get(language)?;
        let interrupt = Interrupt::default();
        interrupt.set_deadline(Instant::now() + PATIENCE);
        let world = World { interrupt, ..World::nothing() };
        Ok(self.instantiate(language, world, PATIENCE)?.is_open(source, name).unwrap_or(false))
    }

    /// Why a script does not parse; none if it does, or if a parser cannot bear it: running it says why. The script is not run:
    /// the shell reads it without execution, and JavaScript, which is compiled as a whole, gets no fuel and has no files and
    /// tools.
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
        let world = World {
            interrupt,
            output: Output::new(Box::new(Nothing), OUTPUT),
            together: Together::new(fuel, &MemoryAccount::new(MEMORY)),
            ..World::nothing()
        };
        let script = Script { source: format!("{prefix}{source}"), name: name.to_owned(), ..Script::default() };
        let mut guest = self.instantiate(language, world, PATIENCE)?;
        let Ok(Step::Finished(outcome)) = guest.start(&script, "/", None, 0) else { return Ok(None) };
        Ok(outcome.error.filter(|failure| failure.kind == ErrorKind::Syntax).map(|mut failure| {
            if let Some(location) = &mut failure.location {
                location.quote(name, source);
            }
            failure
        }))
    }
}
