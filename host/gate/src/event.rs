//! Events of an audit log. The gate returns them; who drives it appends them.

use std::sync::Arc;

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use tollhouse_policy::capability::Amount;
use tollhouse_policy::ledger::{AccountId, Allowance};
use tollhouse_types::error::ErrorKind;

use super::CallOutcome;
use super::budget_accounts::allowance;
use super::grant_index::GrantAccount;

/// An event to be logged.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// A run started.
    Started {
        /// Number of the run in its session.
        run: u64,
        /// Name of the script.
        script: &'a str,
        /// blake3 hash of the script, in hexadecimal.
        hash: &'a str,
    },
    /// A run continues that was suspended or interrupted.
    Resumed {
        /// Number of the run in its session.
        run: u64,
    },
    /// The run was forked from that of another session, before one of its calls.
    Forked {
        /// Number of the run in its session.
        run: u64,
        /// Name of the session that was forked.
        from: &'a str,
        /// Number of the run in that session.
        of: u64,
        /// Number of the call before which it was forked: the first that is made anew.
        before: u64,
    },
    /// A call of the forked run, which is not made again, and was not paid for here.
    Copied {
        /// Number of the run.
        run: u64,
        /// Number of the call in the run.
        seq: u64,
        /// Enclosing call, if a tool made this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The canonical method.
        method: &'a str,
        /// The arguments as the log of the other session has them.
        arguments: &'a Value,
        /// Name of the grant that was debited there, or came closest.
        grant: Option<&'a str>,
        /// Outcome of the call.
        outcome: CallOutcome,
        /// Duration in microseconds.
        micros: u64,
    },
    /// A human is about to be asked about a call.
    Asked {
        /// Number of the run.
        run: u64,
        /// Number of the call in the run.
        seq: u64,
        /// Enclosing call, if a tool makes this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The canonical method.
        method: &'a str,
        /// The canonical arguments.
        arguments: &'a Value,
        /// Name of the grant that requires approval.
        grant: &'a str,
        /// Reason: the clause, and the actual value in the call.
        reason: &'a str,
        /// blake3 hash of the text that is shown, in hexadecimal; for a deferred call, the digest of the call.
        shown: &'a str,
        /// The text, unless it is too long.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
    },
    /// A human answered.
    Answered {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// True if the call was approved.
        allowed: bool,
        /// Person who answered, as far as the approver knows.
        by: &'a str,
        /// blake3 hash of the text that was shown, in hexadecimal.
        shown: &'a str,
        /// True if the call was approved with other arguments than the script's: with those of the admitted call.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        edited: bool,
        /// Signature of the approver, in base64; not checked yet.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<&'a str>,
    },
    /// A human said what became of a call that had started when its process ended.
    Resolved {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// What became of it, in one word: `retry`, `fail` or `done`.
        word: &'a str,
        /// Person who said so.
        by: &'a str,
    },
    /// Somebody was told that the run is suspended, or could not be told.
    Notified {
        /// Number of the run.
        run: u64,
        /// Who was told: a program, or the host of an address.
        to: &'a str,
        /// Reason why nobody was told; `None` if somebody was.
        error: Option<&'a str>,
    },
    /// A call was admitted, and is about to start.
    Admitted {
        /// Number of the run.
        run: u64,
        /// Number of the call in the run.
        seq: u64,
        /// Enclosing call, if a tool made this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The canonical method.
        method: &'a str,
        /// The package whose function it is, and its version; none for a function of the host.
        #[serde(skip_serializing_if = "Option::is_none")]
        package: Option<&'a str>,
        /// The canonical arguments.
        arguments: &'a Value,
        /// Name of the grant that was debited.
        grant: &'a str,
        /// Amounts reserved in each account.
        debits: Debits<'a>,
    },
    /// The reservation of an admitted call was released, because it never started.
    Released {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
    },
    /// A call was refused. Nothing was run or spent.
    Denied {
        /// Number of the run.
        run: u64,
        /// Number of the call in the run.
        seq: u64,
        /// Enclosing call, if a tool made this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The requested method.
        method: &'a str,
        /// The arguments as far as they could be decoded.
        arguments: &'a Value,
        /// Name of the grant that came closest to allowing the call.
        grant: Option<&'a str>,
        /// Kind of refusal: `capability`, `argument`, `approval`, `limit`.
        kind: ErrorKind,
        /// What was missing: the clause, the budget, the consent.
        reason: &'a str,
    },
    /// A tool wrote to its standard output or standard error.
    Said {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// Name of the stream: `stdout` or `stderr`.
        stream: &'a str,
        /// The text, up to a limit.
        text: &'a str,
    },
    /// A tool makes a request with `wasi:http`.
    Requested {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// The HTTP method.
        method: &'a str,
        /// The URL without the query.
        url: &'a str,
        /// Reason why the request was not sent; `None` if it was.
        refused: Option<&'a str>,
    },
    /// The value of a secret is used: inserted into a request, or shown to the tool.
    SecretUsed {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// Name of the secret.
        secret: &'a str,
        /// Alias of the tool.
        tool: &'a str,
        /// Destination of the request: scheme, host and port; `None` if the tool reads the value and may do anything
        /// with it.
        to: Option<&'a str>,
    },
    /// A call ended.
    Settled {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// Outcome of the call.
        outcome: CallOutcome,
        /// Duration in microseconds.
        micros: u64,
        /// Error, if the call failed.
        error: Option<&'a str>,
    },
    /// The session's files were changed from outside, without a run.
    Changed {
        /// Number of this change, among those of runs.
        run: u64,
        /// Description of the change.
        what: &'a str,
    },
    /// A run ended.
    Ended {
        /// Number of the run.
        run: u64,
        /// Status in one word.
        status: &'a str,
        /// Error, if the run failed; it names an exceeded limit.
        error: Option<&'a str>,
    },
    /// The run has reached its limit on log lines, and is ended. Its further actions are not in the log, except the
    /// endings of calls that had begun, and of the run itself.
    Full {
        /// Number of the run.
        run: u64,
        /// The run's limit `log`, in bytes.
        limit: u64,
    },
    /// A crash had left an incomplete last line, which was removed.
    Mended {
        /// Number of bytes removed.
        bytes: u64,
    },
}

