//! Dry runs: admitted calls are answered from the examples of the tools' manifests, or by the embedding program, and no
//! tool is called.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tollhouse_gate::Admission;
use tollhouse_registry::Example;

use super::instance::tool_error;
use super::types::Function;
use super::{CallContext, PackageFunction, ProgramStart, Tool, ToolSource, no_memory_for, value};
use crate::error::{Failure, Payload};
use crate::remedy::Remedy;

/// Longest text of an example's arguments in a message, in characters.
const MAX_SHOWN: usize = 120;

/// Whoever watches a dry run, and answers the calls that no example answers.
pub trait DryRunHandler: Send + Sync {
    /// Takes note of an example that answers calls of a method: once for each example, and for each way in which its
    /// arguments are those of the call or not.
    fn example_used(&self, used: &UsedExample<'_>);

    /// Answers a call that no example answers, on a thread that may block; the time of the run stands still meanwhile.
    /// The value is JSON of the declared result, in any spelling that arguments may have. `None` if there is no answer.
    ///
    /// # Errors
    /// Returns the failure that the script receives.
    fn answer(&self, call: &UnansweredCall<'_>) -> Result<Option<Value>, Failure>;
}

/// Answers of a dry run. Clones share what the handler was told.
#[derive(Clone, Default)]
pub struct DryRun(Arc<DryRunState>);

#[derive(Default)]
struct DryRunState {
    handler: Option<Arc<dyn DryRunHandler>>,
    /// Examples that the handler was told of.
    told: Mutex<HashSet<(String, usize, bool)>>,
}

/// Example of a manifest that answers calls in a dry run.
#[non_exhaustive]
pub struct UsedExample<'a> {
    /// Canonical method of the calls.
    pub method: &'a str,
    /// Release whose manifest has the example: `acme:payments@1.2.0`.
    pub release: &'a str,
    /// Number of the example in the manifest, from 1.
    pub number: usize,
    /// Arguments of the example, as the manifest has them.
    pub arguments: &'a serde_json::Map<String, Value>,
    /// True if these are the arguments of the call; otherwise the manifest has no example with its arguments.
    pub is_same_call: bool,
}

impl fmt::Display for UsedExample<'_> {
    /// Says which example answers which method.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, release, number, arguments, is_same_call } = self;
        let arguments = serde_json::to_string(arguments).map_err(|_| fmt::Error)?;
        let arguments = shortened(&arguments);
        let whose = if *is_same_call { "of the same arguments" } else { "of other arguments" };
        write!(f, "`{method}` is answered by example {number} of `{release}`, {whose}: {arguments}")
    }
}

/// Call in a dry run that no example answers.
pub struct UnansweredCall<'a> {
    tool: &'a Tool,
    admission: &'a Admission,
    memory: u64,
}

impl UnansweredCall<'_> {
    /// Returns the canonical method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.tool.method()
    }

    /// Returns the canonical arguments.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        self.admission.arguments()
    }

    /// Returns the number of the call in its run, from 1.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.admission.seq()
    }

    /// Returns the JSON Schema of the declared result: `null` if nothing is returned.
    #[must_use]
    pub fn result_schema(&self) -> Value {
        self.tool.describe(true).get_mut("result").map(Value::take).unwrap_or_default()
    }

    /// Checks that a value is a result of the called method, and returns what the script gets.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self, result: Value) -> Result<Payload, UnfitResult> {
        let checked = match &self.tool.source {
            ToolSource::Package(_) => value::as_result(self.tool.function().returns(), result, self.memory),
            ToolSource::Host(tool) => {
                tool.check_possible_result(&result).map(|()| result.into()).map_err(|error| error.to_string())
            }
        };
        checked.map_err(UnfitResult)
    }
}

/// Value that is not a result of the called method, in words that say why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnfitResult(String);

impl DryRun {
    /// Creates the answers of one session or several. Without a handler ([`DryRun::default`]), calls that no example
    /// answers fail.
    #[must_use]
    pub fn new(handler: Arc<dyn DryRunHandler>) -> Self {
        Self(Arc::new(DryRunState { handler: Some(handler), told: Mutex::default() }))
    }

