//! `zgrep`, `zegrep`, `zfgrep` and their like: `grep` in files that may be compressed.

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context};
use bashkit::{ExecResult, Result, StreamData};

use super::codec::ArchiveCompression;
use crate::commands::budget::with_execution_budget;
use crate::commands::grep::Grep;
use crate::commands::operands;

/// Letters of `grep` that take an argument.
const WITH_ARGUMENT: &str = "ABCDdefm";

/// Long options of `grep` that take one, which may be the next word.
const LONG_WITH_ARGUMENT: [&str; 11] = [
    "regexp",
    "file",
    "max-count",
    "after-context",
    "before-context",
    "context",
    "label",
    "binary-files",
    "devices",
    "directories",
    "group-separator",
];

/// Command that searches files which may be compressed.
pub(crate) struct CompressedGrep {
    command: &'static str,
    /// Option that `grep` always gets.
    syntax: Option<&'static str>,
}

impl CompressedGrep {
    /// Returns all commands of this kind. Each unpacks what any of them does.
    pub(crate) fn family() -> [Self; 10] {
        let of = |command, syntax| Self { command, syntax };
        let (extended, fixed) = (Some("-E"), Some("-F"));
        [
            of("zgrep", None),
            of("zegrep", extended),
            of("zfgrep", fixed),
            of("bzgrep", None),
            of("bzegrep", extended),
            of("bzfgrep", fixed),
            of("xzgrep", None),
            of("xzegrep", extended),
            of("xzfgrep", fixed),
            of("zstdgrep", None),
        ]
    }

    /// Returns the name of the command.
    pub(crate) fn name(&self) -> &'static str {
        self.command
    }
}

/// Words of the command line, separated into those that `grep` gets and the files.
#[derive(Default)]
struct SearchWords {
    options: Vec<String>,
    has_pattern: bool,
    /// Names stand before matches (`-H`), or never (`-h`).
    with_names: Option<bool>,
    files: Vec<String>,
}

