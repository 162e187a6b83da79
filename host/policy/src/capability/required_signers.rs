//! Signers required of the packages that a session mounts. Nothing here verifies a signature.
//!
//! A list of signers is a choice: one of them must have signed. Several lists must all be satisfied, so that narrowing
//! a policy can only add requirements.

use std::collections::BTreeMap;

use tollhouse_types::key::PublicKey;

use super::policy::PolicyError;
use super::policy_parser;
use super::spanned_value::{DocumentValue, SpannedValue};

/// Maximum number of signers in one `require_signature`: each may be tried at each load.
const MAX_SIGNERS: usize = 100;

/// The signers required of mounted packages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signed {
    /// Requirements for every package: one signer of each list.
    pub all: Vec<Vec<Signer>>,
    /// Requirements for the package of an alias: one signer of each list.
    pub tools: BTreeMap<String, Vec<Vec<Signer>>>,
}

/// A signer, given by key or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signer {
    /// A key.
    Key(PublicKey),
    /// The name of a key on this machine: see [`Signed::resolve`].
    Name(String),
}

impl Signed {
    /// Returns true if no signatures are required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.tools.is_empty()
    }

    /// Returns the lists that apply to an alias.
    pub fn of<'a>(&'a self, alias: &str) -> impl Iterator<Item = &'a [Signer]> {
        let own = self.tools.get(alias).into_iter().flatten();
        self.all.iter().chain(own).map(Vec::as_slice)
    }

    /// Returns the first signer that is given by name and not by key.
    #[must_use]
    pub fn unresolved(&self) -> Option<&str> {
        let signers = self.all.iter().chain(self.tools.values().flatten()).flatten();
        signers.into_iter().find_map(|signer| match signer {
            Signer::Name(name) => Some(name.as_str()),
            Signer::Key(_) => None,
        })
    }

    /// Replaces each name that `keys` knows by its key.
    pub fn resolve(&mut self, keys: impl Fn(&str) -> Option<PublicKey>) {
        for signer in self.all.iter_mut().chain(self.tools.values_mut().flatten()).flatten() {
            if let Signer::Name(name) = signer
                && let Some(key) = keys(name)
            {
                *signer = Signer::Key(key);
            }
        }
    }

    /// Combines the requirements of both.
    #[must_use]
    pub fn and(&self, other: Self) -> Self {
        let mut both = self.clone();
        add(&mut both.all, other.all);
        for (alias, lists) in other.tools {
            add(both.tools.entry(alias).or_default(), lists);
        }
        both
    }

    /// Returns true if everything that satisfies this satisfies `other`.
    pub(super) fn demands(&self, other: &Self) -> bool {
        let within = |list: &[Signer], of: &[Signer]| list.iter().all(|signer| of.contains(signer));
        let all = |wanted: &Vec<Signer>| self.all.iter().any(|own| within(own, wanted));
        other.all.iter().all(all)
            && other
                .tools
                .iter()
                .all(|(alias, lists)| lists.iter().all(|wanted| self.of(alias).any(|own| within(own, wanted))))
    }
}

