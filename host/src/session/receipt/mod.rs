//! Receipts: a run as one signed file, from which anyone can run its script again and compare.
//!
//! A receipt has everything that a run depended on: script, journal, the part of the log, policy, lock, amounts spent
//! before, and the files with which it started. Verification trusts none of it: the policy judges each call of the log
//! again, the script runs again with the recorded results, calls without effects are made again, and the outcome and the
//! files have to be those that the receipt states. It cannot show whether a tool with effects was honest.
//!
//! Modules: `check` (the run is run again), `archive` (the file).

mod archive;
mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::Value as Json;
use tollhouse_types::key::{PrivateKey, PublicKey};

use self::archive::{Outcome, ReadReceipt};
use self::check::{CheckSettings, CheckedRun, LoggedRun};
use super::host::Host;
use super::journal::{JournalEntry, ReplayError};
use super::persistence::{CallCounts, RecordedRun};
use super::saved_session::PortableError;
use super::{CallRepetition, HostError, Point, RecordStatus, RunResult, Sessions, SessionsError};
use crate::capability::{Limits, Policy};
use crate::error::error_chain;
use crate::gate::ApproverKeys;
use crate::store::{ArchiveError, BlobError, MemoryBlobs};
use crate::tool::{HostTool, Lock, MountError};
use crate::vfs::OpenError;

/// Most scripts at once, and deepest nesting of calls, of a run that is verified, whatever its limits were.
const MAX_PROCESSES: u32 = 1_000;
const MAX_DEPTH: u32 = 100;

/// Reason why there is no receipt of a run, or one cannot be verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// The run cannot be read.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
    /// The run cannot be run again.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The run cannot be run again, since something differs that it depends on.
    #[error("the run cannot be run again")]
    Replay(#[from] ReplayError),
    /// A release cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The file cannot be read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A part of the files cannot be read.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The files of the receipt cannot be read.
    #[error("its files cannot be read")]
    Files(#[from] PortableError),
    /// The files of the receipt cannot be read.
    #[error("its files cannot be read")]
    Tree(#[from] OpenError),
    /// The file is no receipt of this version.
    #[error("it is not a receipt, or one of another version")]
    NoReceipt,
    /// The signature does not fit the receipt.
    #[error("its signature is missing, or not of this receipt: the file was altered")]
    Signature,
    /// The receipt does not have what it states.
    #[error("the receipt was altered: {0}")]
    Altered(&'static str),
    /// The journal or the log of the run is too long.
    #[error("the journal of the run, or its part of the log, has more than 64 MiB")]
    TooLong,
    /// What the receipt states, the journal or the log take too much memory.
    #[error("its statement, its journal and its log take more than the {0} bytes of memory that are allowed")]
    TooLarge(u64),
    /// None of those who are believed has signed the receipt.
    #[error("it is signed by {0}, whose receipts are not believed here")]
    Signer(PublicKey),
    /// The run does not do again what is recorded of it.
    #[error("the run does not do again what is recorded of it: {}", .0.join("; "))]
    Differs(Vec<String>),
    /// The first calls of the run are in the log of another, where they were judged.
    #[error("the run was forked in the middle of another, in whose log its first calls are")]
    Forked,
    /// No tool has this package.
    #[error("the run has no tool of the package `{0}`")]
    NoPackage(String),
}

/// Settings of a verification.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// Keys of those who can approve calls, by the names that policies have for them.
    pub keys: ApproverKeys,
    /// Host functions that the session had, which are not called: their effects are not known.
    pub host_tools: Vec<HostTool>,
    /// Keys whose receipts are believed: nothing of another one is looked at. `None` for every key.
    pub signers: Option<BTreeSet<PublicKey>>,
    /// Largest memory of the script, and of what is read of a receipt, in bytes.
    pub memory: u64,
    /// Longest time of the script.
    pub wall: Duration,
    /// Largest size of a receipt, unpacked, in bytes.
    pub size: u64,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self {
            keys: ApproverKeys::new(),
            host_tools: Vec::new(),
            signers: None,
            memory: 1 << 30,
            wall: Duration::from_mins(5),
            size: 1 << 30,
        }
    }
}

/// Outcome of a verification.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// True if everything was as the receipt states.
    pub verified: bool,
    /// Name of the session. In a receipt it is the signer's word.
    pub session: String,
    /// Number of the run.
    pub run: u64,
    /// Name of the script.
    pub script: String,
    /// Status of the run.
    pub status: RecordStatus,
    /// Value that the script returned.
    pub value: Option<Json>,
    /// Snapshot of the files after the run.
    pub snapshot: Option<String>,
    /// Policy by which the calls were judged.
    pub policy: Json,
    /// Key that has signed the receipt; `None` for a run of a session here.
    pub key: Option<PublicKey>,
    /// Calls of the run.
    pub calls: Vec<VerifiedCall>,
    /// Differences, besides those of calls.
    pub problems: Vec<String>,
    /// True if the run was stopped from outside where its script waited. That it was stopped there is the signer's word.
    pub stopped: bool,
}

