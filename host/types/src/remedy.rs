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
    /// Decide about the calls that the suspended run of this session waits for.
    DecideCalls(&'a str),
    /// Say what became of interrupted calls of the run of this session.
    ResolveCalls(&'a str),
    /// End the run of this session that cannot be resumed.
    AbandonRun(&'a str),
    /// Look what of the store is missing or damaged.
    VerifyStore,
    /// Recover what can be read of a damaged database.
    RepairStore,
    /// Look what is wrong with the registry.
    VerifyRegistry,
    /// Look which tools are mounted.
    ListTools,
    /// Have the owner of a key sign a release, which has this full name.
    SignRelease(&'a str),
    /// Name the key of a signer.
    TrustKey(&'a str),
    /// Name the key of an approver on the machine that resumes runs.
    TrustApprover,
    /// Pin the tools of an MCP server.
    PinServer(&'a str),
    /// Pin the releases that the policy requests.
    PinReleases,
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

/// Wording of remedies for an interface. Each is the end of a sentence such as "write to a file, or …", or a sentence that
/// says what something does: "… says what is damaged".
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
            Remedy::DecideCalls(_) => write!(
                out,
                "`CallDecisions::pending_calls` lists what waits, `CallDecisions::decide` decides, and `Session::resume` continues"
            ),
            Remedy::ResolveCalls(_) => {
                write!(
                    out,
                    "find out what it did, and say so: `UnfinishedRuns::resolve`; `UnfinishedRuns::abandon` ends the run"
                )
            }
            Remedy::AbandonRun(_) => write!(out, "`UnfinishedRuns::abandon` ends the run"),
            Remedy::VerifyStore => {
                write!(
                    out,
                    "`SessionVerifier::verify_session` and `SessionVerifier::verify_blobs` say what is missing or damaged"
                )
            }
            Remedy::RepairStore => {
                write!(out, "`Sessions::repair` sets its files aside and recovers what can be read")
            }
            Remedy::VerifyRegistry => write!(out, "`Registry::verify` lists all damage"),
            Remedy::ListTools => write!(out, "`Gate::tools` lists what is mounted"),
            Remedy::SignRelease(release) => write!(out, "the owner of the key can sign `{release}`"),
            Remedy::TrustKey(name) => {
                write!(out, "add the key `{name}` to the keys of the registry, or write the key into the policy")
            }
            Remedy::TrustApprover => {
                write!(out, "the keys are those in `approver_keys` of the machine that resumes runs")
            }
            Remedy::PinServer(server) => write!(out, "pin what the server offers in the session's lock, as `{server}`"),
            Remedy::PinReleases => write!(out, "give the session a lock that pins them: `lock` of its options"),
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
    fn remedies_for_the_library_name_no_commands() {
        let all = [
            Remedy::RaiseLimit("wall"),
            Remedy::Grant { method: "m", is_program: false },
            Remedy::RaiseBudget("g"),
            Remedy::MountTool,
            Remedy::MountPackage,
            Remedy::StartServer("s"),
            Remedy::Ask,
            Remedy::WaitForSignature,
            Remedy::AnswerDryRun,
            Remedy::DecideCalls("s"),
            Remedy::ResolveCalls("s"),
            Remedy::AbandonRun("s"),
            Remedy::VerifyStore,
            Remedy::RepairStore,
            Remedy::VerifyRegistry,
            Remedy::ListTools,
            Remedy::SignRelease("r"),
            Remedy::TrustKey("k"),
            Remedy::TrustApprover,
            Remedy::PinServer("s"),
            Remedy::PinReleases,
        ];
        for remedy in all {
            let text = remedy.to_string();
            assert!(!text.contains("`tollhouse ") && !text.contains("`--"), "{remedy:?}: {text}");
        }
    }

    #[test]
    fn remedies_are_worded_for_the_library_unless_told() {
        assert_eq!(Remedy::RaiseLimit("wall").to_string(), "raise `wall` under `[limits]` in the policy");
        assert_eq!(limit_hint("wall", true), "it is the tool's own: `wall` under `[limits]` in its `tool.toml`");
    }
}
