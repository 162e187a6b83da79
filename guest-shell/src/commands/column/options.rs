//! Command-line options of `column`.

/// Options of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// True if lines become rows of a table.
    pub(crate) table: bool,
    /// True if tables are written as JSON.
    pub(crate) json: bool,
    /// Name of the table in JSON.
    pub(crate) name: String,
    /// True if lines are arranged row by row, and not column by column.
    pub(crate) rows_first: bool,
    /// True if empty lines are kept.
    pub(crate) keep_empty: bool,
    /// True if the header is not printed.
    pub(crate) no_header: bool,
    /// Names of the columns.
    pub(crate) columns: Vec<String>,
    /// Number of columns; the last one contains the rest of a line.
    pub(crate) limit: Option<usize>,
    /// Columns that come first.
    pub(crate) order: Vec<String>,
    /// Columns that are left out.
    pub(crate) hidden: Vec<String>,
    /// Columns whose cells are aligned to the right.
    pub(crate) right: Vec<String>,
    /// Columns that may be truncated, and those that may be wrapped, if the table is too wide.
    pub(crate) flexible: Vec<String>,
    /// Characters that separate cells; `None` for white space.
    pub(crate) separator: Option<String>,
    /// Text between cells in the output.
    pub(crate) output_separator: Option<String>,
    /// Characters on a line.
    pub(crate) width: usize,
    /// Files that are read.
    pub(crate) files: Vec<String>,
}

/// Action that the command line requests.
#[derive(Debug)]
pub(crate) enum Request {
    /// Text is put into columns.
    Run(Box<Options>),
    /// A text is printed.
    Print(&'static str),
    /// The command line is invalid; an error message.
    Wrong(String),
}

/// Default width of a line.
const WIDTH: usize = 80;

const VERSION: &str = "column from util-linux 2.38.1\n";

const HELP: &str = "
Usage:
 column [options] [<file>...]

Columnate lists.

Options:
 -t, --table                      create a table
 -n, --table-name <name>          table name for JSON output
 -O, --table-order <columns>      specify order of output columns
 -N, --table-columns <names>      comma separated columns names
 -l, --table-columns-limit <num>  maximal number of input columns
 -d, --table-noheadings           don't print header
 -e, --table-header-repeat        repeat header for each page
 -H, --table-hide <columns>       don't print the columns
 -R, --table-right <columns>      right align text in these columns
 -L, --keep-empty-lines           don't ignore empty lines
 -J, --json                       use JSON output format for table
 -c, --output-width <width>       width of output in number of characters
 -o, --output-separator <string>  columns separator for table output (default is two spaces)
 -s, --separator <string>         possible table delimiters
 -x, --fillrows                   fill rows before columns
 -h, --help                       display this help
 -V, --version                    display version
";

/// Long options, their letters, and whether they take an argument.
const LONG: [(&str, char, bool); 22] = [
    ("columns", 'c', true),
    ("output-width", 'c', true),
    ("fillrows", 'x', false),
    ("help", 'h', false),
    ("json", 'J', false),
    ("keep-empty-lines", 'L', false),
    ("output-separator", 'o', true),
    ("separator", 's', true),
    ("table", 't', false),
    ("table-columns", 'N', true),
    ("table-columns-limit", 'l', true),
    ("table-empty-lines", 'L', false),
    ("table-header-repeat", 'e', false),
    ("table-hide", 'H', true),
    ("table-name", 'n', true),
    ("table-noextreme", 'E', true),
    ("table-noheadings", 'd', false),
    ("table-order", 'O', true),
    ("table-right", 'R', true),
    ("table-truncate", 'T', true),
    ("table-wrap", 'W', true),
    ("version", 'V', false),
];

/// Letters of options that take an argument.
const WITH_ARGUMENT: &str = "cosNlHnEORTWrip";

/// Parses the command line. `columns` is the variable `COLUMNS`.
pub(crate) fn read(words: &[String], columns: Option<&str>) -> Request {
    let width = columns.and_then(|width| width.parse().ok()).filter(|width| *width > 0).unwrap_or(WIDTH);
    let mut options = Options { name: "table".to_owned(), width, ..Options::default() };
    let mut named = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            options.files.extend(words.by_ref().cloned());
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let (letter, takes) = match long_option(name) {
                Ok(found) => found,
                Err(what) => return wrong_option(&what),
            };
            let value = match (takes, value) {
                (false, Some(_)) => return wrong_option(&format!("option '--{name}' doesn't allow an argument")),
                (true, None) => words.next().cloned(),
                (_, value) => value.map(str::to_owned),
            };
            if takes && value.is_none() {
                return wrong_option(&format!("option '--{name}' requires an argument"));
            }
            if let Err(end) = apply(letter, value.unwrap_or_default(), &mut options, &mut named) {
                return end;
            }
        } else if word.len() > 1 && word.starts_with('-') {
            for (at, letter) in word.char_indices().skip(1) {
                let takes = WITH_ARGUMENT.contains(letter);
                let rest = &word[at + letter.len_utf8()..];
                let value = match (takes, rest.is_empty()) {
                    (true, false) => Some(rest.to_owned()),
                    (true, true) => words.next().cloned(),
                    (false, _) => Some(String::new()),
                };
                let Some(value) = value else {
                    return wrong_option(&format!("option requires an argument -- '{letter}'"));
                };
                if let Err(end) = apply(letter, value, &mut options, &mut named) {
                    return end;
                }
                if takes {
                    break;
                }
            }
        } else {
            options.files.push(word.clone());
        }
    }
    if named && !options.table {
        return Request::Wrong("column: option --table required for all --table-*\n".to_owned());
    }
    if options.table && options.rows_first {
        return Request::Wrong("column: mutually exclusive arguments: --fillrows --table\n".to_owned());
    }
    if options.json && options.columns.is_empty() {
        return Request::Wrong("column: option --table-columns required for --json\n".to_owned());
    }
    Request::Run(Box::new(options))
}

