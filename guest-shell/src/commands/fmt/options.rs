//! Options of `fmt`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

use crate::commands::option_parser::gnu_getopt;

/// Text that `--help` prints.
pub(super) const USAGE: &str = "\
Usage: fmt [-WIDTH] [OPTION]... [FILE]...
Reformat each paragraph in the FILE(s), writing to standard output.
The option -WIDTH is an abbreviated form of --width=DIGITS.

With no FILE, or when FILE is -, read standard input.

  -c, --crown-margin        preserve indentation of first two lines
  -p, --prefix=STRING       reformat only lines beginning with STRING,
                              reattaching the prefix to reformatted lines
  -s, --split-only          split long lines, but do not refill
  -t, --tagged-paragraph    indentation of first line different from second
  -u, --uniform-spacing     one space between words, two after sentences
  -w, --width=WIDTH         maximum line width (default of 75 columns)
  -g, --goal=WIDTH          goal width (default of 93% of width)
      --help                display this help and exit
      --version             output version information and exit
";

const DEFAULT_WIDTH: usize = 75;
const MAX_WIDTH: usize = 2500;

/// Options of a call.
#[derive(Default)]
pub(super) struct FmtOptions {
    pub(super) crown: bool,
    pub(super) tagged: bool,
    pub(super) mail: bool,
    pub(super) split_only: bool,
    pub(super) prefix: Option<String>,
    /// True if the prefix must be at the beginning of lines.
    pub(super) exact_prefix: bool,
    /// Prefix of lines that are not formatted.
    pub(super) skip_prefix: Option<String>,
    pub(super) exact_skip_prefix: bool,
    pub(super) uniform: bool,
    pub(super) quick: bool,
    pub(super) width: usize,
    pub(super) goal: usize,
    pub(super) tab_width: usize,
}

const LONG: [(&str, OptArg, char); 7] = [
    ("crown-margin", OptArg::No, 'c'),
    ("prefix", OptArg::Required, 'p'),
    ("split-only", OptArg::No, 's'),
    ("tagged-paragraph", OptArg::No, 't'),
    ("uniform-spacing", OptArg::No, 'u'),
    ("width", OptArg::Required, 'w'),
    ("goal", OptArg::Required, 'g'),
];

/// Parses the arguments of a call. Returns its options and files.
pub(super) fn parse_arguments(arguments: &[String]) -> Result<(FmtOptions, Vec<String>), ExecResult> {
    let mut parser =
        ArgumentParser { options: FmtOptions { tab_width: 8, ..FmtOptions::default() }, width: None, goal: None };
    let arguments = parser.obsolete_width(arguments)?;
    let (given, files) = gnu_getopt("fmt", arguments, "ctsuw:p:g:", &LONG, true, 1)?;
    for option in given {
        match option.value {
            Some(value) => parser.set_value(option.key, value)?,
            None => parser.set(option.key),
        }
    }
    parser.finish(files)
}

/// Parser of the arguments of a call.
struct ArgumentParser {
    options: FmtOptions,
    width: Option<usize>,
    /// Text of the goal. Its limit is the width, which may be given later.
    goal: Option<String>,
}

impl ArgumentParser {
    /// Parses a width without a letter, which is only allowed as the first argument. Returns the other arguments.
    fn obsolete_width<'a>(&mut self, arguments: &'a [String]) -> Result<&'a [String], ExecResult> {
        if let Some((first, others)) = arguments.split_first()
            && let Some(digits) = first.strip_prefix('-')
            && digits.starts_with(|first: char| first.is_ascii_digit())
        {
            self.width = Some(parse_width(digits, MAX_WIDTH)?);
            return Ok(others);
        }
        Ok(arguments)
    }

    /// Sets an option without a value.
    fn set(&mut self, letter: char) {
        let options = &mut self.options;
        match letter {
            'c' => options.crown = true,
            't' => options.tagged = true,
            'm' => options.mail = true,
            's' => options.split_only = true,
            'u' => options.uniform = true,
            'x' => options.exact_prefix = true,
            'X' => options.exact_skip_prefix = true,
            'q' => options.quick = true,
            _ => {}
        }
    }

    fn set_value(&mut self, letter: char, value: String) -> Result<(), ExecResult> {
        match letter {
            'w' => self.width = Some(parse_width(&value, MAX_WIDTH)?),
            'g' => self.goal = Some(value),
            'p' => self.options.prefix = Some(value),
            'P' => self.options.skip_prefix = Some(value),
            _ => self.options.tab_width = parse_tab_width(&value)?,
        }
        Ok(())
    }

    /// Resolves options that depend on each other.
    fn finish(self, mut files: Vec<String>) -> Result<(FmtOptions, Vec<String>), ExecResult> {
        let Self { mut options, width, goal } = self;
        options.crown &= !options.split_only;
        options.tagged &= !options.split_only && !options.crown;
        options.width = width.unwrap_or(DEFAULT_WIDTH);
        options.goal = options.width * 187 / 200;
        if let Some(goal) = goal {
            options.goal = parse_width(&goal, options.width)?;
            if width.is_none() {
                options.width = options.goal + 10;
            }
        }
        if files.is_empty() {
            files.push("-".to_owned());
        }
        Ok((options, files))
    }
}

fn failure(message: String) -> ExecResult {
    ExecResult::err(format!("fmt: {message}\n"), 1)
}

/// Parses a width of at most `max` columns.
fn parse_width(value: &str, max: usize) -> Result<usize, ExecResult> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let reason = match value.parse::<usize>() {
        Ok(width) if width <= max => return Ok(width),
        _ if !is_number => "",
        Ok(_) => ": Numerical result out of range",
        Err(_) => ": Value too large for defined data type",
    };
    Err(failure(format!("invalid width: '{value}'{reason}")))
}

fn parse_tab_width(value: &str) -> Result<usize, ExecResult> {
    let width = value.parse::<usize>().map_err(|_| failure(format!("invalid tab width: '{value}'")))?;
    Ok(width.max(1))
}
