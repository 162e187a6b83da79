//! Host functions: functions of the embedding program that scripts call as tools.
//!
//! Their arguments are described by JSON Schema, and have no spelling but its own. The gate judges their calls as any
//! other, by types that are derived from the schema ([`types`](super::types)).

pub(super) mod remarks;
mod schema;
mod step_budget;
pub(super) mod typescript;
mod validation;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use self::validation::ArgumentValidator;
use super::missing_faces::LostFace;
use super::names::{self, NameError, Spelling};
use super::types::{Export, Function, FunctionKind, HostSchemas, Members, Shape};
use super::{CallContext, no_memory_for_result};
use crate::capability::Pattern;
use crate::code::{Interrupt, Stopped};
use crate::error::{Failure, Payload};

/// Most segments of a method in an open namespace.
const MAX_SEGMENTS: usize = 16;

/// Implementation of a host function in the embedding program.
pub trait HostFunction: Send + Sync {
    /// Answers one call, on a thread that may block. Calls of one run may come at the same time.
    ///
    /// # Errors
    /// Returns the failure that the script receives.
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
    /// Returns true if nobody waits for the answer any more: the run ended, was cancelled, or exceeded its time.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.context.interrupt.stopped().is_some()
    }

    /// Returns the interrupt of this call. It outlives the call, so that another thread can check it.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.context.interrupt.clone()
    }

    /// Reserves memory of the session for a part of the result, before the part is made. The whole result is counted
    /// again when it is returned; this call spares a function from making a large result that is then refused.
    ///
    /// # Errors
    /// Returns the failure for the script, if fewer bytes are left.
    pub fn keep(&self, bytes: u64) -> Result<(), Failure> {
        if self.context.held().grow(bytes) {
            Ok(())
        } else {
            Err(no_memory_for_result(self.method, &self.context.memory))
        }
    }

    /// Returns true if the call was cancelled, but not if it exceeded its time.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.context.interrupt.stopped() == Some(Stopped::Cancelled)
    }
}

/// Reason why a function cannot be a host function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostToolError {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A segment of the name cannot be used.
    #[error(
        "`{name}` is not a name of a tool: `{segment}` must have ASCII letters, digits, `_` and `-`, and not be empty"
    )]
    Segment {
        /// Whole name, as it was given.
        name: String,
        /// Refused segment between slashes.
        segment: String,
    },
    /// The schema is not a JSON Schema.
    #[error("the schema of `{name}` is not a JSON Schema: {problem}")]
    Schema {
        /// Name of the function.
        name: String,
        /// Problem that the validator found.
        problem: String,
    },
}

/// Function of the embedding program, or an open namespace of such functions.
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
    /// Pattern of the methods in a namespace, for grants that cover some of them.
    below: Option<Pattern>,
    /// Schema of the arguments. `None` for an open namespace, which accepts any object.
    schema: Option<Arc<ArgumentValidator>>,
    /// Schema that results are checked against, if they are.
    checked_result: Option<Arc<ArgumentValidator>>,
    answer: Option<Arc<dyn HostFunction>>,
    /// Reason why every call is denied, if the function replaces a withdrawn tool.
    withdrawn: Option<Arc<str>>,
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTool").field("method", &self.method).finish_non_exhaustive()
    }
}

