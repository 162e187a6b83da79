//! Options of `tree`.

/// Lines that a wrong call is answered with, behind the message.
pub(super) const USAGE: &str = "\
usage: tree [-acdfghilnpqrstuvxACDFJQNSUX] [-L level [-R]] [-H  baseHREF]
\t[-T title] [-o filename] [-P pattern] [-I pattern] [--gitignore]
\t[--gitfile[=]file] [--matchdirs] [--metafirst] [--ignore-case]
\t[--nolinks] [--hintro[=]file] [--houtro[=]file] [--inodes] [--device]
\t[--sort[=]<name>] [--dirsfirst] [--filesfirst] [--filelimit #] [--si]
\t[--du] [--prune] [--charset[=]X] [--timefmt[=]format] [--fromfile]
\t[--fflinks] [--info] [--infofile[=]file] [--noreport] [--version]
\t[--help] [--] [directory ...]
";

/// Lines of `--help` behind the usage: the options that are there.
pub(super) const HELP: &str = "  \
  -a            All files are listed.
  -d            List directories only.
  -l            Follow symbolic links like directories.
  -f            Print the full path prefix for each file.
  -x            Stay on current filesystem only.
  -L level      Descend only level directories deep.
  -P pattern    List only those files that match the pattern given.
  -I pattern    Do not list files that match the given pattern.
  --gitignore   Filter by using .gitignore files.
  --ignore-case Ignore case when pattern matching.
  --matchdirs   Include directory names in -P pattern matching.
  --metafirst   Print meta-data at the beginning of each line.
  --prune       Prune empty directories from the output.
  --noreport    Turn off file/directory count at end of tree listing.
  --charset X   Use charset X (UTF-8 or ASCII) for indentation lines.
  --filelimit # Do not descend dirs with more than # files in them.
  -o filename   Output to file instead of stdout.
  -q, -N        Print non-printable characters as '?', or as is.
  -Q            Quote filenames with double quotes.
  -p            Print the protections for each file.
  -u, -g        Displays file owner, or file group owner.
  -s            Print the size in bytes of each file.
  -h            Print the size in a more human readable way.
  --si          Like -h, but use in SI units (powers of 1000).
  -D            Print the date of last modification.
  --timefmt <f> Print and format time according to the format <f>.
  -F            Appends '/', '=', '*', '@', '|' or '>' as per ls -F.
  -v, -t, -c    Sort files by version, or by last modification time.
  -U, -r        Leave files unsorted, or reverse the order of the sort.
  --dirsfirst   List directories before files (-U disables).
  --filesfirst  List files before directories (-U disables).
  --sort X      Select sort: name,version,size,mtime,ctime.
  -i            Don't print indentation lines.
  -n, -C        Turn colorization off always, or on (without TERM there is none).
  -X, -J        Prints out an XML, or a JSON representation of the tree.
";

/// Long options that take a value.
const LONG_WITH_VALUE: [&str; 4] = ["charset", "filelimit", "sort", "timefmt"];

/// Form of the output.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Text,
    Json,
    Xml,
}

/// Key that files are sorted by.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SortKey {
    Name,
    Version,
    Size,
    Time,
    /// No sorting (`-U`).
    Unsorted,
}

/// Order of files and directories.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum FirstKind {
    Either,
    Directories,
    Files,
}

/// Unit of sizes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SizeUnit {
    Bytes,
    /// Powers of 1024 or of 1000.
    Human(u64),
}

/// Request of a command line.
pub(super) enum Request {
    Listing(Box<TreeOptions>),
    Help,
    Version,
}

/// Options and directories of one call.
pub(super) struct TreeOptions {
    pub(super) all: bool,
    pub(super) directories_only: bool,
    pub(super) follow_links: bool,
    pub(super) full_path: bool,
    pub(super) level: Option<usize>,
    pub(super) patterns: Vec<String>,
    pub(super) ignored_patterns: Vec<String>,
    pub(super) ignore_case: bool,
    pub(super) match_directories: bool,
    pub(super) gitignore: bool,
    pub(super) prune: bool,
    pub(super) file_limit: Option<usize>,
    pub(super) output: Option<String>,
    pub(super) no_report: bool,
    /// Names are coloured on a terminal that `TERM` names.
    pub(super) colored: bool,
    pub(super) no_indent: bool,
    pub(super) ascii: bool,
    pub(super) meta_first: bool,
    pub(super) quote: bool,
    pub(super) classify: bool,
    pub(super) modes: bool,
    pub(super) user: bool,
    pub(super) group: bool,
    pub(super) size: Option<SizeUnit>,
    pub(super) date: bool,
    pub(super) time_format: Option<String>,
    pub(super) sort: SortKey,
    pub(super) reverse: bool,
    pub(super) first: FirstKind,
    pub(super) form: Form,
    pub(super) directories: Vec<String>,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self {
            all: false,
            directories_only: false,
            follow_links: false,
            full_path: false,
            level: None,
            patterns: Vec::new(),
            ignored_patterns: Vec::new(),
            ignore_case: false,
            match_directories: false,
            gitignore: false,
            prune: false,
            file_limit: None,
            output: None,
            no_report: false,
            colored: false,
            no_indent: false,
            ascii: false,
            meta_first: false,
            quote: false,
            classify: false,
            modes: false,
            user: false,
            group: false,
            size: None,
            date: false,
            time_format: None,
            sort: SortKey::Name,
            reverse: false,
            first: FirstKind::Either,
            form: Form::Text,
            directories: Vec::new(),
        }
    }
}

