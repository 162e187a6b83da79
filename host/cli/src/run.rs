//! `tollhouse run`.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Deserialize;
use tollhouse::agent::Program;
use tollhouse::error::Failure;
use tollhouse::guest::{Language, OutputSink, Script, Stream};
use tollhouse::session::{RunOptions, RunResult, Session, SessionId, Stdin};
use tollhouse_registry::untrusted_file;

use super::audit::AuditArgs;
use super::confine::ConfineArgs;
use super::locations::Locations;
use super::notify::NotifyArgs;
use super::recorded_run::RecordingArgs;
use super::session::{Resumption, ShownResult};
use super::session_args::{OwnArgs, SessionArgs, pair, warn_of_run};
use super::{CliError, Result, show, signals, stdio};
use crate::Exit;

/// Size of the largest script or agent, in bytes: that of a component.
const MAX_SOURCE: u64 = tollhouse_registry::MAX_COMPONENT as u64;

/// Run a script, or an agent compiled to a component
///
/// Runs JavaScript, TypeScript or bash in a sandbox of its own, starting in /workspace. The script calls the tools of the
/// registry that `--allow` or the policy grants: `await stats.describe({values: [1, 2, 3]})` in JavaScript,
/// `stats describe --values '[1, 2, 3]'` in bash. A component imports them by their WIT names.
///
/// Exit status: the script's own (`exit 3`, `process.exit(3)`); for JavaScript 1 when it throws; 2 usage or policy error;
/// 3 a call was denied and the script did not catch that; 4 a limit was reached; 5 the run of a session waits for
/// approval; 130 cancelled by SIGINT, SIGTERM or SIGHUP
/// (a second signal ends the process at once); 141 nobody reads the output.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse run -e 'return 1 + 1'
  tollhouse run --allow 'stats/*' -e 'return (await stats.describe({values: [1, 2, 3]})).mean'
  tollhouse run report.js --policy policy.toml --mount ./data:/workspace/data:ro
  tollhouse run --lang sh -e 'for f in 1 2; do echo $f; done' --json
  tollhouse run report.js --policy policy.toml --record calls.json   # in CI: --replay calls.json
  tollhouse run report.js --policy policy.toml --dry-run
  tollhouse run --session report --resume")]
pub(crate) struct RunCommand {
    /// The script, or a component (`wasi:cli/command`) that imports tools, or `-` for standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["code", "resume"], conflicts_with = "code")]
    file: Option<PathBuf>,
    /// The script's text
    #[arg(short = 'e', long = "eval", value_name = "CODE")]
    code: Option<String>,
    /// The script's arguments, after `--`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
    /// The script's language [default: by the file's extension, its #! line, else js]
    #[arg(long, value_enum)]
    lang: Option<Lang>,
    /// A variable of the script's environment
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Continue this session, or create it: its files, budgets and log are kept, its policy and tools are fixed
    #[arg(long = "session", value_name = "ID")]
    id: Option<SessionId>,
    /// Restore the state that the last script of this language left in the session besides files, and save it again:
    /// `state` in JavaScript; directory, variables, functions and aliases in bash
    #[arg(long, requires = "id")]
    keep_state: bool,
    /// Continue the session's run that is suspended, or whose process died, as `tollhouse session resume` does; without a
    /// script. Of the options that say what may be called, only `--policy` and `--allow-exec` go with it
    #[arg(long, requires = "id", conflicts_with_all = STARTING)]
    resume: bool,
    /// With `--resume`, print what the run had printed before, too
    #[arg(long, requires = "resume")]
    replay_output: bool,
    /// Check the script without running it: its syntax, and the tools that it calls. Exit status 1 if something is
    /// wrong
    #[arg(long, conflicts_with_all = ["id", "summary"])]
    check: bool,
    #[command(flatten)]
    recording: RecordingArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    audit: AuditArgs,
    /// Print one JSON object: status, value, output, error, calls, usage, budgets
    #[arg(long)]
    json: bool,
    /// After the script's output, list its calls and budgets on standard error
    #[arg(long, conflicts_with = "json")]
    summary: bool,
}

/// Options that say how a run starts, and so do not go with one that is resumed.
const STARTING: [&str; 16] = [
    "file",
    "code",
    "arguments",
    "lang",
    "environment",
    "keep_state",
    "check",
    "record",
    "replay",
    "dry_run",
    "locked",
    "token",
    "tools",
    "allow",
    "allow_net",
    "mounts",
];

