//! Remedies: what whoever runs scripts can do about an error, in the words of the interface that they use.
//!
//! Errors name a [`Remedy`]; how it is worded is said once for each interface, by a [`RemedyWording`]. A process has one
//! interface: the command line, a Python program, or a program in Rust that uses the library.

use std::fmt;
use std::sync::{PoisonError, RwLock};

/// Something that whoever runs scripts can do about an error. A new one has to be worded for each interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy<'a> {
    /// Raise a limit of the session, which has this name in the policy.
    RaiseLimit(&'a str),
    /// Grant calls of a method.
    Grant {
        /// The canonical method.
        method: &'a str,
        /// True if the method is a program that scripts run as a command.
        is_program: bool,
    },
    /// Raise the budget of a grant.
    RaiseBudget(&'a str),
    /// Mount a tool, where there is none.
    MountTool,
    /// Mount a package, under another alias than its name if need be.
    MountPackage,
    /// Start an MCP server that the policy names.
    StartServer(&'a str),
    /// Have somebody decide about a call, at once or later.
    Ask,
    /// Have the run wait until the approval of a call is signed.
    WaitForSignature,
    /// Have something answer a call that is not made in a dry run.
    AnswerDryRun,
    /// Read the description of a method.
    ReadDescription {
        /// The canonical method.
        method: &'a str,
        /// The method as JavaScript spells it, for `getToolInfo`.
        path: &'a str,
        /// The word of the shell, for `tool --help`.
        word: &'a str,
    },
    /// List the mounted methods.
    ListMethods,
}

/// Words the remedies for scripts, which have functions of their own for them. Other remedies are not a script's.
///
/// # Errors
/// Those of the formatter.
pub fn word_for_scripts(remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match remedy {
        Remedy::ReadDescription { path, word, .. } => {
            write!(out, "`getToolInfo('{path}')` and `tool --help {word}` say more")
        }
        Remedy::ListMethods => write!(out, "`listTools()` and `tool --list` name what is mounted"),
        _ => Ok(()),
    }
}

/// Wording of remedies for an interface. Each is the end of a sentence such as "write to a file, or …".
pub trait RemedyWording: Sync {
    /// Words a remedy.
    fn word(&self, remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Wording for programs in Rust, and where no other was chosen.
struct LibraryWording;

impl RemedyWording for LibraryWording {
    fn word(&self, remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match remedy {
            Remedy::RaiseLimit(limit) => write!(out, "raise `{limit}` under `[limits]` in the policy"),
            Remedy::Grant { method, .. } => write!(out, "grant it: [[grant]] method = \"{method}\" in the policy"),
            Remedy::RaiseBudget(grant) => write!(out, "raise the budget of grant `{grant}` in the policy"),
            Remedy::MountTool => write!(out, "mount a tool: `[tools]` in the policy"),
            Remedy::MountPackage => write!(out, "mount the package under an alias: `[tools]` in the policy"),
            Remedy::StartServer(server) => write!(out, "connect to it: `mcp` of the session's options, for `{server}`"),
            Remedy::WaitForSignature => {
                write!(out, "keep the session on disk, where a run waits until the approval is signed")
            }
            Remedy::Ask => {
                write!(out, "give the session an approver, or keep it on disk, where a run waits for approval")
            }
            Remedy::AnswerDryRun => {
                write!(out, "answer it in the `DryRunHandler`, or replay a recording: `CallSource::Replayed`")
            }
            Remedy::ReadDescription { .. } | Remedy::ListMethods => word_for_scripts(remedy, out),
        }
    }
}

static WORDING: RwLock<&'static dyn RemedyWording> = RwLock::new(&LibraryWording);

/// Sets the wording of remedies of this process, which is that of its interface.
pub fn set_remedy_wording(wording: &'static dyn RemedyWording) {
    *WORDING.write().unwrap_or_else(PoisonError::into_inner) = wording;
}

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wording = *WORDING.read().unwrap_or_else(PoisonError::into_inner);
        wording.word(*self, out)
    }
}

impl From<Remedy<'_>> for String {
    fn from(remedy: Remedy<'_>) -> Self {
        remedy.to_string()
    }
}

/// Returns the hint for a limit of one call that was reached: the tool's own limit, or the session's.
#[must_use]
pub fn limit_hint(limit: &str, is_the_tools: bool) -> String {
    if is_the_tools {
        format!("it is the tool's own: `{limit}` under `[limits]` in its `tool.toml`")
    } else {
        Remedy::RaiseLimit(limit).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_worded_for_the_library_unless_told() {
        assert_eq!(Remedy::RaiseLimit("wall").to_string(), "raise `wall` under `[limits]` in the policy");
        assert_eq!(limit_hint("wall", true), "it is the tool's own: `wall` under `[limits]` in its `tool.toml`");
    }
}
