//! Command-line options of `jq`.

use super::reader::read_one;

/// Form of the output. If several options are given, the last one in this order applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Raw {
    #[default]
    Json,
    /// Strings without quotes, one per line (`-r`).
    Lines,
    /// Strings without quotes, and nothing between outputs (`-j`).
    Joined,
    /// Strings without quotes, with a NUL after each output (`--raw-output0`).
    Nul,
}

/// Variable that is set on the command line.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    Text(String),
    Json(String),
    /// Values of a file.
    Slurped(String),
    /// Contents of a file as text.
    RawFile(String),
}

/// Options and operands of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) filter: Option<String>,
    /// File that contains the filter.
    pub(crate) filter_file: Option<String>,
    /// True if the first word names a file with the filter (`-f`).
    from_file: bool,
    pub(crate) files: Vec<String>,
    pub(crate) positional: Vec<Given>,
    pub(crate) named: Vec<(String, Given)>,
    pub(crate) directories: Vec<String>,
    pub(crate) null_input: bool,
    pub(crate) raw_input: bool,
    pub(crate) slurp: bool,
    pub(crate) raw: Raw,
    pub(crate) ascii: bool,
    pub(crate) sort_keys: bool,
    pub(crate) color: bool,
    pub(crate) exit_status: bool,
    pub(crate) seq: bool,
    pub(crate) stream: bool,
    pub(crate) stream_errors: bool,
    /// Indentation of one level; `None` for output on one line.
    pub(crate) indent: Option<String>,
}

impl Options {
    fn write(&mut self, raw: Raw) {
        self.raw = self.raw.max(raw);
    }
}

/// End of the call before a filter runs: the output and the status.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) output: String,
    pub(crate) error: String,
    pub(crate) status: i32,
}

const HELP: &str = include_str!("help.txt");
const HINT: &str =
    "Use jq --help for help with command-line options,\nor see the jq manpage, or online docs at https://jqlang.org\n";

/// Version whose behaviour is implemented.
const VERSION: &str = "jq-1.8.2\n";

fn wrong(message: &str) -> Ended {
    Ended { output: String::new(), error: format!("jq: {message}\n{HINT}"), status: 2 }
}

/// Meaning of words without a dash.
#[derive(Clone, Copy, PartialEq)]
enum Words {
    Files,
    Texts,
    Json,
}

struct Parser<'a> {
    words: std::slice::Iter<'a, String>,
    options: Options,
    kind: Words,
    only_words: bool,
}

/// Reads the command line.
pub(crate) fn parse(words: &[String]) -> Result<Options, Ended> {
    let options = Options { indent: Some("  ".to_owned()), ..Options::default() };
    let mut parser = Parser { words: words.iter(), options, kind: Words::Files, only_words: false };
    while let Some(word) = parser.words.next() {
        match word
            .strip_prefix('-')
            .filter(|rest| !parser.only_words && rest.starts_with(|it: char| it == '-' || it.is_ascii_alphabetic()))
        {
            None => parser.word(word)?,
            Some("-") => parser.only_words = true,
            Some(rest) => match rest.strip_prefix('-') {
                Some(name) => parser.long(name)?,
                None => parser.short(rest)?,
            },
        }
    }
    let mut options = parser.options;
    if options.from_file {
        options.filter_file = options.filter.take();
        if options.filter_file.is_none() {
            return Err(wrong("-f takes a parameter (e.g. -f file)"));
        }
    }
    if options.filter.is_none() && options.filter_file.is_none() {
        // As where neither standard input nor output is a terminal ("INVOKING JQ" in jq's manual): the default filter
        // is `.`.
        options.filter = Some(".".to_owned());
    }
    Ok(options)
}

