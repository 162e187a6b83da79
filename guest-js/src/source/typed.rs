//! Inputs of an interactive session: whether an input is incomplete, its text as global code, and its top-level
//! declarations.
//!
//! Global code returns the value of its last expression, and its declarations belong to the realm. Since a later input
//! runs in another realm, the prelude carries declared values over, in the way that is determined here for each
//! declaration.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, AssignmentTarget, BindingPattern, Declaration, Expression, ImportDeclarationSpecifier, Program,
    PropertyKey, Statement, VariableDeclarator,
};
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::{GetSpan as _, Span};

use super::edits::TextEdits;
use super::{Dialect, SourceError, module, strip};

/// Input in the form of global code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypedInput {
    /// Statements to run before the first line, which make its imports.
    pub(crate) imports: String,
    /// Text of the input itself.
    pub(crate) text: String,
    /// Declarations at the top level, in order, except for those that global code makes properties of the global
    /// object.
    pub(crate) declared: Vec<TypedDeclaration>,
}

/// A name that an input declares.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypedDeclaration {
    pub(crate) name: String,
    pub(crate) how: ValueOrigin,
}

/// Way in which a later input obtains the value of a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ValueOrigin {
    /// By copying the value.
    Copy,
    /// By evaluating the text of a function or class again, which at the top level refers to nothing but globals.
    Text(String),
    /// By calling `require`: name of the module, and property if only one was taken.
    Require(String, Option<String>),
    /// By an `import`: name of the module and of the export; `None` for the whole namespace.
    Import(String, Option<String>),
}

/// Reason why an input cannot be evaluated as global code.
pub(crate) enum NotGlobalCode {
    /// A `return` at the top level, so that the input can only be the body of a function.
    Returns,
    /// The input does not parse; QuickJS reports the error.
    Plain,
    /// The input is not valid TypeScript.
    SourceError(SourceError),
}

/// Returns true if a text is incomplete.
pub(crate) fn is_open(source: &str, dialect: Dialect) -> bool {
    let whole = |source: &str| parse(&Allocator::default(), source, dialect, true, |_| ()).is_ok();
    if whole(source) {
        return false;
    }
    // A text that begins like a block may be an object literal.
    let object = is_braced(source);
    if object && whole(&format!("({source}\n)")) {
        return false;
    }
    ends_early(source, dialect) || (object && ends_early(&format!("({source}"), dialect))
}

/// Lines that each complete one kind of incomplete text: an expression or statement, a block, a parenthesis, a comment,
/// a template, a string whose line ends with a backslash.
const CONTINUATIONS: [&str; 7] = ["\n0", "\n}", "\n)", "\n*/", "\n`", "\n'", "\n\""];

/// Returns true if the only error in a text is that it ends too early. The parser reads from left to right: if it gave
/// up before the end, its error stays the same whatever is appended; an error that it recovered from counts unless
/// something that is appended removes it.
fn ends_early(source: &str, dialect: Dialect) -> bool {
    let verdict = |source: &str| {
        let allocator = Allocator::default();
        let parsed = raw(&allocator, source, dialect, true);
        let first = parsed.diagnostics.iter().next();
        let mistake = first.map(|mistake| {
            let place = mistake.labels.first().map(|label| label.offset());
            (mistake.message.to_string(), place)
        });
        (parsed.panicked, mistake)
    };
    let (gave_up, mistake) = verdict(source);
    CONTINUATIONS.iter().any(|continuation| {
        let (_, later) = verdict(&format!("{source}{continuation}"));
        if gave_up { later != mistake } else { later.is_none() }
    })
}

/// Prepares an input to be evaluated.
pub(crate) fn input(source: &str, dialect: Dialect) -> Result<TypedInput, NotGlobalCode> {
    if is_braced(source) {
        let object = format!("({source}\n)");
        if let Ok(input) = prepare(&object, dialect) {
            return Ok(input);
        }
    }
    prepare(source, dialect)
}

/// Returns true if a text begins like an object literal, and does not end like a statement.
fn is_braced(source: &str) -> bool {
    source.trim_start().starts_with('{') && !source.trim_end().ends_with(';')
}

fn prepare(source: &str, dialect: Dialect) -> Result<TypedInput, NotGlobalCode> {
    let allocator = Allocator::default();
    let ready = parse(&allocator, source, dialect, false, |parsed| {
        let mut edits = TextEdits::new(source);
        let used = strip(parsed, source, dialect, &mut edits)?;
        let imports = module::into_body(&parsed.program, source, used.as_ref(), &mut edits).unwrap_or_default();
        let declared = declared(&parsed.program, &edits);
        Ok(TypedInput { imports, text: edits.apply(), declared })
    });
    match ready {
        Ok(ready) => ready.map_err(NotGlobalCode::SourceError),
        Err(_) if parse(&allocator, source, dialect, true, |_| ()).is_ok() => Err(NotGlobalCode::Returns),
        Err(_) if dialect == Dialect::Plain => Err(NotGlobalCode::Plain),
        Err(problem) => Err(NotGlobalCode::SourceError(problem)),
    }
}

