//! `grep` of GNU 3.11, in a UTF-8 locale.
//!
//! - [`options`]: the command line; [`file_filter`]: files that it leaves to search
//! - [`search`]: operands, and the exit status; [`directory`]: recursion
//! - [`scan`]: the lines of one input; [`line`]: how a line is printed; [`color`]: how it is marked
//! - [`pattern`]: patterns, compiled; [`perl`]: translation of those of `-P`
//!
//! Directories are searched in the order of names, where GNU has the order of the file system.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod color;
mod directory;
mod file_filter;
mod line;
mod options;
pub(crate) mod pattern;
mod perl;
#[cfg(test)]
mod perl_tests;
mod scan;
mod search;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, Result};

use self::file_filter::FileGlob;
use self::line::LineMatcher;
use self::options::GrepOptions;
use self::pattern::{CompileOptions, Syntax, compile};
use self::search::{Search, path_of};
use super::character_locale::CharacterSet;

const HELP: &str = include_str!("help.txt");

/// Translates a pattern of PCRE for `rg -P`, which has the syntax of `grep -P`. The error is the message.
pub(super) fn translate_perl(pattern: &str, icase: bool) -> std::result::Result<String, String> {
    perl::translate(pattern, icase).map(|translation| translation.text)
}

/// The command `grep`.
pub(crate) struct Grep;

#[async_trait]
impl Builtin for Grep {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(answer) = check_help_version(ctx.args, HELP, Some("grep (GNU grep) 3.8")) {
            return Ok(answer);
        }
        let mut options = match GrepOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(message) => return Ok(ExecResult::err(message, 2)),
        };
        let patterns = match read_lists(&ctx, &mut options).await? {
            Ok(patterns) => patterns,
            Err(message) => return Ok(ExecResult::err(message, 2)),
        };
        // GNU grep then opens no file and compiles no pattern, so neither is an error. Under `-L`, each file counts.
        let matches_all =
            matches!(&patterns[..], [pattern] if pattern.is_empty()) && !options.line_match && !options.word_match;
        let selects_nothing = match options.invert_match {
            true => matches_all,
            false => patterns.is_empty(),
        } || options.max_count == Some(0);
        if selects_nothing && !options.files_without_match {
            return Ok(ExecResult::with_code(String::new(), 1));
        }
        let characters = CharacterSet::of_environment(ctx.env);
        let patterns: Vec<String> = patterns.into_iter().map(|pattern| characters.of_text(pattern)).collect();
        let compile_options = CompileOptions {
            syntax: options.syntax,
            icase: options.ignore_case,
            word: options.word_match,
            line: options.line_match,
            null_data: options.null_data,
            bytes_match: characters == CharacterSet::Bytes,
        };
        let (matcher, warnings) = match compile(&patterns, &compile_options) {
            Ok(compiled) => compiled,
            Err(message) => return Ok(ExecResult::err(format!("grep: {message}\n"), 2)),
        };
        let warnings = warnings.iter().map(|warning| format!("grep: {warning}\n")).collect();
        let matcher = LineMatcher::new(matcher, characters, &options);
        Search::new(&ctx, &options, &matcher, warnings).run().await
    }
}

/// Reads the files of patterns and of globs that the options name. Returns the distinct patterns, or a message.
async fn read_lists(ctx: &Context<'_>, options: &mut GrepOptions) -> Result<std::result::Result<Vec<String>, String>> {
    let mut patterns: Vec<String> = Vec::new();
    for lines in &options.patterns {
        patterns.extend(lines.split('\n').map(str::to_owned));
    }
    for name in &options.pattern_files {
        let content = match read_list(ctx, name).await? {
            Ok(content) => content,
            Err(message) => return Ok(Err(message)),
        };
        // The last newline ends a pattern, and an empty file holds none.
        let text = bashkit::text_of(&content);
        if !content.is_empty() {
            patterns.extend(text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned));
        }
    }
    for name in &options.exclude_from {
        let content = match read_list(ctx, name).await? {
            Ok(content) => content,
            Err(message) => return Ok(Err(message)),
        };
        let text = bashkit::text_of(&content);
        options.file_globs.extend(text.lines().filter(|line| !line.is_empty()).map(FileGlob::exclude));
    }
    let mut seen = HashSet::new();
    patterns.retain(|pattern| seen.insert(pattern.clone()));
    if options.syntax == Syntax::Perl && patterns.len() > 1 {
        return Ok(Err("grep: the -P option only supports a single pattern\n".to_owned()));
    }
    Ok(Ok(patterns))
}

/// Reads a file of patterns or globs, or standard input (`-`). A limit that it exceeds ends the script.
async fn read_list(ctx: &Context<'_>, name: &str) -> Result<std::result::Result<Vec<u8>, String>> {
    if name == "-" {
        return Ok(Ok(ctx.stdin_to_end().await?.as_bytes().to_vec()));
    }
    match ctx.fs.read_file(&path_of(ctx.cwd, name)).await {
        Ok(content) => Ok(Ok(content)),
        Err(error @ (bashkit::Error::ResourceLimit(_) | bashkit::Error::Cancelled)) => Err(error),
        Err(error) => Ok(Err(format!("grep: {name}: {}\n", bashkit::error::io_error_reason(&error)))),
    }
}
