//! Check of a recorded run: its decisions are judged again, its script runs again with the recorded results, and calls
//! without effects are made again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::Value as Json;

use super::{CallVerdict, VerifiedCall};
use crate::capability::{Limits, Policy};
use crate::gate::{
    ApproverKeys, CallList, Chain, Decision, DeferredCall, Gate, GateOptions, JudgedCall, LoggedEvent, NeededConsent,
    RecordedDecisions, SignatureCheck, event_time,
};
use crate::ledger::Used;
use crate::session::guest_seed::GuestSeed;
use crate::session::host::{HostState, file_limits, with_host_tools};
use crate::session::journal::{JournalEntry, ReplayError, RunStart};
use crate::session::persistence::{CallCounts, RecordedRun};
use crate::session::run::{CheckFindings, RepeatedCalls, Run, RunJournal};
use crate::session::session_state::ResumableRun;
use crate::session::session_storage::{RunSlot, SessionStorage};
use crate::session::{HostError, RunEffects, RunOptions, RunResult, Session};
use crate::tool::{HostTool, Lock, MountedTools, ToolServices};
use crate::vfs::Tree;

/// What a check needs besides the run.
pub(super) struct CheckSettings {
    /// Keys of those who can approve calls.
    pub(super) keys: ApproverKeys,
    /// Host functions of the session.
    pub(super) host_tools: Vec<HostTool>,
    /// Limits that the run's own must not exceed.
    pub(super) most: Limits,
    /// Aliases of the tools whose calls are made by another release, with the lock that has it.
    pub(super) against: Option<(BTreeSet<String>, Lock)>,
}

/// Run that was checked.
pub(super) struct CheckedRun {
    pub(super) result: RunResult,
    pub(super) calls: Vec<VerifiedCall>,
    /// True if the script waited where the journal ends.
    pub(super) waits: bool,
    /// Differences that are not those of a call.
    pub(super) problems: Vec<String>,
    /// What the log says of the run.
    pub(super) logged: LoggedRun,
}

/// What the lines of a run in the log say of it as a whole.
#[derive(Default)]
pub(super) struct LoggedRun {
    pub(super) counts: CallCounts,
    /// Times of the first line and of the last.
    pub(super) times: Option<(SystemTime, SystemTime)>,
    /// True if the log had no room for more: denied calls may be missing.
    pub(super) is_full: bool,
}

impl LoggedRun {
    /// Takes a line of the log, as it is and as it is understood.
    fn take(&mut self, run: u64, line: &Json, event: &LoggedEvent, at: SystemTime) {
        if line["run"].as_u64() != Some(run) {
            return;
        }
        self.counts.take(event);
        self.is_full |= line["event"] == "full";
        self.times = Some((self.times.map_or(at, |(first, _)| first), at));
    }
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
    if !start.is_of_script(&run.record.script, &run.record.hash) {
        return Err(ReplayError::Changed("the script, which its record names,").into());
    }
    let limits = start.limits()?.at_most(&settings.most);
    let policy = Policy { limits, ..run.policy.clone() };
    let mount = |lock| with_host_tools(host.packages().mount_locked(lock, &policy.signed)?, &settings.host_tools, None);
    let mounted = mount(&run.lock)?;
    let mut problems = Vec::new();
    let (judged, logged) = decisions(run, Arc::clone(&mounted), &policy, settings, &mut problems)?;
    let mut calls = verdicts(&judged);

