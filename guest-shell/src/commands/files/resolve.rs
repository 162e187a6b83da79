//! `readlink`, `realpath` and `pathchk`: resolve and check names.

use std::path::{Path, PathBuf};

use super::call::{Call, Done};
use super::ln::path_from;
use super::place::{Missing, Walk};
use super::quote::{quote, quote_if_needed};
use super::words::{NONE, Spec, Words};
use crate::commands::getopt::Takes;

const READLINK: Spec = Spec {
    usage: "[OPTION]... FILE...",
    short: "efmnqsvz",
    long: &[
        ("canonicalize", 'f', Takes::Nothing),
        ("canonicalize-existing", 'e', Takes::Nothing),
        ("canonicalize-missing", 'm', Takes::Nothing),
        ("no-newline", 'n', Takes::Nothing),
        ("quiet", 'q', Takes::Nothing),
        ("silent", 's', Takes::Nothing),
        ("verbose", 'v', Takes::Nothing),
        ("zero", 'z', Takes::Nothing),
    ],
    modes: false,
};

const REALPATH: Spec = Spec {
    usage: "[OPTION]... FILE...",
    short: "eLmPqsz",
    long: &[
        ("canonicalize-existing", 'e', Takes::Nothing),
        ("canonicalize-missing", 'm', Takes::Nothing),
        ("logical", 'L', Takes::Nothing),
        ("no-symlinks", NONE, Takes::Nothing),
        ("physical", 'P', Takes::Nothing),
        ("quiet", 'q', Takes::Nothing),
        ("relative-base", NONE, Takes::Required),
        ("relative-to", NONE, Takes::Required),
        ("strip", 's', Takes::Nothing),
        ("zero", 'z', Takes::Nothing),
    ],
    modes: false,
};

const PATHCHK: Spec =
    Spec { usage: "[OPTION]... NAME...", short: "pP", long: &[("portability", NONE, Takes::Nothing)], modes: false };

/// Largest numbers of bytes of a path and of a component: the limits of Linux, and of any POSIX system.
const LONGEST: (usize, usize) = (4095, 255);
const LONGEST_PORTABLE: (usize, usize) = (255, 14);

/// Runs the command `readlink`.
pub(super) async fn readlink(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&READLINK) else { return Ok(()) };
    if words.operands.is_empty() {
        call.usage("missing operand");
        return Ok(());
    }
    let canonical = words.last(&["canonicalize", "canonicalize-existing", "canonicalize-missing"]);
    let verbose = words.last(&["verbose", "quiet", "silent"]) == Some("verbose");
    let mut end = if words.has("zero") { "\0" } else { "\n" };
    if words.has("no-newline") {
        match words.operands.len() {
            1 => end = "",
            _ => call.note("ignoring --no-newline with multiple arguments"),
        }
    }
    for name in &words.operands {
        let found = match canonical {
            Some(how) => {
                let missing = match how {
                    "canonicalize" => Missing::Last,
                    "canonicalize-existing" => Missing::Nothing,
                    _ => Missing::Any,
                };
                let walk = Walk { missing, follow_links: true, follow_last: true };
                walk.run(&*call.fs, &call.cwd, name).await
            }
            None => match call.lstat(name).await {
                Ok(found) if found.file_type.is_symlink() => {
                    call.fs.read_link(&call.path(name)).await.map_err(|_| "Invalid argument")
                }
                Ok(_) => Err("Invalid argument"),
                Err(error) if super::call::kind(&error) == Some(std::io::ErrorKind::NotADirectory) => {
                    Err("Not a directory")
                }
                Err(_) => Err("No such file or directory"),
            },
        };
        match found {
            Ok(path) => call.print(&format!("{}{end}", path.to_string_lossy())),
            Err(reason) if verbose => call.fail(format!("{}: {reason}", quote_if_needed(name))),
            Err(_) => call.status = 1,
        }
    }
    Ok(())
}

/// Way in which `realpath` resolves names.
struct Way {
    walk: Walk,
    /// True if `..` is resolved before links (`-L`, `-s`).
    logical: bool,
}

impl Way {
    fn of(words: &Words) -> Self {
        let missing = match words.last(&["canonicalize-existing", "canonicalize-missing"]) {
            Some("canonicalize-existing") => Missing::Nothing,
            Some(_) => Missing::Any,
            None => Missing::Last,
        };
        let how = words.last(&["logical", "no-symlinks", "physical", "strip"]);
        let follow_links = !matches!(how, Some("no-symlinks" | "strip"));
        Self { walk: Walk { missing, follow_links, follow_last: true }, logical: how == Some("logical") }
    }

