//! Remedies in the words of the command line, and of an MCP server's clients.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use tollhouse::remedy::{Remedy, RemedyWording, word_for_scripts};

/// True if the grants of this process are those of a token, which its holder cannot change.
static IS_OF_TOKEN: AtomicBool = AtomicBool::new(false);

/// Words budgets as those of a token from now on.
pub(crate) fn word_for_token() {
    IS_OF_TOKEN.store(true, Ordering::Relaxed);
}

/// Wording by options of `run`, and by the policy file.
pub(crate) struct CommandLineWording;

impl RemedyWording for CommandLineWording {
    fn word(&self, remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match remedy {
            Remedy::RaiseLimit(limit) => word_limit(limit, out),
            Remedy::Grant { method, is_program } => word_grant(method, is_program, out),
            Remedy::RaiseBudget(grant) if IS_OF_TOKEN.load(Ordering::Relaxed) => {
                write!(out, "ask the issuer of the token for a larger budget of grant `{grant}`")
            }
            Remedy::RaiseBudget(grant) => write!(out, "raise the budget of grant `{grant}` in the policy"),
            Remedy::MountTool => write!(out, "publish one, or mount it with `--tool`"),
            Remedy::MountPackage => write!(out, "mount the package with `--tool ALIAS=NS:NAME@REQ`"),
            Remedy::StartServer(server) => write!(out, "start it: `--policy FILE --allow-exec {server}`"),
            Remedy::WaitForSignature => write!(
                out,
                "run it in a session (`--session NAME`), where a run waits for `tollhouse session approve NAME --key FILE`"
            ),
            Remedy::Ask => {
                write!(out, "run it on a terminal, or in a session (`--session NAME`), where a run waits for approval")
            }
            Remedy::AnswerDryRun => {
                write!(out, "run it on a terminal, which asks for the result, or record a run and `--replay FILE` it")
            }
            Remedy::DecideCalls(session) => write!(
                out,
                "`tollhouse session pending {session}` shows what waits, `session approve {session}` or `session deny {session}` decides, and `session resume {session}` continues"
            ),
            Remedy::ResolveCalls(session) => write!(
                out,
                "find out what it did, and say so: `tollhouse session resolve {session} SEQ retry`, `… fail MESSAGE` or `… done JSON`; `session abandon {session}` ends the run"
            ),
            Remedy::AbandonRun(session) => write!(out, "`tollhouse session abandon {session}` ends the run"),
            Remedy::VerifyStore => write!(out, "`tollhouse store verify` says what is missing or damaged"),
            Remedy::RepairStore => {
                write!(out, "`tollhouse store repair` sets its files aside and recovers what can be read")
            }
            Remedy::VerifyRegistry => write!(out, "`tollhouse registry verify` lists all damage"),
            Remedy::ListTools => write!(out, "`tollhouse tools` lists what is mounted"),
            Remedy::SignRelease(release) => {
                write!(out, "the owner of the key can sign it with `tollhouse registry sign {release} --key FILE`")
            }
            Remedy::TrustKey(name) => write!(
                out,
                "add the key: `tollhouse registry trust add {name} ed25519:…`, or write the key into the policy"
            ),
            Remedy::TrustApprover => {
                write!(out, "`tollhouse registry trust add NAME KEY` names a key on the machine that resumes runs")
            }
            Remedy::PinServer(server) => write!(
                out,
                "`tollhouse mcp lock --policy FILE --allow-exec {server}` starts it, and pins what it offers"
            ),
            Remedy::PinReleases => write!(out, "`tollhouse lock` pins the releases that the policy requests"),
            Remedy::ReadDescription { .. } | Remedy::ListMethods => word_for_scripts(remedy, out),
        }
    }
}

/// Says how a limit is raised.
fn word_limit(limit: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let option = match limit {
        "wall" => "--timeout",
        "memory" => "--memory",
        "fuel" => "--fuel",
        other => return write!(out, "raise `{other}` by `--limit {other}=…`, or under `[limits]` in a policy"),
    };
    write!(out, "raise `{limit}` by `{option}`, or under `[limits]` in a policy")
}

/// Says how a method is granted.
fn word_grant(method: &str, is_program: bool, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "grant it: ")?;
    match method {
        // It is of no use without a host that it may call.
        "http/fetch" => write!(out, "`--allow-net HOST`")?,
        // With the session's files, without which most programs are of little use.
        _ if is_program => write!(out, "`--allow {method}/run`")?,
        _ => write!(out, "`--allow '{method}'`")?,
    }
    write!(out, ", or [[grant]] method = \"{method}\" in a policy")
}

/// Wording of commands that run no script, such as `call`: the command line describes methods.
pub(crate) struct CallWording;

impl RemedyWording for CallWording {
    fn word(&self, remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match remedy {
            Remedy::ReadDescription { method, .. } => write!(out, "`tollhouse tools {method}` says more"),
            Remedy::ListMethods => write!(out, "`tollhouse tools` lists what is mounted"),
            remedy => CommandLineWording.word(remedy, out),
        }
    }
}

/// Wording for the clients of a gateway, which have the tools and nothing else.
pub(crate) struct GatewayWording;

impl RemedyWording for GatewayWording {
    fn word(&self, remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match remedy {
            Remedy::ReadDescription { .. } => write!(out, "its input schema in `tools/list` says more"),
            Remedy::ListMethods => write!(out, "`tools/list` has what is offered"),
            remedy => ServerWording.word(remedy, out),
        }
    }
}

/// Wording for models: options are for whoever runs the server.
pub(crate) struct ServerWording;

impl RemedyWording for ServerWording {
    fn word(&self, remedy: Remedy<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match remedy {
            Remedy::Ask => write!(
                out,
                "ask whoever runs this server to keep its session (`--session NAME`), where a run waits for `tollhouse session approve NAME`"
            ),
            Remedy::WaitForSignature => write!(
                out,
                "ask whoever runs this server to keep its session (`--session NAME`), where a run waits for `tollhouse session approve NAME --key FILE`"
            ),
            // These are for whoever runs the server as they are.
            Remedy::DecideCalls(_)
            | Remedy::ResolveCalls(_)
            | Remedy::AbandonRun(_)
            | Remedy::VerifyStore
            | Remedy::RepairStore
            | Remedy::VerifyRegistry
            | Remedy::ListTools
            | Remedy::SignRelease(_)
            | Remedy::TrustApprover
            | Remedy::PinServer(_)
            | Remedy::PinReleases => CommandLineWording.word(remedy, out),
            // A script reads it, or a client that calls an exposed tool.
            Remedy::ReadDescription { path, word, .. } => {
                write!(out, "`search_tools`, and in scripts `getToolInfo('{path}')` and `tool --help {word}`, say more")
            }
            Remedy::ListMethods => {
                write!(out, "`search_tools`, and in scripts `listTools()` and `tool --list`, name what is mounted")
            }
            remedy => {
                write!(out, "ask whoever runs this server to ")?;
                CommandLineWording.word(remedy, out)
            }
        }
    }
}