    let session = session(host, mounted, &policy, &run.spent, run.files.clone())?;
    let tools = match &settings.against {
        None => session.clone(),
        Some((_, lock)) => self::session(host, mount(lock)?, &policy, &run.spent, run.files.clone())?,
    };
    let only = settings.against.as_ref().map(|(aliases, _)| aliases.clone());
    let repeated = RepeatedCalls { tools, seeds: run.seeds.clone(), only };
    let (result, findings) = replay(session, run, start, judged.clone(), repeated)?;
    for seq in not_made(&judged, &findings) {
        if let Some(call) = verdict_of(&mut calls, seq) {
            call.verdict = CallVerdict::Wrong { problem: "the script does not make it".to_owned() };
        }
    }
    if settings.against.is_none() {
        for (seq, why) in &findings.unrepeated {
            if let Some(call) = verdict_of(&mut calls, *seq) {
                let problem = format!("it has no effects, and cannot be made again: {why}");
                call.verdict = CallVerdict::Wrong { problem };
            }
        }
    }
    for checked in findings.calls {
        if let Some(call) = verdict_of(&mut calls, checked.seq) {
            call.repetition = Some(checked.repetition);
        }
    }
    let waits = result.status == crate::session::Status::Suspended;
    Ok(CheckedRun { result, calls, waits, problems, logged })
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
) -> Result<(BTreeMap<u64, JudgedCall>, LoggedRun), HostError> {
    let mut logged = LoggedRun::default();
    let gate = Gate::new(Arc::clone(&mounted), policy.clone(), GateOptions::default())?;
    gate.restore(&run.spent);
    let rules = Gate::new(mounted, policy.clone(), GateOptions::default())?;
    let mut decisions = RecordedDecisions::new(gate, run.number);
    let hash = blake3::Hash::from_hex(&run.before.hash)
        .map_err(|error| ReplayError::Unreadable(format!("the end of the log before it: {error}")))?;
    let mut chain = Chain::resume(run.before.lines, *hash.as_bytes());
    let mut earlier = SystemTime::UNIX_EPOCH;
    for line in &run.log {
        match chain.check(line) {
            Ok(event) => match event_time(&event) {
                Some(at) if at < earlier => {
                    problems.push(format!("line {} of the log is earlier than the one before", chain.lines()));
                }
                Some(at) => {
                    earlier = at;
                    match LoggedEvent::read(&event) {
                        Ok(known) => {
                            logged.take(run.number, &event, &known, at);
                            decisions.take(known, at);
                        }
                        Err(error) => {
                            problems.push(format!("line {} of the log cannot be read: {error}", chain.lines()));
                        }
                    }
                }
                None => problems.push(format!("line {} of the log has no time", chain.lines())),
            },
            Err(why) => {
                problems.push(format!("line {} of the log {why}", chain.lines().saturating_add(1)));
                break;
            }
        }
    }
    let mut calls = decisions.into_calls();
    let check = SignatureCheck { keys: settings.keys.clone(), session: run.session.clone() };
    check_decisions(&mut calls, run, &rules, &check);
    Ok((calls, logged))
}

/// Returns the numbers of the calls that the log says a script made, and that the script does not make.
fn not_made(judged: &BTreeMap<u64, JudgedCall>, findings: &CheckFindings) -> Vec<u64> {
    let mut unanswered: Vec<_> = findings.unanswered.values().collect();
    let is_missing = |(seq, call): &(&u64, &JudgedCall)| {
        if call.caller.is_some() || findings.made.contains(seq) {
            return false;
        }
        if call.is_refused_by_gate()
            && let Some(index) = unanswered.iter().position(|made| call.is_call(made))
        {
            // The run ended before the script was told of the refusal.
            unanswered.swap_remove(index);
            return false;
        }
        call.grant.is_some() || call.refusal.is_some()
    };
    judged.iter().filter(is_missing).map(|(seq, _)| *seq).collect()
}

/// Checks that the journal has the decisions by which the calls were approved.
fn check_decisions(calls: &mut BTreeMap<u64, JudgedCall>, run: &RecordedRun, gate: &Gate, check: &SignatureCheck) {
    for (seq, call) in calls.iter_mut().filter(|(_, call)| call.grant.is_some() && call.problem.is_none()) {
        let is_edited = || decisions_about(*seq, run).any(|decision| decision.arguments.is_some());
        call.problem = match &call.consent {
            Some(consent) => approved(*seq, call, consent, run, gate, check).err(),
            None if is_edited() => edited(*seq, call, run, gate, check).err(),
            None => None,
        };
    }
}

/// Returns the decisions of the journal about a call.
fn decisions_about(seq: u64, run: &RecordedRun) -> impl Iterator<Item = &Decision> {
    run.journal.iter().filter_map(move |entry| match entry {
        JournalEntry::Decided { seq: of, decision } if *of == seq => Some(decision),
        _ => None,
    })
}

/// Returns the last question of the journal about a call.
fn question_about(seq: u64, run: &RecordedRun) -> Option<&DeferredCall> {
    run.journal.iter().rev().find_map(|entry| match entry {
        JournalEntry::Deferred { call, .. } if call.seq == seq => Some(&**call),
        _ => None,
    })
}

