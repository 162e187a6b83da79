//! `--secret`: where the values of secrets come from. Never from the command line itself, which others can see.

use std::{env, fs};

use tollhouse::tool::Secrets;

use super::{CliError, Result};

/// Reads the values.
pub(super) fn read(sources: &[(String, String)]) -> Result<Secrets> {
    let mut secrets = Secrets::default();
    for (name, source) in sources {
        let value = match source.split_once(':') {
            Some(("env", variable)) => env::var(variable).map_err(|error| {
                CliError::because(format!("secret `{name}`: cannot read the variable `{variable}`"), &error)
                    .status(super::error::USAGE)
            })?,
            Some(("file", path)) => {
                let text = fs::read_to_string(path).map_err(|error| {
                    CliError::because(format!("secret `{name}`: cannot read `{path}`"), &error)
                        .status(super::error::USAGE)
                })?;
                // Editors end a file with a line break, and it is no part of what it holds.
                text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text)).to_owned()
            }
            _ => {
                return Err(CliError::usage(format!("`--secret {name}=…` says no source"))
                    .hint("write `env:VARIABLE` or `file:PATH`: a value on the command line is seen by every user"));
            }
        };
        secrets = secrets.with(name, value).map_err(|error| CliError::usage(error.to_string()))?;
    }
    Ok(secrets)
}
