//! Command-line options of `unzip` and `zipinfo`.

use super::list::{Form, Info, Size};

/// Action on the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Extract,
    List(Form),
    Test,
    /// Extraction to standard output, with messages or without.
    Pipe {
        told: bool,
    },
    /// Only prints the comment of the archive.
    Comment,
}

/// Treatment of existing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    Ask,
    Overwrite,
    Keep,
}

/// Settings of one execution.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) action: Action,
    pub(super) existing: Existing,
    /// True if both `-n` and `-o` were given.
    pub(super) both: bool,
    pub(super) quiet: usize,
    pub(super) junk: bool,
    pub(super) fold: bool,
    pub(super) update: bool,
    pub(super) freshen: bool,
    /// True if set-user-ID, set-group-ID and sticky bits are preserved.
    pub(super) special_bits: bool,
    pub(super) directory: Option<String>,
    pub(super) file: String,
    pub(super) list: Vec<String>,
    pub(super) exclude: Vec<String>,
}

/// Reason why a command line is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// The command line is incomplete.
    Usage,
    /// An option is not supported.
    Option(char),
}

impl Options {
    /// Parses the words of the command. `info` is true for `zipinfo`.
    pub(super) fn read(words: &[String], info: bool) -> Result<Self, Mistake> {
        let mut options = Self {
            action: if info { Action::List(Form::Info(Info::default())) } else { Action::Extract },
            existing: Existing::Ask,
            both: false,
            quiet: 0,
            junk: false,
            fold: false,
            update: false,
            freshen: false,
            special_bits: false,
            directory: None,
            file: String::new(),
            list: Vec::new(),
            exclude: Vec::new(),
        };
        let (mut operands, mut excluding) = (Vec::new(), false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                if excluding { &mut options.exclude } else { &mut operands }.push(word.clone());
                continue;
            };
            for (at, letter) in letters.char_indices() {
                match letter {
                    'd' => {
                        let rest = &letters[at + 1..];
                        let value = if rest.is_empty() { words.next().ok_or(Mistake::Usage)? } else { rest };
                        options.directory = Some(value.to_owned());
                        break;
                    }
                    'x' => excluding = true,
                    'Z' => options.action = Action::List(Form::Info(Info::default())),
                    letter => {
                        let taken = match &mut options.action {
                            Action::List(form @ (Form::Info(_) | Form::Names)) => set_info(form, letter),
                            _ => options.set(letter),
                        };
                        taken.ok_or(Mistake::Option(letter))?;
                    }
                }
            }
        }
        let odd =
            options.action == Action::Test && options.update || options.freshen && options.existing == Existing::Keep;
        if odd {
            return Err(Mistake::Usage);
        }
        let mut operands = operands.into_iter();
        options.file = operands.next().ok_or(Mistake::Usage)?;
        options.list = operands.collect();
        Ok(options)
    }

    fn set(&mut self, letter: char) -> Option<()> {
        match letter {
            'l' => self.action = Action::List(Form::Short),
            'v' => self.action = Action::List(Form::Long),
            't' => self.action = Action::Test,
            'p' => self.action = Action::Pipe { told: false },
            'c' => self.action = Action::Pipe { told: true },
            'z' => self.action = Action::Comment,
            // Keeping has precedence.
            'o' if self.existing == Existing::Keep => self.both = true,
            'o' => self.existing = Existing::Overwrite,
            'n' => {
                self.both |= self.existing == Existing::Overwrite;
                self.existing = Existing::Keep;
            }
            'q' => self.quiet += 1,
            'j' => self.junk = true,
            'C' => self.fold = true,
            'u' => self.update = true,
            'f' => (self.update, self.freshen) = (true, true),
            'K' => self.special_bits = true,
            // There is only one owner. `-U` escapes characters that the locale lacks; UTF-8 lacks none.
            'X' | 'U' => {}
            _ => return None,
        }
        Some(())
    }
}

/// Sets an option of `zipinfo`.
fn set_info(form: &mut Form, letter: char) -> Option<()> {
    let Form::Info(info) = form else { return None };
    match letter {
        '1' | '2' => *form = Form::Names,
        's' => (info.lines, info.size) = (true, Size::None),
        'l' => (info.lines, info.size) = (true, Size::Packed),
        'm' => (info.lines, info.size) = (true, Size::Saved),
        'h' => info.asks_head = true,
        't' => info.asks_total = true,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, Mistake> {
        Options::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>(), false)
    }

    #[test]
    fn words_are_those_of_unzip() {
        let options = read("-oq a.zip x -x y -d out").expect("words");
        assert_eq!(
            (options.existing, options.quiet, options.directory.as_deref()),
            (Existing::Overwrite, 1, Some("out"))
        );
        assert_eq!((options.list, options.exclude), (vec!["x".to_owned()], vec!["y".to_owned()]));
        assert_eq!(read("-Z1 a").map(|options| options.action), Ok(Action::List(Form::Names)));
        assert_eq!(read("-Q a").map(|options| options.action), Err(Mistake::Option('Q')));
        assert!(read("-no a").is_ok_and(|options| options.both && options.existing == Existing::Keep));
        assert_eq!(read("-fn a").map(|options| options.action), Err(Mistake::Usage));
        assert_eq!(read("-l").map(|options| options.action), Err(Mistake::Usage));
    }
}
