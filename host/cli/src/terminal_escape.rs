//! Escaping of untrusted text for terminals: scripts, tools, registries and servers write names, messages and contents.
//!
//! Escaped are characters that a terminal acts on, that are invisible, or that change the order of the text. Unicode's
//! properties determine which characters these are, so that none is forgotten.

use std::io::{self, IsTerminal as _, Write};

use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, HangulSyllableType, Script};
pub(crate) use tollhouse_types::is_hidden;
use toml_edit::DocumentMut;
use toml_edit::visit_mut::VisitMut;
use unicode_width::UnicodeWidthChar as _;

use super::stdio::Stdout;

/// Most marks above and below one letter. Further ones would reach into other lines.
const MAX_MARKS: usize = 4;

/// Returns true for a character that takes no space of its own on a terminal: marks, and the vowels and ends of Hangul
/// syllables.
fn is_mark(c: char) -> bool {
    !c.is_ascii()
        && (c.width() == Some(0)
            || matches!(
                CodePointMapData::<GeneralCategory>::new().get(c),
                GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark
            ))
}

/// Marks of the letter that was read last.
#[derive(Default)]
struct MarkState {
    count: usize,
    /// Letter. `None` if the last character takes no marks, because it is invisible.
    base: Option<char>,
    /// Letter, or the last of its marks that is shown.
    last: Option<char>,
    /// True if marks that do not belong to the letter are escaped too.
    are_strict: bool,
}

impl MarkState {
    /// Takes the next character. Returns true for a mark that must not be shown.
    fn refuse(&mut self, c: char) -> bool {
        if !is_mark(c) {
            let base = (!is_hidden(c) && !c.is_whitespace()).then_some(c);
            *self = Self { count: 0, base, last: base, are_strict: self.are_strict };
            return false;
        }
        self.count += 1;
        let belongs = self.base.zip(self.last).is_some_and(|(base, last)| belongs(c, base, last));
        if self.are_strict && !belongs {
            self.base = None;
            return true;
        }
        self.last = Some(c);
        self.count > MAX_MARKS
    }
}

/// Returns true if a mark belongs to the script of its letter or to any script; for a part of a Hangul syllable, if it
/// follows a part that it may follow. Terminals show other marks nowhere.
fn belongs(mark: char, base: char, last: char) -> bool {
    let part = |c| CodePointMapData::<HangulSyllableType>::new().get(c);
    match part(mark) {
        HangulSyllableType::VowelJamo => part(last) == HangulSyllableType::LeadingJamo,
        HangulSyllableType::TrailingJamo => {
            matches!(part(last), HangulSyllableType::VowelJamo | HangulSyllableType::LVSyllable)
        }
        _ => {
            let script = |c| CodePointMapData::<Script>::new().get(c);
            script(mark) == Script::Inherited || (script(mark) == script(base) && script(mark) != Script::Common)
        }
    }
}

/// Escapes the hidden characters of a text: `\u{1b}`.
pub(crate) fn escape_hidden(text: &str) -> String {
    escaped(text, &mut MarkState::default(), &|c, escape_hidden| escape_hidden.extend(c.escape_unicode()))
}

/// Escapes a text so that every character is visible: besides hidden characters, each mark that does not belong to its
/// letter.
pub(crate) fn escape_strictly(text: &str) -> String {
    let mut marks = MarkState { are_strict: true, ..MarkState::default() };
    escaped(text, &mut marks, &|c, escape_hidden| escape_hidden.extend(c.escape_unicode()))
}

