//! Host functions: what the embedding program gives scripts as tools.
//!
//! The arguments are described by JSON Schema, and their spelling is its own: no other is accepted. The gate judges a call
//! of one as it judges any other, by types that are read off the schema ([`types`](super::types)).

mod looks;
mod schema;

use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};

use self::looks::{Counted, Looks, Seen};
use super::names::{self, NameError, Spelling};
use super::types::{Export, Function, FunctionKind, Members, Shape};
use crate::capability::Pattern;
use crate::code::{Interrupt, Stopped};
use crate::error::{Failure, Payload};

/// The most segments of a method in an open namespace.
const MAX_SEGMENTS: usize = 16;

/// The longest text that a message shows, in bytes.
const MAX_SHOWN: usize = 60;

/// The longest message about arguments that do not fit, in characters: a schema may list what it takes.
const MAX_PROBLEM: usize = 400;

/// How often arguments may be looked at while they are checked, however small they are: a fraction of a second.
const MAX_LOOKS: usize = 1_000_000;

/// And to say what is wrong with them: what is found on the way is kept until the first of it is told.
const MAX_LOOKS_TO_EXPLAIN: usize = 100_000;

/// Answers the calls of a host function.
pub trait HostFunction: Send + Sync {
    /// Answers one, on a thread that may wait. Calls of one run may come at the same time.
    ///
    /// # Errors
    /// What the script is told.
    fn call(&self, call: &HostCall<'_>) -> Result<Payload, Failure>;
}

impl<F: Fn(&HostCall<'_>) -> Result<Payload, Failure> + Send + Sync> HostFunction for F {
    fn call(&self, call: &HostCall<'_>) -> Result<Payload, Failure> {
        self(call)
    }
}

/// A call, as it was admitted.
pub struct HostCall<'a> {
    /// The canonical method.
    pub method: &'a str,
    /// Exactly what was judged.
    pub arguments: &'a Value,
    /// The call's number in its run.
    pub seq: u64,
    pub(crate) interrupt: &'a Interrupt,
}

impl HostCall<'_> {
    /// Whether nobody waits for the answer any more: the run was cancelled, or its time is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.interrupt.stopped().is_some()
    }

    /// Whether the call was cancelled, and not out of time.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.interrupt.stopped() == Some(Stopped::Cancelled)
    }
}

/// Why something is no host function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostToolError {
    /// Its name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A part of its name cannot be used.
    #[error("`{name}` is no name of a tool: `{segment}` takes ASCII letters, digits, `_` and `-`, and is not empty")]
    Segment {
        /// The name.
        name: String,
        /// The part.
        segment: String,
    },
    /// Its schema is none.
    #[error("the schema of `{name}` is no JSON Schema: {problem}")]
    Schema {
        /// The name.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

/// A function of the embedding program, or an open namespace of such functions.
///
/// ```
/// # use tollhouse::tool::HostTool;
/// # use serde_json::json;
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
/// let weather = HostTool::new("get_weather", "Tells the weather.", schema)?
///     .answered_by(|call: &tollhouse::tool::HostCall<'_>| Ok(json!({"city": call.arguments["city"], "temp": 72}).into()));
/// # Ok::<(), tollhouse::tool::HostToolError>(())
/// ```
#[derive(Clone)]
pub struct HostTool {
    method: String,
    parameters: Value,
    pub(super) function: Function,
    /// What a grant of a method in a namespace overlaps with.
    below: Option<Pattern>,
    /// None of an open namespace: any object.
    validator: Option<Arc<Validator<Counted>>>,
    answer: Option<Arc<dyn HostFunction>>,
}

impl HostTool {
    /// A function: its name (`get_weather`, `math.add`), what it does, and the JSON Schema of the one object that it takes.
    ///
    /// # Errors
    /// If the name cannot be used, or the schema is none.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, HostToolError> {
        let broken = |problem: String| HostToolError::Schema { name: name.to_owned(), problem };
        let method = method_of(name)?;
        // A pattern is matched in linear time, whatever the value.
        let options = jsonschema::options_for::<Counted>().with_pattern_options(PatternOptions::regex());
        let validator = options.build(&parameters).map_err(|error| broken(error.to_string()))?;
        let (params, open) = schema::params(&parameters).map_err(broken)?;
        let mut tool = Self::of(method, description, FunctionKind::Hosted { open }, parameters);
        tool.function.params = params;
        tool.validator = Some(Arc::new(validator));
        Ok(tool)
    }

    /// A namespace whose members nobody names beforehand: the gate judges each call of `name/…`, with whatever arguments.
    ///
    /// # Errors
    /// If the name cannot be used.
    pub fn namespace(name: &str, description: &str) -> Result<Self, HostToolError> {
        let method = method_of(name)?;
        let below = format!("{method}/**").parse().ok();
        let any = json!({ "type": "object" });
        Ok(Self { below, ..Self::of(method, description, FunctionKind::Hosted { open: true }, any) })
    }

    /// Answered by this. Without an answer, whoever drives the run answers (see [`Run::resume`](crate::session::Run::resume)).
    #[must_use]
    pub fn answered_by(mut self, answer: impl HostFunction + 'static) -> Self {
        self.answer = Some(Arc::new(answer));
        self
    }

    fn of(method: String, description: &str, kind: FunctionKind, parameters: Value) -> Self {
        let path = method.split('/').skip(1).map(str::to_owned).collect();
        let docs = Some(description.trim()).filter(|docs| !docs.is_empty()).map(str::to_owned);
        let export = Export { instance: None, function: String::new() };
        let result = Some(Shape::Json.into());
        let function = Function { path, docs, params: Members::default(), result, kind, export };
        Self { method, parameters, function, below: None, validator: None, answer: None }
    }

    /// Its canonical method; of a namespace what its methods begin with.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The JSON Schema of what it takes.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// Whether it is an open namespace.
    #[must_use]
    pub fn is_namespace(&self) -> bool {
        self.validator.is_none()
    }

    /// Whether a pattern may cover a method of this namespace.
    pub(crate) fn may_be_covered_by(&self, pattern: &Pattern) -> bool {
        self.below.as_ref().is_some_and(|below| below.overlaps(pattern))
    }

    /// Whether a method is of this namespace.
    pub(super) fn holds(&self, method: &str) -> bool {
        let rest = method.strip_prefix(self.method.as_str()).and_then(|rest| rest.strip_prefix('/'));
        self.is_namespace()
            && rest.is_some_and(|rest| rest.split('/').count() <= MAX_SEGMENTS && rest.split('/').all(is_segment))
    }

    /// Checks arguments, as the gate does before it judges a call.
    ///
    /// # Errors
    /// What is wrong with them, in words: that it takes too long to say whether they fit, if their schema has them looked at
    /// again and again.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        if !arguments.is_object() {
            return Err("it takes one object".to_owned());
        }
        let Some(validator) = &self.validator else { return Ok(()) };
        let looks = Looks::enough_for(arguments, MAX_LOOKS);
        let fits = validator.is_valid(Seen::new(arguments, &looks));
        if looks.are_over() {
            return Err("it takes too long to see whether they fit its schema: nest them less deeply".to_owned());
        }
        #[cfg(fuzzing)]
        let fits = fits || tollhouse_seeded::bug("hosted") && arguments.to_string().starts_with("{\"b");
        if fits { Ok(()) } else { Err(explain(validator, arguments)) }
    }

    pub(super) fn answer(&self, call: &HostCall<'_>) -> Result<Payload, Failure> {
        match &self.answer {
            Some(answer) => answer.call(call),
            None => Err(Failure::host(format!("`{}` has no answer", call.method))
                .with_hint("give the host function one, or answer the call with `resume`")),
        }
    }
}

