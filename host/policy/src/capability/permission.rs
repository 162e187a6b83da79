//! Permissions of tools besides their arguments: the tables `[tool.ALIAS]` of a policy.
//!
//! A tool has a permission only if its manifest requests it **and** the policy grants it. Nothing here connects, reads
//! or calls.

use std::collections::BTreeMap;
use std::str::FromStr;

use tollhouse_types::http_rule::HttpRule;
use tollhouse_types::permission::{FileRule, MAX_PERMISSIONS, is_bucket_name, is_secret_name};

use super::grant::{AttenuateError, Grant};
use super::grant_format::read_grant;
use super::policy::{Policy, PolicyError};
use super::policy_parser::{self, TableReader};
use super::span::Span;
use super::spanned_value::{DocumentValue, SpannedValue};

/// The permissions of one tool; none by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Permissions {
    /// Requests that it may make with `wasi:http`.
    pub http: Vec<HttpRule>,
    /// Secrets that it may use.
    pub secrets: Vec<SecretGrant>,
    /// Paths of the session's files that it may access.
    pub files: Vec<FileRule>,
    /// Buckets of the session's key-value store, which no other tool can access.
    pub keyvalue: Vec<String>,
    /// Other tools that it may call. Each entry narrows a grant of the policy.
    pub tools: Vec<Grant>,
    /// Position in the policy's text.
    pub span: Span,
}

/// A secret that a tool may use. Its value comes from elsewhere, never from a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretGrant {
    /// Name of the secret.
    pub name: String,
    /// Set if the tool can read the value. Otherwise the host inserts it into headers of requests.
    pub expose: bool,
    /// Destinations that the value may be sent to; if empty, all that the tool may send requests to.
    pub http: Vec<HttpRule>,
    /// Set if the value may be sent over a network without TLS.
    pub insecure: bool,
    /// The only header that may contain the value, in lower case; `None` for any header.
    pub header: Option<String>,
}

impl SecretGrant {
    /// Returns the destinations that the value may be sent to, given the tool's permissions.
    #[must_use]
    pub fn rules<'a>(&'a self, permissions: &'a Permissions) -> &'a [HttpRule] {
        if self.http.is_empty() { &permissions.http } else { &self.http }
    }

    /// Returns a rule that allows the value to be sent over a network without TLS, if there is one. A tool that can
    /// read the value can send it wherever it may send anything.
    fn open_rule<'a>(&'a self, permissions: &'a Permissions) -> Option<&'a HttpRule> {
        let more = if self.expose { permissions.http.as_slice() } else { &[] };
        self.rules(permissions).iter().chain(more).find(|rule| rule.is_open())
    }
}

/// Keys of a table of permissions.
const PERMISSION_KEYS: [&str; 5] = ["http", "secrets", "files", "keyvalue", "tools"];

/// Reads the tables `[tool.*]`.
pub(super) fn all(node: SpannedValue, what: &str) -> Result<BTreeMap<String, Permissions>, PolicyError> {
    let mut all = BTreeMap::new();
    for (alias, node) in TableReader::new(node, what)?.rest() {
        let permissions = one(node, &format!("`tool.{}`", alias.name))?;
        all.insert(alias.name, permissions);
    }
    Ok(all)
}

