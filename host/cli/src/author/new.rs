//! `tollhouse new`.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use tollhouse::tool::names::{Face, Spelling, check_alias, taken_by};
use tollhouse_registry::{Language, PackageName};

use super::super::show;
use super::template::{self, LANGUAGES};
use super::{CliError, Result};
use crate::Exit;

/// Create a tool package, ready to build, test and publish
///
/// The new tool adds up orders: a typed record in, another out, and errors. Replace `wit/`, the source and the examples
/// of `tool.toml` with your own. Its dependencies come from the language's own registry.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse new acme:prices
  tollhouse new prices --lang python --path tools/prices")]
pub(crate) struct NewPackageCommand {
    /// The package: NAMESPACE:NAME, or NAME for local:NAME
    #[arg(value_name = "NAME")]
    name: String,
    /// The language, and how it makes components
    #[arg(long, default_value = "rust", value_parser = PossibleValuesParser::new(LANGUAGES.map(Language::name)).map(language))]
    lang: Language,
    /// The directory to create, which must not exist yet, or be empty [default: NAME]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

/// Returns the language with that name, which clap has checked.
fn language(name: String) -> Language {
    LANGUAGES.into_iter().find(|language| language.name() == name).unwrap_or(Language::Rust)
}

impl NewPackageCommand {
    /// Creates the directory.
    pub(crate) fn execute(self) -> Result {
        let name = self.package()?;
        let directory = self.path.clone().unwrap_or_else(|| PathBuf::from(name.package()));
        let shown = directory.display();
        let failed = |error: &std::io::Error| CliError::because(format!("cannot make `{shown}`"), error);
        fs::create_dir_all(&directory).map_err(|error| failed(&error))?;
        if fs::read_dir(&directory).map_err(|error| failed(&error))?.next().is_some() {
            let refused = CliError::usage(format!("cannot make `{shown}`: it exists, and is not empty"));
            return Err(refused.hint("nothing was changed; name another directory with `--path`"));
        }
        let files = template::files(self.lang, &name);
        for (path, text) in &files {
            let path = directory.join(path);
            let parent = path.parent().unwrap_or(&directory);
            let written = fs::create_dir_all(parent).and_then(|()| {
                let mut file = fs::File::create_new(&path)?;
                std::io::Write::write_all(&mut file, text.as_bytes())
            });
            written.map_err(|error| failed(&error))?;
        }
        show::line(format_args!("made {name} in {shown}: {} files", files.len()));
        note!("next: cd {shown} && tollhouse build && tollhouse test");
        Ok(Exit::SUCCESS)
    }

    /// Returns the package's name, if it can be published, and scripts can call the package by it.
    fn package(&self) -> Result<PackageName> {
        let full = if self.name.contains(':') { self.name.clone() } else { format!("local:{}", self.name) };
        let name: PackageName = full
            .parse()
            .map_err(|error| CliError::because(format!("cannot make `{}`", self.name), &error).status(2))?;
        let refused = format!("cannot make `{name}`");
        check_alias(name.package(), Spelling::Wit).map_err(|error| {
            CliError::because(refused.clone(), &error)
                .status(2)
                .hint("choose another name: this one could only be mounted under an alias")
        })?;
        match Face::ALL.into_iter().find_map(|face| taken_by(name.package(), Spelling::Wit, face)) {
            None => Ok(name),
            Some(what) => Err(CliError::usage(format!("{refused}: `{}` is {what}", name.package()))
                .hint("choose another name: where that is so, scripts could not call the tool by it")),
        }
    }
}
