//! The tools `search_tools` and `describe_tools`: a catalogue of any size, of which a model reads what it needs.

use std::collections::BTreeSet;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};
use tollhouse::gate::Gate;
use tollhouse::tool::Tool;
use tollhouse::tool::help::first_sentence;

use crate::approvals::visible;
use crate::arguments::{Arguments, excerpt, nearest};
use crate::definitions::names;
use crate::excerpts::shorten;
use crate::sessions::ClientSessions;
use crate::tool_error::ToolError;

/// Tools that a search finds unless told otherwise, and at most.
const DEFAULT_FOUND: u64 = 10;
const MAX_FOUND: u64 = 100;

/// Words of a query that count. More would only cost time.
const MAX_WORDS: usize = 20;

/// Most methods that are described at once.
const MAX_DESCRIBED: usize = 50;

/// Weights of a word: as a segment of a method, at the beginning of one, in a description.
const SEGMENT: u32 = 8;
const BEGINNING: u32 = 4;
const INSIDE: u32 = 2;
const DESCRIPTION: u32 = 1;

/// Finds tools by words.
pub(crate) fn search(client: &ClientSessions, arguments: Option<JsonObject>) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &names::SEARCH)?;
    let query = arguments.text("query")?.unwrap_or_default();
    let limit = arguments.number("limit")?.unwrap_or(DEFAULT_FOUND).clamp(1, MAX_FOUND);
    let main = client.get(None)?;
    let gate = main.session.gate();
    let found = ranked(gate, &query);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let shown: Vec<Value> = found.iter().take(limit).map(|tool| entry(gate, tool)).collect();
    let mut lines: Vec<String> = shown.iter().map(line).collect();
    if found.len() > limit {
        lines.push(format!("and {} more: narrow the query, or raise `limit`", found.len() - limit));
    }
    if found.is_empty() {
        lines.push(match gate.tools().is_empty() {
            true => "No tools are mounted: scripts have files and what their languages bring.".to_owned(),
            false => "No tool matches. An empty query lists them all.".to_owned(),
        });
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(lines.join("\n"))]);
    result.structured_content = Some(json!({ "tools": shown, "found": found.len() }));
    Ok(result)
}

/// Returns the tools that match a query, the best first; granted tools before others.
fn ranked<'g>(gate: &'g Gate, query: &str) -> Vec<&'g Tool> {
    let words: Vec<String> = words(query).take(MAX_WORDS).collect();
    let mut scored: Vec<(u32, bool, &Tool)> = gate
        .tools()
        .iter()
        .map(|tool| (score(tool, &words), gate.grants(tool.method()), &**tool))
        .filter(|(score, _, _)| words.is_empty() || *score > 0)
        .collect();
    // The sort is stable: equal tools stay in the order of their methods.
    scored.sort_by_key(|(score, granted, _)| (std::cmp::Reverse(*granted), std::cmp::Reverse(*score)));
    scored.into_iter().map(|(_, _, tool)| tool).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn score(tool: &Tool, query: &[String]) -> u32 {
    let segments: Vec<String> = words(tool.method()).collect();
    let docs = tool.function().docs.as_deref().unwrap_or_default();
    let description: BTreeSet<String> = words(docs).collect();
    let of_word = |word: &String| {
        let of_name = segments.iter().map(|segment| match segment {
            segment if segment == word => SEGMENT,
            segment if segment.starts_with(word.as_str()) || word.starts_with(segment.as_str()) => BEGINNING,
            segment if segment.contains(word.as_str()) => INSIDE,
            _ => 0,
        });
        let described = description.range(word.clone()..).next().is_some_and(|next| next.starts_with(word.as_str()));
        of_name.max().unwrap_or_default() + if described { DESCRIPTION } else { 0 }
    };
    query.iter().map(of_word).sum()
}

fn entry(gate: &Gate, tool: &Tool) -> Value {
    json!({
        "method": tool.method(),
        "javascript": tool.path(),
        "bash": tool.command(),
        "description": visible(&tool.function().docs.as_deref().map(first_sentence).unwrap_or_default()),
        "granted": gate.grants(tool.method()),
    })
}

fn line(tool: &Value) -> String {
    let text = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let granted = if tool["granted"] == true { "" } else { " (not granted)" };
    format!("{}{granted}: {}", text("method"), text("description"))
}

/// Prints the declarations of methods, or of all below a first segment.
pub(crate) fn describe(
    client: &ClientSessions,
    arguments: Option<JsonObject>,
    limit: usize,
) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &names::DESCRIBE)?;
    let wanted = arguments.texts("methods")?;
    if wanted.is_empty() {
        return Err(ToolError::new("the argument `methods` is missing: it must be a list of methods")
            .hint("`search_tools` finds methods; for example {\"methods\": [\"stats/describe\"]}"));
    }
    if wanted.len() > MAX_DESCRIBED {
        return Err(ToolError::new(format!("at most {MAX_DESCRIBED} methods are described at once")));
    }
    let main = client.get(None)?;
    let gate = main.session.gate();
    let mut chosen = BTreeSet::new();
    for name in &wanted {
        let methods = methods(gate, name);
        if methods.is_empty() {
            return Err(unknown(gate, name));
        }
        chosen.extend(methods);
    }
    let declarations = gate.tools().typescript_of(&|method| chosen.contains(method), &|method| gate.grants(method));
    let shown = shorten(&visible(declarations.trim_end()), limit);
    let mut text = shown.text;
    if shown.of.is_some() {
        text.push_str("\n[shortened: describe fewer methods]");
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(text.clone())]);
    result.structured_content = Some(json!({ "declarations": text }));
    Ok(result)
}

/// Returns the methods that a name means: one, in any of its spellings, or all below a prefix.
pub(crate) fn methods(gate: &Gate, name: &str) -> Vec<String> {
    if let Some(tool) = gate.tools().find(name) {
        return vec![tool.method().to_owned()];
    }
    let prefix = name.trim_end_matches(['*', '/', '.']).replace([' ', '.'], "/");
    let below = |method: &str| method.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.starts_with('/'));
    gate.tools().iter().map(|tool| tool.method()).filter(|method| below(method)).map(str::to_owned).collect()
}

/// Creates the error of a method that does not exist.
pub(crate) fn unknown(gate: &Gate, name: &str) -> ToolError {
    let error = ToolError::new(format!("no tool is named `{}`", excerpt(name)));
    let aliases = gate.tools().iter().filter_map(|tool| tool.method().split('/').next());
    let names: BTreeSet<&str> = gate.tools().iter().map(|tool| tool.method()).chain(aliases).collect();
    match gate.tools().nearest(name).or_else(|| nearest(name, names.into_iter())) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`search_tools` finds tools"),
    }
}
