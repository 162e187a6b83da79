//! The tool `sessions`: list, create, fork, roll back, compare.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};
use tollhouse::session::{At, Point, Waiting};
use tollhouse::vfs::{ChangeKind, UnifiedLimits, changed_paths, unified};

use crate::arguments::Arguments;
use crate::definitions::names;
use crate::excerpts::shorten;
use crate::sessions::{ClientSessions, HeldSession, MAIN};
use crate::tool_error::ToolError;

/// Most changed paths that are listed.
const MAX_CHANGES: usize = 200;

const ROLLBACK: &str = "rollback";

const ACTIONS: [&str; 5] = ["list", "create", "fork", ROLLBACK, "diff"];

/// Returns true if the arguments name the action that changes a session.
pub(crate) fn is_rollback(arguments: Option<&JsonObject>) -> bool {
    arguments.is_some_and(|arguments| arguments.get("action").and_then(Value::as_str) == Some(ROLLBACK))
}

/// Performs an action other than [`rollback`].
pub(crate) fn call(
    client: &ClientSessions,
    arguments: Option<JsonObject>,
    limit: usize,
) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &names::SESSIONS)?;
    let action = arguments.word("action", &ACTIONS)?.ok_or_else(|| {
        ToolError::new("the argument `action` is missing").hint("it is one of list, create, fork, rollback, diff")
    })?;
    let session = arguments.text("session")?;
    let to = arguments.text("to")?;
    let run = arguments.number("run")?;
    let since = arguments.number("since")?;
    let named =
        || to.clone().ok_or_else(|| ToolError::new(format!("{action} needs `to`: the name of the new session")));
    match action {
        "create" => {
            let to = named()?;
            client.fork(&client.point(None, Some(0))?, &to)?;
            Ok(result(
                format!("The session `{to}` is there, with the first files of `{MAIN}`."),
                json!({ "session": to }),
            ))
        }
        "fork" => {
            let to = named()?;
            let from = client.point(session.as_deref(), run)?;
            client.fork(&from, &to)?;
            Ok(result(
                format!("The session `{to}` is there. It shares budgets with the other sessions."),
                json!({ "session": to }),
            ))
        }
        "diff" => diff(client, session.as_deref(), run, since, limit),
        _ => list(client),
    }
}

fn list(client: &ClientSessions) -> Result<CallToolResult, ToolError> {
    let (mut lines, mut items) = (Vec::new(), Vec::new());
    for name in client.names()? {
        let mut item = json!({ "session": name });
        match client.store() {
            Ok(store) => {
                let id = client.id(&name)?;
                let (shown, unfinished) = (store.show(&id)?, store.unfinished_runs().run_of(&id)?);
                item["runs"] = json!(shown.head.runs);
                item["bytes"] = json!(shown.head.bytes);
                item["unfinished"] = json!(unfinished);
                let unfinished = unfinished
                    .map_or_else(String::new, |run| format!("; run {run} has not ended: `resume` continues it"));
                lines
                    .push(format!("{name}: {} runs, {} bytes of files{unfinished}", shown.head.runs, shown.head.bytes));
            }
            Err(_) => lines.push(name),
        }
        items.push(item);
    }
    Ok(result(lines.join("\n"), json!({ "sessions": items })))
}

/// Restores the files of a run in a session that is held.
pub(crate) fn rollback(
    client: &ClientSessions,
    held: &HeldSession,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &names::SESSIONS)?;
    arguments.text("session")?;
    let run = arguments.number("run")?.ok_or_else(|| {
        ToolError::new("rollback needs `run`: the run whose files are restored; 0 for the first files")
    })?;
    let opened = &held.opened;
    let point = client.point(Some(&opened.name), Some(run))?;
    let before = client.files(opened)?;
    let waiting: Waiting = Arc::new(|| true);
    client.store()?.rollback(&point, waiting)?;
    opened.session.refresh()?;
    client.announce(&opened.name, &before, &client.files(opened)?);
    let name = &opened.name;
    let text = format!("The files of `{name}` are as run {run} left them. What calls have spent stays spent.");
    Ok(result(text, json!({ "session": name })))
}

fn diff(
    client: &ClientSessions,
    session: Option<&str>,
    run: Option<u64>,
    since: Option<u64>,
    limit: usize,
) -> Result<CallToolResult, ToolError> {
    let store = client.store()?;
    let point = client.point(session, run)?;
    let old = match since {
        Some(since) => store.reader().files(&Point { session: point.session.clone(), at: At::Run(since) })?,
        None => store.reader().base(&point)?,
    };
    let new = store.reader().files(&point)?;
    let failed = |errno: tollhouse::vfs::Errno| ToolError::because("the files cannot be compared", &errno);
    let changes = changed_paths(&old, &new).map_err(failed)?;
    let text = if changes.is_empty() {
        "No file differs.".to_owned()
    } else {
        shorten(&unified(&old, &new, &UnifiedLimits::default()).map_err(failed)?, limit).text
    };
    let items = changes.iter().take(MAX_CHANGES).map(|change| {
        let kind = match change.kind {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            _ => "modified",
        };
        json!({ "path": change.path, "change": kind })
    });
    let more = changes.len().saturating_sub(MAX_CHANGES);
    Ok(result(text, json!({ "changes": items.collect::<Vec<Value>>(), "more": more })))
}

fn result(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}
