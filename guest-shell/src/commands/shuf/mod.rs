//! `shuf`: writes lines in a random order, as GNU's does.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`options`] | the command line, whose definition comes from uutils/coreutils |
//! | [`random`] | random numbers |
//! | [`draw`] | draws of lines and numbers |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod draw;
mod options;
mod random;

use std::path::Path;

use async_trait::async_trait;

use self::draw::{Draw, ShufInput, render_non_repeat, render_repeat, u64_to_usize_saturating};
use self::options::ShufOptions;
use self::random::{ByteRng, RANDOM_BYTES, Rng, SmallRng};
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::read_text_file;
use bashkit::fs::vfs_join;
use bashkit::limits::ExecutionLimits;

/// Command that shuffles lines, as `shuf`.
pub(crate) struct Shuf;

#[async_trait]
impl Builtin for Shuf {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let options = match ShufOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(result) => return Ok(result),
        };
        let mut rng = match random_numbers(&ctx, &options).await? {
            Ok(rng) => rng,
            Err(result) => return Ok(result),
        };
        if let Some(result) = options.extra_operand() {
            return Ok(result);
        }
        let input = match read_input(&ctx, &options).await? {
            Ok(input) => input,
            Err(result) => return Ok(result),
        };
        let output_limit = shuf_output_limit(&ctx, options.output.is_some());
        let draw = Draw { head_count: options.head_count, separator: options.separator, output_limit };
        let sampled = options.reads_stdin() && ctx.stdin_stream().is_some();
        let drawn = match options.repeat {
            true => render_repeat(input, &draw, &mut rng),
            false => render_non_repeat(input, &draw, sampled, &mut rng),
        };
        match (drawn, &options.output) {
            (Ok(text), Some(path)) => write_output(&ctx, path, &text).await,
            (Ok(text), None) => Ok(ExecResult::ok(text)),
            (Err(message), _) => Ok(ExecResult::err(message, 1)),
        }
    }
}

/// Returns the source of random numbers. The inner error is the result of the call.
async fn random_numbers(ctx: &Context<'_>, options: &ShufOptions) -> Result<std::result::Result<Rng, ExecResult>> {
    let Some(source) = &options.random_source else {
        return Ok(Ok(Rng::Clock(SmallRng::seed_from_now())));
    };
    let name = source.to_string_lossy();
    let path = bashkit::builtins::resolve_path(ctx.cwd, &name);
    let bytes = match ctx.fs.read_endless(&path, RANDOM_BYTES).await? {
        Some(bytes) => Ok(bytes),
        None => ctx.fs.read_file(&path).await,
    };
    Ok(match bytes {
        Ok(bytes) => Ok(Rng::File(ByteRng::new(name.into_owned(), bytes))),
        Err(error) => {
            let reason = bashkit::error::io_error_reason(&error);
            Err(ExecResult::err(format!("shuf: {name}: {reason}\n"), 1))
        }
    })
}

/// Reads lines, or returns operands or numbers. The inner error is the result of the call.
async fn read_input(ctx: &Context<'_>, options: &ShufOptions) -> Result<std::result::Result<ShufInput, ExecResult>> {
    if options.echo {
        return Ok(Ok(ShufInput::Items(options.operands.clone())));
    }
    if let Some(range) = &options.input_range {
        return Ok(Ok(ShufInput::Range(range.clone())));
    }
    let text = match options.operands.first() {
        Some(file) if file != "-" => {
            let path = vfs_join(ctx.cwd, file);
            match read_text_file(&*ctx.fs, &path, "shuf").await {
                Ok(text) => text,
                Err(result) => return Ok(Err(result)),
            }
        }
        _ => ctx.stdin_to_end().await?.to_string(),
    };
    Ok(Ok(ShufInput::Items(split_separated(&text, options.separator))))
}

async fn write_output(ctx: &Context<'_>, path: &Path, text: &str) -> Result<ExecResult> {
    let resolved = if path.is_absolute() { path.to_path_buf() } else { vfs_join(ctx.cwd, path) };
    if let Err(error) = ctx.fs.write_file(&resolved, &bashkit::bytes_of(text)).await {
        return Ok(ExecResult::err(format!("shuf: cannot write '{}': {error}\n", path.display()), 1));
    }
    Ok(ExecResult::ok(String::new()))
}

/// Splits a text into lines, which a separator ends.
fn split_separated(raw: &str, sep: char) -> Vec<String> {
    if raw.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<String> = raw.split(sep).map(str::to_string).collect();
    if out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    out
}

/// Returns the most bytes of output, which is all in memory.
fn shuf_output_limit(ctx: &Context<'_>, output_to_file: bool) -> usize {
    let exec_limit = ctx
        .execution_extension::<ExecutionLimits>()
        .and_then(|limits| limits.try_with(|limits| limits.max_stdout_bytes).ok())
        .unwrap_or_else(|| ExecutionLimits::default().max_stdout_bytes);

    if !output_to_file {
        return exec_limit;
    }

    let fs_limits = ctx.fs.limits();
    exec_limit
        .min(u64_to_usize_saturating(fs_limits.max_file_size))
        .min(u64_to_usize_saturating(fs_limits.max_total_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_separated_drops_trailing_empty() {
        for text in ["a\nb\nc\n", "a\nb\nc"] {
            assert_eq!(split_separated(text, '\n'), ["a", "b", "c"]);
        }
    }
}