#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Lang {
    /// JavaScript
    Js,
    /// TypeScript: its types are taken out, not checked
    Ts,
    /// bash
    #[value(aliases = ["shell", "bash"])]
    Sh,
}

impl Lang {
    /// Returns true if the language is bash.
    pub(crate) fn is_shell(self) -> bool {
        matches!(self, Self::Sh)
    }
}

impl From<Lang> for Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::Js | Lang::Ts => Self::JavaScript,
            Lang::Sh => Self::Shell,
        }
    }
}

impl RunCommand {
    /// Runs the script, or continues a run, and shows its result.
    pub(crate) fn execute(mut self, locations: &Locations) -> Result {
        if self.resume {
            return self.into_resumption().execute(locations);
        }
        if self.replay_output {
            // A script conflicts with what the option requires, so that the parser does not ask for it.
            return Err(CliError::usage("`--replay-output` is for a run that continues")
                .hint("`--session NAME --resume` continues one, without a script"));
        }
        self.own.read_secrets()?;
        self.own.on_suspended = self.notify.start_for(self.id.as_ref(), locations)?;
        self.session.start_servers(locations, &self.own, self.confine)?;
        let (name, source) = self.script()?;
        self.audit.read_key()?;
        self.recording.open_files()?;
        self.confine.apply(|| {
            let touched = self.session.touched(locations, self.id.is_some(), &self.audit);
            touched.writing(self.recording.record.as_deref()).with_network()
        })?;
        if source.starts_with(WASM) {
            return self.component(name, source, locations);
        }
        let source = String::from_utf8(source)
            .map_err(|_| CliError::usage(format!("the script `{name}` is neither UTF-8 text nor a component")))?;
        let language = match self.lang {
            Some(lang) => lang.into(),
            None => {
                refuse_others(&name, self.file.as_deref())?;
                guess(self.file.as_deref(), &source)
            }
        };
        let name = if self.code.is_some() { name_of_code(language).to_owned() } else { name };
        let name = name_in(self.lang, name);
        let session = self.open(locations)?;
        self.session.note_lost_faces(session.gate(), language);
        if self.check {
            return self.show_problems(&session.check(language, &source, &name)?);
        }
        let options = self.options();
        let (arguments, environment) = (self.arguments.clone(), self.environment.clone());
        let script = Script { source, name, from_file: self.code.is_none(), arguments, environment, typed: None };
        let unfinished = session.unfinished_run()?;
        let run = session.start(language, script, options)?;
        if let Some(number) = unfinished {
            note!(
                "warning: run {number} of the session was interrupted, and can no longer be resumed: another run has begun"
            );
        }
        let cancel = run.cancel_handle();
        signals::on_first(move || cancel.cancel());
        let result = run.finish();
        warn_of_run(session.gate(), &result);
        self.show(&result);
        self.recording.save(&result)?;
        Ok(Exit::from(result.exit_code))
    }

    fn into_resumption(self) -> Resumption {
        Resumption {
            id: self.id.expect("clap asks for a session"),
            session: self.session,
            own: self.own,
            audit: self.audit,
            confine: self.confine,
            notify: self.notify,
            shown: ShownResult { json: self.json, summary: self.summary },
            replay_output: self.replay_output,
        }
    }

    /// Runs an agent that is a component.
    fn component(&self, name: String, component: Vec<u8>, locations: &Locations) -> Result {
        if self.recording.is_recorded() {
            return Err(CliError::usage("a component is neither recorded nor replayed: `--record` is for scripts"));
        }
        if self.keep_state {
            return Err(CliError::usage("a component keeps no state: `--keep-state` is for scripts")
                .hint("let it write what it keeps to a file under /workspace"));
        }
        if self.check {
            return Err(CliError::usage("a component is not checked: `--check` is for scripts")
                .hint("`tollhouse tools` lists what it may import"));
        }
        let session = self.open(locations)?;
        let (arguments, environment) = (self.arguments.clone(), self.environment.clone());
        let run = session.start_component(component, Program { name, arguments, environment }, self.options())?;
        let interrupt = run.interrupt();
        signals::on_first(move || interrupt.cancel());
        let result = run.finish();
        warn_of_run(session.gate(), &result);
        self.show(&result);
        Ok(Exit::from(result.exit_code))
    }

    fn open(&self, locations: &Locations) -> Result<Session> {
        let session = match self.recording.is_given() {
            true => self.recording.open(&self.session, locations, &self.own, &self.audit)?,
            false => self.session.open(locations, &self.own, self.id.as_ref(), &self.audit)?,
        };
        self.confine.isolate(&session)?;
        Ok(session)
    }

