//! Reading of operands, as in GNU's filters. Files are bytes. `-` is standard input, which ends only once. A file that
//! cannot be read causes a message and is skipped, while the others are filtered.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::files::{quote, quote_if_needed};
use bashkit::ExecResult;
use bashkit::PlacedMessages;
use bashkit::Result;
use bashkit::builtins::Context;

/// Reason why a file that does not exist cannot be read.
pub(super) const NO_SUCH_FILE: &str = "No such file or directory";

/// Returns the contents of an operand, or the reason why it cannot be read.
pub(super) async fn read(ctx: &Context<'_>, name: &str) -> Result<std::result::Result<Vec<u8>, String>> {
    if name == "-" {
        return Ok(Ok(ctx.stdin_to_end().await?.as_bytes().to_vec()));
    }
    if name.is_empty() {
        // A path of no name would be that of the working directory.
        return Ok(Err(NO_SUCH_FILE.to_owned()));
    }
    let path = bashkit::builtins::resolve_path(ctx.cwd, name);
    match ctx.fs.read_file(&path).await {
        Ok(data) => Ok(Ok(data)),
        Err(error) => Ok(Err(file_error_reason(error)?)),
    }
}

/// Returns the reason of an error of the file system, for a message of the command. Other errors, such as limits, end
/// the command.
pub(super) fn file_error_reason(error: bashkit::Error) -> Result<String> {
    match error {
        bashkit::Error::Io(_) => Ok(bashkit::error::io_error_reason(&error)),
        other => Err(other),
    }
}

/// [`read`] for a command that uses only the first `length` bytes, if given. It leaves the rest in standard input, and
/// reads no more of an endless file.
pub(super) async fn read_part(
    ctx: &Context<'_>,
    name: &str,
    length: Option<usize>,
) -> Result<std::result::Result<Vec<u8>, String>> {
    let Some(length) = length else {
        return read(ctx, name).await;
    };
    let part = match name {
        "-" => Some(bashkit::builtins::InputChunks::stdin(ctx)?),
        "" => None,
        _ => {
            let path = bashkit::builtins::resolve_path(ctx.cwd, name);
            bashkit::builtins::InputChunks::endless_file(ctx, &path).await?
        }
    };
    match part {
        Some(part) => Ok(Ok(part.take(length).await?)),
        None => read(ctx, name).await,
    }
}

/// Contents and errors of several operands.
pub(super) struct Operands {
    /// Names and contents of the readable operands.
    pub(super) contents: Vec<(String, Vec<u8>)>,
    /// Messages about the other operands.
    pub(super) errors: Vec<OperandError>,
}

/// Message about an operand that cannot be read.
pub(super) struct OperandError {
    /// Number of readable operands before it.
    pub(super) position: usize,
    pub(super) message: String,
}

/// Time at which a program writes the output that it printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputFlush {
    /// Before each message, as GNU's `error` does.
    BeforeMessages,
    /// When a block of the standard library of C is full.
    FullBlocks,
}

impl Operands {
    /// Returns all contents, concatenated.
    pub(super) fn concat(&self) -> Vec<u8> {
        let parts: Vec<&[u8]> = self.contents.iter().map(|(_, data)| data.as_slice()).collect();
        parts.concat()
    }

    /// Returns the messages about all operands that cannot be read.
    pub(super) fn messages(&self) -> String {
        self.errors.iter().map(|error| error.message.as_str()).collect()
    }

