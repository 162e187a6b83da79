//! `dos2unix`, `unix2dos`, `mac2unix` and `unix2mac`: line breaks of other systems, as dos2unix 7.4.3 converts them.

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

/// Mark at the beginning of a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const HELP: &str = "\
 -b, --keep-bom        keep Byte Order Mark
 -e, --add-eol         add a line break to the last line if there isn't one
 -f, --force           force conversion of binary files
 -h, --help            display this help text
 -i, --info            display file information
 -k, --keepdate        keep output file date
 -l, --newline         add additional newline
 -m, --add-bom         add Byte Order Mark (default UTF-8)
 -n, --newfile         write to new file
 -o, --oldfile         write to old file (default)
 -q, --quiet           quiet mode, suppress all warnings
 -r, --remove-bom      remove Byte Order Mark
 -s, --safe            skip binary files (default)
 -v, --verbose         verbose operation
 -V, --version         display version number
";

/// Conversion of line breaks.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Conversion {
    DosToUnix,
    UnixToDos,
    MacToUnix,
    UnixToMac,
}

impl Conversion {
    fn command(self) -> &'static str {
        match self {
            Self::DosToUnix => "dos2unix",
            Self::UnixToDos => "unix2dos",
            Self::MacToUnix => "mac2unix",
            Self::UnixToMac => "unix2mac",
        }
    }

    /// Name of the line breaks that it makes.
    fn format(self) -> &'static str {
        match self {
            Self::DosToUnix | Self::MacToUnix => "Unix",
            Self::UnixToDos => "DOS",
            Self::UnixToMac => "Mac",
        }
    }

    fn line_break(self) -> &'static [u8] {
        match self {
            Self::DosToUnix | Self::MacToUnix => b"\n",
            Self::UnixToDos => b"\r\n",
            Self::UnixToMac => b"\r",
        }
    }

    /// Converts a text; `double` makes two line breaks of one.
    fn convert(self, text: &[u8], double: bool) -> Vec<u8> {
        let mut converted = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let taken = match self {
                Self::DosToUnix if rest.starts_with(b"\r\n") => 2,
                Self::MacToUnix if rest.starts_with(b"\r") && !rest.starts_with(b"\r\n") => 1,
                // A line break that is there already stays as it is.
                Self::UnixToDos | Self::UnixToMac if rest.starts_with(b"\r\n") => {
                    converted.extend_from_slice(b"\r\n");
                    at += 2;
                    continue;
                }
                Self::UnixToDos | Self::UnixToMac if rest.starts_with(b"\n") => 1,
                _ => {
                    converted.push(rest[0]);
                    at += 1;
                    continue;
                }
            };
            for _ in 0..=usize::from(double) {
                converted.extend_from_slice(self.line_break());
            }
            at += taken;
        }
        converted
    }
}

/// Command that converts line breaks.
pub(crate) struct LineBreaks(pub(crate) Conversion);

/// Options of one call.
#[derive(Clone, Copy, Default)]
struct ConversionOptions {
    quiet: bool,
    force: bool,
    keep_date: bool,
    /// Pairs of files follow, one to read and one to write.
    new_file: bool,
    info: bool,
    double: bool,
    keep_mark: bool,
    remove_mark: bool,
    add_mark: bool,
    add_line_break: bool,
}

/// File that is converted.
struct Job {
    input: String,
    output: Option<String>,
    options: ConversionOptions,
}

impl ConversionOptions {
    /// Applies an option, and returns false if there is none of that name.
    fn set(&mut self, option: &str) -> bool {
        match option {
            "-q" | "--quiet" => self.quiet = true,
            "-f" | "--force" => self.force = true,
            "-s" | "--safe" => self.force = false,
            "-k" | "--keepdate" => self.keep_date = true,
            "-n" | "--newfile" => self.new_file = true,
            "-o" | "--oldfile" => self.new_file = false,
            "-i" | "--info" => self.info = true,
            "-l" | "--newline" => self.double = true,
            "-b" | "--keep-bom" => self.keep_mark = true,
            "-r" | "--remove-bom" => self.remove_mark = true,
            "-m" | "--add-bom" => self.add_mark = true,
            "-e" | "--add-eol" => self.add_line_break = true,
            // Nothing but line breaks is converted, owners and links are as they are.
            "-v" | "--verbose" | "-ascii" | "--no-add-eol" | "--allow-chown" | "--no-allow-chown" | "-S"
            | "--skip-symlink" | "-F" | "--follow-symlink" => {}
            _ => return false,
        }
        true
    }
}