/// Call of a run, judged and made again.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VerifiedCall {
    /// Number of the call in its run.
    pub seq: u64,
    /// Number of the call whose tool made this one; `None` for a call of the script.
    pub caller: Option<u64>,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments, as the log has them.
    pub arguments: Json,
    /// Judgement of the policy.
    #[serde(flatten)]
    pub verdict: CallVerdict,
    /// Comparison of the recorded result with that of a repetition; `None` if the script was given none.
    pub repetition: Option<CallRepetition>,
}

/// Judgement of the policy about a call of a log.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallVerdict {
    /// The call was made, and the policy allows it.
    Allowed {
        /// Name of the grant.
        grant: String,
    },
    /// The call was refused, or never started.
    NotMade,
    /// The call was made, and must not have been.
    Wrong {
        /// What is wrong.
        problem: String,
    },
}

impl Verification {
    fn new(run: &RecordedRun, checked: CheckedRun, key: Option<PublicKey>) -> Self {
        let CheckedRun { result, calls, problems, waits: stopped, .. } = checked;
        let is_wrong = |call: &VerifiedCall| {
            matches!(call.verdict, CallVerdict::Wrong { .. })
                || matches!(call.repetition, Some(CallRepetition::Differs { .. }))
        };
        Self {
            verified: problems.is_empty() && !calls.iter().any(is_wrong),
            session: run.session.name.clone(),
            run: run.number,
            script: run.record.script.clone(),
            status: run.record.status,
            value: result.value,
            snapshot: run.record.snapshot.map(|snapshot| snapshot.to_string()),
            policy: run.policy.to_json(),
            key,
            calls,
            problems,
            stopped,
        }
    }

    /// Lists everything that differs, one sentence for each.
    fn differences(&self) -> Vec<String> {
        let of_call = |call: &VerifiedCall| match (&call.verdict, &call.repetition) {
            (CallVerdict::Wrong { problem }, _) => Some(format!("call {} of `{}`: {problem}", call.seq, call.method)),
            (_, Some(CallRepetition::Differs { .. })) => {
                Some(format!("call {} of `{}` has another result now", call.seq, call.method))
            }
            _ => None,
        };
        self.problems.iter().cloned().chain(self.calls.iter().filter_map(of_call)).collect()
    }
}

impl Host {
    /// Writes the receipt of a run that has ended, signed with a key; without a number, that of the session's last run.
    /// The run is verified first.
    ///
    /// # Errors
    /// If the run has not ended, its journal is not kept, or it does not do again what is recorded of it.
    pub fn receipt<W: Write>(
        &self,
        sessions: &Sessions,
        point: &Point,
        key: &PrivateKey,
        options: &VerifyOptions,
        to: W,
    ) -> Result<(W, Verification), ReceiptError> {
        let run = sessions.history().recorded_run(point)?;
        let checked = self.checked(&run, &options.settings(), None)?;
        let outcome = outcome(&checked);
        let verification = Verification::new(&run, checked, None);
        if !verification.verified {
            return Err(ReceiptError::Differs(verification.differences()));
        }
        Ok((archive::write(&run, outcome, &*sessions.record_reader().source(), key, to)?, verification))
    }

    /// Verifies a receipt: judges its calls again, runs its script again with the recorded results, and makes calls without
    /// effects again. Whose key it is that has signed, is for the caller to decide.
    ///
    /// # Errors
    /// If the file is no receipt or was altered, a key has signed it that is not believed, or its tools are not in the
    /// registry. A run that differs is a verification that says so.
    pub fn verify<R: Read>(&self, receipt: R, options: &VerifyOptions) -> Result<Verification, ReceiptError> {
        let ReadReceipt { statement, run, key } = archive::read(receipt, options)?;
        let checked = self.checked(&run, &options.settings(), Some(&statement.outcome))?;
        Ok(Verification::new(&run, checked, Some(key)))
    }

    /// Makes the calls of a run that has ended again by another release of a package, as far as they have no effects, and
    /// compares the results with the recorded ones. The script is given the recorded ones.
    ///
    /// # Errors
    /// Those of [`Host::receipt`]; if no tool of the run is of that package, or there is no such release.
    pub fn replay_against(
        &self,
        sessions: &Sessions,
        point: &Point,
        release: &str,
        options: &VerifyOptions,
    ) -> Result<Verification, ReceiptError> {
        let run = sessions.history().recorded_run(point)?;
        let against = Some(self.with_release(&run, release)?);
        let settings = CheckSettings { against, ..options.settings() };
        let checked = self.checked(&run, &settings, None)?;
        Ok(Verification::new(&run, checked, None))
    }

