//! `tool.toml`: what a publisher says about a package. Data only: must not grant, check against a component or run
//! anything.

use std::{ops::Range, time::Duration};

use semver::Version;
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    build::Build,
    error::excerpt,
    manifest_keys,
    name::PackageName,
    permission::{Permissions, is_method},
    quantity::{parse_bytes, parse_duration},
};

/// Largest manifest in bytes: a person wrote it, and each mount of the package reads it.
pub const MAX_MANIFEST: usize = 256 << 10;

/// A package's manifest. An unknown key is an error.
///
/// ```
/// let manifest = tollhouse_registry::Manifest::parse(
///     r#"
///     name = "acme:payments"
///     version = "1.2.0"
///     effect = "idempotent"
///
///     [permissions]
///     http = ["api.acme.example:443"]
///
///     [[example]]
///     method = "charges/create"
///     arguments = { amount = 500 }
///     "#,
/// )?;
/// assert_eq!(manifest.permissions.http[0].to_string(), "https://api.acme.example");
/// # Ok::<(), tollhouse_registry::ManifestError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Manifest {
    /// The package.
    pub name: PackageName,
    /// Its version. Without build metadata: that would be a second release of one version.
    #[serde(deserialize_with = "version")]
    pub version: Version,
    /// What it is for, in a sentence.
    #[serde(default)]
    pub description: Option<String>,
    /// Under what terms: an SPDX expression.
    #[serde(default)]
    pub license: Option<String>,
    /// Who made it: `Name <mail@example>`.
    #[serde(default)]
    pub authors: Vec<String>,
    /// What happens when a call is made twice. None leaves it to what the tool is granted.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// Whose functions can be called without naming their interface.
    #[serde(default)]
    pub default: Option<DefaultInterface>,
    /// How long an instance may live. None means a call.
    #[serde(default)]
    pub instance: Option<InstancePolicy>,
    /// What it asks for.
    #[serde(default)]
    pub permissions: Permissions,
    /// Limits below those of the session.
    #[serde(default)]
    pub limits: Limits,
    /// Calls that show what it does.
    #[serde(default, rename = "example")]
    pub examples: Vec<Example>,
    /// Where the built component is, relative to the manifest. Only read when a directory is built or published.
    #[serde(default)]
    pub component: Option<String>,
    /// How it is built. Only read when a directory is built.
    #[serde(default)]
    pub build: Option<Build>,
}

/// What happens when a call is made twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effect {
    /// Nothing but an answer: it may be made any number of times.
    Pure,
    /// With the same key, the same as when it is made once.
    Idempotent,
    /// It happens again. So it is never made again without asking.
    Once,
}

/// How long an instance may live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InstancePolicy {
    /// No call sees what another left.
    #[default]
    Call,
    /// It may be kept, and dropped between any two calls: a cache.
    Session,
}

/// Whose functions can be called without naming their interface.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefaultInterface {
    /// Those of none. Written `"none"`.
    None,
    /// Those of this one, by its WIT name without package: `charges`.
    Interface(String),
}

impl<'de> Deserialize<'de> for DefaultInterface {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "none" {
            return Ok(Self::None);
        }
        match wit_parser::validate_id(&text) {
            Ok(()) => Ok(Self::Interface(text)),
            Err(_) => Err(D::Error::custom(format!(
                "`{}` is no interface: expected a WIT name without package, for example `charges`, or `none`",
                excerpt(&text)
            ))),
        }
    }
}

/// Limits on one call of a tool. They lower those of the session and never raise them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// Time.
    #[serde(default, deserialize_with = "duration")]
    pub wall: Option<Duration>,
    /// What it executes, in wasmtime's count: about one unit for each instruction of WebAssembly.
    #[serde(default)]
    pub fuel: Option<u64>,
    /// Linear memory, in bytes.
    #[serde(default, deserialize_with = "bytes")]
    pub memory: Option<u64>,
    /// What it writes to its standard output and error, in bytes.
    #[serde(default, deserialize_with = "bytes")]
    pub output: Option<u64>,
    /// Its arguments, in bytes of JSON.
    #[serde(default, deserialize_with = "bytes")]
    pub argument: Option<u64>,
    /// Its result, in bytes of JSON.
    #[serde(default, deserialize_with = "bytes")]
    pub result: Option<u64>,
}

