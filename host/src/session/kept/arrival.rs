//! What a session that is being imported may spend here.
//!
//! If a session is here with which it shares its budgets, it is one more of that family. If none is, nothing is left of its
//! budgets: how much of them was spent elsewhere since the export, nobody here knows. Its operator may decide otherwise, and
//! all of that is in its log.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use super::family::{FamilyId, Founded};
use super::import::{ImportBudget, ImportedBudget, Incoming, Making};
use super::log::json;
use super::look::damaged;
use super::record::{Balance, Created, Head, RunRecord};
use super::transfer::Exported;
use super::{SessionId, Sessions, SessionsError, key};
use crate::gate::{Chain, Event, limited_accounts};
use crate::ledger::{Allowance, Used};
use crate::store::{Batch, BlobId};
use crate::vfs::now;

/// What was decided of a session that is being imported.
pub(super) struct Arrival {
    created: Created,
    /// The family that it had where it comes from.
    family: FamilyId,
    decided: Decided,
    /// What counts as spent of an account, if it is more than the session's own balance.
    spent: HashMap<String, Used>,
    /// Whether its policy sets a budget.
    is_limited: bool,
}

enum Decided {
    /// It shares the budgets of this session, whose family this is.
    Shared(SessionId, Founded),
    Exhausted,
    /// With a family of its own, if the one that it had is here.
    Own(ImportBudget, Option<FamilyId>),
}

impl Arrival {
    /// Decides. `trial` is where it is a session already.
    pub(super) fn of(
        making: &Making<'_>,
        trial: &Sessions,
        exported: &Exported,
        budget: Option<ImportBudget>,
    ) -> Result<Self, SessionsError> {
        let (place, id) = (making.place, &making.id);
        let created = trial.created(id)?;
        let limited = limited_accounts(&trial.policy(id)?);
        let is_limited = !limited.is_empty();
        let family = FamilyId::of(id, &created)?;
        let members = place.members(family)?;
        let exhausted = |(account, allowance): (String, Allowance)| (account, allowance.whole());
        let (decided, spent) = match (budget, members.first()) {
            (None, None) => (Decided::Exhausted, limited.into_iter().map(exhausted).collect()),
            (None, Some(member)) => {
                let others = limited.into_iter().filter(|account| !is_known(place, &members, account));
                (Decided::Shared(member.clone(), place.found(member)?), others.map(exhausted).collect())
            }
            (Some(budget), known) => {
                let own = known.map(|_| FamilyId::random()).transpose()?;
                let spent = if budget == ImportBudget::Keep { spent(id, exported)? } else { HashMap::new() };
                (Decided::Own(budget, own), spent)
            }
        };
        Ok(Self { created, family, decided, spent, is_limited })
    }

    /// What it may spend.
    pub(super) fn budget(&self) -> ImportedBudget {
        match &self.decided {
            _ if !self.is_limited => ImportedBudget::None,
            Decided::Shared(..) => ImportedBudget::Shared,
            Decided::Exhausted => ImportedBudget::Exhausted,
            Decided::Own(ImportBudget::Keep, _) => ImportedBudget::Kept,
            Decided::Own(ImportBudget::Fresh, _) => ImportedBudget::Fresh,
        }
    }

    /// Returns true if what was decided rests on a record: that of the family, or that there is none.
    pub(super) fn rests_on(&self, key: &[u8]) -> bool {
        self.family.key() == key
    }

    /// Makes it so: in the session's ledger, its log, and in the last batch. Gives the records of which it has one each.
    pub(super) fn settle(
        &self,
        making: &mut Making<'_>,
        trial: &Sessions,
        blobs: &mut Incoming<'_>,
        last: &mut Batch,
    ) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, SessionsError> {
        let id = making.id.clone();
        if let Decided::Own(ImportBudget::Fresh, _) = self.decided {
            forget(making, &id)?;
        }
        withhold(making, &id, &self.spent, blobs)?;
        let mut few = making.few.clone();
        let family = match &self.decided {
            Decided::Own(_, Some(own)) => *own,
            _ => self.family,
        };
        few.insert(key::one(b'S', &id), json(&self.created.reseeded(family)?));
        match &self.decided {
            Decided::Shared(_, founded) => founded.join(last),
            Decided::Own(_, Some(_)) => {}
            Decided::Exhausted | Decided::Own(_, None) => last.expect(self.family.key(), None),
        }
        if self.is_limited {
            let head = self.tell(trial, &id, last)?;
            few.insert(key::one(b'H', &id), json(&head));
        }
        Ok(few)
    }

