//! Hand-over of a session: it goes on where its export is imported, with its unfinished run, and no more here.
//!
//! The session is fenced before anything of it is written: whatever happens then, it does not go on in two places. It
//! can be exported again, under the same identifier, and be forked; a store imports each identifier once. A fork of a
//! fenced session has nothing left of budgets that went with it, and so has a copy that is imported.

use serde::{Deserialize, Serialize};

use super::open_session::PersistentSession;
use super::record::RunRecord;
use super::record_reader::damaged;
use super::session_log::json;
use super::shared_budgets::{ATTEMPTS, LoadedFamily};
use super::{RecordStatus, SessionsError, record_key};
use crate::gate::Event;
use crate::store::StoreError;
use crate::vfs::now;

/// Hand-over of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HandOver {
    /// Random identifier, in hexadecimal.
    pub id: String,
    /// Time of the hand-over, in nanoseconds since the Unix epoch.
    pub at: u64,
    /// True if what is left of the budgets goes along: no other session shared them.
    pub budgets: bool,
}

impl PersistentSession {
    /// Fences the session. A session that is fenced already keeps its identifier.
    pub(super) fn fence(&self) -> Result<HandOver, SessionsError> {
        for _ in 0..ATTEMPTS {
            // A fork or an import that joins the family meanwhile changes its record.
            let family = self.sessions.families().share(&self.id)?;
            match self.fence_with(&family) {
                Err(SessionsError::Store(StoreError::Conflict { key })) if family.id.has_key(&key) => {}
                fenced => return fenced,
            }
        }
        Err(SessionsError::Busy(self.id.clone()))
    }

    /// Returns true if no other session can spend from the budgets of the family.
    fn has_budgets_alone(&self, family: &LoadedFamily) -> Result<bool, SessionsError> {
        if family.others() == 0 {
            return Ok(true);
        }
        for member in self.sessions.families().members(family.id)? {
            match self.sessions.record_reader().head(&member) {
                Ok(head) if head.handed_over.is_none() && member != self.id => return Ok(false),
                // One that was removed since the family was read has changed the family's record.
                Ok(_) | Err(SessionsError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Fences the session, on the condition that its family is as it was read.
    fn fence_with(&self, family: &LoadedFamily) -> Result<HandOver, SessionsError> {
        let budgets = self.has_budgets_alone(family)?;
        let mut open = self.log.lock();
        let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
        if let Some(fenced) = &open.head.handed_over {
            return Ok(fenced.clone());
        }
        let mut id = [0; 32];
        getrandom::fill(&mut id).map_err(|error| SessionsError::Random(error.into()))?;
        let hand_over = HandOver { id: blake3::Hash::from(id).to_string(), at: now(), budgets };
        let number = open.head.runs.checked_add(1).ok_or_else(|| damaged(&self.id, "its runs"))?;
        let what = "handed over: it goes on where its export is imported";
        let record = RunRecord {
            status: RecordStatus::Changed,
            script: what.to_owned(),
            hash: String::new(),
            log: None,
            started: hand_over.at,
            ended: Some(hand_over.at),
            base: open.head.snapshot,
            snapshot: Some(open.head.snapshot),
            states: open.head.states.clone(),
            error: None,
            calls: 0,
            denied: 0,
        };
        open.commit_with_line(&self.id, &Event::Changed { run: number, what }, |open| {
            self.log.commit(open, |commit| {
                if budgets {
                    family.hand_over(&mut commit.batch);
                } else {
                    family.keep(&mut commit.batch);
                }
                commit.batch.put(record_key::numbered(b'R', &self.id, number), json(&record));
                (commit.head.runs, commit.head.left_by) = (number, number);
                commit.head.handed_over = Some(hand_over.clone());
                Ok(())
            })
        })?;
        Ok(hand_over)
    }
}