fn one(node: SpannedValue, what: &str) -> Result<Permissions, PolicyError> {
    let span = node.span.clone();
    let mut table = TableReader::new(node, what)?;
    let permissions = Permissions {
        http: table.read("http", rules::<HttpRule>)?.unwrap_or_default(),
        secrets: table.read("secrets", secrets)?.unwrap_or_default(),
        files: table.read("files", rules::<FileRule>)?.unwrap_or_default(),
        keyvalue: table.read("keyvalue", buckets)?.unwrap_or_default(),
        tools: table.read("tools", calls)?.unwrap_or_default(),
        span: Span(span),
    };
    table.end(what, &PERMISSION_KEYS)?;
    for secret in &permissions.secrets {
        let rules = secret.rules(&permissions);
        if !secret.expose && rules.is_empty() {
            let message = format!("{what}: the secret `{}` may not be sent anywhere", secret.name);
            return Err(PolicyError::new(message, permissions.span.0.clone())
                .hint("name hosts under `http`, or let the tool see it with `expose = true`"));
        }
        if secret.expose && secret.header.is_some() {
            let message = format!(
                "{what}: the tool can read the secret `{}`, and so send it anywhere, in any header",
                secret.name
            );
            return Err(PolicyError::new(message, permissions.span.0.clone())
                .hint("`header` applies to values that the host inserts: leave out `expose`, or `header`"));
        }
        // A tool that can read the value can send it wherever it may send anything.
        if let Some(wide) = rules.iter().find(|rule| !secret.expose && !rule.names_one_host()) {
            let message = format!("{what}: the secret `{}` could go to any host of `{wide}`", secret.name);
            let hint = format!("say where: {{ name = \"{}\", http = [\"api.example.com\"] }}", secret.name);
            return Err(PolicyError::new(message, permissions.span.0.clone()).hint(hint));
        }
        if let Some(open) = secret.open_rule(&permissions).filter(|_| !secret.insecure) {
            let message = format!("{what}: the secret `{}` could go to `{open}` without TLS", secret.name);
            let hint = format!(
                "others on the network could read it: write `https://`, or allow it: \
                 {{ name = \"{}\", insecure = true }}",
                secret.name
            );
            return Err(PolicyError::new(message, permissions.span.0.clone()).hint(hint));
        }
    }
    Ok(permissions)
}

/// Returns the entries of a list, which may not have too many.
fn entries(node: SpannedValue, what: &str) -> Result<Vec<SpannedValue>, PolicyError> {
    let span = node.span.clone();
    let entries = policy_parser::list(node, what)?;
    if entries.len() > MAX_PERMISSIONS {
        let message = format!("`{what}` has {} entries: at most {MAX_PERMISSIONS} are allowed", entries.len());
        return Err(PolicyError::new(message, span));
    }
    Ok(entries)
}

fn rules<T: FromStr<Err: ToString>>(node: SpannedValue, what: &str) -> Result<Vec<T>, PolicyError> {
    entries(node, what)?.into_iter().map(|node| policy_parser::parse(node, what)).collect()
}

fn buckets(node: SpannedValue, what: &str) -> Result<Vec<String>, PolicyError> {
    let bucket = |node: SpannedValue| {
        let span = node.span.clone();
        let name = policy_parser::string(node, what)?;
        if is_bucket_name(&name) {
            return Ok(name);
        }
        let problem = format!("`{name}` is not a bucket's name: use at most 100 letters, digits, `-` and `_`");
        Err(PolicyError::new(problem, span))
    };
    entries(node, what)?.into_iter().map(bucket).collect()
}

fn secrets(node: SpannedValue, what: &str) -> Result<Vec<SecretGrant>, PolicyError> {
    let mut secrets: Vec<SecretGrant> = Vec::new();
    for node in entries(node, what)? {
        let span = node.span.clone();
        let secret = secret(node)?;
        if !is_secret_name(&secret.name) {
            return Err(PolicyError::new(
                "a secret's name has letters, digits and `_`, and does not begin with a digit",
                span,
            ));
        }
        if secrets.iter().any(|other| other.name == secret.name) {
            return Err(PolicyError::new(format!("duplicate secret `{}`", secret.name), span));
        }
        secrets.push(secret);
    }
    Ok(secrets)
}

/// Reads a secret: `"API_KEY"`, or a table such as
/// `{ name = "API_KEY", header = "authorization", http = ["api.example.com"], insecure = true }`.
fn secret(node: SpannedValue) -> Result<SecretGrant, PolicyError> {
    if let DocumentValue::String(name) = node.value {
        return Ok(SecretGrant { name, expose: false, http: Vec::new(), insecure: false, header: None });
    }
    let mut table = TableReader::new(node, "a secret")?;
    let secret = SecretGrant {
        name: policy_parser::string(table.need("name", "a secret")?, "name")?,
        expose: table.read("expose", policy_parser::truth)?.unwrap_or_default(),
        http: table.read("http", rules)?.unwrap_or_default(),
        insecure: table.read("insecure", policy_parser::truth)?.unwrap_or_default(),
        header: table.read("header", header)?,
    };
    table.end("a secret", &["name", "expose", "http", "insecure", "header"])?;
    Ok(secret)
}