    fn options(&self) -> RunOptions {
        let from_stdin = self.file.as_deref() == Some(Path::new("-"));
        RunOptions {
            output: if self.json { None } else { Some(Box::new(Output)) },
            stdin: if from_stdin || io::stdin().is_terminal() {
                Stdin::Empty
            } else {
                Stdin::Reader(Box::new(io::stdin()))
            },
            keep_state: self.keep_state,
            ..RunOptions::default()
        }
    }

    fn show(&self, result: &RunResult) {
        ShownResult { json: self.json, summary: self.summary }.show(result);
    }

    fn show_problems(&self, problems: &[Failure]) -> Result {
        if self.json {
            show::json(&serde_json::json!({ "problems": problems }));
        } else {
            problems.iter().for_each(show::located);
        }
        Ok(if problems.is_empty() { Exit::SUCCESS } else { Exit::FAILURE })
    }

    fn script(&self) -> Result<(String, Vec<u8>)> {
        if let Some(code) = &self.code {
            return Ok(("script".to_owned(), code.clone().into_bytes()));
        }
        let file = self.file.as_deref().expect("clap asks for a file or code");
        if file == Path::new("-") {
            let source = untrusted_file::read_limited(io::stdin(), MAX_SOURCE).map_err(|error| {
                CliError::because("cannot read the script from standard input", &io::Error::from(error))
            })?;
            return Ok(("stdin".to_owned(), source));
        }
        let source = untrusted_file::read_named(file, MAX_SOURCE).map_err(|error| {
            CliError::because(format!("cannot read the script `{}`", file.display()), &io::Error::from(error))
                .status(super::error::USAGE)
        })?;
        let name = file.file_name().unwrap_or(file.as_os_str());
        Ok((name.to_string_lossy().into_owned(), source))
    }
}

/// Determines the language of a script without `--lang`.
pub(crate) fn guess(file: Option<&Path>, source: &str) -> Language {
    let extension = file.and_then(Path::extension).and_then(|extension| extension.to_str());
    let shebang = source.lines().next().filter(|line| line.starts_with("#!"));
    match extension {
        Some("sh" | "bash") => Language::Shell,
        Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts") => Language::JavaScript,
        _ if shebang.is_some_and(|line| line.trim_end().ends_with("sh")) => Language::Shell,
        _ => Language::JavaScript,
    }
}

/// Extensions of scripts in unsupported languages, with the languages.
const OTHERS: [(&str, &str); 14] = [
    ("py", "Python"),
    ("rb", "Ruby"),
    ("pl", "Perl"),
    ("php", "PHP"),
    ("lua", "Lua"),
    ("r", "R"),
    ("go", "Go"),
    ("rs", "Rust"),
    ("c", "C"),
    ("cpp", "C++"),
    ("java", "Java"),
    ("ps1", "PowerShell"),
    ("fish", "fish"),
    ("zsh", "zsh"),
];

/// Rejects a file whose extension belongs to an unsupported language: run as JavaScript it would fail in a confusing
/// way.
fn refuse_others(name: &str, file: Option<&Path>) -> Result<()> {
    let extension = file.and_then(Path::extension).and_then(|extension| extension.to_str()).unwrap_or_default();
    let Some((_, language)) = OTHERS.iter().find(|(ending, _)| extension.eq_ignore_ascii_case(ending)) else {
        return Ok(());
    };
    Err(CliError::usage(format!("`{name}` is {language}, which `run` does not run"))
        .hint("scripts are JavaScript (.js, .mjs, .cjs), TypeScript (.ts, .mts, .cts) or bash (.sh, .bash); `--lang js|ts|sh` says which one a file is"))
}

/// Returns the name of a script that is not a file, in its messages and for itself, as in `bash -c`.
pub(crate) fn name_of_code(language: Language) -> &'static str {
    match language {
        Language::Shell => "bash",
        _ => "script",
    }
}

/// Returns the name of a script whose language was given: from the name the guest recognizes TypeScript.
pub(crate) fn name_in(lang: Option<Lang>, name: String) -> String {
    if matches!(lang, Some(Lang::Ts)) && !name.ends_with("ts") { name + ".ts" } else { name }
}

/// Magic number of every WebAssembly binary.
const WASM: &[u8] = b"\0asm";

/// Sink that writes the script's output to the process's own streams, as it comes.
pub(crate) struct Output;

impl OutputSink for Output {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        match stream {
            Stream::Stdout => stdio::write_out(bytes),
            Stream::Stderr => stdio::write_err(bytes),
        }
    }
}
