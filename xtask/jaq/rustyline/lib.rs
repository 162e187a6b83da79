//! What jaq uses of rustyline, where there is no terminal and no home directory: its `repl` reads lines as they come.

pub mod error {
    /// Why there is no line.
    #[derive(Debug)]
    pub enum ReadlineError {
        /// Control-C, which no terminal sends here.
        Interrupted,
        /// There are no more.
        Eof,
        /// They cannot be read.
        Io(std::io::Error),
    }
}

pub mod config {
    /// Where lines are read from: here there is one place.
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

/// Reads lines.
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
