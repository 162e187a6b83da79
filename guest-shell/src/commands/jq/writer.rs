//! Values as JSON text: compact, indented, sorted, in ASCII, in colour.

use std::fmt::Write as _;

use super::value::{MAX_DEPTH, Val};

/// The colours of null, false, true, numbers, strings, arrays, objects and keys, as terminal codes.
const DEFAULT_COLORS: [&str; 8] = ["0;90", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "1;34"];

/// Escape sequences by kind of value.
#[derive(Clone)]
pub(crate) struct Colors([String; 8]);

impl Default for Colors {
    fn default() -> Self {
        Self(DEFAULT_COLORS.map(|color| format!("\x1b[{color}m")))
    }
}

impl Colors {
    /// Parses the colours of `JQ_COLORS`. Missing fields keep the defaults. Returns `None` if one of the first seven is
    /// invalid; jq ignores an invalid eighth one, which was added later.
    pub(crate) fn parse(setting: &str) -> Option<Self> {
        let valid = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        let mut colors = Self::default();
        if setting.is_empty() {
            return Some(colors);
        }
        for (at, (color, field)) in colors.0.iter_mut().zip(setting.split(':')).enumerate() {
            match valid(field) {
                true => *color = format!("\x1b[{field}m"),
                false if at < 7 => return None,
                false => {}
            }
        }
        Some(colors)
    }

    fn of(&self, value: &Val) -> &str {
        let at = match value {
            Val::Null => 0,
            Val::Bool(false) => 1,
            Val::Bool(true) => 2,
            Val::Num(_) => 3,
            Val::Str(_) => 4,
            Val::Arr(_) => 5,
            Val::Obj(_) => 6,
        };
        &self.0[at]
    }
}

const RESET: &str = "\x1b[0m";

/// The layout of the text.
#[derive(Clone, Default)]
pub(crate) struct Layout {
    /// Indentation of a level; `None` prints everything on one line.
    pub(crate) indent: Option<String>,
    pub(crate) sort_keys: bool,
    pub(crate) ascii: bool,
    pub(crate) colors: Option<Colors>,
}

/// Returns a value as text on one line.
pub(crate) fn compact(value: &Val) -> String {
    let mut out = String::new();
    write(&mut out, value, &Layout::default());
    out
}

/// Writes a string with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str, ascii: bool) {
    out.push('"');
    let mut plain = 0;
    for (at, character) in text.char_indices() {
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\t' => "\\t",
            '\r' => "\\r",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            ' '..='~' => continue,
            '\u{80}'.. if !ascii => continue,
            _ => "",
        };
        out.push_str(&text[plain..at]);
        plain = at + character.len_utf8();
        out.push_str(short);
        if short.is_empty() {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// A container that is being written.
enum Open<'a> {
    Array(std::slice::Iter<'a, Val>),
    Object(std::vec::IntoIter<(&'a str, &'a Val)>),
}

struct Writer<'a, 'b> {
    out: &'a mut String,
    layout: &'a Layout,
    open: Vec<(Open<'b>, &'b Val, bool)>,
}

/// Writes a value as JSON.
pub(crate) fn write(out: &mut String, value: &Val, layout: &Layout) {
    let mut writer = Writer { out, layout, open: Vec::new() };
    writer.begin(value);
    while let Some((open, container, first)) = writer.open.pop() {
        writer.go_on(open, container, first);
    }
}

impl<'b> Writer<'_, 'b> {
    fn line_break(&mut self, depth: usize) {
        if let Some(indent) = &self.layout.indent {
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str(indent);
            }
        }
    }

    /// Writes a text in the colour of a value.
    fn colored(&mut self, value: &Val, text: &str) {
        match &self.layout.colors {
            Some(colors) => {
                self.out.push_str(colors.of(value));
                self.out.push_str(text);
                self.out.push_str(RESET);
            }
            None => self.out.push_str(text),
        }
    }

    fn begin(&mut self, value: &'b Val) {
        if self.open.len() > MAX_DEPTH {
            // This is not JSON, as in jq.
            self.out.push_str("<skipped: too deep>");
            return;
        }
        match value {
            Val::Arr(array) if array.0.is_empty() => self.colored(value, "[]"),
            Val::Obj(object) if object.0.is_empty() => self.colored(value, "{}"),
            Val::Arr(array) => {
                self.colored(value, "[");
                self.open.push((Open::Array(array.0.iter()), value, true));
            }
            Val::Obj(object) => {
                self.colored(value, "{");
                let members: Vec<(&str, &Val)> = match self.layout.sort_keys {
                    true => object.sorted().into_iter().map(|(name, value)| (&**name, value)).collect(),
                    false => object.0.iter().map(|(name, value)| (&**name, value)).collect(),
                };
                self.open.push((Open::Object(members.into_iter()), value, true));
            }
            scalar => {
                let color = self.layout.colors.as_ref().map(|it| it.of(scalar));
                self.out.push_str(color.unwrap_or_default());
                self.scalar(scalar);
                self.out.push_str(if color.is_some() { RESET } else { "" });
            }
        }
    }

    fn scalar(&mut self, value: &Val) {
        match value {
            Val::Bool(true) => self.out.push_str("true"),
            Val::Bool(false) => self.out.push_str("false"),
            Val::Num(number) => {
                // Writing to a string does not fail.
                let _ = write!(self.out, "{number}");
            }
            Val::Str(text) => write_string(self.out, text, self.layout.ascii),
            _ => self.out.push_str("null"),
        }
    }

    /// Writes the next element of a container, or its end.
    fn go_on(&mut self, mut open: Open<'b>, container: &'b Val, first: bool) {
        let depth = self.open.len();
        let next = match &mut open {
            Open::Array(elements) => elements.next().map(|value| (None, value)),
            Open::Object(members) => members.next().map(|(name, value)| (Some(name), value)),
        };
        let Some((name, value)) = next else {
            self.line_break(depth);
            return self.colored(container, if matches!(open, Open::Object(_)) { "}" } else { "]" });
        };
        if !first {
            self.colored(container, ",");
        }
        self.line_break(depth + 1);
        if let Some(name) = name {
            self.write_name(name, container);
        }
        self.open.push((open, container, false));
        self.begin(value);
    }

    fn write_name(&mut self, name: &str, container: &Val) {
        let color = self.layout.colors.as_ref().map(|it| it.0[7].clone());
        self.out.push_str(color.as_deref().unwrap_or_default());
        write_string(self.out, name, self.layout.ascii);
        self.out.push_str(if color.is_some() { RESET } else { "" });
        self.colored(container, ":");
        if self.layout.indent.is_some() {
            self.out.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Colors;

    #[test]
    fn colors_that_are_wrong_are_refused() {
        for setting in ["/", "[30", "30m", "30:31m:32", "30:*:31", "invalid"] {
            assert!(Colors::parse(setting).is_none(), "{setting}");
        }
        let last = |setting: &str| Colors::parse(setting).map(|colors| colors.0[7].clone());
        assert_eq!(last("1:2:3:4:5:6:7:x").as_deref(), Some("\x1b[1;34m"));
        assert_eq!(last("1:2:3:4:5:6:7:8:x").as_deref(), Some("\x1b[8m"));
        assert_eq!(Colors::parse("").map(|colors| colors.0[0].clone()).as_deref(), Some("\x1b[0;90m"));
    }
}
