//! Mounted tools as tools of the protocol, for clients that write no scripts. Each call is a run of its own: it passes the
//! gate, is counted and is on record like a script's.
//!
//! A call that may need consent is made by a script of one line, since only the run of a script can wait: it is
//! suspended, decided about and resumed like any other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult, TextContent, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc::channel;
use tollhouse::capability::Approve;
use tollhouse::error::{ErrorKind, Failure, Payload};
use tollhouse::gate::{Gate, MethodEffects};
use tollhouse::session::Status;
use tollhouse::tool::help::first_sentence;
use tollhouse::tool::schema;
use tollhouse::tool::types::Function;

use crate::approvals::{Deciders, visible};
use crate::catalog;
use crate::client;
use crate::definitions;
use crate::excerpts::shorten;
use crate::pending;
use crate::run_report::FinishedRun;
use crate::runs::{self, Retry, Stop, WatchedRequest};
use crate::server::Connection;
use crate::sessions::{ClientSessions, OpenedSession};
use crate::tool_error::ToolError;
use crate::tool_names::{ExposeError, name_all, reserved};

/// Tools of one page.
const PAGE: usize = 1000;

/// Key of a result that is not an object itself, as structured content must be.
const RESULT: &str = "result";

/// Line that ends the arguments in the script of a call. JSON on one line cannot be that line.
const END: &str = "END_OF_ARGUMENTS";

/// Methods that are tools of the protocol, by the names of these.
#[derive(Default)]
pub(crate) struct ExposedTools {
    methods: BTreeMap<String, String>,
    /// Definitions that clients were given, by name. Clients with the same tools and effects share them.
    described: Mutex<HashMap<String, DescribedTool>>,
}

/// Definition of a tool, with what it was made from.
struct DescribedTool {
    tool: Arc<tollhouse::tool::Tool>,
    effects: MethodEffects,
    definition: Arc<Tool>,
}

impl ExposedTools {
    /// Finds the tools that are to be exposed: methods, or all below a prefix (`stats/*`). A gateway exposes all that can
    /// be called as a function, unless there are patterns.
    pub(crate) fn new(patterns: &[String], gate: &Gate, is_gateway: bool) -> Result<Self, ExposeError> {
        let methods = match patterns {
            [] if is_gateway => functions(gate),
            patterns => matching(patterns, gate)?,
        };
        let served = if is_gateway { names_of_servers(gate) } else { BTreeMap::new() };
        Ok(Self { methods: name_all(&methods, &served, reserved(is_gateway))?, described: Mutex::default() })
    }

    /// Returns true if an exposed tool has this name.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.methods.contains_key(name)
    }

    /// Lists the names of the exposed tools.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.methods.keys().map(String::as_str)
    }

    /// Returns the method of an exposed tool.
    pub(crate) fn method(&self, name: &str) -> Option<&str> {
        self.methods.get(name).map(String::as_str)
    }

    /// Returns a page of tools: those of this server on the first, and the exposed ones that are granted.
    pub(crate) fn page(
        &self,
        own: Vec<Tool>,
        opened: &OpenedSession,
        after: Option<&str>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = opened.listed.get_or_init(|| self.granted(opened.session.gate()));
        let (mut tools, start) = match after {
            Some(cursor) if !self.is_name(cursor) => return Err(ErrorData::invalid_params("no such cursor", None)),
            Some(cursor) => (Vec::new(), listed.partition_point(|tool| *tool.name <= *cursor)),
            None => (own, 0),
        };
        let rest = &listed[start..];
        let here = PAGE.saturating_sub(tools.len()).max(1).min(rest.len());
        tools.extend(rest[..here].iter().map(|tool| Tool::clone(tool)));
        let last = rest[..here].last().filter(|_| here < rest.len());
        let next_cursor = last.map(|tool| tool.name.to_string());
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) })
    }

    /// Describes the exposed tools that are granted, sorted by name.
    fn granted(&self, gate: &Gate) -> Vec<Arc<Tool>> {
        let granted = self.methods.iter().filter(|(_, method)| gate.grants(method));
        granted.filter_map(|(name, method)| self.definition(name, method, gate)).collect()
    }

    /// Describes a mounted tool as one of the protocol, for clients whose calls pass this gate.
    fn definition(&self, name: &str, method: &str, gate: &Gate) -> Option<Arc<Tool>> {
        let (tool, effects) = (gate.tools().get(method)?, gate.effects(method));
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = described.get(name)
            && Arc::ptr_eq(&known.tool, &tool)
            && known.effects == effects
        {
            return Some(Arc::clone(&known.definition));
        }
        let definition = Arc::new(definition(name, &tool, effects)?);
        let known = DescribedTool { tool, effects, definition: Arc::clone(&definition) };
        described.insert(name.to_owned(), known);
        Some(definition)
    }
}

