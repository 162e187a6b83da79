//! Changes of sessions without a run: edited or restored files, labels, removal.

use super::record::States;
use super::session_lock::Waiting;
use super::shared_budgets::{ATTEMPTS, FamilyId};
use super::{At, Point, SessionId, Sessions, SessionsError, record_key, revision};
use crate::store::{Batch, Owner, StoreError};
use crate::vfs::{Limits, SnapshotId, Tree};

/// Number of records that one commit removes.
const PAGE: usize = 500;

/// Result of removing a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Number of records removed. Blobs that only this session named are removed by garbage collection.
    pub records: u64,
}

impl Sessions {
    /// Changes the files of a session, and commits the change like a run: it has a number, and can be rolled back.
    ///
    /// # Errors
    /// If there is no such session, `change` fails, or the change cannot be committed: then the files are as they were.
    pub fn change(
        &self,
        id: &SessionId,
        what: &str,
        waiting: Waiting,
        change: impl FnOnce(&mut Tree) -> Result<(), SessionsError>,
    ) -> Result<SnapshotId, SessionsError> {
        self.change_all(id, what, waiting, None, change)
    }

    /// Changes the files like [`Sessions::change`]; with `states`, also replaces the state that scripts left besides
    /// files.
    fn change_all(
        &self,
        id: &SessionId,
        what: &str,
        waiting: Waiting,
        states: Option<&States>,
        change: impl FnOnce(&mut Tree) -> Result<(), SessionsError>,
    ) -> Result<SnapshotId, SessionsError> {
        let bytes = self.policy(id)?.limits.files;
        let live = self.live(id, Some(waiting))?;
        let limits = Limits { bytes, file_bytes: u64::MAX, ..Limits::default() };
        live.change(limits, what, states, change).map(|(snapshot, _)| snapshot)
    }

    /// Restores the files and script state of a session at one of its points. Spent amounts stay spent.
    ///
    /// # Errors
    /// If there is no such point, or it cannot be committed.
    pub fn rollback(&self, to: &Point, waiting: Waiting) -> Result<SnapshotId, SessionsError> {
        let (then, states) = (self.files(to)?, self.states(to)?);
        let at = match &to.at {
            At::Head => "where it is".to_owned(),
            At::Run(run) => format!("run {run}"),
            At::Label(label) => format!("`{label}`"),
        };
        self.change_all(&to.session, &format!("rolled back to {at}"), waiting, Some(&states), |files| {
            let limits = files.limits();
            *files = then;
            files.set_limits(limits);
            Ok(())
        })
    }

    /// Labels the files that a run left; without a run, removes the label.
    ///
    /// # Errors
    /// If there is no such session or run, the run left no files, or the label is not valid;
    /// [`SessionsError::HandedOver`].
    pub fn label(&self, id: &SessionId, label: &str, run: Option<u64>) -> Result<(), SessionsError> {
        let none = |what: String| SessionsError::NoPoint { session: id.clone(), what };
        if !revision::is_label(label) {
            return Err(none(format!(
                "label `{label}`: labels follow the rules for session names, and do not begin with a digit"
            )));
        }
        self.refuse_handed_over(id)?;
        let name = record_key::named(b'T', id, label);
        let mut batch = Batch::default();
        batch.expect(record_key::single(b'S', id), Some(self.identity(id)?));
        match run {
            Some(run) => {
                self.snapshot(&Point { session: id.clone(), at: At::Run(run) })?;
                batch.put(name, run.to_be_bytes());
            }
            None if self.records().get(&name)?.is_none() => return Err(none(format!("label `{label}`"))),
            None => batch.remove(name),
        }
        Ok(self.records().commit(batch)?)
    }

    /// Removes a session: its files, budgets, runs and log. An active run is cancelled, in whatever process it runs.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be removed. A session of which only a part could be removed no longer
    /// exists either.
    pub fn remove(&self, id: &SessionId, waiting: &Waiting) -> Result<Removed, SessionsError> {
        self.created(id)?;
        let _demand = self.demand(id)?;
        let _session_lock = self.0.locks.take(id, waiting)?;
        let identity = self.identity(id)?;
        let family = FamilyId::of(id, &self.read(id, "its first record", &identity)?)?;
        let ones = || record_key::KINDS.iter().filter(|kind| !record_key::MULTIPLE.contains(kind));
        for _ in 0..ATTEMPTS {
            let mut batch = Batch::of(Owner { key: record_key::single(b'O', id), epoch: self.epoch(id)? });
            batch.expect(record_key::single(b'S', id), Some(identity.clone()));
            // From here on the session does not exist: the mark lets a later cleanup find its remaining records.
            batch.put(record_key::single(b'X', id), []);
            ones().for_each(|kind| batch.remove(record_key::single(*kind, id)));
            let is_last = match self.families().record(id, family)? {
                Some(founded) => founded.leave(&mut batch),
                None => {
                    batch.expect(family.key(), None);
                    false
                }
            };
            match self.records().commit(batch) {
                // Another session of the family was created or removed meanwhile.
                Err(StoreError::Conflict { key }) if key == family.key() => continue,
                removed => removed?,
            }
            if is_last {
                self.families().clear(family)?;
            }
            return Ok(Removed { records: ones().count() as u64 + self.clear(id)? });
        }
        Err(SessionsError::Busy(id.clone()))
    }

    /// Removes the remaining records of a session that no longer exists, or does not exist yet. Returns their number.
    pub(super) fn clear(&self, id: &SessionId) -> Result<u64, SessionsError> {
        let mut removed = 0;
        let none = |batch: &mut Batch| batch.expect(record_key::single(b'S', id), None);
        for kind in record_key::MULTIPLE {
            let prefix = record_key::prefix(*kind, id);
            loop {
                let page = self.records().scan(&prefix, None, PAGE)?;
                if page.is_empty() {
                    break;
                }
                let mut batch = Batch::default();
                none(&mut batch);
                removed += page.len() as u64;
                page.into_iter().for_each(|(name, _)| batch.remove(name));
                self.records().commit(batch)?;
            }
        }
        let mark = record_key::single(b'X', id);
        if self.records().get(&mark)?.is_some() {
            let mut batch = Batch::default();
            none(&mut batch);
            batch.remove(mark);
            self.records().commit(batch)?;
        }
        Ok(removed)
    }
}
