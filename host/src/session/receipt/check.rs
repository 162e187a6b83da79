//! Check of a recorded run: its decisions are judged again, its script runs again with the recorded results, and calls
//! without effects are made again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};

use super::{CallVerdict, VerifiedCall};
use crate::capability::{Limits, Policy};
use crate::gate::{ApproverKeys, Chain, Gate, GateOptions, JudgedCall, RecordedDecisions, SignatureCheck, event_time};
use crate::ledger::Used;
use crate::session::guest_seed::GuestSeed;
use crate::session::host::{HostState, file_limits};
use crate::session::journal::{JournalEntry, ReplayError, RunStart};
use crate::session::persistence::RecordedRun;
use crate::session::run::{CheckFindings, RepeatedCalls, Run, RunJournal};
use crate::session::session_state::ResumableRun;
use crate::session::session_storage::{RunSlot, SessionStorage};
use crate::session::{HostError, RunEffects, RunOptions, RunResult, Session};
use crate::tool::{Lock, MountedTools, ToolServices};
use crate::vfs::Tree;

/// What a check needs besides the run.
pub(super) struct CheckSettings {
    /// Keys of those who can approve calls.
    pub(super) keys: ApproverKeys,
    /// Limits that the run's own must not exceed.
    pub(super) most: Limits,
    /// Tool whose calls are made by another release, with the lock that has it.
    pub(super) against: Option<(String, Lock)>,
}

/// Run that was checked.
pub(super) struct CheckedRun {
    pub(super) result: RunResult,
    pub(super) calls: Vec<VerifiedCall>,
    /// True if the script waited where the journal ends.
    pub(super) waits: bool,
    /// Differences that are not those of a call.
    pub(super) problems: Vec<String>,
}

/// Checks a run.
///
/// # Errors
/// If its tools are not in the registry, or it is of another version of the guests.
pub(super) fn check(
    host: &Arc<HostState>,
    run: &RecordedRun,
    settings: &CheckSettings,
) -> Result<CheckedRun, HostError> {
    let start = start_of(run)?;
    let limits = start.limits()?.at_most(&settings.most);
    let policy = Policy { limits, ..run.policy.clone() };
    let mounted = host.packages().mount_locked(&run.lock, &policy.signed)?;
    let mut problems = Vec::new();
    let judged = decisions(run, Arc::clone(&mounted), &policy, settings, &mut problems)?;
    let mut calls = verdicts(&judged);

    let session = session(host, mounted, &policy, &run.spent, run.files.clone())?;
    let tools = match &settings.against {
        None => session.clone(),
        Some((_, lock)) => {
            let mounted = host.packages().mount_locked(lock, &policy.signed)?;
            self::session(host, mounted, &policy, &run.spent, run.files.clone())?
        }
    };
    let only = settings.against.as_ref().map(|(alias, _)| alias.clone());
    let repeated = RepeatedCalls { tools, seeds: run.seeds.clone(), only };
    let (result, findings) = replay(session, run, start, judged, repeated)?;
    for call in calls.iter_mut().filter(|call| call.caller.is_none() && !findings.made.contains(&call.seq)) {
        if let CallVerdict::Allowed { .. } = call.verdict {
            call.verdict = CallVerdict::Wrong { problem: "the script does not make it".to_owned() };
        }
    }
    for checked in findings.calls {
        if let Some(call) = calls.iter_mut().find(|call| call.seq == checked.seq) {
            call.repetition = Some(checked.repetition);
        }
    }
    let waits = result.status == crate::session::Status::Suspended;
    Ok(CheckedRun { result, calls, waits, problems })
}

fn start_of(run: &RecordedRun) -> Result<&RunStart, ReplayError> {
    match run.journal.first() {
        Some(JournalEntry::Started(start)) => Ok(start),
        _ => Err(ReplayError::Unreadable("it has no start".to_owned())),
    }
}

