//! `jq`: reads JSON values, runs a filter on each, prints the results, as jq 1.8 does.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`run`] | inputs, results, messages, statuses |
//! | [`modules`], [`metadata`] | files that a program imports, and what `modulemeta` tells of them |
//! | [`lexer`], [`parser`], [`ast`] | parsing of programs into syntax trees |
//! | [`compiler`], [`term`] | resolution of names, and compiled programs |
//! | [`machine`] | backtracking virtual machine |
//! | [`library`] | built-in functions; `library.jq` contains those in jq's own language |
//! | [`collections`], [`texts`], [`mathematics`], [`calendar`], [`regular`], [`formats`] | built-in functions in Rust |
//! | [`value`], [`number`], [`paths`], [`operators`] | JSON values, and operations on them |
//! | [`reader`], [`literal`], [`writer`], [`utf8`] | JSON as text |
//! | [`failure`] | errors |
//!
//! **Invariant:** only this file depends on bashkit. All input is read before the filter runs: values cannot be
//! sent between threads, so none may be held across an `await`.

mod ast;
mod calendar;
mod collections;
mod compiler;
mod failure;
mod formats;
mod lexer;
mod library;
mod literal;
mod machine;
mod mathematics;
mod metadata;
mod modules;
mod number;
mod operators;
mod options;
mod parser;
mod paths;
mod reader;
mod regular;
mod run;
mod term;
mod texts;
mod utf8;
mod value;
mod writer;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use bashkit::{Builtin, BuiltinContext, ExecResult, FileSystem, PlacedMessages, Result, async_trait, vfs_join};

use metadata::ModuleMetadata;
use modules::{Files, Search, Source, load};
use options::{Ended, Given, Options};
use run::{Done, Job, run};

use crate::commands::operands::NO_SUCH_FILE;

/// Command `jq`, which runs queries on JSON.
pub(crate) struct Jq;

/// Name of standard input.
const STDIN: &str = "/dev/stdin";

/// Files that a script can read.
struct ScriptFiles {
    fs: Arc<dyn FileSystem>,
    directory: PathBuf,
}

impl Files for ScriptFiles {
    fn read<'a>(
        &'a self,
        path: &'a str,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<Vec<u8>, String>> + Send + 'a>> {
        Box::pin(async move {
            if path.is_empty() {
                return Err(NO_SUCH_FILE.to_owned());
            }
            let full = vfs_join(&self.directory, Path::new(path));
            match self.fs.read_file(&full).await {
                Ok(bytes) => Ok(bytes),
                Err(bashkit::Error::Io(error)) => Err(match error.kind() {
                    std::io::ErrorKind::NotFound => NO_SUCH_FILE.to_owned(),
                    std::io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
                    std::io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
                    _ => error.to_string(),
                }),
                Err(error) => Err(error.to_string()),
            }
        })
    }
}

/// Program, with the data that was read for it.
struct Prepared {
    source: Source,
    /// Contents of the files that `--slurpfile` and `--rawfile` name.
    files: HashMap<String, Vec<u8>>,
}

/// Converts text of the shell for jq: invalid UTF-8 becomes U+FFFD.
fn unicode(text: &str) -> String {
    utf8::text_of(&bashkit::bytes_of(text))
}

fn ended(error: String, status: i32) -> Ended {
    Ended { output: String::new(), error, status }
}

/// Reads the program, its modules, and the files for variables.
async fn prepare(options: &Options, files: &dyn Files, home: Option<&str>) -> std::result::Result<Prepared, Ended> {
    let mut named = HashMap::new();
    for (name, given) in &options.named {
        let (Given::Slurped(file) | Given::RawFile(file)) = given else { continue };
        let option = if matches!(given, Given::Slurped(_)) { "slurpfile" } else { "rawfile" };
        let bytes = files.read(file).await.map_err(|reason| {
            ended(format!("jq: Bad JSON in --{option} {name} {file}: Could not open {file}: {reason}\n"), 2)
        })?;
        named.insert(file.clone(), bytes);
    }
    let (text, origin) = match &options.filter_file {
        None => (options.filter.clone().unwrap_or_default(), None),
        Some(file) => {
            let bytes = files.read(file).await;
            let bytes = bytes.map_err(|reason| ended(format!("jq: Could not open {file}: {reason}\n"), 2))?;
            let origin = file.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned();
            (utf8::text_of(&bytes), Some(origin))
        }
    };
    let search = Search { files, directories: &options.directories, home };
    let loaded = load(&search, &text, origin).await;
    let source = loaded.map_err(|message| ended(format!("jq: error: {message}\njq: 1 compile error\n"), 3))?;
    Ok(Prepared { source, files: named })
}

/// Returns true if standard input is needed: with `-n`, only if the program asks for inputs.
fn needs_stdin(options: &Options, source: &Source) -> bool {
    let named = options.files.iter().any(|file| file == "-" || file == STDIN);
    (named || options.files.is_empty()) && (!options.null_input || source.reads_inputs())
}

