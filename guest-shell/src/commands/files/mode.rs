//! Permissions in octal and symbolic form, for `chmod`, `mkdir -m` and `install -m`.

/// Mask of the bits that can be changed.
const ALL: u32 = 0o7777;
/// Set-user-ID and set-group-ID, which a directory keeps unless they are named.
const SET_ID: u32 = 0o6000;

/// Change of a mode.
#[derive(Debug)]
pub(in crate::commands) struct Change(Vec<Clause>);

/// Change of some bits of a mode.
#[derive(Debug)]
struct Clause {
    operator: char,
    /// Bits of the named classes; 0 if no class is named.
    affected: u32,
    value: Value,
    /// Bits that the text mentions.
    mentioned: u32,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Bits(u32),
    /// Bits with `X`: these, and execution for directories and for files that somebody may execute.
    BitsAndSearch(u32),
    /// `u`, `g` or `o` after the operator: the permissions of that class.
    OfClass(u32),
}

impl Change {
    /// Reads a mode; none if it makes no sense.
    pub(in crate::commands) fn parse(text: &str) -> Option<Self> {
        if text.starts_with(|first: char| first.is_digit(8)) {
            let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= ALL)?;
            let mentioned = if text.len() < 5 { bits & SET_ID | 0o1777 } else { ALL };
            return Some(Self(vec![Clause { operator: '=', affected: ALL, value: Value::Bits(bits), mentioned }]));
        }
        let mut clauses = Vec::new();
        for part in text.split(',') {
            clause(part, &mut clauses)?;
        }
        Some(Self(clauses))
    }

    /// Returns the change to exactly these bits.
    pub(super) fn to(bits: u32) -> Self {
        Self(vec![Clause { operator: '=', affected: ALL, value: Value::Bits(bits), mentioned: ALL }])
    }

    /// Returns the mode of a directory that is created with this change of all permissions.
    ///
    /// GNU's `mkdir` first creates a directory with special bits without the write permissions of others, and adds
    /// those only if the change mentions bits that the directory lacks.
    pub(super) fn of_new_directory(&self, umask: u32) -> u32 {
        let mode = self.apply(0o777, true, umask);
        let mentioned = self.0.iter().fold(0, |bits, clause| bits | clause.mentioned_bits(umask));
        let created = mode & 0o1755;
        if mentioned & SET_ID | mode & 0o1000 == 0 || (created ^ mode) & mentioned != 0 { mode } else { created }
    }

    /// The mode that comes of another one.
    pub(in crate::commands) fn apply(&self, old: u32, is_directory: bool, umask: u32) -> u32 {
        self.0.iter().fold(old & ALL, |mode, clause| clause.apply(mode, is_directory, umask))
    }
}

impl Clause {
    /// Returns the bits that the clause sets or clears.
    fn mentioned_bits(&self, umask: u32) -> u32 {
        match (self.operator, self.affected) {
            ('=', 0) => ALL,
            (_, 0) => self.mentioned & !umask,
            ('=', affected) => affected & 0o1777 | self.mentioned,
            _ => self.mentioned,
        }
    }

    fn apply(&self, mode: u32, is_directory: bool, umask: u32) -> u32 {
        let kept = if is_directory { SET_ID & !self.mentioned } else { 0 };
        let value = match self.value {
            Value::Bits(bits) => bits,
            Value::BitsAndSearch(bits) if is_directory || mode & 0o111 != 0 => bits | 0o111,
            Value::BitsAndSearch(bits) => bits,
            Value::OfClass(class) => {
                let may = |bits: u32| if mode & class & bits != 0 { bits } else { 0 };
                may(0o444) | may(0o222) | may(0o111)
            }
        };
        let value = value & if self.affected == 0 { !umask } else { self.affected } & !kept;
        match self.operator {
            '+' => mode | value,
            '-' => mode & !value,
            _ => {
                let preserved = if self.affected == 0 { 0 } else { !self.affected } | kept;
                mode & preserved | value
            }
        }
    }
}