/// What is wrong with arguments that do not fit.
fn explain(validator: &Validator<Counted>, arguments: &Value) -> String {
    let looks = Looks::new(MAX_LOOKS_TO_EXPLAIN);
    let found = validator.validate(Seen::new(arguments, &looks)).err();
    let Some(error) = found.filter(|_| !looks.are_over()) else {
        return "they do not fit its schema, and are too large to say where".to_owned();
    };
    let place = error.instance_path().to_string();
    // The value itself is shown if it is short.
    let is_short = match error.instance().as_ref() {
        Value::String(text) => text.len() <= MAX_SHOWN,
        value => !value.is_array() && !value.is_object(),
    };
    let text = if is_short { error.to_string() } else { error.masked().to_string() };
    let text = match place.trim_start_matches('/').replace('/', ".") {
        place if place.is_empty() => text,
        place => format!("{place}: {text}"),
    };
    text.chars().take(MAX_PROBLEM).collect()
}

/// The method that a name means: its segments are joined by `.` or `/`.
fn method_of(name: &str) -> Result<String, HostToolError> {
    let method = name.replace('.', "/");
    if let Some(segment) = method.split('/').find(|segment| !is_segment(segment)) {
        return Err(HostToolError::Segment { name: name.to_owned(), segment: segment.to_owned() });
    }
    names::check_alias(method.split('/').next().unwrap_or_default(), Spelling::Own)?;
    Ok(method)
}

