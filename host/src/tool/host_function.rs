//! Host functions: functions of the embedding program that scripts call as tools.
//!
//! `tollhouse_methods` declares them and checks their arguments; here they are answered.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;
use tollhouse_methods::HostMethod;
pub use tollhouse_methods::HostMethodError as HostToolError;

use super::mcp_server::SecretUse;
use super::{CallContext, no_memory_for_result};
use crate::code::{Interrupt, Stopped};
use crate::error::{Failure, Payload};

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

    /// Returns the number of the session that makes the call ([`Session::number`](crate::session::Session::number)): a
    /// session and those delegated from it have the same host functions.
    #[must_use]
    pub fn session(&self) -> u64 {
        self.context.session
    }

    /// Returns the idempotency key of the call: 32 hexadecimal digits, which no other call has. If the process dies during
    /// the call, and the call is made again when its run is resumed, the key is the same.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        self.context.idempotency_key()
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
    declaration: Arc<HostMethod>,
    answer: Option<Arc<dyn HostFunction>>,
    /// Secrets whose values whoever answers was given.
    secrets: Arc<[SecretUse]>,
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTool").field("method", &self.method()).finish_non_exhaustive()
    }
}

impl Deref for HostTool {
    type Target = HostMethod;

    fn deref(&self) -> &HostMethod {
        &self.declaration
    }
}

impl From<HostMethod> for HostTool {
    fn from(declaration: HostMethod) -> Self {
        Self { declaration: Arc::new(declaration), answer: None, secrets: Arc::default() }
    }
}

impl HostTool {
    /// Creates a function from its name (`get_weather`, `math.add`), its description, and the JSON Schema of the one
    /// object that it takes.
    ///
    /// # Errors
    /// If the name cannot be used, or the schema is not valid.
    pub fn new(name: &str, description: &str, parameters: Value) -> Result<Self, HostToolError> {
        HostMethod::new(name, description, parameters).map(Self::from)
    }

    /// Adds the JSON Schema of the result. It is part of declarations and descriptions; results are not checked.
    ///
    /// # Errors
    /// If the schema is not valid.
    pub fn returning(self, result: Value) -> Result<Self, HostToolError> {
        let declaration = Arc::unwrap_or_clone(self.declaration).returning(result)?;
        Ok(Self { declaration: Arc::new(declaration), ..self })
    }

    /// Adds the JSON Schema of the result like [`Self::returning`]. A result that does not fit becomes the failure of its
    /// call: for a function whose implementation is not trusted.
    ///
    /// # Errors
    /// If the schema is not valid.
    pub fn returning_checked(self, result: Value) -> Result<Self, HostToolError> {
        let declaration = Arc::unwrap_or_clone(self.declaration).returning_checked(result)?;
        Ok(Self { declaration: Arc::new(declaration), ..self })
    }

    /// Creates an open namespace: the gate judges each call of `name/…`, with any arguments.
    ///
    /// # Errors
    /// If the name cannot be used.
    pub fn namespace(name: &str, description: &str) -> Result<Self, HostToolError> {
        HostMethod::namespace(name, description).map(Self::from)
    }

    /// Sets the implementation. Without one, the driver of the run answers (see
    /// [`Run::resume`](crate::session::Run::resume)).
    #[must_use]
    pub fn answered_by(mut self, answer: impl HostFunction + 'static) -> Self {
        self.answer = Some(Arc::new(answer));
        self
    }

    /// Names the secrets whose values the implementation was given: each call of it is in the log as a use of them.
    pub(super) fn using(mut self, secrets: Vec<SecretUse>) -> Self {
        self.secrets = secrets.into();
        self
    }

    /// Returns the secrets whose values the implementation was given.
    pub(super) fn secrets(&self) -> &[SecretUse] {
        &self.secrets
    }

    /// Declares that repeating a call with the same [`HostCall::idempotency_key`] has the same effect as making it once. If
    /// the process dies during a call, the call is made again when its run is resumed; otherwise a human has to say what
    /// became of it.
    #[must_use]
    pub fn idempotent(self) -> Self {
        let declaration = Arc::unwrap_or_clone(self.declaration).idempotent();
        Self { declaration: Arc::new(declaration), ..self }
    }

    /// Denies all calls for this reason, whatever the grants say: the function replaces a tool that a session may still
    /// call.
    #[must_use]
    pub fn withdrawn(self, reason: &str) -> Self {
        let declaration = Arc::unwrap_or_clone(self.declaration).withdrawn(reason);
        Self { declaration: Arc::new(declaration), ..self }
    }

    /// Refuses calls, before anything is debited for them, while this returns a failure: what answers them is absent.
    #[must_use]
    pub(super) fn refused_while(self, unavailable: impl Fn() -> Option<Failure> + Send + Sync + 'static) -> Self {
        let declaration = Arc::unwrap_or_clone(self.declaration).refused_while(unavailable);
        Self { declaration: Arc::new(declaration), ..self }
    }

    /// Returns the declaration, which says what scripts may pass.
    pub(super) fn declaration(&self) -> &Arc<HostMethod> {
        &self.declaration
    }

    pub(super) fn answer(&self, call: &HostCall<'_>) -> Result<Payload, Failure> {
        let Some(answer) = &self.answer else {
            return Err(Failure::host(format!("`{}` has no answer", call.method))
                .with_hint("set its implementation, or answer the call with `resume`"));
        };
        let answer = answer.call(call)?;
        self.declaration.check_result(&answer.value).map_err(|problem| {
            let message = format!("`{}` returned what its own schema of the result refuses: {problem}", call.method);
            Failure::tool(message).with_hint("nothing of the result was used; the call may have taken effect")
        })?;
        Ok(answer)
    }
}
