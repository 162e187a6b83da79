//! The manifest `tool.toml`: a publisher's description of a package. Data only: must not grant, check against a
//! component or run anything.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use semver::Version;
use serde::{Deserialize, Deserializer, de::Error as _};
use tollhouse_types::effect::Effect;

use crate::{
    build_settings::Build,
    error::excerpt,
    manifest_keys,
    name::PackageName,
    permission::{Permissions, is_method},
    quantity::{parse_bytes, parse_duration},
};

/// Largest manifest in bytes: a person wrote it, and each mount of the package reads it.
pub const MAX_MANIFEST: usize = 256 << 10;

/// Manifest of a package. An unknown key is an error.
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
    /// Name of the package.
    pub name: PackageName,
    /// Version, without build metadata: that would allow two releases of one version.
    #[serde(deserialize_with = "version")]
    pub version: Version,
    /// Purpose of the package, in a sentence.
    #[serde(default)]
    pub description: Option<String>,
    /// License as an SPDX expression.
    #[serde(default)]
    pub license: Option<String>,
    /// Authors in the form `Name <mail@example>`.
    #[serde(default)]
    pub authors: Vec<String>,
    /// Effect of repeating a call of any method. If `None`, the grants of the tool decide.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// Settings of single methods, by their names without the alias: `[method."charges/create"]`.
    #[serde(default, rename = "method", deserialize_with = "methods")]
    pub methods: BTreeMap<String, MethodSettings>,
    /// Interface whose functions can be called without naming it.
    #[serde(default)]
    pub default: Option<DefaultInterface>,
    /// Lifetime of an instance. If `None`, a call.
    #[serde(default)]
    pub instance: Option<InstancePolicy>,
    /// Permissions that the tool requests.
    #[serde(default)]
    pub permissions: Permissions,
    /// Limits below those of the session.
    #[serde(default)]
    pub limits: Limits,
    /// Example calls of the tool.
    #[serde(default, rename = "example")]
    pub examples: Vec<Example>,
    /// Path of the built component, relative to the manifest. Only read when a directory is built or published.
    #[serde(default)]
    pub component: Option<String>,
    /// Build settings of the component. Only read when a directory is built.
    #[serde(default)]
    pub build: Option<Build>,
}

/// Settings of one method.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MethodSettings {
    /// Effect of repeating a call of the method.
    pub effect: Effect,
}

/// Lifetime of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InstancePolicy {
    /// Instance for one call: no call sees state of another one.
    #[default]
    Call,
    /// The session, as a cache: an instance may be kept, and dropped between any two calls.
    Session,
}

/// Interface whose functions can be called without naming it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefaultInterface {
    /// No default interface. Written `"none"`.
    None,
    /// The interface of this WIT name without package: `charges`.
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
                "`{}` is not an interface: expected a WIT name without package, for example `charges`, or `none`",
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
    /// Wall-clock time of the call.
    #[serde(default, deserialize_with = "duration")]
    pub wall: Option<Duration>,
    /// Fuel in wasmtime's count: about one unit for each WebAssembly instruction.
    #[serde(default)]
    pub fuel: Option<u64>,
    /// Linear memory, in bytes.
    #[serde(default, deserialize_with = "bytes")]
    pub memory: Option<u64>,
    /// Standard output and error, in bytes.
    #[serde(default, deserialize_with = "bytes")]
    pub output: Option<u64>,
    /// Arguments in bytes of JSON.
    #[serde(default, deserialize_with = "bytes")]
    pub argument: Option<u64>,
    /// Result in bytes of JSON.
    #[serde(default, deserialize_with = "bytes")]
    pub result: Option<u64>,
}

/// Example call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Example {
    /// Method without the alias: `charges/create`.
    #[serde(deserialize_with = "method")]
    pub method: String,
    /// Arguments: a table, or a string that holds a JSON object.
    #[serde(default, deserialize_with = "arguments")]
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// Expected result. In TOML it is the value itself; `result-json` takes a JSON text, for values that TOML cannot
    /// express.
    #[serde(default, deserialize_with = "json_value")]
    pub result: Option<serde_json::Value>,
    #[serde(default, rename = "result-json", deserialize_with = "json_text")]
    result_json: Option<serde_json::Value>,
    /// Expected error value, if the call is to fail: the error case of the function's `result`.
    #[serde(default, deserialize_with = "json_value")]
    pub error: Option<serde_json::Value>,
}

