//! Files that a program names: modules, data, arguments. They are read before it is compiled.

use std::future::Future;
use std::pin::Pin;

use super::ast::{Ast, Piece, Unit};
use super::parser::parse;

/// Reads files, for what is compiled and run.
pub(crate) trait Files: Sync {
    /// Reads a file, or says why it cannot be read.
    fn read<'a>(&'a self, path: &'a str) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send + 'a>>;
}

/// A program or module with what it imports.
pub(crate) struct Source {
    pub(crate) unit: Unit,
    /// One for each import.
    pub(crate) loaded: Vec<Loaded>,
}

impl Source {
    /// Returns true if the program, or a module of it, may read inputs by itself.
    pub(crate) fn reads_inputs(&self) -> bool {
        self.unit.reads_inputs
            || self.loaded.iter().any(|it| matches!(it, Loaded::Module(module) if module.reads_inputs()))
    }
}

/// An import.
pub(crate) enum Loaded {
    Module(Box<Source>),
    Data(Vec<u8>),
}

/// Modules that import each other are refused at this depth.
const MAX_DEPTH: usize = 32;

type Loading<'a> = Pin<Box<dyn Future<Output = Result<Source, String>> + Send + 'a>>;

/// Parses a text and loads what it imports. `origin` is the directory of the file that it is in.
pub(crate) fn load<'a>(
    files: &'a dyn Files,
    text: &str,
    origin: Option<String>,
    directories: &'a [String],
    depth: usize,
) -> Loading<'a> {
    let unit = parse(text);
    Box::pin(async move {
        let unit = unit?;
        if depth > MAX_DEPTH {
            return Err("modules import each other".to_owned());
        }
        let mut loaded = Vec::new();
        for import in &unit.imports {
            let search = import.meta.as_ref().and_then(search_of);
            let candidates = candidates(&import.path, import.data, search.as_deref(), origin.as_deref(), directories);
            let mut found = None;
            for path in candidates {
                if let Ok(bytes) = files.read(&path).await {
                    found = Some((path, bytes));
                    break;
                }
            }
            let (path, bytes) = found.ok_or_else(|| format!("module not found: {}\n", import.path))?;
            loaded.push(if import.data {
                Loaded::Data(bytes)
            } else {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let origin = path.rsplit_once('/').map(|(directory, _)| directory.to_owned());
                let source = load(files, &text, origin, directories, depth + 1).await?;
                if source.unit.body.is_some() {
                    return Err("library should only have function definitions, not a main expression".to_owned());
                }
                Loaded::Module(Box::new(source))
            });
        }
        Ok(Source { unit, loaded })
    })
}

/// Returns the `search` of an import's metadata.
fn search_of(meta: &Ast) -> Option<String> {
    let Ast::Object(members) = meta else { return None };
    let constant = |ast: &Ast| match ast {
        Ast::Text(None, pieces) => match pieces.as_slice() {
            [] => Some(String::new()),
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    members.iter().find(|(key, _)| constant(key).as_deref() == Some("search")).and_then(|(_, value)| constant(value))
}

/// Returns the paths where an import may be.
fn candidates(
    path: &str,
    data: bool,
    search: Option<&str>,
    origin: Option<&str>,
    directories: &[String],
) -> Vec<String> {
    let extension = if data { "json" } else { "jq" };
    let last = path.rsplit('/').next().unwrap_or(path);
    let beside = |directory: &str| match (directory.starts_with('/'), origin) {
        (false, Some(origin)) => format!("{origin}/{directory}"),
        _ => directory.to_owned(),
    };
    let mut places: Vec<String> = search.iter().map(|search| beside(search)).collect();
    places.extend(directories.iter().cloned());
    let of = |place: String| [format!("{place}/{path}.{extension}"), format!("{place}/{path}/{last}.{extension}")];
    places.into_iter().flat_map(of).collect()
}
