//! Journal of a run: everything that its guests were given, in order.
//!
//! A guest is deterministic: with the same script, seed and files, and the same completions at the same times in the
//! same order, it does the same. So the journal is enough to bring a run to where it was, in another process and on
//! another day, without calling a tool again.
//!
//! On disk the journal is a sequence of chunks (`J` id 0 run chunk, see `persistence/record_key.rs`), each written by one
//! commit of the session: lines of JSON (UTF-8, `\n`), one an entry, whose member `entry` names its kind. The first entry is
//! [`JournalEntry::Started`]; its `version` says how the others are read, and is raised when one of them changes its
//! meaning. Bytes are in base64 (RFC 4648 §4, padded), times in nanoseconds since the Unix epoch, digests in hexadecimal.
//! A process that does not know the version, or a kind of entry, refuses to resume the run. `docs/formats/journal.md` has
//! the members of each entry.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::guest_process::Pid;
use super::persistence::SessionId;
use crate::capability::{Limits, Policy};
use crate::error::{Failure, Payload, Special, SpecialKind};
use crate::gate::{Decision, DeferredCall};
use crate::guest::{Language, OperationId, Script, Typed, Value};
use crate::vfs::{Action, Body, Content, Edit};

/// Version of the entries that this process writes.
const VERSION: u32 = 2;

/// Earlier version that can be read too: its runs have no seed of their own, and cannot be forked in the middle.
const WITHOUT_SEED: u32 = 1;

/// One entry of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(super) enum JournalEntry {
    /// The run started.
    Started(Box<RunStart>),
    /// A guest process was started.
    Entered {
        /// Number of the process.
        pid: Pid,
        /// Time that it was given, in nanoseconds since the Unix epoch.
        now: u64,
    },
    /// The gate admitted a call, which is about to start.
    Admitted {
        /// Operation of the guest.
        id: OperationId,
        /// Number of the call in its run.
        seq: u64,
    },
    /// A completion was delivered to the guest that waited for it.
    Delivered {
        /// Operation of the guest.
        id: OperationId,
        /// Time that the guest was given.
        now: u64,
        /// The completion; `None` for a stream between two scripts of the run, whose bytes the scripts write again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<RecordedAnswer>,
    },
    /// The main script read standard input within the step that began with the entry before.
    Input {
        /// Bytes in base64; empty at the end of the input.
        bytes: String,
    },
    /// A program is about to start, with the files as they are.
    Launched {
        /// Operation of the guest.
        id: OperationId,
        /// Time that the program was given, in nanoseconds since the Unix epoch.
        now: u64,
    },
    /// A script stopped a program, whose changes of files are kept.
    Kept {
        /// Operation of the guest.
        id: OperationId,
        /// Changes of files.
        edits: Vec<RecordedEdit>,
    },
    /// A call waits for the approval of a human.
    Deferred {
        /// Operation of the guest.
        id: OperationId,
        /// The call.
        call: Box<DeferredCall>,
    },
    /// A human decided about a call.
    Decided {
        /// Number of the call in its run.
        seq: u64,
        /// The decision.
        decision: Decision,
    },
    /// A human said what became of a call that was interrupted.
    Resolved {
        /// Number of the call in its run.
        seq: u64,
        /// What became of it.
        resolution: Resolution,
        /// Who said so.
        by: String,
    },
    /// The run was forked here from another session's: from now on its guests draw other random numbers.
    Forked {
        /// The session.
        session: SessionId,
        /// Number of the run in it.
        run: u64,
        /// Number of the call before which the run was forked: the first that is made anew.
        seq: u64,
        /// Seed of the guests' random numbers, in hexadecimal.
        seed: String,
    },
    /// The run did something that cannot be replayed.
    Unreplayable {
        /// What it did.
        what: String,
    },
}

impl JournalEntry {
    /// Records bytes of standard input that the main script read within a step.
    pub(super) fn input(bytes: &[u8]) -> Self {
        Self::Input { bytes: STANDARD.encode(bytes) }
    }
}

/// What became of a call that was interrupted, or what is to be done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resolution {
    /// It did not take effect: it is made again.
    Retry,
    /// It failed, with this message.
    Fail(String),
    /// It took effect, with this result.
    Done(Json),
}

