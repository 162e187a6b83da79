//! Tools as clients see them: names, descriptions, schemas, annotations.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tollhouse::capability::Approve;
use tollhouse::gate::Gate;

use crate::exposed::is_served;

pub(crate) const RUN_JAVASCRIPT: &str = "run_javascript";
pub(crate) const RUN_BASH: &str = "run_bash";
pub(crate) const RESUME: &str = "resume";
pub(crate) const SEARCH_TOOLS: &str = "search_tools";
pub(crate) const DESCRIBE_TOOLS: &str = "describe_tools";
pub(crate) const LIST_FILES: &str = "list_files";
pub(crate) const READ_FILE: &str = "read_file";
pub(crate) const WRITE_FILE: &str = "write_file";
pub(crate) const SESSIONS: &str = "sessions";
pub(crate) const PENDING: &str = "pending";

/// Names of all tools, in the order in which they are listed.
pub(crate) const NAMES: [&str; 10] = [
    RUN_JAVASCRIPT,
    RUN_BASH,
    RESUME,
    SEARCH_TOOLS,
    DESCRIBE_TOOLS,
    LIST_FILES,
    READ_FILE,
    WRITE_FILE,
    SESSIONS,
    PENDING,
];

/// Names of a gateway's own tools.
pub(crate) const GATEWAY_NAMES: [&str; 2] = [RESUME, PENDING];

/// Instructions of a gateway for the model.
pub(crate) const GATEWAY_INSTRUCTIONS: &str = "\
Each call passes a gate with the policy of your operator. A call that is not granted, or whose budget is used up, fails \
and says so: change the call or tell the user, do not try to get around it. If a call is `suspended`, a human must \
approve it: tell the user, then call resume, whose result is that of the call.";

/// Instructions for the model, which every conversation pays for.
pub(crate) const INSTRUCTIONS: &str = "\
Tollhouse runs your code in a sandbox with files in /workspace. Write one script that does several steps and calls many \
tools, rather than one call for each: run_javascript (top-level await and return) or run_bash. Scripts call the tools \
that search_tools finds; describe_tools prints their TypeScript declarations: `await stats.describe({values: [1, 2]})` \
in JavaScript, `stats describe --values '[1, 2]'` in bash. Variables end with the script, files stay. A call that is not \
granted fails and says so: do not try to get around it. If a run is `suspended`, a human must approve a call: tell the \
user, then call resume.";

/// Arguments of each tool, for the check of their names.
pub(crate) mod names {
    pub(crate) const RUN: [&str; 3] = ["script", "session", "stdin"];
    pub(crate) const RESUME: [&str; 2] = ["session", "replay_output"];
    pub(crate) const RESUME_CALL: [&str; 1] = ["session"];
    pub(crate) const SEARCH: [&str; 2] = ["query", "limit"];
    pub(crate) const DESCRIBE: [&str; 1] = ["methods"];
    pub(crate) const LIST: [&str; 2] = ["path", "session"];
    pub(crate) const READ: [&str; 4] = ["path", "session", "offset", "limit"];
    pub(crate) const WRITE: [&str; 4] = ["path", "content", "encoding", "session"];
    pub(crate) const SESSIONS: [&str; 5] = ["action", "session", "to", "run", "since"];
    pub(crate) const PENDING: [&str; 1] = ["session"];
}

/// Effects of the scripts of a session, as far as its grants tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScriptEffects {
    /// True if a granted tool can change something outside the session.
    pub(crate) outside: bool,
    /// True if a granted tool can reach the network.
    pub(crate) network: bool,
}

impl ScriptEffects {
    pub(crate) fn of(gate: &Gate) -> Self {
        let granted = || gate.tools().iter().filter(|tool| gate.grants(tool.method()));
        let network = gate.reaches_network() || granted().any(|tool| is_served(gate, tool.method()));
        Self { outside: granted().any(|tool| !gate.is_pure(tool.method())), network }
    }
}

/// Returns all tools, for the client of a session with this gate.
pub(crate) fn all(gate: &Gate) -> Vec<Tool> {
    tools(ScriptEffects::of(gate))
}

