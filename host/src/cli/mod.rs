//! The command line: what is asked, who answers, how it is shown.
//!
//! Only here does Tollhouse read the environment, print, or decide an exit status.

mod approve;
mod author;
mod batch;
mod call;
mod confine;
mod ctrl_c;
mod doctor;
mod draw;
mod error;
mod examples;
mod lock;
mod opening;
mod places;
mod policy;
mod policy_file;
mod progress;
mod publish;
mod registry;
mod repl;
mod run;
mod secret;
mod session;
mod show;
mod store;
mod token;
mod tools;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

pub(crate) use error::{CliError, Result};
use places::Places;

/// Runs the code that AI agents write, with tools they can be trusted with.
///
/// A script (JavaScript or bash) runs inside WebAssembly and calls tools that are WebAssembly components from a
/// registry. Nothing is granted unless you say so: with `--allow`, or with a policy file.
#[derive(Parser)]
#[command(name = "tollhouse", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    places: PlaceOptions,
    #[command(subcommand)]
    command: Command,
}

/// Where things are.
#[derive(Args)]
pub(crate) struct PlaceOptions {
    /// The registry to publish to and to mount tools from
    /// [default: $TOLLHOUSE_HOME/registry, else $XDG_DATA_HOME/tollhouse/registry]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Places")]
    pub(crate) registry: Option<std::path::PathBuf>,
    /// Where sessions are kept
    /// [default: $TOLLHOUSE_HOME/store, else $XDG_DATA_HOME/tollhouse/store]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Places")]
    pub(crate) store: Option<std::path::PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Run),
    Batch(batch::Batch),
    Repl(repl::Repl),
    New(author::New),
    Build(author::Build),
    Test(author::Test),
    Dev(author::Dev),
    Publish(publish::Publish),
    Lock(lock::Lock),
    Call(call::Call),
    Tools(tools::Tools),
    Types(tools::Types),
    #[command(subcommand)]
    Policy(policy::Policy),
    #[command(subcommand)]
    Session(session::Session),
    #[command(subcommand)]
    Store(store::Store),
    #[command(subcommand)]
    Registry(registry::Registry),
    Doctor(doctor::Doctor),
}

/// Runs what the command line asks for, and shows what went wrong.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    error::configure();
    let places = Places::find(cli.places);
    let done = match cli.command {
        Command::Run(run) => run.execute(&places),
        Command::Batch(batch) => batch.execute(&places),
        Command::Repl(repl) => repl.execute(&places),
        Command::New(new) => new.execute(),
        Command::Build(build) => build.execute(&places),
        Command::Test(test) => test.execute(&places),
        Command::Dev(dev) => dev.execute(&places),
        Command::Lock(lock) => lock.execute(&places),
        Command::Publish(publish) => publish.execute(&places),
        Command::Call(call) => call.execute(&places),
        Command::Tools(tools) => tools.execute(&places),
        Command::Types(types) => types.execute(&places),
        Command::Policy(policy) => policy.execute(&places),
        Command::Session(session) => session.execute(&places),
        Command::Store(store) => store.execute(&places),
        Command::Registry(registry) => registry.execute(&places),
        Command::Doctor(doctor) => doctor.execute(&places),
    };
    done.unwrap_or_else(|error| error.show())
}
