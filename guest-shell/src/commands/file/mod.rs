//! Command `file`, which determines the types of files by their contents.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod content;
mod text;

use crate::commands::option_parser::getopt_long;
use async_trait::async_trait;

use crate::commands::file::content::{ContentType, recognize};
use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};
use bashkit::builtins::resolve_path;
use bashkit::fs::{FileType, Metadata};

const USAGE: &str = "Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]
            [--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]
            [-m <magicfiles>] [-P <parameter=value>] [--exclude-quiet]
            <file> ...
       file -C [-m <magicfiles>]
       file [--help]
";

/// Command that determines the types of files: `file [-bEhiLN] [-F SEPARATOR] [-f LIST] FILE...`
pub(crate) struct File;

/// Keys of options that have no letter.
const MIME_TYPE: char = '1';
const MIME_ENCODING: char = '2';

const LONG_OPTIONS: &[(&str, OptArg, char)] = &[
    ("brief", OptArg::No, 'b'),
    ("dereference", OptArg::No, 'L'),
    ("files-from", OptArg::Required, 'f'),
    ("mime", OptArg::No, 'i'),
    ("mime-type", OptArg::No, MIME_TYPE),
    ("mime-encoding", OptArg::No, MIME_ENCODING),
    ("no-buffer", OptArg::No, 'n'),
    ("no-dereference", OptArg::No, 'h'),
    ("no-pad", OptArg::No, 'N'),
    ("preserve-date", OptArg::No, 'p'),
    ("raw", OptArg::No, 'r'),
    ("separator", OptArg::Required, 'F'),
    ("special-files", OptArg::No, 's'),
];

/// Options of `file` that this command does not support.
const NOT_AVAILABLE: &str = "cCdeklmPSvzZ0";

struct Options {
    brief: bool,
    follow: bool,
    pad: bool,
    raw: bool,
    /// True if a missing file is an error (`-E`).
    fail: bool,
    mime_type: bool,
    mime_encoding: bool,
    separator: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            brief: false,
            follow: false,
            pad: true,
            raw: false,
            fail: false,
            mime_type: false,
            mime_encoding: false,
            separator: ":".to_string(),
        }
    }
}

impl Options {
    fn set(&mut self, option: ParsedOpt) {
        match option.key {
            'b' => self.brief = true,
            'E' => self.fail = true,
            'F' => self.separator = option.value.unwrap_or_default(),
            'h' => self.follow = false,
            'L' => self.follow = true,
            'N' => self.pad = false,
            'r' => self.raw = true,
            'i' | MIME_TYPE | MIME_ENCODING => {
                self.mime_type |= option.key != MIME_ENCODING;
                self.mime_encoding |= option.key != MIME_TYPE;
            }
            // Options without an effect: nothing is buffered, there are no access times, and no file is special.
            _ => {}
        }
    }

    /// Returns the requested part of an answer.
    fn select(&self, content: &ContentType) -> String {
        match (self.mime_type, self.mime_encoding) {
            (false, false) => content.description.clone(),
            (true, false) => content.mime.to_string(),
            (false, true) => content.charset.to_string(),
            (true, true) => format!("{}; charset={}", content.mime, content.charset),
        }
    }

    /// Returns a name in printable form: control characters are escaped.
    fn printable(&self, name: &str) -> String {
        let escape = |c: char| match c.is_control() && !self.raw {
            true => format!("\\{:03o}", u32::from(c)),
            false => c.to_string(),
        };
        name.chars().map(escape).collect()
    }
}

/// Output and status so far.
#[derive(Default)]
struct Report {
    output: String,
    status: i32,
}