/// Parses one clause, `[ugoa]*([-+=]([rwxXst]*|[ugo]|[0-7]+))+`.
fn clause(text: &str, clauses: &mut Vec<Clause>) -> Option<()> {
    let mut rest = text.trim_start_matches(['u', 'g', 'o', 'a']);
    let mut affected = 0;
    for class in text[..text.len() - rest.len()].chars() {
        affected |= match class {
            'u' => 0o4700,
            'g' => 0o2070,
            'o' => 0o1007,
            _ => ALL,
        };
    }
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let operator = rest.chars().next().filter(|operator| "+-=".contains(*operator))?;
        rest = &rest[1..];
        let end = rest.find(['+', '-', '=']).unwrap_or(rest.len());
        let (words, after) = rest.split_at(end);
        rest = after;
        let value = match words {
            "u" => Value::OfClass(0o700),
            "g" => Value::OfClass(0o070),
            "o" => Value::OfClass(0o007),
            _ if words.starts_with(|first: char| first.is_digit(8)) => {
                if affected != 0 || !rest.is_empty() {
                    return None;
                }
                let bits = u32::from_str_radix(words, 8).ok().filter(|bits| *bits <= ALL)?;
                clauses.push(Clause { operator, affected: ALL, value: Value::Bits(bits), mentioned: ALL });
                return Some(());
            }
            _ => letters(words)?,
        };
        let (Value::Bits(bits) | Value::BitsAndSearch(bits) | Value::OfClass(bits)) = value;
        let mentioned = if affected == 0 { bits } else { affected & bits };
        clauses.push(Clause { operator, affected, value, mentioned });
    }
    Some(())
}

fn letters(words: &str) -> Option<Value> {
    let (mut bits, mut search) = (0, false);
    for letter in words.chars() {
        bits |= match letter {
            'r' => 0o444,
            'w' => 0o222,
            'x' => 0o111,
            's' => SET_ID,
            't' => 0o1000,
            'X' => {
                search = true;
                0
            }
            _ => return None,
        };
    }
    Some(if search { Value::BitsAndSearch(bits) } else { Value::Bits(bits) })
}

/// Returns a mode in the form of `ls -l`, without the letter of the type: `rwxr-xr-x`.
pub(super) fn symbols(mode: u32) -> String {
    let mut text = String::new();
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift & 7;
        text.push(if bits & 4 == 0 { '-' } else { 'r' });
        text.push(if bits & 2 == 0 { '-' } else { 'w' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => letter,
            (true, false) => letter.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Change, symbols};

    fn apply(text: &str, old: u32) -> u32 {
        Change::parse(text).expect("it is a mode").apply(old, false, 0o022)
    }

    #[test]
    fn change_of_a_file_is_as_chmod_makes_it() {
        assert_eq!(apply("755", 0o4644), 0o755);
        assert_eq!(apply("u+x,go-r", 0o644), 0o700);
        assert_eq!(apply("+w", 0o444), 0o644);
        assert_eq!(apply("a+w", 0o444), 0o666);
        assert_eq!(apply("g=u", 0o640), 0o660);
        assert_eq!(apply("a+X", 0o644), 0o644);
        assert_eq!(apply("a+X", 0o744), 0o755);
        assert_eq!(apply("=r", 0o755), 0o444);
        assert_eq!(apply("u+s,o+t", 0o755), 0o5755);
        assert_eq!(apply("u=rwx,g+x-r", 0o644), 0o714);
        assert_eq!(apply("+111", 0o644), 0o755);
    }

    #[test]
    fn change_of_a_directory_keeps_what_is_not_named() {
        let apply = |text: &str| Change::parse(text).expect("it is a mode").apply(0o2755, true, 0o022);
        assert_eq!(apply("700"), 0o2700);
        assert_eq!(apply("00700"), 0o700);
        assert_eq!(apply("u=rwx,g="), 0o2705);
    }

    #[test]
    fn mode_that_makes_no_sense_is_none() {
        for text in ["999", "u", "u+q", "", "u+x,", "10000", "u+7"] {
            assert!(Change::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn symbols_show_special_bits() {
        assert_eq!(symbols(0o4755), "rwsr-xr-x");
        assert_eq!(symbols(0o1644), "rw-r--r-T");
    }
}
