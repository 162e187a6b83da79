//! `tollhouse programs`: third-party programs that scripts run as commands, published to the local registry.

mod add;
mod fetch;
mod list;
mod python;

use clap::Subcommand;
use tollhouse_registry::{PackageName, ReleaseName};

use super::locations::Locations;
use super::{CliError, Result};

/// Add, list and remove programs that scripts run as commands
///
/// A program is a WebAssembly component with a `main`, or a core module for WASI 0.1: `tollhouse run --allow NAME/run`
/// lets scripts call it, on the session's files and no others.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum ProgramsCommand {
    Add(add::AddProgramCommand),
    Ls(list::ListProgramsCommand),
    Rm(list::RemoveProgramCommand),
}

impl ProgramsCommand {
    /// Executes the command.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        match self {
            Self::Add(add) => add.execute(locations),
            Self::Ls(ls) => ls.execute(locations),
            Self::Rm(rm) => rm.execute(locations),
        }
    }
}

/// Recipe of a program that is built from a published release.
struct ProgramRecipe {
    /// Name of the command.
    name: &'static str,
    /// Version of the program, and of the package.
    version: &'static str,
    description: &'static str,
    license: &'static str,
    /// Additional permissions that its manifest asks for, besides the session's files.
    asks: &'static str,
}

/// Program that can be built without a toolchain for WebAssembly.
const MADE: ProgramRecipe = python::PYTHON3;

/// Programs that compilers build in a checkout of Tollhouse: their projects publish no WebAssembly.
const COMPILED: [&str; 5] = ["uutils", "rg", "jaq", "sqlite3", "git"];

impl ProgramRecipe {
    /// Returns the program's release in a registry.
    fn release(&self) -> ReleaseName {
        let text = format!("tollhouse:{}@{}", self.name, self.version);
        text.parse().expect("names and versions of recipes are well-formed")
    }
}

/// Returns the name of the package that a file is published as under the name of a program.
fn package_of(name: &str) -> Result<PackageName> {
    if name == MADE.name {
        return Ok(MADE.release().name);
    }
    format!("local:{name}").parse().map_err(|error: tollhouse_registry::NameError| {
        CliError::because(format!("`{name}` cannot be the name of a program"), &error).status(super::error::USAGE)
    })
}

/// Returns true if a component is a program, by what it exports.
fn is_program(exports: &[String]) -> bool {
    exports.iter().any(|export| export.starts_with("wasi:cli/run@0.2."))
}

/// Returns how the program of an alias is added, if a package of it is available.
pub(crate) fn how_to_add(alias: &str) -> Option<String> {
    if alias == MADE.name {
        return Some(format!("`tollhouse programs add {alias}` adds it"));
    }
    COMPILED
        .contains(&alias)
        .then(|| format!("in a checkout of Tollhouse, `cargo xtask programs {alias}` makes and publishes it"))
}
