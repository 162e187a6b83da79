//! Host functions: what the embedding program gives scripts as tools.
//!
//! The arguments are described by JSON Schema, and their spelling is its own: no other is accepted. The gate judges a call
//! of one as it judges any other, by types that are read off the schema ([`types`](super::types)).

mod check;
mod looks;
pub(super) mod remarks;
mod schema;
pub(super) mod typescript;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use self::check::Checked;
use super::lost::LostFace;
use super::names::{self, NameError, Spelling};
use super::types::{Export, Function, FunctionKind, HostSchemas, Members, Shape};
use super::{CallContext, no_memory_for_result};
use crate::capability::Pattern;
use crate::code::{Interrupt, Stopped};
use crate::error::{Failure, Payload};

/// The most segments of a method in an open namespace.
const MAX_SEGMENTS: usize = 16;

/// Implementation of a host function in the embedding program.
pub trait HostFunction: Send + Sync {
    /// Answers one call, on a thread that may block. Calls of one run may come at the same time.
    ///
    /// # Errors
    /// Returns the failure that the script is told.
    fn call(&self, call: &HostCall<'_>) -> Result<Payload, Failure>;
}

impl<F: Fn(&HostCall<'_>) -> Result<Payload, Failure> + Send + Sync> HostFunction for F {
    fn call(&self, call: &HostCall<'_>) -> Result<Payload, Failure> {
        self(call)
    }
}

/// Admitted call of a host function.
pub struct HostCall<'a> {
    /// Canonical method, such as `weather/forecast`.
    pub method: &'a str,
    /// Arguments that the gate judged, unchanged.
    pub arguments: &'a Value,
    /// Number of the call in its run, from 1.
    pub seq: u64,
    pub(crate) context: &'a CallContext,
}

impl HostCall<'_> {
    /// Returns true if nobody waits for the answer any more: the run ended, was cancelled, or its time is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.context.interrupt.stopped().is_some()
    }

    /// Returns the switch that stops this call. It outlives the call, so that another thread can ask it.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.context.interrupt.clone()
    }

    /// Takes memory of the session for a part of the result, before the part is made. The whole result is counted once
    /// more when it was returned; a function that returns much keeps by this from first making what is then refused.
    ///
    /// # Errors
    /// Returns the failure that the script is to be told, if fewer bytes are left.
    pub fn keep(&self, bytes: u64) -> Result<(), Failure> {
        if self.context.held().grow(bytes) {
            Ok(())
        } else {
            Err(no_memory_for_result(self.method, &self.context.memory))
        }
    }

    /// Returns true if the call was cancelled, and not if its time is over.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.context.interrupt.stopped() == Some(Stopped::Cancelled)
    }
}

/// Reason for which a function cannot be a host function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostToolError {
    /// Name that cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Segment of a name that cannot be used.
    #[error("`{name}` is no name of a tool: `{segment}` takes ASCII letters, digits, `_` and `-`, and is not empty")]
    Segment {
        /// Whole name, as it was given.
        name: String,
        /// Segment between slashes that is refused.
        segment: String,
    },
    /// Schema that is no JSON Schema.
    #[error("the schema of `{name}` is no JSON Schema: {problem}")]
    Schema {
        /// Name of the function.
        name: String,
        /// Problem that the validator found.
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
    schemas: Arc<HostSchemas>,
    pub(crate) function: Function,
    /// What a grant of a method in a namespace overlaps with.
    below: Option<Pattern>,
    /// None of an open namespace: any object.
    schema: Option<Arc<Checked>>,
    answer: Option<Arc<dyn HostFunction>>,
    /// Why every call of it is denied, if it is only the place of a tool that was.
    withdrawn: Option<Arc<str>>,
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTool").field("method", &self.method).finish_non_exhaustive()
    }
}