/// Escapes hidden characters in JSON strings as JSON escapes: the meaning is the same.
pub(crate) fn escape_json(json: &str) -> String {
    escaped(json, &mut MarkState::default(), &|c, escape_hidden| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            escape_hidden.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// Escapes hidden characters in TOML values as TOML escapes: the meaning is the same.
pub(crate) fn escape_toml(toml: &str) -> String {
    let Some(document) = escape_toml_values(toml) else { return escape_hidden(toml) };
    // The rest is in keys and comments, where TOML has no such escapes or a reader expects none.
    escape_hidden(&document)
}

/// Escapes hidden characters in TOML values as TOML escapes, and nothing else. `None` if the text is no TOML.
pub(crate) fn escape_toml_values(toml: &str) -> Option<String> {
    let mut document = toml.parse::<DocumentMut>().ok()?;
    TomlValues.visit_document_mut(&mut document);
    Some(document.to_string())
}

struct TomlValues;

impl VisitMut for TomlValues {
    fn visit_string_mut(&mut self, text: &mut toml_edit::Formatted<String>) {
        if text.value() == &escape_hidden(text.value()) {
            return;
        }
        let mut written = String::from("\"");
        for c in text.value().chars() {
            match c {
                '"' | '\\' => written.extend(['\\', c]),
                '\n' => written.push_str("\\n"),
                _ => written.push(c),
            }
        }
        written.push('"');
        let escaped = escaped(&written, &mut MarkState::default(), &|c, escape_hidden| {
            escape_hidden.push_str(&format!("\\U{:08x}", u32::from(c)))
        });
        if let Ok(toml_edit::Value::String(new)) = escaped.parse() {
            let decor = text.decor().clone();
            *text = new;
            *text.decor_mut() = decor;
        }
    }
}

/// Escapes a text to one line: line breaks are escaped too.
pub(crate) fn escape_line(text: &str) -> String {
    escape_hidden(text).replace('\n', "\\n")
}

/// Replaces every hidden character by a question mark, and keeps the length in bytes: positions in the text stay valid.
pub(crate) fn mask_hidden(text: &str) -> String {
    let mut escape_hidden = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { escape_hidden.extend(std::iter::repeat_n('?', c.len_utf8())) } else { escape_hidden.push(c) }
    }
    escape_hidden
}

/// Escapes a text. `marks` holds the state since the last letter, across several texts.
fn escaped(text: &str, marks: &mut MarkState, escape: &dyn Fn(char, &mut String)) -> String {
    let mut escape_hidden = String::with_capacity(text.len());
    for c in text.chars() {
        let is_refused = marks.refuse(c);
        if is_refused || is_hidden(c) { escape(c, &mut escape_hidden) } else { escape_hidden.push(c) }
    }
    escape_hidden
}

/// Returns standard output for untrusted contents: unchanged for programs and files, escaped on a terminal.
pub(crate) fn contents() -> Box<dyn Write> {
    if io::stdout().is_terminal() { Box::new(EscapingWriter::new(Stdout)) } else { Box::new(Stdout) }
}

/// Writer that escapes hidden characters, and bytes that are not UTF-8.
struct EscapingWriter<W: Write> {
    to: W,
    /// Bytes of an incomplete character.
    begun: Vec<u8>,
    marks: MarkState,
}

impl<W: Write> EscapingWriter<W> {
    fn new(to: W) -> Self {
        Self { to, begun: Vec::new(), marks: MarkState::default() }
    }

    fn put(&mut self, bytes: &[u8], is_last: bool) -> io::Result<()> {
        let mut escape_hidden = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            escape_hidden +=
                &escaped(chunk.valid(), &mut self.marks, &|c, escape_hidden| escape_hidden.extend(c.escape_unicode()));
            let broken = chunk.invalid();
            let is_begun = chunks.peek().is_none() && !is_last && is_beginning(broken);
            if is_begun {
                self.begun = broken.to_vec();
            } else {
                escape_hidden.extend(broken.iter().map(|byte| format!("\\x{byte:02x}")));
            }
        }
        self.to.write_all(escape_hidden.as_bytes())
    }
}

