//! `tollhouse run`.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use tollhouse::agent::Program;
use tollhouse::capability::{Grant, Limits, Policy, parse_bytes, parse_duration};
use tollhouse::gate::{Approver, Audit, AuditFile};
use tollhouse::guest::{Language, OutputSink, Script, Stream};
use tollhouse::session::{
    Host, HostError, OpenOptions, Overrides, RunOptions, RunResult, Session, SessionId, SessionOptions, Sessions,
    Stdin, Waiting,
};
use tollhouse::tool::Secrets;
use tollhouse::vfs::{self, Tree};

use super::approve::Terminal;
use super::places::{Places, waiting};
use super::policy_file::PolicyFile;
use super::{CliError, Result, secret, session, show, token};

/// Run a script, or an agent compiled to a component
///
/// Runs JavaScript, TypeScript or bash in a sandbox of its own, starting in /workspace. The script calls the tools of the
/// registry that `--allow` or the policy grants: `await stats.describe({values: [1, 2, 3]})` in JavaScript,
/// `stats describe --values '[1, 2, 3]'` in bash. A component imports them by their WIT names.
///
/// Exit status: the script's own (`exit 3`, `process.exit(3)`); for JavaScript 1 when it throws; 2 usage or policy error;
/// 3 a call was denied and the script did not catch that; 4 a limit was reached; 130 cancelled.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse run -e 'return 1 + 1'
  tollhouse run --allow 'stats/*' -e 'return (await stats.describe({values: [1, 2, 3]})).mean'
  tollhouse run report.js --policy policy.toml --mount ./data:/workspace/data:ro
  tollhouse run --lang sh -e 'for f in 1 2; do echo $f; done' --json")]
pub(crate) struct Run {
    /// The script, or a component (`wasi:cli/command`) that imports tools, or `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "code", conflicts_with = "code")]
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
    /// Go on with this session, or make it: its files, budgets and log are kept, its policy and tools are fixed
    #[arg(long = "session", value_name = "ID")]
    id: Option<SessionId>,
    /// Find what the last script of this language left in the session besides files, and leave it: `state` in JavaScript;
    /// directory, variables, functions and aliases in bash
    #[arg(long, requires = "id")]
    keep_state: bool,
    /// Write every decision and call to this log (JSON lines, hash-chained), after what is there
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Print one JSON object: status, value, output, error, calls, usage, budgets
    #[arg(long)]
    json: bool,
    /// After the script's output, list its calls and budgets on standard error
    #[arg(long, conflicts_with = "json")]
    summary: bool,
}

/// What a script may call and see: a session is made of it.
#[derive(Args)]
pub(crate) struct SessionArgs {
    /// The policy (TOML): tools, grants, limits
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A token instead of a policy: its grants, as far as they are still good
    #[arg(long, value_name = "FILE", conflicts_with = "policy", requires = "trust")]
    token: Option<PathBuf>,
    /// The public key of the token's issuer, or its file
    #[arg(long, value_name = "KEY", requires = "token")]
    trust: Option<String>,
    /// Revoked tokens: a revocation id a line
    #[arg(long, value_name = "FILE", requires = "token")]
    revoked: Option<PathBuf>,
    /// Mount one more package: `stats=tollhouse:stats@^0.1`
    #[arg(long = "tool", value_name = "ALIAS=NS:NAME@REQ", value_parser = pair)]
    tools: Vec<(String, String)>,
    /// Grant methods: `stats/describe`, `stats/*` (one segment), `stats/**` (any number)
    #[arg(long = "allow", value_name = "PATTERN")]
    allow: Vec<String>,
    /// Copy a directory or file of this machine in; `:ro` keeps the script from changing it
    #[arg(long = "mount", value_name = "HOST:GUEST[:ro]")]
    mounts: Vec<String>,
}

