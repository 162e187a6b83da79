//! Options of `ls`, from clap's matches.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::clap::ArgMatches;
use bashkit::clap::parser::ValueSource;

use super::unit::{Unit, block_size};
use bashkit::builtins::ls::quoting::QuotingStyle;

/// Options that clap accepts and `ls` does not implement. They are refused, so that no script gets other output than it
/// requested.
const REFUSED: &[&str] = &["author", "context", "dired"];

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Format {
    OnePerLine,
    Long,
    Columns,
    Across,
    Commas,
}

/// Rule for the names that begin with a dot.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Hidden {
    None,
    Almost,
    All,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sort {
    Name,
    None,
    Size,
    Time,
    Version,
    Extension,
    Width,
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

/// Links that are followed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Follow {
    Never,
    OperandsToDirectories,
    Operands,
    Always,
}

pub(super) struct Options {
    pub(super) format: Format,
    pub(super) owner: bool,
    pub(super) group: bool,
    pub(super) numeric: bool,
    pub(super) inode: bool,
    pub(super) blocks: bool,
    pub(super) hidden: Hidden,
    /// Patterns of `-I` and `-B`, and of `--hide`.
    pub(super) ignore: Vec<String>,
    pub(super) sort: Sort,
    pub(super) reverse: bool,
    pub(super) directories_first: bool,
    /// Show and sort by the time of creation.
    pub(super) created: bool,
    /// Formats of `date` for times of the last six months, and for other times.
    pub(super) recent: String,
    pub(super) old: String,
    pub(super) size_unit: Unit,
    pub(super) block_unit: Unit,
    pub(super) indicator: Indicator,
    pub(super) colour: bool,
    pub(super) quoting: QuotingStyle,
    pub(super) hide_controls: bool,
    pub(super) follow: Follow,
    pub(super) recursive: bool,
    pub(super) directory: bool,
    /// Width of lines; 0 for no limit.
    pub(super) width: usize,
    pub(super) tab: usize,
    pub(super) end: char,
}

/// Returns the text of an option with a value.
fn value<'a>(matches: &'a ArgMatches, id: &str) -> Option<&'a str> {
    matches.get_one::<String>(id).map(String::as_str)
}

fn values(matches: &ArgMatches, id: &str) -> Vec<String> {
    matches.get_many::<String>(id).map(|all| all.cloned().collect()).unwrap_or_default()
}

/// Returns the position of the last occurrence of an option; `None` if there is none.
fn position(matches: &ArgMatches, id: &str) -> Option<usize> {
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return None;
    }
    matches.indices_of(id).and_then(Iterator::last)
}

/// Returns the one of `ids` that was given last.
fn last<'a>(matches: &ArgMatches, ids: &[&'a str]) -> Option<&'a str> {
    let given = ids.iter().filter_map(|id| Some((position(matches, id)?, *id)));
    given.max().map(|(_, id)| id)
}

fn is_always(when: &str) -> bool {
    matches!(when, "always" | "yes" | "force")
}

fn refused(matches: &ArgMatches) -> Option<String> {
    let mut given: Vec<&str> = REFUSED.iter().copied().filter(|id| position(matches, id).is_some()).collect();
    if value(matches, "hyperlink").is_some_and(is_always) {
        given.push("hyperlink");
    }
    (!given.is_empty()).then(|| format!("ls: option(s) not yet implemented in bashkit: {}\n", given.join(", ")))
}

/// Words of options that uutils' command line knows, and GNU's 9.1 does not.
const UNKNOWN_WORDS: [(&str, &[&str], &str); 2] = [
    ("sort", &["name"], "  - 'none'\n  - 'time'\n  - 'size'\n  - 'extension'\n  - 'version'\n  - 'width'"),
    (
        "time",
        &["mtime", "modification"],
        "  - 'atime', 'access', 'use'\n  - 'ctime', 'status'\n  - 'birth', 'creation'",
    ),
];

/// Returns the message about a word that GNU's refuses.
pub(super) fn unknown_word(matches: &ArgMatches) -> Option<String> {
    UNKNOWN_WORDS.iter().find_map(|(option, words, valid)| {
        let word = value(matches, option).filter(|word| words.contains(word))?;
        Some(format!(
            "ls: invalid argument '{word}' for '--{option}'\nValid arguments are:\n{valid}\nTry 'ls --help' for more \
             information.\n"
        ))
    })
}