/// Error in a manifest, with its place.
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

    /// Returns the problem without its place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the byte range of the problem in the manifest's text. It is empty at 0 if the problem concerns the whole
    /// text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl Manifest {
    /// Parses the text of a manifest.
    ///
    /// # Errors
    /// If the text is not TOML, has an unknown key, lacks `name` or `version`, or holds an invalid value; with the
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
        D::Error::custom(format!("`{}` is not a SemVer version such as `1.2.0`: {error}", excerpt(&text)))
    })?;
    if version.build.is_empty() {
        Ok(version)
    } else {
        Err(D::Error::custom(format!("`{version}` has build metadata: remove the `+` and the text after it")))
    }
}

fn methods<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, MethodSettings>, D::Error> {
    let methods = BTreeMap::<String, MethodSettings>::deserialize(deserializer)?;
    match methods.keys().find(|name| !is_method(name)) {
        Some(name) => Err(D::Error::custom(format!("`{}` is not a method such as `charges/create`", excerpt(name)))),
        None => Ok(methods),
    }
}

fn method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_method(&text) {
        return Ok(text);
    }
    Err(D::Error::custom(format!("`{}` is not a method such as `charges/create`", excerpt(&text))))
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
        _ => Err(D::Error::custom("arguments must be one object: a table, or a string that holds a JSON object")),
    }
}

fn json_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    to_json(toml::Value::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::from_str(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

/// Converts a TOML value to JSON. The parser's own limit bounds the depth.
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
    use crate::build_settings::Language;

    const HEAD: &str = "name = \"a:b\"\nversion = \"1.0.0\"\n";

    fn parse(rest: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(&format!("{HEAD}{rest}"))
    }

    fn error(rest: &str) -> String {
        parse(rest).expect_err("a bad manifest").to_string()
    }

    #[test]
    fn manifest_with_all_keys_is_read() {
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
            [method."charges/create"]
            effect = "idempotent"
            [build]
            lang = "rust-cargo-component"
            command = ["make", "tool"]
            output = "out.wasm"
            "#,
        )
        .expect("a manifest");
        assert_eq!(manifest.effect, Some(Effect::Once));
        assert_eq!(manifest.methods["charges/create"].effect, Effect::Idempotent);
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
    fn manifest_error_has_line_and_column() {
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
    fn manifest_that_is_malformed_is_refused_with_reason() {
        assert!(
            Manifest::parse("name = \"a:b\"").expect_err("no version").message().contains("missing field `version`")
        );
        assert!(
            Manifest::parse("name = \"a:b\"\nversion = \"1.0.0+linux\"").expect_err("build").message().contains("`+`")
        );
        assert!(error("effect = \"maybe\"").contains("unknown variant `maybe`"));
        assert!(error("[method.f]\neffect = \"maybe\"").contains("unknown variant `maybe`"));
        assert!(error("[method.f]\n").contains("missing field `effect`"));
        assert!(error("[method.\"a//b\"]\neffect = \"once\"").contains("`a//b` is not a method"));
        assert!(error("default = \"acme:x/y\"").contains("not an interface"));
        assert!(error("[limits]\nmemory = \"64MB\"").contains("not a size"));
        assert!(error("[limits]\nfuel = -1").contains("invalid value"));
        assert!(error("[permissions]\nnet = []").contains("unknown key `net`"));
        assert!(error("[permissions]\nfiles = [\"/a/../b\"]").contains("not a path of a session"));
        assert!(error("[permissions]\nsecrets = [\"A B\"]").contains("not a name of a secret"));
        assert!(error("[[example]]\nmethod = \"f\"\narguments = \"[1]\"").contains("one object"));
        assert!(error("[[example]]\nmethod = \"f\"\narguments = { a = nan }").contains("no number"));
        assert!(error("[[example]]\nmethod = \"f\"\narguments = { a = 2020-01-01 }").contains("no dates"));
        assert!(error("[[example]]\nmethod = \"f\"\nresult = 1\nresult-json = '1'").contains("both"));
        assert!(error("[[example]]\nmethod = \"f\"\nresult = 1\nerror = 1").contains("both"));
        assert!(error("[[example]]\nmethod = \"f g\"").contains("not a method"));
        assert!(error("[build]\nlang = \"cobol\"").contains("unknown variant `cobol`"));
        assert!(error("[build]\nshell = \"make\"").contains("unknown key `shell`"));
        let long = format!("description = \"{}\"", "x".repeat(MAX_MANIFEST));
        assert!(error(&long).contains("at most"));
        assert!(error(&format!("[[example]]\nmethod = \"f\"\nresult = {}", "[".repeat(100_000))).len() > 1);
    }

    proptest! {
        #[test]
        fn manifest_parser_with_arbitrary_text_does_not_panic(text in "[\\[\\]{}=\"a-c.é\n ]{0,60}") {
            if let Err(error) = Manifest::parse(&format!("{HEAD}{text}")) {
                prop_assert!(error.line() >= 1 && error.column() >= 1);
            }
        }
    }
}
