//! Built-in functions: in Rust, and in jq's own language (`library.jq`).

use std::cell::RefCell;
use std::rc::Rc;

use super::compiler::{Names, compile_library};
use super::parser::parse;
use super::term::{Function, NativeFn};
use super::value::Val;
use super::{calendar, collections, mathematics, regular, texts};

/// Compiled definitions in jq's language.
#[derive(Clone)]
pub(crate) struct Library {
    pub(crate) functions: Vec<Rc<Function>>,
    pub(crate) names: Names,
}

/// Built-in function in Rust.
pub(crate) enum Primitive {
    Native(NativeFn),
    Empty,
    Path,
    GetPath,
    Error,
    Modify,
    Range,
}

const DEFINITIONS: &str = include_str!("library.jq");

thread_local! {
    static LIBRARY: RefCell<Option<Rc<Library>>> = const { RefCell::new(None) };
}

/// Returns the library, which is compiled once; in the guest, while its image is made.
pub(crate) fn library() -> Rc<Library> {
    LIBRARY.with_borrow_mut(|library| {
        let made = library.get_or_insert_with(|| {
            let unit = parse(DEFINITIONS, "library.jq").expect("the library's syntax is tested");
            Rc::new(compile_library(&unit.definitions).expect("the library's names are tested"))
        });
        Rc::clone(made)
    })
}

/// Finds a built-in function by name and number of arguments.
pub(crate) fn primitive(name: &str, arity: usize) -> Option<Primitive> {
    Some(match (name, arity) {
        ("empty", 0) => Primitive::Empty,
        ("path", 1) => Primitive::Path,
        ("getpath", 1) => Primitive::GetPath,
        ("error", 0 | 1) => Primitive::Error,
        ("_modify", 2) => Primitive::Modify,
        ("_range", 3) => Primitive::Range,
        _ => Primitive::Native(tables().find(|(known, count, _)| *known == name && *count == arity)?.2),
    })
}

type Entry = (&'static str, usize, NativeFn);

fn tables() -> impl Iterator<Item = &'static Entry> {
    let tables: [&'static [Entry]; 5] =
        [collections::TABLE, texts::TABLE, mathematics::TABLE, calendar::TABLE, regular::TABLE];
    tables.into_iter().flatten()
}

/// Returns the names of all functions, in the form of `builtins`.
pub(crate) fn builtins() -> Val {
    let special = [("empty", 0), ("path", 1), ("getpath", 1), ("error", 0), ("error", 1), ("builtins", 0)];
    let natives = tables().map(|(name, arity, _)| (*name, *arity));
    let library = library();
    let defined = library.names.keys().map(|(name, arity)| (name.as_str(), *arity));
    let all = special.into_iter().chain(natives).chain(defined);
    let mut names: Vec<String> =
        all.filter(|(name, _)| !name.starts_with('_')).map(|(name, arity)| format!("{name}/{arity}")).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(Val::string).collect()
}
