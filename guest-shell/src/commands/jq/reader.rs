//! JSON texts, one after another, as jq reads them: its tolerance, its messages, and its events (`--stream`).

use std::rc::Rc;

use super::number::Number;
use super::value::{Members, Val};

/// Values nested deeper than this are refused.
const MAX_DEPTH: usize = 10_000;

type Parsed<T> = Result<T, String>;

/// A container that has begun.
enum Open {
    Array(Vec<Val>),
    Object(Members, Option<Rc<str>>),
}

/// State of the tokenizer.
#[derive(PartialEq)]
enum State {
    Normal,
    Text,
    Escape,
}

/// The positions within the containers around, for `--stream`.
#[derive(Default)]
struct Events {
    path: Vec<Val>,
    /// What has been made and not yet taken.
    ready: std::collections::VecDeque<Val>,
}

/// Reads the values of a text.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The length of the byte order mark, which is skipped.
    mark: usize,
    at: usize,
    line: usize,
    column: usize,
    state: State,
    token: Vec<u8>,
    stack: Vec<Open>,
    next: Option<Val>,
    events: Option<Events>,
    failed: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        Self {
            bytes: text,
            mark: bytes.len() - text.len(),
            at: 0,
            line: 1,
            column: 0,
            state: State::Normal,
            token: Vec::new(),
            stack: Vec::new(),
            next: None,
            events: None,
            failed: false,
        }
    }

    /// Reads events instead of values: `[path, leaf]` and `[path]`.
    pub(crate) fn streaming(bytes: &'a [u8]) -> Self {
        Self { events: Some(Events::default()), ..Self::new(bytes) }
    }

    /// Returns how many bytes have been read, those of a byte order mark included.
    pub(crate) fn position(&self) -> usize {
        self.at + self.mark
    }

    /// Returns where in the containers reading stands, while streaming.
    pub(crate) fn path(&self) -> Val {
        Val::array(self.events.as_ref().map(|events| events.path.clone()).unwrap_or_default())
    }

    /// Reads the next value; after an error there is none.
    pub(crate) fn read(&mut self) -> Option<Parsed<Val>> {
        if let Some(event) = self.take_event() {
            return Some(Ok(event));
        }
        while let Some(&byte) = self.bytes.get(self.at).filter(|_| !self.failed) {
            self.at += 1;
            match self.scan(byte) {
                Ok(Some(value)) => return Some(Ok(value)),
                Ok(None) => {}
                Err(message) => return Some(Err(self.fail(&message, ""))),
            }
        }
        if self.failed {
            return None;
        }
        self.finish()
    }

    fn fail(&mut self, message: &str, end: &str) -> String {
        self.failed = true;
        format!("{message} at {end}line {}, column {}", self.line, self.column)
    }

    fn finish(&mut self) -> Option<Parsed<Val>> {
        let unfinished = if let Err(message) = self.end_literal() {
            Some(message)
        } else if self.state != State::Normal {
            Some("Unfinished string".to_owned())
        } else if !self.stack.is_empty() {
            Some("Unfinished JSON term".to_owned())
        } else {
            None
        };
        match unfinished {
            Some(message) => {
                self.state = State::Normal;
                Some(Err(self.fail(&message, "EOF at ")))
            }
            None => self.done().map(Ok),
        }
    }

    fn take_event(&mut self) -> Option<Val> {
        self.events.as_mut()?.ready.pop_front()
    }

    /// Takes the value that is complete, if one is.
    fn done(&mut self) -> Option<Val> {
        if self.events.is_some() {
            if let Some(value) = self.next.take_if(|_| self.stack.is_empty()) {
                self.emit(Some(value));
            }
            return self.take_event();
        }
        self.next.take_if(|_| self.stack.is_empty())
    }

    fn scan(&mut self, byte: u8) -> Parsed<Option<Val>> {
        self.column += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        }
        match self.state {
            State::Normal => match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x1e => self.end_literal()?,
                b'"' => {
                    self.end_literal()?;
                    self.state = State::Text;
                }
                b'[' | b']' | b'{' | b'}' | b',' | b':' => {
                    self.end_literal()?;
                    // A number directly before a container is a value of its own.
                    let before = self.done();
                    self.structure(byte)?;
                    if before.is_some() {
                        return Ok(before);
                    }
                }
                _ => {
                    self.token.push(byte);
                    return Ok(None);
                }
            },
            State::Text if byte == b'"' => {
                self.state = State::Normal;
                let text = self.unescaped()?;
                self.value(Val::string(text))?;
            }
            State::Text | State::Escape => {
                let escape = self.state == State::Text && byte == b'\\';
                self.state = if escape { State::Escape } else { State::Text };
                self.token.push(byte);
                return Ok(None);
            }
        }
        Ok(self.done())
    }

    fn value(&mut self, value: Val) -> Parsed<()> {
        if self.next.is_some() {
            return Err("Expected separator between values".to_owned());
        }
        self.next = Some(value);
        Ok(())
    }

    fn end_literal(&mut self) -> Parsed<()> {
        if self.state != State::Normal || self.token.is_empty() {
            return Ok(());
        }
        let token = std::mem::take(&mut self.token);
        let value = literal(&token)?;
        self.value(value)
    }

    fn unescaped(&mut self) -> Parsed<String> {
        let token = std::mem::take(&mut self.token);
        let text = String::from_utf8_lossy(&token);
        if text.bytes().any(|byte| byte < b' ') {
            let message = "Invalid string: control characters from U+0000 through U+001F must be escaped";
            return Err(message.to_owned());
        }
        if text.contains('\\') { unescape(&text) } else { Ok(text.into_owned()) }
    }

    fn structure(&mut self, byte: u8) -> Parsed<()> {
        match byte {
            b'[' | b'{' => self.open(byte),
            b':' => self.colon(),
            b',' => self.comma(),
            b']' => self.close_array(),
            _ => self.close_object(),
        }
    }

    fn open(&mut self, byte: u8) -> Parsed<()> {
        if self.stack.len() >= MAX_DEPTH {
            return Err("Exceeds depth limit for parsing".to_owned());
        }
        if self.next.is_some() {
            return Err("Expected separator between values".to_owned());
        }
        let array = byte == b'[';
        self.stack.push(if array { Open::Array(Vec::new()) } else { Open::Object(Members::default(), None) });
        if let Some(events) = &mut self.events {
            events.path.push(if array { Val::from(0.0) } else { Val::Null });
        }
        Ok(())
    }

    fn colon(&mut self) -> Parsed<()> {
        let Some(Open::Object(_, key)) = self.stack.last_mut() else {
            return Err("':' not as part of an object".to_owned());
        };
        match self.next.take() {
            None => Err("Expected string key before ':'".to_owned()),
            Some(_) if key.is_some() => Err("':' should follow a key".to_owned()),
            Some(Val::Str(text)) => {
                *key = Some(Rc::from(text.as_str()));
                if let Some(place) = self.events.as_mut().and_then(|it| it.path.last_mut()) {
                    *place = Val::Str(text);
                }
                Ok(())
            }
            Some(_) => Err("Object keys must be strings".to_owned()),
        }
    }

    /// Puts the value that has been read into the container around it. While streaming, a container holds nulls only.
    fn put(&mut self, value: Val) -> Parsed<()> {
        let kept = if self.events.is_some() { Val::Null } else { value.clone() };
        match self.stack.last_mut() {
            Some(Open::Array(elements)) => elements.push(kept),
            Some(Open::Object(members, key)) => match key.take() {
                Some(key) => drop(members.insert(key, kept)),
                None => return Err("Objects must consist of key:value pairs".to_owned()),
            },
            None => return Err("',' not as part of an object".to_owned()),
        }
        // A container has made its own events.
        if self.events.is_some() && !matches!(value, Val::Arr(_) | Val::Obj(_)) {
            self.emit(Some(value));
        }
        Ok(())
    }

    fn comma(&mut self) -> Parsed<()> {
        let Some(value) = self.next.take() else {
            return Err("Expected value before ','".to_owned());
        };
        self.put(value)?;
        if let (Some(events), Some(Open::Array(elements))) = (&mut self.events, self.stack.last())
            && let Some(place) = events.path.last_mut()
        {
            *place = Val::from(elements.len());
        }
        Ok(())
    }

    fn close_array(&mut self) -> Parsed<()> {
        if !matches!(self.stack.last(), Some(Open::Array(_))) {
            return Err("Unmatched ']'".to_owned());
        }
        if let Some(value) = self.next.take() {
            self.put(value)?;
        } else if matches!(self.stack.last(), Some(Open::Array(elements)) if !elements.is_empty()) {
            return Err("Expected another array element".to_owned());
        }
        if let Some(Open::Array(elements)) = self.stack.pop() {
            self.closed(elements.is_empty(), Val::array(elements));
        }
        Ok(())
    }

    fn close_object(&mut self) -> Parsed<()> {
        let Some(Open::Object(members, key)) = self.stack.last() else {
            let after = self.next.is_some() && !self.stack.is_empty();
            let message = if after { "Objects must consist of key:value pairs" } else { "Unmatched '}'" };
            return Err(message.to_owned());
        };
        let (empty, after_key) = (members.is_empty(), key.is_some());
        if let Some(value) = self.next.take() {
            self.put(value)?;
        } else if after_key {
            return Err("Unmatched '}'".to_owned());
        } else if !empty {
            return Err("Expected another key-value pair".to_owned());
        }
        if let Some(Open::Object(members, _)) = self.stack.pop() {
            self.closed(members.is_empty(), Val::object(members));
        }
        Ok(())
    }

    fn closed(&mut self, empty: bool, value: Val) {
        let Some(events) = &mut self.events else {
            self.next = Some(value);
            return;
        };
        if empty {
            events.path.pop();
            self.emit(Some(value.clone()));
        } else {
            self.emit(None);
            if let Some(events) = &mut self.events {
                events.path.pop();
            }
        }
        if !self.stack.is_empty() {
            self.next = Some(value);
        }
    }

    /// Makes an event: of a leaf, or of the end of a container.
    fn emit(&mut self, leaf: Option<Val>) {
        if let Some(events) = &mut self.events {
            let path = Val::array(events.path.clone());
            events.ready.push_back(Val::array(std::iter::once(path).chain(leaf).collect()));
        }
    }
}