/// Returns the tools of a gateway besides the mounted ones: those that a client needs whose calls wait for approval.
pub(crate) fn gateway(gate: &Gate) -> Vec<Tool> {
    if gate.policy().grants.iter().all(|grant| grant.approve == Approve::Never) {
        return Vec::new();
    }
    let resumed = annotations("Resume a call", false).destructive(true).idempotent(false);
    // Its result is that of any tool, so that it has no schema.
    let resume = Tool::new(
        RESUME,
        "Continue the suspended call, and return its result. Decides nothing: a call that nobody has approved yet \
        stays suspended.",
        Arc::new(object(json!({ "session": session() }), &[])),
    );
    vec![resume.with_title("Resume a call").with_annotations(resumed), pending_tool()]
}

/// Returns all tools, where scripts have these effects.
fn tools(effects: ScriptEffects) -> Vec<Tool> {
    [script_tools(effects), catalog_tools(), file_tools(), session_tools()].concat()
}

/// Tools that run scripts.
fn script_tools(effects: ScriptEffects) -> Vec<Tool> {
    let annotated = |title: &str| {
        annotations(title, false).destructive(effects.outside).idempotent(false).open_world(effects.network)
    };
    vec![
        tool(
            RUN_JAVASCRIPT,
            "Run JavaScript or TypeScript in the sandbox, as in an async function: top-level `await` and \
            `return` work. `return` a value or console.log; node's modules and `await shell(\"ls | wc -l\")` are there.",
            script_schema("The JavaScript or TypeScript"),
            run_output(),
            annotated("Run JavaScript"),
        ),
        tool(
            RUN_BASH,
            "Run bash in the sandbox, with grep, sed, awk, jq, curl and their like, and the same files. \
            Tools are commands: `tool --list`.",
            script_schema("The bash script"),
            run_output(),
            annotated("Run bash"),
        ),
        tool(
            RESUME,
            "Continue the suspended or interrupted run of a session in the middle of its script. Decides nothing: \
            a call that nobody has approved yet suspends it again.",
            object(
                json!({
                    "session": session(),
                    "replay_output": {
                        "type": "boolean",
                        "description": "Also return what the script printed before it stopped",
                    },
                }),
                &[],
            ),
            run_output(),
            annotated("Resume a run"),
        ),
    ]
}

/// Tools that find what scripts can call.
fn catalog_tools() -> Vec<Tool> {
    vec![
        tool(
            SEARCH_TOOLS,
            "Find the tools that scripts can call, by words of their names and descriptions.",
            object(
                json!({
                    "query": { "type": "string", "description": "Words; empty lists everything" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 10 },
                }),
                &[],
            ),
            search_output(),
            reading("Search tools"),
        ),
        tool(
            DESCRIBE_TOOLS,
            "Print TypeScript declarations of tools, with their documentation.",
            object(
                json!({ "methods": { "type": "array", "items": { "type": "string" }, "minItems": 1,
                "description": "Methods, or their first segments: `stats/describe`, `stats`" } }),
                &["methods"],
            ),
            object(json!({ "declarations": { "type": "string" } }), &["declarations"]),
            reading("Describe tools"),
        ),
    ]
}

/// Tools for the files of a session.
fn file_tools() -> Vec<Tool> {
    vec![
        tool(
            LIST_FILES,
            "List a directory of the session's files.",
            object(json!({ "path": path("Directory; default /workspace"), "session": session() }), &[]),
            list_output(),
            reading("List files"),
        ),
        tool(
            READ_FILE,
            "Read a file of the session: text, or base64 of anything else; pictures are shown.",
            object(
                json!({
                    "path": path("File"), "session": session(),
                    "offset": { "type": "integer", "minimum": 0, "description": "First byte" },
                    "limit": { "type": "integer", "minimum": 1, "description": "Most bytes" },
                }),
                &["path"],
            ),
            read_output(),
            reading("Read a file"),
        ),
        tool(
            WRITE_FILE,
            "Write a whole file of the session, with the directories above it.",
            object(
                json!({
                    "path": path("File under /workspace or /tmp"),
                    "content": { "type": "string" },
                    "encoding": { "enum": ["utf8", "base64"], "default": "utf8" },
                    "session": session(),
                }),
                &["path", "content"],
            ),
            object(
                json!({ "path": { "type": "string" }, "size": { "type": "integer" }, "session": { "type": "string" } }),
                &["path", "size", "session"],
            ),
            annotations("Write a file", false).destructive(true).idempotent(true).open_world(false),
        ),
    ]
}

