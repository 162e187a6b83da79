//! Finds the names that a script uses but does not define itself.
//!
//! A name counts as defined if any part of the script declares or assigns it, so that a name which is reported as
//! missing really is. Nothing is reported for scripts that evaluate text, or use `with`.

use std::collections::BTreeSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    AssignmentTargetPropertyIdentifier, BindingIdentifier, CallExpression, Expression, IdentifierReference,
    SimpleAssignmentTarget, StaticMemberExpression, TSClassImplements, TSEnumMember, TSInterfaceDeclaration, TSType,
    TSTypeAliasDeclaration, TSTypeAnnotation, TSTypeParameterDeclaration, TSTypeParameterInstantiation,
    UnaryExpression, WithStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::operator::UnaryOperator;

use super::passed::{Passed, passed};
use super::{Dialect, parse};
use crate::bindings::Mention;

/// Largest number of reported names in one script.
const MAX_MENTIONS: usize = 1_000;

/// Longest path, and largest number of keys, that are reported for one use.
pub(super) const MAX_PARTS: usize = 100;

/// Names of the global object, whose properties are global names.
const GLOBAL_OBJECTS: [&str; 4] = ["globalThis", "global", "self", "window"];

/// Names that can define other names indirectly: functions that evaluate text, and the global object if it is used
/// other than for a fixed property (`globalThis[name] = 1`, `Object.assign(globalThis, all)`).
const DEFINING: [&str; 6] = ["eval", "Function", "globalThis", "global", "self", "window"];

/// Returns the uses of names that a script does not define, or none if it does not parse.
pub(crate) fn mentions(source: &str, dialect: Dialect) -> Vec<Mention> {
    let allocator = Allocator::default();
    let Ok(parsed) = parse(&allocator, source, dialect) else { return Vec::new() };
    let mut finder = NameUseFinder::default();
    finder.visit_program(&parsed.program);
    if finder.is_dynamic {
        return Vec::new();
    }
    let NameUseFinder { defined, uses, .. } = finder;
    let mut uses: Vec<NameUse<'_>> = uses.into_iter().filter(|one| !defined.contains(one.path[0])).collect();
    if uses.iter().any(|one| matches!(one.path[..], [name] if DEFINING.contains(&name))) {
        return Vec::new();
    }
    uses.sort_by_key(|one| one.span.start);
    uses.truncate(MAX_MENTIONS);
    let mut places = LineCounter { source, offset: 0, line: 1, line_start: 0 };
    uses.into_iter().map(|one| one.mention(&mut places)).collect()
}

/// Use of a name that the script does not define.
struct NameUse<'a> {
    /// The name, followed by the properties that are read from it.
    path: Vec<&'a str>,
    span: Span,
    arguments: Passed<'a>,
}

impl NameUse<'_> {
    fn mention(self, places: &mut LineCounter<'_>) -> Mention {
        let (line, column) = places.of(self.span.start as usize);
        let path = self.path.into_iter().take(MAX_PARTS).map(str::to_owned).collect();
        Mention { path, line, column, arguments: self.arguments.into_mentioned() }
    }
}

/// Converter of increasing offsets to lines and columns.
struct LineCounter<'s> {
    source: &'s str,
    offset: usize,
    line: u32,
    line_start: usize,
}

impl LineCounter<'_> {
    fn of(&mut self, offset: usize) -> (u32, u32) {
        for (at, byte) in self.source.bytes().enumerate().take(offset).skip(self.offset) {
            if byte == b'\n' {
                self.line = self.line.saturating_add(1);
                self.line_start = at + 1;
            }
        }
        self.offset = offset;
        (self.line, u32::try_from(offset - self.line_start + 1).unwrap_or(0))
    }
}

/// Visitor that collects the uses of names in a program.
#[derive(Default)]
struct NameUseFinder<'a> {
    defined: BTreeSet<&'a str>,
    uses: Vec<NameUse<'a>>,
    /// True if the script uses `with`, whose names cannot be known from the text.
    is_dynamic: bool,
}

impl<'a> NameUseFinder<'a> {
    fn add(&mut self, path: Vec<&'a str>, span: Span, arguments: Passed<'a>) {
        self.uses.push(NameUse { path, span, arguments });
    }

    /// Defines the target of an assignment: a variable in sloppy mode, or a property of the global object.
    fn assigned(&mut self, target: &SimpleAssignmentTarget<'a>) {
        match target {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(name) => {
                self.defined.insert(name.name.as_str());
            }
            SimpleAssignmentTarget::StaticMemberExpression(member) => {
                if matches!(&member.object, Expression::Identifier(object) if GLOBAL_OBJECTS.contains(&object.name.as_str()))
                {
                    self.defined.insert(member.property.name.as_str());
                }
            }
            _ => {}
        }
    }
}

/// Returns the names of `a.b.c` and its position, or `None` if the expression does not begin with a name.
fn chain<'a>(expression: &Expression<'a>) -> Option<Vec<&'a str>> {
    match expression {
        Expression::Identifier(name) => Some(vec![name.name.as_str()]),
        Expression::StaticMemberExpression(member) => {
            let mut path = chain(&member.object)?;
            path.push(member.property.name.as_str());
            Some(path)
        }
        _ => None,
    }
}

impl<'a> Visit<'a> for NameUseFinder<'a> {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.defined.insert(it.name.as_str());
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.add(vec![it.name.as_str()], it.span, Passed::Unknown);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        match chain(&it.object) {
            Some(mut path) => {
                path.push(it.property.name.as_str());
                self.add(path, it.span, Passed::Unknown);
            }
            None => walk::walk_static_member_expression(self, it),
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        match chain(&it.callee) {
            Some(path) => {
                self.add(path, it.callee.span(), passed(&it.arguments));
                self.visit_arguments(&it.arguments);
            }
            None => walk::walk_call_expression(self, it),
        }
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        // `typeof` asks whether a name exists.
        let asks = it.operator == UnaryOperator::Typeof;
        match &it.argument {
            Expression::Identifier(name) if asks => {
                self.defined.insert(name.name.as_str());
            }
            _ => walk::walk_unary_expression(self, it),
        }
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        self.assigned(it);
        walk::walk_simple_assignment_target(self, it);
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.defined.insert(it.binding.name.as_str());
        walk::walk_assignment_target_property_identifier(self, it);
    }

    fn visit_with_statement(&mut self, _: &WithStatement<'a>) {
        self.is_dynamic = true;
    }

    // What follows is of TypeScript, and no value.

    fn visit_ts_type(&mut self, _: &TSType<'a>) {}

    fn visit_ts_type_annotation(&mut self, _: &TSTypeAnnotation<'a>) {}

    fn visit_ts_type_parameter_instantiation(&mut self, _: &TSTypeParameterInstantiation<'a>) {}

    fn visit_ts_type_parameter_declaration(&mut self, _: &TSTypeParameterDeclaration<'a>) {}

    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.defined.insert(it.id.name.as_str());
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.defined.insert(it.id.name.as_str());
    }

    fn visit_ts_enum_member(&mut self, it: &TSEnumMember<'a>) {
        // Members of an enum refer to each other without the name of the enum.
        self.defined.insert(it.id.static_name().as_str());
        walk::walk_ts_enum_member(self, it);
    }
}
