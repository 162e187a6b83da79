//! Files and directories that are compared, and what is told of them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use bashkit::Result;
use bashkit::builtins::ls::glob::fnmatch;
use bashkit::builtins::{Context, resolve_path};
use bashkit::time_compat::{now_utc, to_chrono_utc};

use super::comparison::{ComparedFile, Comparison, quoted_name};
use super::options::{DiffOptions, DiffStyle};
use super::{formats, hunks, is_directory, scripts, side_by_side};
use crate::commands::date::Date;
use crate::commands::operands;

/// Output, messages and status of a call.
#[derive(Default)]
pub(super) struct DiffReport {
    pub(super) output: Vec<u8>,
    pub(super) errors: String,
    pub(super) status: i32,
}

impl DiffReport {
    fn say(&mut self, line: &str) {
        self.output.extend_from_slice(line.as_bytes());
    }

    /// Says that two names are not the same.
    fn say_difference(&mut self, line: &str) {
        self.say(line);
        self.status = self.status.max(1);
    }

    /// Prints a diff, behind a line with the names if the files were found in directories.
    fn print_listed(&mut self, comparison: &Comparison<'_>, listed: bool) {
        if listed {
            let [one, other] = comparison.files.map(|file| quoted_name(&file.name));
            self.say(&format!("diff{} {one} {other}\n", comparison.options.words));
        }
        self.print(comparison);
    }

    fn print(&mut self, comparison: &Comparison<'_>) {
        match comparison.options.style {
            DiffStyle::Normal => scripts::normal(comparison, &mut self.output),
            DiffStyle::Unified(lines) => hunks::unified(comparison, lines, &mut self.output),
            DiffStyle::Context(lines) => hunks::context(comparison, lines, &mut self.output),
            DiffStyle::Ed => scripts::ed(comparison, &mut self.output, &mut self.errors),
            DiffStyle::ForwardEd => scripts::forward_ed(comparison, &mut self.output),
            DiffStyle::Rcs => scripts::rcs(comparison, &mut self.output),
            DiffStyle::SideBySide => side_by_side::side_by_side(comparison, &mut self.output),
            DiffStyle::Formatted => formats::formatted(comparison, &mut self.output),
        }
    }
}

/// Compares two files; `listed` if they were found in directories.
pub(super) async fn compare_files(
    ctx: &Context<'_>,
    options: &DiffOptions,
    names: [&str; 2],
    listed: bool,
    report: &mut DiffReport,
) -> Result<()> {
    if let Some([one, other]) = read_both(ctx, options, names, report).await? {
        compare(options, &one, &other, listed, report);
    }
    Ok(())
}

/// Reads both files, or tells why one cannot be read. With `-N`, one of them may be missing.
async fn read_both(
    ctx: &Context<'_>,
    options: &DiffOptions,
    names: [&str; 2],
    report: &mut DiffReport,
) -> Result<Option<[ComparedFile; 2]>> {
    let strip = options.strip_trailing_cr;
    let results = [read_file(ctx, names[0], strip).await?, read_file(ctx, names[1], strip).await?];
    let is_missing = |result: &std::result::Result<ComparedFile, String>| {
        result.as_ref().is_err_and(|reason| reason.starts_with("No such file"))
    };
    let may_be_missing = options.new_file && !results.iter().all(is_missing);
    let mut files = Vec::with_capacity(2);
    for (result, name) in results.into_iter().zip(names) {
        let is_missing = is_missing(&result);
        match result {
            Ok(file) => files.push(file),
            Err(_) if may_be_missing && is_missing => files.push(ComparedFile::absent(name)),
            Err(reason) => {
                report.errors += &format!("diff: {name}: {reason}\n");
                report.status = 2;
            }
        }
    }
    Ok(files.try_into().ok())
}

/// Reads a file, with its time for the title. With `strip_trailing_cr`, lines lose the carriage return before their end.
async fn read_file(
    ctx: &Context<'_>,
    name: &str,
    strip_trailing_cr: bool,
) -> Result<std::result::Result<ComparedFile, String>> {
    let mut data = match operands::read(ctx, name).await? {
        Ok(data) => data,
        Err(reason) => return Ok(Err(reason)),
    };
    if strip_trailing_cr {
        data = without_carriage_returns(&data);
    }
    let modified = match ctx.fs.stat(&resolve_path(ctx.cwd, name)).await {
        Ok(status) if name != "-" => to_chrono_utc(status.modified),
        _ => now_utc(),
    };
    let nanos = modified.timestamp_nanos_opt().unwrap_or(0).into();
    let time = Date::strftime_nanos(ctx.env.get("TZ"), nanos, "%Y-%m-%d %H:%M:%S.%N %z");
    let title = format!("{}\t{}", quoted_name(name), time.unwrap_or_default());
    Ok(Ok(ComparedFile { name: name.to_owned(), data, title }))
}