impl JournalEntry {
    /// Returns the short name of the language of a run that started.
    pub(super) fn language(&self) -> Option<&str> {
        match self {
            Self::Started(start) => Some(&start.language),
            _ => None,
        }
    }
}

impl Resolution {
    /// Returns the word for it, as the command line and the log have it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Fail(_) => "fail",
            Self::Done(_) => "done",
        }
    }
}

/// Conditions under which a run started: a run can only be replayed under the same.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunStart {
    /// Version of the entries.
    version: u32,
    /// Digest of the guest's machine code, in hexadecimal.
    guest: String,
    /// blake3 of the session's policy and lock, in hexadecimal.
    authority: String,
    language: String,
    /// Seed of the guests' random numbers, in hexadecimal. In version 1 they follow from the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    script: RecordedScript,
    /// Limits of the run, as a policy writes them; absent if they are the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limits: Option<Json>,
    /// True if the script found the state that an earlier one left, and leaves its own.
    pub(super) keep_state: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RecordedScript {
    source: String,
    name: String,
    from_file: bool,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colors: Option<bool>,
}

/// Reason why a journal cannot be replayed here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The journal has no entry, or one that this version cannot read.
    #[error("its journal cannot be read: {0}")]
    Unreadable(String),
    /// Something is not as it was when the run started.
    #[error("{0} changed since the run started")]
    Changed(&'static str),
    /// The run did something that cannot be replayed.
    #[error("a run that {0} cannot be resumed")]
    Unreplayable(String),
}

impl RunStart {
    /// Describes a run that starts, or is to be replayed, in a session with this authority.
    pub(super) fn new(
        language: Language,
        script: &Script,
        authority: &str,
        limits: &Limits,
        keep_state: bool,
        seed: [u8; 32],
    ) -> Self {
        let Script { source, name, from_file, arguments, environment, typed } = script.clone();
        let colors = typed.map(|typed| typed.colors);
        Self {
            version: VERSION,
            guest: guest_digest(language),
            authority: authority.to_owned(),
            language: language.word().to_owned(),
            seed: Some(blake3::Hash::from(seed).to_string()),
            script: RecordedScript { source, name, from_file, arguments, environment, colors },
            limits: Policy { limits: limits.clone(), ..Policy::default() }.to_json().get("limits").cloned(),
            keep_state,
        }
    }

    /// Returns the limits of the run.
    ///
    /// # Errors
    /// If they are none that this version knows.
    pub(super) fn limits(&self) -> Result<Limits, ReplayError> {
        let Some(limits) = &self.limits else { return Ok(Limits::default()) };
        let policy = Policy::parse_json(&serde_json::json!({ "limits": limits }).to_string());
        policy.map(|policy| policy.limits).map_err(|error| ReplayError::Unreadable(format!("limits: {error}")))
    }

    /// Returns the seed of the guests' random numbers; `None` if it follows from the session's.
    ///
    /// # Errors
    /// If it is not a seed, or lacks in a version that has one.
    pub(super) fn seed(&self) -> Result<Option<[u8; 32]>, ReplayError> {
        match &self.seed {
            None if self.version == WITHOUT_SEED => Ok(None),
            None => Err(ReplayError::Unreadable("it has no seed".to_owned())),
            Some(seed) => seed_of(seed).map(Some),
        }
    }

    /// Returns the digest of the session's policy and lock, in hexadecimal.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the script, if the run can be replayed by these guests in a session with this authority.
    ///
    /// # Errors
    /// What changed since the run started.
    pub(super) fn script(&self, authority: &str) -> Result<(Language, Script), ReplayError> {
        if !matches!(self.version, VERSION | WITHOUT_SEED) {
            return Err(ReplayError::Unreadable(format!("it is of version {}", self.version)));
        }
        let language = Language::ALL.into_iter().find(|language| language.word() == self.language);
        let language = language.ok_or_else(|| ReplayError::Unreadable(format!("language `{}`", self.language)))?;
        if self.guest != guest_digest(language) {
            return Err(ReplayError::Changed("the guest, which is part of Tollhouse itself,"));
        }
        if self.authority != authority {
            return Err(ReplayError::Changed("the policy of the session, or the tools that it pins,"));
        }
        let RecordedScript { source, name, from_file, arguments, environment, colors } = self.script.clone();
        let typed = colors.map(|colors| Typed { colors });
        Ok((language, Script { source, name, from_file, arguments, environment, typed }))
    }
}

