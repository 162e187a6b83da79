//! `tollhouse policy keygen|seal|attenuate|inspect`: signing, narrowing and inspecting grants.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use tollhouse::capability::{Policy, parse_duration};
use tollhouse::gate::AuditKey;
use tollhouse::token::{Keypair, MAX_TEXT, PrivateKey, PublicKey, RevocationList, Token};
use tollhouse_registry::untrusted_file;

use super::error::USAGE;
use super::locations::Locations;
use super::policy_file::PolicyFile;
use super::registry::trust;
use super::{CliError, Result, key_file, show};
use crate::Exit;

/// Create a key that signs tokens: the private key goes into FILE (mode 0600), the public key into FILE.pub
#[derive(Args)]
#[command(after_help = "Examples:\n  tollhouse policy keygen issuer.key\n  tollhouse policy keygen --audit audit.key")]
pub(crate) struct TokenKeygenCommand {
    /// Create a key for an audit log instead (`run --audit-key`), into FILE alone
    #[arg(long)]
    audit: bool,
    /// The file for the private key, which must not exist yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Seal a policy's grants into a token that another host accepts offline
#[derive(Args)]
#[command(after_help = "\
Example:
  tollhouse policy seal policy.toml --key issuer.key --expires 24h > agent.token
  tollhouse run agent.js --token agent.token --trust issuer.key.pub")]
pub(crate) struct SealCommand {
    /// The policy: TOML, or JSON if its name says so
    #[arg(value_name = "POLICY")]
    policy: PathBuf,
    /// The issuer's private key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    more: TokenOptions,
}

/// Narrow a token, without the issuer: the result allows what both allow
#[derive(Args)]
#[command(after_help = "\
Example:
  tollhouse policy attenuate agent.token narrower.toml --expires 1h > sub-agent.token")]
pub(crate) struct AttenuateCommand {
    /// The token's file
    #[arg(value_name = "TOKEN")]
    token: PathBuf,
    /// The narrower policy
    #[arg(value_name = "POLICY")]
    policy: PathBuf,
    #[command(flatten)]
    more: TokenOptions,
}

/// Show the contents of a token: block by block, as JSON, without checking signatures; with `--trust`, the resulting policy
/// as TOML
#[derive(Args)]
pub(crate) struct InspectTokenCommand {
    /// The token's file
    #[arg(value_name = "TOKEN")]
    token: PathBuf,
    /// The issuer's public key, or its file: verify the token, and print the resulting policy
    #[arg(long, value_name = "KEY")]
    trust: Option<String>,
    /// Revoked tokens: one revocation id per line
    #[arg(long, value_name = "FILE", requires = "trust")]
    revoked: Option<PathBuf>,
    /// Print one JSON object, with `--trust` too
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct TokenOptions {
    /// Time after which it expires, for example 24h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    expires: Option<Duration>,
    /// Forbid narrowing it any further
    #[arg(long)]
    close: bool,
}

impl TokenKeygenCommand {
    pub(crate) fn execute(&self) -> Result {
        if self.audit {
            let key = AuditKey::generate().map_err(|error| CliError::because("cannot create a key", &error))?;
            key_file::write(&self.file, &key.to_text())?;
            return Ok(Exit::SUCCESS);
        }
        let keys = Keypair::generate();
        key_file::write_pair(&self.file, &keys.private().to_string(), &keys.public().to_string())?;
        show::line(keys.public());
        Ok(Exit::SUCCESS)
    }
}

impl SealCommand {
    pub(crate) fn execute(&self, locations: &Locations) -> Result {
        let key: PrivateKey = read(&self.key, "key")?.trim().parse().map_err(|error| {
            let error = failed(&format!("cannot read the key `{}`", self.key.display()), &error);
            error.hint(
                "it must be a private key, as `tollhouse policy keygen FILE` and `registry keygen --out FILE` write it",
            )
        })?;
        let mut policy = PolicyFile::read(&self.policy)?.parse()?;
        trust::resolve(&mut policy, locations)?;
        if policy.grants.is_empty() {
            note!("warning: the policy has no grants: the token allows nothing");
        }
        let sealed = Token::seal(&policy.to_json().to_string(), self.more.end(), &Keypair::from(key));
        self.more.print(sealed.map_err(|error| failed("cannot seal the policy", &error))?)
    }
}

impl AttenuateCommand {
    pub(crate) fn execute(&self, locations: &Locations) -> Result {
        let mut policy = PolicyFile::read(&self.policy)?.parse()?;
        trust::resolve(&mut policy, locations)?;
        let narrowed = token(&self.token)?.attenuate(&policy.to_json().to_string(), self.more.end());
        self.more.print(narrowed.map_err(|error| failed("cannot narrow the token", &error))?)
    }
}

impl InspectTokenCommand {
    pub(crate) fn execute(&self) -> Result {
        if let Some(trust) = &self.trust {
            let policy = open(&self.token, trust, self.revoked.as_deref())?;
            if self.json {
                show::json_pretty(&policy.to_json());
            } else {
                show::styled(super::terminal_escape::escape_toml(policy.to_toml().trim_end()));
            }
        } else {
            let shown = token(&self.token)?.inspect();
            show::json_pretty(&shown);
        }
        Ok(Exit::SUCCESS)
    }
}

impl TokenOptions {
    fn end(&self) -> Option<SystemTime> {
        self.expires.and_then(|after| SystemTime::now().checked_add(after))
    }

