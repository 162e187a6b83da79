//! Command-line options of `zip`.

/// Suffixes of files that are stored without compression by default.
const STORED_ENDINGS: &str = ".Z:.zip:.zoo:.arc:.lzh:.arj";

/// Settings of one execution.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) recurse: bool,
    /// True if the operands are patterns of files below the working directory (`-R`).
    pub(super) patterns: bool,
    pub(super) junk: bool,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) links: bool,
    pub(super) action: Action,
    pub(super) sync: bool,
    pub(super) remove: bool,
    pub(super) no_directories: bool,
    pub(super) names_from_input: bool,
    pub(super) test: bool,
    /// True if the archive must exist.
    pub(super) grow: bool,
    /// True if the archive gets the time of its newest entry.
    pub(super) latest: bool,
    /// True if the comment of the archive is read from standard input.
    pub(super) comment: bool,
    /// True if the selection is only shown.
    pub(super) show: bool,
    pub(super) level: u32,
    /// Suffixes of files that are not compressed.
    pub(super) endings: String,
    pub(super) exclude: Vec<String>,
    pub(super) include: Vec<String>,
    pub(super) operands: Vec<String>,
    pub(super) help: bool,
    /// Words of the command line, before and from the first file name, for a message.
    pub(super) words: (Vec<String>, Vec<String>),
}

/// Action on the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Add,
    Update,
    Freshen,
    Delete,
}

/// Kind of argument that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    List,
    /// None, since the option is not supported.
    Refused,
}

/// Short and long names of options. Where possible, two letters are a single option.
const TABLE: [(&str, &str, Takes); 48] = [
    ("0", "store", Takes::Nothing),
    ("1", "compress-1", Takes::Nothing),
    ("2", "compress-2", Takes::Nothing),
    ("3", "compress-3", Takes::Nothing),
    ("4", "compress-4", Takes::Nothing),
    ("5", "compress-5", Takes::Nothing),
    ("6", "compress-6", Takes::Nothing),
    ("7", "compress-7", Takes::Nothing),
    ("8", "compress-8", Takes::Nothing),
    ("9", "compress-9", Takes::Nothing),
    ("A", "adjust-sfx", Takes::Refused),
    ("b", "temp-path", Takes::Value),
    ("c", "entry-comments", Takes::Refused),
    ("d", "delete", Takes::Nothing),
    ("D", "no-dir-entries", Takes::Nothing),
    ("DF", "difference-archive", Takes::Refused),
    ("e", "encrypt", Takes::Refused),
    ("F", "fix", Takes::Refused),
    ("FF", "fixfix", Takes::Refused),
    ("FS", "filesync", Takes::Nothing),
    ("f", "freshen", Takes::Nothing),
    ("g", "grow", Takes::Nothing),
    ("h", "help", Takes::Nothing),
    ("i", "include", Takes::List),
    ("j", "junk-paths", Takes::Nothing),
    ("k", "DOS-names", Takes::Refused),
    ("l", "to-crlf", Takes::Refused),
    ("ll", "from-crlf", Takes::Refused),
    ("m", "move", Takes::Nothing),
    ("MM", "must-match", Takes::Refused),
    ("n", "suffixes", Takes::Value),
    ("o", "latest-time", Takes::Nothing),
    ("O", "output-file", Takes::Refused),
    ("p", "paths", Takes::Nothing),
    ("P", "password", Takes::Refused),
    ("q", "quiet", Takes::Nothing),
    ("r", "recurse-paths", Takes::Nothing),
    ("R", "recurse-patterns", Takes::Nothing),
    ("s", "split-size", Takes::Refused),
    ("sf", "show-files", Takes::Nothing),
    ("t", "from-date", Takes::Refused),
    ("tt", "before-date", Takes::Refused),
    ("T", "test", Takes::Nothing),
    ("u", "update", Takes::Nothing),
    ("v", "verbose", Takes::Nothing),
    ("x", "exclude", Takes::List),
    ("X", "strip-extra", Takes::Nothing),
    ("y", "symlinks", Takes::Nothing),
];

