//! The command line: commands, their options, and their output.
//!
//! Only this crate reads the environment, prints, or decides an exit status.

/// Prints a line on standard error.
macro_rules! note {
    ($($part:tt)*) => {
        $crate::stdio::note(format_args!($($part)*))
    };
}

mod approve;
mod audit;
mod author;
mod batch;
mod call;
mod completions;
mod confine;
mod diagnostics;
mod doctor;
mod error;
mod examples;
mod format;
mod http_client;
mod isolation;
mod json_error;
mod key_file;
mod locations;
mod lock;
mod mcp;
mod mcp_servers;
mod notify;
mod policy;
mod policy_file;
mod precompile;
mod programs;
mod progress;
mod publish;
mod receipt;
mod recorded_run;
mod registry;
mod remedy;
mod repl;
mod run;
mod secret;
mod session;
mod session_args;
mod show;
mod signals;
mod source_excerpt;
mod stdio;
mod store;
mod terminal_escape;
mod token;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitCode, Termination};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub use confine::{ConfineError, ProcessConfinement};
pub(crate) use error::{CliError, Result};
use json_error::JsonErrors;
use locations::Locations;
use tollhouse::remedy::set_remedy_wording;

/// Runs the code that AI agents write, with tools they can be trusted with.
///
/// A script (JavaScript or bash) runs inside WebAssembly and calls tools that are WebAssembly components from a
/// registry. Nothing is granted unless you say so: with `--allow`, or with a policy file.
#[derive(Parser)]
#[command(name = "tollhouse", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    locations: LocationOptions,
    #[command(subcommand)]
    command: Command,
}

/// Options for the locations of data.
#[derive(Args)]
pub(crate) struct LocationOptions {
    /// The registry to publish to and to mount tools from
    /// [default: $TOLLHOUSE_HOME/registry, else $XDG_DATA_HOME/tollhouse/registry]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Locations")]
    pub(crate) registry: Option<PathBuf>,
    /// The directory that sessions are stored in [default: $TOLLHOUSE_HOME/store, else $XDG_DATA_HOME/tollhouse/store]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Locations")]
    pub(crate) store: Option<PathBuf>,
    /// Use a registry or store that other users of this machine can write [env: TOLLHOUSE_TRUST_WRITERS=1]
    #[arg(long, global = true, help_heading = "Locations")]
    pub(crate) trust_writers: bool,
}

#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    Run(run::RunCommand),
    Batch(batch::BatchCommand),
    Repl(repl::ReplCommand),
    New(author::NewPackageCommand),
    Build(author::BuildCommand),
    Test(author::TestCommand),
    Dev(author::DevCommand),
    Publish(publish::PublishCommand),
    Lock(lock::LockCommand),
    Call(call::CallCommand),
    Mcp(mcp::McpCommand),
    #[command(hide = true)]
    McpProgram(mcp_servers::McpProgramCommand),
    #[command(hide = true)]
    McpRemote(mcp_servers::McpRemoteCommand),
    #[command(hide = true)]
    NotifyWorker(notify::NotifyWorkerCommand),
    Tools(tools::ListToolsCommand),
    Types(tools::PrintTypesCommand),
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    #[command(subcommand)]
    Session(session::SessionCommand),
    Verify(receipt::VerifyCommand),
    #[command(subcommand)]
    Store(store::StoreCommand),
    #[command(subcommand)]
    Registry(registry::RegistryCommand),
    #[command(subcommand)]
    Programs(programs::ProgramsCommand),
    Precompile(precompile::PrecompileCommand),
    Doctor(doctor::DoctorCommand),
    Completions(completions::CompletionsCommand),
    Man(completions::ManCommand),
}

/// Exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    const SUCCESS: Self = Self(0);
    const FAILURE: Self = Self(1);

    /// Returns the status as a number.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0
    }
}

impl From<u8> for Exit {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.0)
    }
}

/// Command that runs this program again.
#[derive(Clone, Debug)]
pub struct Program {
    /// File that is executed.
    pub executable: PathBuf,
    /// Arguments before those of the command line: `-m tollhouse`, if Python is executed.
    pub before: Vec<OsString>,
}