/// Checks that a call was approved, with a signature if it needs one. A call that was asked about at once has no decision in
/// the journal.
///
/// # Errors
/// What is wrong.
fn approved(
    seq: u64,
    call: &JudgedCall,
    consent: &NeededConsent,
    run: &RecordedRun,
    gate: &Gate,
    check: &SignatureCheck,
) -> Result<(), String> {
    let Some(asked) = question_about(seq, run) else {
        return match consent.approved_by {
            None => Ok(()),
            Some(_) => Err("its signed approval does not count: the journal does not have the question".to_owned()),
        };
    };
    let grant = call.grant.as_deref().unwrap_or_default();
    any_decision(seq, run, |decision| {
        check_decision(decision, (run.number, seq), call, asked, (grant, &consent.reason), gate)?;
        let Some(approvers) = &consent.approved_by else { return Ok(()) };
        verify_signature(decision, approvers, asked, gate, check)
    })
}

/// Checks that one of the approvers has signed a decision about a call.
///
/// # Errors
/// Why it does not count.
fn verify_signature(
    decision: &Decision,
    approvers: &BTreeSet<String>,
    asked: &DeferredCall,
    gate: &Gate,
    check: &SignatureCheck,
) -> Result<(), String> {
    check
        .verify(approvers, gate.rules_digest(), decision, asked.expires)
        .map_err(|error| format!("its signed approval does not count: {error}"))
}

/// Checks a call that a human was asked about, and whose arguments were changed to some that nobody has to approve.
///
/// # Errors
/// What is wrong.
fn edited(seq: u64, call: &JudgedCall, run: &RecordedRun, gate: &Gate, check: &SignatureCheck) -> Result<(), String> {
    let asked = question_about(seq, run).ok_or("a human changed its arguments, and nobody was asked")?;
    if !gate.asks(
        run.number,
        &asked.method,
        &asked.arguments,
        SystemTime::UNIX_EPOCH + Duration::from_nanos(asked.asked),
    ) {
        return Err("a human changed its arguments, and nobody had to be asked about those of the script".to_owned());
    }
    any_decision(seq, run, |decision| {
        check_decision(decision, (run.number, seq), call, asked, (&asked.grant, &asked.reason), gate)?;
        // Arguments that need no approval take the place of some that needed a signature.
        let Some(approvers) = gate.approvers_of(&asked.grant) else { return Ok(()) };
        verify_signature(decision, approvers, asked, gate, check)
    })
}

/// Checks that one of the decisions about a call is right, and that none refuses it.
fn any_decision(seq: u64, run: &RecordedRun, check: impl Fn(&Decision) -> Result<(), String>) -> Result<(), String> {
    let mut why = "the journal does not have its approval".to_owned();
    for decision in decisions_about(seq, run) {
        if !decision.allowed {
            return Err("it was made, and a human refused it".to_owned());
        }
        match check(decision) {
            Ok(()) => return Ok(()),
            Err(problem) => why = problem,
        }
    }
    Err(why)
}

/// Checks that a decision is about a call as it was made, and was made in time.
fn check_decision(
    decision: &Decision,
    number: (u64, u64),
    call: &JudgedCall,
    asked: &DeferredCall,
    (grant, reason): (&str, &str),
    gate: &Gate,
) -> Result<(), String> {
    let has_its_arguments = decision.arguments.as_ref().is_none_or(|given| {
        let canonical = gate.canonical(&call.method, &given.to_string());
        canonical.is_ok_and(|(method, arguments)| method == call.method && arguments == call.arguments)
    });
    if !has_its_arguments || !decision.is_about(number, &call.method, &call.arguments, grant, reason) {
        return Err("it was approved as another call".to_owned());
    }
    if asked.has_expired(decision.at) {
        return Err("it was approved too late".to_owned());
    }
    Ok(())
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

/// Returns the verdict about the call with a number; `calls` are in the order of their numbers.
fn verdict_of(calls: &mut [VerifiedCall], seq: u64) -> Option<&mut VerifiedCall> {
    let index = calls.binary_search_by_key(&seq, |call| call.seq).ok()?;
    calls.get_mut(index)
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
    let journal = RunJournal::resumed(run.journal.clone(), None)?.checked(run.number, judged, repeated, &findings);
    let resumed = ResumableRun {
        slot: RunSlot::Memory(run.number),
        language,
        script,
        seed: GuestSeed::of_run(seed),
        keep_state: start.keep_state,
        journal,
        heap: None,
        calls: CallList::default(),
    };
    let result = Run::resumed(state, resumed, RunOptions::default())?.finish();
    let findings = std::mem::take(&mut *findings.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((result, findings))
}
