//! The tools that the session has mounted. The list stays here, in Rust, until a script asks: a thousand tools cost a
//! script that calls one of them next to nothing. How a script's globals lead here is in [`super::globals`].

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
    /// Global names of tools that are properties of the global object, or were deleted from it.
    static TAKEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Takes over the list of a run.
pub(super) fn begin_run(tools: Vec<Tool>) {
    TOOLS.set(tools);
}

/// The path that a global name stands for: itself if it is an alias, that of a tool if it is one's flattened name. The
/// list is walked, which takes less than an index would for the few names that a script looks up.
fn path_of_global(name: &str) -> Option<String> {
    TOOLS.with_borrow(|tools| {
        if tools.iter().any(|tool| alias(&tool.path) == name) {
            return Some(name.to_owned());
        }
        tools.iter().find(|tool| flattened(&tool.path).eq(name.bytes())).map(|tool| tool.path.clone())
    })
}

/// Returns true if this is the global name of a tool, and no property of the global object yet.
pub(super) fn is_global(name: &str) -> bool {
    !TAKEN.with_borrow(|taken| taken.contains(name)) && path_of_global(name).is_some()
}

/// Takes note that a global name is a property of the global object from here on. Gives the path that it stands for.
fn take_global(name: Text) -> Option<String> {
    let path = path_of_global(&name.0);
    TAKEN.with_borrow_mut(|taken| taken.insert(name.0));
    path
}

/// Returns the global names of tools that are no properties yet.
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

/// Returns all tools, as `listTools()` gives them.
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

/// Path and method of the tool that a script calls so: by path, flattened name or method. Empty if there is none.
fn method_of(name: Text) -> Vec<String> {
    TOOLS.with_borrow(|tools| {
        let named =
            |tool: &&Tool| tool.path == name.0 || tool.method == name.0 || flattened(&tool.path).eq(name.0.bytes());
        if let Some(tool) = tools.iter().find(named) {
            return vec![tool.path.clone(), tool.method.clone()];
        }
        // In an open namespace, which has a path of its own: behind that, or behind its method.
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

/// Returns the rest of the budgets, as `budgets()` gives it.
fn budgets(ctx: Ctx<'_>) -> Result<Value<'_>> {
    ctx.json_parse(catalog::budgets())
}

/// The description of a method, or null if there is no such method.
fn describe<'js>(ctx: Ctx<'js>, method: Text) -> Result<Option<Value<'js>>> {
    catalog::describe(&method.0).map(|json| ctx.json_parse(json)).transpose()
}
