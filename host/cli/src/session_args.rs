//! Session options: those of every command that opens a session.

mod prepared;
mod warnings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tollhouse::capability::{Grant, HttpRule, Limits, Policy, Setting, parse_bytes, parse_duration};
use tollhouse::gate::{Approver, Gate};
use tollhouse::guest::Language;
use tollhouse::session::{
    CallSource, Host, HostError, OpenOptions, Overrides, Session, SessionId, Sessions, SessionsError,
    SuspensionObserver, Waiting,
};
use tollhouse::tool::names::Face;
use tollhouse::tool::{LostFace, McpCalls, Secrets};
use tollhouse::vfs::{self, Tree};
use tollhouse_mcp::MessageRelay;
use tollhouse_registry::untrusted_file;

pub(crate) use self::prepared::PreparedSession;
use self::prepared::SessionSources;
use self::warnings::warn_of_typo;
pub(crate) use self::warnings::{note_lost_faces, warn_of_deprecated, warn_of_run};
use super::approve::TerminalApprover;
use super::audit::AuditArgs;
use super::confine::{ConfineArgs, Confinement};
use super::locations::{Locations, waiting};
use super::lock::PinnedLock;
use super::mcp_servers::StartedServers;
use super::policy_file::PolicyFile;
use super::registry::trust;
use super::{CliError, Result, lock, programs, remedy, secret, session, token};

/// Options that determine what a script may call and see.
#[derive(Args, Default)]
pub(crate) struct SessionArgs {
    /// The policy (TOML): tools, grants, limits
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The lock that `tollhouse lock` wrote: exactly its releases are mounted [default: `tollhouse.lock` beside the
    /// policy, if it exists]
    #[arg(long, value_name = "FILE")]
    locked: Option<PathBuf>,
    /// A token instead of a policy: its grants, as far as they are still valid. Not for sessions in the store, which do not
    /// keep what expires
    #[arg(long, value_name = "FILE", conflicts_with = "policy", requires = "trust")]
    token: Option<PathBuf>,
    /// The public key of the token's issuer, or its file
    #[arg(long, value_name = "KEY", requires = "token")]
    trust: Option<String>,
    /// Revoked tokens: one revocation id per line
    #[arg(long, value_name = "FILE", requires = "token")]
    revoked: Option<PathBuf>,
    /// Mount one more package: `stats=tollhouse:stats@^0.1`
    #[arg(long = "tool", value_name = "ALIAS=NS:NAME@REQ", value_parser = pair)]
    tools: Vec<(String, String)>,
    /// Grant methods: `stats/describe`, `stats/*` (one segment), `stats/**` (any number); with `/run` a program, and
    /// the session's files to it: `python3/run`
    #[arg(long = "allow", value_name = "PATTERN")]
    allow: Vec<String>,
    /// Let scripts and the tool `http` make requests to a host: `api.example.com`, `http://localhost:8080`, `GET
    /// *.example.com/v1`
    #[arg(long = "allow-net", value_name = "[METHOD ][SCHEME://]HOST[:PORT][/PATH]")]
    allow_net: Vec<HttpRule>,
    /// Start the program of an MCP server that the policy names (`[mcp.NAME]`), with the files, ports and secrets that the
    /// policy says, or connect with the server at its URL. Without this, its tools are listed and cannot be called
    #[arg(long = "allow-exec", value_name = "NAME", requires = "policy")]
    allow_exec: Vec<String>,
    /// Started MCP servers.
    #[arg(skip)]
    servers: StartedServers,
    /// Copy a directory or file of this machine in; `:ro` keeps the script from changing it
    #[arg(long = "mount", value_name = "HOST:GUEST[:ro]")]
    mounts: Vec<String>,
}

/// Options of a single run, which no session keeps.
#[derive(Args, Default)]
pub(crate) struct OwnArgs {
    /// Give the value of a secret that the policy grants to a tool: `KEY=env:VARIABLE`, `KEY=file:PATH`, or what a
    /// program prints, `KEY=cmd:PROGRAM ARGS`
    #[arg(long = "secret", value_name = "NAME=SOURCE", value_parser = pair)]
    secrets: Vec<(String, String)>,
    /// Values of the secrets, once they are read.
    #[arg(skip)]
    pub(crate) values: Secrets,
    /// Longest time, waiting included, for example 60s [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Most memory of scripts, tools and waiting calls, for example 256MiB [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Most units of fuel, which count the script's steps [default: 2000000000]
    #[arg(long, value_name = "STEPS")]
    fuel: Option<u64>,
    /// Any limit of a policy: `calls=1000`, `processes=4`, `tool_wall=5s`, `output=1MiB`
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    limits: Vec<Setting>,
    /// Ask nobody on the terminal: a call that needs approval suspends the run of a session, and is refused without one
    #[arg(long)]
    no_wait: bool,
    /// Who is told when a run is suspended.
    #[arg(skip)]
    pub(crate) on_suspended: Option<Arc<dyn SuspensionObserver>>,
}

impl OwnArgs {
    /// Reads the values of secrets. Programs that print them cannot run once the process is confined, so this comes
    /// first.
    pub(crate) fn read_secrets(&mut self) -> Result<()> {
        self.values = secret::read(&self.secrets)?;
        Ok(())
    }

