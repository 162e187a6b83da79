//! `tollhouse session receipt`, `tollhouse verify` and `session replay --against`: runs that are run again and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tollhouse::capability::{parse_bytes, parse_duration};
use tollhouse::session::{
    CallRepetition, CallVerdict, Host, Point, ReceiptError, Verification, VerifiedCall, VerifyOptions,
};
use tollhouse_registry::{PublicKey, untrusted_file};

use super::confine::{ConfineArgs, Confinement};
use super::locations::Locations;
use super::progress::Progress;
use super::registry::sign::private_key;
use super::registry::trust;
use super::session::transfer::write_file;
use super::{CliError, Result, format, show};
use crate::Exit;

/// Write the receipt of a run: one signed file, from which `tollhouse verify` runs it again
///
/// The run has ended, and its journal is kept: `[journal] keep = "30d"` in the policy. Before anything is signed, the script
/// runs again with the recorded results, the policy judges each call again, and calls of tools without effects are made
/// again. The receipt has the script, its input and results, and the files with which it started: whoever has it can read
/// them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session receipt report report.tlr --key finance.key
  tollhouse session receipt report@2 report-2.tlr --key finance.key")]
pub(crate) struct ReceiptCommand {
    /// The session's last run, or SESSION@RUN
    #[arg(value_name = "SESSION[@RUN]")]
    point: Point,
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Sign with the private key in this file, as `tollhouse registry keygen` wrote it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Replace an existing file
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    most: MostArgs,
    /// Print one JSON object: that of `tollhouse verify --json`
    #[arg(long)]
    json: bool,
}

/// Verify the receipt of a run, by running it again
///
/// The signature has to be by a key of `tollhouse registry trust`. Then the receipt's policy judges each call of its log
/// again, its script runs again with the recorded results, and calls of tools without effects are made again by the releases
/// in this registry; the outcome and the files have to be those that were signed. Nothing else is called, and nothing is
/// kept.
///
/// Exit status: 0 if everything is as the receipt states, else 1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse verify report.tlr
  tollhouse verify report.tlr --signer finance --json")]
pub(crate) struct VerifyCommand {
    /// The receipt, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The trusted key that has to have signed, by its name [default: any trusted key]
    #[arg(long, value_name = "NAME")]
    signer: Option<String>,
    /// The largest size that the receipt may have, unpacked
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "1GiB")]
    limit: u64,
    #[command(flatten)]
    most: MostArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: verified, session, run, script, status, value, snapshot, policy, key, signer, calls (each {seq, caller,
    /// method, arguments, verdict, grant or problem, repetition}), problems
    #[arg(long)]
    json: bool,
}

/// Limits of a script that runs again.
#[derive(Args, Clone, Copy)]
pub(crate) struct MostArgs {
    /// The longest time that the script may take
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5m")]
    timeout: Duration,
    /// The largest memory that the script may take, if the run was allowed as much
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "1GiB")]
    memory: u64,
}

impl MostArgs {
    fn options(self, locations: &Locations) -> Result<VerifyOptions> {
        let Self { timeout: wall, memory } = self;
        Ok(VerifyOptions { keys: trust::all(locations)?, memory, wall, ..VerifyOptions::default() })
    }
}

impl ReceiptCommand {
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let key = private_key(&self.key)?;
        let (sessions, host) = (locations.sessions()?, locations.host()?);
        let options = self.most.options(locations)?;
        let progress = Progress::new(format!("running {} again", self.point));
        let written = write_file(&self.file, self.force, |out| {
            let written = host.receipt(&sessions, &self.point, &key, &options, out);
            written
                .map(|(_, verification)| verification)
                .map_err(|error| failed(&format!("cannot write a receipt of {}", self.point), error))
        });
        drop(progress);
        let (verification, bytes) = written?;
        if self.json {
            show::json_pretty(&report(&verification, None));
        } else {
            let calls = verification.calls.len();
            show::line(format_args!("{} ({}, {calls} calls)", self.file.display(), format::size(bytes)));
        }
        Ok(Exit::SUCCESS)
    }
}

