//! Destinations of `cp`, `mv`, `ln` and `install`, and backups of existing files.

use super::call::{Call, kind, reason};
use super::place::{base, join};
use super::quote::quote;
use super::words::Words;
use crate::commands::option_parser::option_word;

/// Suffix of simple backups.
const SUFFIX: &str = "~";

/// Kind of backups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// No backups are made.
    Off,
    /// Simple backup, named `file~`
    Simple,
    /// Numbered backups, named `file.~1~`, `file.~2~`
    Numbered,
    /// Numbered if numbered backups exist already, and simple otherwise.
    Existing,
}

/// Words of `--backup`.
const CONTROLS: [(&str, Control); 8] = [
    ("none", Control::Off),
    ("off", Control::Off),
    ("simple", Control::Simple),
    ("never", Control::Simple),
    ("existing", Control::Existing),
    ("nil", Control::Existing),
    ("numbered", Control::Numbered),
    ("t", Control::Numbered),
];

/// Settings of backups, from options and environment.
#[derive(Clone, Debug)]
pub(super) struct Backups {
    pub(super) control: Control,
    pub(super) suffix: String,
}

impl Backups {
    /// Reads `-b`, `--backup` and `-S`. Returns `None` after reporting an unknown method.
    pub(super) fn read(call: &mut Call<'_>, words: &Words) -> Option<Self> {
        let suffix = words.value("suffix").map(str::to_owned).or_else(|| call.variable("SIMPLE_BACKUP_SUFFIX"));
        let suffix = suffix.filter(|suffix| !suffix.is_empty() && !suffix.contains('/'));
        let suffix = suffix.unwrap_or_else(|| SUFFIX.to_owned());
        if !["backup", "b", "suffix"].iter().any(|name| words.has(name)) {
            return Some(Self { control: Control::Off, suffix });
        }
        let (method, source) = match words.value("backup").filter(|method| !method.is_empty()) {
            Some(method) => (method.to_owned(), "backup type"),
            None => match call.variable("VERSION_CONTROL").filter(|method| !method.is_empty()) {
                Some(method) => (method, "$VERSION_CONTROL"),
                None => ("existing".to_owned(), "backup type"),
            },
        };
        let control = match option_word(source, &method, &CONTROLS) {
            Ok(control) => control,
            Err(message) => {
                call.usage(&message);
                return None;
            }
        };
        Some(Self { control, suffix })
    }

    /// Returns the name of the next backup of a file.
    pub(super) async fn name(&self, call: &Call<'_>, name: &str) -> String {
        let simple = format!("{name}{}", self.suffix);
        if self.control == Control::Simple {
            return simple;
        }
        let entries = call.fs.read_dir(&call.path(super::place::parent(name))).await.unwrap_or_default();
        let prefix = format!("{}.~", base(name));
        let number =
            |entry: &bashkit::DirEntry| entry.name.strip_prefix(&prefix)?.strip_suffix('~')?.parse::<u64>().ok();
        match entries.iter().filter_map(number).max() {
            None if self.control == Control::Existing => simple,
            highest => format!("{name}.~{}~", highest.unwrap_or(0).saturating_add(1)),
        }
    }
}

/// Target of the operands.
#[derive(Debug)]
pub(super) enum Target {
    /// Directory that receives the operands.
    Into(String),
    /// Name that the single source gets.
    As(String),
}

impl Target {
    /// Returns the destination of a source.
    pub(super) fn of(&self, source: &str) -> String {
        match self {
            Self::Into(directory) => join(directory, base(source)),
            Self::As(name) => name.clone(),
        }
    }
}

/// Finds sources and target among the operands. Returns `None` after reporting invalid operands.
pub(super) async fn find(call: &mut Call<'_>, words: &Words) -> Option<(Vec<String>, Target)> {
    let mut sources = words.operands.clone();
    let (alone, named) = (words.has("no-target-directory"), words.value("target-directory"));
    if sources.is_empty() {
        call.usage("missing file operand");
        return None;
    }
    if let Some(directory) = named {
        if alone {
            call.fail("cannot combine --target-directory (-t) and --no-target-directory (-T)");
            return None;
        }
        return into_named(call, directory).await.then(|| (sources, Target::Into(directory.to_owned())));
    }
    if sources.len() == 1 {
        call.usage(&format!("missing destination file operand after {}", quote(&sources[0])));
        return None;
    }
    if alone && sources.len() > 2 {
        call.usage(&format!("extra operand {}", quote(&sources[2])));
        return None;
    }
    let last = sources.pop()?;
    let found = call.stat(&last).await;
    if !alone && found.as_ref().is_ok_and(|found| found.file_type.is_dir()) {
        return Some((sources, Target::Into(last)));
    }
    if sources.len() > 1 {
        let why = found.err().map_or_else(|| "Not a directory".to_owned(), |error| reason(&error));
        call.fail(format!("target {}: {why}", quote(&last)));
        return None;
    }
    Some((sources, Target::As(last)))
}

/// Returns true if the argument of `-t` is a directory, and reports an error otherwise.
async fn into_named(call: &mut Call<'_>, directory: &str) -> bool {
    let why = match call.stat(directory).await {
        Ok(found) if found.file_type.is_dir() => return true,
        Ok(_) => "Not a directory".to_owned(),
        Err(error) => reason(&error),
    };
    call.fail(format!("target directory {}: {why}", quote(directory)));
    false
}

/// Moves an existing destination to its backup. Returns the backup's name.
pub(super) async fn back_up(call: &mut Call<'_>, name: &str, backup: String) -> Option<String> {
    match call.fs.rename(&call.path(name), &call.path(&backup)).await {
        Ok(()) => Some(backup),
        Err(error) if kind(&error) == Some(std::io::ErrorKind::NotFound) => Some(backup),
        Err(error) => {
            call.cannot("cannot backup", name, &error);
            None
        }
    }
}
