//! Removes types from TypeScript, and converts the few constructs that are not only types (enums, parameter properties)
//! to JavaScript on the same lines.

use std::collections::BTreeSet;

use oxc_ast::ast::{
    ArrowFunctionExpression, Class, ClassElement, Declaration, Decorator, ExportDefaultDeclarationKind, Expression,
    FormalParameter, Function, FunctionBody, IdentifierReference, ImportOrExportKind, PropertyDefinitionType,
    PropertyKey, Statement, TSAsExpression, TSEnumDeclaration, TSEnumMemberName, TSNonNullExpression,
    TSSatisfiesExpression, TSThisParameter, TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration,
    TSTypeParameterInstantiation, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use super::edits::{TextEdits, next_token, token_at};

/// Names of the variables of a declaration.
pub(crate) type Names = BTreeSet<String>;

/// Modifiers of members and parameters that only TypeScript has.
const MODIFIERS: [&str; 7] = ["public", "private", "protected", "readonly", "override", "abstract", "declare"];

/// Visitor that records the edits which turn TypeScript into JavaScript.
pub(super) struct TypeStripper<'e, 's> {
    source: &'s str,
    edits: &'e mut TextEdits<'s>,
    /// Names that are used as values.
    pub(super) used: Names,
    /// Position of syntax that cannot be converted, and the reason.
    pub(super) refused: Option<(usize, String)>,
}

impl<'e, 's> TypeStripper<'e, 's> {
    pub(super) fn new(source: &'s str, edits: &'e mut TextEdits<'s>) -> Self {
        Self { source, edits, used: Names::new(), refused: None }
    }

    fn refuse(&mut self, span: Span, message: &str) {
        self.refused.get_or_insert((span.start as usize, message.to_owned()));
    }

    fn blank(&mut self, span: Span) {
        self.edits.blank(span.start, span.end);
    }

    /// Blanks a whole statement or member, and terminates the statement before it, which might otherwise continue.
    fn blank_statement(&mut self, span: Span) {
        self.edits.blank_with(span.start, span.end, ";");
    }

    /// Returns the position of a class's `implements`: the first occurrence of the word after everything that may
    /// precede it.
    fn implements(&self, class: &Class<'_>) -> u32 {
        let heritage = class.heritage.as_ref().map(|heritage| {
            heritage.type_arguments.as_ref().map_or(heritage.expression.span().end, |arguments| arguments.span.end)
        });
        let parameters = class.type_parameters.as_ref().map(|parameters| parameters.span.end);
        let name = class.id.as_ref().map(|name| name.span.end);
        let mut at = heritage.or(parameters).or(name).unwrap_or(class.span.start);
        // An anonymous class has no name to begin after, so `class` is skipped.
        loop {
            at = next_token(self.source, at);
            match self.source.get(at as usize..) {
                Some(rest) if rest.starts_with("implements") || rest.is_empty() => return at,
                Some(_) => at += 1,
                None => return at,
            }
        }
    }

    /// Blanks the modifiers of TypeScript between two positions.
    fn blank_modifiers(&mut self, start: u32, end: u32, in_class: bool) {
        let mut at = next_token(self.source, start);
        while at < end {
            let rest = &self.source[at as usize..end as usize];
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
            let word = &rest[..length];
            let to = at + u32::try_from(length.max(1)).unwrap_or(1);
            if MODIFIERS.contains(&word) {
                let first = in_class && at == start;
                self.edits.blank_with(at, to, if first { ";" } else { "" });
            }
            if length == 0 && !rest.is_char_boundary(1) {
                return;
            }
            at = next_token(self.source, to);
        }
    }

    /// Blanks a `?` or `!` after a name.
    fn blank_marker(&mut self, from: u32) {
        for mark in ["?", "!"] {
            if let Some(at) = token_at(self.source, from, mark) {
                self.edits.blank(at, at + 1);
            }
        }
    }

    /// Returns true if a declaration consists of types only.
    fn only_types(declaration: &Declaration<'_>) -> bool {
        match declaration {
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSGlobalDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_) => true,
            Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
            Declaration::ClassDeclaration(it) => it.declare,
            Declaration::VariableDeclaration(it) => it.declare,
            Declaration::TSEnumDeclaration(it) => it.declare,
            Declaration::TSNamespaceDeclaration(it) => it.declare,
            Declaration::TSImportEqualsDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
        }
    }

    /// Returns true if a statement consists of types only.
    fn is_type(statement: &Statement<'_>) -> bool {
        match statement {
            Statement::ImportDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
            Statement::ExportAllDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
            Statement::ExportFromDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
            Statement::ExportNamedDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
            Statement::ExportDeclaration(it) => Self::only_types(&it.declaration),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.body.is_none(),
                _ => false,
            },
            Statement::TSNamespaceExportDeclaration(_) => true,
            other => other.as_declaration().is_some_and(Self::only_types),
        }
    }

    /// Blanks `type A` in `export { type A, b }`.
    fn type_exports(&mut self, statement: &Statement<'_>) {
        let specifiers = match statement {
            Statement::ExportNamedDeclaration(it) => &it.specifiers,
            Statement::ExportFromDeclaration(it) => &it.specifiers,
            _ => return,
        };
        for one in specifiers.iter().filter(|one| one.export_kind == ImportOrExportKind::Type) {
            let end = token_at(self.source, one.span.end, ",").map_or(one.span.end, |comma| comma + 1);
            self.edits.blank(one.span.start, end);
        }
    }

    /// Blanks the types of a method or property. Returns false if nothing else is left.
    fn member(&mut self, element: &ClassElement<'_>) -> bool {
        let (span, key, computed) = match element {
            ClassElement::TSIndexSignature(it) => {
                self.blank_statement(it.span);
                return false;
            }
            ClassElement::StaticBlock(_) => return true,
            ClassElement::MethodDefinition(it) => {
                if it.value.body.is_none() {
                    self.blank_statement(it.span);
                    return false;
                }
                (it.span, &it.key, it.computed)
            }
            ClassElement::PropertyDefinition(it) => {
                if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
                    self.blank_statement(it.span);
                    return false;
                }
                (it.span, &it.key, it.computed)
            }
            ClassElement::AccessorProperty(it) => (it.span, &it.key, it.computed),
        };
        self.blank_modifiers(span.start, key_start(key), true);
        let mut behind = key.span().end;
        if computed {
            behind = token_at(self.source, behind, "]").map_or(behind, |bracket| bracket + 1);
        }
        self.blank_marker(behind);
        true
    }

    /// Assigns parameter properties, as in `constructor(private a: string)`.
    fn parameter_properties(&mut self, parameters: &[FormalParameter<'_>], body: &FunctionBody<'_>) {
        let mut assignments: String = property_names(parameters).map(|name| format!("this.{name}={name};")).collect();
        if assignments.is_empty() {
            return;
        }
        let is_super = |statement: &&Statement<'_>| {
            matches!(statement, Statement::ExpressionStatement(it)
                if matches!(&it.expression, Expression::CallExpression(call) if matches!(call.callee, Expression::Super(_))))
        };
        let at = match body.statements.iter().find(is_super) {
            Some(statement) => {
                assignments.insert(0, ';');
                statement.span().end
            }
            None => body.directives.last().map_or(body.span.start + 1, |directive| directive.span.end),
        };
        self.edits.insert(at, &assignments);
    }

    /// Declares the parameter properties of a class before its fields, as `tsc` does, which determines the order of an
    /// object's keys.
    fn declare_parameter_properties(&mut self, class: &Class<'_>) {
        let constructor = class.body.body.iter().find_map(|element| match element {
            ClassElement::MethodDefinition(it) if it.kind.is_constructor() && it.value.body.is_some() => Some(it),
            _ => None,
        });
        let Some(constructor) = constructor else { return };
        let names: String = property_names(&constructor.value.params.items).map(|name| format!("{name};")).collect();
        if !names.is_empty() {
            self.edits.insert(class.body.span.start + 1, &names);
        }
    }

    /// Converts `enum E { A, B = 2 }` to an object with reverse mappings from numbers to names.
    fn enumeration(&mut self, it: &TSEnumDeclaration<'_>) {
        let name = it.id.name.as_str();
        let body = it.body.span;
        self.edits.replace(it.span.start, body.start + 1, &format!("var {name}=(()=>{{const {name}={{}};"));
        let mut before = "-1".to_owned();
        for (index, member) in it.body.members.iter().enumerate() {
            let key = match &member.id {
                TSEnumMemberName::Identifier(id) => id.name.as_str(),
                TSEnumMemberName::String(text) | TSEnumMemberName::ComputedString(text) => text.value.as_str(),
                TSEnumMemberName::ComputedTemplateString(_) => {
                    self.refuse(member.span, "a computed name in an enum cannot be run here: write it as a string");
                    return;
                }
            };
            // Later members may refer to this one by name. A name that is not valid for a variable is replaced.
            let plain = matches!(member.id, TSEnumMemberName::Identifier(_)) && key != name && !is_reserved(key);
            let variable = if plain { key.to_owned() } else { format!("$${index}") };
            let key = format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""));
            let reverse = format!("if(typeof {variable}!==\"string\"){name}[{variable}]={key};");
            let assign = format!("var {variable}={name}[{key}]=");
            match &member.initializer {
                Some(value) => {
                    self.edits.replace(member.span.start, value.span().start, &format!("{assign}("));
                    self.visit_expression(value);
                    self.edits.insert(value.span().end, &format!(");{reverse}"));
                }
                None => {
                    let text = format!("{assign}{before}+1;{reverse}");
                    self.edits.replace(member.span.start, member.span.end, &text);
                }
            }
            before = variable;
            if let Some(comma) = token_at(self.source, member.span.end, ",") {
                self.edits.blank(comma, comma + 1);
            }
        }
        self.edits.replace(body.end - 1, body.end, &format!("return {name}}})();"));
    }
}

