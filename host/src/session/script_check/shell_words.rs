//! Words of a command of the shell that calls a tool, checked as the command would read them.

use super::ToolParameters;
use crate::error::{ErrorKind, Failure};
use crate::tool::Tool;

/// Returns the failure of a command that calls a tool with these words, if it certainly fails. The words are those that
/// the command gets; `memory` is the most that omitted values may take.
///
/// A command whose arguments come from standard input, or that asks for help, is not judged.
pub(super) fn wrong_words(tool: &Tool, words: &[String], memory: u64) -> Option<Failure> {
    // The words of a program are its own.
    if tool.is_open() || tool.function().is_program() {
        return None;
    }
    let words = arguments_of(tool, words)?;
    let failure = match tool.parse_words(&words, memory) {
        Ok(arguments) => tool.canonicalize(arguments, memory).err().filter(|it| it.kind == ErrorKind::Argument)?,
        Err(message) => Failure::argument(format!("`{}`: {message}", tool.command())),
    };
    Some(failure)
}

/// Removes the options of the command itself, which guest-shell reads in `tool_command/words.rs`. Returns `None` for
/// help and for arguments from standard input.
fn arguments_of(tool: &Tool, words: &[String]) -> Option<Vec<String>> {
    let has = |name| ToolParameters::of(tool).names.contains(&name);
    let mut arguments = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--help" => return None,
            "--each" if !has("each") => return None,
            "-r" => {}
            "--raw" if !has("raw") => {}
            "--" => {
                arguments.push(word.clone());
                arguments.extend(rest.by_ref().cloned());
            }
            "--json" => {
                arguments.push(word.clone());
                arguments.extend(rest.next().cloned());
            }
            _ => arguments.push(word.clone()),
        }
    }
    let is_input = matches!(&arguments[..], [json, dash] if json == "--json" && dash == "-");
    (!arguments.is_empty() && !is_input).then_some(arguments)
}