impl<'a> Event<'a> {
    /// Returns true for an event that has already happened when it is written. Other events only happen if they can be
    /// logged.
    #[must_use]
    pub fn is_afterwards(&self) -> bool {
        matches!(self, Self::Settled { .. } | Self::Denied { .. } | Self::Released { .. } | Self::Said { .. })
    }

    /// Returns the event with texts of at most `most` bytes, if it is the ending of something that had begun; otherwise
    /// `None`.
    #[must_use]
    pub fn ending(&self, most: usize) -> Option<Self> {
        let cut = |text: &'a str| &text[..text.floor_char_boundary(most)];
        match *self {
            Self::Settled { run, seq, outcome, micros, error } => {
                Some(Self::Settled { run, seq, outcome, micros, error: error.map(cut) })
            }
            Self::Answered { run, seq, allowed, by, shown, edited, signature } => {
                Some(Self::Answered { run, seq, allowed, by: cut(by), shown, edited, signature })
            }
            Self::Released { .. } => Some(*self),
            _ => None,
        }
    }
}

/// The accounts that a call is reserved in: one call in each, and an amount in those that sum up an argument.
#[derive(Clone, Copy, Debug, Default)]
pub struct Debits<'a> {
    pub(super) accounts: &'a [GrantAccount],
    pub(super) amounts: &'a [(AccountId, Amount)],
}

impl<'a> Debits<'a> {
    /// Iterates over the accounts by name, that of the grant first, each with the amount if it sums up an argument.
    pub fn iter(self) -> impl Iterator<Item = (&'a Arc<str>, Option<Amount>)> {
        self.accounts.iter().filter_map(move |grant_account| {
            let amount = self.amounts.iter().find(|(account, _)| *account == grant_account.id);
            Some((grant_account.name.as_ref()?, amount.map(|(_, amount)| *amount)))
        })
    }
}

impl<'a> Debits<'a> {
    /// Iterates over the accounts that have a limit, by name, with their limits.
    pub fn limited(self) -> impl Iterator<Item = (&'a Arc<str>, Allowance)> {
        self.accounts.iter().filter_map(|grant_account| {
            let allowance = allowance(&grant_account.grant);
            allowance.is_limited().then_some((grant_account.name.as_ref()?, allowance))
        })
    }
}

/// An account as it is logged.
#[derive(Serialize)]
struct LoggedDebit<'a> {
    account: &'a str,
    /// Exact decimal text, since JSON numbers are not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    spend: Option<String>,
}

impl Serialize for Debits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (account, spend) in self.iter() {
            let spend = spend.map(|amount| amount.to_string());
            list.serialize_element(&LoggedDebit { account, spend })?;
        }
        list.end()
    }
}