/// Reads a word: a constant or a number.
fn literal(token: &[u8]) -> Parsed<Val> {
    let constant = match token[0] {
        b't' => Some(("true", Val::Bool(true))),
        b'f' => Some(("false", Val::Bool(false))),
        b'n' if !token.starts_with(b"nan") => Some(("null", Val::Null)),
        b'\'' => return Err("Invalid string literal; expected \", but got '".to_owned()),
        _ => None,
    };
    if let Some((text, value)) = constant {
        return if token == text.as_bytes() { Ok(value) } else { Err("Invalid literal".to_owned()) };
    }
    let text = std::str::from_utf8(token).ok();
    text.and_then(number).ok_or_else(|| "Invalid numeric literal".to_owned())
}

/// Reads a number, NaN and the infinities among them.
pub(crate) fn number(text: &str) -> Option<Val> {
    if let Some(number) = Number::parse(text) {
        return Some(Val::Num(number));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = match unsigned.to_ascii_lowercase().as_str() {
        "nan" => f64::NAN,
        "infinity" | "inf" => f64::INFINITY,
        _ => return None,
    };
    Some(Val::from(if text.starts_with('-') { -value } else { value }))
}

/// Replaces the escapes of a JSON string.
pub(crate) fn unescape(text: &str) -> Parsed<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let letter = rest.as_bytes().get(at + 1).copied();
        rest = rest.get(at + 2..).unwrap_or_default();
        match letter {
            Some(plain @ (b'"' | b'\\' | b'/')) => out.push(char::from(plain)),
            Some(b'n') => out.push('\n'),
            Some(b't') => out.push('\t'),
            Some(b'r') => out.push('\r'),
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'u') => rest = unescape_unit(rest, &mut out)?,
            _ => return Err("Invalid escape".to_owned()),
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn hexadecimal(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Replaces `XXXX` of `\uXXXX`, or both halves of a surrogate pair, and returns what follows.
fn unescape_unit<'a>(rest: &'a str, out: &mut String) -> Parsed<&'a str> {
    let unit = hexadecimal(rest).ok_or("Invalid escape")?;
    let rest = &rest[4..];
    if !(0xD800..0xDC00).contains(&unit) {
        out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Ok(rest);
    }
    let low = rest.strip_prefix("\\u").and_then(hexadecimal).filter(|low| (0xDC00..0xE000).contains(low));
    let low = low.ok_or("Invalid \\uXXXX\\uXXXX surrogate pair escape")?;
    let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok(&rest[6..])
}

