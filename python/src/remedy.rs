//! Remedies in the words of the Python package.

use std::fmt;

use tollhouse::remedy::{Remedy, RemedyWording};

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
            Remedy::DecideCalls(_) => {
                write!(out, "`Session.pending` lists what waits, `approve` or `deny` decides, and `resume` continues")
            }
            Remedy::ResolveCalls(_) => {
                write!(out, "find out what it did, and say so: `Session.resolve`; `Session.abandon` ends the run")
            }
            Remedy::AbandonRun(_) => write!(out, "`Session.abandon` ends the run"),
            Remedy::VerifyStore => write!(out, "`Store.verify` says what is missing or damaged"),
            Remedy::RepairStore => {
                write!(out, "`tollhouse store repair` sets its files aside and recovers what can be read")
            }
            Remedy::VerifyRegistry => write!(out, "`Registry.verify` lists all damage"),
            Remedy::ListTools => write!(out, "see the aliases in `tools`, or under `[tools]` in the policy"),
            Remedy::SignRelease(release) => {
                write!(out, "the owner of the key can sign it: `tollhouse registry sign {release} --key FILE`")
            }
            Remedy::TrustKey(name) => write!(
                out,
                "add the key: `tollhouse registry trust add {name} ed25519:…`, or write the key into the policy"
            ),
            Remedy::TrustApprover => {
                write!(out, "the keys are those that `approver_keys` names where runs are resumed")
            }
            Remedy::PinServer(_) => write!(out, "`McpServers.pin` pins what it offers"),
            Remedy::PinReleases => write!(out, "`tollhouse lock` pins the releases that the policy requests"),
            Remedy::Ask => write!(out, "give an `approver`, or open a `Session`, where a run waits for approval"),
        }
    }
}
