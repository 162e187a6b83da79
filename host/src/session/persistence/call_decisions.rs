//! Calls of suspended runs that wait for the decision of a human, and the decisions.

use serde::Serialize;
use serde_json::Value as Json;

use super::calls_in_doubt::{CallsForHumans, UnreadableSession};
use super::edited_cost::edited_cost;
use super::open_session::PersistentSession;
use super::record::{Created, Head};
use super::record_cursor::{JournalCursor, RecordCursor};
use super::record_reader::{damaged, parse_record};
use super::session_lock::Waiting;
use super::stored_journal::ValuelessReader;
use super::{SessionId, Sessions, SessionsError};
use crate::gate::{ApprovalStatement, Decision, DeferredCall, Event, SignedSession};
use crate::session::journal::JournalEntry;
use crate::vfs::now;

/// Call of a suspended run that waits for the decision of a human.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// Session of the run.
    pub session: SessionId,
    /// Number of the run.
    pub run: u64,
    /// The call. If it was approved with other arguments, its cost is that of these, as far as it is known: amounts that are
    /// not are null.
    #[serde(flatten)]
    pub call: DeferredCall,
    /// State of the question.
    pub state: PendingState,
    /// Decision, if there is one already: the run was not resumed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// What the signature of an approval is about, besides the call: the session, and the digest of what the run may do.
    #[serde(skip)]
    signed: Option<(SignedSession, String)>,
}

/// State of the question about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PendingState {
    /// Nobody has decided.
    Waits,
    /// Nobody has decided in time: the call is denied when the run is resumed.
    Expired,
    /// The call was approved.
    Approved,
    /// The call was approved with other arguments than the script's.
    Edited,
    /// The call was refused.
    Refused,
}

impl PendingState {
    fn of(call: &DeferredCall, decision: Option<&Decision>, now: u64) -> Self {
        match decision {
            None if call.has_expired(now) => Self::Expired,
            None => Self::Waits,
            Some(Decision { allowed: false, .. }) => Self::Refused,
            Some(Decision { arguments: Some(_), .. }) => Self::Edited,
            Some(_) => Self::Approved,
        }
    }
}

impl PendingCall {
    /// Creates the call as it is shown: without values of secrets, unless its approval is signed. A signature covers the call as
    /// it is, so that is what whoever signs sees.
    fn new(session: &SessionId, run: u64, mut call: DeferredCall) -> Self {
        if let Some(redacted) = call.redacted.take().filter(|_| call.approved_by.is_none()) {
            (call.arguments, call.reason) = (redacted.arguments, redacted.reason);
        }
        let state = PendingState::of(&call, None, now());
        Self { session: session.clone(), run, call, state, decision: None, signed: None }
    }

    fn decided(&mut self, decision: Decision) {
        self.state = PendingState::of(&self.call, Some(&decision), now());
        self.decision = Some(decision);
    }

    /// Returns the arguments with which the tool is called if the call is approved, or was: those of the decision, or else the
    /// script's.
    #[must_use]
    pub fn effective_arguments(&self) -> &Json {
        let edited = self.decision.as_ref().and_then(|decision| decision.arguments.as_ref());
        edited.unwrap_or(&self.call.arguments)
    }

    /// Returns what has to be signed to approve the call, with other arguments if they are given; `None` if anyone can
    /// approve it.
    #[must_use]
    pub fn approval_statement(&self, arguments: Option<&Json>) -> Option<ApprovalStatement> {
        let (session, authority) = self.signed.as_ref()?;
        let edited = arguments.map(|arguments| self.call.edited_digest(self.run, arguments));
        let digest = edited.as_ref().unwrap_or(&self.call.digest);
        Some(ApprovalStatement::new(session, authority, digest, self.call.expires))
    }
}

