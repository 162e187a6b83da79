//! Authority of the tools of one alias in one session: the intersection of their manifest's requests **and** the
//! policy's grants.
//!
//! Made once a session and consulted at every request. A permission that only one of the two names does not exist.

use std::net::IpAddr;
use std::sync::Arc;

use tollhouse_registry::{FileRule, HttpRequest, HttpRule, Permissions as Asked};

use super::http::is_public;
use crate::capability::{Pattern, Permissions, PolicyError, SecretGrant};
use crate::vfs::{Action, Body, Edit, Grant, Scope};

/// Authority of the tools of one alias.
pub(crate) struct Authority {
    alias: Arc<str>,
    asked: Vec<HttpRule>,
    granted: Permissions,
    files: Scope,
}

impl Authority {
    /// Creates an empty authority.
    pub(crate) fn none(alias: Arc<str>) -> Self {
        Self { alias, asked: Vec::new(), granted: Permissions::default(), files: Scope::default() }
    }

    /// Creates the authority of an agent, which is not a tool: all files of its session, and nothing else besides its
    /// imports.
    pub(crate) fn agent() -> Self {
        let files = Scope::new(&[Grant { path: "/".to_owned(), write: true }]).expect("the root is a path");
        Self { files, ..Self::none("".into()) }
    }

    /// Returns true if nothing was granted by which a tool could have an effect beyond its result and its files.
    pub(crate) fn has_no_effects(&self) -> bool {
        let Permissions { http, secrets, keyvalue, tools, .. } = &self.granted;
        http.is_empty() && secrets.is_empty() && keyvalue.is_empty() && tools.is_empty()
    }

    /// Returns true if a request to some host may be made.
    pub(crate) fn reaches_network(&self) -> bool {
        !self.granted.http.is_empty()
    }

    /// Returns true if some file of the session may be written.
    pub(crate) fn writes_files(&self) -> bool {
        self.files.writes_below("/")
    }

    /// Returns true if a call may have made a change of a file: the path was granted, or leads to one that was.
    pub(crate) fn may_have_made(&self, edit: &Edit) -> bool {
        let is_parent = matches!(edit.action, Action::Put { body: Body::Directory, .. });
        self.files.writes(&edit.path) || (is_parent && self.files.writes_below(&edit.path))
    }

    /// Creates the intersection of requested and granted permissions.
    ///
    /// # Errors
    /// If the policy grants something that the manifest does not request: one of the two is mistaken about the tool.
    pub(crate) fn new(alias: &str, asked: &Asked, granted: &Permissions) -> Result<Self, PolicyError> {
        let unasked = |what: String, asks: Vec<String>| {
            let message = format!("`tool.{alias}` grants {what}, but the tool's manifest does not request it");
            let asks = if asks.is_empty() { "nothing of the kind".to_owned() } else { asks.join(", ") };
            Err(PolicyError::new(message, granted.span.0.clone()).hint(format!("it requests {asks}")))
        };
        let texts = |rules: &[HttpRule]| rules.iter().map(|rule| format!("`{rule}`")).collect();
        if let Some(rule) = granted.http.iter().find(|rule| !asked.http.iter().any(|ask| ask.overlaps(rule))) {
            return unasked(format!("requests to `{rule}`"), texts(&asked.http));
        }
        for secret in &granted.secrets {
            let asks = || asked.secrets.iter().filter(|ask| ask.name == secret.name || ask.name == "*");
            if asks().any(|ask| ask.expose || !secret.expose) {
                continue;
            }
            match asks().next() {
                Some(ask) => {
                    let what = format!("the sight of the secret `{}`", secret.name);
                    return unasked(what, vec![format!("`{}` without `expose`", ask.name)]);
                }
                None => {
                    let names = asked.secrets.iter().map(|ask| format!("`{}`", ask.name));
                    return unasked(format!("the secret `{}`", secret.name), names.collect());
                }
            }
        }
        if let Some(bucket) = granted.keyvalue.iter().find(|bucket| !asked.keyvalue.contains(bucket)) {
            let names = asked.keyvalue.iter().map(|bucket| format!("`{bucket}`"));
            return unasked(format!("the bucket `{bucket}`"), names.collect());
        }
        for grant in &granted.tools {
            // A manifest names other tools by their packages; here they have aliases.
            let method = any_alias(&grant.method.to_string());
            if !asked.tools.iter().any(|ask| overlap(&method, &any_alias(ask))) {
                let patterns = asked.tools.iter().map(|ask| format!("`{ask}`"));
                return unasked(format!("calls of `{}`", grant.method), patterns.collect());
            }
        }
        let mut files = Vec::new();
        for rule in &granted.files {
            let shared: Vec<FileRule> = asked.files.iter().filter_map(|ask| intersection(ask, rule)).collect();
            if shared.is_empty() {
                let paths = asked.files.iter().map(|ask| format!("`{ask}`"));
                return unasked(format!("files of `{rule}`"), paths.collect());
            }
            files.extend(shared);
        }
        let files = scope(&files).map_err(|error| PolicyError::new(error, granted.span.0.clone()))?;
        Ok(Self { alias: alias.into(), asked: asked.http.clone(), granted: granted.clone(), files })
    }