/// Tools for sessions, and for the calls in them that wait.
fn session_tools() -> Vec<Tool> {
    vec![
        tool(
            SESSIONS,
            "List sessions; create an empty one (`to`), fork one (`session` to `to`, optionally at `run`), roll \
            its files back to `run`, or show which files differ `since` a run. They share files with nothing else, and \
            budgets with each other.",
            object(
                json!({
                    "action": { "enum": ["list", "create", "fork", "rollback", "diff"] },
                    "session": session(),
                    "to": { "type": "string", "description": "Name of the new session" },
                    "run": { "type": "integer", "minimum": 0, "description": "Number of a run: its files; 0 for the first files" },
                    "since": { "type": "integer", "minimum": 0, "description": "For diff; default: the run before" },
                }),
                &["action"],
            ),
            session_output(),
            annotations("Sessions", false).destructive(false).idempotent(false).open_world(false),
        ),
        pending_tool(),
    ]
}

fn pending_tool() -> Tool {
    tool(
        PENDING,
        "List the calls that wait for approval, and those in doubt. A human decides about them, elsewhere.",
        object(json!({ "session": session() }), &[]),
        pending_output(),
        reading("Pending calls"),
    )
}

fn tool(
    name: &'static str,
    description: &'static str,
    input: JsonObject,
    output: JsonObject,
    annotated: ToolAnnotations,
) -> Tool {
    let title = annotated.title.clone().unwrap_or_default();
    Tool::new(name, description, Arc::new(input))
        .with_title(title)
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotated)
}

fn annotations(title: &str, read_only: bool) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(read_only)
}

/// Annotations of a tool that changes nothing.
fn reading(title: &str) -> ToolAnnotations {
    annotations(title, true).destructive(false).idempotent(true).open_world(false)
}

