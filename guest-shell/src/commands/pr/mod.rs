//! `pr`: prints files in pages and columns, as GNU's does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`input`] | input files, and their lines |
//! | [`arrangement`] | arrangement of lines in rows and columns |
//! | [`row`] | formatting of a row |
//! | [`pages`] | output of rows on pages with headers |
//! | [`budget`] | text with a bounded length and capacity |
//!
//! A page is a header of five lines, a body, and a trailer of five lines, 66 lines together. The header contains the
//! modification time of the file, or the current time of the sandbox for standard input and `-m`.
//!
//! Every byte of output is accounted before its memory is allocated, and skipped pages count as work, too (TM-DOS-137):
//! padding can turn a small input into a large output. The options `-e` and `-i` are not implemented, and
//! `-c` and `-v` have no effect (L-PR-001).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod arrangement;
mod budget;
mod input;
mod options;
mod pages;
mod row;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context};
use bashkit::limits::{BudgetedString, BudgetedVec, ExecutionBudget};
use bashkit::{ExecResult, PlacedMessages, Result};

use self::arrangement::{arrange, merge};
use self::budget::add_row_bytes;
use self::input::{PrInput, read_input};
use self::options::PrOptions;
use self::pages::PageWriter;
use self::row::{RowCell, RowFormat};
use super::date::Date;
use crate::commands::files::quote_if_needed;

const HELP: &str = "\
Usage: pr [OPTION]... [FILE]...
Paginate or columnate FILE(s) for printing.

With no FILE, or when FILE is -, read standard input.

  +FIRST_PAGE[:LAST_PAGE]  begin [stop] printing with page FIRST_[LAST_]PAGE
  -COLUMN, --columns=COLUMN  output COLUMN columns, down then across
  -a, --across              print columns across rather than down
  -d, --double-space        double space the output
  -D, --date-format=FORMAT  use FORMAT for the header date
  -F, -f, --form-feed       use form feeds instead of newlines to separate pages
  -h, --header=HEADER       use HEADER instead of the file name in the header
  -J, --join-lines          merge full lines, turn off truncation
  -l, --length=PAGE_LENGTH  set the page length (default 66 lines)
  -m, --merge               print all files in parallel, one in each column
  -n, --number-lines[=SEP[DIGITS]]  number lines (default SEP TAB, DIGITS 5)
  -N, --first-line-number=NUMBER  start counting with NUMBER
  -o, --indent=MARGIN       offset each line with MARGIN spaces
  -s[CHAR], --separator[=CHAR]  separate columns by CHAR (default TAB)
  -S[STRING], --sep-string[=STRING]  separate columns by STRING
  -t, --omit-header         omit page headers and trailers
  -T, --omit-pagination     omit headers, trailers and form feeds
  -w, --width=PAGE_WIDTH    page width for multi-column output (default 72)
  -W, --page-width=PAGE_WIDTH  always truncate lines to PAGE_WIDTH
      --help                display this help and exit
      --version             output version information and exit
";

/// The command `pr` of the shell.
pub(crate) struct Pr {
    clock: Date,
}

impl Pr {
    /// Returns the command with the clock of `date`, for the dates of headers.
    pub(crate) fn with_clock(clock: Date) -> Self {
        Self { clock }
    }

    /// Formats the date of a header, in seconds since the epoch; `None` means now.
    fn header_date(&self, ctx: &Context<'_>, options: &PrOptions, seconds: Option<i64>) -> String {
        match options.has_headers() {
            true => self.clock.strftime(ctx.env.get("TZ"), seconds, &options.date_format).unwrap_or_default(),
            false => String::new(),
        }
    }

    /// Prints the pages of all inputs. Returns the length of the output behind each input, too.
    fn print(
        &self,
        ctx: &Context<'_>,
        options: &PrOptions,
        inputs: &[PrInput<'_>],
        budget: Option<&ExecutionBudget>,
    ) -> Result<(String, Vec<usize>)> {
        let format = RowFormat::new(options, budget);
        let mut pages = PageWriter::new(options, budget)?;
        if options.merge {
            let rows = render_rows(&merge(options, inputs, budget)?, &format)?;
            let title = options.header.as_deref().unwrap_or_default();
            pages.write(&rows, title, &self.header_date(ctx, options, None))?;
            return Ok((pages.finish(), Vec::new()));
        }
        let mut ends = Vec::with_capacity(inputs.len());
        for input in inputs {
            let rows = render_rows(&arrange(options, &input.lines, budget)?, &format)?;
            if !rows.is_empty() {
                let title = options.header.as_deref().unwrap_or(input.title);
                // The date is formatted here, so that long dates of many files are not held at once.
                pages.write(&rows, title, &self.header_date(ctx, options, input.modified))?;
            }
            ends.push(pages.written());
        }
        Ok((pages.finish(), ends))
    }
}

#[async_trait]
impl Builtin for Pr {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if ctx.args.iter().any(|word| word == "--help") {
            return Ok(ExecResult::ok(HELP));
        }
        if ctx.args.iter().any(|word| word == "--version") {
            return Ok(ExecResult::ok("pr (GNU coreutils) 9.1\n"));
        }
        let options = match PrOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(result) => return Ok(result),
        };
        let budget = ctx.execution_budget().map(|budget| budget.try_with(Clone::clone));
        let budget = budget.transpose().map_err(|_| bashkit::Error::Cancelled)?;
        let budget = budget.as_ref();
        let mut errors = Vec::new();
        let mut inputs = BudgetedVec::new(budget)?;
        for file in &options.files {
            match read_input(&ctx, file, budget).await? {
                Ok(input) => inputs.try_push(input)?,
                Err(reason) => {
                    let ends = reason == "Is a directory" && !options.merge;
                    errors.push((inputs.len(), format!("pr: {}: {reason}\n", quote_if_needed(file))));
                    if ends {
                        // It was opened, and cannot be read: GNU's stops there.
                        break;
                    }
                }
            }
        }
        let (output, ends) = self.print(&ctx, &options, &inputs, budget)?;
        ctx.consume_budget_work(1 + (output.len() / 1024) as u64)?;
        let mut messages = PlacedMessages::new();
        for (position, message) in &errors {
            let printed = position.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0);
            messages.push(message, printed);
        }
        let status = i32::from(!errors.is_empty());
        Ok(ExecResult { stderr: messages.beside_text(&output), ..ExecResult::with_code(output, status) })
    }
}

fn render_rows(rows: &[BudgetedVec<RowCell<'_>>], format: &RowFormat<'_>) -> Result<BudgetedVec<BudgetedString>> {
    let mut rendered = BudgetedVec::new(format.budget)?;
    let mut bytes = 0;
    for row in rows {
        let text = format.render(row)?;
        bytes = add_row_bytes(bytes, text.len())?;
        rendered.try_push(text)?;
    }
    Ok(rendered)
}