    /// Returns the approver at the terminal, unless nobody is to be asked.
    pub(crate) fn approver(&self) -> Option<Arc<dyn Approver>> {
        (!self.no_wait).then(|| Arc::new(TerminalApprover { is_dry_run: false }) as Arc<dyn Approver>)
    }

    /// Returns true unless nobody is to be asked for consent.
    pub(crate) fn asks(&self) -> bool {
        !self.no_wait
    }

    /// Returns the limits that replace those of a policy.
    pub(crate) fn limits(&self) -> Overrides {
        Overrides { base: None, wall: self.timeout, memory: self.memory, fuel: self.fuel, others: self.limits.clone() }
    }
}

impl SessionArgs {
    /// Sets the policy, where it is an operand and not an option.
    pub(crate) fn set_policy(&mut self, file: PathBuf) {
        self.policy = Some(file);
    }

    /// Returns the files that a process accesses which opens a session with these options, `kept` in the store or in
    /// memory.
    pub(crate) fn touched(&self, locations: &Locations, kept: bool, audit: &AuditArgs) -> Confinement {
        let beside = self.policy.as_deref().map(lock::candidates).unwrap_or_default();
        let files = [&self.policy, &self.token, &self.revoked, &self.locked].into_iter().flatten().chain(&beside);
        let files = files.map(PathBuf::as_path);
        let mounted = self.mounts.iter().map(|mount| Path::new(split_mount(mount).0));
        let trusted = self.trust.iter().map(Path::new);
        let head_of_log = audit.head();
        let read = files.chain(mounted).chain(trusted).chain(head_of_log.as_deref());
        let (log, head) = audit.files();
        Confinement::of(locations, kept).reading(read).writing(log).writing(head.as_deref())
    }

    /// Starts the MCP servers that these options name. It comes before the process is confined, since a confined process
    /// starts no program.
    pub(crate) fn start_servers(&mut self, locations: &Locations, own: &OwnArgs, confine: ConfineArgs) -> Result<()> {
        if let Some(policy) = &self.policy {
            self.servers = StartedServers::start(&self.allow_exec, policy, locations, &own.values, confine)?;
        }
        Ok(())
    }

    /// Starts the MCP servers that these options name, for a process that serves for long.
    pub(crate) fn start_lasting_servers(
        &mut self,
        locations: &Locations,
        own: &OwnArgs,
        confine: ConfineArgs,
    ) -> Result<()> {
        if let Some(policy) = &self.policy {
            self.servers = StartedServers::start_lasting(&self.allow_exec, policy, locations, &own.values, confine)?;
        }
        Ok(())
    }

    /// Returns the connections with MCP servers, once a session was opened.
    pub(crate) fn mcp_calls(&self) -> Option<Arc<dyn McpCalls>> {
        self.servers.calls()
    }

    /// Returns the relay of what MCP servers say besides answers.
    pub(crate) fn relay(&self) -> &MessageRelay {
        self.servers.relay()
    }