/// Reads the name of a header, and converts it to lower case.
fn header(node: SpannedValue, what: &str) -> Result<String, PolicyError> {
    let span = node.span.clone();
    let name = http::HeaderName::try_from(policy_parser::string(node, what)?);
    name.map(|name| name.as_str().to_owned())
        .map_err(|_| PolicyError::new("this is not a valid header name", span).hint("for example `authorization`"))
}

/// Reads patterns, or whole grants.
fn calls(node: SpannedValue, what: &str) -> Result<Vec<Grant>, PolicyError> {
    let mut grants = Policy::default();
    for node in entries(node, what)? {
        let span = node.span.clone();
        let grant = match node.value {
            DocumentValue::String(_) => {
                let allow = |text: String| Grant::allow(&text).map_err(|error| error.to_string());
                let read = policy_parser::string(node, what)?;
                allow(read).map_err(|error| PolicyError::new(error, span.clone()))?
            }
            _ => read_grant(node)?,
        };
        grants.push(Grant { span: Span(span), ..grant });
    }
    Ok(grants.grants)
}

/// Narrows the permissions of tools: those of a tool that `narrower` does not mention stay the same.
pub(super) fn attenuate(
    wider: &BTreeMap<String, Permissions>,
    narrower: BTreeMap<String, Permissions>,
) -> Result<BTreeMap<String, Permissions>, AttenuateError> {
    let mut narrowed = wider.clone();
    for (alias, own) in narrower {
        let above = wider.get(&alias).cloned().unwrap_or_default();
        let more = |what: String| AttenuateError::Permission { alias: alias.clone(), what };
        if let Some(rule) = own.http.iter().find(|rule| !above.http.iter().any(|other| rule.is_subset_of(other))) {
            return Err(more(format!("requests to `{rule}`")));
        }
        if let Some(rule) = own.files.iter().find(|rule| !above.files.iter().any(|other| other.covers(rule))) {
            return Err(more(format!("files of `{rule}`")));
        }
        if let Some(bucket) = own.keyvalue.iter().find(|bucket| !above.keyvalue.contains(bucket)) {
            return Err(more(format!("the bucket `{bucket}`")));
        }
        let goes_no_further = |secret: &SecretGrant, other: &SecretGrant| {
            let reach = other.rules(&above);
            other.name == secret.name
                && (other.expose || !secret.expose)
                && (other.insecure || !secret.insecure)
                && (other.header.is_none() || other.header == secret.header)
                && secret.rules(&own).iter().all(|rule| reach.iter().any(|other| rule.is_subset_of(other)))
        };
        let known = |secret: &&SecretGrant| above.secrets.iter().any(|other| goes_no_further(secret, other));
        if let Some(secret) = own.secrets.iter().find(|secret| !known(secret)) {
            return Err(more(format!("the secret `{}`", secret.name)));
        }
        let policy = |grants: &[Grant]| Policy { grants: grants.to_vec(), ..Policy::default() };
        let tools = policy(&above.tools).attenuate(policy(&own.tools))?.grants;
        narrowed.insert(alias, Permissions { tools, ..own });
    }
    Ok(narrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: &str = r#"
        [[grant]]
        method = "**"
        [tool.weather]
        http = ["*.example", "https://api.test/v1"]
        secrets = [{ name = "KEY", http = ["https://api.test/v1"] }, { name = "PIN", expose = true, http = ["api.test"] }]
        files = ["/workspace/in:ro", "/workspace/out"]
        keyvalue = ["default"]
        tools = ["stats/*", { method = "csv/*", calls = 2 }]
    "#;

    fn parse(text: &str) -> Result<Policy, PolicyError> {
        Policy::parse(text)
    }

    #[test]
    fn permission_keys_are_read_and_written_back() {
        let policy = parse(WIDE).expect("a policy");
        let weather = &policy.permissions["weather"];
        assert_eq!(weather.http[1].to_string(), "https://api.test/v1");
        assert_eq!(weather.tools[1].calls, Some(2));
        assert_eq!(Policy::parse(&policy.to_toml()).expect("it is TOML").to_json(), policy.to_json());
        let back = Policy::parse_json(&policy.to_json().to_string()).expect("it is JSON");
        assert_eq!(back.permissions["weather"].secrets, weather.secrets);
    }

    #[test]
    fn permission_with_invalid_settings_is_refused_with_span() {
        for (text, expected) in [
            ("[tool.w]\nhtttp = []", "unknown key `htttp`"),
            ("[tool.w]\nhttp = [\"ftp://x\"]", "is not an HTTP rule"),
            ("[tool.w]\nsecrets = [\"K\"]", "may not be sent anywhere"),
            ("[tool.w]\nhttp = [\"*\"]\nsecrets = [\"K\"]", "could go to any host"),
            ("[tool.w]\nhttp = [\"x\"]\nsecrets = [{ name = \"K\", http = [\"*.x\"] }]", "could go to any host"),
            ("[tool.w]\nhttp = [\"x\"]\nsecrets = [\"K\", \"K\"]", "duplicate secret"),
            ("[tool.w]\nsecrets = [{ name = \"9\", expose = true }]", "does not begin with a digit"),
            ("[tool.w]\nsecrets = [{ name = \"K\", expose = 1 }]", "true or false"),
            ("[tool.w]\nfiles = [\"/a/../b\"]", "not a path of a session"),
            ("[tool.w]\nkeyvalue = [\"a b\"]", "a bucket's name"),
            ("[tool.w]\ntools = [\"a//b\"]", "pattern"),
            ("[tool.w]\ntools = [{ method = \"a\", call = 1 }]", "unknown key `call`"),
            ("tool = 1", "a table belongs here"),
            (&format!("[tool.w]\nhttp = [{}]", "\"x\",".repeat(1001)), "at most 1000"),
            (&format!("[tool.w]\ntools = [{}]", "\"x\",".repeat(1001)), "at most 1000"),
            (&format!("[tool.w]\nhttp = [\"x/{}\"]", "y".repeat(3000)), "too long"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.message.contains(expected), "{text}: {error}");
            assert!(error.span.is_some(), "{text}");
        }
    }

    #[test]
    fn secret_bound_to_a_header_is_read_and_narrows() {
        let of = |secret: &str| parse(&format!("[tool.w]\nhttp = [\"x\"]\nsecrets = [{secret}]"));
        let policy = of("{ name = \"KEY\", header = \"X-Api-Key\" }").expect("a policy");
        assert_eq!(policy.permissions["w"].secrets[0].header.as_deref(), Some("x-api-key"));
        let back = parse(&policy.to_toml()).expect("what it writes");
        assert_eq!(back.permissions["w"].secrets, policy.permissions["w"].secrets);
        for (secret, told) in [
            ("{ name = \"KEY\", header = \"\" }", "not a valid header name"),
            ("{ name = \"KEY\", header = \"a b\" }", "not a valid header name"),
            ("{ name = \"KEY\", header = \"a:b\" }", "not a valid header name"),
            ("{ name = \"KEY\", header = \"a\\nb\" }", "not a valid header name"),
            ("{ name = \"KEY\", header = [\"a\"] }", "header"),
            ("{ name = \"KEY\", header = true }", "header"),
            ("{ name = \"KEY\", headers = \"a\" }", "headers"),
            ("{ name = \"KEY\", header = \"a\", expose = true }", "in any header"),
        ] {
            let error = of(secret).expect_err(secret);
            assert!(error.to_string().contains(told), "{secret}: {error}");
        }
        let [any, one, other] = ["\"KEY\"", "{ name = \"KEY\", header = \"a\" }", "{ name = \"KEY\", header = \"b\" }"]
            .map(|secret| of(secret).expect("a policy"));
        for (wide, narrow, narrows) in
            [(&any, &one, true), (&one, &one, true), (&one, &any, false), (&one, &other, false), (&any, &any, true)]
        {
            assert_eq!(wide.attenuate(narrow.clone()).is_ok(), narrows, "{narrow:?}");
        }
    }

    #[test]
    fn secret_to_plain_http_needs_local_address_or_explicit_permission() {
        for (table, fits) in [
            ("http = [\"http://api.example.com\"]\nsecrets = [\"KEY\"]", false),
            ("http = [\"http://10.0.0.7\"]\nsecrets = [\"KEY\"]", false),
            ("http = [\"x\"]\nsecrets = [{ name = \"KEY\", http = [\"http://x\"] }]", false),
            ("http = [\"http://x\"]\nsecrets = [{ name = \"KEY\", expose = true }]", false),
            ("http = [\"http://x\"]\nsecrets = [{ name = \"KEY\", expose = true, http = [\"x\"] }]", false),
            ("http = [\"http://x\"]\nsecrets = [{ name = \"KEY\", insecure = false }]", false),
            ("http = [\"http://x\"]\nsecrets = [{ name = \"KEY\", insecure = true }]", true),
            ("http = [\"http://x\"]\nsecrets = [{ name = \"KEY\", expose = true, insecure = true }]", true),
            ("http = [\"http://x\", \"y\"]\nsecrets = [{ name = \"KEY\", http = [\"y\"] }]", true),
            ("http = [\"http://127.0.0.1:8765\", \"http://[::1]\"]\nsecrets = [\"KEY\"]", true),
            ("http = [\"https://api.example.com\"]\nsecrets = [\"KEY\"]", true),
            ("http = [\"http://x\"]", true),
        ] {
            match parse(&format!("[tool.w]\n{table}")) {
                Ok(policy) => {
                    assert!(fits, "{table}");
                    let back = Policy::parse(&policy.to_toml()).expect("it is TOML");
                    assert_eq!(back.permissions["w"].secrets, policy.permissions["w"].secrets, "{table}");
                }
                Err(error) => {
                    assert!(!fits && error.message.contains("without TLS"), "{table}: {error}");
                    assert!(error.hint.is_some_and(|hint| hint.contains("insecure = true")), "{table}");
                }
            }
        }
        let wide = parse("[tool.w]\nhttp = [\"x\"]\nsecrets = [\"KEY\"]").expect("a policy");
        let narrow =
            parse("[tool.w]\nhttp = [\"x\"]\nsecrets = [{ name = \"KEY\", insecure = true }]").expect("a policy");
        assert!(wide.attenuate(narrow.clone()).is_err() && narrow.attenuate(wide).is_ok());
    }

    #[test]
    fn permissions_attenuated_are_never_wider() {
        let wide = parse(WIDE).expect("a policy");
        let same = wide.attenuate(Policy::default()).expect("nothing is added");
        assert_eq!(same.permissions, wide.permissions, "what is not named stays");
        for (text, narrows) in [
            ("[tool.weather]", true),
            ("[tool.weather]\nhttp = [\"GET api.example\"]", true),
            ("[tool.weather]\nhttp = [\"https://api.test/v1/x\"]", true),
            ("[tool.weather]\nhttp = [\"api.test\"]", false),
            ("[tool.weather]\nhttp = [\"http://api.example\"]", false),
            ("[tool.weather]\nhttp = [\"api.test/v1\"]\nsecrets = [\"KEY\"]", true),
            ("[tool.weather]\nhttp = [\"api.example\"]\nsecrets = [\"KEY\"]", false),
            ("[tool.weather]\nhttp = [\"api.test/v1\"]\nsecrets = [{ name = \"KEY\", expose = true }]", false),
            ("[tool.weather]\nsecrets = [{ name = \"PIN\", expose = true }]", true),
            ("[tool.weather]\nfiles = [\"/workspace/in/x:ro\"]", true),
            ("[tool.weather]\nfiles = [\"/workspace/in\"]", false),
            ("[tool.weather]\nkeyvalue = [\"other\"]", false),
            ("[tool.weather]\ntools = [\"stats/describe\"]", true),
            ("[tool.weather]\ntools = [\"text/*\"]", false),
            ("[tool.weather]\ntools = [{ method = \"csv/parse\", calls = 3 }]", false),
            ("[tool.other]\nhttp = [\"api.example\"]", false),
        ] {
            let narrowed = wide.attenuate(parse(text).expect(text));
            assert_eq!(narrowed.is_ok(), narrows, "{text}: {:?}", narrowed.err());
        }
    }
}