    /// Puts on record what was decided, in the log and among the runs. Gives the head that knows of it.
    fn tell(&self, trial: &Sessions, id: &SessionId, last: &mut Batch) -> Result<Head, SessionsError> {
        let what = match &self.decided {
            Decided::Shared(member, _) => format!("imported: it shares the budgets of `{member}`"),
            Decided::Exhausted => "imported: nothing is left of its budgets".to_owned(),
            Decided::Own(ImportBudget::Keep, _) => "imported: of its budgets is left what was left (keep)".to_owned(),
            Decided::Own(ImportBudget::Fresh, _) => "imported: its budgets are full (fresh)".to_owned(),
        };
        let mut head = trial.head(id)?;
        let number = head.runs.checked_add(1).ok_or_else(|| damaged(id, "its runs"))?;
        let chain = Chain::resume(head.lines, trial.hash(id, &head)?);
        let (line, chain) = chain.follow(&Event::Changed { run: number, what: &what }, SystemTime::now());
        let line = key::here(&line).ok_or_else(|| damaged(id, "a line of its log"))?;
        last.put(key::numbered(b'A', id, chain.lines()), line);
        let run = RunRecord {
            status: "changed".to_owned(),
            script: what,
            hash: String::new(),
            started: now(),
            ended: Some(now()),
            base: head.snapshot,
            snapshot: Some(head.snapshot),
            states: head.states.clone(),
            error: None,
            calls: 0,
            denied: 0,
        };
        last.put(key::numbered(b'R', id, number), json(&run));
        (head.runs, head.left_by, head.lines) = (number, number, chain.lines());
        head.hash = chain.hash().to_string();
        Ok(head)
    }
}

/// Returns true if a session of a family has an account of this name and size.
fn is_known(place: &Sessions, members: &[SessionId], account: &(String, Allowance)) -> bool {
    // One that was just removed, or is damaged, knows none.
    let policies = members.iter().filter_map(|member| place.policy(member).ok());
    policies.into_iter().any(|policy| limited_accounts(&policy).contains(account))
}

/// What was spent of the accounts of a session when it was exported, if others shared them.
fn spent(id: &SessionId, exported: &Exported) -> Result<HashMap<String, Used>, SessionsError> {
    let read = |balance: &Balance| {
        let used = balance.used().ok_or_else(|| damaged(id, "what was spent of its budgets"))?;
        Ok((balance.account.clone(), used))
    };
    exported.spent.iter().map(read).collect()
}

/// Forgets what was ever spent. The log still has it.
fn forget(making: &mut Making<'_>, id: &SessionId) -> Result<(), SessionsError> {
    let mut names = Vec::new();
    for kind in [b'L', b'C', b'E'] {
        making.place.each(&key::many(kind, id), |(name, _)| {
            names.push(name);
            Ok(())
        })?;
    }
    names.into_iter().try_for_each(|name| making.put(name, None))?;
    making.write()
}

/// Makes that at least so much counts as spent, as what was spent before a fork does.
fn withhold(
    making: &mut Making<'_>,
    id: &SessionId,
    spent: &HashMap<String, Used>,
    blobs: &mut Incoming<'_>,
) -> Result<(), SessionsError> {
    let (balances, carried) = (making.place.balances(id)?, making.place.carried(id)?);
    let mut records = Vec::new();
    for (account, spent) in spent {
        let own = balances.get(account).copied().unwrap_or_default();
        let more = own.max(*spent);
        let before = carried.get(account).copied().unwrap_or_default().plus(more.minus(own));
        let name = key::account(id, account);
        for (kind, used) in [(b'L', more), (b'C', before)] {
            let value = json(&Balance::of(account, used));
            let stored = match key::here(&value) {
                Some(here) => here,
                None => {
                    let blob = BlobId::of(&value);
                    blobs.put(value)?;
                    key::there(&blob)
                }
            };
            records.push(([&[kind], &name[1..]].concat(), stored));
        }
    }
    blobs.sync()?;
    records.into_iter().try_for_each(|(name, value)| making.put(name, Some(value)))?;
    making.write()
}