    /// Returns the result of a filter whose output had the length `ends[N]` when operand N of the readable ones was
    /// done.
    pub(super) fn finish(
        self,
        output: impl Into<bashkit::StreamData>,
        ends: &[usize],
        flush: OutputFlush,
    ) -> ExecResult {
        let mut messages = PlacedMessages::new();
        for error in &self.errors {
            let printed = error.position.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0);
            match flush {
                OutputFlush::BeforeMessages => messages.push(&error.message, printed),
                OutputFlush::FullBlocks => messages.push_buffered(&error.message, printed),
            }
        }
        ExecResult {
            stdout: output.into(),
            stderr: messages.into(),
            exit_code: i32::from(!self.errors.is_empty()),
            ..ExecResult::default()
        }
    }

    /// [`Self::finish`] for a text, and lengths of it.
    pub(super) fn finish_text(self, output: String, ends: &[usize]) -> ExecResult {
        let ends: Vec<usize> = match bashkit::has_raw_bytes(&output) {
            true => ends.iter().map(|end| bashkit::bytes_of(&output[..*end]).len()).collect(),
            false => ends.to_vec(),
        };
        self.finish(output, &ends, OutputFlush::BeforeMessages)
    }
}

/// Reads operands, or standard input if there are none.
pub(super) async fn read_all(ctx: &Context<'_>, cmd: &str, files: &[String]) -> Result<Operands> {
    read_all_parts(ctx, cmd, files, None).await
}

/// [`read_all`] for a command that uses only the first `length` bytes.
pub(super) async fn read_all_parts(
    ctx: &Context<'_>,
    cmd: &str,
    files: &[String],
    length: Option<usize>,
) -> Result<Operands> {
    let message = |name: &str, reason: &str| format!("{cmd}: {}: {reason}\n", quote_if_needed(name));
    read_each_part(ctx, files, length, message).await
}

/// [`read_all`] with messages in another form.
pub(super) async fn read_each(
    ctx: &Context<'_>,
    files: &[String],
    message: impl Fn(&str, &str) -> String,
) -> Result<Operands> {
    read_each_part(ctx, files, None, message).await
}

/// [`read_each`] for a command that uses only the first `length` bytes.
pub(super) async fn read_each_part(
    ctx: &Context<'_>,
    files: &[String],
    length: Option<usize>,
    message: impl Fn(&str, &str) -> String,
) -> Result<Operands> {
    let standard_input = ["-".to_string()];
    let files = if files.is_empty() { &standard_input } else { files };
    let mut operands = Operands { contents: Vec::with_capacity(files.len()), errors: Vec::new() };
    let mut ended = false;
    for name in files {
        if name == "-" && std::mem::replace(&mut ended, true) {
            operands.contents.push((name.clone(), Vec::new()));
            continue;
        }
        match read_part(ctx, name, length).await? {
            Ok(data) => operands.contents.push((name.clone(), data)),
            Err(reason) => {
                let position = operands.contents.len();
                operands.errors.push(OperandError { position, message: message(name, &reason) });
            }
        }
    }
    Ok(operands)
}

/// Names of a list, and the messages about those that are none, each with the number of names before it.
pub(super) type NameList = (Vec<String>, Vec<(usize, String)>);

/// Names of a list that ends each with a null byte (`--files0-from`), and the messages about those that are none; the
/// error is the message about a list that cannot be read.
pub(super) async fn read_name_list(
    ctx: &Context<'_>,
    cmd: &str,
    list: &str,
) -> Result<std::result::Result<NameList, String>> {
    let text = match read(ctx, list).await? {
        Ok(text) => text,
        Err(reason) => return Ok(Err(format!("{cmd}: cannot open {} for reading: {reason}\n", quote(list)))),
    };
    let (mut names, mut errors) = (Vec::new(), Vec::new());
    let text = text.strip_suffix(b"\0").unwrap_or(&text);
    if text.is_empty() {
        return Ok(Ok((names, errors)));
    }
    for (index, name) in text.split(|byte| *byte == 0).enumerate() {
        if name.is_empty() {
            let message = format!("{cmd}: {list}:{}: invalid zero-length file name\n", index + 1);
            errors.push((names.len(), message));
        } else if list == "-" && name == b"-" {
            let message = format!("{cmd}: when reading file names from stdin, no file name of '-' allowed\n");
            errors.push((names.len(), message));
        } else {
            names.push(bashkit::text_of(name).into_owned());
        }
    }
    Ok(Ok((names, errors)))
}
