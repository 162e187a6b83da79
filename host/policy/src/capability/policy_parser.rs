//! Conversion of a document tree to a policy. Nothing is skipped: unknown contents are an error with their position.

use std::ops::Range;

use super::clause::{Clause, Param, Scalar, Test, is_normal_path};
use super::number::Number;
use super::path::ParamPath;
use super::policy::PolicyError;
use super::span::Span;
use super::spanned_value::{DocumentValue, SpannedKey, SpannedValue};

/// All operators of a clause.
const OPERATORS: [&str; 14] = [
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "in",
    "not_in",
    "starts_with",
    "ends_with",
    "within",
    "contains",
    "exists",
    "not_exists",
];

/// Names of operators in other languages, with ours.
const OTHER_NAMES: [(&str, &str); 17] = [
    ("lte", "le"),
    ("max", "le"),
    ("maximum", "le"),
    ("<=", "le"),
    ("<", "lt"),
    ("gte", "ge"),
    ("min", "ge"),
    ("minimum", "ge"),
    (">=", "ge"),
    (">", "gt"),
    ("equals", "eq"),
    ("enum", "in"),
    ("prefix", "starts_with"),
    ("suffix", "ends_with"),
    ("inside", "within"),
    ("under", "within"),
    ("directory", "within"),
];

/// A table whose keys are taken out one by one; remaining keys are an error.
pub(super) struct TableReader {
    entries: Vec<(SpannedKey, SpannedValue)>,
    span: Option<Range<usize>>,
}

impl TableReader {
    pub(super) fn new(node: SpannedValue, what: &str) -> Result<Self, PolicyError> {
        let kind = node.kind();
        match node.value {
            DocumentValue::Table(entries) => Ok(Self { entries, span: node.span }),
            _ => Err(PolicyError::new(format!("{what} is {kind}: a table belongs here"), node.span)),
        }
    }

    /// Takes the value of a key.
    pub(super) fn take(&mut self, name: &str) -> Option<SpannedValue> {
        let at = self.entries.iter().position(|(key, _)| key.name == name)?;
        Some(self.entries.remove(at).1)
    }

    /// Takes the value of a key, and reads it.
    pub(super) fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(SpannedValue, &str) -> Result<T, PolicyError>,
    ) -> Result<Option<T>, PolicyError> {
        self.take(name).map(|node| read(node, name)).transpose()
    }

    /// Takes the value of a required key.
    pub(super) fn need(&mut self, name: &str, what: &str) -> Result<SpannedValue, PolicyError> {
        let span = self.span.clone();
        self.take(name).ok_or_else(|| PolicyError::new(format!("{what} has no `{name}`"), span))
    }

    /// Returns the remaining entries, in order.
    pub(super) fn rest(self) -> Vec<(SpannedKey, SpannedValue)> {
        self.entries
    }

    /// Checks that all keys are known.
    pub(super) fn check(&self, what: &str, known: &[&str]) -> Result<(), PolicyError> {
        let stranger = self.entries.iter().find(|(key, _)| !known.contains(&key.name.as_str()));
        stranger.map_or(Ok(()), |(key, _)| Err(unknown(key, what, known)))
    }

    /// Checks that no entries remain; `known` are all possible keys.
    pub(super) fn end(self, what: &str, known: &[&str]) -> Result<(), PolicyError> {
        match self.entries.into_iter().next() {
            None => Ok(()),
            Some((key, _)) => Err(unknown(&key, what, known)),
        }
    }
}

/// Creates the error for an unknown key.
pub(super) fn unknown(key: &SpannedKey, what: &str, known: &[&str]) -> PolicyError {
    let error = PolicyError::new(format!("unknown key `{}` in {what}", key.name), key.span.clone());
    match nearest(&key.name, known) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("known keys: {}", known.join(", "))),
    }
}

/// Returns the known name that a misspelled one most likely means.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let distance = |other: &&str| strsim::damerau_levenshtein(name, other);
    let near = |other: &&str| name.len() <= other.len() + 2 && distance(other) <= 2 && other.len() > 2;
    known.iter().copied().filter(near).min_by_key(distance)
}

