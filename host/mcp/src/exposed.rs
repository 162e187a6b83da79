//! Mounted tools as tools of the protocol, for clients that write no scripts. Each call is a run of its own: it passes the
//! gate, is counted and is on record like a script's.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ListToolsResult, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc::channel;
use tollhouse::error::{Failure, Payload};
use tollhouse::gate::Gate;
use tollhouse::tool::help::first_sentence;
use tollhouse::tool::schema;

use crate::catalog;
use crate::definitions;
use crate::excerpts::shorten;
use crate::runs::{self, Stop, watch};
use crate::server::Connection;
use crate::sessions::ClientSessions;
use crate::tool_error::ToolError;

/// Longest name of a tool that every client accepts.
const MAX_NAME: usize = 64;

/// Tools of one page.
const PAGE: usize = 1000;

/// Key of a result that is not an object itself, as structured content must be.
const RESULT: &str = "result";

/// Reason why a method cannot be a tool of the protocol.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExposeError {
    /// No mounted tool matches.
    #[error("no mounted tool is named `{name}`")]
    Unknown {
        /// The name or pattern.
        name: String,
        /// Existing name that is similar.
        nearest: Option<String>,
    },
    /// Two tools would have the same name.
    #[error("`{method}` would be the tool `{name}`, which is {other}")]
    Taken {
        /// Method that is to be exposed.
        method: String,
        /// Name of the tool.
        name: String,
        /// The other tool, in words.
        other: String,
    },
    /// The name would be too long.
    #[error("`{0}` has a name of more than {MAX_NAME} characters, which clients do not accept")]
    TooLong(String),
}

/// Methods that are tools of the protocol, by the names of these.
#[derive(Default)]
pub(crate) struct ExposedTools {
    methods: BTreeMap<String, String>,
}

impl ExposedTools {
    /// Finds the tools that are to be exposed: methods, or all below a prefix (`stats/*`).
    pub(crate) fn new(patterns: &[String], gate: &Gate) -> Result<Self, ExposeError> {
        let mut methods = BTreeMap::new();
        for pattern in patterns {
            let found = catalog::methods(gate, pattern);
            if found.is_empty() {
                let nearest = gate.tools().nearest(pattern).map(str::to_owned);
                return Err(ExposeError::Unknown { name: pattern.clone(), nearest });
            }
            for method in found {
                let name = method.replace('/', "_");
                if name.len() > MAX_NAME {
                    return Err(ExposeError::TooLong(method));
                }
                if definitions::NAMES.contains(&name.as_str()) {
                    let other = "a tool of this server".to_owned();
                    return Err(ExposeError::Taken { method, name, other });
                }
                if let Some(other) = methods.insert(name.clone(), method.clone())
                    && other != method
                {
                    return Err(ExposeError::Taken { method, name, other: format!("`{other}`") });
                }
            }
        }
        Ok(Self { methods })
    }

    /// Returns true if an exposed tool has this name.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.methods.contains_key(name)
    }

    /// Returns a page of tools: those of this server on the first, and the exposed ones that are granted.
    pub(crate) fn page(&self, own: Vec<Tool>, gate: &Gate, after: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let mut tools = if after.is_some() { Vec::new() } else { own };
        let start = match after {
            Some(cursor) if !self.is_name(cursor) => return Err(ErrorData::invalid_params("no such cursor", None)),
            Some(cursor) => std::ops::Bound::Excluded(cursor),
            None => std::ops::Bound::Unbounded,
        };
        let rest = self.methods.range::<str, _>((start, std::ops::Bound::Unbounded));
        let mut granted = rest.filter(|(_, method)| gate.grants(method)).peekable();
        let mut next = None;
        while let Some((name, method)) = granted.next() {
            tools.extend(definition(name, method, gate));
            if tools.len() >= PAGE && granted.peek().is_some() {
                next = Some(name.clone());
                break;
            }
        }
        Ok(ListToolsResult { next_cursor: next, ..ListToolsResult::with_all_items(tools) })
    }
}

/// Describes a mounted tool as one of the protocol.
fn definition(name: &str, method: &str, gate: &Gate) -> Option<Tool> {
    let tool = gate.tools().get(method)?;
    let function = tool.function();
    let Value::Object(input) = schema::parameters(function) else { return None };
    let Value::Object(output) = output_schema(&schema::result(function)) else { return None };
    let docs = function.docs.clone().unwrap_or_default();
    let pure = gate.is_pure(method);
    let annotations = ToolAnnotations::with_title(docs_title(&docs, method))
        // A tool without effects may still write files that it was granted.
        .destructive(!pure)
        .idempotent(pure)
        .open_world(!pure && gate.reaches_network());
    let described = Tool::new(name.to_owned(), docs, Arc::new(input)).with_annotations(annotations);
    Some(described.with_raw_output_schema(Arc::new(output)))
}

fn docs_title(docs: &str, method: &str) -> String {
    let sentence = first_sentence(docs);
    if sentence.is_empty() || sentence.len() > 80 { method.to_owned() } else { sentence }
}

/// Wraps a schema that is not one of objects.
fn output_schema(result: &Value) -> Value {
    match is_object(result) {
        true => result.clone(),
        false => Value::Object(definitions::object(json!({ RESULT: result }), &[RESULT])),
    }
}

fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// Calls an exposed tool, in the client's default session.
pub(crate) async fn call(
    connection: &Connection,
    context: &RequestContext<RoleServer>,
    client: Arc<ClientSessions>,
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, ToolError> {
    let server = &connection.server.0;
    let method = server.exposed.methods.get(name).cloned().unwrap_or_default();
    let opened = runs::open(&client, None).await?;
    let _held = Arc::clone(&opened).hold(&context.ct).await?;
    let permit = Arc::clone(&server.runs).acquire_owned();
    let _permit = tokio::select! {
        permit = permit => permit.map_err(|error| ToolError::because("the server ends", &error))?,
        () = context.ct.cancelled() => return Err(ToolError::cancelled()),
    };
    // Only a script can wait for consent.
    opened.approver.set_can_wait(false);
    let arguments = Value::Object(arguments.unwrap_or_default()).to_string();
    let stop = Arc::<Stop>::default();
    let work = {
        let (session, stop, method) = (opened.session.clone(), Arc::clone(&stop), method.clone());
        move || {
            let call = session.start_call(&method, &arguments)?;
            let interrupt = call.interrupt();
            stop.set(Box::new(move || interrupt.cancel()));
            Ok(call.finish())
        }
    };
    // A call writes no output.
    let (_, lines) = channel(1);
    let wall = opened.session.gate().limits().wall;
    let result: Result<Payload, Failure> = watch(context, &opened, None, lines, wall, &stop, work).await?;
    let gate = opened.session.gate();
    Ok(answer(gate, &method, result?.value, server.text_limit))
}

/// Converts the result of a call.
fn answer(gate: &Gate, method: &str, value: Value, limit: usize) -> CallToolResult {
    let text = match &value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(shorten(&text, limit).text)]);
    let tool = gate.tools().get(method);
    let whole = tool.is_some_and(|tool| is_object(&schema::result(tool.function())));
    result.structured_content = Some(if whole { value } else { json!({ RESULT: value }) });
    result
}