/// Parses a seed in hexadecimal.
pub(super) fn seed_of(text: &str) -> Result<[u8; 32], ReplayError> {
    let seed = blake3::Hash::from_hex(text).map_err(|error| ReplayError::Unreadable(format!("its seed: {error}")))?;
    Ok(*seed.as_bytes())
}

fn guest_digest(language: Language) -> String {
    crate::code::embedded(language.word()).digest.to_owned()
}

/// Completion in the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecordedAnswer {
    result: RecordedResult,
    /// Changes of files that the call made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edits: Vec<RecordedEdit>,
    /// Digest of the call that it answers, as the script made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<String>,
    /// Number of the stream of a program that was read or written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<u32>,
    /// Output that the script had not read when the program ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unread: Option<UnreadOutput>,
    /// Start of a call without effects, so that it can be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) started: Option<CallStart>,
}

/// Point of a run at which a tool was called: with the files that the guests had left by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallStart {
    /// Time that the tool was given, in nanoseconds since the Unix epoch.
    pub(super) now: u64,
    /// Number of entries into guests before it: of `entered` and `delivered` entries.
    pub(super) entries: u64,
}

/// Output of a program that the script had not read when the program ended, in base64.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UnreadOutput {
    stdout: String,
    stderr: String,
}

impl UnreadOutput {
    /// Records the output.
    pub(super) fn new([stdout, stderr]: [&[u8]; 2]) -> Self {
        Self { stdout: STANDARD.encode(stdout), stderr: STANDARD.encode(stderr) }
    }