pub(super) fn string(node: SpannedValue, what: &str) -> Result<String, PolicyError> {
    let kind = node.kind();
    match node.value {
        DocumentValue::String(text) => Ok(text),
        _ => Err(PolicyError::new(format!("`{what}` is {kind}: a string belongs here"), node.span)),
    }
}

pub(super) fn list(node: SpannedValue, what: &str) -> Result<Vec<SpannedValue>, PolicyError> {
    let kind = node.kind();
    match node.value {
        DocumentValue::Array(items) => Ok(items),
        _ => Err(PolicyError::new(format!("`{what}` is {kind}: a list belongs here"), node.span)),
    }
}

pub(super) fn number(node: SpannedValue, what: &str) -> Result<Number, PolicyError> {
    let kind = node.kind();
    match node.value {
        DocumentValue::Number(number) => Ok(number),
        _ => Err(PolicyError::new(format!("`{what}` is {kind}: a number belongs here"), node.span)),
    }
}

pub(super) fn truth(node: SpannedValue, what: &str) -> Result<bool, PolicyError> {
    match node.value {
        DocumentValue::Bool(truth) => Ok(truth),
        _ => Err(PolicyError::new(format!("`{what}` is true or false"), node.span)),
    }
}

/// Reads a nonnegative integer.
pub(super) fn count(node: SpannedValue, what: &str) -> Result<u64, PolicyError> {
    let span = node.span.clone();
    match number(node, what)? {
        Number::Integer(count) if count >= 0 => u64::try_from(count).ok(),
        _ => None,
    }
    .ok_or_else(|| PolicyError::new(format!("`{what}` must be a whole number from 0 to 2^64 - 1"), span))
}

/// Reads a text with `FromStr`.
pub(super) fn parse<T: std::str::FromStr>(node: SpannedValue, what: &str) -> Result<T, PolicyError>
where
    T::Err: ToString,
{
    let span = node.span.clone();
    string(node, what)?.parse().map_err(|error: T::Err| PolicyError::new(error.to_string(), span))
}

/// Reads the value of `where`, or of `all` and `any`: a list of clauses.
pub(super) fn clauses(node: SpannedValue, what: &str) -> Result<Vec<Clause>, PolicyError> {
    list(node, what)?.into_iter().map(clause).collect()
}

/// Reads one clause: `{ param = "amount", ge = 1, le = 10000 }`, `{ any = [ … ] }` or `{ all = [ … ] }`.
pub(super) fn clause(node: SpannedValue) -> Result<Clause, PolicyError> {
    let mut table = TableReader::new(node, "a clause")?;
    for (name, make) in [("all", Clause::All as fn(Vec<Clause>) -> Clause), ("any", Clause::Any)] {
        let Some(inner) = table.take(name) else { continue };
        let span = inner.span.clone();
        let inner = clauses(inner, name)?;
        if inner.is_empty() {
            return Err(PolicyError::new(format!("`{name}` is empty: it has no meaning"), span));
        }
        table.end(&format!("a clause with `{name}`"), &[name])?;
        return Ok(make(inner));
    }
    let path: ParamPath = parse(table.need("param", "a clause")?, "param")?;
    let span = table.span.clone();
    let mut tests = Vec::new();
    for (key, value) in table.rest() {
        tests.push(test(&key, value)?);
    }
    if tests.is_empty() {
        return Err(PolicyError::new(format!("the clause on `{path}` tests nothing"), span.clone())
            .hint(format!("operators: {}", OPERATORS.join(", "))));
    }
    if let Some(problem) = contradiction(&tests) {
        return Err(PolicyError::new(format!("no value of `{path}` can pass: {problem}"), span.clone()));
    }
    Ok(Clause::Param(Param { path, tests, wide: false, span: Span(span) }))
}

