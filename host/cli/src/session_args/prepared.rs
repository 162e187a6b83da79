//! Sessions that are about to be created from the options of a command, and what they were to be created from.

use std::collections::BTreeMap;
use std::sync::Arc;

use tollhouse::capability::{Policy, PolicyError};
use tollhouse::gate::{Approver, Audit};
use tollhouse::session::{CallSource, Host, HostError, Session, SessionOptions};
use tollhouse::tool::{Lock, McpCalls, Secrets};
use tollhouse::vfs::Tree;

use crate::lock::PinnedLock;
use crate::mcp_servers::StartedServers;
use crate::policy_file::PolicyFile;
use crate::{CliError, Result, session};

/// Prepared options of sessions in memory: the policy, the mounted files and the secrets have been read.
pub(crate) struct PreparedSession {
    pub(super) given: SessionSources,
    pub(crate) policy: Policy,
    pub(super) tools: Vec<(String, String)>,
    pub(super) commands: Vec<String>,
    /// Files that are mounted from this machine, if any.
    pub(crate) files: Option<Tree>,
    pub(super) audit: Option<Arc<dyn Audit>>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) secrets: Secrets,
    pub(super) mcp: Option<Arc<dyn McpCalls>>,
    /// Source of the results of the scripts' calls.
    pub(crate) calls: CallSource,
}

impl PreparedSession {
    /// Sets the approver that is asked where a grant requires it.
    pub(crate) fn asking(self, approver: Arc<dyn Approver>) -> Self {
        Self { approver: Some(approver), ..self }
    }

    /// Creates a session with another policy, and an approver of its own. It mounts what the policy of these options
    /// mounts, if they have one: which programs and packages are used is not for a token to say.
    pub(crate) fn session_with(
        &self,
        host: &Host,
        policy: Policy,
        approver: Arc<dyn Approver>,
    ) -> std::result::Result<Session, HostError> {
        let policy = Policy {
            mcp: self.policy.mcp.clone(),
            tools: self.policy.tools.clone().or(policy.tools),
            signed: self.policy.signed.and(policy.signed),
            ..policy
        };
        host.session(SessionOptions {
            host_tools: Vec::new(),
            mcp: self.mcp.clone(),
            policy,
            tools: self.tools.clone(),
            commands: Vec::new(),
            lock: self.given.lock(),
            files: self.files.clone(),
            audit: self.audit.clone(),
            approver: Some(approver),
            secrets: self.secrets.clone(),
            calls: CallSource::Tools,
        })
    }

    /// Creates a session with these files.
    pub(crate) fn session(&self, host: &Host, files: Option<Tree>) -> Result<Session> {
        let options = SessionOptions {
            host_tools: Vec::new(),
            mcp: self.mcp.clone(),
            policy: self.policy.clone(),
            tools: self.tools.clone(),
            commands: self.commands.clone(),
            lock: self.given.lock(),
            files,
            audit: self.audit.clone(),
            approver: self.approver.clone(),
            secrets: self.secrets.clone(),
            calls: self.calls.clone(),
        };
        host.session(options).map_err(|error| self.given.explain(error))
    }
}

/// Files and patterns of the command line that a session was to be created from, for errors.
pub(super) struct SessionSources {
    pub(super) source: Option<PolicyFile>,
    pub(super) pinned: Option<PinnedLock>,
    /// Patterns, each with its option.
    pub(super) allow: Vec<(String, String)>,
    /// Hints on how to add programs that patterns name and the registry lacks.
    pub(super) absent: Vec<String>,
}

impl SessionSources {
    /// Connects with the started MCP servers, whose tools must be the pinned ones.
    pub(super) fn connect(
        &self,
        servers: &StartedServers,
        audit: Option<&Arc<dyn Audit>>,
    ) -> Result<Option<Arc<dyn McpCalls>>> {
        let none = BTreeMap::new();
        servers.connect(self.pinned.as_ref().map_or(&none, |pinned| &pinned.lock.servers), audit)
    }

    pub(super) fn lock(&self) -> Option<Lock> {
        self.pinned.as_ref().map(|pinned| pinned.lock.clone())
    }

    /// Converts the reason why there is no session: with the position in the policy's file, and the lock if it is
    /// involved.
    pub(super) fn explain(&self, error: HostError) -> CliError {
        let of_lock = matches!(error, HostError::Mount(_) | HostError::Policy(_));
        let of_pattern = matches!(&error, HostError::Policy(error) if error.span.is_none());
        let shown = match (error, &self.source) {
            (HostError::Policy(error), Some(source)) => match self.unmounted(source, &error) {
                Some(explained) => explained,
                None => source.error(error),
            },
            (HostError::Sessions(error), _) => session::failed("cannot start", &error),
            (error, _) => error.into(),
        };
        let shown = match self.absent.first().filter(|_| of_pattern) {
            Some(hint) => shown.hint(hint),
            None => shown,
        };
        match &self.pinned {
            Some(pinned) if of_lock => shown.also(format!(
                "the lock `{}` pins what is mounted: `tollhouse lock --policy FILE` rewrites it",
                pinned.path.display()
            )),
            _ => shown,
        }
    }

    /// Returns the error of an `--allow` whose tools the policy does not mount. The error of a line of the policy has
    /// that line.
    fn unmounted(&self, source: &PolicyFile, error: &PolicyError) -> Option<CliError> {
        let policy = source.parse().ok()?;
        let tools = policy.tools.filter(|_| error.span.is_none())?;
        let alias = |pattern: &String| pattern.split('/').next().unwrap_or_default().to_owned();
        let is_mounted = |alias: &str| tools.contains_key(alias) || policy.mcp.contains_key(alias);
        let is_left_out = |pattern: &String| !pattern.starts_with('*') && !is_mounted(&alias(pattern));
        let (pattern, option) = self.allow.iter().find(|(pattern, _)| is_left_out(pattern))?;
        let alias = alias(pattern);
        let what = format!("`{option}`: `[tools]` of the policy `{}` does not mount `{alias}`", source.name());
        Some(CliError::usage(what).of_policy().hint(format!("add it there, or mount it with `--tool {alias}=NS:NAME`")))
    }
}