/// What is a run's own: no session keeps it.
#[derive(Args, Default)]
pub(crate) struct OwnArgs {
    /// Give the value of a secret that the policy grants to a tool: `KEY=env:VARIABLE`, `KEY=file:PATH`
    #[arg(long = "secret", value_name = "NAME=SOURCE", value_parser = pair)]
    secrets: Vec<(String, String)>,
    /// Longest time, waiting included, for example 60s [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Most memory of the script, for example 256MiB [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Most steps of the script's own count [default: 2000000000]
    #[arg(long, value_name = "STEPS")]
    fuel: Option<u64>,
}

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
    /// Whether it is bash.
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

impl Run {
    /// Runs the script and shows what came of it.
    pub(crate) fn execute(self, places: &Places) -> Result {
        let (name, source) = self.script()?;
        if source.starts_with(WASM) {
            return self.component(name, source, places);
        }
        let source = String::from_utf8(source)
            .map_err(|_| CliError::usage(format!("the script `{name}` is no UTF-8 text, and no component")))?;
        let language = self.lang.map_or_else(|| guess(self.file.as_deref(), &source), Language::from);
        let name = if self.code.is_some() { name_of_code(language).to_owned() } else { name };
        let name = name_in(self.lang, name);
        let session = self.open(places)?;
        let options = self.options();
        let (arguments, environment) = (self.arguments.clone(), self.environment.clone());
        let run = session.start(language, Script { source, name, arguments, environment, typed: None }, options)?;
        let cancel = run.cancel_handle();
        // Without the handler Ctrl-C just ends the process, which is all that it is for.
        let _ = ctrlc::set_handler(move || cancel.cancel());
        let result = run.finish();
        self.show(&result);
        Ok(ExitCode::from(status(&result)))
    }

    /// Runs an agent that is a component.
    fn component(&self, name: String, component: Vec<u8>, places: &Places) -> Result {
        if self.keep_state {
            return Err(CliError::usage("a component keeps no state: `--keep-state` is for scripts")
                .hint("let it write what it keeps to a file under /workspace"));
        }
        let session = self.open(places)?;
        let (arguments, environment) = (self.arguments.clone(), self.environment.clone());
        let run = session.start_component(component, Program { name, arguments, environment }, self.options())?;
        let interrupt = run.interrupt();
        let _ = ctrlc::set_handler(move || interrupt.cancel());
        let result = run.finish();
        self.show(&result);
        Ok(ExitCode::from(status(&result)))
    }

    fn open(&self, places: &Places) -> Result<Session> {
        self.session.open(places, &self.own, self.id.as_ref(), self.audit.as_deref())
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
        }
    }

    fn show(&self, result: &RunResult) {
        if self.json {
            show::line(serde_json::to_string(result).expect("a result is plain data"));
        } else {
            show::result(result);
            if self.summary {
                show::summary(result);
            }
        }
    }

    fn script(&self) -> Result<(String, Vec<u8>)> {
        if let Some(code) = &self.code {
            return Ok(("script".to_owned(), code.clone().into_bytes()));
        }
        let file = self.file.as_deref().expect("clap asks for a file or code");
        if file == Path::new("-") {
            let mut source = Vec::new();
            let read = io::stdin().read_to_end(&mut source);
            read.map_err(|error| CliError::because("cannot read the script from standard input", &error))?;
            return Ok(("stdin".to_owned(), source));
        }
        let source = fs::read(file).map_err(|error| {
            CliError::because(format!("cannot read the script `{}`", file.display()), &error)
                .status(super::error::USAGE)
        })?;
        let name = file.file_name().unwrap_or(file.as_os_str());
        Ok((name.to_string_lossy().into_owned(), source))
    }
}

impl OwnArgs {
    fn limits(&self) -> Overrides {
        Overrides { wall: self.timeout, memory: self.memory, fuel: self.fuel }
    }
}

impl SessionArgs {
    /// Goes on with the session of this name, or makes it; without a name, makes one in memory.
    pub(crate) fn open(
        &self,
        places: &Places,
        own: &OwnArgs,
        id: Option<&SessionId>,
        audit: Option<&Path>,
    ) -> Result<Session> {
        match id {
            Some(id) => self.open_kept(&places.host()?, &places.sessions()?, id, own, audit, waiting(id)),
            None => self.open_in_memory(&places.host()?, own, audit),
        }
    }