/// Returns a text whose lines have no carriage return at their end.
fn without_carriage_returns(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let stripped = lines.map(|line| match line.strip_suffix(b"\r\n") {
        Some(body) => [body, b"\n"].concat(),
        None => line.to_vec(),
    });
    stripped.flatten().collect()
}

fn compare(options: &DiffOptions, one: &ComparedFile, other: &ComparedFile, listed: bool, report: &mut DiffReport) {
    let is_binary = !options.text && (one.is_binary() || other.is_binary());
    let is_same = one.data == other.data;
    let shows_common_lines = options.shows_common_lines();
    let needs_lines = !is_binary && (!is_same || shows_common_lines);
    let comparison = needs_lines.then(|| Comparison::new(options, one, other));
    if is_same || comparison.as_ref().is_some_and(|comparison| !comparison.differs()) {
        if let Some(comparison) = comparison.filter(|_| shows_common_lines) {
            report.print_listed(&comparison, listed);
        }
        if options.report_identical {
            report.say(&format!("Files {} and {} are identical\n", one.name, other.name));
        }
        return;
    }
    if options.brief {
        report.say_difference(&format!("Files {} and {} differ\n", one.name, other.name));
        return;
    }
    let Some(comparison) = comparison else {
        report.say_difference(&format!("Binary files {} and {} differ\n", one.name, other.name));
        return;
    };
    report.print_listed(&comparison, listed);
    report.status = report.status.max(1);
    if options.style == DiffStyle::Ed && !report.errors.is_empty() {
        report.status = 2;
    }
}

/// Compares the files in two directories, and with `-r` those below them, in the order of the names.
pub(super) fn compare_directories<'c>(
    ctx: &'c Context<'_>,
    options: &'c DiffOptions,
    directories: [String; 2],
    report: &'c mut DiffReport,
) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'c>> {
    Box::pin(async move {
        for (name, kinds) in list_both(ctx, &directories).await {
            ctx.consume_budget_work(1)?;
            if options.exclude.iter().any(|pattern| fnmatch(&name, pattern, false)) {
                continue;
            }
            let paths = [0, 1].map(|side: usize| format!("{}/{name}", directories[side].trim_end_matches('/')));
            match kinds {
                [Some(true), Some(true)] if options.recursive => {
                    compare_directories(ctx, options, paths, report).await?;
                }
                [Some(true), Some(true)] => {
                    report.say(&format!("Common subdirectories: {} and {}\n", paths[0], paths[1]));
                }
                [Some(one), Some(other)] if one != other => {
                    let kinds =
                        [one, other].map(|is_directory| if is_directory { "directory" } else { "regular file" });
                    report.say_difference(&format!(
                        "File {} is a {} while file {} is a {}\n",
                        paths[0], kinds[0], paths[1], kinds[1]
                    ));
                }
                [Some(true), None] | [None, Some(true)] if options.new_file && options.recursive => {
                    compare_directories(ctx, options, paths, report).await?;
                }
                [None, Some(_)] | [Some(_), None] if !options.new_file => {
                    let directory = &directories[usize::from(kinds[0].is_none())];
                    report.say_difference(&format!("Only in {directory}: {name}\n"));
                }
                _ => compare_files(ctx, options, [&paths[0], &paths[1]], true, report).await?,
            }
        }
        Ok(())
    })
}

/// Returns the names in two directories, and for each directory whether the name is one of a directory.
async fn list_both(ctx: &Context<'_>, directories: &[String; 2]) -> BTreeMap<String, [Option<bool>; 2]> {
    let mut entries: BTreeMap<String, [Option<bool>; 2]> = BTreeMap::new();
    for (side, directory) in directories.iter().enumerate() {
        for entry in ctx.fs.read_dir(&resolve_path(ctx.cwd, directory)).await.unwrap_or_default() {
            let kind = entry.metadata.file_type;
            let path = format!("{directory}/{}", entry.name);
            let is_directory = kind.is_dir() || kind.is_symlink() && is_directory(ctx, &path).await;
            entries.entry(entry.name).or_default()[side] = Some(is_directory);
        }
    }
    entries
}