impl VerifyCommand {
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        self.confine.seal(|| Confinement::of(locations, false).reading([&self.file]))?;
        let file: Box<dyn io::Read> = if self.file == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            let opened = untrusted_file::open_named(&self.file).map_err(io::Error::from);
            let cannot = |error| CliError::because(format!("cannot read `{}`", self.file.display()), &error);
            Box::new(opened.map_err(cannot)?)
        };
        let host = locations.host()?;
        let mut options = self.most.options(locations)?;
        options.size = self.limit;
        let names = trust::names(locations)?;
        options.signers = Some(self.signers(&names)?);
        let progress = Progress::new(format!("verifying {}", self.file.display()));
        let verified = host.verify(BufReader::new(progress.count(file)), &options);
        drop(progress);
        let what = format!("cannot verify `{}`", self.file.display());
        let verification = verified.map_err(|error| self.failed(&what, error, &names))?;
        let signer = verification.key.and_then(|key| names.get(&key)).map(String::as_str);
        if self.json {
            show::json_pretty(&report(&verification, signer));
        } else {
            show_verification(&verification);
            show::line(format_args!("signed by `{}`", show::plain(signer.unwrap_or_default())));
        }
        conclude(&verification, "is not verified")
    }

    /// Returns the keys whose receipts are believed.
    fn signers(&self, names: &BTreeMap<PublicKey, String>) -> Result<BTreeSet<PublicKey>> {
        let is_meant = |name: &String| self.signer.as_ref().is_none_or(|wanted| wanted == name);
        let keys: BTreeSet<PublicKey> = names.iter().filter(|(_, name)| is_meant(name)).map(|(key, _)| *key).collect();
        match &self.signer {
            Some(wanted) if keys.is_empty() => Err(CliError::usage(format!("no trusted key is named `{wanted}`"))
                .hint("`tollhouse registry trust list` names them")),
            _ => Ok(keys),
        }
    }

    /// Converts an error for the user.
    fn failed(&self, what: &str, error: ReceiptError, names: &BTreeMap<PublicKey, String>) -> CliError {
        let ReceiptError::Signer(key) = error else { return failed(what, error) };
        match (names.get(&key), &self.signer) {
            (Some(signer), Some(wanted)) => {
                let error = OtherSigner { signer: signer.clone(), wanted: wanted.clone() };
                CliError::because("the receipt is not verified", &error)
            }
            _ => CliError::because("the receipt is not verified", &UntrustedSigner(key.to_string()))
                .hint(format!("if you know whose key it is: `tollhouse registry trust add NAME {key}`")),
        }
    }
}

/// Error of a receipt whose signer is not trusted.
#[derive(Debug, thiserror::Error)]
#[error("it is signed by {0}, which this machine does not trust")]
struct UntrustedSigner(String);

/// Error of a receipt that another key has signed than was asked for.
#[derive(Debug, thiserror::Error)]
#[error("it is signed by `{signer}`, and not by `{wanted}`")]
struct OtherSigner {
    signer: String,
    wanted: String,
}

/// Error with which a verification ends that found differences.
#[derive(Debug, thiserror::Error)]
#[error("what was recorded, and what happens when it is run again, differ")]
struct Differs;

/// Error of a comparison of releases in which no call was made again.
#[derive(Debug, thiserror::Error)]
#[error("no call was made again: the run has none of that package, or none without effects")]
struct NothingRepeated;