    /// Returns the first stream that these options name instead of a file, secrets included: it can be read only once.
    pub(crate) fn stream<'a>(&'a self, own: &'a OwnArgs) -> Option<&'a Path> {
        let files = [&self.policy, &self.token, &self.revoked, &self.locked].into_iter().flatten();
        let secrets = own.secrets.iter().filter_map(|(_, source)| source.strip_prefix("file:"));
        let named =
            files.map(PathBuf::as_path).chain(self.trust.as_deref().map(Path::new)).chain(secrets.map(Path::new));
        let is_stream = |path: &&Path| {
            [Path::new("-"), Path::new("/dev/stdin")].contains(path) || untrusted_file::descriptor(path).is_some()
        };
        named.into_iter().find(is_stream)
    }

    /// Notes the missing faces of tools that these options name, where a script in this language would look for them.
    pub(crate) fn note_lost_faces(&self, gate: &Gate, language: Language) {
        let face = if language == Language::Shell { Face::Command } else { Face::Global };
        let is_named = |lost: &LostFace| self.tools.iter().any(|(alias, _)| *alias == lost.alias);
        note_lost_faces(gate, |lost| lost.face == face && is_named(lost));
    }

    /// Opens or creates the session with this name; without a name, creates one in memory.
    pub(crate) fn open(
        &self,
        locations: &Locations,
        own: &OwnArgs,
        id: Option<&SessionId>,
        audit: &AuditArgs,
    ) -> Result<Session> {
        match id {
            Some(id) => {
                let opening = OpenParams::new(own, audit, id);
                self.open_kept(locations, &locations.host()?, &locations.new_sessions()?, id, opening)
            }
            None => self.open_in_memory(locations, &locations.host()?, own, audit),
        }
    }

    /// Opens the session with this name; none is created.
    pub(crate) fn open_existing(
        &self,
        locations: &Locations,
        own: &OwnArgs,
        id: &SessionId,
        audit: &AuditArgs,
    ) -> Result<Session> {
        let sessions = locations.sessions()?;
        sessions.show(id).map_err(|error| session::failed("cannot read the session", &error))?;
        let opening = OpenParams { is_named: true, ..OpenParams::new(own, audit, id) };
        self.open_kept(locations, &locations.host()?, &sessions, id, opening)
    }

    /// Opens the session with this name to resume its run, with the limits that the run was started with.
    pub(crate) fn open_to_resume(
        &self,
        locations: &Locations,
        own: &OwnArgs,
        id: &SessionId,
        audit: &AuditArgs,
    ) -> Result<Session> {
        let sessions = locations.sessions()?;
        let limits = sessions.unfinished_runs().limits_of(id);
        let limits = limits.map_err(|error| session::failed("cannot read the session", &error))?;
        let opening = OpenParams { limits, is_named: true, ..OpenParams::new(own, audit, id) };
        self.open_kept(locations, &locations.host()?, &sessions, id, opening)
    }

    /// Opens the session with this name to read it: none is created. Without a name, opens one in memory. The process
    /// is confined before anything is read that others wrote.
    pub(crate) fn look(&self, locations: &Locations, id: Option<&SessionId>, confine: ConfineArgs) -> Result<Session> {
        let kept = id.is_some() && locations.has_store();
        confine.apply(|| self.touched(locations, kept, &AuditArgs::default()))?;
        let session = self.found(locations, id)?;
        confine.isolate(&session)?;
        Ok(session)
    }

    fn found(&self, locations: &Locations, id: Option<&SessionId>) -> Result<Session> {
        let own = OwnArgs::default();
        let Some(id) = id else {
            return self.open_in_memory(locations, &locations.host()?, &own, &AuditArgs::default());
        };
        self.open_existing(locations, &own, id, &AuditArgs::default())
    }

    /// Creates options that start MCP servers of a policy, for a session that was created with that policy.
    pub(crate) fn starting(policy: Option<PathBuf>, servers: Vec<String>) -> Self {
        Self { policy, allow_exec: servers, ..Self::default() }
    }

    /// Returns true if the options name a token, whose grants expire.
    pub(crate) fn is_of_token(&self) -> bool {
        self.token.is_some()
    }

