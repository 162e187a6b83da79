//! Plan of a guest's behaviour, derived from data: mostly plausible, with few distinct numbers and names so that they
//! collide.

use arbitrary::{Arbitrary, Result, Unstructured};

/// Largest number of steps, of operations in each step, and of calls of imports in each step.
const STEPS: usize = 8;
const STARTED: usize = 4;
const IMPORTS: usize = 3;

/// Number in `puppet.wat` of the import that runs a script to its end.
pub(super) const RUN_TO_END: u32 = 12;

/// Largest depth of nested scripts.
const DEPTH: u32 = 3;

const METHODS: [&str; 7] = ["fuzz/add", "fuzz/add", "fuzz/other", "fuzz", "", "fuzz/add/x", "\u{202e}"];

const ARGUMENTS: [&str; 9] =
    [r#"{"n":1}"#, r#"{"n":9}"#, r#"{"n":2}"#, "{}", "[]", "", r#"{"n":-1}"#, r#"{"n":1,"n":2}"#, "{\"n\":1e999}"];

const VALUES: [&str; 5] = ["null", "1", "{", "\"\\ud800\"", "[[[[[[[[]]]]]]]]"];

const PATHS: [&str; 8] =
    ["/workspace/a", "/workspace/b", "/workspace", "/", "/tmp/../workspace/a/x", "a", "/etc/passwd", "/workspace/\0"];

const TEXTS: [&str; 5] = ["fuzz", "", "fuzz/add", "/workspace/a", "\u{1b}[2J\n"];

/// Steps of a guest, in order.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) slots: Vec<Slot>,
}

/// Step of a guest: the imports that it calls, and the result that it returns to the host.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) imports: Vec<Import>,
    pub(super) said: Said,
}

#[derive(Debug)]
pub(super) enum Said {
    Blocked {
        started: Vec<Started>,
        cancelled: Vec<u64>,
    },
    Finished {
        value: Option<String>,
        exit_code: u8,
        error: Option<(u8, String)>,
        fuel: u64,
        state: Option<Vec<u8>>,
    },
    /// Bytes in place of an encoded step.
    Raw(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct Started {
    pub(super) id: u64,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Call { method: String, arguments: String },
    Read { stream: u32, limit: u32 },
    Sleep(u64),
    Run { script: Option<Vec<Slot>>, language: u8, streams: [u32; 3] },
    Write { stream: u32, bytes: Vec<u8>, end: bool },
}

/// Call of an import, by its number in `puppet.wat`. The arguments are a text and a path in memory, or raw numbers in
/// place of pointers.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) which: u32,
    pub(super) raw: bool,
    pub(super) path: String,
    pub(super) text: String,
    pub(super) numbers: [u32; 5],
    /// Steps of a nested script that is run to its end.
    pub(super) script: Vec<Slot>,
}

impl Plan {
    pub(super) fn read(choices: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Self { slots: slots(choices, DEPTH)? })
    }
}

fn text(choices: &mut Unstructured<'_>, texts: &[&str]) -> Result<String> {
    Ok((*choices.choose(texts)?).to_owned())
}

fn several<T>(
    choices: &mut Unstructured<'_>,
    most: usize,
    mut one: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..choices.int_in_range(0..=most)?).map(|_| one(choices)).collect()
}

/// Derives the steps of one guest. Operations are numbered in order, with an occasional wrong number.
fn slots(choices: &mut Unstructured<'_>, depth: u32) -> Result<Vec<Slot>> {
    let mut last = 0;
    several(choices, STEPS, |choices| {
        let imports = several(choices, IMPORTS, |choices| import(choices, depth))?;
        let said = match choices.int_in_range(0..=9)? {
            0 => finished(choices)?,
            1 => Said::Raw(Vec::arbitrary(choices)?),
            _ => Said::Blocked {
                started: several(choices, STARTED, |choices| {
                    last += 1;
                    Ok(Started { id: id(choices, last)?, what: what(choices, depth)? })
                })?,
                cancelled: several(choices, 2, |choices| id(choices, last))?,
            },
        };
        Ok(Slot { imports, said })
    })
}

fn id(choices: &mut Unstructured<'_>, last: u64) -> Result<u64> {
    Ok(match choices.int_in_range(0..=9)? {
        0 => u64::arbitrary(choices)?,
        1 | 2 => choices.int_in_range(0..=last)?,
        // Operation of another process of the run.
        3 => 1 << 40 | choices.int_in_range(0..=last)?,
        _ => last,
    })
}

fn what(choices: &mut Unstructured<'_>, depth: u32) -> Result<What> {
    Ok(match choices.int_in_range(0..=7)? {
        0 => What::Read { stream: stream(choices)?, limit: u32::arbitrary(choices)? },
        1 => What::Sleep(u64::arbitrary(choices)?),
        2 | 3 => {
            let script = if depth > 0 && choices.ratio(4, 5)? { Some(slots(choices, depth - 1)?) } else { None };
            let streams = [stream(choices)?, stream(choices)?, stream(choices)?];
            What::Run { script, language: choices.int_in_range(0..=1)?, streams }
        }
        4 => {
            let (stream, end) = (stream(choices)?, bool::arbitrary(choices)?);
            What::Write { stream, bytes: vec![b'w'; choices.int_in_range(0..=9)?], end }
        }
        _ => What::Call { method: text(choices, &METHODS)?, arguments: text(choices, &ARGUMENTS)? },
    })
}

fn stream(choices: &mut Unstructured<'_>) -> Result<u32> {
    choices.int_in_range(0..=9)
}

fn finished(choices: &mut Unstructured<'_>) -> Result<Said> {
    let value = if bool::arbitrary(choices)? { Some(text(choices, &VALUES)?) } else { None };
    let error = if choices.ratio(1, 3)? {
        // One number above the last kind, which is invalid.
        Some((choices.int_in_range(0..=12)?, text(choices, &TEXTS)?))
    } else {
        None
    };
    let (exit_code, fuel) = (u8::arbitrary(choices)?, u64::arbitrary(choices)?);
    Ok(Said::Finished { value, exit_code, error, fuel, state: Option::arbitrary(choices)? })
}

fn import(choices: &mut Unstructured<'_>, depth: u32) -> Result<Import> {
    let which = choices.int_in_range(0..=RUN_TO_END)?;
    let script = if which == RUN_TO_END && depth > 0 { slots(choices, depth - 1)? } else { Vec::new() };
    Ok(Import {
        which,
        script,
        raw: choices.ratio(1, 8)?,
        path: text(choices, &PATHS)?,
        text: text(choices, &TEXTS)?,
        numbers: Arbitrary::arbitrary(choices)?,
    })
}
