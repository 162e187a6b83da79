//! `tollhouse registry trust`: the keys that this user trusts, by name.

use std::collections::BTreeMap;

use clap::Subcommand;
use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::gate::ApproverKeys;
use tollhouse_registry::{PublicKey, TrustError, TrustedKeys};

use super::super::error::USAGE;
use super::super::locations::Locations;
use super::super::{CliError, Result, show, token};
use crate::Exit;

/// Give names to the keys that you trust, for `require_signature` and `approved_by` in policies
///
/// The file is beside the registry, not in it: whoever can write the registry must not decide whom to trust.
#[derive(Subcommand)]
#[command(after_help = "\
Example:
  tollhouse registry trust add acme ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
and in a policy:
  require_signature = [\"acme\"]")]
pub(crate) enum TrustCommand {
    /// Give a key a name
    Add {
        /// The name: letters, digits, `-`, `_` and `.`
        #[arg(value_name = "NAME")]
        name: String,
        /// The key, as `registry keygen` prints it, or its file
        #[arg(value_name = "KEY|FILE")]
        key: String,
        /// Print one JSON object: name, key, already
        #[arg(long)]
        json: bool,
    },
    /// List the keys
    Ls {
        /// Print an array of {name, key}
        #[arg(long)]
        json: bool,
    },
    /// Remove a key from the list. Sessions that were created with it keep it
    Rm {
        /// Its name, or the key itself
        #[arg(value_name = "KEY")]
        key: String,
        /// Print one JSON object: removed
        #[arg(long)]
        json: bool,
    },
}

impl TrustCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let keys = TrustedKeys::new(&locations.trusted);
        match self {
            Self::Add { name, key, json } => {
                let key = public_key(&key)?;
                let added = keys.add(&name, key).map_err(|error| failed(&error))?;
                if json {
                    show::json(&json!({ "name": name, "key": key.to_string(), "already": !added }));
                } else {
                    show::line(format_args!("{} {name} {key}", if added { "trusted" } else { "already trusted" }));
                }
            }
            Self::Ls { json } => {
                let listed = keys.list().map_err(|error| failed(&error))?;
                if json {
                    let one = |(name, key): (&String, &PublicKey)| json!({ "name": name, "key": key.to_string() });
                    let listed: Vec<Value> = listed.iter().map(one).collect();
                    show::json_pretty(&listed);
                } else {
                    if listed.is_empty() {
                        note!("there are no trusted keys: `tollhouse registry trust add NAME KEY` adds one");
                    }
                    listed.iter().for_each(|(name, key)| show::line(format_args!("{name:<24} {key}")));
                }
            }
            Self::Rm { key, json } => {
                let removed = keys.remove(&key).map_err(|error| failed(&error))?;
                if removed.is_empty() {
                    return Err(CliError::usage(format!("no trusted key is `{key}`"))
                        .hint("`tollhouse registry trust ls` lists them"));
                }
                if json {
                    show::json(&json!({ "removed": removed }));
                } else {
                    show::line(format_args!("no longer trusted: {}", removed.join(", ")));
                }
            }
        }
        Ok(Exit::SUCCESS)
    }
}

/// Parses a public key in either notation, or reads it from the file of that name.
fn public_key(text: &str) -> Result<PublicKey> {
    if let Ok(key) = text.parse() {
        return Ok(key);
    }
    let key = token::public_key(text)?.to_string();
    key.parse().map_err(|error| CliError::because(format!("`{text}` is not a key of releases"), &error).status(USAGE))
}

fn failed(error: &TrustError) -> CliError {
    super::failed("cannot use the trusted keys", error, error.hint()).status(USAGE)
}

/// Returns the names of trusted keys.
pub(crate) fn names(locations: &Locations) -> Result<BTreeMap<PublicKey, String>> {
    let keys = TrustedKeys::new(&locations.trusted).list().map_err(|error| failed(&error))?;
    Ok(keys.into_iter().map(|(name, key)| (key, name)).collect())
}

/// Returns the trusted keys by their names.
pub(crate) fn all(locations: &Locations) -> Result<ApproverKeys> {
    TrustedKeys::new(&locations.trusted).list().map_err(|error| failed(&error))
}

/// Replaces names of keys in a policy by the keys. An unknown name stays: nothing is mounted then.
pub(crate) fn resolve(policy: &mut Policy, locations: &Locations) -> Result<()> {
    if policy.signed.unresolved().is_some() {
        let keys = TrustedKeys::new(&locations.trusted).list().map_err(|error| failed(&error))?;
        policy.signed.resolve(|name| keys.get(name).copied());
    }
    Ok(())
}

/// Returns the keys of those who can approve calls by a policy.
pub(crate) fn approver_keys(policy: Option<&Policy>, locations: &Locations) -> Result<ApproverKeys> {
    let named = |name: &str| {
        let approvers = policy.iter().flat_map(|policy| &policy.grants).filter_map(|grant| grant.approved_by.as_ref());
        approvers.into_iter().any(|approvers| approvers.contains(name))
    };
    if !policy.is_some_and(|policy| policy.grants.iter().any(|grant| grant.approved_by.is_some())) {
        return Ok(ApproverKeys::new());
    }
    let keys = TrustedKeys::new(&locations.trusted).list().map_err(|error| failed(&error))?;
    Ok(keys.into_iter().filter(|(name, _)| named(name)).collect())
}