impl TreeOptions {
    /// Reads a command line. The error is the message of a wrong call.
    pub(super) fn parse(words: &[String]) -> Result<Request, String> {
        let mut options = Self::default();
        // Values of letters stand in the words behind the one that has the letters, in their order.
        let mut words = words.iter();
        let mut only_operands = false;
        while let Some(word) = words.next() {
            if only_operands || word.len() < 2 || !word.starts_with('-') {
                options.directories.push(word.clone());
            } else if word == "--" {
                only_operands = true;
            } else if let Some(long) = word.strip_prefix("--") {
                match long {
                    "help" => return Ok(Request::Help),
                    "version" => return Ok(Request::Version),
                    long => options.take_long(long, &mut words)?,
                }
            } else {
                for letter in word[1..].chars() {
                    options.take_letter(letter, &mut words)?;
                }
            }
        }
        if options.directories.is_empty() {
            options.directories.push(".".to_owned());
        }
        Ok(Request::Listing(Box::new(options)))
    }

    fn take_letter<'w>(&mut self, letter: char, words: &mut impl Iterator<Item = &'w String>) -> Result<(), String> {
        match letter {
            'a' => self.all = true,
            'd' => self.directories_only = true,
            'l' => self.follow_links = true,
            'f' => self.full_path = true,
            // There is one file system, names hold no control characters, and nothing is coloured.
            'x' | 'q' | 'N' | 'n' => {}
            'L' => self.level = Some(level(&value_of_letter('L', words)?)?),
            'P' => self.patterns.push(value_of_letter('P', words)?),
            'I' => self.ignored_patterns.push(value_of_letter('I', words)?),
            'o' => self.output = Some(value_of_letter('o', words)?),
            'i' => self.no_indent = true,
            'Q' => self.quote = true,
            'F' => self.classify = true,
            'p' => self.modes = true,
            'u' => self.user = true,
            'g' => self.group = true,
            's' => self.size = Some(self.size.unwrap_or(SizeUnit::Bytes)),
            'h' => self.size = Some(SizeUnit::Human(1024)),
            'D' => self.date = true,
            'v' => self.sort = SortKey::Version,
            't' | 'c' => self.sort = SortKey::Time,
            'U' => self.sort = SortKey::Unsorted,
            'r' => self.reverse = true,
            'C' => self.colored = true,
            'J' => self.form = Form::Json,
            'X' => self.form = Form::Xml,
            'A' | 'H' | 'R' | 'S' | 'T' => return Err(unsupported(&format!("-{letter}"))),
            _ => return Err(format!("tree: Invalid argument -`{letter}'.\n{USAGE}")),
        }
        Ok(())
    }

    fn take_long<'w>(&mut self, long: &str, words: &mut impl Iterator<Item = &'w String>) -> Result<(), String> {
        let (name, inline) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        if LONG_WITH_VALUE.contains(&name) {
            let value = inline.or_else(|| words.next().map(String::as_str));
            return match value {
                Some(value) => self.take_long_value(name, value),
                None => Err(format!("tree: Missing argument to --{name}\n")),
            };
        }
        match long {
            "gitignore" => self.gitignore = true,
            "ignore-case" => self.ignore_case = true,
            "matchdirs" => self.match_directories = true,
            "metafirst" => self.meta_first = true,
            "prune" => self.prune = true,
            "noreport" => self.no_report = true,
            "nolinks" => {}
            "si" => self.size = Some(SizeUnit::Human(1000)),
            "dirsfirst" => self.first = FirstKind::Directories,
            "filesfirst" => self.first = FirstKind::Files,
            _ if ["du", "device", "fflinks", "fromfile", "info", "inodes"].contains(&long) => {
                return Err(unsupported(&format!("--{long}")));
            }
            _ if ["gitfile", "hintro", "houtro", "infofile"].contains(&name) => {
                return Err(unsupported(&format!("--{name}")));
            }
            _ => return Err(format!("tree: Invalid argument `--{long}'.\n{USAGE}")),
        }
        Ok(())
    }

    fn take_long_value(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "charset" if value.to_ascii_lowercase().replace('-', "") == "utf8" => self.ascii = false,
            "charset" if ["ascii", "us-ascii", "ansi_x3.4-1968", "c", "posix"].contains(&&*value.to_lowercase()) => {
                self.ascii = true;
            }
            "charset" => return Err(format!("tree: --charset={value} is not supported; use UTF-8 or ASCII\n")),
            "filelimit" => self.file_limit = Some(value.parse().unwrap_or(0)).filter(|limit| *limit > 0),
            "timefmt" => (self.date, self.time_format) = (true, Some(value.to_owned())),
            _ => self.sort = sort_key(value)?,
        }
        Ok(())
    }
}

fn sort_key(name: &str) -> Result<SortKey, String> {
    Ok(match name {
        "name" => SortKey::Name,
        "version" => SortKey::Version,
        "size" => SortKey::Size,
        "mtime" | "ctime" => SortKey::Time,
        _ => {
            let known = "name,version,size,mtime,ctime";
            return Err(format!("tree: Sort type '{name}' not valid, should be one of: {known}\n"));
        }
    })
}

fn value_of_letter<'w>(letter: char, words: &mut impl Iterator<Item = &'w String>) -> Result<String, String> {
    words.next().cloned().ok_or_else(|| format!("tree: Missing argument to -{letter} option.\n"))
}

/// Reads a depth as C's `strtoul` and a comparison with zero do.
fn level(text: &str) -> Result<usize, String> {
    let digits = text.trim_start();
    let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
    let level = digits.parse().unwrap_or(0);
    if level == 0 { Err("tree: Invalid level, must be greater than 0.\n".to_owned()) } else { Ok(level) }
}

fn unsupported(option: &str) -> String {
    format!("tree: {option} is not supported here\n")
}