/// Returns the format of the list. `-1` overrides every format except the long one.
fn format(matches: &ArgMatches) -> Format {
    const FORMATS: &[&str] = &["format", "C", "long", "x", "m", "g", "o", "numeric-uid-gid", "full-time"];
    let chosen = last(matches, FORMATS);
    let one = ["1", "zero"].iter().filter_map(|id| position(matches, id)).max();
    let found = match chosen {
        None => Format::OnePerLine,
        Some("C") => Format::Columns,
        Some("x") => Format::Across,
        Some("m") => Format::Commas,
        Some("format") => match value(matches, "format").unwrap_or_default() {
            "single-column" => Format::OnePerLine,
            "columns" | "vertical" => Format::Columns,
            "across" | "horizontal" => Format::Across,
            "commas" => Format::Commas,
            _ => Format::Long,
        },
        Some(_) => Format::Long,
    };
    let later = one > chosen.and_then(|id| position(matches, id));
    if later && found != Format::Long {
        return Format::OnePerLine;
    }
    found
}

fn sort(matches: &ArgMatches, format: Format) -> Sort {
    if matches.get_flag("f") {
        return Sort::None;
    }
    match last(matches, &["sort", "S", "t", "U", "v", "X"]) {
        Some("S") => Sort::Size,
        Some("t") => Sort::Time,
        Some("U") => Sort::None,
        Some("v") => Sort::Version,
        Some("X") => Sort::Extension,
        Some(_) => match value(matches, "sort").unwrap_or_default() {
            "none" => Sort::None,
            "time" => Sort::Time,
            "size" => Sort::Size,
            "version" => Sort::Version,
            "extension" => Sort::Extension,
            "width" => Sort::Width,
            _ => Sort::Name,
        },
        // Where no time is shown, selecting a time selects the order.
        None if format != Format::Long && last(matches, &["c", "u", "time"]).is_some() => Sort::Time,
        None => Sort::Name,
    }
}

/// Returns the formats of recent and of old times.
fn time_style(matches: &ArgMatches) -> Result<(String, String), String> {
    let mut style = match last(matches, &["full-time", "time-style"]) {
        Some("full-time") => "full-iso",
        Some(_) => value(matches, "time-style").unwrap_or_default(),
        None => "locale",
    };
    if style.starts_with("posix-") {
        style = "locale";
    }
    let (recent, old) = match style {
        "full-iso" => ("%Y-%m-%d %H:%M:%S.%N %z", None),
        "long-iso" => ("%Y-%m-%d %H:%M", None),
        "iso" => ("%m-%d %H:%M", Some("%Y-%m-%d ")),
        "locale" => ("%b %e %H:%M", Some("%b %e  %Y")),
        _ => match style.strip_prefix('+').map(|format| format.split_once('\n')) {
            Some(Some((_, recent))) if recent.contains('\n') => {
                return Err(format!("ls: invalid time style format '{}'\n", &style[1..]));
            }
            Some(Some((old, recent))) => (recent, Some(old)),
            Some(None) => (&style[1..], None),
            None => {
                return Err(format!(
                    "ls: invalid argument '{style}' for 'time style'\nValid arguments are:\n  - \
                     [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n  - \
                     +FORMAT (e.g., +%H:%M) for a 'date'-style format\n\
                     Try 'ls --help' for more information.\n"
                ));
            }
        },
    };
    Ok((recent.to_string(), old.unwrap_or(recent).to_string()))
}

/// Returns the units of sizes and of blocks.
fn units(matches: &ArgMatches) -> Result<(Unit, Unit), String> {
    let both = match last(matches, &["human-readable", "si", "block-size"]) {
        Some("human-readable") => Some(Unit::Human(1024)),
        Some("si") => Some(Unit::Human(1000)),
        Some(_) => Some(block_size(value(matches, "block-size").unwrap_or_default())?),
        None => None,
    };
    let (bytes, kibibytes) = (Unit::Of(1, String::new()), Unit::Of(1024, String::new()));
    Ok(match both {
        Some(unit) => (unit.clone(), unit),
        None => (bytes, kibibytes),
    })
}

fn indicator(matches: &ArgMatches) -> Indicator {
    match last(matches, &["indicator-style", "classify", "file-type", "p"]) {
        Some("p") => Indicator::Slash,
        Some("file-type") => Indicator::FileType,
        Some("classify") if value(matches, "classify").is_none_or(is_always) => Indicator::Classify,
        Some("indicator-style") => match value(matches, "indicator-style").unwrap_or_default() {
            "slash" => Indicator::Slash,
            "file-type" => Indicator::FileType,
            "classify" => Indicator::Classify,
            _ => Indicator::None,
        },
        _ => Indicator::None,
    }
}

