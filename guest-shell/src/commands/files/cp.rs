//! `cp`: copies files.

use bashkit::FileType;

use super::call::{Call, Done};
use super::copy::{Copier, Existing, Follow, Make, Options};
use super::place::{base, join, parent};
use super::quote::quote;
use super::target::{Backups, Control, Target, find};
use super::words::{NONE, Spec, Words};
use crate::commands::getopt::Takes;
use crate::commands::option_parser::{OptionWords, option_word};

const SPEC: Spec = Spec {
    usage: "[OPTION]... SOURCE... DEST",
    short: "abdfHilLnprst:uvxPRS:TZ",
    long: &[
        ("archive", 'a', Takes::Nothing),
        ("attributes-only", NONE, Takes::Nothing),
        ("backup", NONE, Takes::Optional),
        ("copy-contents", NONE, Takes::Nothing),
        ("dereference", 'L', Takes::Nothing),
        ("force", 'f', Takes::Nothing),
        ("interactive", 'i', Takes::Nothing),
        ("link", 'l', Takes::Nothing),
        ("no-clobber", 'n', Takes::Nothing),
        ("no-dereference", 'P', Takes::Nothing),
        ("no-preserve", NONE, Takes::Required),
        ("no-target-directory", 'T', Takes::Nothing),
        ("one-file-system", 'x', Takes::Nothing),
        ("parents", NONE, Takes::Nothing),
        ("preserve", NONE, Takes::Optional),
        ("recursive", 'R', Takes::Nothing),
        ("reflink", NONE, Takes::Optional),
        ("remove-destination", NONE, Takes::Nothing),
        ("sparse", NONE, Takes::Required),
        ("strip-trailing-slashes", NONE, Takes::Nothing),
        ("suffix", 'S', Takes::Required),
        ("symbolic-link", 's', Takes::Nothing),
        ("target-directory", 't', Takes::Required),
        ("update", 'u', Takes::Nothing),
        ("verbose", 'v', Takes::Nothing),
    ],
    modes: false,
};

/// Attribute of `--preserve`. Files here have a mode and a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Mode,
    Timestamps,
    Ownership,
    Links,
    Context,
    Extended,
    All,
}

/// Words of `--preserve`, in GNU's order.
const ATTRIBUTES: [(&str, Attribute); 7] = [
    ("mode", Attribute::Mode),
    ("timestamps", Attribute::Timestamps),
    ("ownership", Attribute::Ownership),
    ("links", Attribute::Links),
    ("context", Attribute::Context),
    ("xattr", Attribute::Extended),
    ("all", Attribute::All),
];

/// Cases in which a copy shares blocks with its source, or leaves blocks of zeros out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Never,
    Auto,
    Always,
}

/// Words of `--reflink`.
const REFLINK_WORDS: [(&str, Case); 3] = [("auto", Case::Auto), ("always", Case::Always), ("never", Case::Never)];
/// Words of `--sparse`.
const SPARSE_WORDS: [(&str, Case); 3] = [("never", Case::Never), ("auto", Case::Auto), ("always", Case::Always)];