/// Reads a command line. The error is the text of a wrong call.
fn parse(command: &str, words: &[String]) -> std::result::Result<(Vec<Job>, ConversionOptions), String> {
    let mut options = ConversionOptions::default();
    let mut jobs: Vec<Job> = Vec::new();
    let mut waiting = None;
    let mut only_files = false;
    for word in words {
        if word == "--" && !only_files {
            only_files = true;
        } else if !only_files && word.len() > 1 && word.starts_with('-') {
            let is_known = options.set(word)
                || (!word.starts_with("--") && word[1..].chars().all(|letter| options.set(&format!("-{letter}"))));
            if !is_known {
                return Err(format!("{command}: invalid option {word}\n"));
            }
        } else if options.new_file {
            match waiting.take() {
                None => waiting = Some(word.clone()),
                Some(input) => jobs.push(Job { input, output: Some(word.clone()), options }),
            }
        } else {
            jobs.push(Job { input: word.clone(), output: None, options });
        }
    }
    match waiting {
        Some(input) => Err(format!("{command}: target of file {input} not specified in new-file mode\n")),
        None => Ok((jobs, options)),
    }
}

#[async_trait]
impl Builtin for LineBreaks {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let command = self.0.command();
        let usage = format!("Usage: {command} [options] [file ...] [-n infile outfile ...]\n{HELP}");
        let version = format!("{command} 7.4.3 (2022-06-05)");
        if let Some(result) = check_help_version(ctx.args, &usage, Some(&version)) {
            return Ok(result);
        }
        let (jobs, options) = match parse(command, ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        if jobs.is_empty() {
            let input = ctx.stdin_to_end().await?;
            return Ok(match options.info {
                true => ExecResult::ok(information(input.as_bytes(), "")),
                false => ExecResult::ok_bytes(self.converted(input.as_bytes(), &options)),
            });
        }
        let (mut output, mut messages, mut status) = (String::new(), String::new(), 0);
        for job in &jobs {
            status = self.run(&ctx, job, &mut output, &mut messages).await?.max(status);
        }
        Ok(ExecResult { stderr: messages.into(), ..ExecResult::with_code(output, status) })
    }
}

impl LineBreaks {
    /// Converts one file, or tells of it, and returns the status.
    async fn run(&self, ctx: &Context<'_>, job: &Job, output: &mut String, messages: &mut String) -> Result<i32> {
        let (command, name, options) = (self.0.command(), &job.input, job.options);
        let mut say = |text: String| {
            if !options.quiet {
                messages.push_str(&format!("{command}: {text}\n"));
            }
        };
        let path = resolve_path(ctx.cwd, name);
        let status = match ctx.fs.stat(&path).await {
            Ok(status) if status.file_type.is_file() => status,
            Ok(_) => {
                say(format!("Skipping {name}, not a regular file."));
                return Ok(0);
            }
            Err(error) => {
                say(format!("{name}: {}", io_error_reason(&error)));
                say(format!("Skipping {name}, not a regular file."));
                return Ok(2);
            }
        };
        let text = ctx.fs.read_file(&path).await?;
        ctx.consume_budget_input(text.len())?;
        if options.info {
            output.push_str(&information(&text, name));
            return Ok(0);
        }
        if let Some((line, symbol)) = binary_symbol(&text).filter(|_| !options.force) {
            say(format!("Binary symbol 0x{symbol:02X} found at line {line}"));
            say(format!("Skipping binary file {name}"));
            return Ok(0);
        }
        let converted = self.converted(&text, &options);
        let target = job.output.as_ref().map_or_else(|| path.clone(), |output| resolve_path(ctx.cwd, output));
        if let Err(error) = ctx.fs.write_file(&target, &converted).await {
            say(format!("{}: {}", job.output.as_ref().unwrap_or(name), io_error_reason(&error)));
            return Ok(1);
        }
        ctx.fs.chmod(&target, status.mode).await?;
        if options.keep_date {
            ctx.fs.set_modified_time(&target, status.modified).await?;
        }
        let format = self.0.format();
        say(match &job.output {
            Some(output) => format!("converting file {name} to file {output} in {format} format..."),
            None => format!("converting file {name} to {format} format..."),
        });
        Ok(0)
    }

