//! Remedies in the words of the Python package.

use std::fmt;

use tollhouse::remedy::{Remedy, RemedyWording, word_for_scripts};

/// Wording by parameters of `Sandbox`, and by the policy.
pub(crate) struct PythonWording;

impl RemedyWording for PythonWording {
    fn word(&self, remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match remedy {
            Remedy::RaiseLimit(limit) => write!(out, "raise `{limit}` in `limits`, or under `[limits]` in the policy"),
            Remedy::Grant { method, .. } => {
                write!(
                    out,
                    "grant it: \"{method}\" in `capabilities`, or [[grant]] method = \"{method}\" in the policy"
                )
            }
            Remedy::RaiseBudget(grant) => {
                write!(out, "raise the budget of `{grant}`: `max_calls` of the capability, or in the policy")
            }
            Remedy::MountTool => write!(out, "give it in `tools`, or mount a component by a `policy`"),
            Remedy::MountPackage => write!(out, "mount the package under an alias: `[tools]` in the policy"),
            Remedy::StartServer(server) => write!(out, "start it: `mcp={{\"{server}\": …}}`"),
            Remedy::AnswerDryRun => {
                write!(out, "answer it: `dry_run=FUNCTION`, or record a run and `replay` it")
            }
            Remedy::WaitForSignature => {
                write!(out, "open a `Session`, where a run waits for `approve(key=…)`")
            }
            Remedy::ReadDescription { .. } | Remedy::ListMethods => word_for_scripts(remedy, out),
            Remedy::Ask => write!(out, "give an `approver`, or open a `Session`, where a run waits for approval"),
        }
    }
}
