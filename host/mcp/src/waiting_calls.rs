//! Calls of clients with tokens that wait for a decision. Their sessions are in no store, so that their runs cannot be
//! suspended: the call waits in its run, until somebody decides, the run is stopped, or time is up.
//!
//! **Invariant:** nobody decides about calls of his own: a decision by the client whose call it is, is refused.
//!
//! **Invariant:** what is not decided is refused: when time is up, when the run is stopped, when too many calls wait.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tollhouse::gate::{Answer, ApprovalError, ApprovalRequest, Approver, DeferredCall};

use crate::approvals::question_about;

/// Longest time that a call waits. A grant may say less (`approve_within`).
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Interval at which a call that waits looks whether its run was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// Most calls that wait, of all clients and of one: each holds a run, and others are to have some as well.
const MAX_CALLS: usize = 32;
const MAX_OF_CLIENT: usize = 4;

/// Calls that wait, of all clients of a server. Clones share them.
#[derive(Clone, Default)]
pub struct WaitingCalls(Arc<Mutex<WaitingList>>);

#[derive(Default)]
struct WaitingList {
    /// The calls, the oldest first.
    calls: Vec<WaitingCall>,
    /// Number of the next call.
    next: u64,
}

/// Call that waits.
#[derive(Clone)]
pub(crate) struct WaitingCall {
    /// Number that no other call has: two sessions of a client may wait with the same call, which has one digest.
    number: u64,
    /// Client whose call it is.
    pub(crate) client: TokenClient,
    pub(crate) call: DeferredCall,
    /// Text of the question, as it is on record.
    pub(crate) question: String,
    answer: SyncSender<CallDecision>,
}

/// Client with a token, as those see it who decide about its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenClient {
    /// Subject of access tokens.
    Subject(String),
    /// Holders of a sealed token and of those that were made narrower: the revocation id of its first block.
    Sealed(String),
}

impl TokenClient {
    /// Returns the name of the client, which no other one has.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Subject(subject) => format!("subject {subject}"),
            Self::Sealed(id) => format!("token {id}"),
        }
    }
}

/// Decision about a call that waits.
#[derive(Debug)]
pub(crate) struct CallDecision {
    pub(crate) allowed: bool,
    pub(crate) by: String,
    pub(crate) reason: Option<String>,
}

/// Reason why a call is not decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecided {
    /// No such call waits.
    Unknown,
    /// It is the decider's own.
    Own,
}

impl WaitingCalls {
    /// Returns the approver of a client's sessions.
    #[must_use]
    pub fn approver(&self, client: TokenClient) -> Arc<dyn Approver> {
        Arc::new(WaitingApprover { waiting: self.clone(), client })
    }

    /// Lists the calls that wait, the oldest first.
    pub(crate) fn list(&self) -> Vec<WaitingCall> {
        self.lock().calls.clone()
    }

    /// Decides about the call of the client with this name that has this digest. `decider` is the subject that decides, if it
    /// is one.
    pub(crate) fn decide(
        &self,
        client: &str,
        digest: &str,
        decider: Option<&str>,
        decision: CallDecision,
    ) -> Result<WaitingCall, Undecided> {
        let waiting = &mut self.lock().calls;
        let is_meant = |call: &WaitingCall| call.call.digest == digest && call.client.name() == client;
        let at = waiting.iter().position(is_meant).ok_or(Undecided::Unknown)?;
        if decider.is_some_and(|decider| waiting[at].client == TokenClient::Subject(decider.to_owned())) {
            return Err(Undecided::Own);
        }
        let call = waiting.remove(at);
        // The call may have been given up at this moment: then there is nothing to decide about any more.
        call.answer.try_send(decision).map_err(|_| Undecided::Unknown)?;
        Ok(call)
    }

    /// Adds a call. Returns its number, and where the decision about it comes.
    fn add(
        &self,
        client: &TokenClient,
        call: &DeferredCall,
        question: &str,
    ) -> Result<(u64, Receiver<CallDecision>), String> {
        let mut list = self.lock();
        let WaitingList { calls: waiting, next } = &mut *list;
        if waiting.len() >= MAX_CALLS {
            return Err(format!("{MAX_CALLS} calls of this server wait already"));
        }
        if waiting.iter().filter(|waiting| waiting.client == *client).count() >= MAX_OF_CLIENT {
            return Err(format!("{MAX_OF_CLIENT} calls of this client wait already"));
        }
        let (answer, answered) = sync_channel(1);
        let number = *next;
        *next += 1;
        let (client, call, question) = (client.clone(), call.clone(), question.to_owned());
        waiting.push(WaitingCall { number, client, call, question, answer });
        Ok((number, answered))
    }

    fn remove(&self, number: u64) {
        self.lock().calls.retain(|waiting| waiting.number != number);
    }

