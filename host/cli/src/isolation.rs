//! Separation of what a command runs for several tenants.

use clap::ValueEnum;

/// Separation of jobs of a batch, or of clients of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Isolation {
    /// A sandbox for each
    #[default]
    Sandbox,
    /// A process for each, with the sandbox and the second wall
    Process,
}