#[async_trait]
impl Builtin for File {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: file [OPTION]... FILE...\nDetermine file type.\n\n  -b, --brief\t\tdo not print names\n  -E\t\t\ta file that is not there is an error\n  -F, --separator=TEXT\tprint TEXT after names instead of `:'\n  -f, --files-from=FILE\tread names from FILE\n  -h, --no-dereference\tdescribe symbolic links (default)\n  -i, --mime\t\tprint MIME type and character set\n      --mime-type\tprint the MIME type\n      --mime-encoding\tprint the character set\n  -L, --dereference\tfollow symbolic links\n  -N, --no-pad\t\tdo not line the answers up\n  -r, --raw\t\tdo not escape control characters\n      --help\t\tdisplay this help and exit\n      --version\t\toutput version information and exit\n",
            Some("file-5.44"),
        ) {
            return Ok(r);
        }
        if let Some(option) = not_available(ctx.args) {
            let message = format!("file: the option '{option}' is not available\n");
            return Ok(ExecResult::err(message, 1));
        }
        let (parsed, files) = match getopt_long("file", ctx.args, "bEF:f:hiLNnprs", LONG_OPTIONS, true, 1) {
            Ok(parsed) => parsed,
            Err(mut error) => {
                error.stderr = format!("{}{USAGE}", error.stderr).into();
                return Ok(error);
            }
        };
        let mut options = Options::default();
        let mut report = Report::default();
        let mut listed = false;
        for option in parsed {
            if option.key != 'f' {
                // `file` loads its database when it reads a list; the kind of answer is fixed from then on.
                if !listed || matches!(option.key, 'b' | 'F' | 'N') {
                    options.set(option);
                }
                continue;
            }
            // The files of a list are described at once, with the options that precede it.
            let list = option.value.unwrap_or_default();
            let names = match crate::commands::operands::read(&ctx, &list).await? {
                Ok(names) => names,
                Err(reason) => {
                    let message = format!("file: Cannot open `{list}' ({reason})\n");
                    return Ok(ExecResult::err(message, 1));
                }
            };
            let names: Vec<String> = bashkit::text_of(&names).lines().map(str::to_string).collect();
            describe_all(&ctx, &options, &names, &mut report).await?;
            listed = true;
        }
        if files.is_empty() && !listed {
            return Ok(ExecResult::err(USAGE, 1));
        }
        describe_all(&ctx, &options, &files, &mut report).await?;
        Ok(ExecResult { exit_code: report.status, ..ExecResult::ok(report.output) })
    }
}

/// Returns the first option that `file` has and this command does not support.
fn not_available(args: &[String]) -> Option<&str> {
    let long = ["--apple", "--extension", "--exclude", "--exclude-quiet", "--keep-going"];
    args.iter().map(String::as_str).take_while(|arg| *arg != "--").find(|arg| {
        let missing = |c: char| NOT_AVAILABLE.contains(c);
        match arg.strip_prefix('-') {
            Some(name) if name.starts_with('-') => long.contains(arg),
            // The value of -F or -f may contain any letters.
            Some(letters) => {
                let before_value = letters.split(['F', 'f']).next().unwrap_or_default();
                before_value.contains(missing)
            }
            None => false,
        }
    })
}

async fn describe_all(ctx: &Context<'_>, options: &Options, files: &[String], report: &mut Report) -> Result<()> {
    // The answers are aligned.
    let widths = files.iter().map(|file| options.printable(file).chars().count());
    let width = widths.clone().max().unwrap_or(0);
    for (file, own) in files.iter().zip(widths) {
        // A name without width is not printed.
        if !options.brief && width > 0 {
            let name = if file == "-" { "/dev/stdin" } else { file };
            let pad = if options.pad { width - own } else { 0 };
            let (name, separator) = (options.printable(name), &options.separator);
            report.output.push_str(&format!("{name}{separator}{:pad$} ", ""));
        }
        let answer = describe(ctx, options, file, report).await?;
        report.output.push_str(&answer);
        report.output.push('\n');
    }
    Ok(())
}

/// Returns the line about one file.
async fn describe(ctx: &Context<'_>, options: &Options, file: &str, report: &mut Report) -> Result<String> {
    if file == "-" {
        let content = ctx.stdin_to_end().await?;
        let mut content = recognize(content.as_bytes());
        if content.mime == "inode/x-empty" {
            // Standard input has no inode that could be empty.
            content.mime = "application/x-empty";
        }
        return Ok(options.select(&content));
    }
    let path = resolve_path(ctx.cwd, file);
    let found = match options.follow {
        true => ctx.fs.stat(&path).await,
        false => ctx.fs.lstat(&path).await,
    };
    let missing = match (&found, file) {
        // An empty name would mean the working directory.
        (_, "") => Some("No such file or directory".to_string()),
        (Err(error), _) => Some(bashkit::error::io_error_reason(error)),
        (Ok(_), _) => None,
    };
    let (Ok(meta), None) = (found, &missing) else {
        let reason = missing.unwrap_or_default();
        let name = options.printable(file);
        if options.fail {
            report.status = 1;
            return Ok(format!("ERROR: cannot stat `{name}' ({reason})"));
        }
        return Ok(format!("cannot open `{name}' ({reason})"));
    };
    let special = |description: String, mime| ContentType::new(description, mime, "binary");
    let content = match meta.file_type {
        FileType::Directory => {
            let sticky = if meta.mode & 0o1000 != 0 { "sticky, " } else { "" };
            special(format!("{sticky}directory"), "inode/directory")
        }
        FileType::Fifo => special("fifo (named pipe)".to_string(), "inode/fifo"),
        FileType::Symlink => return symbolic_link(ctx, options, &path).await,
        FileType::File if meta.mode & 0o400 == 0 => return Ok(unreadable(&meta)),
        FileType::File => recognize(&ctx.fs.read_file(&path).await?),
    };
    Ok(options.select(&content))
}

