//! Transfer of sessions between stores: `export` writes one to a file, `hand_over` fences it before that, and `import`
//! reads it.

use std::io::{Read, Write};

use super::export::{Exported, write_export};
use super::import::{ImportOptions, Imported, IncomingBlobs, SessionBuilder};
use super::session_lock::Waiting;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::store::{Part, read_archive};

/// Transfer of sessions between stores.
#[derive(Clone, Copy)]
pub struct SessionTransfer<'s> {
    pub(super) sessions: &'s Sessions,
}

impl SessionTransfer<'_> {
    /// Exports a session to one file: records, log and all snapshots of its runs. Secrets are not part of a session.
    ///
    /// # Errors
    /// If there is no such session, it has a run that has not ended, or a part cannot be read or written.
    pub fn export<W: Write>(&self, id: &SessionId, to: W) -> Result<(W, Exported), SessionsError> {
        self.sessions.record_reader().created(id)?;
        let Some(_session_lock) = self.sessions.locks().try_take(id)? else {
            return Err(SessionsError::Busy(id.clone()));
        };
        write_export(self.sessions, id, to, None)
    }

    /// Exports a session to one file that moves it: with its unfinished run, which can be resumed where the file is
    /// imported. From now on the session here has no further run. If writing fails, the same call writes it again.
    ///
    /// # Errors
    /// If there is no such session, it is not free, or a part cannot be read or written.
    pub fn hand_over<W: Write>(&self, id: &SessionId, to: W, waiting: Waiting) -> Result<(W, Exported), SessionsError> {
        let live = self.sessions.live(id, Some(waiting))?;
        let hand_over = live.locked(|| live.fence())?;
        // The lock is held until everything is written.
        let exported = write_export(self.sessions, id, to, Some(hand_over));
        live.leave();
        exported
    }

    /// Imports a session from a file, under its own name or another. Everything is checked before the session exists:
    /// every hash, every record, the log, and that no blob is missing.
    ///
    /// The policy comes with the session: check that you want what it grants. The budgets are those of the exported
    /// session, if that or a fork of it is in this store; otherwise they are exhausted, unless the options say
    /// otherwise.
    ///
    /// # Errors
    /// [`SessionsError::Exists`]; if the file is not an export, or is damaged.
    pub fn import(&self, from: impl Read, options: &ImportOptions) -> Result<Imported, SessionsError> {
        let mut blobs = IncomingBlobs::begin(self.sessions.blobs())?;
        let (mut making, mut exported) = (None, None);
        read_archive(from, options.most, |part| -> Result<(), SessionsError> {
            match part {
                Part::Manifest(bytes) => {
                    let read = exported.insert(Exported::read(&bytes)?);
                    let id = options.name.as_ref().unwrap_or(&read.session);
                    if let Some(hand_over) = &read.hand_over {
                        self.refuse_imported(&hand_over.id)?;
                    }
                    making = Some(SessionBuilder::begin(self.sessions, id.clone(), read.hand_over.is_some())?);
                    Ok(())
                }
                Part::Record(_, bytes) => making.as_mut().ok_or(SessionsError::NoArchive)?.records(&bytes),
                Part::Blob(_, bytes) => Ok(blobs.put(bytes)?),
            }
        })?;
        blobs.sync()?;
        // The upload stays open: until a record names the blobs, garbage collection may remove them.
        let making = making.ok_or(SessionsError::NoArchive)?;
        making.finish(&exported.ok_or(SessionsError::NoArchive)?, options, &mut blobs)
    }

    /// Refuses a hand-over that was imported before: its session would go on twice.
    fn refuse_imported(&self, hand_over: &str) -> Result<(), SessionsError> {
        match self.sessions.records().get(&record_key::hand_over(hand_over))? {
            Some(name) => Err(SessionsError::ImportedBefore(String::from_utf8_lossy(&name).into_owned())),
            None => Ok(()),
        }
    }
}
