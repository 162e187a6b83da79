//! Grants for programs that scripts run as shell commands: permission to call them, and access to the session's files.

use tollhouse_registry::FileRule;

use crate::capability::{Grant, Permissions, Policy, PolicyError};
use crate::tool::MountedTools;

/// Adds grants for `aliases` to a policy, as `--allow ALIAS/run` requests them. A program gets its one method, and all
/// of the session's files if its manifest requests files, unless the policy already has permissions for it. Any other
/// tool gets its function `run`, and no files.
///
/// # Errors
/// If an alias is not valid.
pub(super) fn grant_commands(
    policy: &mut Policy,
    aliases: &[String],
    mounted: &MountedTools,
) -> Result<(), PolicyError> {
    for alias in aliases {
        let program = mounted.get(alias).filter(|tool| tool.function().is_program());
        let pattern = if program.is_some() { alias.clone() } else { format!("{alias}/run") };
        let grant = Grant::allow(&pattern).map_err(|error| PolicyError::new(error.to_string(), None))?;
        policy.push(grant);
        let asks_for_files = program
            .as_ref()
            .and_then(|program| program.package())
            .is_some_and(|package| !package.permissions().files.is_empty());
        if asks_for_files {
            policy.permissions.entry(alias.clone()).or_insert_with(whole_session);
        }
    }
    Ok(())
}

/// Permissions for all files of a session, which are never files of the machine.
fn whole_session() -> Permissions {
    Permissions { files: vec![FileRule { path: "/".to_owned(), write: true }], ..Permissions::default() }
}
