//! Arguments of a call, as far as its text shows them: tools take one object, and perhaps a second one with `signal`.

use oxc_ast::ast::{Argument, Expression, ObjectExpression, ObjectPropertyKind, PropertyKey};

use super::mentions::MAX_PARTS;
use crate::bindings::types::MentionedArguments;

/// The only option of the second object.
const OPTION: &str = "signal";

/// Arguments of a call.
pub(super) enum Passed<'a> {
    Unknown,
    Keys(Vec<&'a str>),
    NoObject(String),
}

impl Passed<'_> {
    pub(super) fn into_mentioned(self) -> MentionedArguments {
        match self {
            Passed::Unknown => MentionedArguments::Unknown,
            // A key that is not listed would pass for one that is missing.
            Passed::Keys(keys) if keys.len() > MAX_PARTS => MentionedArguments::Unknown,
            Passed::Keys(keys) => MentionedArguments::Keys(keys.into_iter().map(str::to_owned).collect()),
            Passed::NoObject(given) => MentionedArguments::NoObject(given),
        }
    }
}

/// Returns what a call passes. The order of the cases is that of the checks when a tool is called.
pub(super) fn passed<'a>(arguments: &[Argument<'a>]) -> Passed<'a> {
    // Nobody knows how many arguments `...list` is.
    if arguments.iter().any(|argument| matches!(argument, Argument::SpreadElement(_))) {
        return Passed::Unknown;
    }
    let (first, second) = match arguments {
        [] => return Passed::Keys(Vec::new()),
        [first] => (first, None),
        [first, second] => (first, Some(second)),
        more => return Passed::NoObject(format!("{} arguments", more.len())),
    };
    if let Some(kind) = first.as_expression().and_then(kind_of_value) {
        return Passed::NoObject(kind.to_owned());
    }
    if let Some(wrong) = second.and_then(Argument::as_expression).and_then(wrong_options) {
        return Passed::NoObject(wrong);
    }
    match first {
        Argument::ObjectExpression(object) => keys(object).map_or(Passed::Unknown, Passed::Keys),
        _ => Passed::Unknown,
    }
}

/// Returns the kind of a value that is certainly not a plain object, in the words of the error when a tool gets it.
fn kind_of_value(expression: &Expression<'_>) -> Option<&'static str> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => Some("a string"),
        Expression::NumericLiteral(_) => Some("a number"),
        Expression::BigIntLiteral(_) => Some("a bigint"),
        Expression::BooleanLiteral(_) => Some("a boolean"),
        Expression::NullLiteral(_) => Some("null"),
        Expression::ArrayExpression(_) => Some("an array"),
        Expression::RegExpLiteral(_) => Some("a RegExp"),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => Some("a function"),
        // `-5` is a number, or a bigint if it is not a literal.
        Expression::UnaryExpression(unary) => match unary.operator.as_str() {
            "-" => kind_of_value(&unary.argument).filter(|kind| ["a number", "a bigint"].contains(kind)),
            "!" => Some("a boolean"),
            "typeof" => Some("a string"),
            _ => None,
        },
        _ => None,
    }
}

/// Describes what is certainly wrong with the second argument of a call, if anything is.
fn wrong_options(expression: &Expression<'_>) -> Option<String> {
    if kind_of_value(expression).is_some() {
        return Some("2 arguments".to_owned());
    }
    let Expression::ObjectExpression(object) = expression.get_inner_expression() else { return None };
    // The first key in the order of the properties: keys that are numbers would come first.
    let other = keys(object)?.into_iter().find(|key| *key != OPTION)?;
    Some(format!("a second one with `{other}`, whose only option is `{OPTION}`"))
}

/// Returns the keys of an object literal, or `None` if they are not all known.
fn keys<'a>(object: &ObjectExpression<'a>) -> Option<Vec<&'a str>> {
    let key = |property: &ObjectPropertyKind<'a>| match property {
        ObjectPropertyKind::ObjectProperty(property) if !property.computed => match &property.key {
            PropertyKey::StaticIdentifier(name) => Some(name.name.as_str()),
            PropertyKey::StringLiteral(text) => Some(text.value.as_str()),
            _ => None,
        }
        // `__proto__: value` sets the prototype, and is no key.
        .filter(|key| *key != "__proto__"),
        _ => None,
    };
    object.properties.iter().map(key).collect()
}
