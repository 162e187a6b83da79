//! `split`: cuts a file into pieces.
//!
//! Pieces are of lines (`-l`), bytes (`-b`), whole lines up to some bytes (`-C`) or a number of pieces (`-n`, also `l/N`, `r/N`
//! and `K/N`); names have suffixes of letters or digits that grow longer when they run out, as GNU's do.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod filter;
mod options;
mod pieces;

use std::path::PathBuf;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, ExecutionPlan, check_help_version, place, resolve_path};
use bashkit::{ExecResult, Result};

use self::filter::FilterRun;
use self::options::{Pieces, SplitOptions, failure, parse_args};
use crate::commands::files::{quote, quote_if_needed};

/// Command `split` of the shell.
pub(crate) struct Split;

const HELP: &str = "Usage: split [OPTION]... [FILE [PREFIX]]\nSplit a file into pieces.\n\n  -a, --suffix-length=N\tgenerate suffixes of length N (default 2)\n  --additional-suffix=SUFFIX\tappend an additional SUFFIX to file names\n  -b, --bytes=SIZE\tput SIZE bytes per output file\n  -C, --line-bytes=SIZE\tput at most SIZE bytes of records per output file\n  -d, --numeric-suffixes[=FROM]\tuse numeric suffixes instead of alphabetic\n  -x, --hex-suffixes[=FROM]\tuse hexadecimal suffixes\n  -e, --elide-empty-files\tdo not generate empty output files with '-n'\n  --filter=COMMAND\twrite to shell COMMAND; file name is $FILE\n  -l, --lines=NUMBER\tput NUMBER lines per output file (default 1000)\n  -n, --number=CHUNKS\tgenerate CHUNKS output files\n  -t, --separator=SEP\tuse SEP instead of newline as the record separator\n  --verbose\tprint a diagnostic before each output file is opened\n";

/// Most files that one call writes.
const MOST_FILES: usize = 100_000;

/// Pieces that are to be written.
struct SplitWork {
    options: SplitOptions,
    prefix: String,
    data: Vec<u8>,
    /// File that is split, which no piece may replace.
    input: Option<PathBuf>,
}

impl SplitWork {
    /// Reads the command line and the input. The error is the result of a call that cannot go on.
    async fn prepare(ctx: &Context<'_>) -> Result<std::result::Result<Self, ExecResult>> {
        let (options, operands) = match parse_args(ctx.args) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let file = operands.first().map_or("-", String::as_str);
        let prefix = operands.get(1).map_or("x", String::as_str).to_owned();
        let data = match crate::commands::operands::read(ctx, file).await? {
            Ok(data) => data,
            Err(reason) if reason == "Is a directory" => {
                // For a number of pieces the size comes first.
                let reason = match options.pieces {
                    Pieces::Chunks(..) => format!("cannot determine file size: {reason}"),
                    _ => reason,
                };
                return Ok(Err(failure(format!("{}: {reason}", quote_if_needed(file)))));
            }
            Err(reason) => return Ok(Err(failure(format!("cannot open {} for reading: {reason}", quote(file))))),
        };
        if let Pieces::Chunks(_, _, count) = options.pieces
            && count > MOST_FILES
        {
            return Ok(Err(failure(format!("more than {MOST_FILES} files are not written"))));
        }
        let input = match file {
            "-" => None,
            file => Some(place(ctx.fs.as_ref(), &resolve_path(ctx.cwd, file), true).await),
        };
        Ok(Ok(Self { options, prefix, data, input }))
    }

    /// Returns the name of a piece, or nothing if the suffixes are exhausted.
    fn name(&self, index: usize) -> Option<String> {
        let suffix = self.options.suffix(index).filter(|_| index < MOST_FILES)?;
        Some(format!("{}{suffix}{}", self.prefix, self.options.additional))
    }

    /// Writes the pieces into files.
    async fn write_files(&self, ctx: &Context<'_>) -> Result<ExecResult> {
        let pieces = self.options.cut(&self.data);
        if let Pieces::Chunks(_, Some(only), _) = self.options.pieces {
            return Ok(ExecResult::ok_bytes(pieces[only - 1].to_vec()));
        }
        let mut report = String::new();
        let stop = |message: String, report: String| {
            let mut result = failure(message);
            result.stdout = report.into();
            Ok(result)
        };
        for (index, piece) in pieces.iter().filter(|piece| !(self.options.elide && piece.is_empty())).enumerate() {
            let Some(name) = self.name(index) else {
                return stop("output file suffixes exhausted".into(), report);
            };
            if self.options.verbose {
                report.push_str(&format!("creating file '{name}'\n"));
            }
            let path = resolve_path(ctx.cwd, &name);
            if Some(place(ctx.fs.as_ref(), &path, true).await) == self.input {
                return stop(format!("'{name}' would overwrite input; aborting"), report);
            }
            if let Err(error) = ctx.fs.write_file(&path, piece).await {
                let reason = bashkit::error::io_error_reason(&error);
                return Ok(failure(format!("{}: {reason}", quote_if_needed(&name))));
            }
        }
        Ok(ExecResult::ok(report))
    }
}