/// Returns true if further bytes may complete these to a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        self.put(&all, false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: Write> Drop for EscapingWriter<W> {
    fn drop(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        // Standard output keeps its first error.
        let _ = self.put(&begun, true);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use proptest::prelude::*;

    use super::*;

    /// Texts of any characters, in which those are frequent that a terminal acts on, that nobody sees, or that pile up.
    fn texts() -> impl Strategy<Value = String> {
        const SEQUENCES: [&str; 10] = [
            "\u{1b}[2J",
            "\u{1b}]0;t\u{7}",
            "\u{1b}[8m",
            "\u{9b}1A",
            "\u{90}q",
            "\u{1b}c",
            "\u{8}\u{8}",
            "\r",
            "\n",
            "\t",
        ];
        let part = prop_oneof![
            4 => any::<char>().prop_map(String::from),
            2 => prop::char::range('\0', '\u{a0}').prop_map(String::from),
            1 => prop::char::range('\u{300}', '\u{36f}').prop_map(String::from),
            1 => prop::char::range('\u{2000}', '\u{206f}').prop_map(String::from),
            2 => prop::sample::select(&SEQUENCES[..]).prop_map(String::from),
        ];
        prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn escaped_text_contains_no_hidden_characters(text in texts()) {
            for shown in [escape_hidden(&text), escape_strictly(&text), escape_line(&text), mask_hidden(&text), escape_json(&text), escape_toml(&text)] {
                prop_assert!(!shown.chars().any(is_hidden), "{shown:?}");
            }
            prop_assert!(!escape_line(&text).contains('\n'));
        }

        #[test]
        fn terminal_shows_the_characters_in_their_order(text in texts()) {
            let size = |cells| NonZero::new(cells).expect("it is more than none");
            // The emulator shows nothing for U+FFFD; a tab is shown as spaces.
            let shown = escape_line(&text.replace(['\t', '\u{fffd}'], " "));
            let mut terminal = vt100::Parser::new(size(2), size(4_000), 0);
            terminal.process(shown.as_bytes());
            let letters = |text: &str| text.trim_end().chars().filter(|c| !is_mark(*c)).collect::<String>();
            prop_assert_eq!(letters(&terminal.screen().contents()), letters(&shown));
            prop_assert_eq!(terminal.screen().cursor_position().0, 0);
        }

        #[test]
        fn json_and_toml_mean_the_same(text in texts()) {
            let json = serde_json::to_string(&text).expect("it is a text");
            prop_assert_eq!(&serde_json::from_str::<String>(&escape_json(&json)).expect("it is JSON"), &text);
            let mut toml = DocumentMut::new();
            toml["key"] = toml_edit::value(text.as_str());
            let read: DocumentMut = escape_toml(&toml.to_string()).parse().expect("it is TOML");
            prop_assert_eq!(read["key"].as_str(), Some(text.as_str()));
        }

        #[test]
        fn escaping_in_pieces_equals_escaping_whole(bytes in prop::collection::vec(any::<u8>(), 0..80), text in texts(), size in 1_usize..20) {
            let bytes = [&bytes, text.as_bytes(), &bytes].concat();
            let show = |size: usize| {
                let mut written = Vec::new();
                let mut tamed = EscapingWriter::new(&mut written);
                bytes.chunks(size).for_each(|piece| tamed.write_all(piece).expect("it is written"));
                drop(tamed);
                String::from_utf8(written).expect("it is text")
            };
            prop_assert_eq!(show(size), show(usize::MAX));
        }
    }

    #[test]
    fn control_characters_are_escaped_for_the_terminal() {
        assert_eq!(
            escape_hidden("a\u{1b}[2Jb\u{9b}31m\u{202e}c\n\td é\r"),
            "a\\u{1b}[2Jb\\u{9b}31m\\u{202e}c\n\td é\\u{d}"
        );
    }

    #[test]
    fn invisible_characters_are_escaped_and_visible_ones_kept() {
        for c in [
            '\0',
            '\u{7f}',
            '\u{85}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{2060}',
            '\u{2065}',
            '\u{2066}',
            '\u{2069}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{110bd}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0061}',
            '\u{e007f}',
            '\u{e0100}',
            '\u{e0fff}',
        ] {
            assert_eq!(escape_hidden(&c.to_string()), c.escape_unicode().to_string());
            let json = escape_json(&format!("\"{c}\""));
            if c > '\u{9f}' {
                assert_eq!(serde_json::from_str::<String>(&json).expect("it is JSON"), c.to_string());
            }
            assert!(json.is_ascii());
        }
        for plain in ["naïve", "cafe\u{301}", "日本語", "한국어", "👩🚀", "שלום", "a\u{a0}b", "→ … ≤"]
        {
            assert_eq!(escape_hidden(plain), plain);
        }
    }

    #[test]
    fn combining_marks_beyond_four_are_escaped() {
        let piled = escape_hidden(&format!("e{}", "\u{301}".repeat(6)));
        assert_eq!(piled, format!("e{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(4)));
    }

    #[test]
    fn zero_width_letters_beyond_four_are_escaped() {
        for c in ['\u{1161}', '\u{11ff}', '\u{d7b0}', '\u{302e}', '\u{1d165}'] {
            let piled = escape_hidden(&format!("e{}", String::from(c).repeat(100)));
            assert_eq!(piled, format!("e{}{}", String::from(c).repeat(4), c.escape_unicode().to_string().repeat(96)));
        }
    }

    #[test]
    fn question_has_no_mark_without_its_letter() {
        for (text, shown) in [
            ("alice\u{1161}", "alice\\u{1161}"),
            ("alice\u{1d165}\u{301}", "alice\\u{1d165}\\u{301}"),
            ("alice\u{302e}", "alice\\u{302e}"),
            ("alice\u{e31}", "alice\\u{e31}"),
            ("\u{301}a", "\\u{301}a"),
            ("a \u{301}", "a \\u{301}"),
            ("한\u{1161}", "한\\u{1161}"),
            ("\u{1112}\u{1161}\u{1161}", "\u{1112}\u{1161}\\u{1161}"),
            ("\u{1112}\u{11ab}", "\u{1112}\\u{11ab}"),
            ("\u{200b}\u{301}", "\\u{200b}\\u{301}"),
        ] {
            assert_eq!(escape_strictly(text), shown);
        }
        for plain in [
            "naïve",
            "cafe\u{301}",
            "日本語",
            "한국어",
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}",
            "하\u{11ab}",
            "한\u{302e}",
            "ภาษาไทยที่",
            "हिन्दी में",
            "বাংলা",
            "தமிழ்",
            "שָׁלוֹם",
            "العَرَبِيَّة",
            "か\u{3099}",
            "👩🚀",
            "1\u{20e3}",
        ] {
            assert_eq!(escape_strictly(plain), plain);
        }
    }

    #[test]
    fn question_shows_every_character_somewhere() {
        for c in ('\0'..=char::MAX).filter(|c| !matches!(c, '\n' | '\t')) {
            let is_seen = !is_mark(c) && !is_hidden(c);
            assert!(!is_seen || c.width().is_some_and(|width| width > 0), "U+{:04X}", u32::from(c));
            let shown = escape_strictly(&format!("a{c}"));
            let script = CodePointMapData::<Script>::new().get(c);
            let expected = if is_seen || (script == Script::Inherited && !is_hidden(c)) {
                c.to_string()
            } else {
                c.escape_unicode().to_string()
            };
            assert_eq!(shown, format!("a{expected}"), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn masked_text_keeps_byte_positions() {
        let text = "a\u{1b}é\u{202e}b\r\n";
        let escape_hidden = mask_hidden(text);
        assert_eq!((escape_hidden.as_str(), escape_hidden.len()), ("a?é???b?\n", text.len()));
    }

    #[test]
    fn contents_are_escaped_across_pieces() {
        let text = "a\u{1b}[8m é\u{202e}\u{e0061}\n".as_bytes();
        let bytes = [text, b"\xff\xe2\x80"].concat();
        for size in 1..bytes.len() {
            let mut written = Vec::new();
            let mut tamed = EscapingWriter::new(&mut written);
            for piece in bytes.chunks(size) {
                tamed.write_all(piece).expect("it is written");
            }
            drop(tamed);
            let shown = String::from_utf8(written).expect("it is text");
            assert_eq!(shown, "a\\u{1b}[8m é\\u{202e}\\u{e0061}\n\\xff\\xe2\\x80", "in pieces of {size}");
        }
    }
}