/// Judges the calls of the log again, after checking that its lines follow each other.
fn decisions(
    run: &RecordedRun,
    mounted: Arc<MountedTools>,
    policy: &Policy,
    settings: &CheckSettings,
    problems: &mut Vec<String>,
) -> Result<BTreeMap<u64, JudgedCall>, HostError> {
    let gate = Gate::new(mounted, policy.clone(), GateOptions::default())?;
    gate.restore(&run.spent);
    let rules = gate.rules_digest().to_owned();
    let mut decisions = RecordedDecisions::new(gate, run.number);
    let hash = blake3::Hash::from_hex(&run.before.hash)
        .map_err(|error| ReplayError::Unreadable(format!("the end of the log before it: {error}")))?;
    let mut chain = Chain::resume(run.before.lines, *hash.as_bytes());
    for line in &run.log {
        match chain.check(line) {
            Ok(event) => match event_time(&event) {
                Some(at) => decisions.take(&event, at),
                None => problems.push(format!("line {} of the log has no time", chain.lines())),
            },
            Err(why) => {
                problems.push(format!("line {} of the log {why}", chain.lines() + 1));
                break;
            }
        }
    }
    let mut calls = decisions.into_calls();
    let check = SignatureCheck { keys: settings.keys.clone(), session: run.session.clone() };
    check_signatures(&mut calls, &run.journal, &check, &rules);
    Ok(calls)
}

/// Checks that the calls were approved by a signature that needed one.
fn check_signatures(
    calls: &mut BTreeMap<u64, JudgedCall>,
    journal: &[JournalEntry],
    check: &SignatureCheck,
    rules: &str,
) {
    let (mut expires, mut decisions) = (HashMap::new(), HashMap::new());
    for entry in journal {
        match entry {
            JournalEntry::Deferred { call, .. } => drop(expires.insert(call.seq, call.expires)),
            JournalEntry::Decided { seq, decision } => drop(decisions.insert(*seq, decision)),
            _ => {}
        }
    }
    for (seq, call) in calls {
        let Some(approvers) = call.approved_by.as_ref().filter(|_| call.grant.is_some()) else { continue };
        let verified = match decisions.get(seq) {
            Some(decision) if decision.allowed => {
                check.verify(approvers, rules, decision, expires.get(seq).copied().flatten())
            }
            _ => Err("the journal does not have it".to_owned()),
        };
        if let Err(why) = verified {
            call.problem = Some(format!("its signed approval does not count: {why}"));
        }
    }
}

fn verdicts(judged: &BTreeMap<u64, JudgedCall>) -> Vec<VerifiedCall> {
    let verdict = |(seq, call): (&u64, &JudgedCall)| VerifiedCall {
        seq: *seq,
        caller: call.caller,
        method: call.method.clone(),
        arguments: call.arguments.clone(),
        verdict: match (&call.problem, &call.grant) {
            (Some(problem), _) => CallVerdict::Wrong { problem: problem.clone() },
            (None, Some(grant)) => CallVerdict::Allowed { grant: grant.clone() },
            (None, None) => CallVerdict::NotMade,
        },
        repetition: None,
    };
    judged.iter().map(verdict).collect()
}

/// Creates a session in memory with the tools, the spent amounts and the files of a run.
fn session(
    host: &Arc<HostState>,
    mounted: Arc<MountedTools>,
    policy: &Policy,
    spent: &HashMap<String, Used>,
    mut files: Tree,
) -> Result<Session, HostError> {
    let gate = Gate::new(mounted, policy.clone(), GateOptions::default())?;
    gate.restore(spent);
    files.set_limits(file_limits(&policy.limits));
    let storage = SessionStorage::in_process(Arc::default())?;
    Ok(Session::new(host, gate, files, ToolServices::default(), storage, Arc::default()))
}

/// Runs the script again.
fn replay(
    session: Session,
    run: &RecordedRun,
    start: &RunStart,
    judged: BTreeMap<u64, JudgedCall>,
    repeated: RepeatedCalls,
) -> Result<(RunResult, CheckFindings), HostError> {
    let state = session.0;
    let (language, script) = start.script(state.gate.rules_digest())?;
    let seed = start.seed()?.ok_or_else(|| {
        ReplayError::Unreplayable("an earlier version of Tollhouse started, without a seed of its own,".to_owned())
    })?;
    if start.keep_state {
        state.commit(RunEffects { files: run.files.clone(), state: Some((language, run.state.clone())) });
    }
    let findings = Arc::default();
    let journal = RunJournal::resumed(run.journal.clone())?.checked(run.number, judged, repeated, &findings);
    let resumed = ResumableRun {
        slot: RunSlot::Memory(run.number),
        language,
        script,
        seed: GuestSeed::of_run(seed),
        keep_state: start.keep_state,
        journal,
        calls: Vec::new(),
    };
    let result = Run::resumed(state, resumed, RunOptions::default())?.finish();
    let findings = std::mem::take(&mut *findings.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((result, findings))
}