    /// Returns the aliases of the tools of a run that have this package, and the lock with the other release.
    fn with_release(&self, run: &RecordedRun, release: &str) -> Result<(BTreeSet<String>, Lock), ReceiptError> {
        let (package, version) = release.split_once('@').unwrap_or((release, ""));
        // A whole version means that release, and not a compatible one.
        let requirement = match version.parse::<semver::Version>() {
            Ok(version) => format!("{package}@={version}"),
            Err(_) => release.to_owned(),
        };
        let packages = run.lock.packages.iter().filter(|(_, locked)| locked.name.to_string() == package);
        let aliases: BTreeSet<String> = packages.map(|(alias, _)| alias.clone()).collect();
        if aliases.is_empty() {
            return Err(ReceiptError::NoPackage(package.to_owned()));
        }
        let nothing_else = Policy { tools: Some(BTreeMap::new()), ..Policy::default() };
        let wanted: Vec<_> = aliases.iter().map(|alias| (alias.clone(), requirement.clone())).collect();
        let pinned = self.packages().pin(&nothing_else, &wanted, &Lock::default())?;
        let mut lock = run.lock.clone();
        lock.packages.extend(pinned.packages);
        Ok((aliases, lock))
    }

    /// Checks a run, and compares how it ended with its record and, if it is known, with its outcome.
    fn checked(
        &self,
        run: &RecordedRun,
        settings: &CheckSettings,
        expected: Option<&Outcome>,
    ) -> Result<CheckedRun, ReceiptError> {
        if run.journal.iter().any(|entry| matches!(entry, JournalEntry::Forked { .. })) {
            return Err(ReceiptError::Forked);
        }
        let mut checked = check::check(self.state(), run, settings)?;
        let problems = ending(run, &checked, expected);
        checked.problems.extend(problems.into_iter().chain(unlogged(run, &checked.logged)));
        Ok(checked)
    }
}

impl VerifyOptions {
    fn settings(&self) -> CheckSettings {
        let &Self { memory, wall, size, .. } = self;
        let most = Limits {
            wall,
            tool_wall: wall,
            memory,
            output: memory,
            argument: memory,
            result: memory,
            files: size,
            log: size,
            processes: MAX_PROCESSES,
            depth: MAX_DEPTH,
            fuel: u64::MAX,
            calls: u64::MAX,
            concurrency: u32::MAX,
            pending: u32::MAX,
        };
        CheckSettings { keys: self.keys.clone(), host_tools: self.host_tools.clone(), most, against: None }
    }
}

/// Returns what differs in how a run ended.
fn ending(run: &RecordedRun, checked: &CheckedRun, expected: Option<&Outcome>) -> Vec<String> {
    let (record, result) = (&run.record, &checked.result);
    let mut problems = Vec::new();
    if checked.waits {
        if !record.status.may_end_from_outside() {
            problems
                .push("the script waits where its journal ends, and the run is said to have ended there".to_owned());
        }
    } else if RecordStatus::from(result.status) != record.status {
        let failure = result.error.as_ref().map(|error| format!(" ({})", error.message)).unwrap_or_default();
        problems.push(format!("the run ended as `{}`, and ends as `{}`{failure}", record.status, result.status.word()));
    }
    match result.files.seal(&mut &MemoryBlobs::default()) {
        Ok(snapshot) if record.snapshot == Some(snapshot) => {}
        // A run that was stopped may have left none.
        Ok(_) if record.snapshot.is_none() && checked.waits => {}
        Ok(_) => problems.push("the files are not those that the run left".to_owned()),
        Err(error) => problems.push(format!("the files cannot be compared: {}", error_chain(&error))),
    }
    if expected.is_some_and(|expected| *expected != outcome(checked)) {
        problems.push("the value, the error or the output of the script is another".to_owned());
    }
    problems
}

/// Longest time between what a record and the log say of a start or an end: both are written at once.
const CLOCK_DIFFERENCE: Duration = Duration::from_mins(10);

/// Returns what the record of a run says otherwise than its part of the log.
fn unlogged(run: &RecordedRun, logged: &LoggedRun) -> Vec<String> {
    let record = &run.record;
    let mut problems = Vec::new();
    let CallCounts { admitted, denied } = logged.counts;
    if record.calls != admitted || (record.denied != denied && !logged.is_full) {
        problems.push(format!(
            "the log has {admitted} calls that were made and {denied} that were denied, and {} and {} are stated",
            record.calls, record.denied
        ));
    }
    let near = |stated: u64, logged: SystemTime| {
        let stated = SystemTime::UNIX_EPOCH + Duration::from_nanos(stated);
        let apart = stated.duration_since(logged).unwrap_or_else(|earlier| earlier.duration());
        apart <= CLOCK_DIFFERENCE
    };
    let is_near = logged.times.is_some_and(|(first, last)| {
        near(record.started, first) && record.ended.is_some_and(|ended| near(ended, last))
    });
    if !is_near {
        problems.push("the log has other times of its start and end than are stated".to_owned());
    }
    problems
}

/// Returns what the script of a run returned and wrote.
fn outcome(checked: &CheckedRun) -> Outcome {
    if checked.waits {
        return Outcome::default();
    }
    let RunResult { value, exit_code, error, stdout, stderr, .. } = &checked.result;
    let digest = |bytes: &[u8]| blake3::hash(bytes).to_string();
    Outcome {
        value: value.clone(),
        exit_code: *exit_code,
        error: error.as_ref().map(|error| (error.kind.word().to_owned(), error.name.clone(), error.message.clone())),
        output: [digest(stdout), digest(stderr)],
    }
}