impl Parser<'_> {
    fn word(&mut self, word: &str) -> Result<(), Ended> {
        if self.options.filter.is_none() {
            self.options.filter = Some(word.to_owned());
            return Ok(());
        }
        match self.kind {
            Words::Files => self.options.files.push(word.to_owned()),
            Words::Texts => self.options.positional.push(Given::Text(word.to_owned())),
            Words::Json => {
                read_one(word).map_err(|_| wrong("invalid JSON text passed to --jsonargs"))?;
                self.options.positional.push(Given::Json(word.to_owned()));
            }
        }
        Ok(())
    }

    fn short(&mut self, letters: &str) -> Result<(), Ended> {
        for (at, letter) in letters.char_indices() {
            let options = &mut self.options;
            match letter {
                's' => options.slurp = true,
                'r' => options.write(Raw::Lines),
                'j' => options.write(Raw::Joined),
                'a' => options.ascii = true,
                'c' => options.indent = None,
                'C' => options.color = true,
                'M' => options.color = false,
                'S' => options.sort_keys = true,
                'e' => options.exit_status = true,
                'n' => options.null_input = true,
                'R' => options.raw_input = true,
                // Line ends are never changed.
                'b' => {}
                'f' => options.from_file = true,
                'L' => {
                    let attached = &letters[at + 1..];
                    let directory =
                        if attached.is_empty() { self.words.next().cloned() } else { Some(attached.to_owned()) };
                    let missing = "-L takes a parameter: (e.g. -L /search/path or -L/search/path)";
                    self.options.directories.push(directory.ok_or_else(|| wrong(missing))?);
                    return Ok(());
                }
                'h' => return Err(Ended { output: HELP.to_owned(), error: String::new(), status: 0 }),
                'V' => return Err(Ended { output: VERSION.to_owned(), error: String::new(), status: 0 }),
                other => return Err(wrong(&format!("Unknown option -{other}"))),
            }
        }
        Ok(())
    }

    fn two(&mut self, option: &str, example: &str) -> Result<(String, String), Ended> {
        match (self.words.next(), self.words.next()) {
            (Some(name), Some(value)) => Ok((name.clone(), value.clone())),
            _ => Err(wrong(&format!("--{option} takes two parameters (e.g. --{option} {example})"))),
        }
    }

    fn long(&mut self, name: &str) -> Result<(), Ended> {
        let options = &mut self.options;
        match name {
            "slurp" => options.slurp = true,
            "raw-output" => options.write(Raw::Lines),
            "join-output" => options.write(Raw::Joined),
            "raw-output0" => options.write(Raw::Nul),
            "ascii-output" => options.ascii = true,
            "compact-output" => options.indent = None,
            "color-output" => options.color = true,
            "monochrome-output" => options.color = false,
            "sort-keys" => options.sort_keys = true,
            "exit-status" => options.exit_status = true,
            "null-input" => options.null_input = true,
            "raw-input" => options.raw_input = true,
            "tab" => options.indent = Some("\t".to_owned()),
            "unbuffered" | "binary" => {}
            "seq" => options.seq = true,
            "stream" => options.stream = true,
            "stream-errors" => (options.stream, options.stream_errors) = (true, true),
            "args" => self.kind = Words::Texts,
            "jsonargs" => self.kind = Words::Json,
            "from-file" => return self.short("f"),
            "library-path" => return self.short("L"),
            "help" => return self.short("h"),
            "version" => return self.short("V"),
            "build-configuration" => {
                return Err(Ended { output: "decnum\n".to_owned(), error: String::new(), status: 0 });
            }
            "indent" => return self.indent(),
            "arg" => {
                let (name, value) = self.two("arg", "varname value")?;
                self.give(name, Given::Text(value));
            }
            "argjson" => {
                let (name, value) = self.two("argjson", "varname text")?;
                if !self.is_given(&name) {
                    read_one(&value).map_err(|_| wrong("invalid JSON text passed to --argjson"))?;
                }
                self.give(name, Given::Json(value));
            }
            "slurpfile" => {
                let (name, file) = self.two("slurpfile", "varname filename")?;
                self.give(name, Given::Slurped(file));
            }
            "rawfile" => {
                let (name, file) = self.two("rawfile", "varname filename")?;
                self.give(name, Given::RawFile(file));
            }
            other => return Err(wrong(&format!("Unknown option --{other}"))),
        }
        Ok(())
    }

    fn indent(&mut self) -> Result<(), Ended> {
        let width = self.words.next().ok_or_else(|| wrong("--indent takes one parameter"))?;
        let width: i32 = width.parse().unwrap_or(-2);
        if !(-1..=7).contains(&width) {
            return Err(wrong("--indent takes a number between -1 and 7"));
        }
        // -1 is a tab.
        self.options.indent = Some(usize::try_from(width).map_or_else(|_| "\t".to_owned(), |width| " ".repeat(width)));
        Ok(())
    }

    fn is_given(&self, name: &str) -> bool {
        self.options.named.iter().any(|(known, _)| known == name)
    }

    /// Sets a variable; the first value of a name counts.
    fn give(&mut self, name: String, value: Given) {
        if !self.is_given(&name) {
            self.options.named.push((name, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Raw, parse};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_in_a_cluster_all_count() {
        let options = parse(&words("-nrc . a")).expect("they are known");
        assert!(options.null_input && options.indent.is_none() && options.raw == Raw::Lines);
        assert_eq!((options.filter.as_deref(), options.files), (Some("."), vec!["a".to_owned()]));
    }

    #[test]
    fn filter_that_is_not_given_is_the_identity() {
        let options = parse(&words("-c")).expect("nothing is missing");
        assert_eq!((options.filter.as_deref(), options.files), (Some("."), Vec::new()));
    }

    #[test]
    fn filter_file_is_the_first_word_wherever_the_option_is() {
        for line in ["-f a b", "a b -f", "-nf a b", "a --from-file b"] {
            let options = parse(&words(line)).expect("nothing is missing");
            assert_eq!((options.filter_file.as_deref(), options.files), (Some("a"), vec!["b".to_owned()]), "{line}");
        }
        assert_eq!(parse(&words("-f")).err().map(|ended| ended.status), Some(2));
    }

    #[test]
    fn joined_output_outweighs_raw_output() {
        for (line, raw) in [("-jr", Raw::Joined), ("-rj", Raw::Joined), ("--raw-output0 -j", Raw::Nul)] {
            assert_eq!(parse(&words(line)).map(|options| options.raw).ok(), Some(raw), "{line}");
        }
    }

    #[test]
    fn variable_given_twice_is_not_read_again() {
        assert!(parse(&words("--argjson a 1 --argjson a { .")).is_ok());
    }

    #[test]
    fn unknown_option_is_a_usage_error() {
        assert_eq!(parse(&words("--foo .")).err().map(|ended| ended.status), Some(2));
        assert_eq!(parse(&words("--argjson a {")).err().map(|ended| ended.status), Some(2));
    }
}