/// Returns the names of parameter properties.
fn property_names<'p>(parameters: &'p [FormalParameter<'_>]) -> impl Iterator<Item = &'p str> {
    let is_property = |it: &&FormalParameter<'_>| it.accessibility.is_some() || it.readonly || it.r#override;
    parameters.iter().filter(is_property).filter_map(|it| it.pattern.get_identifier_name().map(|name| name.as_str()))
}

/// Returns the position of a key; that of a computed key is its bracket, which precedes it directly or with blanks in
/// between.
fn key_start(key: &PropertyKey<'_>) -> u32 {
    key.span().start
}

/// Words that cannot name a variable.
fn is_reserved(word: &str) -> bool {
    const WORDS: [&str; 45] = [
        "arguments",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
    ];
    WORDS.contains(&word)
}

impl<'a> Visit<'a> for TypeStripper<'_, '_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if Self::is_type(it) {
            self.blank_statement(it.span());
            return;
        }
        self.type_exports(it);
        walk::walk_statement(self, it);
        if matches!(
            it,
            Statement::ExpressionStatement(_)
                | Statement::VariableDeclaration(_)
                | Statement::ReturnStatement(_)
                | Statement::ThrowStatement(_)
                | Statement::ExportDeclaration(_)
                | Statement::ExportDefaultDeclaration(_)
        ) {
            self.edits.end_statement(it.span().end);
        }
    }

    fn visit_declaration(&mut self, it: &Declaration<'a>) {
        match it {
            Declaration::TSEnumDeclaration(it) => self.enumeration(it),
            Declaration::TSNamespaceDeclaration(it) => {
                self.refuse(it.span, "a namespace cannot be run here: write a module, or an object");
            }
            Declaration::TSImportEqualsDeclaration(it) => {
                // `import x = require('y')` becomes `const x = …`; `const ` has as many letters as `import`.
                self.edits.replace(it.span.start, it.span.start + 6, "const");
            }
            other => walk::walk_declaration(self, other),
        }
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.enumeration(it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.used.insert(it.name.as_str().to_owned());
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        let end = token_at(self.source, it.span.end, ",").map_or(it.span.end, |comma| comma + 1);
        self.edits.blank(it.span.start, end);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.edits.blank(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.edits.blank(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.edits.blank(it.span.end - 1, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.edits.blank(it.span.start, it.expression.span().start);
        self.visit_expression(&it.expression);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if let Some(annotation) = &it.return_type
            && self.source[annotation.span.start as usize..annotation.span.end as usize].contains('\n')
        {
            // No line end is allowed between `)` and `=>`, so the bracket moves to the end of the type.
            self.edits.blank(it.params.span.end - 1, it.params.span.end);
            self.edits.blank(annotation.span.start, annotation.span.end);
            self.edits.insert(annotation.span.end, ")");
            if let Some(parameters) = &it.type_parameters {
                self.visit_ts_type_parameter_declaration(parameters);
            }
            self.visit_formal_parameters(&it.params);
            self.visit_arrow_function_body(&it.body);
            return;
        }
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        let start = it.pattern.span().start;
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.blank_modifiers(it.span.start, start, false);
        }
        if it.optional {
            self.blank_marker(it.pattern.span().end);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_marker(it.id.span().end);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(body) = &it.body {
            self.parameter_properties(&it.params.items, body);
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.r#abstract && self.source[it.span.start as usize..].starts_with("abstract") {
            self.edits.blank(it.span.start, it.span.start + 8);
        }
        if let Some(last) = it.implements.last() {
            self.edits.blank(self.implements(it), last.span.end);
        }
        for decorator in &it.decorators {
            self.visit_decorator(decorator);
        }
        if let Some(parameters) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(parameters);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_expression(&heritage.expression);
            if let Some(arguments) = &heritage.type_arguments {
                self.visit_ts_type_parameter_instantiation(arguments);
            }
        }
        self.declare_parameter_properties(it);
        for element in &it.body.body {
            if self.member(element) {
                self.visit_class_element(element);
                if matches!(element, ClassElement::PropertyDefinition(_)) {
                    self.edits.end_statement(element.span().end);
                }
            }
        }
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, "decorators cannot be run here");
    }
}
