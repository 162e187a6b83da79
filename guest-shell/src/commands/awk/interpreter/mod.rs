//! Evaluator of awk programs.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`run`] | order of `BEGIN`, records, rules and `END` |
//! | [`statement`], [`expression`] | what each statement and each operator does |
//! | [`call`] | calls of functions that the program defines |
//! | [`place`] | what can be assigned to |
//! | [`variables`], [`special`] | variables, and what an assignment to `FS` or `NF` does |
//! | [`slot`], [`arrays`], [`key_order`] | arrays as a type, arrays as variables, order of `for (key in array)` |
//! | [`record`], [`splitter`] | the record, its fields, and how text is split |
//! | [`regular`] | regular expressions of literals and of strings |
//! | [`functions`] | built-in functions |
//! | [`limits`] | fatal errors, and limits that end a program |
//!
//! Decisions:
//! - Evaluation is async all the way down, so that files and commands are awaited directly (no helper threads).
//!   Recursion goes through boxed futures; constants and variables are evaluated without one.
//! - Arrays live in an arena and are referenced by id: awk passes arrays by reference. An untyped local variable that
//!   becomes an array is owned by its call frame and freed on return.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod arrays;
mod call;
mod expression;
mod functions;
mod key_order;
mod limits;
mod place;
mod record;
mod regular;
mod run;
mod slot;
mod special;
mod splitter;
mod statement;
mod variables;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub(super) use self::limits::{RunLimits, truncate};
pub(super) use self::slot::Slot;
pub(super) use self::splitter::next_character;
#[cfg(test)]
pub(super) use self::splitter::split_csv_record;

use self::call::CallFrame;
use self::functions::RandomNumbers;
use self::place::Place;
use self::slot::{ArrayId, AwkArray};
use self::splitter::Splitter;
use super::ast::{Program, special as special_variables};
use super::io::{Io, RecordSeparator};
use super::regex::{AwkRegex, RegexCache};
use super::value::Value;

/// Outcome of an evaluation that may leave the program's order.
pub(super) type Evaluation<T> = Result<T, Unwind>;

/// Future of an evaluation, on the heap: what recurses must be boxed.
type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Reason why evaluation of the current rule ends early.
#[derive(Debug)]
pub(super) enum Unwind {
    Next,
    NextFile,
    Exit,
    Fatal,
}

/// Way in which a statement ends.
#[derive(Debug)]
enum Flow {
    Normal,
    Break,
    Continue,
    Return(Value),
}

/// Text and fields of the current record.
#[derive(Default)]
struct Record {
    text: String,
    kind: RecordKind,
    fields: Vec<Value>,
    /// True if `fields` is up to date.
    is_split: bool,
    /// True if a field has changed since `text` was joined.
    is_stale: bool,
}

/// Origin of the record's text. A comparison with `$0` is of numbers or of texts by it.
#[derive(Clone, Copy, Default)]
enum RecordKind {
    /// Text of the input, which is a number where it looks like one.
    #[default]
    Input,
    /// Text that was assigned, or joined from fields.
    Text,
    /// Number that was assigned.
    Number(f64),
}

/// Values of the special variables, in the form in which the interpreter uses them.
pub(super) struct Settings {
    convfmt: String,
    ofmt: String,
    ofs: String,
    ors: String,
    subsep: String,
    pub(super) ignorecase: bool,
    /// True if `--csv` was given. A comma as `FS` then means comma-separated values.
    pub(super) csv: bool,
    /// Splitter of records, chosen by the last assignment to `FS`, `FIELDWIDTHS` or `FPAT`.
    splitter: Splitter,
    /// True if `FS` is one character. In paragraph mode a line break then separates fields, too.
    single_separator: bool,
    pub(super) record_separator: RecordSeparator,
    pub(super) nr: f64,
    pub(super) fnr: f64,
}

impl Settings {
    /// Returns what special variables mean before anything is assigned.
    fn new() -> Self {
        Settings {
            convfmt: "%.6g".to_string(),
            ofmt: "%.6g".to_string(),
            ofs: " ".to_string(),
            ors: "\n".to_string(),
            subsep: "\x1c".to_string(),
            ignorecase: false,
            csv: false,
            splitter: Splitter::Space,
            single_separator: true,
            record_separator: RecordSeparator::Newline,
            nr: 0.0,
            fnr: 0.0,
        }
    }
}

