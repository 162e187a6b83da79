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

mod answer;
mod answer_text;
mod mark;
mod reader;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tollhouse_registry::Effect;

pub(super) use self::answer::{
    CallStart, RecordedAnswer, RecordedEdit, UnreadOutput, decoded, record_edits, restore_edits,
};
pub(super) use self::answer_text::AnswerText;
pub(super) use self::mark::JournalMark;
pub(super) use self::reader::JournalReader;
use self::reader::measured;
use super::guest_process::Pid;
use super::persistence::SessionId;
use crate::capability::{Limits, Policy};
use crate::gate::{Decision, DeferredCall};
use crate::guest::{Language, OperationId, Script, Typed};

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
        /// Effect of repeating the call, as it was when it started; absent in journals of earlier releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<Effect>,
    },
    /// A completion was delivered to the guest that waited for it. It is read and written by itself, as text.
    #[serde(skip)]
    Delivered {
        /// Operation of the guest.
        id: OperationId,
        /// Time that the guest was given.
        now: u64,
        /// The completion; `None` for a stream between two scripts of the run, whose bytes the scripts write again.
        answer: Option<AnswerText>,
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

    /// Removes the values that guests were given, and what they read and changed.
    pub(super) fn without_values(self) -> Self {
        match self {
            Self::Delivered { id, now, .. } => Self::Delivered { id, now, answer: None },
            Self::Input { .. } => Self::Input { bytes: String::new() },
            Self::Kept { id, .. } => Self::Kept { id, edits: Vec::new() },
            entry => entry,
        }
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
    /// Values of the journal take more memory than there is for them.
    #[error("a value of its journal takes more than what is left of the memory limit of {0} bytes")]
    TooLarge(u64),
}

impl From<serde_json::Error> for ReplayError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
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

    /// Returns true if the script has this name, and this blake3 digest in hexadecimal.
    pub(super) fn is_of_script(&self, name: &str, digest: &str) -> bool {
        self.script.name == name && blake3::hash(self.script.source.as_bytes()).to_hex().as_str() == digest
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

/// Encodes an entry as a line.
pub(super) fn encode(entry: &JournalEntry) -> Vec<u8> {
    let mut line = match entry {
        JournalEntry::Delivered { id, now, answer } => {
            let mut line = format!(r#"{{"entry":"delivered","id":{id},"now":{now}"#).into_bytes();
            if let Some(answer) = answer {
                line.extend_from_slice(br#","answer":"#);
                line.extend_from_slice(answer.as_bytes());
            }
            line.push(b'}');
            line
        }
        entry => serde_json::to_vec(entry).expect("an entry is plain data"),
    };
    line.push(b'\n');
    line
}

/// Decodes a whole journal.
///
/// # Errors
/// Those of [`JournalReader::read`].
pub(super) fn decode(journal: &Bytes) -> Result<Vec<JournalEntry>, ReplayError> {
    JournalReader::default().read(journal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::code::MemoryAccount;
    use crate::guest::Value;
    use crate::vfs::{Action, Body};

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
        let entries = decode(&version_1().into()).expect("it is a journal");
        let written: Vec<u8> = entries.iter().flat_map(encode).collect();
        assert_eq!(String::from_utf8(written).expect("text"), version_1());
        let JournalEntry::Delivered { answer: Some(answer), .. } = &entries[3] else { panic!("{:?}", entries[3]) };
        let (result, edits) = answer.read().and_then(RecordedAnswer::restore).expect("it is whole");
        let Ok(Value::Json(payload)) = result else { panic!("{result:?}") };
        assert_eq!((payload.value, payload.specials[0].pointer.as_str()), (json!(["YQ=="]), "/0"));
        assert_eq!(edits.len(), 4);
        assert!(matches!(&edits[0].action, Action::Put { body: Body::File(content), mode: 0o644, modified: 7 }
            if content.to_vec().as_deref() == Ok(b"a")));
    }

    /// A value takes up to thirty-six times the memory of its text, and a journal may come from a stranger.
    #[test]
    fn journal_of_too_many_values_beside_answers_is_refused() {
        let lists = format!("[[]{}]", ",[]".repeat(1 << 18));
        let decided = format!(
            "{{\"entry\":\"decided\",\"seq\":2,\"decision\":{{\"allowed\":true,\"by\":\"me\",\"at\":5,\"digest\":\"bb\",\"arguments\":{{\"a\":{lists}}}}}}}\n"
        );
        let part = Bytes::from(decided);
        let mut reader = JournalReader { left: 64 << 20 };
        assert_eq!(reader.read(&part).expect("it fits").len(), 1);
        assert!(reader.read(&part).is_ok() && reader.read(&part).is_ok());
        assert!(matches!(reader.read(&part), Err(ReplayError::TooLarge(_))), "all parts count together");
        // Its answers stay text.
        let delivered = format!(
            "{{\"entry\":\"delivered\",\"id\":1,\"now\":2,\"answer\":{{\"result\":{{\"json\":{{\"value\":{lists}}}}}}}}}\n"
        );
        let part = Bytes::from(delivered.repeat(4));
        let entries = decode(&part).expect("they are answers");
        let JournalEntry::Delivered { answer: Some(answer), .. } = &entries[0] else { panic!("{:?}", entries[0]) };
        let read = |limit: u64| answer.read_within(&MemoryAccount::new(limit));
        assert!(matches!(read(16 << 20), Err(ReplayError::TooLarge(_))));
        assert!(read(64 << 20).is_ok());
    }

    #[test]
    fn answer_in_another_form_is_read_as_json_or_refused() {
        let spaced = r#" { "now" : 2, "answer" : { "result" : { "bytes" : "" } }, "id" : 1, "entry" : "delivered" } "#;
        let entries = decode(&Bytes::from_static(spaced.as_bytes())).expect("it is JSON");
        assert!(matches!(&entries[0], JournalEntry::Delivered { id: 1, now: 2, answer: Some(answer) }
            if answer.is_end_of_input == Some(true)));
        for text in [
            r#"{"entry":"delivered","id":1}"#,
            r#"{"entry":"delivered","id":1,"now":2,"answer":{}}"#,
            r#"{"entry":"delivered","id":1,"now":2,"answer":{"result":"other"}}"#,
            r#"{"entry":"delivered","id":1,"now":2,"answer":{"result":"nothing","more":1}}"#,
            r#"{"entry":"delivered","id":1,"now":2,"answer":{"result":"nothing"},"answer":{"result":"nothing"}}"#,
        ] {
            assert!(decode(&text.to_owned().into()).is_err(), "{text}");
        }
    }

    #[test]
    fn entries_without_values_have_all_but_what_guests_were_given() {
        let entries = decode(&version_1().into()).expect("it is a journal");
        let left: Vec<u8> = entries.into_iter().flat_map(|entry| encode(&entry.without_values())).collect();
        let left = String::from_utf8(left).expect("text");
        assert_eq!(left.lines().count(), version_1().lines().count());
        for (line, whole) in left.lines().zip(version_1().lines()) {
            let has_values = whole.contains("\"answer\"") || whole.contains("\"edits\"");
            assert_eq!(line == whole, !has_values, "{line}");
        }
        assert!(
            !left.contains("YQ==") && left.contains("{\"entry\":\"delivered\",\"id\":1,\"now\":2000000}"),
            "{left}"
        );
    }

    #[test]
    fn journal_of_other_conditions_is_not_replayed() {
        let start = |text: &str| match decode(&text.to_owned().into()).expect("a journal").remove(0) {
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
        assert!(decode(&Bytes::from_static(b"{\"entry\":\"unknown\"}\n")).is_err());
    }

    /// What version 2 has beside the entries of version 1.
    const VERSION_2: &str = r#"{"entry":"started","version":2,"guest":"GUEST","authority":"aa","language":"js","seed":"SEED","script":{"source":"return 1","name":"script","from_file":false,"arguments":[],"environment":[]},"keep_state":false}
{"entry":"forked","session":"s","run":3,"seq":2,"seed":"SEED"}
{"entry":"input","bytes":"YQ=="}
{"entry":"admitted","id":9,"seq":3,"effect":"idempotent"}
{"entry":"delivered","id":8,"now":3000000,"answer":{"result":"nothing","started":{"now":2000000,"entries":3}}}
{"entry":"deferred","id":4,"call":{"seq":2,"method":"m","arguments":{"a":1},"grant":"g","reason":"always","cost":[],"asked":4,"file":"a.js","line":7,"digest":"bb"}}
"#;

    #[test]
    fn seed_of_a_run_is_in_its_journal_from_version_2_on() {
        let seed = blake3::Hash::from([7; 32]).to_string();
        let text = VERSION_2.replace("SEED", &seed);
        let entries = decode(&text.to_owned().into()).expect("it is a journal");
        let written: Vec<u8> = entries.iter().flat_map(encode).collect();
        assert_eq!(String::from_utf8(written).expect("text"), text);
        let start = |text: &str| match decode(&text.to_owned().into()).expect("a journal").remove(0) {
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
        fn journal_decoder_with_arbitrary_bytes_does_not_panic(bytes in any::<Vec<u8>>()) {
            let _ = decode(&bytes.into());
        }
    }
}