/// Returns the methods that match these patterns.
fn matching(patterns: &[String], gate: &Gate) -> Result<BTreeSet<String>, ExposeError> {
    let mut methods = BTreeSet::new();
    for pattern in patterns {
        let found = catalog::methods(gate, pattern);
        if found.is_empty() {
            let nearest = gate.tools().nearest(pattern).map(str::to_owned);
            return Err(ExposeError::Unknown { name: pattern.clone(), nearest });
        }
        methods.extend(found);
    }
    Ok(methods)
}

/// Returns the methods that take arguments and return a result. Programs, which have streams, are for scripts.
fn functions(gate: &Gate) -> BTreeSet<String> {
    let is_function = |tool: &&Arc<tollhouse::tool::Tool>| {
        let function = tool.function();
        !function.is_program() && !function.is_namespace()
    };
    gate.tools().iter().filter(is_function).map(|tool| tool.method().to_owned()).collect()
}

/// Returns the names that MCP servers gave to their tools, by method.
fn names_of_servers(gate: &Gate) -> BTreeMap<String, String> {
    let servers = gate.tools().servers().iter();
    let names = servers.flat_map(|(server, pinned)| pinned.methods(server));
    names.map(|(method, name)| (method, name.to_owned())).collect()
}

/// Describes a mounted tool as one of the protocol, with the effects that the policy leaves it.
fn definition(name: &str, tool: &tollhouse::tool::Tool, effects: MethodEffects) -> Option<Tool> {
    let function = tool.function();
    let input = match &function.schemas {
        // What its owner wrote says more than the types that declarations are made of.
        Some(schemas) => schemas.parameters.clone(),
        None => schema::parameters(function),
    };
    let Value::Object(input) = visible_schema(input) else { return None };
    let docs = visible(function.docs.as_deref().unwrap_or_default());
    let annotations = ToolAnnotations::with_title(docs_title(&docs, tool.method()))
        .read_only(effects.is_read_only())
        .destructive(effects.outside || effects.files)
        .idempotent(!effects.outside)
        .open_world(effects.network);
    let described = Tool::new(name.to_owned(), docs, Arc::new(input)).with_annotations(annotations);
    let Some(result) = result_schema(function) else { return Some(described) };
    let Value::Object(output) = visible_schema(output_schema(&result)) else { return None };
    Some(described.with_raw_output_schema(Arc::new(output)))
}