fn add(lists: &mut Vec<Vec<Signer>>, more: Vec<Vec<Signer>>) {
    for list in more {
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
}

/// Reads `require_signature`: a list of signers, or a list of such lists.
pub(super) fn lists(node: SpannedValue, what: &str) -> Result<Vec<Vec<Signer>>, PolicyError> {
    let span = node.span.clone();
    let nodes = policy_parser::list(node, what)?;
    let nested = nodes.iter().any(|node| matches!(node.value, DocumentValue::Array(_)));
    let lists = if nested {
        nodes.into_iter().map(|node| list(node, what)).collect::<Result<_, _>>()?
    } else {
        vec![signers(nodes, what)?]
    };
    if lists.iter().any(Vec::is_empty) {
        let error = PolicyError::new(format!("`{what}` is empty: nothing could ever be mounted"), span);
        return Err(error.hint("name a key, or leave it out"));
    }
    if lists.iter().map(Vec::len).sum::<usize>() > MAX_SIGNERS {
        return Err(PolicyError::new(format!("`{what}` names more than {MAX_SIGNERS} signers"), span));
    }
    Ok(lists)
}

fn list(node: SpannedValue, what: &str) -> Result<Vec<Signer>, PolicyError> {
    signers(policy_parser::list(node, what)?, what)
}

fn signers(nodes: Vec<SpannedValue>, what: &str) -> Result<Vec<Signer>, PolicyError> {
    let signer = |node: SpannedValue| {
        let span = node.span.clone();
        let text = policy_parser::string(node, what)?;
        text.parse().map_err(|error: SignerError| PolicyError::new(error.to_string(), span))
    };
    nodes.into_iter().map(signer).collect()
}

/// Text that is neither a public key nor the name of one.
#[derive(Debug, thiserror::Error)]
#[error("{0}; a name has letters, digits, `-`, `_` and `.`")]
pub struct SignerError(tollhouse_types::key::KeyError);

impl std::str::FromStr for Signer {
    type Err = SignerError;

    fn from_str(text: &str) -> Result<Self, SignerError> {
        if tollhouse_types::key::is_key_name(text) {
            return Ok(Self::Name(text.to_owned()));
        }
        text.parse().map(Self::Key).map_err(SignerError)
    }
}

impl std::fmt::Display for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::capability::Policy;

    const ONE: &str = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    const TWO: &str = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";

    fn policy(text: &str) -> Policy {
        Policy::parse(text).expect(text)
    }

    #[test]
    fn required_signers_in_every_form_are_read_and_written_back() {
        for text in [
            format!("require_signature = ['{ONE}', 'acme']"),
            format!("require_signature = [['{ONE}'], ['{TWO}', 'acme']]"),
            format!("[tools]\ncsv = 'a:csv'\nstats = {{ package = 'a:stats@^1', require_signature = ['{ONE}'] }}"),
        ] {
            let read = policy(&text);
            assert_eq!(Policy::parse(&read.to_toml()).expect("TOML").signed, read.signed, "{}", read.to_toml());
            let json = Policy::parse_json(&read.to_json().to_string()).expect("JSON");
            assert_eq!((json.signed, json.tools), (read.signed, read.tools));
        }
    }

    #[test]
    fn required_signers_with_invalid_settings_are_refused_with_span() {
        for (text, expected) in [
            ("require_signature = []", "is empty"),
            ("require_signature = [[]]", "is empty"),
            ("require_signature = 'acme'", "a list belongs here"),
            ("require_signature = ['acme', ['x']]", "a list belongs here"),
            ("require_signature = ['ed25519:x']", "44 characters"),
            ("require_signature = ['a b']", "a name has letters"),
            ("[tools]\nx = { package = 'a:x', require_signatures = ['a'] }", "unknown key `require_signatures`"),
            ("[tools]\nx = { require_signature = ['a'] }", "has no `package`"),
            ("[tools]\nx = 1", "a requirement"),
        ] {
            let error = Policy::parse(text).expect_err(text);
            assert!(error.message.contains(expected), "{text}: {error}");
            assert!(error.span.is_some(), "{text}");
        }
    }

    #[test]
    fn required_signers_attenuated_are_only_added() {
        let wide = policy(&format!("require_signature = ['{ONE}', '{TWO}']"));
        for narrower in
            [policy(""), policy(&format!("require_signature = ['{TWO}']")), policy("require_signature = ['x']")]
        {
            let both = wide.attenuate(narrower.clone()).expect("it adds");
            assert!(both.signed.demands(&wide.signed) && both.signed.demands(&narrower.signed));
            assert!(both.is_subset_of(&wide) && both.is_subset_of(&narrower));
            assert_eq!(
                narrower.signed.demands(&wide.signed),
                narrower.signed.all.iter().any(|list| list.len() == 1 && list[0].to_string() == TWO)
            );
        }
        assert!(!policy("").is_subset_of(&wide));
        let own = policy(&format!("[tools]\nx = {{ package = 'a:x', require_signature = ['{ONE}'] }}"));
        assert!(wide.attenuate(own.clone()).expect("it adds").signed.demands(&own.signed));
        assert!(policy(&format!("require_signature = ['{ONE}']")).signed.demands(&own.signed), "all are some");
    }

    #[test]
    fn signer_name_is_resolved_to_its_key() {
        let mut signed = policy("require_signature = ['acme', 'other']").signed;
        signed.resolve(|name| (name == "acme").then(|| ONE.parse().expect("a key")));
        assert_eq!((signed.all[0][0].to_string().as_str(), signed.unresolved()), (ONE, Some("other")));
    }
}
