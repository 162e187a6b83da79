//! The tools that the session has mounted. The list stays here, in Rust, until a script asks: a thousand tools cost a
//! script that calls one of them next to nothing.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rquickjs::convert::List;
use rquickjs::{Ctx, Object, Result, Value};

use super::add_pure;
use crate::bindings::catalog;
use crate::bindings::types::Tool;
use crate::text::Text;

/// Scripts longer than this are not searched for names: defining all tools takes less.
const SEARCH_LIMIT: usize = 64 << 10;

/// What a script must write somewhere if it is to reach a global by a name that it does not write: the global object,
/// or a way to run text as code, or an escape inside a name.
const INDIRECT: [&str; 6] = ["globalThis", "this", "eval", "Function", "constructor", "\\u"];

thread_local! {
    /// What is mounted, sorted by method.
    static TOOLS: RefCell<Vec<Tool>> = const { RefCell::new(Vec::new()) };
    /// The names that the script writes; none if it may reach globals by other names.
    static WRITTEN: RefCell<Option<BTreeSet<String>>> = const { RefCell::new(None) };
}

/// Takes over the list of a run, and finds out which globals its script may use.
pub(super) fn begin_run(tools: Vec<Tool>, source: Option<&str>) {
    if !tools.is_empty() {
        WRITTEN.set(source.and_then(written_names));
    }
    TOOLS.set(tools);
}

/// The names that a script writes, in comments and strings too; none if it may reach globals by other names.
fn written_names(source: &str) -> Option<BTreeSet<String>> {
    if source.len() > SEARCH_LIMIT || INDIRECT.iter().any(|word| source.contains(word)) {
        return None;
    }
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    Some(source.split(|character| !is_part(character)).filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// Whether the script may use a global of this name.
fn may_use(name: &str) -> bool {
    WRITTEN.with_borrow(|written| written.as_ref().is_none_or(|names| names.contains(name)))
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_pure!(ctx, natives,
        "aliases" => aliases,
        "toolsOf" => tools_of,
        "allTools" => all_tools,
        "globals" => globals,
        "methodOf" => method_of,
        "describe" => describe,
        "budgets" => budgets,
    )
}

/// The first segment of a path: the global that it hangs from.
fn alias(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// The globals that tools hang from, each once.
fn aliases() -> Vec<String> {
    TOOLS.with_borrow(|tools| {
        let names: BTreeSet<&str> = tools.iter().map(|tool| alias(&tool.path)).collect();
        names.into_iter().map(str::to_owned).collect()
    })
}

/// The tools that hang from one global: path, method, and `open` of an open namespace, in turn.
fn tools_of(name: Text) -> Vec<String> {
    TOOLS.with_borrow(|tools| {
        let of = tools.iter().filter(|tool| alias(&tool.path) == name.0);
        let open = |tool: &Tool| if tool.open { "open" } else { "" };
        of.flat_map(|tool| [tool.path.clone(), tool.method.clone(), open(tool).to_owned()]).collect()
    })
}

/// All tools, as `listTools()` gives them.
fn all_tools(ctx: Ctx<'_>) -> Result<Vec<Object<'_>>> {
    TOOLS.with_borrow(|tools| {
        let record = |tool: &Tool| {
            let record = Object::new(ctx.clone())?;
            record.set("name", tool.path.as_str())?;
            record.set("method", tool.method.as_str())?;
            record.set("granted", tool.granted)?;
            Ok(record)
        };
        tools.iter().map(record).collect()
    })
}

/// A path as one identifier: `payments_charges_create`.
fn flatten(path: &str) -> String {
    path.replace('.', "_")
}

/// The globals that the script may use: aliases, and flattened names.
fn globals() -> List<(Vec<String>, Vec<String>)> {
    let mut used = aliases();
    used.retain(|alias| may_use(alias));
    let underscored =
        WRITTEN.with_borrow(|written| written.as_ref().is_none_or(|names| names.iter().any(|name| name.contains('_'))));
    if !underscored {
        return List((used, Vec::new()));
    }
    let flattened = TOOLS.with_borrow(|tools| {
        let long = tools.iter().filter(|tool| tool.path.contains('.'));
        long.map(|tool| flatten(&tool.path)).filter(|name| may_use(name)).collect()
    });
    List((used, flattened))
}

/// Path and method of the tool that a script calls so: by path, flattened name or method. Empty if there is none.
fn method_of(name: Text) -> Vec<String> {
    TOOLS.with_borrow(|tools| {
        let named = |tool: &&Tool| tool.path == name.0 || tool.method == name.0 || flatten(&tool.path) == name.0;
        if let Some(tool) = tools.iter().find(named) {
            return vec![tool.path.clone(), tool.method.clone()];
        }
        let path = name.0.replace('/', ".");
        let holds = |tool: &Tool| tool.open && path.strip_prefix(&tool.path).is_some_and(|rest| rest.starts_with('.'));
        if tools.iter().any(holds) { vec![path.clone(), path.replace('.', "/")] } else { Vec::new() }
    })
}

/// What is left of the budgets, as `budgets()` gives it.
fn budgets(ctx: Ctx<'_>) -> Result<Value<'_>> {
    ctx.json_parse(catalog::budgets())
}

/// The description of a method, or null if there is no such method.
fn describe<'js>(ctx: Ctx<'js>, method: Text) -> Result<Option<Value<'js>>> {
    catalog::describe(&method.0).map(|json| ctx.json_parse(json)).transpose()
}
