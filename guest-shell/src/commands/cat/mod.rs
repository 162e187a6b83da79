//! Command `cat`.
//!
//! The command line is that of uutils' `cat` (`bashkit::builtins::generated`). As a stage of a pipeline, `cat` without
//! options copies as it reads ([`copy`]); otherwise it reads all operands, and [`render`] numbers and marks what they hold.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod copy;
mod render;

use std::ffi::OsString;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context};
use bashkit::cached_command;
use bashkit::clap::ArgMatches;
use bashkit::error::io_error_reason;
use bashkit::fs::vfs_join;
use bashkit::{ExecResult, PlacedMessages, Result};

use self::render::Rendering;
use super::budget::budgeted_bytes;
use super::clap_answer::clap_answer;
use crate::commands::files::{missing, quote_if_needed};

cached_command!(cat_command, bashkit::builtins::generated::cat_args::cat_command());

/// Command `cat` of the shell.
pub(crate) struct Cat;

#[async_trait]
impl Builtin for Cat {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let words = std::iter::once(OsString::from("cat")).chain(ctx.args.iter().map(OsString::from));
        let matches = match cat_command().try_get_matches_from(words) {
            Ok(matches) => matches,
            Err(error) => return Ok(clap_answer("cat", &error, 1)),
        };
        let rendering = rendering(&matches);
        // Without operands there is one, `-`.
        let files: Vec<String> = matches
            .get_many::<OsString>("file")
            .map(|files| files.map(|file| file.to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        match ctx.stdout_stream() {
            Some(stream) if rendering.is_none() => copy::copy_operands(&ctx, &files, &stream).await,
            _ => collect_operands(&ctx, &files, rendering).await,
        }
    }
}

/// Returns what the options show of the bytes; `None` without such options.
fn rendering(matches: &ArgMatches) -> Option<Rendering> {
    let given = |name: &str| matches.get_flag(name);
    let rendering = Rendering {
        ends: given("show-ends") || given("show-all") || given("e"),
        tabs: given("show-tabs") || given("show-all") || given("t"),
        nonprinting: given("show-nonprinting") || given("show-all") || given("e") || given("t"),
        numbers: given("number") && !given("number-nonblank"),
        nonblank_numbers: given("number-nonblank"),
        squeezes: given("squeeze-blank"),
    };
    (rendering != Rendering::default()).then_some(rendering)
}

/// Reads all operands, and returns what they hold. Operands that cannot be read are reported, and the others are read.
async fn collect_operands(ctx: &Context<'_>, files: &[String], rendering: Option<Rendering>) -> Result<ExecResult> {
    let mut bytes = budgeted_bytes(ctx)?;
    let mut errors = Vec::new();
    // Input that came with the call is at the first `-`.
    let mut came_with_call = ctx.stdin;
    for file in files {
        if file == "-" {
            if let Some(input) = came_with_call.take() {
                bytes.try_extend_from_slice(input.as_bytes())?;
            }
            if let Some(input) = ctx.stdin_stream() {
                bytes.try_extend_from_slice(&input.read_to_end().await?)?;
            }
            continue;
        }
        let content = match file.is_empty() {
            true => Err(missing()),
            false => ctx.fs.read_file(&vfs_join(ctx.cwd, file)).await,
        };
        match content {
            Ok(content) => bytes.try_extend_from_slice(&content)?,
            Err(error) => errors.push((bytes.len(), unreadable(file, &error))),
        }
    }
    let (bytes, _lease) = bytes.into_parts();
    let mut stderr = PlacedMessages::new();
    for (at, message) in &errors {
        stderr.push(message, rendering.map_or(*at, |rendering| rendering.apply(&bytes[..*at]).len()));
    }
    let output = match rendering {
        Some(rendering) => rendering.apply(&bytes),
        None => bytes,
    };
    let exit_code = i32::from(!errors.is_empty());
    Ok(ExecResult { stderr: stderr.into(), exit_code, ..ExecResult::ok_bytes(output) })
}

/// Returns the message about an operand that cannot be read.
fn unreadable(file: &str, error: &bashkit::Error) -> String {
    format!("cat: {}: {}\n", quote_if_needed(file), io_error_reason(error))
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn operands_that_cannot_be_read_are_reported_among_the_others() {
        let result = run("cd /tmp; echo a > a; echo b > b; cat a missing b 2>&1; echo $?").await;
        assert_eq!(&*result.stdout, "a\ncat: missing: No such file or directory\nb\n1\n");
    }

    #[tokio::test]
    async fn standard_input_is_read_once_at_its_place() {
        for (script, stdout) in [
            ("cd /tmp; echo a > a; echo in | cat - a -", "in\na\n"),
            ("cd /tmp; echo a > a; echo in | cat a -n -", "     1\ta\n     2\tin\n"),
            ("echo in | cat | cat - - | cat", "in\n"),
            ("cat <<< here", "here\n"),
        ] {
            assert_eq!(&*run(script).await.stdout, stdout, "{script}");
        }
    }

    #[tokio::test]
    async fn pipeline_ends_with_the_reader_of_an_endless_file() {
        let result = run("cat /dev/zero | head -c 3 | od -An -tx1; echo ${PIPESTATUS[0]}").await;
        assert_eq!(&*result.stdout, " 00 00 00\n141\n");
    }

    #[tokio::test]
    async fn wrong_option_of_cat_is_refused_in_the_words_of_gnu() {
        let result = run("cat -y").await;
        let message = "cat: invalid option -- 'y'\nTry 'cat --help' for more information.\n";
        assert_eq!((&*result.stderr, result.exit_code), (message, 1));
    }
}