/// Describes a file that its owner may not read.
fn unreadable(meta: &Metadata) -> String {
    let mut description = String::new();
    for (bit, word) in [(0o200, "writable, "), (0o100, "executable, ")] {
        if meta.mode & bit != 0 {
            description.push_str(word);
        }
    }
    description + "regular file, no read permission"
}

async fn symbolic_link(ctx: &Context<'_>, options: &Options, path: &std::path::Path) -> Result<String> {
    let target = ctx.fs.read_link(path).await?;
    let broken = ctx.fs.stat(path).await.is_err();
    if broken && options.mime_type {
        // As in `file`, without the character set.
        return Ok("inode/symlink".to_string());
    }
    let state = if broken { "broken " } else { "" };
    let description = format!("{state}symbolic link to {}", target.display());
    let link = ContentType::new(description, "inode/symlink", "binary");
    Ok(options.select(&link))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::{call, home_directory};
    use bashkit::fs::FileSystem;

    #[tokio::test]
    async fn test_file_regular() {
        let (fs, cwd) = home_directory().await;

        fs.write_file(&cwd.join("test.txt"), b"Hello, world!").await.unwrap();

        let result = call(&File, fs.clone(), &cwd, &["test.txt"]).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("test.txt:"));
        assert!(result.stdout.contains("ASCII text"));
    }

    #[tokio::test]
    async fn test_file_directory() {
        let (fs, cwd) = home_directory().await;

        fs.mkdir(&cwd.join("testdir"), false).await.unwrap();

        let result = call(&File, fs.clone(), &cwd, &["testdir"]).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("directory"));
    }

    #[tokio::test]
    async fn test_file_empty() {
        let (fs, cwd) = home_directory().await;

        fs.write_file(&cwd.join("empty.txt"), b"").await.unwrap();

        let result = call(&File, fs.clone(), &cwd, &["empty.txt"]).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("empty"));
    }

    #[tokio::test]
    async fn test_file_json() {
        let (fs, cwd) = home_directory().await;

        fs.write_file(&cwd.join("data.json"), b"{\"key\": \"value\"}").await.unwrap();

        let result = call(&File, fs.clone(), &cwd, &["data.json"]).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("JSON"));
    }

    #[tokio::test]
    async fn test_file_script() {
        let (fs, cwd) = home_directory().await;

        fs.write_file(&cwd.join("script.sh"), b"#!/bin/bash\necho hello").await.unwrap();

        let result = call(&File, fs.clone(), &cwd, &["script.sh"]).await;
        assert_eq!(result.exit_code, 0);
        assert!(result.stdout.contains("shell script") || result.stdout.contains("Bourne"));
    }

    #[tokio::test]
    async fn test_file_nonexistent() {
        let (fs, cwd) = home_directory().await;
        let result = call(&File, fs.clone(), &cwd, &["nonexistent"]).await;
        assert_eq!(result.exit_code, 0); // file command continues with other files
        assert!(result.stdout.contains("No such file or directory"));
    }

    #[tokio::test]
    async fn test_file_missing_operand() {
        let (fs, cwd) = home_directory().await;
        let result = call(&File, fs.clone(), &cwd, &[]).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.starts_with("Usage: file"));
    }

    // ==================== content type tests ====================

    #[test]
    fn test_recognize_empty() {
        assert_eq!(recognize(b"").description, "empty");
    }

    #[test]
    fn test_recognize_json() {
        assert!(recognize(b"{\"key\": \"value\"}").description.contains("JSON"));
        assert!(recognize(b"[1, 2, 3]").description.contains("JSON"));
    }

    #[test]
    fn test_recognize_text() {
        assert!(recognize(b"Hello, world!").description.contains("ASCII"));
    }

    #[test]
    fn test_recognize_gzip() {
        assert!(recognize(b"\x1f\x8b\x08\x00").description.contains("gzip"));
    }

    #[test]
    fn test_recognize_png() {
        assert!(recognize(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR").description.contains("PNG"));
    }
}
