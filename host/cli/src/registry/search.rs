//! `tollhouse registry search`.

use std::num::NonZeroUsize;

use clap::Args;
use serde_json::{Value, json};

use super::super::confine::ConfineArgs;
use super::super::locations::Locations;
use super::super::{Result, show};
use crate::Exit;

/// Search names, descriptions, functions and their docs
///
/// Every word must be found, as a part of a word. Packages with the word in their name come first, then those with it
/// in a function's name, in the description, in the docs. The newest release of each package that is not yanked is
/// searched.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  tollhouse registry search csv\n  tollhouse registry search standard deviation --limit 3"
)]
pub(crate) struct SearchCommand {
    /// The words to look for
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
    /// Most packages that are shown
    #[arg(long, value_name = "N", default_value = "20")]
    limit: NonZeroUsize,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {name, version, description, functions, deprecated}
    #[arg(long)]
    json: bool,
}

impl SearchCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        super::refuse_absent(locations, locations.is_registry_named)?;
        super::searching(locations, self.confine)?;
        let registry = locations.registry();
        let found = registry.search(&self.words, self.limit.get()).map_err(|error| super::unreadable(&error))?;
        if self.json {
            let one = |it: &tollhouse_registry::Found| {
                json!({
                    "name": it.name, "version": it.version, "description": it.description,
                    "functions": it.functions, "deprecated": it.deprecated,
                })
            };
            let listed: Vec<Value> = found.iter().map(one).collect();
            show::json_pretty(&listed);
            return Ok(Exit::SUCCESS);
        }
        if found.is_empty() {
            note!("nothing in the registry has {}", self.words.join(" and "));
        }
        for it in found {
            let deprecated = if it.deprecated { "  deprecated" } else { "" };
            show::line(format_args!("{:<32} {:<12}{deprecated}  {}", it.name, it.version, it.description));
            if !it.functions.is_empty() {
                show::line(format_args!("    {}", it.functions.join(", ")));
            }
        }
        Ok(Exit::SUCCESS)
    }
}
