//! Commands for authors of tools: `tollhouse new`, `build`, `test` and `dev`.
//!
//! A build runs the author's own toolchain, on this machine and as this user: it is not sandboxed. Its output runs in
//! the sandbox that a call has, and nowhere else.

mod build;
mod ctrl_c;
mod dev;
mod lang;
mod new;
mod sample_arguments;
mod template;
mod test;
mod watch;

use std::path::{Path, PathBuf};

pub(crate) use build::BuildCommand;
pub(crate) use ctrl_c::CtrlCHandler;
pub(crate) use dev::DevCommand;
pub(crate) use new::NewPackageCommand;
pub(crate) use test::TestCommand;

use super::error::USAGE;
use super::{CliError, Result};

/// Returns the package directory of a command, as an absolute path: toolchains run in it.
fn directory(path: &Path) -> Result<PathBuf> {
    let unusable = |error: &std::io::Error| {
        CliError::because(format!("cannot build `{}`", path.display()), error)
            .status(USAGE)
            .hint("name the directory of a package, which contains `tool.toml`; `tollhouse new NAME` creates one")
    };
    let directory = path.canonicalize().map_err(|error| unusable(&error))?;
    if directory.is_dir() { Ok(directory) } else { Err(unusable(&std::io::ErrorKind::NotADirectory.into())) }
}