/// Reads a text that must be one value: `fromjson`, `--argjson`.
pub(crate) fn read_one(text: &str) -> Parsed<Val> {
    let mut reader = Reader::new(text.as_bytes());
    let failed = |message: String| format!("{message} (while parsing '{text}')");
    match reader.read() {
        None => Err(failed("Expected JSON value".to_owned())),
        Some(Err(message)) => Err(failed(message)),
        Some(Ok(value)) => match reader.read() {
            None => Ok(value),
            Some(Ok(_)) => Err(failed("Unexpected extra JSON values".to_owned())),
            Some(Err(message)) => Err(failed(message)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Reader, read_one};
    use crate::commands::jq::writer::compact;

    fn events(text: &str) -> Vec<String> {
        let mut reader = Reader::streaming(text.as_bytes());
        std::iter::from_fn(|| reader.read()).map(|it| it.map_or_else(|error| error, |it| compact(&it))).collect()
    }

    #[test]
    fn broken_text_says_where() {
        let cases = [
            ("[1 2]", "Expected separator between values at line 1, column 5"),
            ("{\"a\":}", "Unmatched '}' at line 1, column 6"),
            ("tru", "Invalid literal at EOF at line 1, column 3"),
            ("\"abc", "Unfinished string at EOF at line 1, column 4"),
            ("[1,]", "Expected another array element at line 1, column 4"),
        ];
        for (text, message) in cases {
            let error = read_one(text).err().unwrap_or_default();
            assert_eq!(error, format!("{message} (while parsing '{text}')"));
        }
    }

    #[test]
    fn streamed_text_gives_events_until_it_breaks() {
        assert_eq!(
            events("{\"a\":[1,{}]} 3"),
            ["[[\"a\",0],1]", "[[\"a\",1],{}]", "[[\"a\",1]]", "[[\"a\"]]", "[[],3]",]
        );
        assert_eq!(events("[]"), ["[[],[]]"]);
        assert_eq!(events("[1,[2"), ["[[0],1]", "Unfinished JSON term at EOF at line 1, column 5"]);
    }
}