    /// Locks the calls. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, WaitingList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Approver that has the calls of a client wait.
struct WaitingApprover {
    waiting: WaitingCalls,
    client: TokenClient,
}

impl Approver for WaitingApprover {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        let call = request.deferred();
        let text = question_about(&call).map_err(ApprovalError::Unavailable)?;
        // It is on record before anybody can see it.
        let question = request.put(&text)?;
        let (number, answered) = self.waiting.add(&self.client, &call, &text).map_err(ApprovalError::Unavailable)?;
        let decision = wait(&answered, until(&call), || request.is_stopped());
        self.waiting.remove(number);
        // It may have come at the last moment, and whoever decided was told that it counts.
        let decision = decision.or_else(|why| answered.try_recv().map_err(|_| why));
        let CallDecision { allowed, by, reason } =
            decision.map_err(|why| ApprovalError::Unavailable(why.to_owned()))?;
        let answer = question.answer(allowed, by);
        Ok(match reason {
            Some(reason) => answer.because(reason),
            None => answer,
        })
    }

    fn waits_for_signatures(&self) -> bool {
        false
    }
}

/// Returns the time until which a call waits.
fn until(call: &DeferredCall) -> Instant {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let left = call.expires.map(|expires| Duration::from_nanos(expires).saturating_sub(now));
    Instant::now() + left.map_or(LONGEST, |left| left.min(LONGEST))
}

/// Waits for a decision. The error says why there is none.
fn wait(
    answered: &Receiver<CallDecision>,
    until: Instant,
    is_stopped: impl Fn() -> bool,
) -> Result<CallDecision, &'static str> {
    loop {
        match answered.recv_timeout(LOOK) {
            Ok(decision) => return Ok(decision),
            Err(RecvTimeoutError::Disconnected) => return Err("the question was given up"),
            Err(RecvTimeoutError::Timeout) if is_stopped() => return Err("the run was stopped while the call waited"),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= until => return Err("nobody decided in time"),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(digest: &str) -> DeferredCall {
        let call = json!({ "seq": 1, "method": "a/b", "arguments": {}, "grant": "g", "reason": "r", "cost": [],
            "asked": 0, "digest": digest });
        serde_json::from_value(call).expect("it is a call")
    }

    fn decision() -> CallDecision {
        CallDecision { allowed: true, by: "t".to_owned(), reason: None }
    }

    fn ann() -> TokenClient {
        TokenClient::Subject("ann".to_owned())
    }

    #[test]
    fn decision_counts_for_the_call_of_the_client_that_it_names() {
        let waiting = WaitingCalls::default();
        let (_, answered) = waiting.add(&ann(), &call("d"), "?").expect("there is room");
        for (client, digest) in [("subject bob", "d"), ("subject ann", "e"), ("token ann", "d"), ("", "d")] {
            let decided = waiting.decide(client, digest, None, decision()).map(drop);
            assert_eq!(decided, Err(Undecided::Unknown), "{client} {digest}");
        }
        waiting.decide("subject ann", "d", Some("bob"), decision()).map(drop).expect("it waits");
        assert!(answered.try_recv().expect("it is decided").allowed);
        let again = waiting.decide("subject ann", "d", Some("bob"), decision()).map(drop);
        assert_eq!(again, Err(Undecided::Unknown), "it is decided once");
    }

    #[test]
    fn subject_does_not_decide_about_its_own_calls() {
        let waiting = WaitingCalls::default();
        let (_, answered) = waiting.add(&ann(), &call("d"), "?").expect("there is room");
        assert_eq!(waiting.decide("subject ann", "d", Some("ann"), decision()).map(drop), Err(Undecided::Own));
        answered.try_recv().map(drop).expect_err("it still waits");
        assert_eq!(waiting.list().len(), 1);
    }

    #[test]
    fn same_call_of_two_sessions_of_a_client_is_decided_twice() {
        let waiting = WaitingCalls::default();
        let [(first, one), (_, other)] = [0; 2].map(|_| waiting.add(&ann(), &call("d"), "?").expect("there is room"));
        waiting.decide("subject ann", "d", None, decision()).map(drop).expect("the first waits");
        assert!(one.try_recv().expect("it is decided").allowed);
        waiting.remove(first);
        other.try_recv().map(drop).expect_err("it still waits");
        waiting.decide("subject ann", "d", None, decision()).map(drop).expect("the second waits");
        assert!(other.try_recv().expect("it is decided").allowed);
    }

    #[test]
    fn calls_beyond_the_limits_are_refused_and_those_given_up_leave_room() {
        let waiting = WaitingCalls::default();
        let add = |client: usize, digest: usize| {
            waiting.add(&TokenClient::Sealed(client.to_string()), &call(&digest.to_string()), "?")
        };
        let kept: Vec<_> = (0..MAX_CALLS).map(|at| add(at / MAX_OF_CLIENT, at).expect("there is room")).collect();
        add(MAX_CALLS, 0).map(drop).expect_err("the server has no room");
        waiting.remove(kept[0].0);
        add(1, MAX_CALLS).map(drop).expect_err("this client has as many as it may");
        add(MAX_CALLS, 0).map(drop).expect("there is room again");
        drop(kept);
    }

    #[test]
    fn call_that_nobody_decides_about_is_given_up() {
        let (_answer, answered) = sync_channel(1);
        let soon = || Instant::now() + Duration::from_millis(60);
        assert_eq!(wait(&answered, soon(), || false).map(drop), Err("nobody decided in time"));
        let stopped = wait(&answered, Instant::now() + LONGEST, || true).map(drop);
        assert_eq!(stopped, Err("the run was stopped while the call waited"));
        let mut expires = call("d");
        expires.expires = Some(1);
        assert!(until(&expires) <= Instant::now(), "the grant's time is up");
    }
}