    /// Returns the bytes of standard output, and of standard error.
    pub(super) fn restore(&self) -> Result<[Vec<u8>; 2], ReplayError> {
        Ok([decoded(&self.stdout)?, decoded(&self.stderr)?])
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedResult {
    Json(RecordedPayload),
    /// Bytes in base64.
    Bytes(String),
    Nothing,
    Exited(u8),
    Failed(Box<RecordedFailure>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RecordedPayload {
    value: Json,
    /// Kinds of the marked places, by their JSON Pointers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    specials: BTreeMap<String, RecordedKind>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedKind {
    Bytes,
    Integer,
    Float,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RecordedFailure {
    failure: Failure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<RecordedPayload>,
}

/// Change of a file in the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecordedEdit {
    path: String,
    #[serde(flatten)]
    action: RecordedAction,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum RecordedAction {
    Remove {
        directory: bool,
    },
    File {
        /// Content in base64.
        content: String,
        mode: u32,
        modified: u64,
    },
    Directory {
        mode: u32,
        modified: u64,
    },
    Link {
        target: String,
        mode: u32,
        modified: u64,
    },
}

impl From<&Payload> for RecordedPayload {
    fn from(payload: &Payload) -> Self {
        let kind = |kind: SpecialKind| match kind {
            SpecialKind::Bytes => RecordedKind::Bytes,
            SpecialKind::Integer => RecordedKind::Integer,
            SpecialKind::Float => RecordedKind::Float,
        };
        let specials = payload.specials.iter().map(|special| (special.pointer.clone(), kind(special.kind)));
        Self { value: payload.value.clone(), specials: specials.collect() }
    }
}

impl From<RecordedPayload> for Payload {
    fn from(recorded: RecordedPayload) -> Self {
        let kind = |kind: RecordedKind| match kind {
            RecordedKind::Bytes => SpecialKind::Bytes,
            RecordedKind::Integer => SpecialKind::Integer,
            RecordedKind::Float => SpecialKind::Float,
        };
        let specials = recorded.specials.into_iter();
        let specials = specials.map(|(pointer, of)| Special { pointer, kind: kind(of) }).collect();
        Self { value: recorded.value, specials }
    }
}

impl RecordedAnswer {
    /// Records a completion. Fails for a file whose content cannot be read.
    pub(super) fn new(result: &Result<Value, Failure>, edits: &[Edit]) -> Result<Self, String> {
        let result = match result {
            Ok(Value::Json(payload)) => RecordedResult::Json(payload.into()),
            Ok(Value::Bytes(bytes)) => RecordedResult::Bytes(STANDARD.encode(bytes)),
            Ok(Value::Nothing) => RecordedResult::Nothing,
            Ok(Value::Exited(status)) => RecordedResult::Exited(*status),
            Err(failure) => {
                let payload = failure.payload.as_ref().map(RecordedPayload::from);
                let failure = Failure { payload: None, ..failure.clone() };
                RecordedResult::Failed(Box::new(RecordedFailure { failure, payload }))
            }
        };
        let edits = record_edits(edits)?;
        Ok(Self { result, edits, call: None, stream: None, unread: None, started: None })
    }

    /// Returns whether the input ended, if this is standard input that the run read.
    pub(super) fn is_end_of_input(&self) -> Option<bool> {
        match &self.result {
            RecordedResult::Bytes(text) if self.stream.is_none() => Some(text.is_empty()),
            _ => None,
        }
    }

    /// Returns the result as JSON: `{"result": value}`, or `{"error": failure}`.
    pub(super) fn outcome(&self) -> Json {
        match &self.result {
            RecordedResult::Json(payload) => serde_json::json!({ "result": payload.value }),
            RecordedResult::Exited(status) => serde_json::json!({ "result": { "exitCode": status } }),
            RecordedResult::Failed(recorded) => {
                let payload = recorded.payload.as_ref().map(|payload| &payload.value);
                serde_json::json!({ "error": recorded.failure, "payload": payload })
            }
            RecordedResult::Bytes(_) | RecordedResult::Nothing => serde_json::json!({ "result": null }),
        }
    }

    /// Returns true if a repetition of the call has given the same result.
    pub(super) fn has_same_result(&self, repeated: &Self) -> bool {
        serde_json::to_value(&self.result).ok() == serde_json::to_value(&repeated.result).ok()
    }

    /// Returns the paths of files that this answer or the other one changes, and not both to the same.
    pub(super) fn differing_files(&self, repeated: &Self) -> BTreeSet<String> {
        let changes = |answer: &Self| -> BTreeSet<(String, String)> {
            let text = |edit: &RecordedEdit| serde_json::to_string(edit).unwrap_or_default();
            answer.edits.iter().map(|edit| (edit.path.clone(), text(edit))).collect()
        };
        changes(self).symmetric_difference(&changes(repeated)).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the completion and the changes of files.
    pub(super) fn restore(self) -> Result<(Result<Value, Failure>, Vec<Edit>), ReplayError> {
        let result = match self.result {
            RecordedResult::Json(payload) => Ok(Value::Json(payload.into())),
            RecordedResult::Bytes(text) => Ok(Value::Bytes(decoded(&text)?)),
            RecordedResult::Nothing => Ok(Value::Nothing),
            RecordedResult::Exited(status) => Ok(Value::Exited(status)),
            RecordedResult::Failed(recorded) => {
                let RecordedFailure { failure, payload } = *recorded;
                Err(Failure { payload: payload.map(Payload::from), ..failure })
            }
        };
        Ok((result, restore_edits(self.edits)?))
    }
}

/// Records changes of files. Fails for a file whose content cannot be read.
pub(super) fn record_edits(edits: &[Edit]) -> Result<Vec<RecordedEdit>, String> {
    edits.iter().map(RecordedEdit::new).collect()
}

/// Returns recorded changes of files.
pub(super) fn restore_edits(edits: Vec<RecordedEdit>) -> Result<Vec<Edit>, ReplayError> {
    edits.into_iter().map(RecordedEdit::restore).collect()
}

pub(super) fn decoded(text: &str) -> Result<Vec<u8>, ReplayError> {
    STANDARD.decode(text).map_err(|error| ReplayError::Unreadable(error.to_string()))
}

impl RecordedEdit {
    fn new(edit: &Edit) -> Result<Self, String> {
        let action = match &edit.action {
            Action::Remove { directory } => RecordedAction::Remove { directory: *directory },
            Action::Put { body, mode, modified } => {
                let (mode, modified) = (*mode, *modified);
                match body {
                    Body::File(content) => {
                        let bytes = content.to_vec().map_err(|error| format!("`{}`: {error}", edit.path))?;
                        RecordedAction::File { content: STANDARD.encode(bytes), mode, modified }
                    }
                    Body::Directory => RecordedAction::Directory { mode, modified },
                    Body::Link(target) => RecordedAction::Link { target: target.clone(), mode, modified },
                    _ => return Err(format!("`{}` is of an unknown kind", edit.path)),
                }
            }
            _ => return Err(format!("`{}` was changed in an unknown way", edit.path)),
        };
        Ok(Self { path: edit.path.clone(), action })
    }

    fn restore(self) -> Result<Edit, ReplayError> {
        let put = |body, mode, modified| Action::Put { body, mode, modified };
        let action = match self.action {
            RecordedAction::Remove { directory } => Action::Remove { directory },
            RecordedAction::File { content, mode, modified } => {
                put(Body::File(Content::from(decoded(&content)?)), mode, modified)
            }
            RecordedAction::Directory { mode, modified } => put(Body::Directory, mode, modified),
            RecordedAction::Link { target, mode, modified } => put(Body::Link(target), mode, modified),
        };
        Ok(Edit::new(self.path, action))
    }
}

/// Encodes an entry as a line.
pub(super) fn encode(entry: &JournalEntry) -> Vec<u8> {
    let mut line = serde_json::to_vec(entry).expect("an entry is plain data");
    line.push(b'\n');
    line
}

/// Decodes a journal.
///
/// # Errors
/// If a line is no entry that this version knows.
pub(super) fn decode(journal: &[u8]) -> Result<Vec<JournalEntry>, ReplayError> {
    let lines = journal.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| ReplayError::Unreadable(error.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Entries as version 1 writes them. They stay readable.
    const VERSION_1: &str = r#"{"entry":"started","version":1,"guest":"GUEST","authority":"aa","language":"js","script":{"source":"return 1","name":"script","from_file":false,"arguments":["a"],"environment":[["N","v"]]},"limits":{"wall":"5000ms"},"keep_state":true}
{"entry":"entered","pid":0,"now":1000000}
{"entry":"admitted","id":1,"seq":1}
{"entry":"delivered","id":1,"now":2000000,"answer":{"result":{"json":{"value":["YQ=="],"specials":{"/0":"bytes"}}},"edits":[{"path":"/workspace/f","action":"file","content":"YQ==","mode":420,"modified":7},{"path":"/workspace/d","action":"directory","mode":493,"modified":7},{"path":"/workspace/l","action":"link","target":"f","mode":511,"modified":7},{"path":"/workspace/o","action":"remove","directory":false}],"call":"cc"}}
{"entry":"delivered","id":2,"now":3000000}
{"entry":"delivered","id":3,"now":3000000,"answer":{"result":"nothing"}}
{"entry":"launched","id":5,"now":3000000}
{"entry":"delivered","id":6,"now":3000000,"answer":{"result":{"bytes":"YQ=="},"stream":2}}
{"entry":"delivered","id":5,"now":3000000,"answer":{"result":{"exited":0},"call":"cc","unread":{"stdout":"YQ==","stderr":""}}}
{"entry":"kept","id":7,"edits":[{"path":"/workspace/o","action":"remove","directory":false}]}
{"entry":"deferred","id":4,"call":{"seq":2,"method":"m","arguments":{"a":1},"grant":"g","reason":"always","cost":[],"asked":4,"digest":"bb"}}
{"entry":"deferred","id":4,"call":{"seq":2,"method":"m","arguments":{"a":1},"grant":"g","reason":"always","cost":[],"asked":4,"expires":9,"digest":"bb"}}
{"entry":"decided","seq":2,"decision":{"allowed":true,"by":"me","at":5,"digest":"bb"}}
{"entry":"decided","seq":2,"decision":{"allowed":true,"by":"me","at":5,"digest":"bb","arguments":{"a":2}}}
{"entry":"resolved","seq":1,"resolution":{"done":{"x":1}},"by":"me"}
{"entry":"resolved","seq":1,"resolution":"retry","by":"me"}
{"entry":"unreplayable","what":"ran the program `p`"}
"#;

    fn version_1() -> String {
        VERSION_1.replace("GUEST", &guest_digest(Language::JavaScript))
    }

    #[test]
    fn entries_of_version_1_are_read_and_written_alike() {
        let entries = decode(version_1().as_bytes()).expect("it is a journal");
        let written: Vec<u8> = entries.iter().flat_map(encode).collect();
        assert_eq!(String::from_utf8(written).expect("text"), version_1());
        let JournalEntry::Delivered { answer: Some(answer), .. } = &entries[3] else { panic!("{:?}", entries[3]) };
        let (result, edits) = answer.clone().restore().expect("it is whole");
        let Ok(Value::Json(payload)) = result else { panic!("{result:?}") };
        assert_eq!((payload.value, payload.specials[0].pointer.as_str()), (json!(["YQ=="]), "/0"));
        assert_eq!(edits.len(), 4);
        assert!(matches!(&edits[0].action, Action::Put { body: Body::File(content), mode: 0o644, modified: 7 }
            if content.to_vec().as_deref() == Ok(b"a")));
    }

    #[test]
    fn a_run_is_replayed_under_the_conditions_of_its_start_alone() {
        let start = |text: &str| match decode(text.as_bytes()).expect("a journal").remove(0) {
            JournalEntry::Started(start) => start,
            entry => panic!("{entry:?}"),
        };
        let (language, script) = start(&version_1()).script("aa").expect("all is as it was");
        assert_eq!((language, script.source.as_str()), (Language::JavaScript, "return 1"));
        let limits = start(&version_1()).limits().expect("they are limits");
        assert_eq!(limits, Limits { wall: std::time::Duration::from_secs(5), ..Limits::default() });
        let refused = |text: &str, authority: &str| start(text).script(authority).expect_err("it differs").to_string();
        assert!(refused(&version_1(), "ab").contains("policy"));
        assert!(refused(VERSION_1, "aa").contains("guest"));
        assert!(refused(&version_1().replace("\"version\":1", "\"version\":3"), "aa").contains("version 3"));
        assert!(decode(b"{\"entry\":\"unknown\"}\n").is_err());
    }

    /// What version 2 has beside the entries of version 1.
    const VERSION_2: &str = r#"{"entry":"started","version":2,"guest":"GUEST","authority":"aa","language":"js","seed":"SEED","script":{"source":"return 1","name":"script","from_file":false,"arguments":[],"environment":[]},"keep_state":false}
{"entry":"forked","session":"s","run":3,"seq":2,"seed":"SEED"}
{"entry":"input","bytes":"YQ=="}
{"entry":"deferred","id":4,"call":{"seq":2,"method":"m","arguments":{"a":1},"grant":"g","reason":"always","cost":[],"asked":4,"file":"a.js","line":7,"digest":"bb"}}
"#;

    #[test]
    fn seed_of_a_run_is_in_its_journal_from_version_2_on() {
        let seed = blake3::Hash::from([7; 32]).to_string();
        let text = VERSION_2.replace("SEED", &seed);
        let entries = decode(text.as_bytes()).expect("it is a journal");
        let written: Vec<u8> = entries.iter().flat_map(encode).collect();
        assert_eq!(String::from_utf8(written).expect("text"), text);
        let start = |text: &str| match decode(text.as_bytes()).expect("a journal").remove(0) {
            JournalEntry::Started(start) => start.seed(),
            entry => panic!("{entry:?}"),
        };
        assert_eq!(start(&text).expect("a seed"), Some([7; 32]));
        assert_eq!(start(VERSION_1).expect("none is needed"), None);
        for damaged in [VERSION_2.to_owned(), VERSION_1.replace("\"version\":1", "\"version\":2")] {
            assert!(start(&damaged).is_err(), "{damaged}");
        }
    }

    proptest! {
        #[test]
        fn answers_are_restored_as_they_were(
            bytes in any::<Vec<u8>>(), message in ".*", status in any::<u8>(), which in 0..4, text in ".*",
        ) {
            let result = match which {
                0 => Ok(Value::Bytes(bytes.clone())),
                1 => Ok(Value::Exited(status)),
                2 => Ok(Value::Json(json!({ "text": text }).into())),
                _ => Err(Failure { payload: Some(json!(text).into()), ..Failure::tool(message) }),
            };
            let put = Action::Put { body: Body::File(Content::from(bytes)), mode: 0o600, modified: 1 };
            let edits = [Edit::new(format!("/{text}"), put)];
            let recorded = RecordedAnswer::new(&result, &edits).expect("it is in memory");
            let line = serde_json::to_vec(&recorded).expect("plain data");
            let (restored, changed) =
                serde_json::from_slice::<RecordedAnswer>(&line).expect("it was written").restore().expect("it is whole");
            prop_assert_eq!(restored, result);
            prop_assert_eq!(changed, edits);
        }

        #[test]
        fn no_bytes_make_a_journal_panic(bytes in any::<Vec<u8>>()) {
            let _ = decode(&bytes);
        }
    }
}