/// Returns the schema of an object with these properties.
pub(crate) fn object(properties: Value, required: &[&str]) -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn path(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn session() -> Value {
    json!({ "type": "string", "description": "Session; default `main`" })
}

fn script_schema(script: &str) -> JsonObject {
    object(
        json!({
            "script": { "type": "string", "description": script },
            "session": session(),
            "stdin": { "type": "string", "description": "Standard input" },
        }),
        &["script"],
    )
}

fn run_output() -> JsonObject {
    let statuses = ["completed", "failed", "denied", "limited", "cancelled", "suspended", "in_doubt"];
    object(
        json!({
            "status": { "enum": statuses },
            "value": { "description": "What the script returned" },
            "stdout": { "type": "string" },
            "stderr": { "type": "string" },
            "exit_code": { "type": "integer" },
            "error": { "type": ["object", "null"], "properties": {
                "kind": { "type": "string" }, "name": { "type": "string" }, "message": { "type": "string" },
                "hint": { "type": ["string", "null"] }, "stack": { "type": ["string", "null"] } } },
            "calls": { "type": "array", "items": { "type": "object", "properties": {
                "seq": { "type": "integer" }, "method": { "type": "string" }, "outcome": { "type": "string" } } } },
            "budgets": { "type": "array", "items": { "type": "object" } },
            "session": { "type": "string" },
            "run": { "type": ["integer", "null"] },
            "shortened": { "type": "array", "items": { "type": "object", "properties": {
                "what": { "type": "string" }, "characters": { "type": "integer" },
                "file": { "type": ["string", "null"] } } } },
            "pending": { "type": "array", "items": pending_item() },
            "given_up": { "type": "integer", "description": "Interrupted run whose place this one took" },
        }),
        &[
            "status",
            "value",
            "stdout",
            "stderr",
            "exit_code",
            "error",
            "calls",
            "budgets",
            "session",
            "run",
            "shortened",
            "pending",
        ],
    )
}

fn search_output() -> JsonObject {
    let tool = json!({ "type": "object", "properties": {
        "method": { "type": "string" }, "javascript": { "type": "string" }, "bash": { "type": "string" },
        "description": { "type": "string" }, "granted": { "type": "boolean" } } });
    object(json!({ "tools": { "type": "array", "items": tool }, "found": { "type": "integer" } }), &["tools", "found"])
}

fn list_output() -> JsonObject {
    let entry = json!({ "type": "object", "properties": {
        "name": { "type": "string" }, "kind": { "enum": ["file", "directory", "link"] }, "size": { "type": "integer" } } });
    object(
        json!({
            "path": { "type": "string" }, "entries": { "type": "array", "items": entry }, "more": { "type": "integer" },
        }),
        &["path", "entries", "more"],
    )
}

fn read_output() -> JsonObject {
    object(
        json!({
            "path": { "type": "string" }, "size": { "type": "integer" }, "offset": { "type": "integer" },
            "next": { "type": ["integer", "null"], "description": "Offset of what follows" },
            "text": { "type": "string" }, "base64": { "type": "string" },
        }),
        &["path", "size", "offset", "next"],
    )
}

fn session_output() -> JsonObject {
    let session = json!({ "type": "object", "properties": {
        "session": { "type": "string" }, "runs": { "type": "integer" }, "bytes": { "type": "integer" },
        "unfinished": { "type": ["integer", "null"] } } });
    let change = json!({ "type": "object", "properties": {
        "path": { "type": "string" }, "change": { "enum": ["added", "removed", "modified"] } } });
    object(
        json!({
            "sessions": { "type": "array", "items": session },
            "session": { "type": "string" },
            "changes": { "type": "array", "items": change },
            "more": { "type": "integer" },
        }),
        &[],
    )
}

fn pending_item() -> Value {
    json!({ "type": "object", "properties": {
        "session": { "type": "string" }, "run": { "type": "integer" }, "seq": { "type": "integer" },
        "method": { "type": "string" }, "arguments": {},
        "arguments_characters": { "type": ["integer", "null"], "description": "If they are shortened" }, "grant": { "type": "string" }, "reason": { "type": "string" },
        "cost": { "type": "array" }, "state": { "type": "string", "description": "waits, expired, approved, edited, refused" },
        "decided": { "type": ["boolean", "null"] } } })
}

fn in_doubt_item() -> Value {
    json!({ "type": "object", "properties": {
        "session": { "type": "string" }, "run": { "type": "integer" }, "seq": { "type": "integer" },
        "method": { "type": "string" }, "arguments": {}, "arguments_characters": { "type": ["integer", "null"] },
        "outcome": { "type": "string" } } })
}

fn pending_output() -> JsonObject {
    object(
        json!({
            "pending": { "type": "array", "items": pending_item() },
            "in_doubt": { "type": "array", "items": in_doubt_item() },
            "more": { "type": "integer" },
            "unreadable": { "type": "array", "description": "Sessions that are damaged: whether calls of theirs wait is not known",
                "items": { "type": "object", "properties": { "session": { "type": "string" }, "problem": { "type": "string" } } } },
        }),
        &["pending", "in_doubt", "more", "unreadable"],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters a token, at the least, of English prose and of JSON in the tokenizers of current models.
    const CHARACTERS_A_TOKEN: usize = 3;

    #[test]
    fn schemas_have_the_names_that_calls_are_checked_by() {
        let all = tools(ScriptEffects { outside: true, network: true });
        assert_eq!(all.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), NAMES);
        let known: [&[&str]; 10] = [
            &names::RUN,
            &names::RUN,
            &names::RESUME,
            &names::SEARCH,
            &names::DESCRIBE,
            &names::LIST,
            &names::READ,
            &names::WRITE,
            &names::SESSIONS,
            &names::PENDING,
        ];
        for (tool, known) in all.iter().zip(known) {
            let properties = tool.input_schema["properties"].as_object().expect("it is an object");
            let mut properties: Vec<&str> = properties.keys().map(String::as_str).collect();
            let mut known = known.to_vec();
            properties.sort_unstable();
            known.sort_unstable();
            assert_eq!(properties, known, "{}", tool.name);
        }
    }

    #[test]
    fn server_instructions_are_short() {
        assert!(INSTRUCTIONS.len() / CHARACTERS_A_TOKEN < 300, "{}", INSTRUCTIONS.len());
    }
}
