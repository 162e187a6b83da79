//! Budgets of a session that is being imported.
//!
//! If a session with which it shares its budgets is in this store, the import joins that family. Otherwise its budgets
//! are exhausted, because nobody here knows how much of them was spent elsewhere since the export; and so they are if
//! what was left went along with a hand-over, unless the import is one that brings it back. The operator may decide
//! otherwise. Each decision is recorded in the session's log.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use super::export::Exported;
use super::import::{ImportBudget, ImportedBudget, IncomingBlobs, SessionBuilder};
use super::record::{Balance, Created, Head, RunRecord};
use super::record_reader::{damaged, log_hash};
use super::session_log::json;
use super::shared_budgets::{FamilyId, LoadedFamily};
use super::{RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::gate::{Chain, Event, limited_accounts};
use crate::ledger::{Allowance, Used};
use crate::store::{Batch, BlobId};
use crate::vfs::now;

/// Most hand-overs by which a session may have come. Each leaves a record in the store, which outlives the session.
const MAX_HAND_OVERS: usize = 1000;

/// Decision on the budgets of a session that is being imported.
pub(super) struct ImportDecision {
    created: Created,
    /// Family of the session in the store that it comes from.
    family: FamilyId,
    decided: BudgetChoice,
    /// Amounts that count as spent, for accounts where they exceed the session's own balance.
    spent: HashMap<String, Used>,
    /// True if the policy sets a budget.
    is_limited: bool,
    /// Hand-over by which the archive moves the session.
    moved_by: Option<String>,
    /// True if the archive moves what is left of the budgets too.
    brings_budgets: bool,
    /// Amounts spent by all that shared the budgets where they come from.
    brought: HashMap<String, Used>,
}

enum BudgetChoice {
    /// The budgets are shared with this session, whose family this is.
    Shared(SessionId, LoadedFamily),
    /// Nothing is left of the budgets, which are those of this family if it is in this store.
    Exhausted(Option<LoadedFamily>),
    /// The budgets are the session's own, with a new family if the old one is in this store.
    Own(ImportBudget, Option<FamilyId>),
}

impl ImportDecision {
    /// Decides. `trial` is a view of the store in which the session already exists.
    pub(super) fn of(
        making: &SessionBuilder<'_>,
        trial: &Sessions,
        exported: &Exported,
        budget: Option<ImportBudget>,
    ) -> Result<Self, SessionsError> {
        let (sessions, id) = (making.sessions, &making.id);
        let created = trial.record_reader().created(id)?;
        if created.hand_overs.len() > MAX_HAND_OVERS {
            return Err(damaged(id, &format!("it names more than {MAX_HAND_OVERS} hand-overs")));
        }
        let limited = limited_accounts(&trial.reader().policy(id)?);
        let is_limited = !limited.is_empty();
        let family = FamilyId::of(id, &created)?;
        let members = sessions.families().members(family)?;
        let exhausted = |(account, allowance): (String, Allowance)| (account, allowance.whole());
        // What is left came along, and nobody else has it.
        let brings_budgets = exported.hand_over.as_ref().is_some_and(|hand_over| hand_over.budgets);
        let brought = if brings_budgets { spent(id, exported)? } else { HashMap::new() };
        let (decided, spent) = match (budget, members.first()) {
            (None, None) if brings_budgets => (BudgetChoice::Own(ImportBudget::Keep, None), spent(id, exported)?),
            (None, None) => (BudgetChoice::Exhausted(None), limited.into_iter().map(exhausted).collect()),
            (None, Some(member)) => {
                let family = sessions.families().share(member)?;
                if family.is_handed_over() && !brings_budgets {
                    (BudgetChoice::Exhausted(Some(family)), limited.into_iter().map(exhausted).collect())
                } else {
                    let others = limited.into_iter().filter(|account| !is_known(sessions, &members, account));
                    (BudgetChoice::Shared(member.clone(), family), others.map(exhausted).collect())
                }
            }
            (Some(budget), known) => {
                let own = known.map(|_| FamilyId::random()).transpose()?;
                let spent = if budget == ImportBudget::Keep { spent(id, exported)? } else { HashMap::new() };
                (BudgetChoice::Own(budget, own), spent)
            }
        };
        let moved_by = exported.hand_over.as_ref().map(|hand_over| hand_over.id.clone());
        Ok(Self { created, family, decided, spent, is_limited, moved_by, brings_budgets, brought })
    }

    /// Returns which budgets the session has.
    pub(super) fn budget(&self) -> ImportedBudget {
        match &self.decided {
            _ if !self.is_limited => ImportedBudget::None,
            BudgetChoice::Shared(..) => ImportedBudget::Shared,
            BudgetChoice::Exhausted(_) => ImportedBudget::Exhausted,
            BudgetChoice::Own(ImportBudget::Keep, _) => ImportedBudget::Kept,
            BudgetChoice::Own(ImportBudget::Fresh, _) => ImportedBudget::Fresh,
        }
    }

    /// Returns true if the decision depends on a record of the family, or on its absence.
    pub(super) fn rests_on(&self, key: &[u8]) -> bool {
        self.family.has_key(key)
    }

    /// Writes the decision to the session's ledger, its log, and the last batch. Returns the single records of the
    /// session.
    pub(super) fn settle(
        &self,
        making: &mut SessionBuilder<'_>,
        trial: &Sessions,
        blobs: &mut IncomingBlobs<'_>,
        last: &mut Batch,
    ) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, SessionsError> {
        let id = making.id.clone();
        if let BudgetChoice::Own(ImportBudget::Fresh, _) = self.decided {
            reset_balances(making, &id)?;
        }
        if let BudgetChoice::Shared(..) = self.decided {
            // More than the family knows was spent elsewhere: by the session, or by forks that it had there.
            let mut known = making.sessions.record_reader().balances(&id)?;
            for (account, used) in &self.brought {
                let own = known.entry(account.clone()).or_default();
                *own = own.max(*used);
            }
            making.sessions.families().raise(&id, self.family, &known, last)?;
        }
        raise_spent(making, &id, &self.spent, blobs)?;
        let mut single_records = making.single_records.clone();
        let family = match &self.decided {
            BudgetChoice::Own(_, Some(own)) => *own,
            _ => self.family,
        };
        let created = match &self.moved_by {
            // The replay of an unfinished run needs the same random numbers.
            Some(hand_over) => {
                self.note_moved(hand_over, making, last);
                let mut created = self.created.in_family(family);
                created.hand_overs.push(hand_over.clone());
                created.import = Some(Created::new_seed()?);
                created
            }
            None => self.created.reseeded(family)?,
        };
        single_records.insert(record_key::single(b'S', &id), json(&created));
        match &self.decided {
            BudgetChoice::Shared(_, family) if self.brings_budgets => family.return_budgets(last),
            BudgetChoice::Shared(_, family) | BudgetChoice::Exhausted(Some(family)) => family.join(last),
            BudgetChoice::Own(_, Some(_)) => {}
            BudgetChoice::Exhausted(None) | BudgetChoice::Own(_, None) => last.expect(self.family.key(), None),
        }
        if self.is_limited {
            let head = self.tell(trial, &id, last)?;
            single_records.insert(record_key::single(b'H', &id), json(&head));
        }
        Ok(single_records)
    }

    /// Records that a hand-over was imported, and with it all earlier ones of the session: a file of one that this store
    /// has written itself would bring back what has come back since.
    fn note_moved(&self, hand_over: &str, making: &SessionBuilder<'_>, last: &mut Batch) {
        last.expect(record_key::hand_over(hand_over), None);
        for id in self.created.hand_overs.iter().map(String::as_str).chain([hand_over]) {
            last.put(record_key::hand_over(id), making.id.as_str().as_bytes());
        }
    }

    /// Records the decision in the log and in the list of runs. Returns the updated head.
    fn tell(&self, trial: &Sessions, id: &SessionId, last: &mut Batch) -> Result<Head, SessionsError> {
        let what = match &self.decided {
            BudgetChoice::Shared(member, _) => format!("imported: it shares the budgets of `{member}`"),
            BudgetChoice::Exhausted(_) => "imported: nothing is left of its budgets".to_owned(),
            BudgetChoice::Own(ImportBudget::Keep, _) => {
                "imported: of its budgets is left what was left (keep)".to_owned()
            }
            BudgetChoice::Own(ImportBudget::Fresh, _) => "imported: its budgets are full (fresh)".to_owned(),
        };
        let mut head = trial.record_reader().head(id)?;
        let number = head.runs.checked_add(1).ok_or_else(|| damaged(id, "its runs"))?;
        let chain = Chain::resume(head.lines, log_hash(id, &head)?);
        let (line, chain) = chain.follow(&Event::Changed { run: number, what: &what }, SystemTime::now());
        let line = record_key::inline_value(&line).ok_or_else(|| damaged(id, "a line of its log"))?;
        last.put(record_key::numbered(b'A', id, chain.lines()), line);
        let run = RunRecord {
            status: RecordStatus::Changed,
            script: what,
            hash: String::new(),
            log: None,
            started: now(),
            ended: Some(now()),
            base: head.snapshot,
            snapshot: Some(head.snapshot),
            states: head.states.clone(),
            error: None,
            calls: 0,
            denied: 0,
        };
        last.put(record_key::numbered(b'R', id, number), json(&run));
        (head.runs, head.left_by, head.lines) = (number, number, chain.lines());
        head.hash = chain.hash().to_string();
        Ok(head)
    }
}

/// Returns true if a session of a family has an account of this name and size.
fn is_known(sessions: &Sessions, members: &[SessionId], account: &(String, Allowance)) -> bool {
    // A session that was just removed, or is damaged, has none.
    let policies = members.iter().filter_map(|member| sessions.reader().policy(member).ok());
    policies.into_iter().any(|policy| limited_accounts(&policy).contains(account))
}

/// Returns the amounts spent on a session's accounts at its export, if other sessions shared them.
fn spent(id: &SessionId, exported: &Exported) -> Result<HashMap<String, Used>, SessionsError> {
    let read = |balance: &Balance| {
        let used = balance.used().ok_or_else(|| damaged(id, "what was spent of its budgets"))?;
        Ok((balance.account.clone(), used))
    };
    exported.spent.iter().map(read).collect()
}

/// Resets all balances. The log still has them.
fn reset_balances(making: &mut SessionBuilder<'_>, id: &SessionId) -> Result<(), SessionsError> {
    let mut names = Vec::new();
    for kind in [b'L', b'C', b'E'] {
        making.sessions.record_reader().for_each_record(&record_key::prefix(kind, id), |(name, _)| {
            names.push(name);
            Ok(())
        })?;
    }
    names.into_iter().try_for_each(|name| making.put(name, None))?;
    making.write()
}

/// Raises the spent amounts to at least these, like amounts that were spent before a fork.
fn raise_spent(
    making: &mut SessionBuilder<'_>,
    id: &SessionId,
    spent: &HashMap<String, Used>,
    blobs: &mut IncomingBlobs<'_>,
) -> Result<(), SessionsError> {
    let (balances, carried) =
        (making.sessions.record_reader().balances(id)?, making.sessions.record_reader().carried(id)?);
    let mut records = Vec::new();
    for (account, spent) in spent {
        let own = balances.get(account).copied().unwrap_or_default();
        let more = own.max(*spent);
        let before = carried.get(account).copied().unwrap_or_default().plus(more.minus(own));
        let name = record_key::account(id, account);
        for (kind, used) in [(b'L', more), (b'C', before)] {
            let value = json(&Balance::of(account, used));
            let stored = match record_key::inline_value(&value) {
                Some(here) => here,
                None => {
                    let blob = BlobId::of(&value);
                    blobs.put(value)?;
                    record_key::blob_value(&blob)
                }
            };
            records.push(([&[kind], &name[1..]].concat(), stored));
        }
    }
    blobs.sync()?;
    records.into_iter().try_for_each(|(name, value)| making.put(name, Some(value)))?;
    making.write()
}