    /// Answers an admitted call, without calling its tool.
    pub(crate) fn answer(&self, tool: &Tool, admission: &Admission, context: &CallContext) -> Result<Payload, Failure> {
        let memory = context.memory.limit();
        if let ToolSource::Package(PackageFunction { package, .. }) = &tool.source {
            let examples = package.examples()?;
            let canonical =
                |example: &Example| tool.canonicalize(Value::Object(example.arguments.clone()), memory).ok();
            if let Some((index, is_same_call)) = choose(examples, tool.function(), canonical, admission.arguments()) {
                let example = &examples[index];
                let release = &package.declaration().release;
                self.tell(&UsedExample {
                    method: tool.method(),
                    release,
                    number: index + 1,
                    arguments: &example.arguments,
                    is_same_call,
                });
                return outcome(tool, example, memory).unwrap_or_else(|why| {
                    let (number, method) = (index + 1, tool.method());
                    let message = format!("example {number} of `{release}` is not what `{method}` returns: {why}");
                    Err(Failure::host(message).with_hint("its author has to correct it: `tollhouse test` says more"))
                });
            }
        }
        self.ask(&UnansweredCall { tool, admission, memory }, context)
    }

    /// Answers an admitted call of a program that has streams: what it writes and its exit status are the result of the
    /// method.
    pub(crate) fn run(
        &self,
        tool: &Tool,
        admission: &Admission,
        started: &ProgramStart,
        context: &CallContext,
    ) -> Result<u8, Failure> {
        let Payload { value, .. } = self.answer(tool, admission, context)?;
        for (name, stream) in [("stdout", &started.stdout), ("stderr", &started.stderr)] {
            let text = value.get(name).and_then(Value::as_str).unwrap_or_default();
            if !stream.append(text.as_bytes()) {
                return Err(no_memory_for(&format!("`{}`: the bytes that it wrote", tool.method()), &context.memory));
            }
        }
        let status = value.get("exitCode").and_then(Value::as_u64).and_then(|status| u8::try_from(status).ok());
        status.ok_or_else(|| Failure::host(format!("the dry run of `{}` has no exit status", tool.method())))
    }

    /// Tells the handler of an example, unless it knows.
    fn tell(&self, used: &UsedExample<'_>) {
        let Some(handler) = &self.0.handler else { return };
        // Every change is complete, so a poisoned lock is still good.
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert((used.method.to_owned(), used.number, used.is_same_call)) {
            handler.example_used(used);
        }
    }

    fn ask(&self, call: &UnansweredCall<'_>, context: &CallContext) -> Result<Payload, Failure> {
        let method = call.method();
        let answer = match &self.0.handler {
            Some(handler) => {
                let _paused = context.interrupt.pause();
                handler.answer(call)?
            }
            None => None,
        };
        let Some(answer) = answer else {
            let why = match &call.tool.source {
                ToolSource::Package(function) => format!(
                    "the manifest of `{}` has no example of it with a result",
                    function.package.declaration().release
                ),
                ToolSource::Host(_) => "only tools of packages have examples".to_owned(),
            };
            let message = format!("`{method}` is not called in a dry run, and nothing answers it: {why}");
            return Err(Failure::host(message).with_hint(Remedy::AnswerDryRun));
        };
        call.check(answer).map_err(|why| {
            Failure::host(format!("the answer for `{method}` is not what it returns: {why}"))
                .with_hint(format!("it returns {}", call.result_schema()))
        })
    }
}

/// Returns what an example says that a call returns.
///
/// # Errors
/// If the example does not fit the method, in words.
fn outcome(tool: &Tool, example: &Example, memory: u64) -> Result<Result<Payload, Failure>, String> {
    let function = tool.function();
    let Some(error) = &example.error else {
        let result = example.result.clone().unwrap_or_default();
        return value::as_result(function.returns(), result, memory).map(Ok);
    };
    let ty = function.fails_with().ok_or("it has an error, and the function cannot fail")?;
    let payload = value::as_result(ty, error.clone(), memory)?;
    Ok(Err(tool_error(tool.method(), payload)))
}

/// Chooses the example that answers a call of a function with canonical arguments: the first with these arguments, else
/// the first that succeeds, else the first that fails. Returns its index, and true if it has these arguments. Examples
/// that say nothing of the result answer nothing.
fn choose(
    examples: &[Example],
    function: &Function,
    canonical: impl Fn(&Example) -> Option<Value>,
    arguments: &Value,
) -> Option<(usize, bool)> {
    let is_answer = |example: &Example| {
        let says = example.result.is_some() || example.error.is_some() || function.returns().is_none();
        says && function.is_spelled(&example.method)
    };
    let answers = || examples.iter().enumerate().filter(|(_, example)| is_answer(example));
    let same = answers().find(|(_, example)| canonical(example).as_ref() == Some(arguments));
    let other = || answers().find(|(_, example)| example.error.is_none()).or_else(|| answers().next());
    match same {
        Some((index, _)) => Some((index, true)),
        None => other().map(|(index, _)| (index, false)),
    }
}

/// Returns the beginning of a text.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
