//! `numfmt`: converts numbers to and from human-readable forms, as GNU's does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`number`] | numbers as text: units, rounding, digits |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod number;
mod options;
#[cfg(test)]
mod tests;

use async_trait::async_trait;

use self::number::{apply_padding, format_number, parse_number};
use self::options::{Invalid, MAX_OUTPUT_BYTES, Options, parse_options};
use bashkit::ExecResult;
use bashkit::PlacedMessages;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use num_bigint::BigInt;

/// Text that `--help` prints.
const HELP: &str = "\
Usage: numfmt [OPTION]... [NUMBER]...
Reformat NUMBER(s), or the numbers from standard input.

  --from=UNIT\tauto-scale input numbers to UNITs (none, si, iec, iec-i, auto)
  --to=UNIT\tauto-scale output numbers to UNITs (none, si, iec, iec-i)
  --suffix=SUFFIX\tadd SUFFIX to output numbers
  --padding=N\tpad the output to N characters
  --round=METHOD\tuse METHOD for rounding (up, down, from-zero, towards-zero, nearest)
  --format=FORMAT\tuse printf-style FORMAT
  --field=FIELDS\treplace the numbers in these input fields (default 1)
  -d, --delimiter=X\tuse X instead of whitespace for field delimiter
  --invalid=MODE\tabort, fail, warn or ignore at what is no number
  -z, --zero-terminated\tlines end in NUL
  --help\t\t\tdisplay this help and exit
  --version\t\toutput version information and exit
";

/// Command that converts numbers, as `numfmt`.
pub(crate) struct Numfmt;

/// Converts a field of a line. Without a delimiter the field keeps its width.
fn convert_field(text: &str, field: usize, opts: &Options) -> std::result::Result<String, String> {
    let number = text.trim_start_matches([' ', '\t']);
    let bare = number.strip_suffix(&opts.suffix).filter(|bare| !bare.is_empty()).unwrap_or(number);
    let mut value = parse_number(bare, opts.from)?;
    let mut precision = match bare.split_once('.') {
        Some((_, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.len(),
        _ => 0,
    };
    let one = BigInt::from(1);
    if opts.from_unit != one || opts.to_unit != one {
        value = value.times(&opts.from_unit).divided_by(&opts.to_unit);
        precision = 0;
    }
    let converted = format_number(&value, precision, opts)? + &opts.suffix;
    let keeps_width = opts.delimiter.is_none() && (number.len() < text.len() || field > 1);
    let padding = match opts.format.width {
        0 if opts.padding == 0 && keeps_width => i32::try_from(text.len()).unwrap_or(0),
        0 => opts.padding,
        _ if opts.format.is_zero_filled => 0,
        width => width,
    };
    Ok(format!("{}{}{}", opts.format.before, apply_padding(&converted, padding), opts.format.after))
}

/// Converts the fields of a line, and adds a message about each that is not a number. Returns `None` if the run ends
/// here.
fn convert_line(line: &str, opts: &Options, errors: &mut String) -> Option<String> {
    let delimiter = opts.delimiter.as_deref().unwrap_or(" ");
    let mut out = String::with_capacity(line.len());
    let mut rest = Some(line);
    let mut field = 0;
    while let Some(text) = rest {
        field += 1;
        // A field without a delimiter begins with the blanks before it.
        let end = match opts.delimiter.as_deref() {
            Some("") => text.len(),
            Some(delimiter) => text.find(delimiter).unwrap_or(text.len()),
            None => {
                let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
                text[blanks..].find([' ', '\t']).map_or(text.len(), |at| blanks + at)
            }
        };
        rest = (end < text.len()).then(|| &text[end + delimiter.len()..]);
        let text = &text[..end];
        if field > 1 {
            out.push_str(delimiter);
        }
        if !opts.fields.iter().any(|(from, to)| (*from..=*to).contains(&field)) {
            out.push_str(text);
            continue;
        }
        match convert_field(text, field, opts) {
            Ok(converted) => out.push_str(&converted),
            Err(message) => {
                if opts.invalid != Invalid::Ignore {
                    errors.push_str(&message);
                }
                if opts.invalid == Invalid::Abort {
                    return None;
                }
                out.push_str(text);
            }
        }
    }
    Some(out)
}

#[async_trait]
impl Builtin for Numfmt {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(ctx.args, HELP, Some("numfmt (GNU coreutils) 9.1")) {
            return Ok(r);
        }
        let (opts, operands) = match parse_options(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(ExecResult::err(e, 1)),
        };
        let warnings = opts.warnings(!operands.is_empty());
        let end = if opts.zero_terminated { '\0' } else { '\n' };
        let input = match operands.is_empty() {
            true => ctx.read_stdin().await?,
            false => None,
        };
        let input: &str = match &input {
            Some(input) => input,
            None => "",
        };
        let lines = input.strip_suffix(end).unwrap_or(input).split(end).filter(|_| !input.is_empty());
        let lines = lines.enumerate().chain(operands.iter().map(|operand| (usize::MAX, operand.as_str())));
        let mut output = String::new();
        let mut errors = PlacedMessages::new();
        errors.push(&warnings, 0);
        let mut status = 0;
        for (number, line) in lines {
            if output.len() > MAX_OUTPUT_BYTES {
                let message = format!("numfmt: output byte limit ({MAX_OUTPUT_BYTES}) exceeded; output truncated\n");
                return Ok(ExecResult { stderr: message.into(), ..ExecResult::with_code(output, 1) });
            }
            let mut message = String::new();
            let converted = match number < opts.header {
                true => Some(line.to_string()),
                false => convert_line(line, &opts, &mut message),
            };
            errors.push(&message, output.len());
            if !message.is_empty() && opts.invalid != Invalid::Warn {
                status = 2;
            }
            let Some(converted) = converted else { break };
            output.push_str(&converted);
            output.push(end);
        }
        Ok(ExecResult { stderr: errors.beside_text(&output), ..ExecResult::with_code(output, status) })
    }
}
