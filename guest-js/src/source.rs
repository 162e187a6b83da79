//! Transforms the text of a script before QuickJS compiles it: types are removed from TypeScript, and a main script
//! that is a module becomes the body of a function.
//!
//! Removed text is replaced by blanks and line ends, so that lines (and, except for enums and the like, columns) in
//! stack traces are those of the original. Text that needs no transformation is not parsed here at all.

mod call_text;
mod declared;
mod edits;
mod mentions;
mod module;
mod passed;
mod typed;
mod types;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit as _;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;

pub(crate) use call_text::call_text;
pub(crate) use declared::{DeclaredNames, declared_names};
use edits::TextEdits;
pub(crate) use mentions::mentions;
pub(crate) use module::{IMPORT, IMPORT_META};
pub(crate) use typed::{NotGlobalCode, TypedDeclaration, TypedInput, ValueOrigin, input, is_open};

/// Language that a source text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JavaScript without types.
    Plain,
    /// JavaScript with types, which are removed.
    Typed,
}

impl Dialect {
    /// Returns the language of a file by the extension of its name.
    pub(crate) fn of(name: &str) -> Self {
        if [".ts", ".mts", ".cts"].iter().any(|ending| name.ends_with(ending)) { Self::Typed } else { Self::Plain }
    }

    fn source_type(self) -> SourceType {
        match self {
            Self::Plain => SourceType::mjs(),
            Self::Typed => SourceType::ts().with_module(true),
        }
    }
}

/// Reason why a text cannot be run, and where in the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceError {
    pub(crate) message: String,
    /// Number of the line, from 1.
    pub(crate) line: usize,
    /// Number of the column, from 1.
    pub(crate) column: usize,
}

impl SourceError {
    fn at(source: &str, offset: usize, message: String) -> Self {
        let before = source.get(..offset).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Self { message, line, column }
    }
}

/// Main script in the form of a function body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MainScript {
    /// Statements to run before the first line, which make its imports. `None` if the script is not a module.
    pub(crate) imports: Option<String>,
    /// Text of the script itself.
    pub(crate) body: String,
}

/// File that a script imports.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImportedFile {
    /// Text of the file as JavaScript.
    pub(crate) text: String,
    /// True if the file has `import` or `export`, and is therefore not CommonJS.
    pub(crate) is_module: bool,
}

/// Prepares the main script. Returns `None` if it can be run as it is.
pub(crate) fn main(source: &str, dialect: Dialect) -> Result<Option<MainScript>, SourceError> {
    if dialect == Dialect::Plain && !may_be_module(source) {
        return Ok(None);
    }
    let allocator = Allocator::default();
    let parsed = match parse(&allocator, source, dialect) {
        Ok(parsed) => parsed,
        // QuickJS itself reports errors in JavaScript.
        Err(_) if dialect == Dialect::Plain => return Ok(None),
        Err(problem) => return Err(problem),
    };
    let mut edits = TextEdits::new(source);
    let used = strip(&parsed, source, dialect, &mut edits)?;
    let imports = module::into_body(&parsed.program, source, used.as_ref(), &mut edits);
    if dialect == Dialect::Plain && imports.is_none() {
        return Ok(None);
    }
    Ok(Some(MainScript { imports, body: edits.apply() }))
}

/// Prepares an imported file.
pub(crate) fn file(source: &str, dialect: Dialect) -> Result<ImportedFile, SourceError> {
    if dialect == Dialect::Plain && !may_be_module(source) {
        return Ok(ImportedFile { text: source.to_owned(), is_module: false });
    }
    let allocator = Allocator::default();
    let parsed = match parse(&allocator, source, dialect) {
        Ok(parsed) => parsed,
        // A script may contain constructs that no module has. QuickJS itself reports all other errors.
        Err(_) if dialect == Dialect::Plain => {
            return Ok(ImportedFile { text: source.to_owned(), is_module: parse_script(&allocator, source).is_none() });
        }
        Err(problem) => return Err(problem),
    };
    let is_module = parsed.module_record.has_module_syntax;
    if dialect == Dialect::Plain {
        return Ok(ImportedFile { text: source.to_owned(), is_module });
    }
    let mut edits = TextEdits::new(source);
    let used = strip(&parsed, source, dialect, &mut edits)?;
    module::drop_unused(&parsed.program, source, used.as_ref(), &mut edits);
    Ok(ImportedFile { text: edits.apply(), is_module })
}

/// Blanks everything that is not JavaScript. Returns the names that are used as values, if unused imports must be
/// removed.
fn strip<'s>(
    parsed: &ParserReturn<'_>,
    source: &'s str,
    dialect: Dialect,
    edits: &mut TextEdits<'s>,
) -> Result<Option<types::Names>, SourceError> {
    if dialect == Dialect::Plain {
        return Ok(None);
    }
    let mut stripper = types::TypeStripper::new(source, edits);
    stripper.visit_program(&parsed.program);
    match stripper.refused {
        Some((offset, message)) => Err(SourceError::at(source, offset, message)),
        None => Ok(Some(stripper.used)),
    }
}

fn parse<'a>(allocator: &'a Allocator, source: &'a str, dialect: Dialect) -> Result<ParserReturn<'a>, SourceError> {
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(allocator, source, dialect.source_type()).with_options(options).parse();
    match first_problem(&parsed, source) {
        None => Ok(parsed),
        Some(problem) => Err(problem),
    }
}

/// Parses a text as a script, not as a module. Returns `None` if that fails.
fn parse_script<'a>(allocator: &'a Allocator, source: &'a str) -> Option<ParserReturn<'a>> {
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(allocator, source, SourceType::cjs()).with_options(options).parse();
    first_problem(&parsed, source).is_none().then_some(parsed)
}

/// Returns the first error of a text that has keywords of a module, but is neither a valid module nor a valid script.
pub(crate) fn module_problem(source: &str) -> Option<SourceError> {
    if !may_be_module(source) {
        return None;
    }
    let allocator = Allocator::default();
    let problem = parse(&allocator, source, Dialect::Plain).err()?;
    parse_script(&allocator, source).is_none().then_some(problem)
}

/// Returns the first error of the parser.
fn first_problem(parsed: &ParserReturn<'_>, source: &str) -> Option<SourceError> {
    let first = parsed.diagnostics.iter().next();
    if first.is_none() && !parsed.panicked {
        return None;
    }
    let offset = first.and_then(|error| error.labels.first()).map_or(0, |label| label.offset() as usize);
    let message = first.map_or_else(|| "it does not parse".to_owned(), |error| error.message.to_string());
    Some(SourceError::at(source, offset, message))
}

/// Returns false for a text that is certainly not a module, because it contains none of the keywords that a module
/// needs. If it contains one, the parser decides.
fn may_be_module(source: &str) -> bool {
    source.contains("import") || source.contains("export")
}