    /// The session of this name as it is, for a look: none is made. Without a name, one in memory.
    pub(crate) fn look(&self, places: &Places, id: Option<&SessionId>) -> Result<Session> {
        let own = OwnArgs::default();
        let Some(id) = id else { return self.open_in_memory(&places.host()?, &own, None) };
        let sessions = places.sessions()?;
        sessions.show(id).map_err(|error| session::failed("cannot look at the session", &error))?;
        self.open_kept(&places.host()?, &sessions, id, &own, None, waiting(id))
    }

    /// Whether they name a token, whose grants end.
    pub(crate) fn is_of_token(&self) -> bool {
        self.token.is_some()
    }

    /// Makes a session in memory, without snapshots.
    pub(crate) fn open_in_memory(&self, host: &Host, own: &OwnArgs, audit: Option<&Path>) -> Result<Session> {
        let prepared = self.prepare(own, audit)?;
        let files = prepared.files.clone();
        prepared.session(host, files)
    }

    /// Reads what they name, once for all sessions that are made of it.
    pub(crate) fn prepare(&self, own: &OwnArgs, audit: Option<&Path>) -> Result<Prepared> {
        let source = self.policy.as_deref().map(PolicyFile::read).transpose()?;
        let mut policy = self.given(source.as_ref())?.unwrap_or_default();
        own.limits().apply(&mut policy.limits);
        Ok(Prepared {
            files: self.files(policy.limits.files)?,
            source,
            policy,
            tools: self.tools.clone(),
            audit: log(audit)?,
            secrets: secret::read(&own.secrets)?,
        })
    }

    /// Goes on with a session that is kept, or makes the one that they describe.
    pub(crate) fn open_kept(
        &self,
        host: &Host,
        sessions: &Sessions,
        id: &SessionId,
        own: &OwnArgs,
        audit: Option<&Path>,
        waiting: Waiting,
    ) -> Result<Session> {
        if self.token.is_some() {
            // It ends, and can be revoked; what a session keeps does not, and cannot.
            return Err(CliError::usage("a session does not keep the grants of a token")
                .hint("run without `--session`, or make the session from a policy file"));
        }
        let source = self.policy.as_deref().map(PolicyFile::read).transpose()?;
        let policy = self.given(source.as_ref())?;
        let known = sessions.contains(id).map_err(|error| session::failed("cannot start", &error))?;
        if known && !self.mounts.is_empty() {
            return Err(CliError::usage(format!("the session `{id}` has its files: `--mount` is for a new one"))
                .hint(format!("`tollhouse session put {id} FILE /workspace/…` copies a file in; a directory takes a session of another name")));
        }
        let files = self.files(policy.as_ref().map_or(Limits::default().files, |policy| policy.limits.files))?;
        let options = OpenOptions {
            policy,
            tools: self.tools.clone(),
            limits: own.limits(),
            files,
            audit: log(audit)?,
            approver: Some(Arc::new(Terminal) as Arc<dyn Approver>),
            secrets: secret::read(&own.secrets)?,
            waiting: Some(waiting),
        };
        host.open(sessions, id, options).map_err(|error| shown(error, source.as_ref()))
    }

    /// The policy that is asked for; none if nothing is said of one.
    fn given(&self, source: Option<&PolicyFile>) -> Result<Option<Policy>> {
        if self.token.is_none() && source.is_none() && self.allow.is_empty() {
            return Ok(None);
        }
        let mut policy = match (&self.token, &self.trust, source) {
            (Some(token), Some(trust), _) => {
                let granted = token::open(token, trust, self.revoked.as_deref())?;
                // The issuer says what may be called; how much of this machine that takes is not the issuer's to say.
                let limits = granted.limits.at_most(&Limits::default());
                Policy { limits, ..granted }
            }
            (_, _, Some(source)) => source.parse()?,
            _ => Policy::default(),
        };
        for pattern in &self.allow {
            policy.push(Grant::allow(pattern).map_err(|error| CliError::usage(error.to_string()))?);
        }
        Ok(Some(policy))
    }

