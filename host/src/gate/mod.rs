//! The gate: the one place where a guest's call becomes a tool's call.
//!
//! **Invariant:** [`Admission`] is made here and nowhere else, and a tool can be called only with one. What an
//! admission carries is exactly what was judged: the canonical arguments, not the text that the guest sent.

mod calls;

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

pub use calls::{Budget, BudgetKind, Call, CallOutcome, Calls};

use crate::capability::{Grant, Limits};
use crate::error::{Failure, Payload};
use crate::ledger::Ledger;
use crate::tool::{CallContext, MountedTools, Tool};

/// Judges the calls of a session.
pub struct Gate {
    tools: Arc<MountedTools>,
    grants: Vec<Grant>,
    ledger: Ledger,
    limits: Limits,
}

/// A call that may happen: granted, paid for, and on record.
pub struct Admission {
    /// The call's number in its run.
    pub seq: u64,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments: exactly what was judged.
    pub arguments: Value,
    tool: Arc<Tool>,
    result_limit: u64,
}

impl Gate {
    /// A gate before these tools, with these grants.
    #[must_use]
    pub fn new(tools: Arc<MountedTools>, grants: Vec<Grant>, limits: Limits) -> Self {
        Self { tools, grants, ledger: Ledger::default(), limits }
    }

    /// What is mounted behind the gate.
    #[must_use]
    pub fn tools(&self) -> &Arc<MountedTools> {
        &self.tools
    }

    /// Whether a grant could allow a call of the method, for some arguments and with some budget.
    #[must_use]
    pub fn grants(&self, method: &str) -> bool {
        self.grants.iter().any(|grant| grant.method.matches(method))
    }

    /// Judges a call, in the order that the contract fixes: shape and types of the arguments, grant, budget, record.
    /// Whatever the answer, it is on record in `calls`.
    ///
    /// # Errors
    /// What the script is told: no such method, arguments that do not fit, no grant, no budget.
    pub fn admit(&self, calls: &mut Calls, method: &str, arguments: &str) -> Result<Admission, Failure> {
        let (tool, arguments) = match self.check(method, arguments) {
            Ok(checked) => checked,
            Err((arguments, failure)) => {
                calls.refuse(method, arguments, None);
                return Err(failure);
            }
        };
        match self.reserve(method) {
            Ok(grant) => {
                let seq = calls.begin(method, arguments.clone(), &grant.name, Instant::now());
                let method = method.to_owned();
                Ok(Admission { seq, method, arguments, tool, result_limit: self.limits.result })
            }
            Err((nearest, failure)) => {
                calls.refuse(method, arguments, nearest.map(|grant| grant.name.as_str()));
                Err(failure)
            }
        }
    }

    /// Finds the tool and brings the arguments to their canonical form. The error carries what there is to record.
    fn check(&self, method: &str, text: &str) -> Result<(Arc<Tool>, Value), (Value, Failure)> {
        let Some(tool) = self.tools.get(method) else {
            return Err((recorded(text), self.unknown(method)));
        };
        if text.len() as u64 > self.limits.argument {
            let message =
                format!("`{method}`: arguments of {} bytes pass the limit of {}", text.len(), self.limits.argument);
            return Err((Value::Null, Failure::limit(message, "raise `argument` under `[limits]` in the policy")));
        }
        let given: Value = serde_json::from_str(text).map_err(|error| {
            let message = format!("`{method}`: the arguments are no JSON: {error}");
            (Value::String(text.to_owned()), Failure::argument(message))
        })?;
        match tool.canonicalize(given) {
            Ok(arguments) => Ok((Arc::clone(tool), arguments)),
            Err(failure) => Err((recorded(text), failure)),
        }
    }

    /// Debits the first grant that covers the method and has budget left.
    fn reserve(&self, method: &str) -> Result<&Grant, (Option<&Grant>, Failure)> {
        let mut exhausted = None;
        for (index, grant) in self.grants.iter().enumerate() {
            if !grant.method.matches(method) {
                continue;
            }
            if self.ledger.reserve_call(index, grant.calls).is_ok() {
                return Ok(grant);
            }
            exhausted.get_or_insert(grant);
        }
        let failure = match exhausted {
            Some(grant) => Failure::capability(format!(
                "`{method}`: the budget of grant `{}` is used up: {} of {} calls",
                grant.name,
                grant.calls.unwrap_or_default(),
                grant.calls.unwrap_or_default(),
            ))
            .with_hint("raise `calls` of that grant in the policy"),
            None => self.not_granted(method),
        };
        Err((exhausted, failure))
    }

    fn not_granted(&self, method: &str) -> Failure {
        let given = match self.grants.as_slice() {
            [] => "nothing is granted".to_owned(),
            grants => {
                let patterns: Vec<String> = grants.iter().take(5).map(|grant| format!("`{}`", grant.method)).collect();
                let more = if grants.len() > 5 { ", …" } else { "" };
                format!("granted are {}{more}", patterns.join(", "))
            }
        };
        Failure::capability(format!("no grant allows `{method}`: {given}"))
            .with_hint(format!("run with `--allow '{method}'`, or add to the policy: [[grant]] method = \"{method}\""))
    }

    fn unknown(&self, method: &str) -> Failure {
        let failure = Failure::argument(format!("there is no tool `{method}`"));
        match self.tools.nearest(method) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None if self.tools.is_empty() => {
                failure.with_hint("no tool is mounted: publish one, or mount it with `--tool`")
            }
            None => failure.with_hint("`listTools()` and `tool --list` name what is mounted"),
        }
    }

    /// What is left of every budget.
    #[must_use]
    pub fn budgets(&self) -> Vec<Budget> {
        let counted = self.grants.iter().enumerate().filter_map(|(index, grant)| {
            let limit = grant.calls?;
            let used = self.ledger.calls(index);
            let remaining = limit.saturating_sub(used);
            Some(Budget { grant: grant.name.clone(), kind: BudgetKind::Calls, limit, used, remaining })
        });
        counted.collect()
    }
}

impl Admission {
    /// Calls the tool, on this thread, and waits for it.
    ///
    /// # Errors
    /// The tool's own error, a trap, a limit, or the cancellation.
    pub fn invoke(&self, context: &CallContext) -> Result<Payload, Failure> {
        let payload = self.tool.call(self, context)?;
        let size = serialized_len(&payload.value);
        if size > self.result_limit {
            let message =
                format!("`{}`: a result of {size} bytes passes the limit of {}", self.method, self.result_limit);
            return Err(Failure::limit(message, "raise `result` under `[limits]` in the policy"));
        }
        Ok(payload)
    }
}

/// What the record keeps of arguments that were refused: the JSON, or the text if it is none.
fn recorded(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// The length of a value as JSON text, without making the text.
fn serialized_len(value: &Value) -> u64 {
    struct Count(u64);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("a JSON value serialises, and counting does not fail");
    count.0
}
