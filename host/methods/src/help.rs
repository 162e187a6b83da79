//! Help as plain text: of one method, and of all methods with a common prefix.
//!
//! Printed in the shell by `payments --help`. Names and docs come from strangers: control characters are removed.

use std::fmt::Write as _;

use super::types::{Field, Function, Shape, Type};
use super::words;

/// Width at which lines are broken where possible: that of a terminal.
const WIDTH: usize = 100;
/// Longest default that is shown, in characters.
const MAX_DEFAULT: usize = 40;
/// Depth to which types are written out; deeper ones are named.
const DEPTH: usize = 4;

/// Formats the help of one method. `command` is its name in the shell.
#[must_use]
pub fn method(command: &str, function: &Function) -> String {
    let mut text = String::new();
    let usage = if function.params.is_empty() { String::new() } else { format!(" {}", words::usage(&function.params)) };
    let _ = writeln!(text, "Usage: {command}{usage}");
    if let Some(docs) = &function.docs {
        text.push('\n');
        paragraph(&mut text, 0, docs);
    }
    if !function.params.is_empty() {
        text.push_str("\nFlags:\n");
        for field in function.params.iter() {
            flag(&mut text, field, "");
        }
        text.push_str("  --json <object>\n      All of them as one JSON object; flags override it.\n");
    }
    text.push_str("\nReturns: ");
    text.push_str(&function.returns().map_or_else(|| "nothing".to_owned(), |ty| clean(&type_text(ty, DEPTH))));
    text.push('\n');
    if let Some(payload) = function.fails_with() {
        let payload = payload.map_or_else(|| "no payload".to_owned(), |ty| clean(&type_text(ty, DEPTH)));
        let _ = writeln!(text, "Fails with: {payload}");
    }
    text
}

/// Method in a listing.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Canonical name of the method.
    pub method: &'a str,
    /// Command in the shell: the words of the method, or others before them.
    pub command: &'a str,
    /// Docs by the author.
    pub docs: Option<&'a str>,
}