    /// Returns the alias of the tools.
    pub(crate) fn alias(&self) -> &Arc<str> {
        &self.alias
    }

    /// Returns true if a request may be made, judged by its host name; [`Authority::allows_address`] judges the
    /// resolved addresses.
    pub(super) fn allows(&self, request: &HttpRequest<'_>) -> bool {
        self.asked.iter().any(|rule| rule.covers(request)) && self.granted.http.iter().any(|rule| rule.covers(request))
    }

    /// Returns true if a request may be made to an address that its host resolved to. Public addresses need no more
    /// than the rule for the name; any other must be granted as an address, so that no name, whoever controls it, leads
    /// into a private network.
    pub(super) fn allows_address(&self, request: &HttpRequest<'_>, address: IpAddr) -> bool {
        let host = address.to_canonical().to_string();
        let names = |rule: &&HttpRule| rule.names_address(address);
        is_public(address)
            || self.granted.http.iter().filter(names).any(|rule| rule.covers(&HttpRequest { host: &host, ..*request }))
    }

    /// Returns true if a request may carry the value of a secret, judged by its host name; [`Authority::sends_to`]
    /// judges the resolved addresses.
    pub(super) fn sends(&self, secret: &str, request: &HttpRequest<'_>) -> bool {
        let covers = |rule: &HttpRule| rule.covers(request);
        self.secret(secret).is_some_and(|secret| {
            // Parsed policies are checked for this already; others are built in Rust.
            let shut = |rule: &HttpRule| secret.insecure || !rule.is_open();
            secret.rules(&self.granted).iter().any(|rule| covers(rule) && shut(rule))
        })
    }

    /// Returns true if the value of a secret may be sent to an address that the request's host resolved to: without TLS
    /// only to this machine, unless the policy says otherwise.
    pub(super) fn sends_to(&self, secret: &str, request: &HttpRequest<'_>, address: IpAddr) -> bool {
        let private = request.scheme == "https" || address.to_canonical().is_loopback();
        private || self.secret(secret).is_some_and(|secret| secret.insecure)
    }

    /// Returns the only header that may hold the value of a secret, in lower case, if the policy names one.
    pub(super) fn header_of(&self, secret: &str) -> Option<&str> {
        self.secret(secret)?.header.as_deref()
    }

    fn secret(&self, name: &str) -> Option<&SecretGrant> {
        self.granted.secrets.iter().find(|granted| granted.name == name)
    }

    /// Iterates over the secrets, with true for those whose values the tool may see.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (&str, bool)> {
        self.granted.secrets.iter().map(|secret| (secret.name.as_str(), secret.expose))
    }

    /// Returns true if a bucket may be opened.
    pub(super) fn opens(&self, bucket: &str) -> bool {
        self.granted.keyvalue.iter().any(|granted| granted == bucket)
    }

    /// Returns the session's files that the tools may use.
    pub(super) fn files(&self) -> &Scope {
        &self.files
    }
}

fn scope(rules: &[FileRule]) -> Result<Scope, String> {
    let grants: Vec<Grant> = rules.iter().map(|rule| Grant { path: rule.path.clone(), write: rule.write }).collect();
    Scope::new(&grants).map_err(|errno| format!("a path of `files` cannot be in any session: {errno}"))
}

/// Returns the rule that permits what both rules permit.
fn intersection(ask: &FileRule, grant: &FileRule) -> Option<FileRule> {
    let inner = [(ask, grant), (grant, ask)].into_iter().find(|(outer, inner)| outer.holds(&inner.path))?.1;
    Some(FileRule { path: inner.path.clone(), write: ask.write && grant.write })
}

/// Returns a pattern that matches under any alias.
fn any_alias(pattern: &str) -> String {
    match pattern.split_once('/') {
        Some((alias, rest)) if alias != "**" => format!("*/{rest}"),
        _ => pattern.to_owned(),
    }
}

fn overlap(one: &str, other: &str) -> bool {
    let read = |text: &str| text.parse::<Pattern>().ok();
    read(one).zip(read(other)).is_some_and(|(one, other)| one.overlaps(&other))
}

#[cfg(test)]
mod tests {
    use tollhouse_registry::Manifest;

    use super::*;
    use crate::capability::Policy;

