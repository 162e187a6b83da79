//! Names that a script declares at its top level.

use oxc_allocator::Allocator;
use oxc_ast::ast::{ArrowFunctionExpression, Class, Function, Statement, VariableDeclaration, VariableDeclarationKind};
use oxc_ast_visit::Visit;
use oxc_syntax::scope::ScopeFlags;

/// Names that a script declares at its top level, by the kind of their declarations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DeclaredNames {
    /// Names of `var` and of functions.
    pub(crate) variables: Vec<String>,
    /// Names of `let`, `const` and `class`.
    pub(crate) lexical: Vec<String>,
}

/// Returns the names that a script declares at its top level. A text that is no script declares none.
pub(crate) fn declared_names(source: &str) -> DeclaredNames {
    let allocator = Allocator::default();
    let Some(parsed) = super::parse_script(&allocator, source) else { return DeclaredNames::default() };
    let mut finder = VariableFinder::default();
    finder.visit_program(&parsed.program);
    for statement in &parsed.program.body {
        finder.add_top_level(statement);
    }
    finder.0
}

/// Visitor that collects the variables of a script, wherever they are declared outside of functions.
#[derive(Default)]
struct VariableFinder(DeclaredNames);

impl VariableFinder {
    fn add_top_level(&mut self, statement: &Statement<'_>) {
        match statement {
            Statement::VariableDeclaration(it) if it.kind != VariableDeclarationKind::Var => {
                self.0.lexical.extend(names_of(it));
            }
            Statement::ClassDeclaration(it) => self.0.lexical.extend(it.id.iter().map(|id| id.name.to_string())),
            Statement::FunctionDeclaration(it) => self.0.variables.extend(it.id.iter().map(|id| id.name.to_string())),
            _ => {}
        }
    }
}

fn names_of(declaration: &VariableDeclaration<'_>) -> Vec<String> {
    let names = declaration.declarations.iter().flat_map(|one| one.id.get_binding_identifiers());
    names.map(|name| name.name.to_string()).collect()
}

impl<'a> Visit<'a> for VariableFinder {
    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.kind == VariableDeclarationKind::Var {
            self.0.variables.extend(names_of(it));
        }
    }

    // The variables of functions are their own.

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_class(&mut self, _: &Class<'a>) {}
}