    async fn run(&self, call: &Call<'_>, name: &str) -> Result<PathBuf, &'static str> {
        if !self.logical {
            return self.walk.run(&*call.fs, &call.cwd, name).await;
        }
        let plain = Walk { missing: Missing::Any, follow_links: false, follow_last: false };
        let path = plain.run(&*call.fs, &call.cwd, name).await?;
        let slash = if name.ends_with('/') { "/" } else { "" };
        self.walk.run(&*call.fs, &call.cwd, &format!("{}{slash}", path.to_string_lossy())).await
    }
}

/// Runs the command `realpath`.
pub(super) async fn realpath(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&REALPATH) else { return Ok(()) };
    if words.operands.is_empty() {
        call.usage("missing operand");
        return Ok(());
    }
    let way = Way::of(&words);
    let (mut to, mut below) = (None, None);
    for (option, place) in [("relative-to", &mut to), ("relative-base", &mut below)] {
        let Some(name) = words.value(option) else { continue };
        let mut found = way.run(call, name).await;
        if let Ok(path) = &found
            && way.walk.missing == Missing::Nothing
            && !call.fs.stat(path).await.is_ok_and(|found| found.file_type.is_dir())
        {
            found = Err("Not a directory");
        }
        match found {
            Ok(path) => *place = Some(path),
            Err(reason) => {
                call.fail(format!("{}: {reason}", quote_if_needed(name)));
                return Ok(());
            }
        }
    }
    // For a directory outside of the base, nothing is relative.
    let outside = matches!((&to, &below), (Some(to), Some(below)) if !to.starts_with(below));
    let from = if outside { None } else { to.or_else(|| below.clone()) };
    let end = if words.has("zero") { "\0" } else { "\n" };
    for name in &words.operands {
        match way.run(call, name).await {
            Ok(path) => {
                let shown = shown(&path, from.as_deref(), below.as_deref());
                call.print(&format!("{}{end}", shown.to_string_lossy()));
            }
            Err(_) if words.has("quiet") => call.status = 1,
            Err(reason) => call.fail(format!("{}: {reason}", quote_if_needed(name))),
        }
    }
    Ok(())
}

/// Returns a path relative to a directory, unless it is outside of the base.
fn shown(path: &Path, from: Option<&Path>, below: Option<&Path>) -> PathBuf {
    match from {
        Some(from) if below.is_none_or(|below| path.starts_with(below)) => path_from(from, path),
        _ => path.to_owned(),
    }
}

/// Runs the command `pathchk`.
pub(super) async fn pathchk(call: &mut Call<'_>) -> Done {
    let Some(words) = call.options(&PATHCHK) else { return Ok(()) };
    if words.operands.is_empty() {
        call.usage("missing operand");
    }
    let portable = words.has("p") || words.has("portability");
    let strict = words.has("P") || words.has("portability");
    for name in &words.operands {
        if let Some(what) = objection(name, portable, strict, |character| call.locale_quote(character)) {
            call.fail(what);
        } else if !portable && call.lstat(name).await.is_err() {
            let walk = Walk { missing: Missing::Any, follow_links: true, follow_last: true };
            let above = super::place::parent(name);
            if call.stat(above).await.is_ok_and(|found| !found.file_type.is_dir()) {
                call.fail(format!("{}: Not a directory", quote_if_needed(name)));
            } else if let Err(reason) = walk.run(&*call.fs, &call.cwd, name).await {
                call.fail(format!("{}: {reason}", quote_if_needed(name)));
            }
        }
    }
    Ok(())
}

/// Returns the problem with a name, independent of existing files.
fn objection(name: &str, portable: bool, strict: bool, quoted: impl Fn(&str) -> String) -> Option<String> {
    if strict && name.split('/').any(|part| part.starts_with('-')) {
        return Some(format!("leading '-' in a component of file name {}", quote(name)));
    }
    if (portable || strict) && name.is_empty() {
        return Some("empty file name".to_owned());
    }
    let usual = |character: char| character.is_ascii_alphanumeric() || "/._-".contains(character);
    if portable && let Some(unusual) = name.chars().find(|character| !usual(*character)) {
        return Some(format!("nonportable character {} in file name {}", quoted(&unusual.to_string()), quote(name)));
    }
    let (path, part) = if portable { LONGEST_PORTABLE } else { LONGEST };
    if name.len() > path {
        let length = name.len();
        return Some(format!("limit {path} exceeded by length {length} of file name {}", quote(name)));
    }
    let long = name.split('/').find(|name| name.len() > part)?;
    Some(format!("limit {part} exceeded by length {} of file name component {}", long.len(), quote(long)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn objections_are_to_what_posix_does_not_promise() {
        let objection = |name: &str, portable, strict| super::objection(name, portable, strict, super::quote);
        assert_eq!(objection("a b", false, false), None);
        assert_eq!(objection("a b", true, false).as_deref(), Some("nonportable character ' ' in file name 'a b'"));
        assert_eq!(objection("a/-b", false, true).as_deref(), Some("leading '-' in a component of file name 'a/-b'"));
        assert!(objection(&"a".repeat(256), false, false).is_some());
    }
}