    /// Creates a session in memory, without snapshots.
    pub(crate) fn open_in_memory(
        &self,
        locations: &Locations,
        host: &Host,
        own: &OwnArgs,
        audit: &AuditArgs,
    ) -> Result<Session> {
        let prepared = self.prepare(locations, own, audit)?;
        let files = prepared.files.clone();
        prepared.session(host, files)
    }

    /// Reads the files that the options name, once for all sessions that use them.
    pub(crate) fn prepare(&self, locations: &Locations, own: &OwnArgs, audit: &AuditArgs) -> Result<PreparedSession> {
        let source = self.policy.as_deref().map(PolicyFile::read).transpose()?;
        let mut policy = self.given(locations, source.as_ref())?.unwrap_or_default();
        own.limits().apply(&mut policy.limits);
        let given = self.given_by(locations, source)?;
        let audit = audit.open()?;
        Ok(PreparedSession {
            mcp: given.connect(&self.servers, audit.as_ref())?,
            files: self.files(policy.limits.files, None)?,
            policy,
            tools: self.tools.clone(),
            commands: self.commands(),
            given,
            audit,
            approver: own.approver(),
            secrets: own.values.clone(),
            calls: CallSource::Tools,
        })
    }

    /// Opens or creates a session on disk.
    pub(crate) fn open_kept(
        &self,
        locations: &Locations,
        host: &Host,
        sessions: &Sessions,
        id: &SessionId,
        opening: OpenParams<'_>,
    ) -> Result<Session> {
        let OpenParams { own, audit, approver, waiting, files, limits, is_named, must_create } = opening;
        if self.token.is_some() {
            // A token expires, and can be revoked; the grants that a session keeps do not, and cannot.
            return Err(CliError::usage("a session does not keep the grants of a token")
                .hint("run without `--session`, or create the session from a policy file"));
        }
        // Only a run that is resumed has limits of its own.
        let resumes = limits.is_some();
        let source = self.policy.as_deref().map(PolicyFile::read).transpose()?;
        let policy = self.given(locations, source.as_ref())?;
        let known = sessions.contains(id).map_err(|error| session::failed("cannot start", &error))?;
        if known && !self.mounts.is_empty() {
            return Err(has_its_files(id));
        }
        if !known && !is_named {
            warn_of_typo(sessions, id);
        }
        let given = self.given_by(locations, source)?;
        let limit = policy.as_ref().map_or(Limits::default().files, |policy| policy.limits.files);
        let files = self.files(limit, files)?;
        let approver_keys = trust::approver_keys(policy.as_ref(), locations)?;
        let audit = audit.open()?;
        let options = OpenOptions {
            // Whoever creates the session meanwhile gave it other files.
            must_create: must_create || files.is_some(),
            host_tools: Vec::new(),
            mcp: given.connect(&self.servers, audit.as_ref())?,
            policy,
            tools: self.tools.clone(),
            commands: self.commands(),
            lock: given.lock(),
            limits: Overrides { base: limits, ..own.limits() },
            files,
            audit,
            approver,
            approver_keys: Some(approver_keys),
            secrets: own.values.clone(),
            waiting: Some(waiting),
            on_suspended: own.on_suspended.clone(),
        };
        host.open(sessions, id, options).map_err(|error| match error {
            HostError::Sessions(SessionsError::Exists(id)) if !must_create => has_its_files(&id),
            error @ HostError::Sessions(SessionsError::Differs { .. }) if resumes => given.explain(error).also(format!(
                "`session resume` wants the policy with what `--allow` and `session grant` added: `tollhouse session show {id} \
                 --json | jq .policy > {id}.json`, read it, and give `--policy {id}.json`"
            )),
            error => given.explain(error),
        })
    }

    /// Returns the pins: of the named file, or of the one beside the policy.
    fn pins(&self) -> Result<Option<PinnedLock>> {
        match (&self.locked, &self.policy) {
            (Some(path), _) => Ok(Some(PinnedLock { path: path.clone(), lock: lock::read_lock(path)? })),
            (None, Some(policy)) => lock::of(policy),
            (None, None) => Ok(None),
        }
    }