/// Answer to the question whether a call may be made.
#[derive(Clone, Debug)]
pub struct Answered {
    /// True if the call may be made.
    pub allowed: bool,
    /// Person or system that decided, for the log.
    pub by: String,
    /// Reason of a refusal, which the script sees.
    pub reason: Option<String>,
    /// Digest of the call that is meant: any other call is not decided about. `None` for whichever it is.
    pub digest: Option<String>,
    /// Arguments in place of the script's, with which the call is approved. The gate judges them when the run is
    /// resumed.
    pub arguments: Option<Json>,
    /// Signature of [`PendingCall::approval_statement`], where the grant wants one. Whether it is right is seen when the
    /// run is resumed, by whoever has the approvers' keys.
    pub signature: Option<String>,
}

/// Calls of suspended runs that wait for the decision of a human, and the decisions.
#[derive(Clone, Copy)]
pub struct CallDecisions<'s> {
    pub(super) sessions: &'s Sessions,
}

impl CallDecisions<'_> {
    /// Lists the calls of a session's suspended run that wait for a decision, or whose decision has had no effect yet.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn pending_calls(&self, id: &SessionId) -> Result<Vec<PendingCall>, SessionsError> {
        self.sessions.record_reader().created(id)?;
        let Some(run) = self.sessions.unfinished_runs().run_of(id)? else { return Ok(Vec::new()) };
        self.pending(id, run, self.sessions.journals().without_values(id, run)?)
    }

    /// Lists the calls of a session, or of all sessions, for which a human is needed: those that wait for a decision, and those
    /// in doubt ([`UnfinishedRuns::calls_in_doubt`](super::UnfinishedRuns::calls_in_doubt)). Of all sessions, those that cannot
    /// be read are listed too, and hide no others. Sessions without a journal cost nothing.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read; without a session, if the store cannot be read.
    pub fn calls_for_humans(&self, id: Option<&SessionId>) -> Result<CallsForHumans, SessionsError> {
        let mut calls = CallsForHumans::default();
        match id {
            None => self.collect_unfinished(&mut calls)?,
            Some(id) => {
                self.sessions.record_reader().created(id)?;
                if let Some(run) = self.sessions.unfinished_runs().run_of(id)? {
                    self.collect(id, run, self.sessions.journals().without_values(id, run)?, &mut calls)?;
                }
            }
        }
        Ok(calls)
    }

    /// Adds the calls of a journal for which a human is needed.
    fn collect(
        &self,
        id: &SessionId,
        run: u64,
        journal: Vec<JournalEntry>,
        calls: &mut CallsForHumans,
    ) -> Result<(), SessionsError> {
        let in_doubt = self.sessions.unfinished_runs().in_doubt_of(id, run, &journal)?;
        calls.pending.extend(self.pending(id, run, journal)?);
        calls.in_doubt.extend(in_doubt);
        Ok(())
    }

    /// Adds the calls of all unfinished runs for which a human is needed. Records are read many at once, and another
    /// process may change some of them between: what does not fit together is read again, session by session.
    fn collect_unfinished(&self, calls: &mut CallsForHumans) -> Result<(), SessionsError> {
        let records = self.sessions.records();
        let mut journals = JournalCursor::new(records);
        let mut sessions =
            SessionCursor { created: RecordCursor::new(records, b'S'), heads: RecordCursor::new(records, b'H') };
        while let Some((id, run)) = journals.next()? {
            let collected = self
                .journal_at(&mut journals, &mut sessions, &id, run)
                .and_then(|journal| journal.map_or(Ok(()), |journal| self.collect(&id, run, journal, calls)))
                .or_else(|_| {
                    let journal = self.journal_if_unfinished(&id, run)?;
                    journal.map_or(Ok(()), |journal| self.collect(&id, run, journal, calls))
                });
            match collected {
                // The session was removed since its journal was found.
                Ok(()) | Err(SessionsError::Unknown { .. }) => {}
                // Another of its journals was met before.
                Err(_) if calls.unreadable.last().is_some_and(|last| last.session == id) => {}
                Err(error) => calls.unreadable.push(UnreadableSession { session: id.clone(), error }),
            }
            // Journals of runs that have ended may be kept, and are not read.
            journals.skip(&id, run);
        }
        Ok(())
    }

    /// Returns the journal at which the cursor is, if the run can be resumed.
    fn journal_at(
        &self,
        journals: &mut JournalCursor<'_>,
        sessions: &mut SessionCursor<'_>,
        id: &SessionId,
        run: u64,
    ) -> Result<Option<Vec<JournalEntry>>, SessionsError> {
        let Some(head) = sessions.head(id)? else { return Ok(None) };
        if self.sessions.unfinished_runs().run_of_head(id, head)? != Some(run) {
            return Ok(None);
        }
        let mut reader = ValuelessReader::new(self.sessions, id, run);
        while let Some(chunk) = journals.next_chunk(id, run)? {
            reader.read(&chunk)?;
        }
        Ok(Some(reader.entries))
    }

    /// Returns the journal of a run, if the run can be resumed.
    fn journal_if_unfinished(&self, id: &SessionId, run: u64) -> Result<Option<Vec<JournalEntry>>, SessionsError> {
        if self.sessions.record_reader().find_created(id)?.is_none()
            || self.sessions.unfinished_runs().run_of_known(id)? != Some(run)
        {
            return Ok(None);
        }
        self.sessions.journals().without_values(id, run).map(Some)
    }

    /// Decides about a call that waits for approval; with `seq` of `None`, about the only one. Nothing is run: the run
    /// continues when it is resumed. The decision is in the session's log.
    ///
    /// # Errors
    /// If there is no such call, or it was decided already.
    pub fn decide(
        &self,
        id: &SessionId,
        run: Option<u64>,
        seq: Option<u64>,
        answered: &Answered,
        waiting: Waiting,
    ) -> Result<PendingCall, SessionsError> {
        let mut call = self.sessions.live(id, Some(waiting))?.decide(run, seq, answered)?;
        self.set_edited_costs(id, std::slice::from_mut(&mut call))?;
        Ok(call)
    }

    /// Sets the costs of calls that were approved with other arguments.
    fn set_edited_costs(&self, id: &SessionId, calls: &mut [PendingCall]) -> Result<(), SessionsError> {
        let mut policy = None;
        for pending in calls.iter_mut().filter(|pending| pending.state == PendingState::Edited) {
            let policy = match &mut policy {
                Some(policy) => policy,
                none => none.insert(self.sessions.reader().policy(id)?),
            };
            pending.call.cost = edited_cost(policy, &pending.call.cost, pending.effective_arguments());
        }
        Ok(())
    }

    /// Returns the calls of a journal that wait for a decision, with what their signatures are about.
    fn pending(&self, id: &SessionId, run: u64, journal: Vec<JournalEntry>) -> Result<Vec<PendingCall>, SessionsError> {
        let authority = match journal.first() {
            Some(JournalEntry::Started(start)) => start.authority().to_owned(),
            _ => String::new(),
        };
        let mut calls = pending(id, run, journal)?;
        self.set_edited_costs(id, &mut calls)?;
        if calls.iter().any(|pending| pending.call.approved_by.is_some()) {
            let session = self.sessions.record_reader().signed_session(id)?;
            for pending in calls.iter_mut().filter(|pending| pending.call.approved_by.is_some()) {
                pending.signed = Some((session.clone(), authority.clone()));
            }
        }
        Ok(calls)
    }
}

