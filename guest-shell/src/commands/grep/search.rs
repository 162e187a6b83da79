//! Search of the operands of `grep`, and its exit status.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::{Path, PathBuf};

use bashkit::builtins::{Context, InputChunks, StdoutStream, cap_diagnostic, cut_records};
use bashkit::fs::vfs_join;
use bashkit::{ExecResult, PlacedMessages, Result, WrittenPart};

use super::color::Colors;
use super::file_filter::is_operand_searched;
use super::line::{LineMatcher, LinePrinter};
use super::options::{Directories, GrepOptions};
use super::scan::FileScan;

/// Bytes of a message about one file; names in it may be as long as a path.
const MESSAGE_LIMIT: usize = 1024;

/// Status of a command that wrote to a pipe without a reader.
const BROKEN_PIPE: i32 = 141;

/// Returns the path that an operand names. Links in it are the file system's to follow, so `..` stays.
pub(super) fn path_of(directory: &Path, operand: &str) -> PathBuf {
    if operand.starts_with('/') { PathBuf::from(operand) } else { vfs_join(directory, operand) }
}

/// Input of a search, with its name in the output.
struct Input<'a> {
    name: &'a str,
    chunks: InputChunks<'a>,
    has_nul: bool,
    /// Bytes of a file; `None` for standard input.
    size: Option<u64>,
}