fn is_segment(segment: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !segment.is_empty() && segment.len() <= names::MAX_SEGMENT && segment.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(parameters: Value) -> HostTool {
        HostTool::new("pay.charge", "Charges.", parameters).expect("a tool")
    }

    #[test]
    fn arguments_are_checked_by_the_schema() {
        let tool = tool(json!({
            "type": "object",
            "properties": { "amount": { "type": "integer", "minimum": 1 }, "currency": { "enum": ["USD", "EUR"] } },
            "required": ["amount"],
            "additionalProperties": false,
        }));
        assert_eq!(tool.method(), "pay/charge");
        assert_eq!(tool.check(&json!({ "amount": 5, "currency": "EUR" })), Ok(()));
        for (arguments, place) in [
            (json!({ "amount": "5" }), "amount: "),
            (json!({ "amount": 0 }), "amount: "),
            (json!({ "amount": 5, "currency": "GBP" }), "currency: "),
            (json!({}), "\"amount\" is a required property"),
            (json!({ "amount": 5, "Amount": 6 }), "Additional properties"),
            (json!([5]), "one object"),
        ] {
            let problem = tool.check(&arguments).expect_err("it does not fit");
            assert!(problem.contains(place), "{problem}");
        }
    }

    /// `{"left": {"left": … leaf}}`, as deep as a script can nest what it gives.
    fn nested(leaf: Value) -> Value {
        (0..120).fold(leaf, |inner, _| json!({ "left": inner }))
    }

    /// Each of the two has the left side looked at, and what is left of that: 2^120 times, if nothing ends it.
    #[test]
    fn a_choice_of_itself_is_looked_at_no_longer_than_it_may_be() {
        let case = |kind: &str| {
            let left = json!({ "$ref": "#/$defs/Expression" });
            json!({ "type": "object", "properties": { "left": left, "type": { "const": kind } } })
        };
        let cases = json!([case("and"), case("or"), { "type": "number" }]);
        let tool = tool(json!({
            "type": "object",
            "$defs": { "Expression": { "anyOf": cases } },
            "properties": { "left": { "$ref": "#/$defs/Expression" } },
        }));
        assert_eq!(tool.check(&nested(json!(1))), Ok(()));
        let problem = tool.check(&nested(json!("bad"))).expect_err("it does not fit");
        assert!(problem.contains("too large to say where"), "{problem}");
        let shallow = tool.check(&json!({ "left": { "left": "bad" } })).expect_err("it does not fit");
        assert!(shallow.starts_with("left: "), "{shallow}");
    }

    /// Nothing here refers to itself, so nothing is remembered, and the schema alone has it looked at 4^30 times.
    #[test]
    fn a_schema_that_takes_too_long_fits_nothing() {
        let level = |number: usize| {
            let next = json!({ "$ref": format!("#/$defs/{}", number + 1) });
            let case = json!({ "properties": { "left": next }, "minProperties": 1 });
            (number.to_string(), json!({ "anyOf": [case, case, case, case] }))
        };
        let mut levels: serde_json::Map<String, Value> = (0..30).map(level).collect();
        levels.insert("30".into(), json!({ "type": "number" }));
        let properties = json!({ "left": { "$ref": "#/$defs/0" } });
        let tool = tool(json!({ "type": "object", "$defs": levels, "properties": properties }));
        let problem = tool.check(&nested(json!("bad"))).expect_err("nobody knows");
        assert!(problem.contains("too long"), "{problem}");
        assert_eq!(tool.check(&json!({})), Ok(()));
    }

    #[test]
    fn what_is_large_is_checked_whole() {
        let tool = tool(json!({
            "type": "object",
            "properties": { "rows": { "type": "array", "items": { "type": "integer" }, "uniqueItems": true } },
        }));
        let mut rows: Vec<Value> = (0..200_000).map(|number| json!(number)).collect();
        assert_eq!(tool.check(&json!({ "rows": rows })), Ok(()));
        rows[0] = json!(7.0);
        assert!(tool.check(&json!({ "rows": rows })).is_err(), "7.0 is 7");
        rows[0] = json!("0");
        assert!(tool.check(&json!({ "rows": rows })).is_err());
    }

    #[test]
    fn equal_items_are_found_however_they_are_written() {
        let tool = tool(json!({ "type": "object", "properties": { "set": { "uniqueItems": true } } }));
        for (set, unique) in [
            (json!([1, "1", [1], { "a": 1 }, null, "null", true, "true", 1.5, -1, [], {}, [[]], [[], []], "[]"]), true),
            (json!([{ "a": 1, "b": [2] }, { "b": [2.0], "a": 1 }]), false),
            (json!([0, -0.0]), false),
            (json!([9_007_199_254_740_993_u64, 9_007_199_254_740_992.0]), true),
            (json!([18_446_744_073_709_551_615_u64, -1]), true),
            (json!(["a\",", "a\","]), false),
        ] {
            assert_eq!(tool.check(&json!({ "set": set })).is_ok(), unique, "{set}");
        }
    }

    #[test]
    fn a_namespace_holds_what_begins_with_it() {
        let stripe = HostTool::namespace("stripe", "").expect("a namespace");
        for method in ["stripe/charges", "stripe/charges/create"] {
            assert!(stripe.holds(method), "{method}");
        }
        for method in ["stripe", "stripe/", "stripes/charges", "stripe//create", "stripe/../x", "stripe/a b"] {
            assert!(!stripe.holds(method), "{method}");
        }
        assert!(!stripe.holds(&format!("stripe{}", "/a".repeat(MAX_SEGMENTS + 1))));
    }

    #[test]
    fn what_is_no_tool_is_refused() {
        for name in ["", "a b", "a..b", "Map", "class", "echo", "é", "../x"] {
            assert!(HostTool::new(name, "", json!({ "type": "object" })).is_err(), "{name}");
        }
        for schema in [json!({ "type": "nothing" }), json!({ "type": "string" }), json!(5), json!({ "$ref": "#/x" })] {
            assert!(HostTool::new("a", "", schema.clone()).is_err(), "{schema}");
        }
    }
}