/// Cursor over the sessions of a store.
struct SessionCursor<'s> {
    created: RecordCursor<'s>,
    heads: RecordCursor<'s>,
}

impl SessionCursor<'_> {
    /// Returns the head of a session; `None` if there is no such session.
    fn head(&mut self, id: &SessionId) -> Result<Option<Head>, SessionsError> {
        let Some(created) = self.created.get(id)? else { return Ok(None) };
        parse_record::<Created>(id, "its first record", created)?;
        let head = self.heads.get(id)?.ok_or_else(|| damaged(id, "it has no head"))?;
        parse_record(id, "its head", head).map(Some)
    }
}

/// Returns the calls of a journal that wait for a decision. Whoever can write the journal could show one call, and have
/// another approved: the digest, which is decided about, is compared with what is shown.
///
/// # Errors
/// If a call is not the one that its digest names.
pub(super) fn pending(id: &SessionId, run: u64, journal: Vec<JournalEntry>) -> Result<Vec<PendingCall>, SessionsError> {
    let mut calls: Vec<(u64, PendingCall)> = Vec::new();
    for entry in journal {
        match entry {
            JournalEntry::Deferred { id: operation, call } => {
                if !call.has_own_digest(run) {
                    return Err(damaged(
                        id,
                        &format!("call {}, which waits, is not the one that was asked about", call.seq),
                    ));
                }
                calls.retain(|(other, _)| *other != operation);
                calls.push((operation, PendingCall::new(id, run, *call)));
            }
            JournalEntry::Decided { seq, decision } => {
                let decided = calls.iter_mut().find(|(_, pending)| pending.call.seq == seq);
                if let Some((_, pending)) = decided {
                    pending.decided(decision);
                }
            }
            JournalEntry::Delivered { id: operation, .. } | JournalEntry::Admitted { id: operation, .. } => {
                calls.retain(|(other, _)| *other != operation);
            }
            _ => {}
        }
    }
    Ok(calls.into_iter().map(|(_, pending)| pending).collect())
}