    /// Converts line breaks, and the mark at the beginning, which Unix does not use.
    fn converted(&self, text: &[u8], options: &ConversionOptions) -> Vec<u8> {
        let (has_mark, body) = text.strip_prefix(BYTE_ORDER_MARK).map_or((false, text), |body| (true, body));
        let mut converted = self.0.convert(body, options.double);
        if options.add_line_break && !converted.is_empty() && !converted.ends_with(self.0.line_break()) {
            converted.extend_from_slice(self.0.line_break());
        }
        let keeps_mark = options.keep_mark || self.0 == Conversion::UnixToDos || self.0 == Conversion::UnixToMac;
        if options.add_mark || (has_mark && keeps_mark && !options.remove_mark) {
            converted.splice(..0, BYTE_ORDER_MARK.iter().copied());
        }
        converted
    }
}

/// Returns the first byte that no text has, with its line.
fn binary_symbol(text: &[u8]) -> Option<(usize, u8)> {
    let is_text = |byte: &u8| *byte >= 32 || matches!(*byte, b'\n' | b'\r' | b'\t' | 0x0c);
    let at = text.iter().position(|byte| !is_text(byte))?;
    Some((1 + text[..at].iter().filter(|byte| **byte == b'\n').count(), text[at]))
}

/// Returns the line of `-i`: numbers of line breaks of DOS, Unix and Mac, mark, kind and name.
fn information(text: &[u8], name: &str) -> String {
    let (mut dos, mut unix, mut mac) = (0, 0, 0);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && text[at - 1] == b'\r' => dos += 1,
            b'\n' => unix += 1,
            b'\r' if text.get(at + 1) != Some(&b'\n') => mac += 1,
            _ => {}
        }
    }
    let mark = if text.starts_with(BYTE_ORDER_MARK) { "UTF-8" } else { "no_bom" };
    let kind = if binary_symbol(text).is_some() { "binary" } else { "text  " };
    format!("  {dos:>6}  {unix:>6}  {mac:>6}  {mark:<8}  {kind}  {name}\n")
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    async fn check(cases: &[(&str, &str, i32)]) {
        for (script, output, status) in cases {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
        }
    }

    #[tokio::test]
    async fn line_breaks_are_converted() {
        check(&[
            (
                "printf 'a\\r\\nb\\r\\n' > w; dos2unix w 2>&1; od -An -c w",
                "dos2unix: converting file w to Unix format...\n   a  \\n   b  \\n\n",
                0,
            ),
            ("printf 'a\\nb\\r\\n' | unix2dos | od -An -c", "   a  \\r  \\n   b  \\r  \\n\n", 0),
            ("printf 'a\\rb\\r' > w; mac2unix -q w; cat w", "a\nb\n", 0),
            ("printf 'a\\r\\n' > w; dos2unix -n w x 2>&1; od -An -c x w", NEW_FILE, 0),
            ("printf '\\357\\273\\277a\\r\\n' > w; dos2unix -q w; od -An -c w", "   a  \\n\n", 0),
            ("printf 'a\\n' > w; touch -d @0 w; unix2dos -qk w; stat -c %Y w", "0\n", 0),
            ("printf 'a\\r\\nb\\n' > w; dos2unix -i w", "       1       1       0  no_bom    text    w\n", 0),
        ])
        .await;
    }

    const NEW_FILE: &str = "dos2unix: converting file w to file x in Unix format...\n   a  \\n   a  \\r  \\n\n";

    #[tokio::test]
    async fn line_breaks_of_what_is_no_text_are_left() {
        check(&[
            ("printf 'a\\0\\r\\n' > w; dos2unix w 2>&1; od -An -c w", BINARY, 0),
            ("printf 'a\\0\\r\\n' > w; dos2unix -qf w; od -An -c w", "   a  \\0  \\n\n", 0),
            (
                "dos2unix none 2>&1",
                "dos2unix: none: No such file or directory\ndos2unix: Skipping none, not a regular file.\n",
                2,
            ),
            ("mkdir d; dos2unix d 2>&1", "dos2unix: Skipping d, not a regular file.\n", 0),
            ("dos2unix -Z a 2>&1", "dos2unix: invalid option -Z\n", 1),
        ])
        .await;
    }

    const BINARY: &str =
        "dos2unix: Binary symbol 0x00 found at line 1\ndos2unix: Skipping binary file w\n   a  \\0  \\r  \\n\n";
}