    fn files(&self, limit: u64) -> Result<Option<Tree>> {
        if self.mounts.is_empty() {
            return Ok(None);
        }
        let limits = vfs::Limits { bytes: limit, file_bytes: u64::MAX, ..vfs::Limits::default() };
        let mut files = Tree::new(limits, 0);
        for mount in &self.mounts {
            let (paths, read_only) = match mount.strip_suffix(":ro") {
                Some(paths) => (paths, true),
                None => (mount.as_str(), false),
            };
            let Some((host, guest)) = paths.rsplit_once(':') else {
                return Err(CliError::usage(format!("`--mount {mount}` has no colon"))
                    .hint("write HOST:GUEST, for example `./data:/workspace/data:ro`"));
            };
            let mounted = files.mount_directory(Path::new(host), guest, read_only, 0).map_err(|error| {
                CliError::because(format!("cannot mount `{host}` at `{guest}`"), &error).status(super::error::USAGE)
            })?;
            for skipped in mounted.skipped {
                eprintln!("warning: `{}` is not copied in: {}", skipped.path.display(), skipped.reason);
            }
        }
        Ok(Some(files))
    }
}

/// What sessions in memory start from: the policy, the mounted files and the secrets have been read.
pub(crate) struct Prepared {
    source: Option<PolicyFile>,
    pub(crate) policy: Policy,
    tools: Vec<(String, String)>,
    /// What is mounted from this machine, if anything is.
    pub(crate) files: Option<Tree>,
    audit: Option<Arc<dyn Audit>>,
    secrets: Secrets,
}

impl Prepared {
    /// A new session, with these files.
    pub(crate) fn session(&self, host: &Host, files: Option<Tree>) -> Result<Session> {
        let options = SessionOptions {
            policy: self.policy.clone(),
            tools: self.tools.clone(),
            files,
            audit: self.audit.clone(),
            approver: Some(Arc::new(Terminal) as Arc<dyn Approver>),
            secrets: self.secrets.clone(),
        };
        host.session(options).map_err(|error| shown(error, self.source.as_ref()))
    }
}

/// The log that `--audit` names.
fn log(path: Option<&Path>) -> Result<Option<Arc<dyn Audit>>> {
    let Some(path) = path else { return Ok(None) };
    let opened = AuditFile::open(path);
    let log = opened.map_err(|error| CliError::because("cannot start", &error).status(super::error::USAGE))?;
    Ok(Some(Arc::new(log)))
}

/// Why there is no session, with the place in the policy's file.
fn shown(error: HostError, source: Option<&PolicyFile>) -> CliError {
    match (error, source) {
        (HostError::Policy(error), Some(source)) => source.error(error),
        (HostError::Sessions(error), _) => session::failed("cannot start", &error),
        (error, _) => error.into(),
    }
}

/// The language of a script that nobody named.
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

/// What a script that is no file is called, in its messages and by itself: as in `bash -c`.
pub(crate) fn name_of_code(language: Language) -> &'static str {
    match language {
        Language::Shell => "bash",
        _ => "script",
    }
}

/// The name of a script whose language was said: by it the guest knows TypeScript.
pub(crate) fn name_in(lang: Option<Lang>, name: String) -> String {
    if matches!(lang, Some(Lang::Ts)) && !name.ends_with("ts") { name + ".ts" } else { name }
}

/// What every WebAssembly binary begins with.
const WASM: &[u8] = b"\0asm";

/// The exit status of a run, as `--help` says.
pub(crate) fn status(result: &RunResult) -> u8 {
    use tollhouse::session::Status;
    match result.status {
        Status::Completed => 0,
        Status::Denied => 3,
        Status::Limited => 4,
        Status::Cancelled => 130,
        // A script's own; 1 if it threw.
        _ => result.exit_code,
    }
}

/// Splits `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it must have a name, `=` and a value".to_owned()),
    }
}

/// The script's output, as it comes, on the process's own streams.
pub(crate) struct Output;

impl OutputSink for Output {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        // A reader that went away (`| head -1`) is no reason to end the run: its calls and files still count.
        let _ = match stream {
            Stream::Stdout => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
            Stream::Stderr => io::stderr().write_all(bytes),
        };
    }
}