fn quoting(matches: &ArgMatches) -> Result<QuotingStyle, String> {
    match last(matches, &["escape", "quote-name", "literal", "quoting-style"]) {
        Some("escape") => Ok(QuotingStyle::Escape),
        Some("quote-name") => Ok(QuotingStyle::C),
        Some("quoting-style") => {
            let style = value(matches, "quoting-style").unwrap_or_default();
            QuotingStyle::from_name(style)
                .ok_or_else(|| format!("ls: quoting style '{style}' not yet implemented in bashkit\n"))
        }
        _ => Ok(QuotingStyle::Literal),
    }
}

fn follow(matches: &ArgMatches, describes_links: bool) -> Follow {
    const FOLLOWS: &[&str] = &["dereference", "dereference-command-line", "dereference-command-line-symlink-to-dir"];
    match last(matches, FOLLOWS) {
        Some("dereference") => Follow::Always,
        Some("dereference-command-line") => Follow::Operands,
        None if describes_links => Follow::Never,
        _ => Follow::OperandsToDirectories,
    }
}

fn number(matches: &ArgMatches, id: &str, what: &str) -> Result<Option<usize>, String> {
    let Some(text) = value(matches, id) else {
        return Ok(None);
    };
    let parsed = text.parse().map_err(|_| format!("ls: invalid {what}: '{text}'\n"));
    parsed.map(Some)
}

/// Returns which hidden entries are listed, and the patterns of entries that are not.
fn left_out(matches: &ArgMatches) -> (Hidden, Vec<String>) {
    let hidden = match last(matches, &["all", "almost-all", "f"]) {
        Some("almost-all") => Hidden::Almost,
        Some(_) => Hidden::All,
        None => Hidden::None,
    };
    let mut ignore = values(matches, "ignore");
    if matches.get_flag("ignore-backups") {
        ignore.extend(["*~".to_string(), ".*~".to_string()]);
    }
    if hidden == Hidden::None {
        ignore.extend(values(matches, "hide"));
    }
    (hidden, ignore)
}

impl Options {
    /// Converts the matches to options. `columns` is the line width of the environment, and `has_colours` tells whether
    /// the terminal that it names has colours. The error is a message for standard error, with status 2.
    pub(super) fn new(matches: &ArgMatches, columns: Option<usize>, has_colours: bool) -> Result<Self, String> {
        if let Some(message) = refused(matches) {
            return Err(message);
        }
        let format = format(matches);
        let (hidden, ignore) = left_out(matches);
        let (size_unit, block_unit) = units(matches)?;
        // An invalid style in the environment is not an error where no time is shown.
        let (recent, old) = match format {
            Format::Long => time_style(matches)?,
            _ => Default::default(),
        };
        let zero = matches.get_flag("zero");
        let directory = matches.get_flag("directory");
        let indicator = indicator(matches);
        let describes_links = directory || format == Format::Long || indicator == Indicator::Classify;
        let sort = sort(matches, format);
        let colour = has_colours
            && !zero
            && matches.value_source("color") == Some(ValueSource::CommandLine)
            && value(matches, "color").is_none_or(is_always);
        Ok(Self {
            format,
            owner: !matches.get_flag("g"),
            group: !matches.get_flag("o") && !matches.get_flag("no-group"),
            numeric: matches.get_flag("numeric-uid-gid"),
            inode: matches.get_flag("inode"),
            blocks: matches.get_flag("size"),
            hidden,
            ignore,
            sort,
            reverse: matches.get_flag("reverse"),
            directories_first: matches.get_flag("group-directories-first") && sort != Sort::None,
            created: last(matches, &["c", "u", "time"]) == Some("time")
                && matches!(value(matches, "time"), Some("birth" | "creation")),
            recent,
            old,
            size_unit,
            block_unit,
            indicator,
            colour,
            quoting: if zero { QuotingStyle::Literal } else { quoting(matches)? },
            hide_controls: matches.get_flag("hide-control-chars") && !zero,
            follow: follow(matches, describes_links),
            recursive: matches.get_flag("recursive") && !directory,
            directory,
            width: number(matches, "width", "line width")?.or(columns).unwrap_or(80),
            // GNU prints no tabs when colours are on.
            tab: match number(matches, "tabsize", "tab size")? {
                _ if colour => 0,
                given => given.unwrap_or(8),
            },
            end: if zero { '\0' } else { '\n' },
        })
    }

    /// Returns true if the targets of links are needed.
    pub(super) fn needs_targets(&self) -> bool {
        self.indicator >= Indicator::FileType || self.directories_first
    }
}