    fn given_by(&self, locations: &Locations, source: Option<PolicyFile>) -> Result<SessionSources> {
        let net = self.allow_net.iter().map(|rule| (format!("{HTTP}/*"), format!("--allow-net {rule}")));
        let allow =
            self.allow.iter().map(|pattern| (pattern.clone(), format!("--allow {pattern}"))).chain(net).collect();
        Ok(SessionSources { source, pinned: self.pins()?, allow, absent: self.absent(locations) })
    }

    /// Returns hints on how to add programs that `--allow` names and the registry lacks.
    fn absent(&self, locations: &Locations) -> Vec<String> {
        let aliases: BTreeSet<&str> = self.allow.iter().filter_map(|pattern| pattern.split('/').next()).collect();
        let hints: Vec<(&str, String)> =
            aliases.into_iter().filter_map(|alias| Some((alias, programs::how_to_add(alias)?))).collect();
        if hints.is_empty() {
            return Vec::new();
        }
        // A problem with the registry is reported when something is mounted.
        let latest = locations.registry().latest().unwrap_or_default();
        let is_there = |alias: &str| {
            self.tools.iter().any(|(mounted, _)| mounted == alias)
                || latest.iter().any(|release| release.name.package() == alias)
        };
        hints.into_iter().filter(|(alias, _)| !is_there(alias)).map(|(_, hint)| hint).collect()
    }

    /// Returns the requested policy, or `None` if no option requests one.
    fn given(&self, locations: &Locations, source: Option<&PolicyFile>) -> Result<Option<Policy>> {
        if self.token.is_none() && source.is_none() && self.allow.is_empty() && self.allow_net.is_empty() {
            return Ok(None);
        }
        let mut policy = match (&self.token, &self.trust, source) {
            (Some(token), Some(trust), _) => {
                let granted = token::open(token, trust, self.revoked.as_deref())?;
                remedy::word_for_token();
                // The issuer decides what may be called; it does not decide how many resources of this machine that
                // takes.
                let limits = granted.limits.at_most(&Limits::default());
                Policy { limits, ..granted }
            }
            (_, _, Some(source)) => source.parse()?,
            _ => Policy::default(),
        };
        for grant in allowed(&self.allow)? {
            policy.push(grant);
        }
        self.allow_requests(&mut policy)?;
        trust::resolve(&mut policy, locations)?;
        Ok(Some(policy))
    }

    /// Returns the aliases of programs that `--allow ALIAS/run` grants.
    fn commands(&self) -> Vec<String> {
        self.allow.iter().filter_map(|pattern| command_of(pattern)).collect()
    }

    /// Grants the tool `http`, and the hosts of `--allow-net` to it.
    fn allow_requests(&self, policy: &mut Policy) -> Result<()> {
        let Some(rule) = self.allow_net.first() else { return Ok(()) };
        policy.push(Grant::allow(&format!("{HTTP}/*")).map_err(|error| CliError::usage(error.to_string()))?);
        let permissions = policy.permissions.entry(HTTP.to_owned()).or_default();
        // Such a secret may go wherever the tool may: an additional host would get it without anybody's decision.
        if let Some(secret) = permissions.secrets.iter().find(|secret| secret.http.is_empty()) {
            let what = format!("`--allow-net {rule}`: the policy would let the secret `{}` go there too", secret.name);
            return Err(CliError::usage(what)
                .hint(format!("say where it may go: `http = [...]` in its table, under `[tool.{HTTP}]`")));
        }
        permissions.http.extend(self.allow_net.iter().cloned());
        Ok(())
    }