/// Runs the command line, and reports its errors. `arguments` begins with the program's name.
///
/// The function reads the environment, takes over SIGINT, SIGTERM and SIGHUP, and may confine the whole process: a
/// process that calls it should do nothing else.
pub fn main(program: Program, arguments: impl IntoIterator<Item = OsString>) -> Exit {
    confine::remember_inherited();
    signals::survive_file_size_limit();
    error::configure();
    set_remedy_wording(&remedy::CommandLineWording);
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let json = JsonErrors::of(&arguments);
    let done = match completions::complete(&program, &arguments) {
        Ok(false) => match parse(&arguments) {
            Ok(cli) => diagnostics::start().and_then(|()| execute(cli, program, arguments)),
            Err(error) => Ok(explain_usage(error, json)),
        },
        completed => completed.map(|_| Exit::SUCCESS),
    };
    stdio::conclude(done).unwrap_or_else(|error| {
        json.print(&error);
        error.show()
    })
}

/// Parses the command line. Only the options of the command that is called are built: all of them would take a seventh of
/// the time of a small script.
fn parse(arguments: &[OsString]) -> std::result::Result<Cli, clap::Error> {
    Cli::try_parse_from(arguments).or_else(|_| {
        // Help, and errors too, show what other commands there are.
        let mut whole = whole_command_line();
        let matches = whole.try_get_matches_from_mut(arguments)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut whole))
    })
}

/// Returns the command line with the descriptions and options of all commands.
fn whole_command_line() -> clap::Command {
    let mut whole = Cli::command();
    whole.build();
    whole
}

/// Prints help or the version if they were requested, else the error of the command line.
///
/// The arguments may come from a stranger: a quoted argument stays on its line, and has no effect on a terminal.
fn explain_usage(mut error: clap::Error, json: JsonErrors) -> Exit {
    if !error.use_stderr() {
        stdio::remember_printed(error.print());
        return Exit::SUCCESS;
    }
    for kind in
        [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand, ContextKind::PriorArg]
    {
        if let Some(ContextValue::String(text)) = error.get(kind) {
            let line = terminal_escape::escape_line(text);
            error.insert(kind, ContextValue::String(line));
        }
    }
    suggest_separator(&mut error);
    let text = error.render().to_string();
    json.print(&CliError::usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end()));
    note!("{}", text.trim_end());
    Exit::from(error::USAGE)
}

/// Suggests `--` to whoever writes a script's arguments right behind the script.
fn suggest_separator(error: &mut clap::Error) {
    let (Some(ContextValue::String(argument)), Some(usage)) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::Usage))
    else {
        return;
    };
    if error.kind() == ErrorKind::UnknownArgument
        && !argument.starts_with('-')
        && usage.to_string().contains("-- <ARGS>")
    {
        let tip = format!("an argument of the script comes after `--`: `-- {argument}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Executes the command.
fn execute(cli: Cli, program: Program, arguments: Vec<OsString>) -> Result {
    let locations = Locations::find(cli.locations, program);
    match cli.command {
        Command::Run(run) => run.execute(&locations),
        Command::Batch(batch) => batch.execute(&locations, arguments),
        Command::Repl(repl) => repl.execute(&locations),
        Command::New(new) => new.execute(),
        Command::Build(build) => build.execute(&locations),
        Command::Test(test) => test.execute(&locations),
        Command::Dev(dev) => dev.execute(&locations),
        Command::Lock(lock) => lock.execute(&locations),
        Command::Publish(publish) => publish.execute(&locations),
        Command::Call(call) => call.execute(&locations),
        Command::Mcp(mcp) => mcp.execute(&locations, arguments),
        Command::McpProgram(program) => program.execute(),
        Command::McpRemote(remote) => remote.execute(),
        Command::NotifyWorker(worker) => worker.execute(&locations),
        Command::Tools(tools) => tools.execute(&locations),
        Command::Types(types) => types.execute(&locations),
        Command::Policy(policy) => policy.execute(&locations),
        Command::Session(session) => session.execute(&locations),
        Command::Verify(verify) => verify.execute(&locations),
        Command::Store(store) => store.execute(&locations),
        Command::Registry(registry) => registry.execute(&locations),
        Command::Programs(programs) => programs.execute(&locations),
        Command::Precompile(precompile) => precompile.execute(&locations),
        Command::Doctor(doctor) => doctor.execute(&locations),
        Command::Completions(completions) => completions.execute(),
        Command::Man(man) => man.execute(),
    }
}
