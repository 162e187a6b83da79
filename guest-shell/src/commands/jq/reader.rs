//! Reader of JSON texts, with jq's tolerance, messages and events (`--stream`).

use std::rc::Rc;

use super::literal::{literal, unescape};
use super::utf8::text_of;
use super::value::{MAX_DEPTH, Members, Val};

/// Record separator, which begins each text of a sequence (`--seq`).
const SEPARATOR: u8 = 0x1e;

type Parsed<T> = Result<T, String>;

/// Container that is open.
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
    /// Everything up to the first record separator is skipped.
    Waiting,
}

/// Positions within the open containers, for `--stream`.
#[derive(Default)]
struct Events {
    path: Vec<Val>,
    /// Path at the last error.
    broken: Vec<Val>,
    /// Events that wait to be taken.
    ready: std::collections::VecDeque<Val>,
}

/// Reader of the values of a text.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// Length of the byte order mark, which is skipped.
    mark: usize,
    at: usize,
    line: usize,
    column: usize,
    state: State,
    token: Vec<u8>,
    stack: Vec<Open>,
    next: Option<Val>,
    /// Number of open containers, and of member names that wait for their values.
    depth: usize,
    events: Option<Events>,
    /// True if the text is a sequence, in which an error only ends one text.
    sequence: bool,
    /// True if the last byte was white space.
    blank: bool,
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
            depth: 0,
            events: None,
            sequence: false,
            blank: false,
            failed: false,
        }
    }

    /// Reads events instead of values: `[path, leaf]` and `[path]`.
    pub(crate) fn streaming(bytes: &'a [u8]) -> Self {
        Self { events: Some(Events::default()), ..Self::new(bytes) }
    }

    /// Reads a sequence of texts, each after a record separator.
    pub(crate) fn of_sequence(self) -> Self {
        Self { sequence: true, state: State::Waiting, ..self }
    }

    /// Returns the number of bytes read, including a byte order mark.
    pub(crate) fn position(&self) -> usize {
        self.at + self.mark
    }

    /// Returns the path of the last error while streaming.
    pub(crate) fn broken_path(&self) -> Val {
        Val::array(self.events.as_ref().map(|events| events.broken.clone()).unwrap_or_default())
    }

    /// Reads the next value. Reading continues after an error that is not at the end of the text.
    pub(crate) fn read(&mut self) -> Option<Parsed<Val>> {
        if let Some(event) = self.take_event() {
            return Some(Ok(event));
        }
        while let Some(&byte) = self.bytes.get(self.at).filter(|_| !self.failed) {
            self.at += 1;
            match self.scan(byte) {
                Ok(Some(value)) => return Some(Ok(value)),
                Ok(None) => {}
                Err(message) => return Some(Err(self.fail(&message, byte))),
            }
        }
        if self.failed {
            return None;
        }
        self.finish()
    }

    /// Returns the message for an error at this byte. In a sequence, reading continues directly after it, and otherwise
    /// on the next line, because jq's parser is given lines.
    fn fail(&mut self, message: &str, byte: u8) -> String {
        let message = format!("{message} at line {}, column {}", self.line, self.column);
        self.reset();
        match (self.sequence, byte) {
            (true, SEPARATOR) => message,
            (true, _) => format!("{message} (need RS to resync)"),
            (false, b'\n') => message,
            (false, _) => {
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
                message
            }
        }
    }

    /// Discards what has been read of a text.
    fn reset(&mut self) {
        (self.state, self.next, self.depth) = (State::Normal, None, 0);
        self.token.clear();
        self.stack.clear();
        if let Some(events) = &mut self.events {
            events.broken = std::mem::take(&mut events.path);
        }
    }

    fn finish(&mut self) -> Option<Parsed<Val>> {
        let Some(message) = self.unfinished() else { return self.done().map(Ok) };
        self.reset();
        self.failed = true;
        Some(Err(format!("{message} at EOF at line {}, column {}", self.line, self.column)))
    }

    /// Returns the error at the end of the text.
    fn unfinished(&mut self) -> Option<String> {
        let message = match self.state {
            State::Waiting => "Unfinished abandoned text",
            State::Text | State::Escape => "Unfinished string",
            State::Normal => match self.end_literal() {
                Err(message) => return Some(message),
                Ok(()) if !self.stack.is_empty() => "Unfinished JSON term",
                Ok(()) if self.events.is_none() && self.ends_in_number() => {
                    "Potentially truncated top-level numeric value"
                }
                Ok(()) => return None,
            },
        };
        Some(message.to_owned())
    }

    /// Returns true if a text of a sequence ends directly after a number, which may be incomplete.
    fn ends_in_number(&self) -> bool {
        self.sequence && !self.blank && self.stack.is_empty() && matches!(self.next, Some(Val::Num(_)))
    }

    /// Begins the next text of a sequence. The previous one must be complete; a number needs white space after it.
    fn separate(&mut self) -> Parsed<Option<Val>> {
        let begun = match &self.events {
            Some(_) => self.next.is_some(),
            None => !self.token.is_empty() || matches!(self.next, Some(Val::Num(_))),
        };
        if (begun || !self.stack.is_empty()) && !self.blank {
            let whole = self.end_literal().is_ok() && self.ends_in_number();
            let message = if whole { "Potentially truncated top-level numeric value" } else { "Truncated value" };
            return Err(message.to_owned());
        }
        self.end_literal()?;
        let done = if self.state == State::Normal { self.done() } else { None };
        if done.is_none() {
            self.reset();
        }
        Ok(done)
    }

    /// Skips a byte before the first separator.
    fn skip(&mut self, byte: u8) {
        self.count(byte);
        if byte == SEPARATOR {
            self.state = State::Normal;
        }
    }

    fn count(&mut self, byte: u8) {
        self.column += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        }
    }

    fn take_event(&mut self) -> Option<Val> {
        self.events.as_mut()?.ready.pop_front()
    }

    /// Takes the complete value, if there is one.
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
        if self.state == State::Waiting {
            self.skip(byte);
            return Ok(None);
        }
        self.count(byte);
        if byte == SEPARATOR && self.sequence {
            return self.separate();
        }
        self.blank = self.state == State::Normal && matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            State::Normal => match byte {
                _ if self.blank => self.end_literal()?,
                b'"' => {
                    self.end_literal()?;
                    self.state = State::Text;
                }
                b'[' | b']' | b'{' | b'}' | b',' | b':' => {
                    self.end_literal()?;
                    // A number directly before a container is a separate value.
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
            State::Text | State::Escape | State::Waiting => {
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
        let text = text_of(&token);
        if text.bytes().any(|byte| byte < b' ') {
            let message = "Invalid string: control characters from U+0000 through U+001F must be escaped";
            return Err(message.to_owned());
        }
        if text.contains('\\') { unescape(&text) } else { Ok(text) }
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
        // While streaming, jq stores no values and has no limit.
        if self.depth >= MAX_DEPTH && self.events.is_none() {
            return Err("Exceeds depth limit for parsing".to_owned());
        }
        if self.next.is_some() {
            return Err(self.either("Expected a separator between values", "Expected separator between values"));
        }
        if let (Some(_), Some(Open::Object(members, None))) = (&self.events, self.stack.last()) {
            let before = if members.is_empty() { "'{'" } else { "',' in object" };
            return Err(format!("Expected string key after {before}, not '{}'", char::from(byte)));
        }
        self.depth += 1;
        let array = byte == b'[';
        self.stack.push(if array { Open::Array(Vec::new()) } else { Open::Object(Members::default(), None) });
        if let Some(events) = &mut self.events {
            events.path.push(if array { Val::from(0.0) } else { Val::Null });
        }
        Ok(())
    }

    /// Returns the first message while streaming, and the second one otherwise: jq has two parsers.
    fn either(&self, streaming: &str, plain: &str) -> String {
        if self.events.is_some() { streaming.to_owned() } else { plain.to_owned() }
    }

    fn colon(&mut self) -> Parsed<()> {
        let (missing, misplaced) = ("Expected string key before ':'", "':' not as part of an object");
        let after_key = matches!(self.stack.last(), Some(Open::Object(_, Some(_))));
        let in_object = matches!(self.stack.last(), Some(Open::Object(..)));
        match &self.next {
            _ if self.stack.is_empty() => return Err(self.either(misplaced, missing)),
            None if self.events.is_none() => return Err(missing.to_owned()),
            _ if !in_object => return Err(misplaced.to_owned()),
            _ if after_key && self.events.is_none() => return Err(misplaced.to_owned()),
            None => return Err(missing.to_owned()),
            Some(Val::Str(_)) if after_key => return Err("':' should follow a key".to_owned()),
            Some(Val::Str(_)) => {}
            Some(_) => return Err("Object keys must be strings".to_owned()),
        }
        if let (Some(Val::Str(text)), Some(Open::Object(_, key))) = (self.next.take(), self.stack.last_mut()) {
            *key = Some(Rc::from(text.as_str()));
            self.depth += 1;
            if let Some(place) = self.events.as_mut().and_then(|it| it.path.last_mut()) {
                *place = Val::Str(text);
            }
        }
        Ok(())
    }

    /// Adds the value that was read to the enclosing container. While streaming, containers only hold nulls.
    fn put(&mut self, value: Val) -> Parsed<()> {
        let kept = if self.events.is_some() { Val::Null } else { value.clone() };
        match self.stack.last_mut() {
            Some(Open::Array(elements)) => elements.push(kept),
            Some(Open::Object(members, key)) => match key.take() {
                Some(key) => {
                    members.insert(key, kept);
                    self.depth -= 1;
                }
                None => return Err("Objects must consist of key:value pairs".to_owned()),
            },
            None => return Err("',' not as part of an object".to_owned()),
        }
        // A container has produced its own events.
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
        if let Some(place) = self.events.as_mut().and_then(|events| events.path.last_mut()) {
            *place = match self.stack.last() {
                Some(Open::Array(elements)) => Val::from(elements.len()),
                _ => Val::Null,
            };
        }
        Ok(())
    }

    fn close_array(&mut self) -> Parsed<()> {
        if !matches!(self.stack.last(), Some(Open::Array(_))) {
            let place = if self.stack.is_empty() { "at the top-level" } else { "in the middle of an object" };
            return Err(self.either(&format!("Unmatched ']' {place}"), "Unmatched ']'"));
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
        let Some(Open::Object(members, key)) = self.stack.last() else { return Err(self.stray_brace()) };
        let (empty, after_key) = (members.is_empty(), key.is_some());
        if let Some(value) = self.next.take() {
            self.put(value)?;
        } else if after_key {
            return Err(self.either("Missing value in key:value pair", "Unmatched '}'"));
        } else if !empty {
            return Err(self.either("Expected another key:value pair", "Expected another key-value pair"));
        }
        if let Some(Open::Object(members, _)) = self.stack.pop() {
            self.closed(members.is_empty(), Val::object(members));
        }
        Ok(())
    }

    /// Returns the message about a brace that does not close an object.
    fn stray_brace(&self) -> String {
        let Some(Open::Array(elements)) = self.stack.last() else {
            return self.either("Unmatched '}' at the top-level", "Unmatched '}'");
        };
        let after_value = self.next.is_some();
        // While streaming, jq mistakes the array for an object here.
        let after_comma = !after_value && !elements.is_empty();
        let streaming =
            if after_comma { "Expected another key:value pair" } else { "Unmatched '}' in the middle of an array" };
        let plain = if after_value { "Objects must consist of key:value pairs" } else { "Unmatched '}'" };
        self.either(streaming, plain)
    }

    fn closed(&mut self, empty: bool, value: Val) {
        self.depth -= 1;
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

    /// Emits the event of a leaf, or of the end of a container.
    fn emit(&mut self, leaf: Option<Val>) {
        if let Some(events) = &mut self.events {
            let path = Val::array(events.path.clone());
            events.ready.push_back(Val::array(std::iter::once(path).chain(leaf).collect()));
        }
    }
}

/// Parses a text that must be one value: `fromjson`, `--argjson`.
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
    fn object_counts_twice_for_the_depth() {
        let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(read_one(&nested(5_000)).is_ok());
        let error = read_one(&nested(5_001)).err().unwrap_or_default();
        assert!(error.starts_with("Exceeds depth limit for parsing at line 1, column 25001 "), "{}", &error[..80]);
    }

    #[test]
    fn streamed_object_with_a_key_that_is_no_string_is_refused() {
        let error = |text: &str| events(text).pop().unwrap_or_default();
        assert_eq!(error("{[1]}"), "Expected string key after '{', not '[' at line 1, column 2");
        assert_eq!(error("{\"x\":1,{}}"), "Expected string key after ',' in object, not '{' at line 1, column 8");
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