impl HostTool {
    /// Creates a function from its name (`get_weather`, `math.add`), its description, and the JSON Schema of the one
    /// object that it takes.
    ///
    /// # Errors
    /// If the name cannot be used, or the schema is not valid.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, HostToolError> {
        let broken = |problem: String| HostToolError::Schema { name: name.to_owned(), problem };
        let method = method_of(name)?;
        let checked = ArgumentValidator::new(&parameters).map_err(broken)?;
        let (params, open) = schema::params(&parameters).map_err(broken)?;
        let mut tool = Self::of(method, description, FunctionKind::Hosted { open }, parameters);
        tool.function.params = params;
        tool.schema = Some(Arc::new(checked));
        Ok(tool)
    }

    /// Adds the JSON Schema of the result. It is part of declarations and descriptions; results are not checked.
    ///
    /// # Errors
    /// If the schema is not valid.
    pub fn returning(self, result: Value) -> Result<Self, HostToolError> {
        let broken = |problem: String| HostToolError::Schema { name: self.method.replace('/', "."), problem };
        ArgumentValidator::new(&result).map_err(broken)?;
        let parameters = self.schemas.parameters.clone();
        Ok(self.with_schemas(HostSchemas { parameters, result, is_namespace: false }))
    }

    /// Adds the JSON Schema of the result like [`Self::returning`]. A result that does not fit becomes the failure of its
    /// call: for a function whose implementation is not trusted.
    ///
    /// # Errors
    /// If the schema is not valid.
    pub fn returning_checked(self, result: Value) -> Result<Self, HostToolError> {
        let broken = |problem: String| HostToolError::Schema { name: self.method.replace('/', "."), problem };
        let checked = ArgumentValidator::new(&result).map_err(broken)?;
        Ok(Self { checked_result: Some(Arc::new(checked)), ..self.returning(result)? })
    }

    fn with_schemas(mut self, schemas: HostSchemas) -> Self {
        self.schemas = Arc::new(schemas);
        self.function.schemas = Some(Arc::clone(&self.schemas));
        self
    }

    /// Creates an open namespace: the gate judges each call of `name/…`, with any arguments.
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

    /// Sets the implementation. Without one, the driver of the run answers (see
    /// [`Run::resume`](crate::session::Run::resume)).
    #[must_use]
    pub fn answered_by(mut self, answer: impl HostFunction + 'static) -> Self {
        self.answer = Some(Arc::new(answer));
        self
    }

    /// Denies all calls for this reason, whatever the grants say: the function replaces a tool that a session may still
    /// call.
    #[must_use]
    pub fn withdrawn(mut self, reason: &str) -> Self {
        self.withdrawn = Some(reason.into());
        self
    }

    /// Returns the reason why every call is denied, if the function was withdrawn.
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
        Self {
            method,
            schemas,
            function,
            below: None,
            schema: None,
            checked_result: None,
            answer: None,
            withdrawn: None,
        }
    }

    /// Returns the canonical method; for a namespace, the prefix of its methods.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the JSON Schema of the arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.schemas.parameters
    }

    /// Returns the JSON Schema of the result; `true` if it is unspecified.
    #[must_use]
    pub fn result(&self) -> &Value {
        &self.schemas.result
    }

    /// Returns true if this is an open namespace.
    #[must_use]
    pub fn is_namespace(&self) -> bool {
        self.schema.is_none()
    }

    /// Lists the faces that the function lacks, because the first segment of its method means something else in
    /// JavaScript or in the shell.
    #[must_use]
    pub fn lost_faces(&self) -> Vec<LostFace> {
        LostFace::of_host(self)
    }

    /// Returns true if a pattern may cover a method of this namespace.
    pub(crate) fn may_be_covered_by(&self, pattern: &Pattern) -> bool {
        self.below.as_ref().is_some_and(|below| below.overlaps(pattern))
    }

    /// Returns true if a method belongs to this namespace.
    pub(super) fn holds(&self, method: &str) -> bool {
        let rest = method.strip_prefix(self.method.as_str()).and_then(|rest| rest.strip_prefix('/'));
        self.is_namespace()
            && rest.is_some_and(|rest| rest.split('/').count() <= MAX_SEGMENTS && rest.split('/').all(is_segment))
    }

    /// Validates arguments, as the gate does before it judges a call.
    ///
    /// # Errors
    /// A description of the problem. Arguments are also refused if their validation takes too many steps.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        if !arguments.is_object() {
            return Err("they must be one object".to_owned());
        }
        self.schema.as_ref().map_or(Ok(()), |schema| schema.check(arguments))
    }

    pub(super) fn answer(&self, call: &HostCall<'_>) -> Result<Payload, Failure> {
        let answer = match &self.answer {
            Some(answer) => answer.call(call)?,
            None => {
                return Err(Failure::host(format!("`{}` has no answer", call.method))
                    .with_hint("set its implementation, or answer the call with `resume`"));
            }
        };
        match self.checked_result.as_ref().map(|schema| schema.check(&answer.value)) {
            None | Some(Ok(())) => Ok(answer),
            Some(Err(problem)) => {
                let message =
                    format!("`{}` returned what its own schema of the result refuses: {problem}", call.method);
                Err(Failure::tool(message).with_hint("nothing of the result was used; the call may have taken effect"))
            }
        }
    }
}

/// Returns the method of a name, whose segments are joined by `.` or `/`.
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
        let echo = "`echo` is a builtin of the shell (`echo`) and keeps that meaning: for its tool in the shell, write `tool echo`";
        assert_eq!(notes(function("echo")), [echo]);
        let fetch = "`fetch` is a global of JavaScript (`fetch`) and keeps that meaning: for its tool in JavaScript, write `fetch_(…)`";
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
