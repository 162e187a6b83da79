//! Notifications about suspended runs, as the session's log has them.

use super::open_session::PersistentSession;
use super::session_lock::Waiting;
use super::{SessionId, Sessions, SessionsError};
use crate::gate::Event;

impl Sessions {
    /// Records in a session's log whether somebody could be told that a run was suspended. `to` says who, `error` why not.
    ///
    /// # Errors
    /// If there is no such session, it does not become free in time, or the log cannot be written.
    pub fn record_notification(
        &self,
        id: &SessionId,
        run: u64,
        to: &str,
        error: Option<&str>,
        waiting: Waiting,
    ) -> Result<(), SessionsError> {
        self.live(id, Some(waiting))?.record_notification(run, to, error)
    }
}

impl PersistentSession {
    fn record_notification(&self, run: u64, to: &str, error: Option<&str>) -> Result<(), SessionsError> {
        let recorded = self.locked(|| {
            let mut open = self.log.lock();
            let open = open.as_mut().ok_or(SessionsError::NotTaken)?;
            let event = Event::Notified { run, to, error };
            open.commit_with_line(&self.id, &event, |open| self.log.commit(open, |_| Ok(())))
        });
        if recorded.is_ok() {
            self.leave();
        }
        recorded
    }
}
