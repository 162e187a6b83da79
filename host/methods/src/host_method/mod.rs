//! Methods of the embedding program, as they are declared and checked: their arguments are described by JSON Schema, and
//! have no spelling but its own.
//!
//! The gate judges their calls as any other, by types that are derived from the schema ([`types`](super::types)). Who
//! answers the calls is not known here.

mod declared_names;
mod integers;
mod recursion;
pub(crate) mod remarks;
mod schema;
mod schema_visits;
mod step_budget;
pub(crate) mod typescript;
mod validation;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use tollhouse_types::error::Failure;

pub use self::declared_names::{respelled, takes_undeclared};
use self::validation::ArgumentValidator;
use super::missing_faces::LostFace;
use super::names::{self, NameError, Spelling};
use super::types::{Export, Function, FunctionKind, HostSchemas, Members, Shape};

/// Most segments of a method in an open namespace.
const MAX_SEGMENTS: usize = 16;

/// Part of a value that does not fit a schema, in words that say what would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaMismatch(String);

/// Reason why a function cannot be a host function.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostMethodError {
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

/// Method of the embedding program, or an open namespace of such methods.
#[derive(Clone)]
pub struct HostMethod {
    method: String,
    schemas: Arc<HostSchemas>,
    function: Function,
    /// Schema of the arguments. `None` for an open namespace, which accepts any object.
    schema: Option<Arc<ArgumentValidator>>,
    /// Schema that results are checked against, if they are.
    checked_result: Option<Arc<ArgumentValidator>>,
    /// Reason why every call is denied, if the method replaces a withdrawn tool.
    withdrawn: Option<Arc<str>>,
    /// True if repeating a call with the same idempotency key has the same effect as making it once.
    is_idempotent: bool,
    /// Reason why calls cannot be made at present, if they depend on something that may be absent.
    unavailable: Option<Arc<Unavailability>>,
}

/// Function that returns the failure of a call that cannot be made at present, or `None` if it can be tried.
type Unavailability = dyn Fn() -> Option<Failure> + Send + Sync;

impl fmt::Debug for HostMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMethod").field("method", &self.method).finish_non_exhaustive()
    }
}

