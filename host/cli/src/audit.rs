//! The audit log that a command writes, and `tollhouse policy audit`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use clap::Args;
use serde_json::{Value, json};
use tollhouse::gate::{Audit, AuditError, AuditFile, AuditKey, Chain, CheckOptions, CheckedLog};
use tollhouse::session::{SessionId, SessionsError};

use super::error::USAGE;
use super::locations::Locations;
use super::{CliError, Result, session, show};
use crate::Exit;

/// Options for the audit log of a command.
#[derive(Args, Default)]
pub(crate) struct AuditArgs {
    /// Append every decision and call to this log (JSON lines, hash-chained)
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Give each line of that log a MAC by this key (`tollhouse policy keygen --audit`), and forget the key line by line
    #[arg(long, value_name = "FILE", requires = "audit")]
    audit_key: Option<PathBuf>,
    #[arg(skip)]
    key: Mutex<Option<AuditKey>>,
    #[arg(skip)]
    opened: OnceLock<Arc<dyn Audit>>,
}

impl AuditArgs {
    /// Reads the key, before this process is confined and can no longer read it.
    pub(crate) fn read_key(&self) -> Result<()> {
        if let Some(path) = &self.audit_key {
            *self.key.lock().unwrap_or_else(PoisonError::into_inner) = Some(read(path)?);
        }
        Ok(())
    }

    /// Returns the files that are written: the log, and with a key the file of its head.
    pub(crate) fn files(&self) -> (Option<&Path>, Option<PathBuf>) {
        let head = self.head().filter(|_| self.audit_key.is_some());
        (self.audit.as_deref(), head)
    }

    /// Returns the file of the log's head. It is read without a key too: a log that has one is not continued without its
    /// key.
    pub(crate) fn head(&self) -> Option<PathBuf> {
        self.audit.as_deref().map(AuditFile::head_path)
    }

    /// Opens the named log, and erases the key. All sessions of a command write to one log.
    pub(crate) fn open(&self) -> Result<Option<Arc<dyn Audit>>> {
        let Some(path) = &self.audit else { return Ok(None) };
        if let Some(opened) = self.opened.get() {
            return Ok(Some(Arc::clone(opened)));
        }
        let key = self.key.lock().unwrap_or_else(PoisonError::into_inner).take();
        let opened = match key {
            Some(key) => AuditFile::open_keyed(path, key),
            None => AuditFile::open(path),
        };
        let log = opened.map_err(|error| {
            let told = CliError::because("cannot start", &error).status(USAGE);
            match error {
                AuditError::Keyed { .. } => told.hint("give the key: `--audit-key FILE`"),
                _ => told,
            }
        })?;
        Ok(Some(Arc::clone(self.opened.get_or_init(|| Arc::new(log)))))
    }
}

/// Reads a key.
fn read(path: &Path) -> Result<AuditKey> {
    AuditKey::read(path).map_err(|error| CliError::because("cannot start", &error).status(USAGE))
}

/// Check an audit log, and report what is proven: that nobody changed or truncated it
///
/// Without options, that each line names the one before: whoever can write the file or store can rewrite all of it.
/// With the key that the log was kept with (`run --audit-key`), that nobody without the key wrote, changed or removed a
/// line, from the first line with a MAC on. With the hash of a line that was kept elsewhere, that everything up to that
/// line is unchanged.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse policy audit audit.jsonl --json | jq -r .head > head
  tollhouse policy audit audit.jsonl --expect \"$(cat head)\"
  tollhouse policy audit audit.jsonl --key audit.key
  tollhouse policy audit --session trip --expect \"$(cat head)\"")]
pub(crate) struct CheckAuditCommand {
    /// A log that `run --audit` wrote
    #[arg(value_name = "LOG", required_unless_present = "session")]
    log: Option<PathBuf>,
    /// Instead of a file, the log of this session, which has no key
    #[arg(long, value_name = "ID", conflicts_with_all = ["log", "key"])]
    session: Option<SessionId>,
    /// The key that the log was kept with
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The hash of a line, or of several: each must be in the log
    #[arg(long, value_name = "HEAD", value_parser = hash)]
    expect: Vec<String>,
    /// Print {lines, head, keyed_from, proven_from, proven_lines, expected, wrong: null | {line, message}}
    #[arg(long)]
    json: bool,
}

/// Returns true if the first byte of a file is that of an object in JSON, as each line of a log begins.
fn begins_like_a_log(path: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 1];
    let read = tollhouse_registry::untrusted_file::open_named(path).map_err(std::io::Error::from);
    read.and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == *b"{"
}

/// Parses a hash in hexadecimal, as `policy audit` prints it.
fn hash(text: &str) -> std::result::Result<String, &'static str> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| text.to_owned()).ok_or("it must be 64 hex digits, as `policy audit` prints them")
}

impl CheckAuditCommand {
    /// Checks the log, and prints what is proven.
    pub(crate) fn execute(&self, locations: &Locations) -> Result {
        match (&self.session, &self.log) {
            (Some(id), _) => self.check_session(locations, id),
            (None, log) => self.check_file(log.as_deref().expect("clap asks for a session or a file")),
        }
    }

