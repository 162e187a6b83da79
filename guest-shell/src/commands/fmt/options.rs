//! Options of `fmt`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;

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

/// Parses the arguments of a call. Returns its options and files.
pub(super) fn parse_arguments(arguments: &[String]) -> Result<(FmtOptions, Vec<&str>), ExecResult> {
    let mut parser = ArgumentParser::new(arguments);
    parser.obsolete_width()?;
    while let Some(argument) = parser.take() {
        if argument == "--" {
            parser.files.extend(parser.arguments[parser.next..].iter().map(String::as_str));
            break;
        }
        if let Some(long) = argument.strip_prefix("--") {
            parser.long_option(argument, long)?;
        } else if argument.starts_with('-') && argument != "-" {
            parser.short_options(argument)?;
        } else {
            parser.files.push(argument);
        }
    }
    parser.finish()
}

/// Parser of the arguments of a call.
struct ArgumentParser<'a> {
    arguments: &'a [String],
    next: usize,
    options: FmtOptions,
    width: Option<usize>,
    /// Text of the goal. Its limit is the width, which may be given later.
    goal: Option<String>,
    files: Vec<&'a str>,
}

impl<'a> ArgumentParser<'a> {
    fn new(arguments: &'a [String]) -> Self {
        let options = FmtOptions { tab_width: 8, ..FmtOptions::default() };
        Self { arguments, next: 0, options, width: None, goal: None, files: Vec::new() }
    }

    fn take(&mut self) -> Option<&'a str> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        Some(argument)
    }

    /// Parses a width without a letter, which is only allowed as the first argument.
    fn obsolete_width(&mut self) -> Result<(), ExecResult> {
        if let Some(digits) = self.arguments.first().and_then(|argument| argument.strip_prefix('-'))
            && digits.starts_with(|first: char| first.is_ascii_digit())
        {
            self.width = Some(parse_width(digits, MAX_WIDTH)?);
            self.next = 1;
        }
        Ok(())
    }

    fn long_option(&mut self, argument: &str, long: &str) -> Result<(), ExecResult> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let Some(letter) = letter_of(name) else {
            return Err(bashkit::builtins::invalid_option("fmt", argument, 1));
        };
        if !takes_value(letter) {
            self.set(letter);
            return Ok(());
        }
        let value = match value.or_else(|| self.take()) {
            Some(value) => value.to_string(),
            None => return Err(failure(format!("option '--{name}' requires an argument"))),
        };
        self.set_value(letter, value)
    }

    /// Parses short options, the last of which may have a value: the rest of the argument, or the next one.
    fn short_options(&mut self, argument: &str) -> Result<(), ExecResult> {
        for (index, letter) in argument.char_indices().skip(1) {
            if takes_value(letter) {
                let value = match &argument[index + 1..] {
                    "" => self.take(),
                    rest => Some(rest),
                };
                let missing = || failure(format!("option requires an argument -- '{letter}'"));
                return self.set_value(letter, value.ok_or_else(missing)?.to_string());
            }
            if !self.set(letter) {
                return Err(bashkit::builtins::invalid_option("fmt", argument, 1));
            }
        }
        Ok(())
    }

    /// Sets an option without a value. Returns false if there is none of that letter.
    fn set(&mut self, letter: char) -> bool {
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
            _ => return false,
        }
        true
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
    fn finish(self) -> Result<(FmtOptions, Vec<&'a str>), ExecResult> {
        let Self { mut options, width, goal, mut files, .. } = self;
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
            files.push("-");
        }
        Ok((options, files))
    }
}

/// Returns the letter of a long option.
fn letter_of(name: &str) -> Option<char> {
    Some(match name {
        "crown-margin" => 'c',
        "tagged-paragraph" => 't',
        "preserve-headers" => 'm',
        "split-only" => 's',
        "uniform-spacing" => 'u',
        "exact-prefix" => 'x',
        "exact-skip-prefix" => 'X',
        "quick" => 'q',
        "width" => 'w',
        "goal" => 'g',
        "prefix" => 'p',
        "skip-prefix" => 'P',
        "tab-width" => 'T',
        _ => return None,
    })
}

fn takes_value(letter: char) -> bool {
    matches!(letter, 'w' | 'g' | 'p' | 'P' | 'T')
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