#[async_trait]
impl Builtin for Split {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("split (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        match SplitWork::prepare(&ctx).await? {
            Ok(work) => work.write_files(&ctx).await,
            Err(refusal) => Ok(refusal),
        }
    }

    async fn execution_plan(&self, ctx: &Context<'_>) -> Result<Option<ExecutionPlan>> {
        let has_filter = |(options, _): &(SplitOptions, Vec<String>)| options.filter.is_some();
        if check_help_version(ctx.args, "", Some("")).is_some() || !parse_args(ctx.args).as_ref().is_ok_and(has_filter)
        {
            return Ok(None);
        }
        let run = match SplitWork::prepare(ctx).await? {
            Ok(work) => FilterRun::new(&work),
            Err(refusal) => FilterRun::refused(refusal),
        };
        Ok(Some(ExecutionPlan::Driver(Box::new(run))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::testing::run;
    use bashkit::fs::{FileSystem, InMemoryFs};
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    async fn run_split(args: &[&str], stdin: Option<&str>, fs: Arc<dyn FileSystem>) -> ExecResult {
        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let env = HashMap::new();
        let mut variables = HashMap::new();
        let mut cwd = PathBuf::from("/");
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };
        Split.execute(ctx).await.expect("split failed")
    }

    #[tokio::test]
    async fn test_split_by_lines() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "line1\nline2\nline3\nline4\nline5\n";
        fs.write_file(Path::new("/input"), input.as_bytes()).await.unwrap();
        let result = run_split(&["-l", "2", "/input"], None, fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        // Should create xaa (2 lines), xab (2 lines), xac (1 line)
        assert!(fs.exists(Path::new("/xaa")).await.unwrap());
        assert!(fs.exists(Path::new("/xab")).await.unwrap());
        assert!(fs.exists(Path::new("/xac")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_numeric_suffix() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "a\nb\nc\n";
        let result = run_split(&["-l", "1", "-d"], Some(input), fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        assert!(fs.exists(Path::new("/x00")).await.unwrap());
        assert!(fs.exists(Path::new("/x01")).await.unwrap());
        assert!(fs.exists(Path::new("/x02")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_by_chunks() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "abcdef";
        let result = run_split(&["-n", "3"], Some(input), fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        assert!(fs.exists(Path::new("/xaa")).await.unwrap());
        assert!(fs.exists(Path::new("/xab")).await.unwrap());
        assert!(fs.exists(Path::new("/xac")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_custom_prefix() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let input = "data\n";
        let result = run_split(&["-l", "1", "-", "out_"], Some(input), fs.clone()).await;
        assert_eq!(result.exit_code, 0);
        assert!(fs.exists(Path::new("/out_aa")).await.unwrap());
    }

    #[tokio::test]
    async fn test_split_missing_file() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["/nonexistent"], None, fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("cannot open"));
    }

    #[tokio::test]
    async fn test_split_unknown_option() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-Q"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_split_zero_chunks() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-n", "0"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
    }

    #[tokio::test]
    async fn test_split_zero_lines() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-l", "0"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid number of lines"));
    }

    #[tokio::test]
    async fn test_split_zero_bytes() {
        let fs = Arc::new(InMemoryFs::new()) as Arc<dyn FileSystem>;
        let result = run_split(&["-b", "0"], Some("data"), fs).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid number of bytes"));
    }

    #[test]
    fn test_suffixes_grow_when_they_run_out() {
        let options = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            parse_args(&words).map(|(options, _)| options).unwrap_or_else(|_| panic!("{words:?}"))
        };
        let letters = options(&[]);
        assert_eq!(letters.suffix(0).as_deref(), Some("aa"));
        assert_eq!(letters.suffix(26).as_deref(), Some("ba"));
        assert_eq!(letters.suffix(26 * 25).as_deref(), Some("zaaa"));
        assert_eq!(options(&["-d"]).suffix(90).as_deref(), Some("9000"));
        assert_eq!(options(&["-a1"]).suffix(26), None);
        assert_eq!(options(&["--numeric-suffixes=9"]).suffix(0).as_deref(), Some("09"));
    }

    #[tokio::test]
    async fn pieces_for_a_filter_are_its_input() {
        for (script, output, status) in [
            ("seq 5 | split -l 2 --filter='wc -l'", "2\n2\n1\n", 0),
            ("seq 3 | split -l 2 --filter='tr 1-3 a-c; echo $FILE' - p.", "a\nb\np.aa\nc\np.ab\n", 0),
            ("seq 5 > f; split -n 2 --filter='wc -c' f", "5\n5\n", 0),
            ("seq 5 | split -l 4 --filter='cat >$FILE.z'; cat xaa.z xab.z", "1\n2\n3\n4\n5\n", 0),
            ("seq 5 | split -l 2 --filter='cat; exit 3'", "1\n2\n", 3),
            (
                "seq 2 | split --verbose -l 1 --filter=cat",
                "executing with FILE=xaa\n1\nexecuting with FILE=xab\n2\n",
                0,
            ),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}");
        }
        let result = run("seq 5 | split -l 2 --filter='exit 3'").await;
        assert_eq!(&*result.stderr, "split: with FILE=xaa, exit 3 from command: exit 3\n");
    }
}