impl HostTool {
    /// A function: its name (`get_weather`, `math.add`), what it does, and the JSON Schema of the one object that it takes.
    ///
    /// # Errors
    /// If the name cannot be used, or the schema is none.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, HostToolError> {
        let broken = |problem: String| HostToolError::Schema { name: name.to_owned(), problem };
        let method = method_of(name)?;
        let checked = Checked::new(&parameters).map_err(broken)?;
        let (params, open) = schema::params(&parameters).map_err(broken)?;
        let mut tool = Self::of(method, description, FunctionKind::Hosted { open }, parameters);
        tool.function.params = params;
        tool.schema = Some(Arc::new(checked));
        Ok(tool)
    }

    /// The same, with the JSON Schema of what it returns. Declarations and descriptions have it; what is returned is not checked.
    ///
    /// # Errors
    /// If the schema is none.
    pub fn returning(self, result: Value) -> Result<Self, HostToolError> {
        let broken = |problem: String| HostToolError::Schema { name: self.method.replace('/', "."), problem };
        Checked::new(&result).map_err(broken)?;
        let parameters = self.schemas.parameters.clone();
        Ok(self.with_schemas(HostSchemas { parameters, result, is_namespace: false }))
    }

    fn with_schemas(mut self, schemas: HostSchemas) -> Self {
        self.schemas = Arc::new(schemas);
        self.function.schemas = Some(Arc::clone(&self.schemas));
        self
    }

    /// A namespace whose members nobody names beforehand: the gate judges each call of `name/…`, with whatever arguments.
    ///
    /// # Errors
    /// If the name cannot be used.
    pub fn namespace(name: &str, description: &str) -> Result<Self, HostToolError> {
        let method = method_of(name)?;
        let below = format!("{method}/**").parse().ok();
        let any = json!({ "type": "object" });
        let tool = Self::of(method, description, FunctionKind::Hosted { open: true }, any.clone());
        let schemas = HostSchemas { parameters: any, result: Value::Bool(true), is_namespace: true };
        Ok(Self { below, ..tool.with_schemas(schemas) })
    }

    /// Answered by this. Without an answer, whoever drives the run answers (see [`Run::resume`](crate::session::Run::resume)).
    #[must_use]
    pub fn answered_by(mut self, answer: impl HostFunction + 'static) -> Self {
        self.answer = Some(Arc::new(answer));
        self
    }

    /// Denied whatever the grants say, for this reason: it stands where a tool was that a session may still call.
    #[must_use]
    pub fn withdrawn(mut self, reason: &str) -> Self {
        self.withdrawn = Some(reason.into());
        self
    }

    /// Why every call of it is denied, if it was withdrawn.
    pub(crate) fn withdrawal(&self) -> Option<&str> {
        self.withdrawn.as_deref()
    }

    fn of(method: String, description: &str, kind: FunctionKind, parameters: Value) -> Self {
        let path = method.split('/').skip(1).map(str::to_owned).collect();
        let docs = Some(description.trim()).filter(|docs| !docs.is_empty()).map(str::to_owned);
        let export = Export { instance: None, function: String::new() };
        let result = Some(Shape::Json.into());
        let schemas = Arc::new(HostSchemas { parameters, result: Value::Bool(true), is_namespace: false });
        let declared = Some(Arc::clone(&schemas));
        let function = Function { path, docs, params: Members::default(), result, kind, export, schemas: declared };
        Self { method, schemas, function, below: None, schema: None, answer: None, withdrawn: None }
    }

    /// Its canonical method; of a namespace what its methods begin with.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The JSON Schema of what it takes.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.schemas.parameters
    }

    /// The JSON Schema of what it returns; `true` where nothing was said of that.
    #[must_use]
    pub fn result(&self) -> &Value {
        &self.schemas.result
    }

    /// Whether it is an open namespace.
    #[must_use]
    pub fn is_namespace(&self) -> bool {
        self.schema.is_none()
    }

    /// Faces that it lacks, because the first segment of its method means something else in JavaScript or in the shell.
    #[must_use]
    pub fn lost_faces(&self) -> Vec<LostFace> {
        LostFace::of_host(self)
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
        self.schema.as_ref().map_or(Ok(()), |schema| schema.check(arguments))
    }

    pub(super) fn answer(&self, call: &HostCall<'_>) -> Result<Payload, Failure> {
        match &self.answer {
            Some(answer) => answer.call(call),
            None => Err(Failure::host(format!("`{}` has no answer", call.method))
                .with_hint("give the host function one, or answer the call with `resume`")),
        }
    }
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
    fn function_of_taken_name_says_which_face_it_lacks() {
        let notes = |tool: HostTool| tool.lost_faces().iter().map(ToString::to_string).collect::<Vec<_>>();
        let function = |name| HostTool::new(name, "", json!({ "type": "object" })).expect("a tool");
        assert_eq!(notes(function("get_weather")), [""; 0]);
        let echo =
            "`echo` is a builtin of the shell (`echo`) and stays that: for its tool in the shell, write `tool echo`";
        assert_eq!(notes(function("echo")), [echo]);
        let fetch =
            "`fetch` is a global of JavaScript (`fetch`) and stays that: for its tool in JavaScript, write `fetch_(…)`";
        assert_eq!(notes(function("fetch")), [fetch]);
        let namespace = notes(HostTool::namespace("sleep", "").expect("a namespace"));
        assert!(
            namespace[0].ends_with("for its tools in JavaScript, write for example `sleep_.NAME(…)`"),
            "{namespace:?}"
        );
        assert!(
            namespace[1].ends_with("for its tools in the shell, write for example `tool sleep NAME`"),
            "{namespace:?}"
        );
    }

    #[test]
    fn what_is_no_tool_is_refused() {
        for name in ["", "a b", "a..b", "é", "../x"] {
            assert!(HostTool::new(name, "", json!({ "type": "object" })).is_err(), "{name}");
        }
        for schema in [json!({ "type": "nothing" }), json!({ "type": "string" }), json!(5), json!({ "$ref": "#/x" })] {
            assert!(HostTool::new("a", "", schema.clone()).is_err(), "{schema}");
        }
    }
}
