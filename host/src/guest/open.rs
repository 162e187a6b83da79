//! Whether a text goes on: asked of a guest that is made for the question, and gone after it.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::state::{Catalog, MountedTool, Output, OutputSink, Stream};
use super::together::Together;
use super::{Guests, Language, World};
use crate::code::{CodeError, Interrupt, MemoryAccount};
use crate::vfs::{self, Tree};

/// How long a parser may take. What takes it longer is none that a person types.
const PATIENCE: Duration = Duration::from_secs(1);

/// Bytes of memory for it.
const MEMORY: u64 = 256 << 20;

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
}
