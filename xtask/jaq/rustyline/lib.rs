//! Stand-in for the crate rustyline, with the part of its interface that jaq uses. WASI has neither a terminal nor a
//! home directory, so jaq's `repl` reads plain lines from standard input.

pub mod error {
    /// Reason why no line could be read.
    #[derive(Debug)]
    pub enum ReadlineError {
        /// Control-C, which no terminal sends here.
        Interrupted,
        /// End of the input.
        Eof,
        /// Failure of reading standard input.
        Io(std::io::Error),
    }
}

pub mod config {
    /// Source of the lines: only standard input exists here.
    pub enum Behavior {
        PreferTerm,
    }

    #[derive(Default)]
    pub struct Config;

    impl Config {
        pub fn builder() -> Self {
            Self
        }

        pub fn behavior(self, _: Behavior) -> Self {
            self
        }

        pub fn auto_add_history(self, _: bool) -> Self {
            self
        }

        pub fn build(self) -> Self {
            self
        }
    }
}

/// Editor that reads lines without editing them.
pub struct DefaultEditor;

impl DefaultEditor {
    pub fn with_config(_: config::Config) -> Result<Self, error::ReadlineError> {
        Ok(Self)
    }

    pub fn load_history(&mut self, _: impl AsRef<std::path::Path>) -> Result<(), error::ReadlineError> {
        Ok(())
    }

    pub fn append_history(&mut self, _: impl AsRef<std::path::Path>) -> Result<(), error::ReadlineError> {
        Ok(())
    }

    pub fn readline(&mut self, _prompt: &str) -> Result<String, error::ReadlineError> {
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) => Err(error::ReadlineError::Eof),
            Ok(_) => Ok(line.trim_end_matches('\n').to_owned()),
            Err(error) => Err(error::ReadlineError::Io(error)),
        }
    }
}