/// A call that shows what a tool does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Example {
    /// The method without the alias: `charges/create`.
    #[serde(deserialize_with = "method")]
    pub method: String,
    /// The arguments: a table, or a string that holds a JSON object.
    #[serde(default, deserialize_with = "arguments")]
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// What comes back. In TOML it is the value itself; `result-json` takes a JSON text, for what TOML cannot say.
    #[serde(default, deserialize_with = "json_value")]
    pub result: Option<serde_json::Value>,
    #[serde(default, rename = "result-json", deserialize_with = "json_text")]
    result_json: Option<serde_json::Value>,
    /// What its error carries, if it is to fail: the error case of the function's `result`.
    #[serde(default, deserialize_with = "json_value")]
    pub error: Option<serde_json::Value>,
}

/// What is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct ManifestError {
    message: String,
    span: Range<usize>,
    line: usize,
    column: usize,
}

impl ManifestError {
    fn new(message: impl Into<String>, text: &str, span: Option<Range<usize>>) -> Self {
        let span = span.unwrap_or(0..0);
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        Self { message: message.into(), span, line, column }
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where, in bytes of the manifest's text. Empty at 0 when it is about the whole.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// What is no TOML, has an unknown key, lacks `name` or `version`, or holds a value that means nothing, with its
    /// place.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        if text.len() > MAX_MANIFEST {
            let message = format!("the manifest has {} bytes: at most {MAX_MANIFEST} are allowed", text.len());
            return Err(ManifestError::new(message, text, None));
        }
        let mut manifest: Self = toml::from_str(text).map_err(|error| match manifest_keys::unknown(text) {
            Some((message, span)) => ManifestError::new(message, text, Some(span)),
            None => ManifestError::new(error.message().trim(), text, error.span()),
        })?;
        for example in &mut manifest.examples {
            if let Some(result) = example.result_json.take()
                && example.result.replace(result).is_some()
            {
                let message = format!("the example of `{}` has both `result` and `result-json`", example.method);
                return Err(ManifestError::new(message, text, None));
            }
            if example.result.is_some() && example.error.is_some() {
                let message = format!("the example of `{}` has both a result and an `error`", example.method);
                return Err(ManifestError::new(message, text, None));
            }
        }
        Ok(manifest)
    }
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    let text = String::deserialize(deserializer)?;
    let version: Version = text.parse().map_err(|error| {
        D::Error::custom(format!("`{}` is no SemVer version such as `1.2.0`: {error}", excerpt(&text)))
    })?;
    #[cfg(fuzzing)]
    if tollhouse_seeded::bug("manifest") {
        return Ok(version);
    }
    if version.build.is_empty() {
        Ok(version)
    } else {
        Err(D::Error::custom(format!("`{version}` has build metadata: leave out what follows the `+`")))
    }
}