impl PersistentSession {
    fn decide(&self, run: Option<u64>, seq: Option<u64>, answered: &Answered) -> Result<PendingCall, SessionsError> {
        let decided = self.locked(|| {
            let number = self.unfinished_run_named(run)?;
            let none = |what: String| SessionsError::NoPoint { session: self.id.clone(), what };
            let calls = pending(&self.id, number, self.sessions.journals().without_values(&self.id, number)?)?;
            let mut call = match (seq, calls.as_slice()) {
                (Some(seq), calls) => calls.iter().find(|pending| pending.call.seq == seq).cloned(),
                (None, calls) => {
                    let mut open = calls.iter().filter(|pending| pending.state == PendingState::Waits);
                    match (open.next(), open.next()) {
                        (Some(_), Some(_)) => return Err(SessionsError::Several(self.id.clone())),
                        (Some(only), None) => Some(only.clone()),
                        // That it has expired says more than that none waits.
                        (None, _) => calls.iter().find(|pending| pending.state == PendingState::Expired).cloned(),
                    }
                }
            }
            .ok_or_else(|| none("call that waits for a decision".to_owned()))?;
            if let Some(earlier) = call.decision {
                return Err(SessionsError::Decided { session: self.id.clone(), seq: call.call.seq, by: earlier.by });
            }
            let digest = call.call.digest.clone();
            if answered.digest.as_ref().is_some_and(|wanted| *wanted != digest) {
                return Err(none("call with this digest that waits for a decision".to_owned()));
            }
            if call.call.has_expired(now()) {
                return Err(SessionsError::Expired { session: self.id.clone(), seq: call.call.seq });
            }
            let Answered { allowed, by, reason, arguments, signature, .. } = answered.clone();
            if let (true, Some(approvers), None) = (allowed, &call.call.approved_by, &signature) {
                let (session, seq) = (self.id.clone(), call.call.seq);
                return Err(SessionsError::Unsigned { session, seq, approvers: approvers.iter().cloned().collect() });
            }
            let decision = match arguments.filter(|_| allowed) {
                Some(arguments) => Decision::edited(&call.call, number, arguments, by, now()),
                None => Decision::new(allowed, by, reason, now(), digest),
            };
            let decision = decision.signed(signature.filter(|_| call.call.approved_by.is_some() && allowed));
            self.record_decision(number, call.call.seq, &decision)?;
            call.decided(decision);
            Ok(call)
        });
        if decided.is_ok() {
            self.leave();
        }
        decided
    }

    fn record_decision(&self, run: u64, seq: u64, decision: &Decision) -> Result<(), SessionsError> {
        let entry = JournalEntry::Decided { seq, decision: decision.clone() };
        let (allowed, by, shown) = (decision.allowed, decision.by.as_str(), decision.digest.as_str());
        // The arguments are in the log when the call is admitted: nobody knows here which secrets they contain.
        let edited = decision.arguments.is_some();
        let signature = decision.signature.as_deref();
        self.append_entry(run, &entry, &Event::Answered { run, seq, allowed, by, shown, edited, signature })
    }
}