/// Lists the methods that begin with `prefix`, each with the first sentence of its docs, in the order of `entries`.
/// Returns `None` if no method begins with it.
#[must_use]
pub fn listing(prefix: &str, entries: &[Entry<'_>]) -> Option<String> {
    let below = |method: &str| {
        prefix.is_empty() || method.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let entries = || entries.iter().filter(|entry| below(entry.method));
    let first = entries().next()?;
    let found: Vec<(&str, String)> =
        entries().map(|entry| (entry.command, clean(&first_sentence(entry.docs.unwrap_or_default())))).collect();
    let width = found.iter().map(|(name, _)| name.len()).max().unwrap_or_default().min(40);
    let mut text = String::new();
    if prefix.is_empty() {
        text.push_str("Tools:\n");
    } else {
        let before = first.command.strip_suffix(&first.method.replace('/', " ")).unwrap_or_default();
        let _ = writeln!(text, "Usage: {before}{} <command> [flags]\n\nCommands:", prefix.replace('/', " "));
    }
    for (name, docs) in found {
        let _ = writeln!(text, "  {}", format!("{name:width$}  {docs}").trim_end());
    }
    Some(text)
}

/// Writes one flag with its docs; the fields of a record follow as flags of their own.
fn flag(text: &mut String, field: &Field, prefix: &str) {
    let name = format!("{prefix}{}", field.name);
    let required = if field.is_optional() { "" } else { ", required" };
    let head = words::form(field, prefix);
    let repeated = if words::grows(&field.ty) { ", may be repeated" } else { "" };
    let (ty, default) = given_and_default(field);
    let _ = writeln!(text, "  {head}  ({}{default}{required}{repeated})", clean(&type_text(ty, 1)));
    let type_docs = field.ty.definition.as_ref().and_then(|definition| definition.docs.as_ref());
    if let Some(docs) = field.docs.as_ref().or(type_docs) {
        paragraph(text, 6, docs);
    }
    // One level only: deeper records are given as JSON, or by flags that the pattern suggests.
    if let (Some(fields), true) = (words::dotted(field), prefix.is_empty()) {
        for inner in fields.iter() {
            flag(text, inner, &format!("{name}."));
        }
    }
}

/// Returns the type of a value that is given for a field, and what is told of its default. A field with a default is
/// optional: it is left out, and not null.
fn given_and_default(field: &Field) -> (&Type, String) {
    match (&field.ty.shape, &field.default) {
        (Shape::Option(inner), Some(default)) if !default.is_null() => {
            let text = clean(&default.to_string());
            let shown = if text.chars().count() > MAX_DEFAULT {
                "with a default".to_owned()
            } else {
                format!("default {text}")
            };
            (inner, format!(", {shown}"))
        }
        _ => (&field.ty, String::new()),
    }
}

/// Formats a type in WIT syntax, written out to some depth.
fn type_text(ty: &Type, depth: usize) -> String {
    let named = |word: &str| ty.definition.as_ref().map_or_else(|| word.to_owned(), |d| d.name.clone());
    let Some(deeper) = depth.checked_sub(1) else {
        return named(ty.shape.word());
    };
    match &ty.shape {
        Shape::List(inner) => format!("list<{}>", type_text(inner, deeper)),
        Shape::FixedList(inner, count) => format!("list<{}, {count}>", type_text(inner, deeper)),
        Shape::Option(inner) => format!("{} or null", type_text(inner, depth)),
        Shape::Tuple(members) => {
            format!("tuple<{}>", members.iter().map(|m| type_text(m, deeper)).collect::<Vec<_>>().join(", "))
        }
        Shape::Record(fields) if depth > 1 => {
            let field = |f: &Field| format!("{}: {}", f.camel, type_text(&f.ty, deeper));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Shape::Variant(cases) if depth > 1 => {
            let case = |case: &super::types::Case| match &case.ty {
                Some(ty) => format!("{}({})", case.name, type_text(ty, deeper)),
                None => case.name.clone(),
            };
            cases.iter().map(case).collect::<Vec<_>>().join(" | ")
        }
        Shape::Enum(cases) if depth > 1 => cases.iter().map(|case| case.name.clone()).collect::<Vec<_>>().join(" | "),
        Shape::Flags(cases) if depth > 1 => {
            format!("flags<{}>", cases.iter().map(|case| case.name.clone()).collect::<Vec<_>>().join(", "))
        }
        Shape::Result { ok, err } => {
            let side =
                |side: &Option<Box<Type>>| side.as_ref().map_or_else(|| "_".to_owned(), |ty| type_text(ty, deeper));
            format!("result<{}, {}>", side(ok), side(err))
        }
        Shape::Map(key, item) => format!("map<{}, {}>", type_text(key, deeper), type_text(item, deeper)),
        Shape::Own(resource) | Shape::Borrow(resource) => format!("handle of {}", resource.name),
        shape => named(shape.word()),
    }
}

/// Collapses text into one line, without control characters.
fn clean(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().filter(|c| !c.is_control()).collect()
}

/// Writes docs as paragraphs: keeps blank lines, and fills lines to the width.
fn paragraph(text: &mut String, indent: usize, docs: &str) {
    let margin = " ".repeat(indent);
    for (index, block) in docs.trim().split("\n\n").enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let mut line = String::new();
        for word in clean(block).split(' ') {
            if !line.is_empty() && indent + line.len() + 1 + word.len() > WIDTH {
                let _ = writeln!(text, "{margin}{line}");
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        let _ = writeln!(text, "{margin}{line}");
    }
}

/// Returns the first sentence of a text, on one line, or its first paragraph if it has no sentence.
#[must_use]
pub fn first_sentence(text: &str) -> String {
    let paragraph: Vec<&str> = text.trim().lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let ends = paragraph.match_indices(['.', '!', '?']);
    // A sentence ends where the next one begins with a capital: not in `0.5`, `e.g. this`, `(e.g. 1.2)`.
    let end = ends.map(|(at, _)| at + 1).find(|at| {
        let mut rest = paragraph[*at..].chars();
        matches!((rest.next(), rest.next()), (Some(' '), Some(next)) if next.is_uppercase())
    });
    paragraph[..end.unwrap_or(paragraph.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::reflect::DefaultInterface;
    use super::super::reflect::tests::from_wit;
    use super::*;

    #[test]
    fn help_of_a_method_lists_its_flags() {
        let package = from_wit(
            "package acme:pay@1.0.0; interface i {
                record point { x: f64, y: f64 }
                enum currency { eur, us-dollar }
                /// A payment.
                record charge {
                    /// In cents.
                    amount: u64,
                    at: option<point>,
                }
                /// Makes a charge. It is final.
                ///
                /// And more.
                create: func(charge: charge, currency: currency, tag: list<string>, dry-run: option<bool>) -> result<charge, string>;
            } world w { export i; }",
            &DefaultInterface::Only,
        );
        let text = method("pay create", &package.functions[0]);
        let expected = "\
Usage: pay create --charge <json> --currency <eur|us-dollar> --tag <string>… [--[no-]dry-run]

Makes a charge. It is final.

And more.

Flags:
  --charge <json>  (charge, required)
      A payment.
  --charge.amount <u64>  (u64, required)
      In cents.
  --charge.at <json>  (point or null)
  --currency <eur|us-dollar>  (currency, required)
  --tag <string>…  (list<string>, required, may be repeated)
  --[no-]dry-run  (bool or null)
  --json <object>
      All of them as one JSON object; flags override it.

Returns: {amount: u64, at: {x: f64, y: f64} or null}
Fails with: string
";
        assert_eq!(text, expected);
    }

    #[test]
    fn listings_show_what_is_below() {
        let entry = |method, command, docs| Entry { method, command, docs };
        let entries = [
            entry("pay/create", "pay create", Some("Makes a charge. It is final.")),
            entry("pay/charges/list", "pay charges list", None),
            entry("payment/x", "payment x", Some("X")),
            entry("echo/say", "tool echo say", None),
        ];
        assert_eq!(
            listing("pay", &entries).as_deref(),
            Some(
                "Usage: pay <command> [flags]\n\nCommands:\n  pay create        Makes a charge.\n  pay charges list\n"
            )
        );
        assert_eq!(
            listing("echo", &entries).as_deref(),
            Some("Usage: tool echo <command> [flags]\n\nCommands:\n  tool echo say\n")
        );
        assert_eq!(listing("nothing", &entries), None);
        assert!(listing("", &entries).is_some_and(|text| text.starts_with("Tools:\n") && text.lines().count() == 5));
        let hostile = listing("", &[entry("a", "a", Some("red \x1b[31m\n\n"))]).expect("one");
        assert!(!hostile.contains('\x1b'));
    }

    #[test]
    fn description_is_cut_after_its_first_sentence() {
        assert_eq!(first_sentence("Lists names,\nsorted. More."), "Lists names, sorted.");
        assert_eq!(first_sentence("Rounds to 0.5 (e.g. 1.2). Then stops."), "Rounds to 0.5 (e.g. 1.2).");
        assert_eq!(first_sentence("One line\nand another\n\nA paragraph."), "One line and another");
        assert_eq!((first_sentence(""), first_sentence("Ends.")), (String::new(), "Ends.".to_owned()));
    }
}