/// More options of `zip`: signs, the end of the alphabet, and pairs of letters that must not be parsed as two options.
const MORE: [(&str, &str, Takes); 31] = [
    ("z", "archive-comment", Takes::Nothing),
    ("Z", "compression-method", Takes::Refused),
    ("@", "names-stdin", Takes::Nothing),
    ("AC", "archive-clear", Takes::Refused),
    ("AS", "archive-set", Takes::Refused),
    ("db", "display-bytes", Takes::Refused),
    ("dc", "display-counts", Takes::Refused),
    ("dd", "display-dots", Takes::Refused),
    ("dg", "display-globaldots", Takes::Refused),
    ("ds", "dot-size", Takes::Refused),
    ("du", "display-usize", Takes::Refused),
    ("dv", "display-volume", Takes::Refused),
    ("fd", "force-descriptors", Takes::Refused),
    ("fz", "force-zip64", Takes::Refused),
    ("ic", "ignore-case", Takes::Refused),
    ("la", "log-append", Takes::Refused),
    ("lf", "logfile-path", Takes::Refused),
    ("li", "log-info", Takes::Refused),
    ("nw", "no-wild", Takes::Refused),
    ("sb", "split-bell", Takes::Refused),
    ("sc", "show-command", Takes::Refused),
    ("sd", "show-debug", Takes::Refused),
    ("so", "show-options", Takes::Refused),
    ("sp", "split-pause", Takes::Refused),
    ("su", "show-unicode", Takes::Refused),
    ("sU", "show-just-unicode", Takes::Refused),
    ("sv", "split-verbose", Takes::Refused),
    ("TT", "unzip-command", Takes::Refused),
    ("U", "copy-entries", Takes::Refused),
    ("UN", "unicode", Takes::Refused),
    ("ws", "wild-stop-dirs", Takes::Refused),
];

type Known = (&'static str, &'static str, Takes);

impl Default for Options {
    fn default() -> Self {
        Self {
            recurse: false,
            patterns: false,
            junk: false,
            quiet: false,
            verbose: false,
            links: false,
            action: Action::Add,
            sync: false,
            remove: false,
            no_directories: false,
            names_from_input: false,
            test: false,
            grow: false,
            latest: false,
            comment: false,
            show: false,
            level: 6,
            endings: STORED_ENDINGS.to_owned(),
            exclude: Vec::new(),
            include: Vec::new(),
            operands: Vec::new(),
            help: false,
            words: (Vec::new(), Vec::new()),
        }
    }
}

impl Options {
    /// Parses the words of the command. The error is a message.
    pub(super) fn read(words: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = words.iter().peekable();
        let mut first = None;
        let mut at_end = false;
        while let Some(word) = rest.next() {
            let place = words.len() - rest.len() - 1;
            if at_end || word == "-" || !word.starts_with('-') {
                if options.operands.len() == 1 {
                    first = first.or(Some(place));
                }
                options.operands.push(word.clone());
                continue;
            }
            match word.strip_prefix("--") {
                Some("") if options.operands.is_empty() => {
                    return Err("can't use -- before archive name".to_owned());
                }
                Some("") => at_end = true,
                Some(name) => {
                    let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
                    let known = by_name(name)?;
                    options.take(known, value, &mut rest)?;
                }
                None => {
                    let mut letters = &word[1..];
                    while !letters.is_empty() {
                        let known = by_letters(letters)?;
                        letters = &letters[known.0.len()..];
                        if matches!(known.2, Takes::Value | Takes::List) {
                            let value = letters.strip_prefix('=').unwrap_or(letters);
                            options.take(known, Some(value).filter(|value| !value.is_empty()), &mut rest)?;
                            break;
                        }
                        options.take(known, None, &mut rest)?;
                    }
                }
            }
        }
        if first.is_none() && !(options.exclude.is_empty() && options.include.is_empty()) {
            return Err("nothing to select from".to_owned());
        }
        let first = first.unwrap_or(words.len());
        options.words = (words[..first].to_vec(), words[first..].to_vec());
        Ok(options)
    }

