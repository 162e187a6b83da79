//! `diff`: compares files line by line, as GNU's does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line, and lines as they are compared |
//! | [`report`] | files and directories that are compared |
//! | [`comparison`] | two files and their changes |
//! | [`script`] | a shortest script of changes |
//! | [`scripts`] | normal diffs, scripts of ed, and RCS's |
//! | [`hunks`] | unified and context diffs |
//! | [`diff3`] | the command that compares and merges three files |
//! | [`side_by_side`], [`sdiff`] | two columns, and the command that shows them |
//! | [`formats`], [`color`] | formats of lines and groups, and colours |
//!
//! What is ignored (`-i`, `-w`, `-b`, …) decides which lines are equal; the lines are printed as they are.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod color;
mod comparison;
mod diff3;
mod formats;
mod hunks;
mod options;
mod report;
mod script;
mod scripts;
mod sdiff;
mod side_by_side;
#[cfg(test)]
mod tests;

use std::path::Path;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::{ExecResult, Result, text_of};

pub(crate) use self::diff3::Diff3;
use self::options::DiffOptions;
use self::report::{DiffReport, compare_directories, compare_files};
pub(crate) use self::sdiff::Sdiff;

const HELP: &str = "\
Usage: diff [OPTION]... FILES
Compare FILES line by line.

      --normal\toutput a normal diff (the default)
  -q, --brief\treport only when files differ
  -s, --report-identical-files\treport when two files are the same
  -c, -C NUM, --context[=NUM]\toutput NUM (default 3) lines of copied context
  -u, -U NUM, --unified[=NUM]\toutput NUM (default 3) lines of unified context
  -e, --ed\toutput an ed script
  -f, --forward-ed\toutput an ed script in the order of the lines
  -n, --rcs\toutput an RCS format diff
  -y, --side-by-side\toutput in two columns
  -W, --width=NUM\toutput at most NUM (default 130) print columns
      --left-column\toutput only the left column of common lines
      --suppress-common-lines\tdo not output common lines
      --label LABEL\tuse LABEL instead of file name and timestamp
  -r, --recursive\trecursively compare any subdirectories found
  -N, --new-file\ttreat absent files as empty
  -i, --ignore-case\tignore case differences in file contents
  -Z, --ignore-trailing-space\tignore white space at line end
  -b, --ignore-space-change\tignore changes in the amount of white space
  -w, --ignore-all-space\tignore all white space
  -B, --ignore-blank-lines\tignore changes where lines are all blank
      --strip-trailing-cr\tstrip trailing carriage return on input
  -a, --text\ttreat all files as text
  -I, --ignore-matching-lines=RE\tignore changes where all lines match RE
  -E, --ignore-tab-expansion\tignore changes due to tab expansion
  -x, --exclude=PAT, -X, --exclude-from=FILE\texclude files that match PAT, or a pattern in FILE
  -p, -F RE\tshow which C function, or the most recent line that matches RE, each change is in
  -t, --expand-tabs\texpand tabs to spaces in output
  -T, --initial-tab\tmake tabs line up by prepending a tab
      --LTYPE-line-format=LFMT, --GTYPE-group-format=GFMT, --line-format=LFMT
      --color[=WHEN]\tcolor output: never, always, or auto (which is never)
";

/// Command `diff` of the shell.
pub(crate) struct Diff;

#[async_trait]
impl Builtin for Diff {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("diff (GNU diffutils) 3.8")) {
            return Ok(result);
        }
        let (mut options, files) = match DiffOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        for list in std::mem::take(&mut options.exclude_files) {
            match crate::commands::operands::read(&ctx, &list).await? {
                Ok(text) => options.exclude.extend(text_of(&text).lines().map(str::to_owned)),
                Err(reason) => return Ok(ExecResult::err(format!("diff: {list}: {reason}\n"), 2)),
            }
        }
        let [one, other] = match files.as_slice() {
            [] => return Ok(trouble("missing operand after 'diff'")),
            [only] => return Ok(trouble(&format!("missing operand after '{only}'"))),
            [one, other] => [one, other],
            [_, _, extra, ..] => return Ok(trouble(&format!("extra operand '{extra}'"))),
        };
        let mut report = DiffReport::default();
        let directories = [is_directory(&ctx, one).await, is_directory(&ctx, other).await];
        let is_same = resolve_path(ctx.cwd, one) == resolve_path(ctx.cwd, other);
        if directories == [true, true] && is_same && !options.shows_common_lines() {
            // A directory is the same as itself, without a look at its files.
        } else if directories == [true, true] {
            compare_directories(&ctx, &options, [one.clone(), other.clone()], &mut report).await?;
        } else {
            // Of a directory, the file is meant that has the name of the other one.
            let (in_one, in_other) = (within(one, other), within(other, one));
            let names = match directories {
                [true, _] => [&in_one, other],
                [_, true] => [one, &in_other],
                _ => [one, other],
            };
            compare_files(&ctx, &options, names.map(String::as_str), false, &mut report).await?;
        }
        let mut result = ExecResult::ok_bytes(report.output);
        result.exit_code = report.status;
        result.stderr = report.errors.into();
        Ok(result)
    }
}

pub(super) async fn is_directory(ctx: &Context<'_>, name: &str) -> bool {
    !matches!(name, "" | "-")
        && ctx.fs.stat(&resolve_path(ctx.cwd, name)).await.is_ok_and(|status| status.file_type.is_dir())
}

/// Returns the path of the file in a directory that has the name of another file.
fn within(directory: &str, file: &str) -> String {
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// Returns the result of a wrong call.
fn trouble(message: &str) -> ExecResult {
    ExecResult::err(format!("diff: {message}\ndiff: Try 'diff --help' for more information.\n"), 2)
}

/// Appends a line behind a prefix, and what is told of one without an end.
fn put_line(output: &mut Vec<u8>, prefix: &str, line: &[u8]) {
    output.extend_from_slice(prefix.as_bytes());
    output.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        output.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}