impl HostMethod {
    /// Declares a method by its name (`get_weather`, `math.add`), its description, and the JSON Schema of the one
    /// object that it takes.
    ///
    /// # Errors
    /// If the name cannot be used, or the schema is not valid.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, HostMethodError> {
        let broken = |problem: String| HostMethodError::Schema { name: name.to_owned(), problem };
        let method = method_of(name)?;
        let checked = ArgumentValidator::new(&parameters).map_err(broken)?;
        let (params, open) = schema::params(&parameters).map_err(broken)?;
        let mut declared = Self::of(method, description, FunctionKind::Hosted { open }, parameters);
        declared.function.params = params;
        declared.schema = Some(Arc::new(checked));
        Ok(declared)
    }

    /// Adds the JSON Schema of the result. It is part of declarations and descriptions; results are not checked.
    ///
    /// # Errors
    /// If the schema is not valid.
    pub fn returning(self, result: Value) -> Result<Self, HostMethodError> {
        let broken = |problem: String| HostMethodError::Schema { name: self.method.replace('/', "."), problem };
        ArgumentValidator::new(&result).map_err(broken)?;
        let parameters = self.schemas.parameters.clone();
        Ok(self.with_schemas(HostSchemas { parameters, result, is_namespace: false }))
    }

    /// Adds the JSON Schema of the result like [`Self::returning`]. A result that does not fit becomes the failure of its
    /// call: for a function whose implementation is not trusted.
    ///
    /// # Errors
    /// If the schema is not valid.
    pub fn returning_checked(self, result: Value) -> Result<Self, HostMethodError> {
        let broken = |problem: String| HostMethodError::Schema { name: self.method.replace('/', "."), problem };
        let checked = ArgumentValidator::new(&result).map_err(broken)?;
        Ok(Self { checked_result: Some(Arc::new(checked)), ..self.returning(result)? })
    }

    fn with_schemas(mut self, schemas: HostSchemas) -> Self {
        self.schemas = Arc::new(schemas);
        self.function.schemas = Some(Arc::clone(&self.schemas));
        self
    }

    /// Declares an open namespace: the gate judges each call of `name/…`, with any arguments.
    ///
    /// # Errors
    /// If the name cannot be used.
    pub fn namespace(name: &str, description: &str) -> Result<Self, HostMethodError> {
        let method = method_of(name)?;
        let any = json!({ "type": "object" });
        let declared = Self::of(method, description, FunctionKind::Hosted { open: true }, any.clone());
        Ok(declared.with_schemas(HostSchemas { parameters: any, result: Value::Bool(true), is_namespace: true }))
    }

    /// Denies all calls for this reason, whatever the grants say: the method replaces one that a session may still
    /// call.
    #[must_use]
    pub fn withdrawn(mut self, reason: &str) -> Self {
        self.withdrawn = Some(reason.into());
        self
    }

    /// Returns the reason why every call is denied, if the method was withdrawn.
    #[must_use]
    pub fn withdrawal(&self) -> Option<&str> {
        self.withdrawn.as_deref()
    }

    /// Refuses calls, before anything is debited for them, while this returns a failure: what answers them is absent.
    #[must_use]
    pub fn refused_while(mut self, unavailable: impl Fn() -> Option<Failure> + Send + Sync + 'static) -> Self {
        self.unavailable = Some(Arc::new(unavailable));
        self
    }

    /// Declares that repeating a call with the same idempotency key has the same effect as making it once.
    #[must_use]
    pub fn idempotent(self) -> Self {
        Self { is_idempotent: true, ..self }
    }

    /// Returns true if the method was declared idempotent.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// Returns the failure of a call that cannot be made at present.
    #[must_use]
    pub fn unavailability(&self) -> Option<Failure> {
        self.unavailable.as_ref().and_then(|unavailable| unavailable())
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
            schema: None,
            checked_result: None,
            withdrawn: None,
            is_idempotent: false,
            unavailable: None,
        }
    }

    /// Returns the canonical method; for a namespace, the prefix of its methods.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the function, with its parameters and result.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
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

    /// Lists the faces that the method lacks, because its first segment means something else in JavaScript or in the
    /// shell.
    #[must_use]
    pub fn lost_faces(&self) -> Vec<LostFace> {
        LostFace::of_host(self)
    }

    /// Returns true if a method belongs to this namespace.
    #[must_use]
    pub fn holds(&self, method: &str) -> bool {
        let rest = method.strip_prefix(self.method.as_str()).and_then(|rest| rest.strip_prefix('/'));
        self.is_namespace()
            && rest.is_some_and(|rest| rest.split('/').count() <= MAX_SEGMENTS && rest.split('/').all(is_segment))
    }

    /// Canonicalizes the integers of arguments, and validates the arguments, as the gate does before it judges a call: by
    /// the schema, and by their names, which it has to declare unless it takes further ones explicitly, or declares none.
    ///
    /// # Errors
    /// If they do not fit. Arguments are also refused if their validation takes too many steps.
    pub fn canonicalize(&self, mut arguments: Value) -> Result<Value, SchemaMismatch> {
        integers::canonicalize(&self.function.params, &mut arguments).map_err(SchemaMismatch)?;
        self.check(&arguments).map(|()| arguments)
    }

    fn check(&self, arguments: &Value) -> Result<(), SchemaMismatch> {
        if !arguments.is_object() {
            return Err(SchemaMismatch("they must be one object".to_owned()));
        }
        if let Some(schema) = &self.schema {
            schema.check(arguments).map_err(SchemaMismatch)?;
        }
        declared_names::check(self.parameters(), arguments).map_err(SchemaMismatch)
    }

    /// Checks a value against the schema of the result, also where the results of calls are not checked.
    ///
    /// # Errors
    /// If it does not fit, or the schema is not valid.
    pub fn check_possible_result(&self, result: &Value) -> Result<(), SchemaMismatch> {
        ArgumentValidator::new(self.result()).and_then(|schema| schema.check(result)).map_err(SchemaMismatch)
    }

    /// Checks a result against the schema of [`Self::returning_checked`].
    ///
    /// # Errors
    /// If it does not fit.
    pub fn check_result(&self, result: &Value) -> Result<(), SchemaMismatch> {
        self.checked_result.as_ref().map_or(Ok(()), |schema| schema.check(result)).map_err(SchemaMismatch)
    }
}

/// Returns the method of a name, whose segments are joined by `.` or `/`.
fn method_of(name: &str) -> Result<String, HostMethodError> {
    let method = name.replace('.', "/");
    if let Some(segment) = method.split('/').find(|segment| !is_segment(segment)) {
        return Err(HostMethodError::Segment { name: name.to_owned(), segment: segment.to_owned() });
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

    fn tool(parameters: Value) -> HostMethod {
        HostMethod::new("pay.charge", "Charges.", parameters).expect("a tool")
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
            let problem = tool.check(&arguments).expect_err("it does not fit").to_string();
            assert!(problem.contains(place), "{problem}");
        }
    }

    #[test]
    fn namespace_holds_methods_below_it_only() {
        let stripe = HostMethod::namespace("stripe", "").expect("a namespace");
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
        let notes = |tool: HostMethod| tool.lost_faces().iter().map(ToString::to_string).collect::<Vec<_>>();
        let function = |name| HostMethod::new(name, "", json!({ "type": "object" })).expect("a tool");
        assert_eq!(notes(function("get_weather")), [""; 0]);
        let echo = "`echo` is a builtin of the shell (`echo`) and keeps that meaning: for its tool in the shell, write `tool echo`";
        assert_eq!(notes(function("echo")), [echo]);
        let fetch = "`fetch` is a global of JavaScript (`fetch`) and keeps that meaning: for its tool in JavaScript, write `fetch_(…)`";
        assert_eq!(notes(function("fetch")), [fetch]);
        let namespace = notes(HostMethod::namespace("sleep", "").expect("a namespace"));
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
    fn host_method_with_bad_name_or_schema_is_refused() {
        for name in ["", "a b", "a..b", "é", "../x"] {
            assert!(HostMethod::new(name, "", json!({ "type": "object" })).is_err(), "{name}");
        }
        for schema in [json!({ "type": "nothing" }), json!({ "type": "string" }), json!(5), json!({ "$ref": "#/x" })] {
            assert!(HostMethod::new("a", "", schema.clone()).is_err(), "{schema}");
        }
    }
}