impl SearchWords {
    /// Reads a command line. The error is a message.
    fn parse(words: &[String]) -> std::result::Result<Self, String> {
        let mut parsed = Self::default();
        let mut operands = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                operands.extend(words.by_ref().cloned());
            } else if word == "-" || !word.starts_with('-') {
                operands.push(word.clone());
            } else if let Some(long) = word.strip_prefix("--") {
                parsed.take_long(word, long, &mut words)?;
            } else {
                parsed.take_letters(word, &mut words)?;
            }
        }
        let mut operands = operands.into_iter();
        if !parsed.has_pattern {
            let pattern = operands.next().ok_or("usage")?;
            parsed.options.extend(["-e".to_owned(), pattern]);
        }
        parsed.files = operands.collect();
        Ok(parsed)
    }

    fn take_long<'w>(
        &mut self,
        word: &str,
        long: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> std::result::Result<(), String> {
        let name = long.split('=').next().unwrap_or_default();
        match name {
            "recursive" | "dereference-recursive" | "null-data" | "include" | "exclude" | "exclude-dir" => {
                return Err(format!("--{name}: option not supported"));
            }
            "with-filename" => self.with_names = Some(true),
            "no-filename" => self.with_names = Some(false),
            _ => {}
        }
        self.has_pattern |= matches!(name, "regexp" | "file");
        self.options.push(word.to_owned());
        if !long.contains('=') && LONG_WITH_ARGUMENT.contains(&name) {
            self.options.extend(words.next().cloned());
        }
        Ok(())
    }

    fn take_letters<'w>(
        &mut self,
        word: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> std::result::Result<(), String> {
        self.options.push(word.to_owned());
        for (at, letter) in word.char_indices().skip(1) {
            match letter {
                'r' | 'R' | 'z' => return Err(format!("-{letter}: option not supported")),
                'H' => self.with_names = Some(true),
                'h' => self.with_names = Some(false),
                'e' | 'f' => self.has_pattern = true,
                _ => {}
            }
            if WITH_ARGUMENT.contains(letter) {
                if at + letter.len_utf8() == word.len() {
                    self.options.extend(words.next().cloned());
                }
                break;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Builtin for CompressedGrep {
    async fn execute(&self, mut ctx: Context<'_>) -> Result<ExecResult> {
        let command = self.command;
        if matches!(ctx.args.first().map(String::as_str), Some("--help")) {
            let text = format!(
                "Usage: {command} [OPTION]... [-e] PATTERN [FILE]...\nLook for instances of PATTERN in the input \
                 FILEs, using their\nuncompressed contents if they are compressed.\n\nOPTIONs are the same as for 'grep'.\n"
            );
            return Ok(ExecResult::ok(text));
        }
        let mut words = match SearchWords::parse(ctx.args) {
            Ok(words) => words,
            Err(message) if message == "usage" => {
                let text = format!("Usage: {command} [OPTION]... [-e] PATTERN [FILE]...\n");
                return Ok(ExecResult::err(format!("{text}Try `{command} --help' for more information.\n"), 2));
            }
            Err(message) => return Ok(ExecResult::err(format!("{command}: {message}\n"), 2)),
        };
        if words.files.is_empty() {
            words.files.push("-".to_owned());
        }
        words.options.splice(..0, self.syntax.map(str::to_owned));
        let with_names = words.with_names.unwrap_or(words.files.len() > 1);
        let (mut output, mut errors, mut has_matched, mut has_failed) = (Vec::new(), String::new(), false, false);
        for file in &words.files {
            let content = match unpacked(&ctx, command, file).await? {
                Ok(content) => content,
                Err(message) => {
                    errors.push_str(&message);
                    has_failed = true;
                    continue;
                }
            };
            let mut arguments = words.options.clone();
            let label = if file == "-" { "(standard input)" } else { file };
            arguments.push(if with_names { "-H" } else { "-h" }.to_owned());
            arguments.extend([format!("--label={label}"), "-".to_owned()]);
            let result = search(&mut ctx, &arguments, content).await?;
            output.extend_from_slice(result.stdout.as_bytes());
            errors.push_str(&result.stderr.text_lossy());
            has_matched |= result.exit_code == 0;
            has_failed |= result.exit_code > 1;
        }
        let status = if has_failed { 2 } else { i32::from(!has_matched) };
        Ok(ExecResult { stderr: errors.into(), exit_code: status, ..ExecResult::ok_bytes(output) })
    }
}

/// Runs `grep` with a text as its input.
async fn search(ctx: &mut Context<'_>, arguments: &[String], content: Vec<u8>) -> Result<ExecResult> {
    let input = StreamData::from(content);
    let inner = Context {
        args: arguments,
        env: ctx.env,
        variables: &mut *ctx.variables,
        cwd: &mut *ctx.cwd,
        fs: ctx.fs.clone(),
        stdin: Some(&input),
        // The streams of the shell are those of this command.
        shell: None,
    };
    Grep.execute(inner).await
}

/// Reads an operand, and unpacks it if it is compressed. The error is a message.
async fn unpacked(ctx: &Context<'_>, command: &str, file: &str) -> Result<std::result::Result<Vec<u8>, String>> {
    let content = match operands::read(ctx, file).await? {
        Ok(content) => content,
        Err(reason) => return Ok(Err(format!("gzip: {file}: {reason}\n"))),
    };
    let compression = ArchiveCompression::detect(&content);
    if compression == ArchiveCompression::None {
        return Ok(Ok(content));
    }
    let most = ctx.fs.limits().max_file_size;
    match with_execution_budget(ctx, |budget| compression.decompress(&content, most, command, budget)) {
        Ok(unpacked) => Ok(Ok(unpacked.into_parts().0)),
        Err(error) => Ok(Err(format!("{command}: {file}: {error}\n"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn zgrep_searches_compressed_and_plain_files() {
        let files = "printf 'hello\\nworld\\n' > h; cp h i; gzip h; bzip2 -k i; ";
        for (script, output, status) in [
            ("zgrep wor h.gz", "world\n", 0),
            ("zgrep -n o i", "1:hello\n2:world\n", 0),
            ("zgrep -c o h.gz i", "h.gz:2\ni:2\n", 0),
            ("zgrep -l hello h.gz i", "h.gz\ni\n", 0),
            ("zgrep -h -e hel -e x h.gz i", "hello\nhello\n", 0),
            ("zgrep -H wor h.gz", "h.gz:world\n", 0),
            ("cat h.gz | zgrep -i HELLO", "hello\n", 0),
            ("zegrep 'h(e|x)' h.gz; zfgrep 'l' h.gz; bzgrep w i.bz2", "hello\nhello\nworld\nworld\n", 0),
            ("zgrep -q hello h.gz && echo y; zgrep none h.gz", "y\n", 1),
            (
                "xz -k i; zstd -qk i; xzgrep -c o i.xz; zstdgrep -n wor i.zst; bzegrep 'w(o|x)' i.bz2",
                "2\n2:world\nworld\n",
                0,
            ),
            ("zgrep x missing 2>&1", "gzip: missing: No such file or directory\n", 2),
            ("zgrep -r x . 2>&1", "zgrep: -r: option not supported\n", 2),
            ("zgrep 2>&1 | head -1", "Usage: zgrep [OPTION]... [-e] PATTERN [FILE]...\n", 0),
        ] {
            let result = run(&format!("{files}{script}")).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}\n{}", &*result.stderr);
        }
    }
}
