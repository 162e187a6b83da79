//! Files that a program names: modules, data, arguments. They are read before the program is compiled.

use std::future::Future;
use std::pin::Pin;

use super::ast::{Ast, Import, Piece, Unit};
use super::parser::parse;
use super::utf8::text_of;

/// Access to files for the compiler and the run.
pub(crate) trait Files: Sync {
    /// Reads a file, or returns the reason of the failure.
    fn read<'a>(&'a self, path: &'a str) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send + 'a>>;
}

/// Program or module, with its imports.
pub(crate) struct Source {
    /// Name of the text in messages.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) unit: Unit,
    /// Loaded modules and data, one for each import.
    pub(crate) loaded: Vec<Loaded>,
}

impl Source {
    /// Returns true if the program or one of its modules may read inputs itself.
    pub(crate) fn reads_inputs(&self) -> bool {
        self.any(&|unit| unit.reads_inputs)
    }

    /// Returns true if the program or one of its modules may ask for the metadata of modules.
    pub(crate) fn describes_modules(&self) -> bool {
        self.any(&|unit| unit.describes_modules)
    }

    fn any(&self, property: &dyn Fn(&Unit) -> bool) -> bool {
        let in_module = |it: &Loaded| matches!(it, Loaded::Module(module) if module.any(property));
        property(&self.unit) || self.loaded.iter().any(in_module)
    }
}

/// Import that was loaded.
pub(crate) enum Loaded {
    Module(Box<Source>),
    Data(Vec<u8>),
}

/// Largest nesting depth of imports.
const MAX_DEPTH: usize = 32;

/// Largest number of functions, as in jq, whose instructions cannot hold larger numbers.
const MAX_FUNCTIONS: usize = 4_095;

/// Default directories in which jq searches for modules.
const DEFAULT_DIRECTORIES: [&str; 3] = ["~/.jq", "$ORIGIN/../lib/jq", "$ORIGIN/../lib"];

type Loading<'a> = Pin<Box<dyn Future<Output = Result<Source, String>> + Send + 'a>>;

/// Directories in which modules are searched, and access to them.
pub(crate) struct Search<'a> {
    pub(crate) files: &'a dyn Files,
    /// Directories from the command line.
    pub(crate) directories: &'a [String],
    pub(crate) home: Option<&'a str>,
}

/// Returns the directories to search: the given ones, or the default ones.
pub(crate) fn directories(given: &[String]) -> Vec<String> {
    if given.is_empty() { DEFAULT_DIRECTORIES.map(str::to_owned).to_vec() } else { given.to_vec() }
}

/// Parses a program and loads its imports, after all definitions in the file `~/.jq`. `origin` is the directory of the
/// file with the program.
pub(crate) async fn load(search: &Search<'_>, text: &str, origin: Option<String>) -> Result<Source, String> {
    let mut program = search.load(text, "<top-level>", origin, Vec::new()).await?;
    let definitions = &program.unit.definitions;
    if definitions.len() > MAX_FUNCTIONS || definitions.iter().any(|it| it.parameters.len() > MAX_FUNCTIONS) {
        let message = format!("too many function parameters or local function definitions (max {MAX_FUNCTIONS})");
        return Err(message);
    }
    let Some(home) = search.home else { return Ok(program) };
    let path = format!("{home}/.jq");
    // A directory of that name cannot be read, and is ignored.
    if let Ok(bytes) = search.files.read(&path).await {
        let own = search.module(path, &bytes, Vec::new()).await?;
        program.unit.imports.insert(0, Import { path: String::new(), name: None, data: false, meta: None });
        program.loaded.insert(0, Loaded::Module(Box::new(own)));
    }
    Ok(program)
}

impl Search<'_> {
    /// Parses a text and loads its imports. `around` are the paths of the modules that import it.
    fn load<'a>(&'a self, text: &str, name: &str, origin: Option<String>, around: Vec<String>) -> Loading<'a> {
        let unit = parse(text, name);
        let (name, text) = (name.to_owned(), text.to_owned());
        Box::pin(async move {
            let unit = unit?;
            if around.len() > MAX_DEPTH {
                return Err("imports are nested too deeply".to_owned());
            }
            let mut loaded = Vec::new();
            for import in &unit.imports {
                let (path, bytes) = self.find(import, origin.as_deref()).await?;
                loaded.push(match import.data {
                    true => Loaded::Data(bytes),
                    false => Loaded::Module(Box::new(self.module(path, &bytes, around.clone()).await?)),
                });
            }
            Ok(Source { name, text, unit, loaded })
        })
    }

    /// Parses a module, which has no query of its own, and loads its imports.
    async fn module(&self, path: String, bytes: &[u8], mut around: Vec<String>) -> Result<Source, String> {
        if around.contains(&path) {
            return Err(format!("circular import of {path}\n"));
        }
        let text = text_of(bytes);
        let origin = path.rsplit_once('/').map(|(directory, _)| directory.to_owned());
        around.push(path.clone());
        let source = self.load(&text, &path, origin, around).await?;
        match source.unit.body {
            Some(_) => Err("library should only have function definitions, not a main expression".to_owned()),
            None => Ok(source),
        }
    }

    /// Finds the file of a module by its name.
    pub(crate) async fn find_module(&self, name: &str) -> Result<(String, Vec<u8>), String> {
        let import = Import { path: name.to_owned(), name: None, data: false, meta: None };
        self.find(&import, None).await
    }

    /// Finds the file of an import.
    async fn find(&self, import: &Import, origin: Option<&str>) -> Result<(String, Vec<u8>), String> {
        for path in self.candidates(import, origin) {
            if let Ok(bytes) = self.files.read(&path).await {
                return Ok((path, bytes));
            }
        }
        Err(format!("module not found: {}\n", import.path))
    }

    /// Returns the directories of an import that names none: the working directory, and those that all share.
    fn default_places(&self) -> Vec<String> {
        // jq itself is in no directory.
        let known = directories(self.directories).into_iter().filter(|directory| !directory.starts_with("$ORIGIN"));
        let known = known.map(|directory| match (directory.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => directory,
        });
        std::iter::once(".".to_owned()).chain(known).collect()
    }

    /// Returns the possible paths of an import.
    fn candidates(&self, import: &Import, origin: Option<&str>) -> Vec<String> {
        let path = &import.path;
        let extension = if import.data { "json" } else { "jq" };
        let last = path.rsplit('/').next().unwrap_or(path);
        let beside = |directory: String| match (directory.starts_with('/') || directory == ".", origin) {
            (false, Some(origin)) => format!("{origin}/{directory}"),
            _ => directory,
        };
        let places = match import.meta.as_ref().and_then(search_of) {
            Some(directory) => vec![beside(directory)],
            None => self.default_places(),
        };
        let of = |place: String| {
            [path.clone(), format!("{path}/jq/main"), format!("{path}/{last}")]
                .map(|name| format!("{place}/{name}.{extension}"))
        };
        places.into_iter().flat_map(of).collect()
    }
}

/// Returns the field `search` of an import's metadata.
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