/// Shows hidden characters of the texts in a schema as codes. What is compared with values stays as it is.
fn visible_schema(schema: Value) -> Value {
    match schema {
        Value::Object(members) => {
            let shown = members.into_iter().map(|(key, value)| match value {
                Value::String(text) if matches!(key.as_str(), "description" | "title" | "$comment") => {
                    (key, Value::String(visible(&text)))
                }
                value if matches!(key.as_str(), "const" | "default" | "enum" | "examples") => (key, value),
                value => (key, visible_schema(value)),
            });
            Value::Object(shown.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(visible_schema).collect()),
        other => other,
    }
}

/// Returns true if a method is of an MCP server: whatever that reaches, it is not the session's.
pub(crate) fn is_served(gate: &Gate, method: &str) -> bool {
    method.split_once('/').is_some_and(|(alias, _)| gate.tools().servers().contains_key(alias))
}

/// Returns the schema of a method's result; `None` if it is not declared.
fn result_schema(function: &Function) -> Option<Value> {
    match &function.schemas {
        Some(schemas) if schemas.result == Value::Bool(true) => None,
        Some(schemas) => Some(schemas.result.clone()),
        None => Some(schema::result(function)),
    }
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
    retry: Retry,
) -> Result<CallToolResponse, ToolError> {
    let server = &connection.server.0;
    let method = server.exposed.method(name).unwrap_or_default().to_owned();
    let opened = runs::open(&client, None).await?;
    if may_ask(opened.session.gate(), &method) {
        return runs::run(connection, context, client, name, arguments, retry).await;
    }
    let _held = Arc::clone(&opened).hold(&context.ct).await?;
    let _place = tokio::select! {
        place = server.runs.take(client.account()) => place,
        () = context.ct.cancelled() => return Err(ToolError::cancelled()),
    };
    // A call without a script cannot wait for consent. No grant says that this one needs any.
    opened.approver.set_deciders(Deciders::Nobody);
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
    let request = WatchedRequest { connection, context, opened: &opened, level: None, wall };
    let result: Result<Payload, Failure> = request.watch(lines, &stop, work).await?;
    Ok(answer(opened.session.gate(), &method, result?.value, server.text_limit).into())
}

/// Returns true if a grant may ask a human about calls of a method.
fn may_ask(gate: &Gate, method: &str) -> bool {
    let asks = |grant: &Approve| *grant != Approve::Never;
    gate.policy().grants.iter().any(|grant| asks(&grant.approve) && grant.method.matches(method))
}

/// Writes the script that makes a call. The shell hands the arguments on as they are, and prints the result as it is:
/// a script in JavaScript would round numbers.
pub(crate) fn script(method: &str, arguments: Option<JsonObject>) -> String {
    let arguments = Value::Object(arguments.unwrap_or_default());
    format!("tool {method} --json - <<'{END}'\n{arguments}\n{END}\n")
}

/// Converts the run of such a script to the result of the call.
pub(crate) fn report(
    client: &ClientSessions,
    opened: &OpenedSession,
    finished: FinishedRun,
    limit: usize,
) -> CallToolResult {
    let FinishedRun { result, stdout, stderr, pending, .. } = finished;
    let called = result.calls.as_slice().last().map(|call| call.method.as_str()).unwrap_or_default();
    match result.status {
        // An error, since it is not the result that the tool declares.
        Status::Suspended | Status::InDoubt => {
            ToolError::new(pending::explain(client, opened, result.status, &pending)).into_result()
        }
        Status::Completed => match serde_json::from_str(&stdout) {
            Ok(value) => answer(opened.session.gate(), called, value, limit),
            // The run that was resumed was not of a call.
            Err(_) => CallToolResult::success(vec![ContentBlock::text(shorten(stdout.trim_end(), limit).text)]),
        },
        _ => match result.error {
            Some(failure) if failure.kind != ErrorKind::Exit || stderr.is_empty() => {
                ToolError::from(failure).into_result()
            }
            // The shell begins it with the words of the command.
            _ => {
                let label = format!("{}: ", called.replace('/', " "));
                let told = stderr.strip_prefix(&label).unwrap_or(&stderr).trim_end();
                ToolError::new(shorten(told, limit).text).into_result()
            }
        },
    }
}

/// Converts the result of a call.
fn answer(gate: &Gate, method: &str, value: Value, limit: usize) -> CallToolResult {
    let schema = gate.tools().get(method).and_then(|tool| result_schema(tool.function()));
    let Some(schema) = schema else { return undeclared(value, limit) };
    let mut result = CallToolResult::success(vec![block(&value, limit)]);
    result.structured_content = Some(if is_object(&schema) { value } else { json!({ RESULT: value }) });
    result
}

/// Converts the result of a tool that declares none: the parts that its server sent are parts again, and only an object
/// is structured content.
fn undeclared(value: Value, limit: usize) -> CallToolResult {
    if value.is_null() {
        return CallToolResult::success(Vec::new());
    }
    let Some(mut content) = client::blocks(&value) else {
        let mut result = CallToolResult::success(vec![block(&value, limit)]);
        result.structured_content = Some(value).filter(Value::is_object);
        return result;
    };
    for part in &mut content {
        if let ContentBlock::Text(TextContent { text, .. }) = part {
            *text = shorten(text, limit).text;
        }
    }
    CallToolResult::success(content)
}

/// Returns a value as text, shortened.
fn block(value: &Value, limit: usize) -> ContentBlock {
    let shown = match value {
        Value::String(text) => shorten(text, limit),
        value => shorten(&value.to_string(), limit),
    };
    ContentBlock::text(shown.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_of_a_call_keeps_arguments_as_they_are() {
        let arguments = json!({ "text": "a\nEND_OF_ARGUMENTS\n$(reboot)", "id": u64::MAX });
        let script = script("git/log", arguments.as_object().cloned());
        let expected = "tool git/log --json - <<'END_OF_ARGUMENTS'\n\
            {\"text\":\"a\\nEND_OF_ARGUMENTS\\n$(reboot)\",\"id\":18446744073709551615}\nEND_OF_ARGUMENTS\n";
        assert_eq!(script, expected);
    }

    #[test]
    fn undeclared_result_is_content_as_its_server_sent_it() {
        let parts =
            json!([{ "type": "text", "text": "see" }, { "type": "image", "mimeType": "image/png", "data": "AA==" }]);
        let shown = undeclared(parts, 1000);
        assert!(matches!(&shown.content[..], [ContentBlock::Text(_), ContentBlock::Image(_)]), "{shown:?}");
        assert_eq!(shown.structured_content, None);
        let shown = undeclared(json!({ "n": 1 }), 1000);
        assert_eq!((shown.content.len(), shown.structured_content), (1, Some(json!({ "n": 1 }))));
        assert!(undeclared(Value::Null, 1000).content.is_empty());
        let list = undeclared(json!([1, 2]), 1000);
        assert_eq!(list.content, [ContentBlock::text("[1,2]")]);
    }
}
