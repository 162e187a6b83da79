//! Policy files, or a policy on standard input: TOML, or JSON if the name says so.

use std::io;
use std::path::Path;

use tollhouse::capability::{MAX_POLICY, Policy, PolicyError};
use tollhouse_registry::untrusted_file;

use super::error::USAGE;
use super::{CliError, Result};

/// Text of a policy and its origin, for errors that show the position.
pub(crate) struct PolicyFile {
    name: String,
    text: String,
}

impl PolicyFile {
    /// Reads the text; for `-`, from standard input.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let limit = MAX_POLICY as u64;
        let text = if path == Path::new("-") {
            untrusted_file::read_limited(io::stdin(), limit).and_then(untrusted_file::text)
        } else {
            untrusted_file::read_named_text(path, limit)
        };
        let text = text.map_err(|error| {
            CliError::because(format!("cannot read the policy `{name}`"), &io::Error::from(error)).status(USAGE)
        })?;
        Ok(Self { name, text })
    }

    /// Returns the name that the user gave.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Parses the policy.
    pub(crate) fn parse(&self) -> Result<Policy> {
        let json = Path::new(&self.name).extension().is_some_and(|extension| extension == "json");
        let parsed = if json { Policy::parse_json(&self.text) } else { Policy::parse(&self.text) };
        parsed.map_err(|error| self.error(error))
    }

    /// Converts an error to one that shows its position in the file.
    pub(crate) fn error(&self, error: PolicyError) -> CliError {
        let shown = CliError::usage(format!("policy `{}`: {error}", self.name))
            .at(&self.name, &self.text, error.span)
            .of_policy();
        match error.hint {
            Some(hint) => shown.hint(hint),
            None => shown,
        }
    }
}
