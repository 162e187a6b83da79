//! `fmt`: fills and joins paragraphs, as GNU's does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`lines`] | lines of the input, with indentation and prefixes |
//! | [`paragraphs`] | lines that belong together |
//! | [`words`] | words of a paragraph |
//! | [`linebreak`] | selection of line ends in the output |
//!
//! The modules other than the options come from `fmt` of uutils/coreutils (MIT), because GNU's `fmt.c` is under the GPL.
//! Lines are broken where the sum of costs is lowest, not greedily. The goal defaults to 93 % of the width, `-g` alone
//! sets the width to the goal + 10, and 2500 is the largest width.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod linebreak;
mod lines;
mod options;
mod paragraphs;
#[cfg(test)]
mod tests;
mod words;

use async_trait::async_trait;

use self::options::{FmtOptions, USAGE, parse_arguments};
use self::paragraphs::{ParagraphStream, Part};
use crate::commands::files::{missing, quote};
use bashkit::ExecResult;
use bashkit::PlacedMessages;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinHelper;
use bashkit::builtins::Context;
use bashkit::builtins::resolve_path;
use bashkit::limits::{BudgetedBytes, ExecutionBudget};

/// Command `fmt`, which fills paragraphs.
pub(crate) struct Fmt;

impl BuiltinHelper for Fmt {
    const NAME: &'static str = "fmt";
}

/// Output whose memory and work are charged before each copy, because indentation and prefixes can multiply its size
/// (THREAT[TM-DOS-103]).
struct FmtOutput {
    bytes: BudgetedBytes,
    budget: Option<ExecutionBudget>,
}

impl FmtOutput {
    fn new(budget: Option<ExecutionBudget>) -> Result<Self> {
        Ok(Self { bytes: BudgetedBytes::new(budget.as_ref())?, budget })
    }

    fn consume_work(&self, units: u64) -> Result<()> {
        if let Some(budget) = &self.budget {
            budget.consume_work(units)?;
        }
        Ok(())
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.consume_work(1 + bytes.len() as u64)?;
        self.bytes.try_extend_from_slice(bytes)?;
        Ok(())
    }
}

/// Formats an input.
fn format_input(options: &FmtOptions, input: &[u8], out: &mut FmtOutput) -> Result<()> {
    for part in ParagraphStream::new(options, input) {
        out.consume_work(1)?;
        match part {
            Part::Unformatted(line) => {
                out.write_all(line)?;
                out.write_all(b"\n")?;
            }
            Part::Paragraph(paragraph) => linebreak::break_lines(&paragraph, options, out)?,
        }
    }
    Ok(())
}

#[async_trait]
impl Builtin for Fmt {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(ctx.args, USAGE, Some("fmt (GNU coreutils) 9.1")) {
            return Ok(r);
        }
        let (opts, files) = match parse_arguments(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };
        let budget = ctx
            .execution_budget()
            .map(|budget| budget.try_with(Clone::clone).map_err(|_| bashkit::Error::Cancelled))
            .transpose()?;
        let mut out = FmtOutput::new(budget)?;
        let mut stderr = PlacedMessages::new();
        let mut exit_code = 0;
        for file in files {
            let input: Vec<u8> = if file == "-" {
                ctx.stdin_to_end().await?.as_bytes().to_vec()
            } else {
                let path = resolve_path(ctx.cwd, &file);
                let content = if file.is_empty() { Err(missing()) } else { ctx.fs.read_file(&path).await };
                match content {
                    Ok(bytes) => bytes,
                    Err(e) => {
                        let reason = bashkit::error::io_error_reason(&e);
                        let message = match reason.as_str() {
                            "Is a directory" => "fmt: read error\n".to_owned(),
                            _ => format!("fmt: cannot open {} for reading: {reason}\n", quote(&file)),
                        };
                        stderr.push(&message, out.bytes.len());
                        exit_code = 1;
                        continue;
                    }
                }
            };
            ctx.consume_budget_work(1 + (input.len() / 1024) as u64)?;
            format_input(&opts, &input, &mut out)?;
        }
        let (bytes, _output_lease) = out.bytes.into_parts();
        let mut result = ExecResult::with_code(bashkit::StreamData::from(bytes), exit_code);
        result.stderr = stderr.into();
        Ok(result)
    }
}
