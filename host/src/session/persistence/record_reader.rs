//! Records of sessions, one at a time and parsed. Reading them needs no lock.

use std::collections::HashMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::record::{Balance, Created, Head, RunRecord};
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::gate::{ApproverKeys, LoggedEvent, SignatureCheck, SignedSession};
use crate::ledger::Used;
use crate::store::{BlobSource, Record};
use crate::tool::{EntryKey, nearest};

/// Number of records that are read at once.
const PAGE: usize = 500;

/// Reader of the records of sessions, one at a time and parsed.
#[derive(Clone, Copy)]
pub(in crate::session) struct RecordReader<'s> {
    pub(super) sessions: &'s Sessions,
}

impl RecordReader<'_> {
    /// Returns the first record of a session, or `None` if there is no such session.
    pub(super) fn find_created(&self, id: &SessionId) -> Result<Option<Created>, SessionsError> {
        let value = self.sessions.records().get(&record_key::single(b'S', id))?;
        value.map(|value| parse_record(id, "its first record", &value)).transpose()
    }

    /// Returns the first record of a session, or an error that names a similar session, for which all are listed.
    pub(super) fn created(&self, id: &SessionId) -> Result<Created, SessionsError> {
        if let Some(created) = self.find_created(id)? {
            return Ok(created);
        }
        let all = self.sessions.list()?;
        let near = nearest(id.as_str(), all.iter().map(SessionId::as_str)).map(str::to_owned);
        Err(SessionsError::Unknown { session: id.clone(), nearest: near })
    }

    /// Returns the bytes that distinguish this session from others that had its name before or have it later.
    pub(super) fn identity(&self, id: &SessionId) -> Result<Vec<u8>, SessionsError> {
        let first = self.sessions.records().get(&record_key::single(b'S', id))?;
        first.ok_or_else(|| self.created(id).err().unwrap_or_else(|| SessionsError::Exists(id.clone())))
    }

    /// Returns the seed of the session's random numbers.
    pub(in crate::session) fn seed(&self, id: &SessionId) -> Result<[u8; 32], SessionsError> {
        let seed = blake3::Hash::from_hex(self.created(id)?.seed);
        seed.map(|seed| *seed.as_bytes()).map_err(|_| damaged(id, "its seed"))
    }

    /// Returns what distinguishes a session from all others, for the signatures of approvals.
    pub(super) fn signed_session(&self, id: &SessionId) -> Result<SignedSession, SessionsError> {
        let origin = blake3::derive_key("tollhouse 2026-11-29 origin of a session for approvals", &self.identity(id)?);
        Ok(SignedSession { name: id.to_string(), origin: blake3::Hash::from(origin).to_string() })
    }

    /// Returns the check of the signed approvals of a session.
    pub(in crate::session) fn signature_check(
        &self,
        id: &SessionId,
        keys: ApproverKeys,
    ) -> Result<SignatureCheck, SessionsError> {
        Ok(SignatureCheck { keys, session: self.signed_session(id)? })
    }

    /// Returns the current state of a session.
    pub(super) fn head(&self, id: &SessionId) -> Result<Head, SessionsError> {
        match self.sessions.records().get(&record_key::single(b'H', id))? {
            Some(value) => parse_record(id, "its head", &value),
            None => self.created(id).and_then(|_| Err(damaged(id, "it has no head"))),
        }
    }

    /// Returns the epoch of the process that may write to the session.
    pub(super) fn epoch(&self, id: &SessionId) -> Result<u64, SessionsError> {
        let value = self.sessions.records().get(&record_key::single(b'O', id))?;
        match value {
            Some(value) => record_key::number(&value).ok_or_else(|| damaged(id, "its epoch")),
            None => self.created(id).and_then(|_| Err(damaged(id, "it has no epoch"))),
        }
    }

    /// Returns the record of a run.
    pub(super) fn run(&self, id: &SessionId, run: u64) -> Result<RunRecord, SessionsError> {
        let value = self.sessions.records().get(&record_key::numbered(b'R', id, run))?;
        parse_record(id, "a run", &value.ok_or_else(|| damaged(id, &format!("run {run} has no record")))?)
    }

    /// Returns the records of all runs, by number.
    pub(super) fn run_records(&self, id: &SessionId) -> Result<Vec<(u64, RunRecord)>, SessionsError> {
        let mut runs = Vec::new();
        self.for_each_record(&record_key::prefix(b'R', id), |(name, value)| {
            runs.push((record_key::number(&name).unwrap_or_default(), parse_record(id, "a run", &value)?));
            Ok(())
        })?;
        Ok(runs)
    }

    /// Returns the amounts that the session itself has spent, by account.
    pub(super) fn balances(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        self.sums(b'L', id)
    }

    /// Returns the part of the balances that was spent before the session was forked.
    pub(super) fn carried(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        self.sums(b'C', id)
    }

    fn sums(&self, kind: u8, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        let mut balances = HashMap::new();
        self.for_each_record(&record_key::prefix(kind, id), |(name, value)| {
            let balance: Balance = parse_record(id, "a balance", &self.value(id, &value)?)?;
            if !name.ends_with(&record_key::account(id, &balance.account)[1..]) {
                return Err(damaged(id, "a balance"));
            }
            let used = balance.used().ok_or_else(|| damaged(id, "a balance"))?;
            balances.insert(balance.account, used);
            Ok(())
        })?;
        Ok(balances)
    }

    /// Returns the entries that tools have stored.
    pub(super) fn keyvalue(&self, id: &SessionId) -> Result<Vec<(EntryKey, bytes::Bytes)>, SessionsError> {
        let mut entries = Vec::new();
        self.for_each_record(&record_key::prefix(b'K', id), |(name, value)| {
            let name = record_key::read_keyvalue(id, &name).ok_or_else(|| damaged(id, "a key of `wasi:keyvalue`"))?;
            entries.push((name, self.value(id, &value)?.into()));
            Ok(())
        })?;
        Ok(entries)
    }

    /// Refuses to continue a session that was handed over.
    pub(super) fn refuse_handed_over(&self, id: &SessionId) -> Result<(), SessionsError> {
        match self.head(id)?.handed_over {
            Some(_) => Err(SessionsError::HandedOver(id.clone())),
            None => Ok(()),
        }
    }

    /// Returns a value that may be in a blob.
    pub(super) fn value(&self, id: &SessionId, value: &[u8]) -> Result<Vec<u8>, SessionsError> {
        match record_key::decode_value(value).ok_or_else(|| damaged(id, "a record"))? {
            record_key::StoredValue::Inline(value) => Ok(value.to_vec()),
            record_key::StoredValue::Blob(blob) => Ok(self.sessions.blobs().get(&blob)?.to_vec()),
        }
    }

    /// Returns a record that must exist, and may be in a blob.
    pub(super) fn long(&self, id: &SessionId, name: &[u8]) -> Result<Vec<u8>, SessionsError> {
        match self.sessions.records().get(name)? {
            Some(value) => self.value(id, &value),
            None => self.created(id).and_then(|_| Err(damaged(id, "a record is missing"))),
        }
    }

    /// Returns the blobs of the store, to read from.
    pub(in crate::session) fn source(&self) -> Arc<dyn BlobSource> {
        Arc::clone(self.sessions.shared_blobs()) as Arc<dyn BlobSource>
    }

    /// Calls `take` for every record of a session, in the order of the kinds.
    pub(super) fn records_of(
        &self,
        id: &SessionId,
        mut take: impl FnMut(Record) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        for kind in record_key::KINDS {
            if record_key::MULTIPLE.contains(kind) {
                self.for_each_record(&record_key::prefix(*kind, id), &mut take)?;
            } else {
                let name = record_key::single(*kind, id);
                if let Some(value) = self.sessions.records().get(&name)? {
                    take((name, value))?;
                }
            }
        }
        Ok(())
    }

    /// Calls `take` for every record under a prefix, in order.
    pub(super) fn for_each_record(
        &self,
        prefix: &[u8],
        take: impl FnMut(Record) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        self.for_each_record_after(prefix, None, take)
    }

    /// Calls `take` for every record under a prefix and behind a key, in order.
    pub(super) fn for_each_record_after(
        &self,
        prefix: &[u8],
        mut after: Option<Vec<u8>>,
        mut take: impl FnMut(Record) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        loop {
            let page = self.sessions.records().scan(prefix, after.as_deref(), PAGE)?;
            let whole = page.len() == PAGE;
            after = page.last().map(|(name, _)| name.clone());
            page.into_iter().try_for_each(&mut take)?;
            if !whole {
                return Ok(());
            }
        }
    }
}
/// Parses a record of a session; `what` names it in the error.
pub(super) fn parse_record<T: DeserializeOwned>(id: &SessionId, what: &str, value: &[u8]) -> Result<T, SessionsError> {
    serde_json::from_slice(value).map_err(|error| damaged(id, &format!("{what}: {error}")))
}

/// Returns the hash of the last line of a session's log, which its head names.
pub(super) fn log_hash(id: &SessionId, head: &Head) -> Result<[u8; 32], SessionsError> {
    let hash = blake3::Hash::from_hex(&head.hash).map_err(|_| damaged(id, "its head"))?;
    Ok(*hash.as_bytes())
}

/// Reads the event of a line of a session's log.
pub(super) fn logged_event(id: &SessionId, line: &Value) -> Result<LoggedEvent, SessionsError> {
    LoggedEvent::read(line).map_err(|error| damaged(id, &format!("line {} of its log: {error}", line["n"])))
}

/// Returns the error that a part of a session's records is not valid.
pub(super) fn damaged(id: &SessionId, what: &str) -> SessionsError {
    SessionsError::Damaged { session: id.clone(), what: what.to_owned() }
}