    fn take<'w>(
        &mut self,
        (letters, name, takes): Known,
        value: Option<&str>,
        rest: &mut std::iter::Peekable<impl Iterator<Item = &'w String>>,
    ) -> Result<(), String> {
        let missing = || format!("option '{letters}' ({name}) requires a value");
        match takes {
            Takes::Refused => Err(format!("option '{letters}' ({name}) is not supported here")),
            Takes::Nothing => self.set(letters),
            Takes::Value => {
                let value = value.map(str::to_owned).or_else(|| rest.next().cloned()).ok_or_else(missing)?;
                // Archives are created in memory, so there is no temporary file.
                if letters == "n" {
                    self.endings = value;
                }
                Ok(())
            }
            Takes::List => {
                let list = if letters == "x" { &mut self.exclude } else { &mut self.include };
                if let Some(value) = value {
                    list.push(value.to_owned());
                    return Ok(());
                }
                let before = list.len();
                // Words up to the next option or `@` are patterns.
                while let Some(pattern) = rest.next_if(|word| !word.starts_with('-')) {
                    if pattern == "@" {
                        break;
                    }
                    list.push(pattern.clone());
                }
                if list.len() == before { Err(missing()) } else { Ok(()) }
            }
        }
    }

    fn set(&mut self, letters: &str) -> Result<(), String> {
        match letters {
            "r" | "R" if self.recurse || self.patterns => {
                if self.recurse != (letters == "r") {
                    return Err("do not specify both -r and -R".to_owned());
                }
            }
            "r" => self.recurse = true,
            "R" => self.patterns = true,
            "j" => self.junk = true,
            "p" => self.junk = false,
            "q" => (self.quiet, self.verbose) = (true, false),
            "v" => (self.quiet, self.verbose) = (false, true),
            "y" => self.links = true,
            "u" | "f" | "d" => {
                if self.action != Action::Add {
                    return Err("specify just one action".to_owned());
                }
                self.action = match letters {
                    "u" => Action::Update,
                    "f" => Action::Freshen,
                    _ => Action::Delete,
                };
            }
            "FS" => self.sync = true,
            "m" => self.remove = true,
            "D" => self.no_directories = true,
            "@" => self.names_from_input = true,
            "T" => self.test = true,
            "o" => self.latest = true,
            "z" => self.comment = true,
            "sf" => self.show = true,
            "h" => self.help = true,
            "g" => self.grow = true,
            // These properties of files are not stored anyway: owners and additional times.
            "X" => {}
            level => self.level = level.parse().map_err(|_| format!("option '{level}' is not supported here"))?,
        }
        Ok(())
    }

    /// Returns true if a file of this name is stored without compression.
    pub(super) fn stores(&self, name: &str) -> bool {
        // The best compression applies to all files.
        let all = self.level == 9 || matches!(self.endings.as_str(), ":" | ";");
        !all && self.endings.split([':', ';']).any(|ending| !ending.is_empty() && name.ends_with(ending))
    }
}

/// Returns the option with the longest matching name at the beginning of the letters.
fn by_letters(letters: &str) -> Result<Known, String> {
    let known =
        TABLE.iter().chain(&MORE).filter(|known| letters.starts_with(known.0)).max_by_key(|known| known.0.len());
    let letter = letters.chars().next().unwrap_or_default();
    known.copied().ok_or_else(|| format!("short option '{letter}' not supported"))
}

/// Returns the option with this name, which may be abbreviated.
fn by_name(name: &str) -> Result<Known, String> {
    let all = || TABLE.iter().chain(&MORE);
    let found: Vec<&Known> = all().filter(|known| known.1.starts_with(name)).collect();
    match (all().find(|known| known.1 == name), &found[..]) {
        (Some(known), _) => Ok(*known),
        (None, [known]) => Ok(**known),
        (None, []) => Err(format!("long option '{name}' not supported")),
        (None, _) => Err(format!("long option '{name}' ambiguous")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, String> {
        Options::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_those_of_zip() {
        let options = read("-9rFSq a.zip d -x*.o b --exclude c @ e").expect("words");
        assert!(options.recurse && options.sync && options.quiet && options.level == 9);
        assert_eq!((options.operands.join(" "), options.exclude.join(" ")), ("a.zip d b e".into(), "*.o c".into()));
        assert_eq!(options.words.0.join(" "), "-9rFSq a.zip");
        assert_eq!(read("-e a").map(drop), Err("option 'e' (encrypt) is not supported here".to_owned()));
        assert_eq!(read("-- a").map(drop), Err("can't use -- before archive name".to_owned()));
        assert_eq!(read("-d -u a").map(drop), Err("specify just one action".to_owned()));
        for pair in ["-dg", "-dv", "-ic", "-nw", "-TT", "-fz"] {
            assert!(read(&format!("{pair} a d")).is_err_and(|why| why.contains("not supported")), "{pair}");
        }
        assert_eq!(read("--foo a").map(drop), Err("long option 'foo' not supported".to_owned()));
    }

    #[test]
    fn archives_are_not_compressed_again() {
        let options = read("a b.zip").expect("words");
        assert!(options.stores("b.zip") && !options.stores("zip"));
        assert!(!read("-9 a").expect("words").stores("b.zip"));
        assert!(read("-n .x:.y a").expect("words").stores("b.y"));
    }
}