    fn asked(permissions: &str) -> Asked {
        let text = format!("name = \"a:b\"\nversion = \"1.0.0\"\n[permissions]\n{permissions}");
        Manifest::parse(&text).expect("a manifest").permissions
    }

    fn authority(asks: &str, grants: &str) -> Result<Authority, PolicyError> {
        let policy = Policy::parse(&format!("[tool.w]\n{grants}")).expect("a policy");
        Authority::new("w", &asked(asks), &policy.permissions["w"])
    }

    fn get<'a>(host: &'a str, path: &'a str) -> HttpRequest<'a> {
        HttpRequest { method: "GET", scheme: "https", host, port: 443, path }
    }

    #[test]
    fn request_needs_both_manifest_and_grant() {
        let both = authority("http = [\"*.example/v1\"]", "http = [\"api.example\"]").expect("they overlap");
        assert!(both.allows(&get("api.example", "/v1/x")));
        assert!(!both.allows(&get("api.example", "/v2")), "not asked for");
        assert!(!both.allows(&get("www.example", "/v1")), "not granted");
        assert!(!Authority::none("w".into()).allows(&get("api.example", "/v1")));
    }

    #[test]
    fn authority_granted_is_limited_to_what_manifest_asks_for() {
        for (asks, grants) in [
            ("", "http = [\"api.example\"]"),
            ("http = [\"api.example\"]", "http = [\"http://api.example\"]"),
            ("http = [\"x\"]", "http = [\"x\"]\nsecrets = [\"KEY\"]"),
            ("http = [\"x\"]\nsecrets = [\"KEY\"]", "secrets = [{ name = \"KEY\", expose = true }]"),
            ("keyvalue = [\"a\"]", "keyvalue = [\"b\"]"),
            ("files = [\"/workspace/in\"]", "files = [\"/tmp\"]"),
            ("tools = [\"stats/*\"]", "tools = [\"numbers/x/y\"]"),
        ] {
            assert!(authority(asks, grants).is_err(), "{asks} {grants}");
        }
        assert!(
            authority("tools = [\"stats/*\"]", "tools = [\"numbers/describe\"]").is_ok(),
            "an alias is the session's"
        );
        let files = authority("files = [\"/workspace/in:ro\"]", "files = [\"/workspace\"]").expect("they overlap");
        let reads = ["/workspace", "/workspace/in", "/workspace/in/x", "/tmp"].map(|path| files.files.reads(path));
        assert_eq!(reads, [false, true, true, false]);
        assert!(!files.files.writes("/workspace/in/x"), "it asked to read");
    }

    #[test]
    fn secret_is_sent_by_tls_or_locally_whatever_the_policy_says() {
        let grants = "http = [\"http://api.example\", \"http://localhost\"]\n\
             secrets = [{ name = \"KEY\", insecure = true, header = \"X-Key\" }]";
        let asks = "http = [\"http://*\"]\nsecrets = [\"KEY\"]";
        let [away, here] = ["10.0.0.7", "127.0.0.2"].map(|text| text.parse().expect("an address"));
        let mut told = authority(asks, grants).expect("asked for");
        let plain = |host| HttpRequest { scheme: "http", port: 80, ..get(host, "/") };
        assert!(told.sends("KEY", &plain("api.example")) && told.sends_to("KEY", &plain("api.example"), away));
        assert_eq!(told.header_of("KEY"), Some("x-key"));
        // Not expressible in a policy file, but a policy built in Rust is held to the same rule.
        told.granted.secrets[0].insecure = false;
        assert!(!told.sends("KEY", &plain("api.example")));
        assert!(told.sends("KEY", &plain("localhost")) && told.sends_to("KEY", &plain("localhost"), here));
        assert!(!told.sends_to("KEY", &plain("localhost"), away), "a name of this machine that leads elsewhere");
        assert!(told.sends_to("KEY", &get("api.example", "/"), away), "by TLS");
        assert!(!told.sends("OTHER", &plain("localhost")));
    }

    #[test]
    fn private_address_is_reached_only_by_a_rule_that_names_it() {
        let [public, private] = ["93.184.215.14", "10.0.0.7"].map(|text| text.parse().expect("an address"));
        let by_name = authority("http = [\"*\"]", "http = [\"*\", \"api.example\"]").expect("asked for");
        assert!(by_name.allows_address(&get("api.example", "/"), public));
        assert!(!by_name.allows_address(&get("api.example", "/"), private));
        assert!(!by_name.allows_address(&get("10.0.0.7", "/"), private));
        let by_address = authority("http = [\"*\"]", "http = [\"api.example\", \"10.0.0.7/v1\"]").expect("asked for");
        assert!(by_address.allows_address(&get("api.example", "/v1"), private));
        assert!(!by_address.allows_address(&get("api.example", "/v2"), private));
    }
}
