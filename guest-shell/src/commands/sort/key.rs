//! Keys of `sort -k`: their syntax, and the part of a line that they select. Fields and positions count bytes.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Ordering options of a key, or of whole lines.
#[derive(Clone, Default, Debug)]
pub(super) struct KeyOrdering {
    pub(super) skip_blanks_at_start: bool,
    pub(super) skip_blanks_at_end: bool,
    pub(super) dictionary: bool,
    pub(super) printable: bool,
    pub(super) fold_case: bool,
    pub(super) numeric: bool,
    pub(super) general_numeric: bool,
    pub(super) human_numeric: bool,
    pub(super) month: bool,
    pub(super) version: bool,
    pub(super) random: bool,
    pub(super) reverse: bool,
}

/// Ends of a key to which an option applies. Only `b` distinguishes them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyEnds {
    Start,
    End,
    Both,
}

impl KeyOrdering {
    /// Returns true if there is no ordering option except `-r`.
    pub(super) fn is_default(&self) -> bool {
        !(self.skip_blanks_at_start
            || self.skip_blanks_at_end
            || self.dictionary
            || self.printable
            || self.fold_case
            || self.numeric
            || self.general_numeric
            || self.human_numeric
            || self.month
            || self.version
            || self.random)
    }

    /// Returns the letters of incompatible options, for the message about them.
    ///
    /// A key has at most one kind of number, and none together with `-V`, `-R`, `-d` or `-i`.
    pub(super) fn conflict(&self) -> Option<String> {
        let kinds = [
            self.numeric,
            self.general_numeric,
            self.human_numeric,
            self.month,
            self.version || self.random || self.dictionary || self.printable,
        ];
        if kinds.into_iter().filter(|kind| *kind).count() <= 1 {
            return None;
        }
        let letters = [
            (self.dictionary, 'd'),
            (self.fold_case, 'f'),
            (self.general_numeric, 'g'),
            (self.human_numeric, 'h'),
            (self.printable && !self.dictionary, 'i'),
            (self.month, 'M'),
            (self.numeric, 'n'),
            (self.random, 'R'),
            (self.version, 'V'),
        ];
        Some(letters.iter().filter(|(set, _)| *set).map(|(_, letter)| letter).collect())
    }

    /// Sets the option of a letter; returns false if there is no such option.
    pub(super) fn set(&mut self, letter: char, ends: KeyEnds) -> bool {
        let option = match letter {
            'b' => {
                self.skip_blanks_at_start |= ends != KeyEnds::End;
                self.skip_blanks_at_end |= ends != KeyEnds::Start;
                return true;
            }
            'd' => &mut self.dictionary,
            'f' => &mut self.fold_case,
            'g' => &mut self.general_numeric,
            'h' => &mut self.human_numeric,
            'i' => &mut self.printable,
            'M' => &mut self.month,
            'n' => &mut self.numeric,
            'R' => &mut self.random,
            'r' => &mut self.reverse,
            'V' => &mut self.version,
            _ => return false,
        };
        *option = true;
        true
    }
}

/// Position in a line: a field, from 0, and a number of bytes after its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyPosition {
    pub(super) field: usize,
    pub(super) bytes: usize,
}

/// Part of a line by which lines are sorted.
#[derive(Clone, Debug)]
pub(super) struct SortKey {
    pub(super) start: KeyPosition,
    /// End of the key. Without it, the key extends to the end of the line. With 0 bytes, it extends to the end of the
    /// field.
    pub(super) end: Option<KeyPosition>,
    pub(super) ordering: KeyOrdering,
}

