//! Receipts that are altered, and signed again with a trusted key.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tollhouse::store::{ArchiveError, ArchiveWriter, BlobId, BlobSink as _, MemoryBlobs, Part, read_archive};
use tollhouse_registry::PrivateKey;
use tollhouse_tests::Home;

/// Contents of a receipt, which can be altered and signed again.
pub(super) struct Forgery {
    pub(super) statement: Value,
    pub(super) records: BTreeMap<String, String>,
    pub(super) blobs: Vec<(BlobId, Vec<u8>)>,
}

impl Forgery {
    pub(super) fn of(home: &Home) -> Self {
        let file = std::fs::read(home.path().join("s.tlr")).expect("a receipt");
        let mut forgery = Self { statement: Value::Null, records: BTreeMap::new(), blobs: Vec::new() };
        read_archive(&file[..], u64::MAX, |part| {
            match part {
                Part::Manifest(bytes) => forgery.statement = serde_json::from_slice(&bytes).expect("JSON"),
                Part::Record(name, bytes) => {
                    drop(forgery.records.insert(name, String::from_utf8(bytes).expect("text")))
                }
                Part::Blob(id, bytes) => forgery.blobs.push((id, bytes)),
            }
            Ok::<_, ArchiveError>(())
        })
        .expect("it is whole");
        forgery
    }

    /// Replaces the only occurrence of a text in a record, and follows the chain of the log.
    pub(super) fn replace(&mut self, record: &str, old: &str, new: &str) {
        let text = self.records.get_mut(record).expect("a record");
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {text}");
        *text = text.replace(old, new);
        self.chain();
    }

    /// Removes the lines of the log that have an event.
    pub(super) fn without(&mut self, event: &str) {
        let log = self.records.get_mut("log/0000").expect("a log");
        let has = |line: &&str| line.contains(&format!("\"event\":\"{event}\""));
        assert!(log.lines().any(|line| has(&line)), "{log}");
        *log = log.lines().filter(|line| !has(line)).map(|line| format!("{line}\n")).collect();
        self.chain();
    }

    /// Lines of a record that do not have a text, or all after a change of one.
    pub(super) fn change_lines(&mut self, record: &str, change: impl Fn(&str) -> Option<String>) {
        let text = self.records.get_mut(record).expect("a record");
        *text = text.lines().filter_map(|line| change(line).map(|line| line + "\n")).collect();
        self.chain();
    }

    /// Removes a call from the log, and its number from the journal: the script still gets its result.
    pub(super) fn without_call(&mut self, seq: u64) {
        let number = format!("\"seq\":{seq},");
        self.change_lines("log/0000", |line| (!line.contains(&number)).then(|| line.to_owned()));
        self.change_lines("journal/0000", |line| (!is_admission(line, seq)).then(|| line.to_owned()));
    }

    /// Adds a call to the log that is like the second.
    pub(super) fn add_call(&mut self, seq: u64) {
        self.change_lines("log/0000", |line| {
            let is_second = line.contains("\"event\":\"admitted\"") && line.contains("\"seq\":2,");
            let more = line.replace("\"seq\":2,", &format!("\"seq\":{seq},"));
            Some(if is_second { format!("{line}\n{more}") } else { line.to_owned() })
        });
    }

    /// Gives the call that was refused a number and a result in the journal.
    pub(super) fn allow_in_journal(&mut self, refused: u64) {
        self.change_lines("journal/0000", |line| {
            let Some(at) = line.find("\"result\":{\"failed\"") else { return Some(line.to_owned()) };
            let id = line.split_once("\"id\":").expect("a number").1.split(',').next().expect("a number");
            let call = &line[line.rfind("\"call\":").expect("a digest")..];
            let result = "\"result\":{\"json\":{\"value\":{\"total\":501}}},";
            Some(format!("{{\"entry\":\"admitted\",\"id\":{id},\"seq\":{refused}}}\n{}{result}{call}", &line[..at]))
        });
    }

    /// Removes how a call started.
    pub(super) fn without_start(&mut self, seq: u64) {
        let id = self.operation(seq);
        self.change_lines("journal/0000", |line| {
            let is_answer = line.starts_with(&format!("{{\"entry\":\"delivered\",\"id\":{id},"));
            let (before, after) = line.split_once(",\"started\":{").filter(|_| is_answer).unwrap_or((line, ""));
            let after = after.split_once('}').map_or("", |(_, after)| after);
            Some(format!("{before}{after}"))
        });
    }

    /// Returns the seeds of calls.
    pub(super) fn seeds(&mut self) -> &mut serde_json::Map<String, Value> {
        self.statement["seeds"].as_object_mut().expect("seeds")
    }

    /// Returns the number of the operation of a call that was admitted.
    pub(super) fn operation(&self, seq: u64) -> String {
        let mut journal = self.records["journal/0000"].lines();
        let admitted = journal.find(|line| is_admission(line, seq));
        let rest = admitted.expect("it was admitted").split_once("\"id\":").expect("a number").1;
        rest.split(',').next().expect("a number").to_owned()
    }

