//! Rewrites `import` and `export`.
//!
//! The main script is the body of an async function, so that `return` works there. Its imports become `await`
//! expressions before its first line, as the imports of a module happen first, too. Exports of the main script are
//! ignored, since nothing can import them.

use oxc_ast::ast::{
    ExportDefaultDeclarationKind, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, ModuleExportName,
    Program, Statement,
};
use oxc_span::GetSpan as _;

use super::edits::{TextEdits, token_at};
use super::types::Names;

/// Name of the prelude's function that imports for the main script.
pub(crate) const IMPORT: &str = "__tollhouse_import";

/// Name that stands for `import.meta` in a function body.
pub(crate) const IMPORT_META: &str = "import_meta";

/// Turns a module into the body of an async function. Returns the statements that must precede it, or `None` if the
/// text has no `import` and no `export`.
pub(super) fn into_body(
    program: &Program<'_>,
    source: &str,
    used: Option<&Names>,
    edits: &mut TextEdits<'_>,
) -> Option<String> {
    let mut first = String::new();
    let mut module = false;
    for statement in &program.body {
        let span = statement.span();
        match statement {
            Statement::ImportDeclaration(import) => {
                if !edits.covers(span.start) {
                    first.push_str(&awaited(import, used));
                    edits.blank_with(span.start, span.end, ";");
                }
            }
            Statement::ExportFromDeclaration(export) => {
                if !edits.covers(span.start) {
                    first.push_str(&format!("await {IMPORT}({},[]);", quote(export.source.value.as_str())));
                    edits.blank_with(span.start, span.end, ";");
                }
            }
            Statement::ExportAllDeclaration(export) => {
                first.push_str(&format!("await {IMPORT}({},[]);", quote(export.source.value.as_str())));
                edits.blank_with(span.start, span.end, ";");
            }
            Statement::ExportNamedDeclaration(_) if !edits.covers(span.start) => {
                edits.blank_with(span.start, span.end, ";");
            }
            Statement::ExportDeclaration(_) if !edits.covers(span.start) => {
                edits.blank(span.start, span.start + 6);
            }
            Statement::ExportDefaultDeclaration(export) if !edits.covers(span.start) => {
                let named = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.is_some(),
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.is_some(),
                    _ => false,
                };
                let from = export.declaration.span().start;
                edits.blank_with(span.start, from, if named { "" } else { "void" });
                if !named && !source[..span.end as usize].ends_with(';') {
                    edits.insert(span.end, ";");
                }
            }
            _ => continue,
        }
        module = true;
    }
    let meta = meta(program, edits);
    (module || meta).then_some(first)
}

/// Replaces `import.meta`, which is allowed in modules only. Returns true if there is one.
fn meta(program: &Program<'_>, edits: &mut TextEdits<'_>) -> bool {
    struct ImportMetaFinder<'e, 's> {
        edits: &'e mut TextEdits<'s>,
        found: bool,
    }
    impl<'a> oxc_ast_visit::Visit<'a> for ImportMetaFinder<'_, '_> {
        fn visit_import_meta(&mut self, it: &oxc_ast::ast::ImportMeta) {
            if !self.edits.covers(it.span.start) {
                self.edits.replace(it.span.start, it.span.end, IMPORT_META);
                self.found = true;
            }
        }
    }
    let mut finder = ImportMetaFinder { edits, found: false };
    oxc_ast_visit::Visit::visit_program(&mut finder, program);
    finder.found
}

/// Returns an import as statements: `const {default: a, "b": c} = await …("x", ["default", "b"]);`
fn awaited(import: &ImportDeclaration<'_>, used: Option<&Names>) -> String {
    let mut names = Vec::new();
    let mut bindings = Vec::new();
    let mut whole = None;
    for specifier in import.specifiers.iter().flatten() {
        if !wanted(specifier, used) {
            continue;
        }
        let (name, local) = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(one) => (exported(&one.imported), one.local.name.as_str()),
            ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => ("default", one.local.name.as_str()),
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(all) => {
                whole = Some(all.local.name.as_str());
                continue;
            }
        };
        names.push(quote(name));
        bindings.push(format!("{}:{local}", quote(name)));
    }
    if import.specifiers.as_ref().is_some_and(|list| !list.is_empty()) && names.is_empty() && whole.is_none() {
        return String::new();
    }
    let from = quote(import.source.value.as_str());
    let call = format!("await {IMPORT}({from},[{}])", names.join(","));
    match whole {
        Some(whole) if names.is_empty() => format!("const {whole}={call};"),
        Some(whole) => format!("const {whole}={call};const {{{}}}={whole};", bindings.join(",")),
        None if names.is_empty() => format!("{call};"),
        None => format!("const {{{}}}={call};", bindings.join(",")),
    }
}

pub(super) fn exported<'a>(name: &'a ModuleExportName<'_>) -> &'a str {
    match name {
        ModuleExportName::IdentifierName(name) => name.name.as_str(),
        ModuleExportName::IdentifierReference(name) => name.name.as_str(),
        ModuleExportName::StringLiteral(name) => name.value.as_str(),
    }
}

/// Returns a string as a JavaScript literal.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            ' '..='~' => quoted.push(character),
            _ => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    quoted.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Returns true if an import brings a value. As in `tsc`, a name that is never used as a value is taken for a type.
fn wanted(specifier: &ImportDeclarationSpecifier<'_>, used: Option<&Names>) -> bool {
    let Some(used) = used else { return true };
    match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind == ImportOrExportKind::Type => false,
        other => used.contains(other.local().name.as_str()),
    }
}

/// Removes imports from a TypeScript module that bring no value.
pub(super) fn drop_unused(program: &Program<'_>, source: &str, used: Option<&Names>, edits: &mut TextEdits<'_>) {
    for statement in &program.body {
        let Statement::ImportDeclaration(import) = statement else { continue };
        let Some(specifiers) = import.specifiers.as_ref().filter(|list| !list.is_empty()) else { continue };
        if edits.covers(import.span.start) {
            continue;
        }
        if !specifiers.iter().any(|specifier| wanted(specifier, used)) {
            edits.blank_with(import.span.start, import.span.end, ";");
            continue;
        }
        for specifier in specifiers.iter().filter(|specifier| !wanted(specifier, used)) {
            let span = specifier.span();
            if matches!(specifier, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_)) {
                edits.blank_with(span.start, span.end, "{}");
                continue;
            }
            let end = token_at(source, span.end, ",").map_or(span.end, |comma| comma + 1);
            edits.blank(span.start, end);
        }
    }
}