    fn check_file(&self, log: &Path) -> Result {
        let key = self.key.as_deref().map(read).transpose()?;
        let has_key = key.is_some();
        match AuditFile::check(log, CheckOptions { key, expect: self.expect.clone() }) {
            Ok(checked) if has_key && checked.keyed_from.is_none() => {
                let message = format!("no line of `{}` has a MAC: the key proves nothing", log.display());
                self.wrong(CliError::usage(message.as_str()).status(1), None, &message)
            }
            Ok(checked) => {
                self.print_report(&checked);
                Ok(Exit::SUCCESS)
            }
            Err(AuditError::Altered { line: 1, .. }) if !begins_like_a_log(log) => {
                let message = format!("`{}` is not an audit log", log.display());
                let told = CliError::usage(message.as_str()).hint("`tollhouse run --audit FILE` writes one");
                self.wrong(told, Some(1), &message)
            }
            Err(error @ AuditError::Io { .. }) => Err(CliError::because("cannot read the log", &error).status(USAGE)),
            Err(error) => {
                let line = match &error {
                    AuditError::Altered { line, .. } => Some(*line),
                    AuditError::Cut { lines, .. } => Some(lines + 1),
                    _ => None,
                };
                let told = CliError::because("the log cannot be trusted", &error);
                self.wrong(told, line, &error.to_string())
            }
        }
    }

    fn check_session(&self, locations: &Locations, id: &SessionId) -> Result {
        let (mut chain, mut expected) = (Chain::default(), vec![None; self.expect.len()]);
        let read = locations.sessions()?.reader().log(id, &mut |line| {
            chain.check(&line.text).expect("it was checked as it was read");
            let hash = chain.hash().to_hex();
            let here = self.expect.iter().zip(&mut expected).filter(|(head, _)| head.as_str() == hash.as_str());
            here.for_each(|(_, line)| *line = Some(chain.lines()));
        });
        match read {
            Ok(()) => {}
            Err(error @ SessionsError::Unknown { .. }) => {
                return Err(session::failed("the log cannot be checked", &error));
            }
            Err(error) => {
                let told = session::failed("the log cannot be trusted", &error);
                return self.wrong(told, None, &error.to_string());
            }
        }
        if let Some((head, _)) = self.expect.iter().zip(&expected).find(|(_, line)| line.is_none()) {
            let message = format!("the log of `{id}` has no line whose hash is {head}: it was rewritten or truncated");
            return self.wrong(CliError::usage(message.as_str()).status(1), None, &message);
        }
        let expected: Vec<u64> = expected.into_iter().flatten().collect();
        self.report_session(chain.lines(), &chain.hash().to_string(), &expected);
        Ok(Exit::SUCCESS)
    }

    fn report_session(&self, lines: u64, head: &str, expected: &[u64]) {
        if self.json {
            show::json_pretty(&json!({
                "lines": lines, "head": head, "keyed_from": null, "proven_from": null, "proven_lines": null,
                "expected": self.expected(expected), "wrong": null,
            }));
            return;
        }
        show::line(format_args!("{lines} lines, unaltered; the last is {head}"));
        show::line(
            "not proven: the log of a session has no key, so whoever can write the store can rewrite all of it \
             (`--expect`; `--audit` with `--audit-key` keeps one beside it)",
        );
        report_expected(expected);
    }

    /// Returns the expected hashes with their lines.
    fn expected(&self, lines: &[u64]) -> Vec<Value> {
        let expected = self.expect.iter().zip(lines);
        expected.map(|(head, line)| json!({ "head": head, "line": line })).collect()
    }

    /// Reports a log that cannot be trusted: as the answer in JSON, otherwise as an error.
    fn wrong(&self, error: CliError, line: Option<u64>, message: &str) -> Result {
        if !self.json {
            return Err(error);
        }
        show::json_pretty(&json!({
            "lines": null, "head": null, "keyed_from": null, "proven_from": null, "proven_lines": null,
            "expected": [], "wrong": { "line": line, "message": message },
        }));
        Ok(Exit::from(1))
    }

    fn print_report(&self, checked: &CheckedLog) {
        let CheckedLog { lines, head, keyed_from, proven_from, proven_lines, expected, .. } = checked;
        if self.json {
            let expected = self.expected(expected);
            show::json_pretty(&json!({
                "lines": lines, "head": head, "keyed_from": keyed_from, "proven_from": proven_from,
                "proven_lines": proven_lines, "expected": expected, "wrong": null,
            }));
            return;
        }
        show::line(format_args!("{lines} lines, unaltered; the last is {head}"));
        match (proven_from, keyed_from) {
            (Some(1), _) => show::line("proven from line 1 on, by the key: nobody without it wrote or changed a line"),
            (Some(from), _) => show::line(format_args!(
                "proven from line {from} on, by the key; the lines before were there, as they are, when line {from} was written"
            )),
            (None, Some(from)) => {
                show::line(format_args!("not proven: lines from line {from} on have MACs, which `--key FILE` checks"))
            }
            (None, None) => show::line(
                "not proven: no line has a MAC, so whoever can write the file can rewrite all of it (`--audit-key`)",
            ),
        }
        if let Some(proven) = proven_lines {
            show::line(format_args!("proven by its head: none of the first {proven} lines was cut off"));
        }
        report_expected(expected);
    }
}

fn report_expected(lines: &[u64]) {
    for line in lines {
        show::line(format_args!("line {line} has the hash that was expected: up to it, all is as it was then"));
    }
}