    /// Has the run be stopped before a call, as if somebody had cancelled it.
    pub(super) fn stop_before(&mut self, seq: u64) {
        let number = format!("\"seq\":{seq},");
        let (journal, log) = (self.records["journal/0000"].clone(), self.records["log/0000"].clone());
        let kept: Vec<&str> = journal.lines().take_while(|line| !line.contains(&number)).collect();
        self.records.insert("journal/0000".to_owned(), kept.join("\n") + "\n");
        let kept: Vec<&str> = log.lines().take_while(|line| !line.contains(&number)).collect();
        self.records.insert("log/0000".to_owned(), kept.join("\n") + "\n");
        self.chain();
        self.statement["record"]["status"] = json!("cancelled");
        self.statement["outcome"] = json!({ "value": null, "exit_code": 0, "error": null, "output": ["", ""] });
    }

    /// Says that a call was refused as another one was, in the journal and, if it is to be there at all, in the log.
    pub(super) fn refuse(&mut self, seq: u64, like: u64, is_logged: bool) {
        let id = self.operation(seq);
        let journal = self.records["journal/0000"].clone();
        let failed = journal.lines().find(|line| line.contains("\"result\":{\"failed\"")).expect("a refusal");
        let start = failed.find("\"result\":").expect("a result");
        let failure = &failed[start..failed.rfind(",\"call\":").expect("a digest")];
        self.change_lines("journal/0000", |line| {
            let is_answer = line.starts_with(&format!("{{\"entry\":\"delivered\",\"id\":{id},"));
            if is_admission(line, seq) {
                return None;
            }
            let Some(at) = line.find("\"result\":").filter(|_| is_answer) else { return Some(line.to_owned()) };
            let call = &line[line.find("\"call\":").expect("a digest")..];
            let call = &call[..call.find("\"started\"").map_or(call.len(), |at| at - 1)];
            let end = if call.ends_with('}') { "" } else { "}}" };
            Some(format!("{}{failure},{call}{end}", &line[..at]))
        });
        let log = self.records["log/0000"].clone();
        let number = |seq: u64| format!("\"seq\":{seq},");
        let of = |seq: u64, event: &str| {
            let is_of = |line: &&str| line.contains(&number(seq)) && line.contains(&format!("\"event\":\"{event}\""));
            log.lines().find(is_of).expect("an event").to_owned()
        };
        let (admitted, denied) = (of(seq, "admitted"), of(like, "denied"));
        let arguments = |line: &str| {
            let value: Value = serde_json::from_str(line).expect("JSON");
            format!("\"arguments\":{}", value["arguments"])
        };
        let forged = denied.replace(&number(like), &number(seq)).replace(&arguments(&denied), &arguments(&admitted));
        self.change_lines("log/0000", |line| match () {
            () if line.contains(&number(seq)) && line.contains("\"event\":\"admitted\"") => {
                let time = |line: &str| line.split('"').nth(5).expect("a time").to_owned();
                is_logged.then(|| forged.replace(&time(&forged), &time(line)))
            }
            () => (!line.contains(&number(seq))).then(|| line.to_owned()),
        });
    }

    /// Numbers the lines of the log again, and lets each name the hash of the one before.
    pub(super) fn chain(&mut self) {
        let mut before = self.statement["before"]["hash"].as_str().expect("a hash").to_owned();
        let mut number = self.statement["before"]["lines"].as_u64().expect("a number");
        let log = self.records.get_mut("log/0000").expect("a log");
        let mut chained = String::new();
        for line in log.lines() {
            let rest = line.split_once(",\"time\"").expect("a time").1;
            let (rest, _) = rest.rsplit_once(",\"prev\":").expect("a hash");
            number += 1;
            let line = format!("{{\"n\":{number},\"time\"{rest},\"prev\":\"{before}\"}}");
            before = blake3::hash(line.as_bytes()).to_string();
            chained.push_str(&line);
            chained.push('\n');
        }
        *log = chained;
    }

    /// Writes the receipt, signed with the key of the auditor.
    pub(super) fn write(mut self, home: &Home) {
        let key = std::fs::read_to_string(home.path().join("auditor.key")).expect("a key");
        let key: PrivateKey = key.trim().parse().expect("a key");
        self.records.remove("signature");
        let digests = self.records.iter().map(|(name, text)| (name, blake3::hash(text.as_bytes()).to_string()));
        self.statement["records"] = json!(digests.collect::<BTreeMap<_, _>>());
        let text = self.statement.to_string();
        let signature = STANDARD.encode(key.sign("tollhouse receipt, version 1", &text));
        let signature = json!({ "key": key.public(), "signature": signature }).to_string();
        self.records.insert("signature".to_owned(), signature);
        let mut archive = ArchiveWriter::new(Vec::new(), text.as_bytes()).expect("it is written");
        for (name, text) in &self.records {
            archive.record(name, text.as_bytes()).expect("it is written");
        }
        let blobs = MemoryBlobs::default();
        for (_, bytes) in &self.blobs {
            (&mut &blobs).put(bytes.clone()).expect("it is put");
        }
        archive.blobs(self.blobs.iter().map(|(id, _)| *id), &blobs).expect("it is written");
        home.file("forged.tlr", archive.finish().expect("it is written"));
    }
}

/// Returns true for the line of a journal that says that a call was admitted.
fn is_admission(line: &str, seq: u64) -> bool {
    let (last, inner) = (format!(",\"seq\":{seq}}}"), format!(",\"seq\":{seq},"));
    line.contains("\"entry\":\"admitted\"") && (line.ends_with(&last) || line.contains(&inner))
}