/// Error in the text of a key.
enum KeyMistake {
    Invalid(&'static str),
    /// A number is missing in front of the rest.
    Count(&'static str, String),
    StrayCharacter,
}

impl SortKey {
    /// Parses the text of a key, `F[.C][OPTS][,F[.C][OPTS]]`. The error is a message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).map_err(|mistake| match mistake {
            KeyMistake::Count(reason, rest) => format!("{reason}: invalid count at start of '{rest}'"),
            KeyMistake::Invalid(reason) => format!("{reason}: invalid field specification '{text}'"),
            KeyMistake::StrayCharacter => {
                format!("stray character in field spec: invalid field specification '{text}'")
            }
        })
    }

    fn read(text: &str) -> Result<Self, KeyMistake> {
        let (start, end) = text.split_once(',').map_or((text, None), |(start, end)| (start, Some(end)));
        let mut ordering = KeyOrdering::default();
        let start = read_position(start, KeyEnds::Start, &mut ordering)?;
        let end = end.map(|end| read_position(end, KeyEnds::End, &mut ordering)).transpose()?;
        Ok(Self { start, end, ordering })
    }

    /// Parses the start of a key in the old form, `F[.C][OPTS]` behind `+`, where fields and bytes count from 0. Any
    /// other text is `None`: it may name a file.
    pub(super) fn parse_old_start(text: &str) -> Option<Self> {
        let (field, rest) = split_digits(text);
        let (bytes, letters) = rest.strip_prefix('.').map_or(("0", rest), split_digits);
        let start = KeyPosition { field: field.parse().ok()?, bytes: bytes.parse().ok()? };
        let mut ordering = KeyOrdering::default();
        let is_key = letters.chars().all(|letter| ordering.set(letter, KeyEnds::Start));
        is_key.then_some(Self { start, end: None, ordering })
    }

    /// Sets the end of a key in the old form, `F[.C][OPTS]` behind `-`: the first position behind the key.
    pub(super) fn end_old(&mut self, text: &str) -> Result<(), String> {
        let (field, rest) = split_digits(text);
        let (bytes, letters) = rest.strip_prefix('.').map_or(("0", rest), split_digits);
        let count = |after, rest| format!("invalid number after '{after}': invalid count at start of '{rest}'");
        let field: usize = field.parse().map_err(|_| count('-', text))?;
        let bytes = bytes.parse().map_err(|_| count('.', letters))?;
        // Without bytes the key ends with the field before.
        let field = if bytes == 0 { field.saturating_sub(1) } else { field };
        self.end = Some(KeyPosition { field, bytes });
        match letters.chars().all(|letter| self.ordering.set(letter, KeyEnds::End)) {
            true => Ok(()),
            false => Err(format!("stray character in field spec: invalid field specification '-{text}'")),
        }
    }

    /// Returns the key for the whole line.
    pub(super) fn whole_line(ordering: KeyOrdering) -> Self {
        Self { start: KeyPosition::default(), end: None, ordering }
    }

    /// Returns the text of the key in a line.
    pub(super) fn text<'a>(&self, line: &'a [u8], separator: Option<u8>) -> &'a [u8] {
        let start = self.start_in(line, separator);
        let end = self.end_in(line, separator).max(start);
        &line[start..end]
    }

    fn start_in(&self, line: &[u8], separator: Option<u8>) -> usize {
        let mut at = 0;
        for _ in 0..self.start.field {
            if at == line.len() {
                break;
            }
            at = field_end(line, at, separator);
            at += usize::from(separator.is_some() && at < line.len());
        }
        if self.ordering.skip_blanks_at_start {
            at = skip_blanks(line, at);
        }
        at.saturating_add(self.start.bytes).min(line.len())
    }

    fn end_in(&self, line: &[u8], separator: Option<u8>) -> usize {
        let Some(KeyPosition { field, bytes }) = self.end else {
            return line.len();
        };
        let mut fields = if bytes == 0 { field.saturating_add(1) } else { field };
        let mut at = 0;
        while at < line.len() && fields > 0 {
            fields -= 1;
            at = field_end(line, at, separator);
            let goes_on = fields > 0 || bytes > 0;
            at += usize::from(separator.is_some() && at < line.len() && goes_on);
        }
        if bytes == 0 {
            return at;
        }
        if self.ordering.skip_blanks_at_end {
            at = skip_blanks(line, at);
        }
        at.saturating_add(bytes).min(line.len())
    }
}

/// Parses one end of a key, `F[.C][OPTS]`.
fn read_position(text: &str, side: KeyEnds, ordering: &mut KeyOrdering) -> Result<KeyPosition, KeyMistake> {
    let at_start = side == KeyEnds::Start;
    let (field, rest) = split_digits(text);
    let no_field = if at_start { "invalid number at field start" } else { "invalid number after ','" };
    let field: usize = field.parse().map_err(|_| KeyMistake::Count(no_field, text.to_owned()))?;
    let field = field.checked_sub(1).ok_or(KeyMistake::Invalid("field number is zero"))?;
    let (bytes, letters) = match rest.strip_prefix('.').map(split_digits) {
        Some((number, letters)) => {
            let count = |_| KeyMistake::Count("invalid number after '.'", letters.to_owned());
            let number = number.parse().map_err(count)?;
            (Some(number), letters)
        }
        None => (None, rest),
    };
    let bytes = match bytes {
        Some(0) if at_start => return Err(KeyMistake::Invalid("character offset is zero")),
        // The first byte of the key counts from 1, and the last one is inclusive.
        Some(number) if at_start => number - 1,
        Some(number) => number,
        None => 0,
    };
    match letters.chars().all(|letter| ordering.set(letter, side)) {
        true => Ok(KeyPosition { field, bytes }),
        false => Err(KeyMistake::StrayCharacter),
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len()))
}

/// Returns the end of the field that begins at `at`. Without a separator, leading blanks belong to it.
fn field_end(line: &[u8], at: usize, separator: Option<u8>) -> usize {
    match separator {
        Some(separator) => at + line[at..].iter().take_while(|byte| **byte != separator).count(),
        None => {
            let at = skip_blanks(line, at);
            at + line[at..].iter().take_while(|byte| !is_blank(**byte)).count()
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn skip_blanks(line: &[u8], at: usize) -> usize {
    at + line[at..].iter().take_while(|byte| is_blank(**byte)).count()
}
