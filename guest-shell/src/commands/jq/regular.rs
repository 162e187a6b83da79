//! Regular expressions: `match` and the functions based on it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fancy_regex::{Captures, Regex, RegexBuilder};

use super::failure::Failure;
use super::term::NativeFn;
use super::value::Val;

type Given = Result<Val, Failure>;

/// Name, number of arguments, and implementation of each function.
pub(crate) const TABLE: &[(&str, usize, NativeFn)] = &[("_match", 3, |_, input, arguments| {
    let (expression, flags, test) = (&arguments[0], &arguments[1], arguments[2].is_true());
    matches(&input, expression, flags, test)
})];

/// Number of cached expressions. A program with more of them starts with an empty cache again.
const MAX_KEPT: usize = 64;

/// Number of backtracks after which a search is aborted.
const MAX_BACKTRACKS: usize = 5_000_000;

thread_local! {
    static KEPT: RefCell<HashMap<(String, String), Rc<Regex>>> = RefCell::default();
}

/// Flags of a search that are not part of its expression.
#[derive(Clone, Copy, Default)]
struct Flags {
    global: bool,
    skip_empty: bool,
}

fn read_flags(text: &str) -> Result<(Flags, String), Failure> {
    let (mut flags, mut inline) = (Flags::default(), String::new());
    for flag in text.chars() {
        match flag {
            'g' => flags.global = true,
            'n' => flags.skip_empty = true,
            'i' => inline.push('i'),
            'x' => inline.push('x'),
            // Line ends are not special anyway, and `l` has no effect in jq 1.8.2 either.
            's' | 'l' => {}
            'm' | 'p' => inline.push('s'),
            _ => return Err(Failure::new(format!("{text} is not a valid modifier string"))),
        }
    }
    Ok((flags, inline))
}

fn compiled(expression: &str, inline: &str, line_end: bool) -> Result<Rc<Regex>, Failure> {
    let text = translated(expression, line_end);
    let key = (text.clone(), inline.to_owned());
    if let Some(regex) = KEPT.with_borrow(|kept| kept.get(&key).cloned()) {
        return Ok(regex);
    }
    let text = if inline.is_empty() { text } else { format!("(?{inline}){text}") };
    let built = RegexBuilder::new(&text).backtrack_limit(MAX_BACKTRACKS).build();
    let regex = Rc::new(built.map_err(|error| Failure::new(format!("Regex failure: {error}")))?);
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, Rc::clone(&regex));
    });
    Ok(regex)
}

/// Translates Oniguruma's syntax to Rust's. `$` also matches before a line break at the end of the text. The look-ahead
/// for it is only added if the text has one, since it makes a search backtrack, which takes very long with some
/// expressions.
fn translated(expression: &str, line_end: bool) -> String {
    let end = if line_end { "(?=\\n?\\z)" } else { "\\z" };
    let mut out = String::with_capacity(expression.len());
    let (mut escaped, mut class) = (false, 0_usize);
    for letter in expression.chars() {
        match letter {
            _ if escaped => {
                escaped = false;
                match letter {
                    'h' => out.push_str("[0-9a-fA-F]"),
                    'H' => out.push_str("[^0-9a-fA-F]"),
                    'Z' => out.push_str(end),
                    _ => {
                        out.push('\\');
                        out.push(letter);
                    }
                }
                continue;
            }
            '\\' => {
                escaped = true;
                continue;
            }
            '[' => class += 1,
            ']' => class = class.saturating_sub(1),
            '$' if class == 0 => {
                out.push_str(end);
                continue;
            }
            _ => {}
        }
        out.push(letter);
    }
    if escaped {
        out.push('\\');
    }
    out
}

fn matches(input: &Val, expression: &Val, flags: &Val, test: bool) -> Given {
    let Some(text) = input.as_str() else {
        return Err(Failure::about(input, "cannot be matched, as it is not a string"));
    };
    let Some(expression) = expression.as_str() else {
        return Err(Failure::about(expression, "is not a string"));
    };
    let (flags, inline) = match flags {
        Val::Null => Default::default(),
        Val::Str(flags) => read_flags(flags)?,
        other => return Err(Failure::about(other, "is not a string")),
    };
    let regex = compiled(expression, &inline, text.ends_with('\n'))?;
    let names: Vec<Option<&str>> = regex.capture_names().collect();
    let mut found = Vec::new();
    let mut characters = Characters { text, byte: 0, count: 0 };
    let mut from = 0;
    while from <= text.len() {
        let captures =
            regex.captures_from_pos(text, from).map_err(|error| Failure::new(format!("Regex failure: {error}")))?;
        let Some(captures) = captures else { break };
        let Some(whole) = captures.get(0) else { break };
        let (start, end) = (whole.start(), whole.end());
        from = if end > start { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) };
        if start == end && flags.skip_empty {
            continue;
        }
        if test {
            return Ok(Val::Bool(true));
        }
        found.push(described(text, &captures, (start, end), &names, &mut characters));
        if !flags.global {
            break;
        }
    }
    Ok(if test { Val::Bool(false) } else { Val::array(found) })
}

/// Converter of increasing byte positions to numbers of characters.
struct Characters<'a> {
    text: &'a str,
    byte: usize,
    count: usize,
}

impl Characters<'_> {
    fn before(&mut self, byte: usize) -> Val {
        if byte < self.byte {
            return Val::from(self.text[..byte].chars().count());
        }
        self.count += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        Val::from(self.count)
    }
}

fn described(
    text: &str,
    captures: &Captures<'_, str>,
    (start, end): (usize, usize),
    names: &[Option<&str>],
    characters: &mut Characters<'_>,
) -> Val {
    let offset = characters.before(start);
    let mut groups = Vec::new();
    for (at, name) in names.iter().enumerate().skip(1) {
        let name = name.map_or(Val::Null, Val::from);
        groups.push(match captures.get(at) {
            // For an empty group, jq has another order of keys.
            Some(group) if group.start() == group.end() => Val::record([
                ("offset", characters.before(group.start())),
                ("string", Val::from("")),
                ("length", Val::from(0.0)),
                ("name", name),
            ]),
            Some(group) => Val::record([
                ("offset", characters.before(group.start())),
                ("length", Val::from(group.as_str().chars().count())),
                ("string", Val::from(group.as_str())),
                ("name", name),
            ]),
            None => Val::record([
                ("offset", Val::from(-1.0)),
                ("string", Val::Null),
                ("length", Val::from(0.0)),
                ("name", name),
            ]),
        });
    }
    let whole = &text[start..end];
    Val::record([
        ("offset", offset),
        ("length", Val::from(whole.chars().count())),
        ("string", Val::from(whole)),
        ("captures", Val::array(groups)),
    ])
}