/// Runs the command `cp`.
pub(super) async fn run(call: &mut Call<'_>) -> Done {
    let Some(mut words) = call.options(&SPEC) else { return Ok(()) };
    let Some(options) = options(call, &words) else { return Ok(()) };
    if !accepts(call, &words, "reflink", &REFLINK_WORDS) || !accepts(call, &words, "sparse", &SPARSE_WORDS) {
        return Ok(());
    }
    if words.has("strip-trailing-slashes") {
        strip_slashes(&mut words);
    }
    let Some((sources, target)) = find(call, &words).await else { return Ok(()) };
    let parents = words.has("parents");
    if let (true, Target::As(name)) = (parents, &target) {
        call.fail(format!(
            "with --parents, the destination must be a directory\nTry '{} --help' for more information.",
            call.name
        ));
        let _ = name;
        return Ok(());
    }
    if clones_always(&words) {
        // As Linux says on a file system whose files share no blocks.
        for source in &sources {
            let (to, from) = (quote(&target.of(source)), quote(source));
            call.fail(format!("failed to clone {to} from {from}: Operation not supported"));
        }
        return Ok(());
    }
    let force_backup = options.force && options.backups.control != Control::Off;
    let mut copier = Copier::new(options.clone());
    for source in &sources {
        let mut to = target.of(source);
        if matches!(target, Target::Into(_)) && base(source) == ".." {
            to = join(&to, ".").trim_end_matches("/../.").to_owned();
        }
        if parents && let Target::Into(directory) = &target {
            to = join(directory, source.trim_matches('/'));
            if !make_parents(call, source, directory, &options).await {
                continue;
            }
        }
        let file = call.stat(source).await.is_ok_and(|found| found.file_type == FileType::File);
        if force_backup && *source == to && file {
            // As in GNU's, only a backup of the file is made.
            let backup = options.backups.name(call, source).await;
            let alone = Backups { control: Control::Off, ..options.backups.clone() };
            Copier::new(Options { backups: alone, ..options.clone() }).operand(call, source, &backup).await?;
            continue;
        }
        copier.operand(call, source, &to).await?;
    }
    Ok(())
}

/// Removes trailing slashes from sources.
pub(super) fn strip_slashes(words: &mut Words) {
    for operand in &mut words.operands {
        let trimmed = operand.trim_end_matches('/');
        if !trimmed.is_empty() {
            *operand = trimmed.to_owned();
        }
    }
}

fn options(call: &mut Call<'_>, words: &Words) -> Option<Options> {
    let archive = words.has("archive");
    let recursive = archive || words.has("recursive") || words.has("r");
    let make = match words.last(&["symbolic-link", "link"]) {
        Some("symbolic-link") => Make::Symlink,
        Some(_) => Make::Link,
        None => Make::Copy,
    };
    if words.has("symbolic-link") && words.has("link") {
        call.usage("cannot make both hard and symbolic links");
        return None;
    }
    let follow = match words.last(&["dereference", "no-dereference", "H", "archive", "d"]) {
        Some("dereference") => Follow::Always,
        Some("H") => Follow::Operands,
        Some(_) => Follow::Never,
        // The target of a hard link is not followed if it is a symbolic link.
        None if recursive && make != Make::Link => Follow::Never,
        None if make == Make::Link => Follow::Never,
        None => Follow::Always,
    };
    let existing = match words.last(&["interactive", "no-clobber", "force"]) {
        Some("interactive") => Existing::Ask,
        Some("no-clobber") => Existing::Keep,
        _ if words.has("no-clobber") => Existing::Keep,
        _ if words.has("interactive") => Existing::Ask,
        _ => Existing::Replace,
    };
    let backups = Backups::read(call, words)?;
    // `--backup=none` is a wish for backups, too.
    let wants_backups = backups.control != Control::Off || words.has("backup");
    if wants_backups && existing == Existing::Keep {
        call.usage("options --backup and --no-clobber are mutually exclusive");
        return None;
    }
    let (keep_mode, keep_time) = preserved(call, words)?;
    let is_mode = |attribute: &str| attribute == "mode" || attribute == "all";
    let drops_mode = words
        .options
        .iter()
        .filter(|option| option.name == "no-preserve")
        .any(|option| option.value.as_deref().unwrap_or_default().split(',').any(is_mode));
    Some(Options {
        make,
        recursive,
        follow,
        existing,
        update: words.has("update"),
        backups,
        verbose: words.has("verbose"),
        force: words.has("force"),
        unlink_first: words.has("remove-destination"),
        keep_mode,
        default_mode: drops_mode && !keep_mode,
        keep_time,
        attributes_only: words.has("attributes-only"),
        mode: None,
    })
}

