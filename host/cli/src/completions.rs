//! `tollhouse completions` and `tollhouse man`: completions for shells, and manual pages.
//!
//! A shell that has loaded the script runs this program again at each Tab, with [`VARIABLE`] set: so names of sessions,
//! tools and packages are completed as they are then.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use clap::builder::ValueParser;
use clap::{Arg, Args, Command, ValueEnum, value_parser};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use tollhouse::session::{Point, Session, SessionId, SessionOptions};

use super::locations::Locations;
use super::{CliError, LocationOptions, Program, Result, stdio, whole_command_line};
use crate::Exit;

/// Variable that names the shell which asks for completions.
const VARIABLE: &str = "TOLLHOUSE_COMPLETE";

/// Longest time that names are waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Name of the program in scripts.
const NAME: &str = "tollhouse";

/// Print a script with which a shell completes commands, options, and names of sessions, tools and packages
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse completions bash > ~/.local/share/bash-completion/completions/tollhouse
  tollhouse completions zsh > ~/.zfunc/_tollhouse       # with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  tollhouse completions fish > ~/.config/fish/completions/tollhouse.fish
  tollhouse completions powershell >> $PROFILE")]
pub(crate) struct CompletionsCommand {
    /// The shell
    #[arg(value_enum)]
    shell: ShellName,
}

#[derive(Clone, Copy, ValueEnum)]
enum ShellName {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl ShellName {
    fn word(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::Powershell => "powershell",
            Self::Zsh => "zsh",
        }
    }
}

impl CompletionsCommand {
    /// Prints the script.
    pub(crate) fn execute(&self) -> Result {
        let shells = Shells::builtins();
        let completer = shells.completer(self.shell.word()).expect("each of these shells is built in");
        let mut script = Vec::new();
        completer
            .write_registration(VARIABLE, NAME, NAME, NAME, &mut script)
            .map_err(|error| CliError::because("cannot write the script", &error))?;
        stdio::write_out(&script).map_err(|error| CliError::because("cannot write the script", &error))?;
        Ok(Exit::SUCCESS)
    }
}

/// Write manual pages to a directory: one for each command
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse man ~/.local/share/man/man1 && man tollhouse-run")]
pub(crate) struct ManCommand {
    /// The directory, which is created if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl ManCommand {
    /// Writes the pages.
    pub(crate) fn execute(&self) -> Result {
        let failed = |error| CliError::because(format!("cannot write to `{}`", self.directory.display()), &error);
        std::fs::create_dir_all(&self.directory).map_err(failed)?;
        clap_mangen::generate_to(whole_command_line(), &self.directory).map_err(failed)?;
        Ok(Exit::SUCCESS)
    }
}

/// Prints completions if a shell asks for them. Returns true if it did.
pub(crate) fn complete(program: &Program, arguments: &[OsString]) -> Result<bool> {
    if env::var_os(VARIABLE).is_none() {
        return Ok(false);
    }
    let options = locations_on(arguments);
    let mut locations = Locations::find(options, program.clone());
    // Nothing is written for a question.
    locations.cache = None;
    let locations = Arc::new(locations);
    let factory = move || with_candidates(whole_command_line(), &locations);
    let completed = CompleteEnv::with_factory(factory)
        .var(VARIABLE)
        .bin(NAME)
        .completer(NAME)
        .try_complete(arguments.to_vec(), env::current_dir().ok().as_deref());
    completed.map_err(|error| CliError::usage(error.render().to_string().trim_end()))
}

/// Returns the locations that the words of a command line name.
fn locations_on(words: &[OsString]) -> LocationOptions {
    let value = |option: &str| {
        let equals = format!("{option}=");
        words.iter().enumerate().find_map(|(index, word)| {
            let inline = word.to_str().and_then(|word| word.strip_prefix(&equals)).map(PathBuf::from);
            inline.or_else(|| (word == option).then(|| words.get(index + 1).map(PathBuf::from)).flatten())
        })
    };
    LocationOptions { registry: value("--registry"), store: value("--store"), trust_writers: false }
}

/// Adds the names that exist to the arguments of a command and its subcommands.
fn with_candidates(command: Command, locations: &Arc<Locations>) -> Command {
    let command = command.mut_args(|argument| match candidates(&argument, locations) {
        Some(candidates) => argument.add(candidates),
        None => argument,
    });
    command.mut_subcommands(|subcommand| with_candidates(subcommand, locations))
}

/// Returns the names that an argument may have.
fn candidates(argument: &Arg, locations: &Arc<Locations>) -> Option<ArgValueCandidates> {
    let is = |parser: ValueParser| argument.get_value_parser().type_id() == parser.type_id();
    let list: fn(&Locations) -> Vec<String> = match argument.get_value_names()?.first()?.as_str() {
        _ if is(value_parser!(SessionId).into()) || is(value_parser!(Point).into()) => sessions,
        "METHOD" | "PATTERN" => methods,
        "PACKAGE" => packages,
        name if name.starts_with("NS:NAME") => packages,
        _ => return None,
    };
    let locations = Arc::clone(locations);
    Some(ArgValueCandidates::new(move || {
        let (sender, receiver) = mpsc::channel();
        let locations = Arc::clone(&locations);
        // The process that has the store may not answer, and whoever types does not wait for it.
        std::thread::spawn(move || sender.send(list(&locations)));
        let names = receiver.recv_timeout(PATIENCE).unwrap_or_default();
        names.into_iter().map(CompletionCandidate::new).collect::<Vec<_>>()
    }))
}

/// Returns the names of the sessions. A store that cannot be read has none: there is nobody to tell.
fn sessions(locations: &Locations) -> Vec<String> {
    if !locations.store.is_dir() {
        return Vec::new();
    }
    let listed = locations.sessions().ok().and_then(|sessions| sessions.list().ok());
    listed.unwrap_or_default().into_iter().map(|id| id.to_string()).collect()
}

/// Returns the methods of the packages in the registry, by the names that they have without a policy.
fn methods(locations: &Locations) -> Vec<String> {
    let session = locations.host().ok().and_then(|host| host.session(SessionOptions::default()).ok());
    let methods = |session: &Session| session.gate().tools().iter().map(|tool| tool.method().to_owned()).collect();
    session.as_ref().map(methods).unwrap_or_default()
}

/// Returns the names of the packages in the registry.
fn packages(locations: &Locations) -> Vec<String> {
    let latest = locations.registry().latest().unwrap_or_default();
    latest.into_iter().map(|release| release.name.to_string()).collect()
}