/// State of one run of `grep` over all of its operands.
pub(super) struct Search<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) options: &'a GrepOptions,
    matcher: &'a LineMatcher,
    printer: LinePrinter<'a>,
    /// The next command of a pipeline, if lines go there as they are found.
    stream: Option<StdoutStream>,
    /// Standard error of a command whose output is a stream.
    error_stream: Option<StdoutStream>,
    is_reader_gone: bool,
    /// Messages since the last flush of the output, or all of them if it is not a stream.
    errors: PlacedMessages,
    read_failed: bool,
    has_selected: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        ctx: &'a Context<'a>,
        options: &'a GrepOptions,
        matcher: &'a LineMatcher,
        warnings: String,
    ) -> Self {
        let colors = options.color.then(|| Colors::new(ctx.env.get("GREP_COLORS").map(String::as_str)));
        let mut errors = PlacedMessages::new();
        errors.push(&warnings, 0);
        // `loop | grep y | head -1` has to end. What other options print is complete at the end of a file only.
        let is_streamed = !options.is_recursive()
            && !options.prints_no_lines()
            && !options.byte_offset
            && !options.context.is_requested();
        Search {
            ctx,
            options,
            matcher,
            printer: LinePrinter::new(options, matcher, colors),
            stream: if is_streamed { ctx.stdout_stream() } else { None },
            is_reader_gone: false,
            error_stream: ctx.stderr_stream(),
            errors,
            read_failed: false,
            has_selected: false,
        }
    }

    /// Searches the operands of the call. Without any, that is standard input, or the working directory under `-r`.
    pub(super) async fn run(mut self) -> Result<ExecResult> {
        let options = self.options;
        if options.files.is_empty() {
            self.search_operand(if options.is_recursive() { "." } else { "-" }, false).await?;
        }
        for operand in &options.files {
            self.search_operand(operand, options.files.len() > 1).await?;
            if self.is_ended() {
                break;
            }
        }
        Ok(self.result())
    }

    /// Returns true if nothing more is to be searched.
    fn is_ended(&self) -> bool {
        self.is_reader_gone || self.matcher.given_up().is_some() || self.is_quiet_end()
    }

    /// Returns true if a line was selected whose file alone decides the status (`-q`).
    pub(super) fn is_quiet_end(&self) -> bool {
        self.options.quiet && self.has_selected
    }

    async fn search_operand(&mut self, operand: &str, has_others: bool) -> Result<()> {
        let options = self.options;
        if operand.is_empty() {
            // As a path it would be the working directory.
            self.fail(operand, "No such file or directory");
            return Ok(());
        }
        self.printer.with_filename = options.with_filename.unwrap_or(has_others);
        if operand == "-" {
            return self.search_standard_input().await;
        }
        let path = path_of(self.ctx.cwd, operand);
        let found = self.ctx.fs.stat(&path).await.ok();
        let is_directory = found.as_ref().is_some_and(|found| found.file_type.is_dir());
        let is_implicit = options.files.is_empty();
        if found.is_some() && !is_implicit && !is_operand_searched(options, operand, is_directory) {
            return Ok(());
        }
        match options.directories {
            _ if !is_directory => self.search_file(operand, &path).await,
            Directories::Skip => Ok(()),
            Directories::Read => {
                self.fail(operand, "Is a directory");
                // Nothing in it is selected, which `-c` and `-L` print.
                FileScan::new(operand, options, self.matcher).finish(&mut self.printer, &mut self.errors);
                Ok(())
            }
            Directories::Recurse => {
                self.printer.with_filename = options.with_filename.unwrap_or(true);
                // Names below the implicit operand have no `./`.
                self.search_tree(if is_implicit { "" } else { operand }, &path).await
            }
        }
    }

    async fn search_standard_input(&mut self) -> Result<()> {
        let name = self.options.label.as_deref().unwrap_or("(standard input)");
        let chunks = InputChunks::stdin(self.ctx)?;
        self.scan(Input { name, chunks, has_nul: false, size: None }).await
    }

    /// Searches the contents of a file. It is charged to the script before it is read, and again for what it has grown by then.
    pub(super) async fn search_file(&mut self, name: &str, path: &Path) -> Result<()> {
        if self.matcher.given_up().is_some() {
            return Ok(());
        }
        let ctx = self.ctx;
        ctx.consume_budget_work(1)?;
        let size = match ctx.fs.stat(path).await {
            Ok(found) => usize::try_from(found.size).unwrap_or(usize::MAX),
            Err(error) => {
                self.read_error(name, &error);
                return Ok(());
            }
        };
        ctx.consume_budget_input(size)?;
        let _lease = ctx.lease_budget_bytes(size)?;
        let bytes = match ctx.fs.read_file(path).await {
            Ok(bytes) => bytes,
            Err(error) => {
                self.read_error(name, &error);
                return Ok(());
            }
        };
        ctx.consume_budget_input(bytes.len().saturating_sub(size))?;
        let _growth_lease = ctx.lease_budget_bytes(bytes.capacity().saturating_sub(size))?;
        let (has_nul, size) = (bytes.contains(&0), Some(bytes.len() as u64));
        self.scan(Input { name, chunks: InputChunks::bytes(ctx, bytes)?, has_nul, size }).await
    }

    async fn scan(&mut self, mut input: Input<'_>) -> Result<()> {
        let mut scan = FileScan::new(input.name, self.options, self.matcher);
        if self.options.initial_tab {
            scan.align_numbers(input.size);
        }
        if input.has_nul {
            scan.set_binary();
        }
        let line_end = if self.options.null_data { b'\0' } else { b'\n' };
        let is_seekable = input.chunks.is_seekable();
        let mut unused: Option<Vec<u8>> = None;
        while !scan.is_done() {
            let Some(chunk) = input.chunks.next(cut_records(line_end)).await? else {
                break;
            };
            self.ctx.consume_budget_work(1)?;
            if let Some(unused) = &mut unused {
                unused.extend_from_slice(&chunk);
            }
            let rest = feed_chunk(&mut scan, &chunk, line_end, &mut self.printer);
            if is_seekable && unused.is_none() {
                unused = rest.map(<[u8]>::to_vec);
            }
            if !self.flush().await? {
                return Ok(());
            }
        }
        if scan.is_limit_reached() && is_seekable {
            input.chunks.put_back(&unused.unwrap_or_default());
        }
        match self.matcher.given_up() {
            Some(reason) => {
                let message = format!("grep: {}: {reason}\n", input.name);
                self.errors.push(&message, self.printer.output.len());
            }
            None => {
                self.has_selected |= scan.selected_lines() > 0;
                scan.finish(&mut self.printer, &mut self.errors);
            }
        }
        self.flush().await?;
        Ok(())
    }

    /// Passes lines on that were found, and returns false if nobody reads them.
    async fn flush(&mut self) -> Result<bool> {
        let Some(stream) = &self.stream else { return Ok(true) };
        let (output, errors) = (std::mem::take(&mut self.printer.output), std::mem::take(&mut self.errors));
        let mut kept = PlacedMessages::new();
        for part in errors.parts(&output) {
            match (part, &self.error_stream) {
                (WrittenPart::Output(lines), _) => self.is_reader_gone |= !stream.write(lines).await?,
                (WrittenPart::Messages(text), Some(stream)) => {
                    stream.write(text).await?;
                }
                (WrittenPart::Messages(text), None) => kept.push(&bashkit::text_of(text), 0),
            }
        }
        self.errors = kept;
        Ok(!self.is_reader_gone)
    }

    /// Notes that a file cannot be read, which is the status even where its message is suppressed.
    pub(super) fn read_error(&mut self, name: &str, error: &bashkit::Error) {
        self.fail(name, &bashkit::error::io_error_reason(error));
    }

    fn fail(&mut self, name: &str, reason: &str) {
        self.read_failed = true;
        self.warn(name, reason);
    }

    /// Writes a message about a file, unless messages are suppressed.
    pub(super) fn warn(&mut self, name: &str, message: &str) {
        if !self.options.suppress_errors {
            let message = cap_diagnostic(format!("grep: {name}: {message}\n"), MESSAGE_LIMIT);
            self.errors.push(&message, self.printer.output.len());
        }
    }

    fn result(self) -> ExecResult {
        if self.is_reader_gone {
            return ExecResult { stderr: self.errors.into(), ..ExecResult::with_code(String::new(), BROKEN_PIPE) };
        }
        let quiet = self.options.quiet;
        let status = match self.matcher.given_up() {
            Some(_) => 2,
            // Such a run ends before it comes to operands that it could not read.
            None if quiet && self.has_selected => 0,
            None if self.read_failed => 2,
            None => i32::from(!self.has_selected),
        };
        let output = if quiet { Vec::new() } else { self.printer.output };
        ExecResult { stderr: self.errors.into(), ..ExecResult::with_code(output, status) }
    }
}

/// Searches the lines of a chunk. Returns what is behind the line that reached the limit of `-m`: that is the next
/// command's to read.
fn feed_chunk<'c>(
    scan: &mut FileScan<'_>,
    chunk: &'c [u8],
    line_end: u8,
    printer: &mut LinePrinter<'_>,
) -> Option<&'c [u8]> {
    if !scan.is_binary() && chunk.contains(&0) {
        scan.set_binary();
    }
    let mut rest = None;
    let mut used = 0;
    for line in chunk.split_inclusive(|&byte| byte == line_end) {
        if scan.is_limit_reached() && rest.is_none() {
            rest = Some(&chunk[used..]);
        }
        if scan.is_done() {
            break;
        }
        used += line.len();
        scan.feed(line.strip_suffix(&[line_end]).unwrap_or(line), printer);
    }
    rest
}
