//! Programs that are granted as commands of the shell: to be called, and with the files of the session that calls them.

use tollhouse_registry::FileRule;

use crate::capability::{Grant, Permissions, Policy, PolicyError};
use crate::tool::MountedTools;

/// Adds grants to a policy for `aliases`, as `--allow ALIAS/run` asks for them. Of a program that is its one method,
/// and all of the session's files as far as its manifest asks for them, unless the policy says itself what the program
/// may touch. Of any other tool it is the function `run`, and no files.
///
/// # Errors
/// If an alias is none.
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

/// The files of a session, which are never those of the machine.
fn whole_session() -> Permissions {
    Permissions { files: vec![FileRule { path: "/".to_owned(), write: true }], ..Permissions::default() }
}