    /// Copies the mounted files in, beside existing ones.
    fn files(&self, limit: u64, found: Option<Tree>) -> Result<Option<Tree>> {
        if self.mounts.is_empty() && found.is_none() {
            return Ok(None);
        }
        let limits = vfs::Limits { bytes: limit, file_bytes: u64::MAX, ..vfs::Limits::default() };
        let now = vfs::now();
        let mut files = found.unwrap_or_else(|| Tree::new(limits, now));
        files.set_limits(limits);
        for mount in &self.mounts {
            let (host, guest, read_only) = split_mount(mount);
            let wrong = |what: &str| {
                CliError::usage(format!("`--mount {mount}`: {what}"))
                    .hint("write HOST:GUEST or HOST:GUEST:ro, for example `./data:/workspace/data:ro`")
            };
            let Some(guest) = guest else { return Err(wrong("there is no colon")) };
            if !guest.starts_with('/') {
                // `a:/b:rw` is split at its last colon.
                return Err(match host.rsplit_once(':') {
                    Some((_, inner)) if inner.starts_with('/') => wrong(&format!(
                        "`{guest}` is not a mode; the only mode is `ro`, and without it files can be changed"
                    )),
                    _ => wrong(&format!("`{guest}` is not a path of the session: it must begin with `/`")),
                });
            }
            let mounted = files.mount_directory(Path::new(host), guest, read_only, now).map_err(|error| {
                CliError::because(format!("cannot mount `{host}` at `{guest}`"), &error).status(super::error::USAGE)
            })?;
            for skipped in mounted.skipped {
                note!("warning: `{}` is not copied in: {}", skipped.path.display(), skipped.reason);
            }
        }
        Ok(Some(files))
    }
}

/// Alias of the tool that makes requests for scripts: `fetch` and `curl` are calls of it.
const HTTP: &str = "http";

/// Parameters for opening a session on disk.
pub(crate) struct OpenParams<'a> {
    pub(crate) own: &'a OwnArgs,
    pub(crate) audit: &'a AuditArgs,
    /// Approver that is asked where a grant requires it.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) waiting: Waiting,
    /// Initial files of a new session, before the mounted ones.
    pub(crate) files: Option<Tree>,
    /// Limits in place of those of the policy.
    pub(crate) limits: Option<Limits>,
    /// True if the user chose the name and may have mistyped it.
    pub(crate) is_named: bool,
    /// True if the session must not exist yet.
    pub(crate) must_create: bool,
}

impl<'a> OpenParams<'a> {
    /// Creates parameters for a session whose name was not chosen by hand, with the command's own approver.
    fn new(own: &'a OwnArgs, audit: &'a AuditArgs, id: &SessionId) -> Self {
        let (approver, waiting) = (own.approver(), waiting(id));
        Self { own, audit, approver, waiting, files: None, limits: None, is_named: false, must_create: false }
    }
}

/// Creates the error of files that are to be mounted into a session that exists.
fn has_its_files(id: &SessionId) -> CliError {
    CliError::usage(format!("the session `{id}` already has its files: `--mount` is for new sessions"))
        .hint(format!("`tollhouse session put {id} FILE /workspace/…` copies a file or a directory in"))
}

/// Splits `HOST:GUEST[:ro]`: the path on this machine, the path in the session if given, and whether it is read-only
/// there.
fn split_mount(mount: &str) -> (&str, Option<&str>, bool) {
    let (paths, read_only) = mount.strip_suffix(":ro").map_or((mount, false), |paths| (paths, true));
    match paths.rsplit_once(':') {
        Some((host, guest)) => (host, Some(guest), read_only),
        None => (paths, None, read_only),
    }
}

/// Returns the alias of the program that `--allow ALIAS/run` grants, with the session's files. Anything else that is
/// mounted under such an alias is granted its function `run`.
pub(crate) fn command_of(pattern: &str) -> Option<String> {
    let alias = pattern.strip_suffix("/run")?;
    (!alias.contains(['/', '*'])).then(|| alias.to_owned())
}

/// Returns the grants of `--allow`, except those of programs as commands, which are known when packages are mounted.
pub(crate) fn allowed(patterns: &[String]) -> Result<Vec<Grant>> {
    let grants = patterns.iter().map(|pattern| (pattern, Grant::allow(pattern)));
    let grants = grants.filter(|(pattern, grant)| grant.is_err() || command_of(pattern).is_none());
    grants.map(|(_, grant)| grant.map_err(|error| CliError::usage(error.to_string()))).collect()
}

/// Splits `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it must have a name, `=` and a value".to_owned()),
    }
}