/// Makes the calls of a run again by another release of a tool, and shows what differs.
pub(crate) fn replay_against(
    host: &Host,
    locations: &Locations,
    point: &Point,
    release: &str,
    is_json: bool,
) -> Result {
    let options = VerifyOptions { keys: trust::all(locations)?, ..VerifyOptions::default() };
    let progress = Progress::new(format!("running the calls of {point} again by {release}"));
    let replayed = host.replay_against(&locations.sessions()?, point, release, &options);
    drop(progress);
    let what = format!("cannot run {point} against `{release}`");
    let verification = replayed.map_err(|error| failed(&what, error))?;
    let is_made =
        |call: &VerifiedCall| matches!(call.repetition, Some(CallRepetition::Same | CallRepetition::Differs { .. }));
    let is_compared = verification.calls.iter().any(is_made);
    if is_json {
        show::json_pretty(&report(&verification, None));
    } else {
        show_verification(&verification);
    }
    if !is_compared {
        return Err(CliError::because(format!("cannot compare {point} with `{release}`"), &NothingRepeated));
    }
    conclude(&verification, &format!("is another with {release}"))
}

fn conclude(verification: &Verification, what: &str) -> Result {
    for problem in &verification.problems {
        note!("{problem}");
    }
    if verification.verified {
        return Ok(Exit::SUCCESS);
    }
    Err(CliError::because(format!("{}@{} {what}", verification.session, verification.run), &Differs))
}

fn report(verification: &Verification, signer: Option<&str>) -> serde_json::Value {
    let mut report = json!(verification);
    report["signer"] = json!(signer);
    report
}

fn show_verification(verification: &Verification) {
    let Verification { session, run, script, status, calls, .. } = verification;
    show::line(format_args!("{}@{run}  {}  {}", show::plain(session), show::plain(script), status));
    calls.iter().for_each(show_call);
    if let Some(value) = &verification.value {
        show::line(format_args!("      value      {}", show::cut(&value.to_string())));
    }
    if let Some(snapshot) = &verification.snapshot {
        show::line(format_args!("      files      {snapshot}"));
    }
    if verification.stopped {
        show::line("      stopped from outside, where the script waited: that it was is the signer's word");
    }
}

fn show_call(call: &VerifiedCall) {
    let caller = call.caller.map(|caller| format!(" of call {caller}")).unwrap_or_default();
    let verdict = match &call.verdict {
        CallVerdict::Allowed { grant } => format!("allowed by `{}`", show::plain(grant)),
        CallVerdict::Wrong { problem } => format!("WRONG: {}", show::plain(problem)),
        _ => "not made".to_owned(),
    };
    let repetition = match &call.repetition {
        Some(CallRepetition::Same) => ", made again: same result".to_owned(),
        Some(CallRepetition::Differs { .. }) => ", made again: ANOTHER RESULT".to_owned(),
        Some(CallRepetition::NotMade { reason }) => format!(", not made again: {reason}"),
        _ => String::new(),
    };
    show::line(format_args!("{:>4}  {}{caller}  {verdict}{repetition}", call.seq, show::plain(&call.method)));
    show::line(format_args!("      arguments  {}", show::cut(&call.arguments.to_string())));
    if let Some(CallRepetition::Differs { recorded, repeated, files }) = &call.repetition {
        show::line(format_args!("      recorded   {}", show::cut(&recorded.to_string())));
        show::line(format_args!("      repeated   {}", show::cut(&repeated.to_string())));
        for file in files {
            show::line(format_args!("      file       {}", show::plain(file)));
        }
    }
}

/// Converts an error for the user.
fn failed(what: &str, error: ReceiptError) -> CliError {
    match error {
        ReceiptError::Sessions(error) => super::session::failed(what, &error),
        ReceiptError::Host(error) => {
            let hint = "the releases of its tools have to be in this registry, and functions of a program that embedded \
                        Tollhouse are not";
            CliError::because(what, &error).hint(hint)
        }
        ReceiptError::NoPackage(_) => {
            CliError::because(what, &error).hint("write `namespace:package@version`, for example `acme:payments@1.2.0`")
        }
        error => CliError::because(what, &error),
    }
}
