//! What is told to an audit log.

use std::sync::Arc;

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::capability::Amount;
use crate::error::ErrorKind;
use crate::gate::CallOutcome;
use crate::gate::accounts::allowance;
use crate::gate::judge::HeldAccount;
use crate::ledger::{AccountId, Allowance};

/// Something that happened.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// A run began.
    Started {
        /// Its number in its session.
        run: u64,
        /// The script's name.
        script: &'a str,
        /// blake3 of the script, in hexadecimal.
        hash: &'a str,
    },
    /// A human is about to be asked about a call.
    Asked {
        /// The run.
        run: u64,
        /// The call's number in it.
        seq: u64,
        /// The call that it is part of, if a tool makes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The canonical method.
        method: &'a str,
        /// The canonical arguments.
        arguments: &'a Value,
        /// The grant that asks.
        grant: &'a str,
        /// Why it asks: the clause, and what the call has there.
        reason: &'a str,
        /// blake3 of the text that is shown, in hexadecimal.
        shown: &'a str,
        /// The text, unless it is long.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
    },
    /// A human answered.
    Answered {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// Whether the call may happen.
        allowed: bool,
        /// Who answered, as far as whoever asked knows.
        by: &'a str,
        /// blake3 of the text that was shown, in hexadecimal.
        shown: &'a str,
    },
    /// A call was admitted. It is about to start.
    Admitted {
        /// The run.
        run: u64,
        /// The call's number in it.
        seq: u64,
        /// The call that it is part of, if a tool made it.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The canonical method.
        method: &'a str,
        /// The package whose function it is, and its version; none for a function of the host.
        #[serde(skip_serializing_if = "Option::is_none")]
        package: Option<&'a str>,
        /// The canonical arguments.
        arguments: &'a Value,
        /// The grant that was debited.
        grant: &'a str,
        /// What was reserved in which account.
        debits: Debits<'a>,
    },
    /// What an admitted call had reserved was given back: it never started.
    Released {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
    },
    /// A call was refused. Nothing ran and nothing was spent.
    Denied {
        /// The run.
        run: u64,
        /// The call's number in it.
        seq: u64,
        /// The call that it is part of, if a tool made it.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The method that was asked for.
        method: &'a str,
        /// The arguments as far as they were understood.
        arguments: &'a Value,
        /// The nearest grant.
        grant: Option<&'a str>,
        /// What sort of refusal: `capability`, `argument`, `approval`, `limit`.
        kind: ErrorKind,
        /// What was missing: the clause, the budget, the consent.
        reason: &'a str,
    },
    /// What a tool wrote to its standard output or error.
    Said {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// `stdout` or `stderr`.
        stream: &'a str,
        /// The text, up to a limit.
        text: &'a str,
    },
    /// A tool makes a request by `wasi:http`.
    Requested {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// The method of HTTP.
        method: &'a str,
        /// Where to, without the query.
        url: &'a str,
        /// Why it was not sent. None: it was.
        refused: Option<&'a str>,
    },
    /// The value of a secret is used: put into a request, or shown to the tool.
    SecretUsed {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// The secret's name.
        secret: &'a str,
        /// The alias of the tool.
        tool: &'a str,
        /// Where the request goes: scheme, host and port. None: the tool sees the value, whatever it does with it.
        to: Option<&'a str>,
    },
    /// A call ended.
    Settled {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// How.
        outcome: CallOutcome,
        /// How long it took, in microseconds.
        micros: u64,
        /// Why it failed.
        error: Option<&'a str>,
    },
    /// The session's files were changed from outside, without a run.
    Changed {
        /// The number that this change has among the runs.
        run: u64,
        /// What was done.
        what: &'a str,
    },
    /// A run ended.
    Ended {
        /// The run.
        run: u64,
        /// In one word.
        status: &'a str,
        /// Why it failed; a limit is named here.
        error: Option<&'a str>,
    },
    /// The run has added as much to the log as it may, and ends. What it did besides is not in the log; how the calls end
    /// that had begun, and the run itself, is.
    Full {
        /// The run.
        run: u64,
        /// Its limit `log`, in bytes.
        limit: u64,
    },
    /// The last line had been cut off in the middle, by a crash, and was removed.
    Mended {
        /// How many bytes it had.
        bytes: u64,
    },
}

impl<'a> Event<'a> {
    /// Returns true for what has happened when it is written. Without a line of anything else, that does not happen.
    pub(super) fn is_afterwards(&self) -> bool {
        matches!(self, Self::Settled { .. } | Self::Denied { .. } | Self::Released { .. } | Self::Said { .. })
    }

    /// How something ends that had begun, with texts of at most `most` bytes; none if it says anything else.
    pub(super) fn ending(&self, most: usize) -> Option<Self> {
        let cut = |text: &'a str| &text[..text.floor_char_boundary(most)];
        match *self {
            Self::Settled { run, seq, outcome, micros, error } => {
                Some(Self::Settled { run, seq, outcome, micros, error: error.map(cut) })
            }
            Self::Answered { run, seq, allowed, by, shown } => {
                Some(Self::Answered { run, seq, allowed, by: cut(by), shown })
            }
            Self::Released { .. } => Some(*self),
            _ => None,
        }
    }
}

/// What a call reserved: one call of each account, and an amount of those that sum something.
#[derive(Clone, Copy, Debug)]
pub struct Debits<'a> {
    pub(in crate::gate) accounts: &'a [HeldAccount],
    pub(in crate::gate) amounts: &'a [(AccountId, Amount)],
}

impl<'a> Debits<'a> {
    /// The accounts by name, that of the grant first, with the amount for what sums something.
    pub fn iter(self) -> impl Iterator<Item = (&'a Arc<str>, Option<Amount>)> {
        self.accounts.iter().filter_map(move |held| {
            let amount = self.amounts.iter().find(|(account, _)| *account == held.id);
            Some((held.name.as_ref()?, amount.map(|(_, amount)| *amount)))
        })
    }
}

impl<'a> Debits<'a> {
    /// The accounts that have a limit, by name, with how much of them may be used.
    pub(crate) fn limited(self) -> impl Iterator<Item = (&'a Arc<str>, Allowance)> {
        self.accounts.iter().filter_map(|held| {
            let allowance = allowance(&held.grant);
            allowance.is_limited().then_some((held.name.as_ref()?, allowance))
        })
    }
}

/// One account, as it is logged.
#[derive(Serialize)]
struct Debit<'a> {
    account: &'a str,
    /// Exact, in decimals: JSON's numbers are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    spend: Option<String>,
}

impl Serialize for Debits<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (account, spend) in self.iter() {
            let spend = spend.map(|amount| amount.to_string());
            list.serialize_element(&Debit { account, spend })?;
        }
        list.end()
    }
}
