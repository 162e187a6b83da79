//! Widening of a session's authority by its operator.

use super::command_grants::grant_commands;
use super::host::{Host, HostError, file_limits, with_host_tools};
use super::persistence::{SessionId, Sessions, Waiting};
use crate::capability::{Grant, Permissions, Policy, PolicyError};
use crate::gate::{Gate, GateOptions};
use crate::tool::{HostTool, Lock};

/// Additions to the authority of a session.
#[derive(Clone, Debug, Default)]
pub struct Widening {
    /// Grants that are appended to those of the session.
    pub grants: Vec<Grant>,
    /// Permissions of tools, by alias: only for aliases for which the session has none yet.
    pub permissions: Vec<(String, Permissions)>,
    /// Packages that are mounted in addition: alias and requirement (`ns:name@^1`).
    pub tools: Vec<(String, String)>,
    /// Aliases of programs that scripts may run as commands: each is granted, and sees the session's files unless the
    /// session already has permissions for it. A tool that is not a program gets its function `run`, and no files.
    pub commands: Vec<String>,
    /// Host functions that the embedding program provides when it opens the session: added grants may cover them too.
    pub host_tools: Vec<HostTool>,
}

impl Host {
    /// Widens the authority of a session, for runs that start later and processes that open the session later. The
    /// change is recorded in the session's log and its list of runs.
    ///
    /// # Errors
    /// If the session does not exist, or the addition conflicts with what the session has: then nothing is changed.
    pub fn widen(
        &self,
        sessions: &Sessions,
        id: &SessionId,
        more: Widening,
        waiting: Option<Waiting>,
    ) -> Result<Policy, HostError> {
        let limits = file_limits(&sessions.reader().policy(id)?.limits);
        let what = description(&more);
        let (host_tools, commands) = (more.host_tools.clone(), more.commands.clone());
        let persistent = sessions.live(id, waiting)?;
        persistent.widen(limits, &what, |policy, lock| {
            let (mut policy, lock) = self.widened(policy, lock, more)?;
            let mounted = with_host_tools(self.packages().mount_locked(&lock, &policy.signed)?, &host_tools, None)?;
            grant_commands(&mut policy, &commands, &mounted)?;
            // An invalid addition must not be saved.
            drop(Gate::new(mounted, policy.clone(), GateOptions::default())?);
            Ok((policy, lock))
        })
    }

    fn widened(&self, mut policy: Policy, mut lock: Lock, more: Widening) -> Result<(Policy, Lock), HostError> {
        for (alias, requirement) in more.tools {
            if lock.packages.contains_key(&alias) {
                return Err(refused(format!("the session has already mounted `{alias}`")));
            }
            let alone = Policy { tools: Some([(alias.clone(), requirement.clone())].into()), ..Policy::default() };
            lock.packages.extend(self.packages().pin(&alone, &[], &Lock::default())?.packages);
            if let Some(tools) = &mut policy.tools {
                tools.insert(alias, requirement);
            }
        }
        for (alias, permissions) in more.permissions {
            if policy.permissions.insert(alias.clone(), permissions).is_some() {
                return Err(refused(format!("the session already has permissions for the tool `{alias}`")));
            }
        }
        for mut grant in more.grants {
            if is_numbered(&grant) {
                grant.name.clear();
            } else if policy.grants.iter().any(|own| own.name == grant.name) {
                return Err(refused(format!("the session already has a grant `{}`", grant.name)));
            }
            policy.push(grant);
        }
        Ok((policy, lock))
    }
}

/// Returns true if a grant was given no name: it is numbered among those of the session.
fn is_numbered(grant: &Grant) -> bool {
    let number = grant.name.strip_prefix(&grant.method.to_string()).and_then(|rest| rest.strip_prefix('#'));
    grant.name.is_empty() || number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn refused(message: String) -> HostError {
    PolicyError::new(message, None).into()
}

/// Description of the addition, for the log.
fn description(more: &Widening) -> String {
    let grants = more.grants.iter().map(|grant| format!("`{}`", grant.method));
    let tools = more.tools.iter().map(|(alias, requirement)| format!("tool {alias}={requirement}"));
    let permissions = more.permissions.iter().map(|(alias, _)| format!("permissions of `{alias}`"));
    let commands = more.commands.iter().map(|alias| format!("`{alias}/run`"));
    let parts: Vec<String> = grants.chain(tools).chain(permissions).chain(commands).collect();
    format!("granted {}", parts.join(", "))
}