fn test(key: &SpannedKey, node: SpannedValue) -> Result<Test, PolicyError> {
    let what = key.name.as_str();
    Ok(match what {
        "lt" => Test::Lt(limit(node, what)?),
        "le" => Test::Le(limit(node, what)?),
        "gt" => Test::Gt(limit(node, what)?),
        "ge" => Test::Ge(limit(node, what)?),
        "eq" => Test::Eq(scalar(node, what)?),
        "ne" => Test::Ne(scalar(node, what)?),
        "in" => Test::In(scalars(node, what)?),
        "not_in" => Test::NotIn(scalars(node, what)?),
        "starts_with" => Test::StartsWith(string(node, what)?),
        "ends_with" => Test::EndsWith(string(node, what)?),
        "within" => Test::Within(directory(node, what)?),
        "contains" => Test::Contains(scalar(node, what)?),
        "exists" | "not_exists" => {
            if !matches!(node.value, DocumentValue::Bool(true)) {
                let other = if what == "exists" { "not_exists" } else { "exists" };
                return Err(PolicyError::new(format!("`{what}` takes only true"), node.span)
                    .hint(format!("write `{other} = true` for the opposite")));
            }
            if what == "exists" { Test::Exists } else { Test::NotExists }
        }
        _ => {
            let known: Vec<&str> = ["param"].into_iter().chain(OPERATORS).collect();
            let error = unknown(key, "a clause", &known);
            return Err(match OTHER_NAMES.iter().find(|(other, _)| *other == what) {
                Some((_, operator)) => error.hint(format!("did you mean `{operator}`?")),
                None => error,
            });
        }
    })
}

/// Reads a directory that paths have to be within.
fn directory(node: SpannedValue, what: &str) -> Result<String, PolicyError> {
    let span = node.span.clone();
    let directory = string(node, what)?;
    if is_normal_path(&directory) {
        return Ok(directory);
    }
    Err(PolicyError::new(format!("no path is within {directory:?}"), span)
        .hint("a directory is written without `.`, `..`, `//` and `\\`: `/srv/data`, `/`, `public`"))
}

/// Reads a number to compare with. Numbers that TOML cannot represent (beyond 2^63 - 1) may be decimal strings.
fn limit(node: SpannedValue, what: &str) -> Result<Number, PolicyError> {
    if let DocumentValue::String(text) = &node.value
        && let Some(number) = Number::from_decimal(text)
    {
        return Ok(number);
    }
    number(node, what)
}

fn scalar(node: SpannedValue, what: &str) -> Result<Scalar, PolicyError> {
    let kind = node.kind();
    match node.value {
        DocumentValue::Bool(truth) => Ok(Scalar::Bool(truth)),
        // No JSON number is equal to it, so it is a mistake; nor could it be written as JSON.
        DocumentValue::Number(number) if number.to_json().is_string() => Err(PolicyError::new(
            format!("`{what}` has {number}, which is beyond what a number in JSON can be"),
            node.span,
        )),
        DocumentValue::Number(number) => Ok(Scalar::Number(number)),
        DocumentValue::String(text) => Ok(Scalar::String(text)),
        _ => {
            let message = format!("`{what}` has {kind}: it compares with a string, a number or a boolean");
            Err(PolicyError::new(message, node.span))
        }
    }
}

fn scalars(node: SpannedValue, what: &str) -> Result<Vec<Scalar>, PolicyError> {
    let span = node.span.clone();
    let scalars: Vec<Scalar> =
        list(node, what)?.into_iter().map(|node| scalar(node, what)).collect::<Result<_, _>>()?;
    if scalars.is_empty() {
        return Err(PolicyError::new(format!("`{what}` is empty"), span));
    }
    Ok(scalars)
}

