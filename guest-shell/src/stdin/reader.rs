//! `read` of the script's own standard input, one record at a time.
//!
//! Only a script that needs it gets this command in the place of bashkit's `read`. It takes one record from the input,
//! as an operation, and has bashkit's `read` do the rest with that: splitting, options, variables.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bashkit::{
    Builtin, BuiltinContext, BuiltinRegistry, ExecResult, ExecutionPlan, Result, StreamData, SubCommand, async_trait,
};

use super::ScriptInput;
use crate::operations;

/// The name under which the second half of `read` runs. No script can well type it.
pub(crate) const READ_RUN: &str = "\u{1}read";

/// The command that bashkit's own is behind.
const READ: &str = "read";

/// The status of a `read` whose time was up: 128 + SIGALRM.
const TIMED_OUT: &str = "exit 142";

/// The longest wait that `read -t` can ask for: a hundred years of seconds.
const FOREVER: f64 = 100.0 * 365.0 * 86_400.0;

/// The command `read`.
pub(crate) struct ReadCommand {
    input: Arc<ScriptInput>,
}

impl ReadCommand {
    pub(crate) fn new(input: Arc<ScriptInput>) -> Arc<Self> {
        Arc::new(Self { input })
    }
}

/// What one record is, by the options of `read`.
struct Record {
    delimiter: u8,
    /// At most so many characters.
    characters: Option<usize>,
    /// Whether the characters count alone, and the delimiter not at all (`-N`).
    exactly: bool,
    /// Whether a backslash has no meaning (`-r`).
    raw: bool,
    timeout: Option<f64>,
    /// Whether it is to come from another descriptor (`-u`), which is bashkit's affair.
    elsewhere: bool,
    /// The arguments without `-u`, whose input is fetched already.
    words: Vec<String>,
}

impl Record {
    fn parse(words: &[String]) -> Self {
        let mut record = Self {
            delimiter: b'\n',
            characters: None,
            exactly: false,
            raw: false,
            timeout: None,
            elsewhere: false,
            words: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let flags = word.strip_prefix('-').filter(|flags| !flags.is_empty() && !flags.starts_with('-'));
            let Some(flags) = flags else {
                record.words.push(word.clone());
                record.words.extend(words.cloned());
                break;
            };
            let valued = flags.find(['a', 'd', 'i', 'n', 'N', 'p', 't', 'u']);
            let (plain, valued) = flags.split_at(valued.unwrap_or(flags.len()));
            record.raw |= plain.contains('r');
            let Some(flag) = valued.chars().next() else {
                record.words.push(word.clone());
                continue;
            };
            let value = match &valued[1..] {
                "" => words.next().cloned().unwrap_or_default(),
                attached => attached.to_owned(),
            };
            record.option(flag, &value);
            if flag != 'u' {
                record.words.push(format!("-{plain}{flag}"));
                record.words.push(value);
            } else if !plain.is_empty() {
                record.words.push(format!("-{plain}"));
            }
        }
        record
    }

    fn option(&mut self, flag: char, value: &str) {
        match flag {
            // An empty delimiter is a NUL.
            'd' => self.delimiter = value.bytes().next().unwrap_or(0),
            'n' => self.characters = value.parse().ok(),
            'N' => {
                self.characters = value.parse().ok();
                self.exactly = true;
            }
            'u' => self.elsewhere = value != "0",
            't' => self.timeout = value.parse().ok().filter(|seconds| *seconds >= 0.0),
            _ => {}
        }
    }

    /// How many of the bytes are one record; none if there is no whole one yet.
    fn length(&self, bytes: &[u8]) -> Option<usize> {
        let (mut escaped, mut characters) = (false, 0);
        for (at, byte) in bytes.iter().enumerate() {
            if self.characters == Some(characters) && !escaped && is_boundary(*byte) {
                return Some(at);
            }
            if *byte == self.delimiter && !self.exactly && !escaped {
                return Some(at + 1);
            }
            let escapes = *byte == b'\\' && !self.raw && !escaped;
            if is_boundary(*byte) && !escapes {
                characters += 1;
            }
            escaped = escapes;
        }
        let complete = std::str::from_utf8(bytes).is_ok();
        (self.characters == Some(characters) && !escaped && complete).then_some(bytes.len())
    }
}

