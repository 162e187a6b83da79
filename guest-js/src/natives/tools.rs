//! Tools that the session has mounted. The list stays in Rust until a script asks for it, so that a thousand tools cost
//! a script that calls one of them almost nothing. [`super::globals`] connects the script's globals to this list.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rquickjs::{Ctx, Object, Result, Value};

use super::add_pure;
use crate::bindings::catalog;
use crate::bindings::types::Tool;
use crate::text::Text;

thread_local! {
    /// Mounted tools, sorted by method.
    static TOOLS: RefCell<Vec<Tool>> = const { RefCell::new(Vec::new()) };
    /// Global names of tools that a script has already used or deleted, and which are ordinary properties from then on.
    static TAKEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Sets the list of tools of a run.
pub(super) fn begin_run(tools: Vec<Tool>) {
    TOOLS.set(tools);
}

/// Returns the path that a global name stands for: the name itself if it is an alias, the path of a tool if it is a
/// flattened name. Searching the list is cheaper than building an index for the few names that a script looks up.
fn path_of_global(name: &str) -> Option<String> {
    TOOLS.with_borrow(|tools| {
        if tools.iter().any(|tool| alias(&tool.path) == name) {
            return Some(name.to_owned());
        }
        tools.iter().find(|tool| flattened(&tool.path).eq(name.bytes())).map(|tool| tool.path.clone())
    })
}

/// Returns true for the global name of a tool that is not yet a property of the global object.
pub(super) fn is_global(name: &str) -> bool {
    !TAKEN.with_borrow(|taken| taken.contains(name)) && path_of_global(name).is_some()
}

/// Records that a global name has become a property of the global object. Returns the path that it stands for.
fn take_global(name: Text) -> Option<String> {
    let path = path_of_global(&name.0);
    TAKEN.with_borrow_mut(|taken| taken.insert(name.0));
    path
}

/// Returns the global names of tools that are not properties yet.
fn global_names() -> Vec<String> {
    let mut names: BTreeSet<String> = aliases().into_iter().collect();
    TOOLS.with_borrow(|tools| names.extend(tools.iter().map(|tool| tool.path.replace('.', "_"))));
    TAKEN.with_borrow(|taken| names.difference(taken).cloned().collect())
}

/// Returns true if a tool is mounted.
fn has_tools() -> bool {
    TOOLS.with_borrow(|tools| !tools.is_empty())
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_pure!(ctx, natives,
        "aliases" => aliases,
        "toolsOf" => tools_of,
        "allTools" => all_tools,
        "hasTools" => has_tools,
        "takeGlobal" => take_global,
        "globalNames" => global_names,
        "methodOf" => method_of,
        "describe" => describe,
        "budgets" => budgets,
    )
}

/// Returns the first segment of a path, which is the name of a global.
fn alias(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// Returns the names of the globals that tools belong to, without duplicates.
fn aliases() -> Vec<String> {
    TOOLS.with_borrow(|tools| {
        let names: BTreeSet<&str> = tools.iter().map(|tool| alias(&tool.path)).collect();
        names.into_iter().map(str::to_owned).collect()
    })
}

/// Returns the tools below one global: path, method, and `open` of an open namespace, repeated.
fn tools_of(name: Text) -> Vec<String> {
    TOOLS.with_borrow(|tools| {
        let of = tools.iter().filter(|tool| alias(&tool.path) == name.0);
        let open = |tool: &Tool| if tool.open { "open" } else { "" };
        of.flat_map(|tool| [tool.path.clone(), tool.method.clone(), open(tool).to_owned()]).collect()
    })
}

/// Returns all tools, in the form of `listTools()`.
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

/// Returns the bytes of a path as one identifier: `payments_charges_create`.
fn flattened(path: &str) -> impl Iterator<Item = u8> {
    path.bytes().map(|byte| if byte == b'.' { b'_' } else { byte })
}

/// Returns path and method of the tool that a script names by path, flattened name or method, or an empty list.
fn method_of(name: Text) -> Vec<String> {
    TOOLS.with_borrow(|tools| {
        let named =
            |tool: &&Tool| tool.path == name.0 || tool.method == name.0 || flattened(&tool.path).eq(name.0.bytes());
        if let Some(tool) = tools.iter().find(named) {
            return vec![tool.path.clone(), tool.method.clone()];
        }
        // In an open namespace the rest of the name is arbitrary; the namespace itself is named by its path or its
        // method.
        let dotted = name.0.replace('/', ".");
        let rest = |tool: &Tool| {
            let below = |root: &str| dotted.strip_prefix(root).filter(|rest| rest.starts_with('.'));
            below(&tool.path).or_else(|| below(&tool.method.replace('/', ".")))
        };
        let held = tools.iter().filter(|tool| tool.open).find_map(|tool| Some((tool, rest(tool)?)));
        held.map_or_else(Vec::new, |(tool, rest)| {
            vec![format!("{}{rest}", tool.path), format!("{}{}", tool.method, rest.replace('.', "/"))]
        })
    })
}

/// Returns what is left of the budgets, in the form of `budgets()`.
fn budgets(ctx: Ctx<'_>) -> Result<Value<'_>> {
    ctx.json_parse(catalog::budgets())
}

/// Returns the description of a method, or null if there is no such method.
fn describe<'js>(ctx: Ctx<'js>, method: Text) -> Result<Option<Value<'js>>> {
    catalog::describe(&method.0).map(|json| ctx.json_parse(json)).transpose()
}