fn method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_method(&text) {
        return Ok(text);
    }
    Err(D::Error::custom(format!("`{}` is no method such as `charges/create`", excerpt(&text))))
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parse_duration(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    parse_bytes(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn arguments<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<serde_json::Map<String, serde_json::Value>, D::Error> {
    let value = match toml::Value::deserialize(deserializer)? {
        toml::Value::String(text) => serde_json::from_str(&text).map_err(D::Error::custom)?,
        value => to_json(value).map_err(D::Error::custom)?,
    };
    match value {
        serde_json::Value::Object(object) => Ok(object),
        _ => Err(D::Error::custom("arguments are one object: a table, or a string that holds a JSON object")),
    }
}

fn json_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    to_json(toml::Value::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::from_str(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

/// What a TOML value is in JSON. The parser's own limit bounds the depth.
fn to_json(value: toml::Value) -> Result<serde_json::Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(serde_json::Value::Number)
            .ok_or_else(|| format!("JSON has no number `{number}`"))?,
        toml::Value::Datetime(time) => {
            return Err(format!("JSON has no dates: write `{time}` as a string"));
        }
        toml::Value::Array(values) => values.into_iter().map(to_json).collect::<Result<Vec<_>, _>>()?.into(),
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(key, value)| Ok((key, to_json(value)?)));
            serde_json::Value::Object(fields.collect::<Result<_, String>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::build::Language;

    const HEAD: &str = "name = \"a:b\"\nversion = \"1.0.0\"\n";

    fn parse(rest: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(&format!("{HEAD}{rest}"))
    }

    fn error(rest: &str) -> String {
        parse(rest).expect_err("a bad manifest").to_string()
    }

    #[test]
    fn everything() {
        let manifest = parse(
            r#"
            description = "d"
            license = "MIT"
            authors = ["A <a@b.example>"]
            effect = "once"
            default = "none"
            instance = "session"
            component = "build/out.wasm"
            [permissions]
            files = ["/workspace/in"]
            http = ["GET api.example:8080", "*.example"]
            secrets = ["API_KEY", { name = "PIN", expose = true }]
            keyvalue = ["default"]
            tools = ["mail/**"]
            [limits]
            wall = "5s"
            fuel = 1_000
            memory = "64MiB"
            [[example]]
            method = "charges/create"
            arguments = { amount = 5, deep = { list = [1.5, true] } }
            result = "text"
            [[example]]
            method = "f"
            arguments = '{"a": null}'
            result-json = 'null'
            [[example]]
            method = "g"
            error = { tag = "empty" }
            [build]
            lang = "rust-cargo-component"
            command = ["make", "tool"]
            output = "out.wasm"
            "#,
        )
        .expect("a manifest");
        assert_eq!(manifest.effect, Some(Effect::Once));
        assert_eq!(manifest.default, Some(DefaultInterface::None));
        assert_eq!(manifest.limits.wall, Some(Duration::from_secs(5)));
        assert_eq!(manifest.limits.memory, Some(64 << 20));
        let [first, second, third] = &manifest.examples[..] else { panic!("three examples") };
        assert_eq!(json!(first.arguments), json!({"amount": 5, "deep": {"list": [1.5, true]}}));
        assert_eq!(first.result, Some(json!("text")));
        assert_eq!(json!(second.arguments), json!({"a": null}));
        assert_eq!(second.result, Some(json!(null)));
        assert_eq!((third.arguments.len(), &third.result), (0, &None));
        assert_eq!(third.error, Some(json!({"tag": "empty"})));
        let build = manifest.build.expect("it says");
        assert_eq!((build.lang, build.command.len()), (Some(Language::RustCargoComponent), 2));
    }

    #[test]
    fn errors_have_a_place() {
        let error = parse("colour = 1\n").expect_err("unknown key");
        assert_eq!((error.line(), error.column()), (3, 1));
        assert!(error.message().contains("unknown key `colour`"), "{error}");
        let error = parse("[permissions]\nhttp = [\"ftp://x\"]\n").expect_err("a URL");
        assert_eq!(error.line(), 4, "{error}");
        let error = Manifest::parse("name = \"B:c\"\nversion = \"1.0.0\"").expect_err("upper case");
        assert_eq!((error.line(), error.column(), error.span()), (1, 8, 7..12));
        assert!(error.message().contains("only a-z"), "{error}");
        let error = Manifest::parse("name = \"a:b\"\nversion = \"1.0").expect_err("no end");
        assert_eq!(error.line(), 2, "{error}");
    }

    #[test]
    fn refusals() {
        assert!(
            Manifest::parse("name = \"a:b\"").expect_err("no version").message().contains("missing field `version`")
        );
        assert!(
            Manifest::parse("name = \"a:b\"\nversion = \"1.0.0+linux\"").expect_err("build").message().contains("`+`")
        );
        assert!(error("effect = \"maybe\"").contains("unknown variant `maybe`"));
        assert!(error("default = \"acme:x/y\"").contains("no interface"));
        assert!(error("[limits]\nmemory = \"64MB\"").contains("not a size"));
        assert!(error("[limits]\nfuel = -1").contains("invalid value"));
        assert!(error("[permissions]\nnet = []").contains("unknown key `net`"));
        assert!(error("[permissions]\nfiles = [\"/a/../b\"]").contains("no path of a session"));
        assert!(error("[permissions]\nsecrets = [\"A B\"]").contains("no name of a secret"));
        assert!(error("[[example]]\nmethod = \"f\"\narguments = \"[1]\"").contains("one object"));
        assert!(error("[[example]]\nmethod = \"f\"\narguments = { a = nan }").contains("no number"));
        assert!(error("[[example]]\nmethod = \"f\"\narguments = { a = 2020-01-01 }").contains("no dates"));
        assert!(error("[[example]]\nmethod = \"f\"\nresult = 1\nresult-json = '1'").contains("both"));
        assert!(error("[[example]]\nmethod = \"f\"\nresult = 1\nerror = 1").contains("both"));
        assert!(error("[[example]]\nmethod = \"f g\"").contains("no method"));
        assert!(error("[build]\nlang = \"cobol\"").contains("unknown variant `cobol`"));
        assert!(error("[build]\nshell = \"make\"").contains("unknown key `shell`"));
        let long = format!("description = \"{}\"", "x".repeat(MAX_MANIFEST));
        assert!(error(&long).contains("at most"));
        assert!(error(&format!("[[example]]\nmethod = \"f\"\nresult = {}", "[".repeat(100_000))).len() > 1);
    }

    proptest! {
        #[test]
        fn never_panics(text in "[\\[\\]{}=\"a-c.é\n ]{0,60}") {
            if let Err(error) = Manifest::parse(&format!("{HEAD}{text}")) {
                prop_assert!(error.line() >= 1 && error.column() >= 1);
            }
        }
    }
}