/// Whether a character begins with this byte of UTF-8.
fn is_boundary(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

impl ScriptInput {
    /// One record; what there is at the end of the input.
    async fn record(&self, record: &Record) -> Vec<u8> {
        loop {
            let taken = self.with(|state| {
                let length = record.length(&state.bytes).or(state.ended.then_some(state.bytes.len()))?;
                let rest = state.bytes.split_off(length);
                Some(std::mem::replace(&mut state.bytes, rest))
            });
            match taken {
                Some(record) => return record,
                None => self.more().await,
            };
        }
    }

    /// The same, unless the time is up before.
    async fn record_within(&self, record: &Record, seconds: f64) -> Option<Vec<u8>> {
        use std::future::{Future as _, poll_fn};
        use std::task::Poll;
        let mut reading = std::pin::pin!(self.record(record));
        let mut timer = std::pin::pin!(operations::sleep(Duration::from_secs_f64(seconds.min(FOREVER))));
        poll_fn(|context| match reading.as_mut().poll(context) {
            Poll::Ready(bytes) => Poll::Ready(Some(bytes)),
            Poll::Pending => timer.as_mut().poll(context).map(|_| None),
        })
        .await
    }
}

#[async_trait]
impl Builtin for ReadCommand {
    async fn execute(&self, _: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::err("read: invalid use\n", 1))
    }

    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let record = Record::parse(context.args);
        let piped = context.stdin.cloned();
        if piped.is_none() && record.elsewhere {
            return Ok(Some(batch(READ_RUN, context.args.to_vec(), None)));
        }
        let stdin = match (piped, record.timeout) {
            (Some(piped), _) => Some(piped),
            (None, None) => Some(StreamData::from(self.input.record(&record).await)),
            (None, Some(seconds)) => self.input.record_within(&record, seconds).await.map(StreamData::from),
        };
        Ok(Some(match stdin {
            Some(_) => batch(READ_RUN, record.words, stdin),
            None => batch("bash", vec!["-c".to_owned(), TIMED_OUT.to_owned()], None),
        }))
    }
}

/// The plan to run one command.
fn batch(name: &str, args: Vec<String>, stdin: Option<StreamData>) -> ExecutionPlan {
    let command = SubCommand { name: name.to_owned(), args, stdin, assignments: Vec::new() };
    ExecutionPlan::Batch { commands: vec![command] }
}

/// One use of bashkit's `read`. While it lives, the name `read` is bashkit's again.
pub(crate) struct ReadRun {
    registry: BuiltinRegistry,
    /// The command that has the name otherwise.
    replaced: Mutex<Option<Arc<dyn Builtin>>>,
}

impl ReadRun {
    /// An object for one use.
    pub(crate) fn fresh(registry: BuiltinRegistry) -> Arc<dyn Builtin> {
        Arc::new(Self { registry, replaced: Mutex::new(None) })
    }

    fn with_replaced<T>(&self, use_it: impl FnOnce(&mut Option<Arc<dyn Builtin>>) -> T) -> T {
        use_it(&mut self.replaced.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Builtin for ReadRun {
    async fn execute(&self, _: BuiltinContext<'_>) -> Result<ExecResult> {
        Ok(ExecResult::err("read: invalid use\n", 1))
    }

    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        self.with_replaced(|replaced| *replaced = self.registry.remove(READ));
        Ok(Some(batch(READ, context.args.to_vec(), context.stdin.cloned())))
    }
}

impl Drop for ReadRun {
    fn drop(&mut self) {
        if let Some(command) = self.with_replaced(Option::take) {
            self.registry.insert(READ, command);
        }
    }
}