/// Reason why a program ends that is not its own.
#[derive(Default)]
pub(super) struct Ending {
    pub(super) exit_code: i32,
    /// A fatal error was reported.
    pub(super) fatal: bool,
    /// Shared request budget that ran out; the command returns it as an error.
    pub(super) budget_error: Option<bashkit::limits::LimitExceeded>,
    /// Error of a pipe other than that its reader went away.
    pub(super) failure: Option<bashkit::Error>,
    /// The reader of standard output went away.
    pub(super) broken_pipe: bool,
}

/// State of a program that runs.
pub(super) struct Interpreter {
    pub(super) program: Arc<Program>,
    literal_regexes: Vec<Arc<AwkRegex>>,
    /// Forms of `literal_regexes` that ignore case, made when they are first used.
    caseless_regexes: Vec<Option<Arc<AwkRegex>>>,
    regex_cache: RegexCache,
    /// Characters behind a backslash in regular expressions of which a warning was written.
    warned_escapes: Vec<char>,
    pub(super) globals: Vec<Slot>,
    locals: Vec<Slot>,
    frames: Vec<CallFrame>,
    arrays: Vec<Option<AwkArray>>,
    free_arrays: Vec<ArrayId>,
    record: Record,
    pub(super) settings: Settings,
    range_is_active: Vec<bool>,
    pub(super) io: Io,
    /// Bytes of variables, elements and call frames.
    live_bytes: usize,
    limits: RunLimits,
    loop_count: usize,
    evaluation_depth: usize,
    pub(super) ending: Ending,
    /// Location of the current statement in the program's table.
    location_index: Option<u32>,
    random: RandomNumbers,
}

impl Interpreter {
    /// Creates an interpreter of a program; the error is a message about a regular expression. `bytes_match`: see
    /// [`AwkRegex::matching_bytes`].
    pub(super) fn new(
        program: Arc<Program>,
        io: Io,
        limits: RunLimits,
        bytes_match: bool,
    ) -> Result<Interpreter, String> {
        let literal_regexes = regular::literals(&program, bytes_match)?;
        let globals = initial_globals(&program);
        let live_bytes = globals.iter().map(Slot::heap_bytes).sum();
        Ok(Interpreter {
            caseless_regexes: vec![None; literal_regexes.len()],
            literal_regexes,
            regex_cache: RegexCache::new(bytes_match),
            warned_escapes: regular::warned_escapes(&program),
            globals,
            locals: Vec::new(),
            frames: Vec::new(),
            arrays: Vec::new(),
            free_arrays: Vec::new(),
            record: Record { is_split: true, ..Record::default() },
            settings: Settings::new(),
            range_is_active: vec![false; program.ranges],
            io,
            live_bytes,
            limits,
            loop_count: 0,
            evaluation_depth: 0,
            ending: Ending::default(),
            location_index: None,
            random: RandomNumbers::new(),
            program,
        })
    }
}

/// Returns the global variables as they are before the program starts.
fn initial_globals(program: &Program) -> Vec<Slot> {
    use special_variables as special;
    let mut globals = vec![Slot::Scalar(Value::Uninit); program.globals.len()];
    let texts = [
        (special::FS, " "),
        (special::OFS, " "),
        (special::ORS, "\n"),
        (special::RS, "\n"),
        (special::SUBSEP, "\x1c"),
        (special::CONVFMT, "%.6g"),
        (special::OFMT, "%.6g"),
        (special::FILENAME, ""),
    ];
    for (index, text) in texts {
        globals[index as usize] = Slot::Scalar(Value::Str(text.to_string()));
    }
    let zeros = [special::NR, special::NF, special::FNR, special::RSTART, special::RLENGTH, special::IGNORECASE];
    for index in zeros {
        globals[index as usize] = Slot::Scalar(Value::Num(0.0));
    }
    globals
}