fn raw<'a>(allocator: &'a Allocator, source: &'a str, dialect: Dialect, returns: bool) -> ParserReturn<'a> {
    let options = ParseOptions { allow_return_outside_function: returns, ..ParseOptions::default() };
    Parser::new(allocator, source, dialect.source_type()).with_options(options).parse()
}

fn parse<'a, T>(
    allocator: &'a Allocator,
    source: &'a str,
    dialect: Dialect,
    returns: bool,
    use_it: impl FnOnce(&ParserReturn<'a>) -> T,
) -> Result<T, SourceError> {
    let parsed = raw(allocator, source, dialect, returns);
    match super::first_problem(&parsed, source) {
        None => Ok(use_it(&parsed)),
        Some(problem) => Err(problem),
    }
}

/// Returns the declarations at the top level of a program.
fn declared(program: &Program<'_>, edits: &TextEdits<'_>) -> Vec<TypedDeclaration> {
    let mut found = Vec::new();
    for statement in &program.body {
        match statement {
            Statement::ImportDeclaration(import) => {
                for specifier in import.specifiers.iter().flatten() {
                    let name = match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(one) => Some(module::exported(&one.imported)),
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Some("default"),
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
                    };
                    let how = ValueOrigin::Import(import.source.value.to_string(), name.map(str::to_owned));
                    add(&mut found, specifier.local().name.as_str(), how);
                }
            }
            Statement::ExportDeclaration(export) => declaration(&export.declaration, edits, &mut found),
            Statement::ExpressionStatement(statement) => {
                if let Expression::AssignmentExpression(assignment) = &statement.expression
                    && let AssignmentTarget::AssignmentTargetIdentifier(target) = &assignment.left
                {
                    add(&mut found, target.name.as_str(), how(&assignment.right, edits));
                }
            }
            other => {
                if let Some(one) = other.as_declaration() {
                    declaration(one, edits, &mut found);
                }
            }
        }
    }
    found
}

fn declaration(declaration: &Declaration<'_>, edits: &TextEdits<'_>, found: &mut Vec<TypedDeclaration>) {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().for_each(|one| variable(one, edits, found));
        }
        Declaration::FunctionDeclaration(function) => {
            if let Some(id) = &function.id {
                add(found, id.name.as_str(), ValueOrigin::Text(edits.part(function.span)));
            }
        }
        Declaration::ClassDeclaration(class) => {
            if let Some(id) = &class.id {
                add(found, id.name.as_str(), ValueOrigin::Text(edits.part(class.span)));
            }
        }
        // Types declare no values; enums and namespaces have become `var`s.
        _ => {}
    }
}

fn variable(declarator: &VariableDeclarator<'_>, edits: &TextEdits<'_>, found: &mut Vec<TypedDeclaration>) {
    let how = declarator.init.as_ref().map_or(ValueOrigin::Copy, |value| how(value, edits));
    if let BindingPattern::BindingIdentifier(id) = &declarator.id {
        return add(found, id.name.as_str(), how);
    }
    for id in declarator.id.get_binding_identifiers() {
        add(found, id.name.as_str(), ValueOrigin::Copy);
    }
    // `const {join} = require('path')`
    let BindingPattern::ObjectPattern(pattern) = &declarator.id else { return };
    for property in &pattern.properties {
        let (PropertyKey::StaticIdentifier(key), BindingPattern::BindingIdentifier(id)) =
            (&property.key, &property.value)
        else {
            continue;
        };
        let key = Some(key.name.to_string());
        let how = match &how {
            ValueOrigin::Require(from, None) => ValueOrigin::Require(from.clone(), key),
            ValueOrigin::Import(from, None) => ValueOrigin::Import(from.clone(), key),
            _ => continue,
        };
        add(found, id.name.as_str(), how);
    }
}

fn add(found: &mut Vec<TypedDeclaration>, name: &str, how: ValueOrigin) {
    found.retain(|other| other.name != name);
    found.push(TypedDeclaration { name: name.to_owned(), how });
}

/// Determines how a later input obtains the value of an expression.
fn how(value: &Expression<'_>, edits: &TextEdits<'_>) -> ValueOrigin {
    let text = |span: Span| ValueOrigin::Text(edits.part(span));
    match value {
        Expression::ArrowFunctionExpression(function) => text(function.span()),
        Expression::FunctionExpression(function) => text(function.span),
        Expression::ClassExpression(class) => text(class.span),
        Expression::CallExpression(call) => match (&call.callee, call.arguments.as_slice()) {
            (Expression::Identifier(callee), [Argument::StringLiteral(from)]) if callee.name == "require" => {
                ValueOrigin::Require(from.value.to_string(), None)
            }
            _ => ValueOrigin::Copy,
        },
        Expression::AwaitExpression(awaited) => match &awaited.argument {
            Expression::ImportExpression(import) => match &import.source {
                Expression::StringLiteral(from) => ValueOrigin::Import(from.value.to_string(), None),
                _ => ValueOrigin::Copy,
            },
            _ => ValueOrigin::Copy,
        },
        _ => ValueOrigin::Copy,
    }
}