    fn print(&self, token: Token) -> Result {
        let token = if self.close { token.close().map_err(|error| failed("cannot close", &error))? } else { token };
        show::line(token);
        Ok(Exit::SUCCESS)
    }
}

/// Verifies the token in a file, and returns its policy.
pub(crate) fn open(path: &Path, trust: &str, revoked: Option<&Path>) -> Result<Policy> {
    let revoked = revocations(revoked)?;
    let opened = token(path)?.open(&public_key(trust)?, &revoked, SystemTime::now());
    opened.map_err(|error| failed(&format!("the token `{}` is not accepted", path.display()), &error))
}

/// Reads the list of revoked tokens; without a file, none are.
pub(crate) fn revocations(path: Option<&Path>) -> Result<RevocationList> {
    let revoked = path.map(RevocationList::load).transpose();
    Ok(revoked.map_err(|error| failed("cannot start", &error))?.unwrap_or_default())
}

/// Parses a public key, or reads it from the file of that name.
pub(crate) fn public_key(trust: &str) -> Result<PublicKey> {
    let key = if trust.contains('/') && !Path::new(trust).exists() {
        trust.to_owned()
    } else {
        read(Path::new(trust), "key")?
    };
    key.trim().parse().map_err(|error| {
        let told = failed(&format!("`{trust}` is not a public key"), &error);
        match key.trim().parse::<PrivateKey>() {
            Ok(_) => told.hint(format!("it is a private key, which is for nobody else: give `{trust}.pub`")),
            Err(_) => {
                told.hint("a public key is `ed25519:BASE64` or `ed25519/HEX`, or the FILE.pub that `keygen` wrote")
            }
        }
    })
}

fn token(path: &Path) -> Result<Token> {
    let parsed = Token::parse(&read(path, "token")?);
    parsed.map_err(|error| failed(&format!("`{}` is not a token", path.display()), &error))
}

/// Reads a text that is no longer than a token and a line break.
fn read(path: &Path, what: &str) -> Result<String> {
    untrusted_file::read_named_text(path, MAX_TEXT as u64 + 2).map_err(|error| {
        let what = format!("cannot read the {what} `{}`", path.display());
        CliError::because(what, &std::io::Error::from(error)).status(USAGE)
    })
}

fn failed(what: &str, error: &(dyn std::error::Error + 'static)) -> CliError {
    CliError::because(what, error).status(USAGE)
}
