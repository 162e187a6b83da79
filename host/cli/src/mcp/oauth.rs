//! Configuration of an authorization server whose access tokens `tollhouse mcp --http` accepts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tollhouse::capability::{Grant, MAX_POLICY, Policy, ServerUrl, parse_duration};
use tollhouse_mcp::{Algorithm, KeySource, OAuthOptions};
use tollhouse_registry::untrusted_file;
use toml::Spanned;

use crate::error::USAGE;
use crate::locations;
use crate::policy_file::PolicyFile;
use crate::{CliError, Result};

/// Most bytes of a file with keys.
const MAX_KEYS: u64 = 256 << 10;

/// Most scopes. Clients are told all of them, in a header.
const MAX_SCOPES: usize = 64;

/// Longest name of a scope, in bytes.
const MAX_SCOPE: usize = 100;

/// Difference of clocks that is allowed by default, and at most.
const LEEWAY: Duration = Duration::from_secs(30);
const MAX_LEEWAY: Duration = Duration::from_secs(5 * 60);

/// Configuration as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigurationText {
    issuer: Spanned<String>,
    resource: Spanned<String>,
    audience: Option<Spanned<String>>,
    jwks: Option<Spanned<String>>,
    algorithms: Option<Vec<Spanned<String>>>,
    leeway: Option<Spanned<String>>,
    scopes: BTreeMap<Spanned<String>, PathBuf>,
    approve: Option<Spanned<String>>,
}

/// Configuration of an authorization server: who issues tokens, whom they are for, and what their scopes grant.
pub(super) struct OAuthConfiguration {
    pub(super) tokens: OAuthOptions,
}

/// File that is read, for errors that show a position in it.
struct Source<'a> {
    name: String,
    text: &'a str,
}

impl OAuthConfiguration {
    /// Reads a configuration, with the keys and policies that it names. It comes before the process is confined.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = read(path, "configuration", MAX_POLICY as u64)?;
        let source = Source { name: path.display().to_string(), text: &text };
        let written: ConfigurationText =
            toml::from_str(&text).map_err(|error| source.wrong(error.message(), error.span()))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let tokens = OAuthOptions {
            issuer: source.address("issuer", &written.issuer)?,
            resource: source.address("resource", &written.resource)?,
            audience: source.audience(written.audience.as_ref().unwrap_or(&written.resource))?,
            keys: source.keys(written.jwks.as_ref(), directory)?,
            algorithms: source.algorithms(written.algorithms)?,
            leeway: source.leeway(written.leeway.as_ref())?,
            scopes: source.scopes(&written.scopes, directory)?,
            approve: source.approve(written.approve.as_ref(), &written.scopes)?,
        };
        Ok(Self { tokens })
    }
}