/// Finds tests of one parameter that exclude each other: this is a mistake that deserves an error before anything runs.
fn contradiction(tests: &[Test]) -> Option<String> {
    let mut least: Option<(Number, bool)> = None;
    let mut most: Option<(Number, bool)> = None;
    for test in tests {
        match test {
            Test::Gt(n) => {
                least = Some(least.map_or((*n, false), |other| if other.0 > *n { other } else { (*n, false) }))
            }
            Test::Ge(n) => {
                least = Some(least.map_or((*n, true), |other| if other.0 >= *n { other } else { (*n, true) }))
            }
            Test::Lt(n) => {
                most = Some(most.map_or((*n, false), |other| if other.0 < *n { other } else { (*n, false) }))
            }
            Test::Le(n) => most = Some(most.map_or((*n, true), |other| if other.0 <= *n { other } else { (*n, true) })),
            _ => {}
        }
    }
    if let (Some((least, from)), Some((most, to))) = (least, most)
        && (least > most || (least == most && !(from && to)))
    {
        return Some(format!("it cannot be above {least} and below {most}"));
    }
    let there = tests.iter().any(|test| *test != Test::NotExists);
    (there && tests.contains(&Test::NotExists)).then(|| "`not_exists` is combined with another test".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::capability::{Limits, Policy};

    #[test]
    fn policy_file_with_all_keys_is_read_and_written_back() {
        let text = r#"
            [tools]
            stats = "tollhouse:stats@^0.1"

            [[grant]]
            name = "small charges"
            method = "payments/charges/*"
            where = [
                { param = "amount", ge = 1, le = 10000 },
                { param = "currency", in = ["USD", "EUR"] },
                { any = [{ param = "items/*/price", le = 500 }, { param = "vip", eq = true }] },
            ]
            calls = 100
            spend = { param = "amount", limit = 50000 }
            approve = { param = "amount", gt = 5000 }

            [[grant]]
            method = "text/**"

            [limits]
            wall = "5s"
            memory = "64MiB"
            output = 2_000
        "#;
        let policy = Policy::parse(text).expect("it is a policy");
        assert_eq!(policy.tools.as_ref().expect("it mounts")["stats"], "tollhouse:stats@^0.1");
        let small = &policy.grants[0];
        assert_eq!((small.calls, small.clauses.len(), policy.grants[1].name.as_str()), (Some(100), 3, "text/**#1"));
        assert_eq!((policy.limits.memory, policy.limits.output, policy.limits.fuel), (64 << 20, 2_000, 2_000_000_000));
        let fits = json!({"amount": 5001, "currency": "EUR", "items": [{"price": 1}, {"price": 500}]});
        assert!(small.clauses.iter().all(|clause| clause.holds(&fits)) && small.approve.asks(&fits));
        assert_eq!(Policy::parse(&policy.to_toml()).expect("what was written"), policy);
        assert_eq!(Policy::parse_json(&policy.to_json().to_string()).expect("the same").to_json(), policy.to_json());
    }

    #[test]
    fn numbers_beyond_64_bits_are_read_back_as_numbers() {
        let text = "[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', not_in = [1e20, 5], lt = 1e38 }]";
        let policy = Policy::parse(text).expect("a policy");
        for again in [Policy::parse(&policy.to_toml()), Policy::parse_json(&policy.to_json().to_string())] {
            let clause = &again.expect("what was written").grants[0].clauses[0];
            for (value, allowed) in [(json!(1e20), false), (json!(5), false), (json!(6), true), (json!(1e39), false)] {
                assert_eq!(clause.holds(&json!({ "x": value })), allowed, "{value}");
            }
        }
    }

    #[test]
    fn policy_that_is_malformed_is_refused_with_reason() {
        let deep = format!("[[grant]]\nmethod = 'a'\nwhere = [{}]", "{ any = [".repeat(10_000));
        let huge = format!("[[grant]]\nmethod = 'a'\nname = '{}'", "x".repeat(300));
        for (text, told) in [
            ("[[grant]]\nmethod = 'a'\nwhen = []", "unknown key `when`"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', lte = 5 }]", "unknown key `lte`"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x' }]", "tests nothing"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ le = 5 }]", "has no `param`"),
            ("[[grant]]\nmethod = 'a'\nwhere = { param = 'x', le = 5 }", "a list belongs here"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', le = true }]", "a number belongs here"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', le = '5x' }]", "a number belongs here"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', le = nan }]", "a number belongs here"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', eq = 2020-01-01 }]", "it compares with"),
            (
                "[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', ne = 100000000000000000001 }]",
                "beyond what a number in JSON",
            ),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', in = [] }]", "is empty"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', exists = false }]", "takes only true"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', ge = 5, le = 4 }]", "no value of `x` can pass"),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', gt = 5, le = 5 }]", "no value of `x` can pass"),
            (
                "[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', not_exists = true, eq = 1 }]",
                "no value of `x` can pass",
            ),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ any = [] }]", "is empty"),
            (
                "[[grant]]\nmethod = 'a'\nwhere = [{ any = [{ param = 'x', le = 1 }], param = 'y' }]",
                "unknown key `param`",
            ),
            ("[[grant]]\nmethod = 'a'\nwhere = [{ param = 'a//b', le = 1 }]", "empty segment"),
            ("[[grant]]\nmethod = 'pay*'", "a star stands for whole segments"),
            ("[[grant]]\nmethod = 'a'\ncalls = -1", "whole number"),
            ("[[grant]]\nmethod = 'a'\ncalls = 1.5", "whole number"),
            ("[[grant]]\nmethod = 'a'\nspend = 5", "a table belongs here"),
            ("[[grant]]\nmethod = 'a'\nspend = { param = 'x', limit = -1 }", "must not be negative"),
            ("[[grant]]\nmethod = 'a'\nspend = { param = 'x', limit = 0.0000001 }", "parts below a millionth"),
            (
                "[[grant]]\nmethod = 'a'\nspend = { param = 'x', limit = 99999999999999999999999999999999 }",
                "more digits than a number in JSON",
            ),
            ("[[grant]]\nmethod = 'a'\napprove = 'yes'", "a table belongs here"),
            ("[[grant]]\nname = 'no method'", "has no `method`"),
            ("[[grant]]\nmethod='a'\nname='x'\n[[grant]]\nmethod='b'\nname='x'", "two grants are named `x`"),
            ("[[grant]]\nmethod = 'a'\nmethod = 'b'", "duplicate key"),
            ("[tools]\nstats = 5", "a string belongs here"),
            ("[limits]\nmemory = '1.5MiB'", "is not a size"),
            ("[limits]\nconcurrency = 0", "no call could ever run"),
            ("[limit]\nwall = '1s'", "unknown key `limit`"),
            (deep.as_str(), ""),
            (huge.as_str(), "1 to 200 bytes"),
        ] {
            let error = Policy::parse(text).expect_err(text);
            assert!(error.message.contains(told), "{text:?}: {}", error.message);
        }
        let twice = r#"{"grant": [{"method": "a", "where": [{"param": "x", "le": 5, "le": 500}]}]}"#;
        assert!(Policy::parse_json(twice).expect_err("a key stands twice").message.contains("duplicate key `le`"));
        assert!(Policy::parse_json(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn errors_say_where_and_what_was_meant() {
        let text = "[[grant]]\nmethod = 'a'\nwhere = [{ param = 'x', lte = 5 }]\n";
        let error = Policy::parse(text).expect_err("the operator is unknown");
        assert_eq!(&text[error.span.expect("it is somewhere")], "lte");
        assert_eq!(error.hint.as_deref(), Some("did you mean `le`?"));
        let error = Policy::parse("[[grant]]\nmethod = 'a'\nmethods = 'b'\n").expect_err("the key is unknown");
        assert_eq!(error.hint.as_deref(), Some("did you mean `method`?"));
        let text = "{\n  \"grant\": [,]\n}";
        let error = Policy::parse_json(text).expect_err("it is no JSON");
        assert_eq!(error.span.map(|span| span.start), Some(text.find(',').expect("it is there")));
        let text = "{\"grant\": \"\u{feff}";
        let span = Policy::parse_json(text).expect_err("it has no end").span.expect("it is somewhere");
        assert!(text.get(span.clone()).is_some(), "{span:?}");
    }

    #[test]
    fn policy_schema_contains_every_key() {
        let schema = Policy::schema().to_value().to_string();
        for key in
            Limits::KEYS.iter().chain(&["tools", "grant", "where", "spend", "approve", "not_exists", "starts_with"])
        {
            assert!(schema.contains(&format!("\"{key}\"")), "{key}");
        }
    }
}