/// Returns true if an option was given with one of its words, or without one, or not at all.
fn accepts(call: &mut Call<'_>, words: &Words, option: &str, known: &OptionWords<Case>) -> bool {
    for given in words.options.iter().filter(|given| given.name == option) {
        let Some(value) = &given.value else { continue };
        if let Err(message) = option_word(&format!("--{option}"), value, known) {
            call.usage(&message);
            return false;
        }
    }
    true
}

/// Returns true if copies must share the blocks of their source.
fn clones_always(words: &Words) -> bool {
    let last = words.options.iter().rev().find(|given| given.name == "reflink");
    let is_always = |value: &String| option_word("--reflink", value, &REFLINK_WORDS) == Ok(Case::Always);
    last.is_some_and(|given| given.value.as_ref().is_none_or(is_always))
}

/// Returns whether mode and time are preserved. Returns `None` after reporting an unknown attribute.
fn preserved(call: &mut Call<'_>, words: &Words) -> Option<(bool, bool)> {
    let (mut mode, mut time) = (false, false);
    for option in &words.options {
        let value = option.value.as_deref().unwrap_or_default();
        let (list, keep) = match option.name.as_str() {
            // Unlike `--preserve=all`, it does without what cannot be preserved.
            "archive" => ("mode,timestamps", true),
            "p" => ("mode,ownership,timestamps", true),
            "preserve" if option.value.is_none() => ("mode,ownership,timestamps", true),
            "preserve" => (value, true),
            "no-preserve" => (value, false),
            _ => continue,
        };
        for attribute in list.split(',') {
            match option_word(&format!("--{}", option.name), attribute, &ATTRIBUTES) {
                Ok(Attribute::Mode) => mode = keep,
                Ok(Attribute::Timestamps) => time = keep,
                Ok(Attribute::All) => (mode, time) = (keep, keep),
                Ok(Attribute::Context) if keep => {
                    call.fail("cannot preserve security context without an SELinux-enabled kernel");
                    return None;
                }
                Ok(Attribute::Ownership | Attribute::Links | Attribute::Extended | Attribute::Context) => {}
                Err(message) => {
                    call.usage(&message);
                    return None;
                }
            }
        }
    }
    Some((mode, time))
}

/// Creates the directories of a source below another directory (`--parents`), with their modes.
async fn make_parents(call: &mut Call<'_>, source: &str, directory: &str, options: &Options) -> bool {
    if call.stat(source).await.is_err() {
        // The copy will report the failure.
        return true;
    }
    let mut names = Vec::new();
    let mut name = parent(source.trim_start_matches('/'));
    while name != "." && name != "/" {
        names.push(name);
        name = parent(name);
    }
    for name in names.into_iter().rev() {
        let to = join(directory, name);
        match call.stat(&to).await {
            Ok(found) if found.file_type.is_dir() => continue,
            Ok(_) => {
                call.fail(format!("{} exists but is not a directory", quote(&to)));
                return false;
            }
            Err(_) => {}
        }
        if let Err(error) = call.fs.mkdir(&call.path(&to), false).await {
            call.cannot("cannot make directory", &to, &error);
            return false;
        }
        if options.verbose {
            let from = if source.starts_with('/') { format!("/{name}") } else { name.to_owned() };
            call.print(&format!("{from} -> {to}\n"));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn cp_mode_is_kept_only_as_the_options_say() {
        for (script, output) in [
            ("cp f a; cp --no-preserve=mode f b; cp -p --no-preserve=all f c; stat -c %a a b c", "755\n644\n644\n"),
            ("cp --no-preserve=mode -r d e; stat -c %a e e/g", "755\n644\n"),
            (
                "cp --no-preserve=timestamps f a; cp --no-preserve=mode --preserve=mode f b; stat -c %a a b",
                "755\n755\n",
            ),
        ] {
            let files = "touch f; chmod 755 f; mkdir -m 700 d; touch d/g; chmod 600 d/g; ";
            let result = run(&format!("{files}{script}")).await;
            assert_eq!(&*result.stdout, output, "{script}\n{}", &*result.stderr);
        }
    }
}