impl Source<'_> {
    fn wrong(&self, what: &str, span: Option<std::ops::Range<usize>>) -> CliError {
        CliError::usage(format!("`--oauth {}`: {what}", self.name)).at(&self.name, self.text, span)
    }

    fn address(&self, key: &str, value: &Spanned<String>) -> Result<ServerUrl> {
        let parsed = ServerUrl::parse(value.get_ref());
        parsed.map_err(|error| self.wrong(&format!("`{key}`: {error}"), Some(value.span())))
    }

    fn audience(&self, written: &Spanned<String>) -> Result<String> {
        match written.get_ref().trim() {
            "" => Err(self.wrong("`audience` is empty: tokens for this server have its name", Some(written.span()))),
            _ => Ok(written.get_ref().clone()),
        }
    }

    fn keys(&self, jwks: Option<&Spanned<String>>, directory: &Path) -> Result<KeySource> {
        Ok(match jwks {
            None => KeySource::Discovery(locations::network()?),
            Some(url) if url.get_ref().contains("://") => {
                KeySource::Url(self.address("jwks", url)?, locations::network()?)
            }
            Some(file) => {
                let text = read(&directory.join(file.get_ref()), "keys", MAX_KEYS)?;
                KeySource::Text(text.into_bytes())
            }
        })
    }

    fn algorithms(&self, written: Option<Vec<Spanned<String>>>) -> Result<Vec<Algorithm>> {
        let Some(written) = written else { return Ok(Algorithm::ALL.to_vec()) };
        if written.is_empty() {
            return Err(self.wrong("`algorithms` is empty: no token would be accepted", None));
        }
        let named = written.iter().map(|name| {
            Algorithm::named(name.get_ref()).ok_or_else(|| {
                let what = format!("`{}` is not an algorithm that tokens may have", name.get_ref());
                self.wrong(&what, Some(name.span())).hint("use `ES256`, `EdDSA` or `RS256`")
            })
        });
        named.collect()
    }

    fn leeway(&self, written: Option<&Spanned<String>>) -> Result<Duration> {
        let Some(written) = written else { return Ok(LEEWAY) };
        let wrong = |what: String| self.wrong(&format!("`leeway`: {what}"), Some(written.span()));
        match parse_duration(written.get_ref()) {
            Ok(leeway) if leeway <= MAX_LEEWAY => Ok(leeway),
            Ok(_) => Err(wrong("clocks may differ by at most 5 minutes".to_owned())),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    fn scopes(
        &self,
        written: &BTreeMap<Spanned<String>, PathBuf>,
        directory: &Path,
    ) -> Result<BTreeMap<String, Vec<Grant>>> {
        if written.is_empty() || written.len() > MAX_SCOPES {
            return Err(self.wrong(&format!("`[scopes]` has 1 to {MAX_SCOPES} scopes, each with a policy"), None));
        }
        let grants = written.iter().map(|(scope, policy)| {
            self.check_scope(scope)?;
            Ok((scope.get_ref().clone(), grants(scope.get_ref(), &directory.join(policy))?))
        });
        grants.collect()
    }

    fn check_scope(&self, scope: &Spanned<String>) -> Result<()> {
        let name = scope.get_ref();
        if name.is_empty() || name.len() > MAX_SCOPE || !name.bytes().all(is_of_scope) {
            let what = format!("a scope has 1 to {MAX_SCOPE} printable ASCII characters, and no space, `\"` or `\\`");
            return Err(self.wrong(&what, Some(scope.span())));
        }
        Ok(())
    }

    /// Checks the scope of clients that decide, which grants nothing.
    fn approve(
        &self,
        written: Option<&Spanned<String>>,
        granting: &BTreeMap<Spanned<String>, PathBuf>,
    ) -> Result<Option<String>> {
        let Some(scope) = written else { return Ok(None) };
        self.check_scope(scope)?;
        if granting.keys().any(|granting| granting.get_ref() == scope.get_ref()) {
            let what = format!("`approve` is the scope `{}`, which `[scopes]` has too", scope.get_ref());
            return Err(self
                .wrong(&what, Some(scope.span()))
                .hint("whoever decides about calls can do nothing else: it is a scope of its own"));
        }
        Ok(Some(scope.get_ref().clone()))
    }
}

/// Returns true for the characters of a scope (RFC 6749, section 3.3).
fn is_of_scope(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\')
}

/// Reads the grants of a scope. Nothing else is a scope's to say.
fn grants(scope: &str, path: &Path) -> Result<Vec<Grant>> {
    let policy = PolicyFile::read(path)?.parse()?;
    let grants = policy.grants.clone();
    let names: BTreeSet<&str> = grants.iter().map(|grant| grant.name.as_str()).collect();
    if names.len() != grants.len() || policy != (Policy { grants: grants.clone(), ..Policy::default() }) {
        let what = format!("the policy `{}` of the scope `{scope}` has more than `[[grant]]`", path.display());
        return Err(CliError::usage(what).of_policy().hint(
            "`[tools]`, `[mcp.…]`, `[tool.…]` and `[limits]` hold for all clients: put them in the policy of `--policy`",
        ));
    }
    Ok(grants)
}

fn read(path: &Path, what: &str, most: u64) -> Result<String> {
    untrusted_file::read_named_text(path, most).map_err(|error| {
        let what = format!("cannot read the {what} `{}`", path.display());
        CliError::because(what, &std::io::Error::from(error)).status(USAGE)
    })
}