fn wrong_option(what: &str) -> Request {
    Request::Wrong(format!("column: {what}\nTry 'column --help' for more information.\n"))
}

fn long_option(name: &str) -> Result<(char, bool), String> {
    let starting: Vec<_> = LONG.iter().filter(|(long, ..)| long.starts_with(name)).collect();
    let exact = LONG.iter().find(|(long, ..)| *long == name);
    match (exact, &starting[..]) {
        (Some((_, letter, takes)), _) | (None, [(_, letter, takes)]) => Ok((*letter, *takes)),
        (None, []) => Err(format!("unrecognized option '--{name}'")),
        (None, _) => Err(format!("option '--{name}' is ambiguous")),
    }
}

fn list(value: &str) -> Vec<String> {
    value.split(',').map(str::to_owned).collect()
}

fn apply(letter: char, value: String, options: &mut Options, named: &mut bool) -> Result<(), Request> {
    *named |= "nONEHRTW".contains(letter);
    match letter {
        'c' => options.width = width(&value)?,
        'x' => options.rows_first = true,
        'L' => options.keep_empty = true,
        'o' => options.output_separator = Some(value),
        's' => options.separator = Some(value),
        't' => options.table = true,
        'J' => {
            options.json = true;
            options.table = true;
        }
        'N' => options.columns = list(&value),
        'l' => options.limit = Some(limit(&value)?),
        'd' => options.no_header = true,
        // Pages are for terminals only.
        'e' => {}
        'H' => options.hidden = list(&value),
        'n' => options.name = value,
        'O' => options.order = list(&value),
        'R' => options.right = list(&value),
        'T' | 'W' => options.flexible.extend(list(&value)),
        'h' => return Err(Request::Print(HELP)),
        'V' => return Err(Request::Print(VERSION)),
        'r' | 'i' | 'p' | 'E' => {
            return Err(Request::Wrong(format!("column: option -{letter} is not implemented here\n")));
        }
        _ => return Err(wrong_option(&format!("invalid option -- '{letter}'"))),
    }
    Ok(())
}

fn width(value: &str) -> Result<usize, Request> {
    value.parse().map_err(|_| Request::Wrong(format!("column: invalid columns argument: '{value}'\n")))
}

fn limit(value: &str) -> Result<usize, Request> {
    match value.parse() {
        Ok(0) => Err(Request::Wrong("column: columns limit must be greater than zero\n".to_owned())),
        Ok(limit) => Ok(limit),
        Err(_) => Err(Request::Wrong(format!("column: invalid columns limit argument: '{value}'\n"))),
    }
}