/// Inputs with their names, and messages about those that cannot be read.
type Inputs = (Vec<(Option<String>, Vec<u8>)>, String);

/// Reads the inputs of the query.
async fn read_inputs(options: &Options, files: &dyn Files, stdin: &[u8]) -> Inputs {
    let (mut inputs, mut complaints) = (Vec::new(), String::new());
    if options.files.is_empty() {
        inputs.push((None, stdin.to_vec()));
    }
    for file in &options.files {
        if file == "-" || file == STDIN {
            inputs.push((None, stdin.to_vec()));
            continue;
        }
        match files.read(file).await {
            Ok(bytes) => inputs.push((Some(file.clone()), bytes)),
            Err(reason) => complaints.push_str(&format!("jq: error: Could not open file {file}: {reason}\n")),
        }
    }
    (inputs, complaints)
}

/// Returns the result of a call that ended before its filter ran.
fn result_of(ended: Ended) -> ExecResult {
    let mut result = ExecResult::with_code(ended.output, ended.status);
    result.stderr = ended.error.into();
    result
}

/// Returns the variables of the environment in the order of their names.
fn environment_of(context: &BuiltinContext<'_>) -> Vec<(String, String)> {
    let mut environment: Vec<_> = context.env.iter().map(|(name, value)| (name.clone(), unicode(value))).collect();
    environment.sort_unstable();
    environment
}

/// Largest number of modules whose metadata one call reads. The program runs again for each of them.
const MAX_DESCRIBED_MODULES: usize = 32;

/// Runs a program, again for each module whose metadata it asks for, since files cannot be read while it runs. `once`
/// runs it with the metadata that is known.
async fn run_with_metadata(search: &Search<'_>, mut once: impl FnMut(&ModuleMetadata) -> Done) -> Done {
    let mut known = ModuleMetadata::new();
    loop {
        let done = once(&known);
        let Some(name) = done.needed_module.clone() else { return done };
        let metadata = match known.len() < MAX_DESCRIBED_MODULES {
            true => metadata::read(search, &name).await,
            false => {
                return Done {
                    error: format!("jq: error: modulemeta of more than {MAX_DESCRIBED_MODULES} modules\n"),
                    status: 5,
                    ..Done::default()
                };
            }
        };
        known.insert(name, metadata);
    }
}

#[async_trait]
impl Builtin for Jq {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        let words: Vec<String> = context.args.iter().map(|word| unicode(word)).collect();
        let options = match options::parse(&words) {
            Ok(options) => options,
            Err(ended) => return Ok(result_of(ended)),
        };
        let files = ScriptFiles { fs: Arc::clone(&context.fs), directory: context.cwd.clone() };
        let home = context.env.get("HOME").map(|home| unicode(home));
        let prepared = match prepare(&options, &files, home.as_deref()).await {
            Ok(prepared) => prepared,
            Err(ended) => return Ok(result_of(ended)),
        };
        let stdin = match needs_stdin(&options, &prepared.source) {
            true => context.read_stdin().await?,
            false => None,
        };
        let stdin = stdin.as_ref().map_or(&[][..], |input| input.as_bytes());
        let (inputs, complaints) = read_inputs(&options, &files, stdin).await;
        let environment = environment_of(&context);
        let budget = context.execution_budget();
        let mut stopped = None;
        let mut check = || {
            let Some(budget) = &budget else { return Ok(()) };
            match budget.try_with(|budget| budget.consume_work(1)) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(limit)) => {
                    stopped = Some(limit);
                    Err("a limit is reached".to_owned())
                }
                Err(_) => Err("the run was cancelled".to_owned()),
            }
        };
        let search = Search { files: &files, directories: &options.directories, home: home.as_deref() };
        let now = i64::try_from(crate::clock::now_micros()).unwrap_or(i64::MAX);
        // A copy of the inputs is needed only if the program may run again.
        let repeats = prepared.source.describes_modules();
        let (mut inputs, mut named) = (inputs, prepared.files);
        let done = run_with_metadata(&search, |modules| {
            run(Job {
                options: &options,
                source: &prepared.source,
                inputs: if repeats { inputs.clone() } else { std::mem::take(&mut inputs) },
                files: if repeats { named.clone() } else { std::mem::take(&mut named) },
                environment: environment.clone(),
                complaints: complaints.clone(),
                now,
                modules,
                check: &mut check,
            })
        });
        let Done { output, error, status, .. } = done.await;
        if let Some(limit) = stopped {
            return Err(limit.into());
        }
        // Of the output nothing is written before the first block of it is full.
        let mut messages = PlacedMessages::new();
        messages.push(&error, 0);
        Ok(ExecResult { stderr: messages.into(), exit_code: status, ..ExecResult::ok_bytes(output) })
    }
}
