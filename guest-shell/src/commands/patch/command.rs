//! The shell's command `patch`.

use std::path::{Path, PathBuf};

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};

use super::apply::{Place, Target, context, first};
use super::diff::{self, FileDiff, Hunk, Kind};
use crate::clock;
use crate::commands::files::quote;
use crate::commands::getopt::{Found, Known, Order, Takes, scan};

/// Something could not be done at all.
const TROUBLE: i32 = 2;

/// Lines of context that may differ at each end.
const FUZZ: usize = 2;

const HELP: &str = "\
Usage: patch [OPTION]... [ORIGFILE [PATCHFILE]]

  -p NUM  --strip=NUM  Strip NUM leading components from file names.
  -F LINES  --fuzz LINES  Set the fuzz factor to LINES for inexact matching.
  -l  --ignore-whitespace  Ignore white space changes between patch and input.
  -N  --forward  Ignore patches that appear to be reversed or already applied.
  -R  --reverse  Assume patches were created with old and new files swapped.
  -i PATCHFILE  --input=PATCHFILE  Read patch from PATCHFILE instead of stdin.
  -o FILE  --output=FILE  Output patched files to FILE.
  -r FILE  --reject-file=FILE  Output rejects to FILE.
  -E  --remove-empty-files  Remove output files that are empty after patching.
  -b  --backup  Back up the original contents of each file.
  -z SUFFIX  --suffix=SUFFIX  Append SUFFIX to backup file names.
  -d DIR  --directory=DIR  Change the working directory to DIR first.
  -s  --quiet  --silent  Work silently unless an error occurs.
  -f  --force  -t  --batch  Ask no questions.
      --dry-run  Do not actually change any files; just print what would happen.
      --no-backup-if-mismatch  Back up mismatches only if otherwise requested.
";

/// Long options, the short one that is the same, and whether there is an argument.
const LONG: [(&str, char, bool); 24] = [
    ("backup", 'b', false),
    ("backup-if-mismatch", '\0', false),
    ("batch", 't', false),
    ("directory", 'd', true),
    ("dry-run", '\0', false),
    ("force", 'f', false),
    ("forward", 'N', false),
    ("fuzz", 'F', true),
    ("help", '\0', false),
    ("ignore-whitespace", 'l', false),
    ("input", 'i', true),
    ("no-backup-if-mismatch", '\0', false),
    ("normal", 'n', false),
    ("output", 'o', true),
    ("posix", '\0', false),
    ("quiet", 's', false),
    ("reject-file", 'r', true),
    ("remove-empty-files", 'E', false),
    ("reverse", 'R', false),
    ("silent", 's', false),
    ("strip", 'p', true),
    ("suffix", 'z', true),
    ("unified", 'u', false),
    ("version", 'v', false),
];

/// Settings of one execution.
#[derive(Debug)]
struct Options {
    strip: Option<usize>,
    fuzz: usize,
    loose: bool,
    forward: bool,
    reverse: bool,
    force: bool,
    batch: bool,
    input: Option<String>,
    output: Option<String>,
    rejects: Option<String>,
    remove_empty: bool,
    backup: bool,
    backup_mismatch: bool,
    suffix: String,
    directory: Option<String>,
    silent: bool,
    dry_run: bool,
    operands: Vec<String>,
}

/// What the words ask for.
enum Asked {
    Run(Box<Options>),
    Print(&'static str),
    Wrong(String),
}

impl Options {
    fn read(words: &[String]) -> Asked {
        let takes = |argument: bool| if argument { Takes::Required } else { Takes::Nothing };
        let known = Known {
            short: "bd:EfF:i:lnNo:p:r:RstuvV:z:".to_owned(),
            long: LONG.iter().map(|(name, _, argument)| ((*name).to_owned(), takes(*argument))).collect(),
            single_dash: false,
        };
        let (found, operands) = scan(&known, Order::Permute, words);
        let mut options = Self {
            strip: None,
            fuzz: FUZZ,
            loose: false,
            forward: false,
            reverse: false,
            force: false,
            batch: false,
            input: None,
            output: None,
            rejects: None,
            remove_empty: false,
            backup: false,
            backup_mismatch: true,
            suffix: ".orig".to_owned(),
            directory: None,
            silent: false,
            dry_run: false,
            operands,
        };
        for found in found {
            let (name, value) = match found {
                Found::Short(letter, value) => (letter.to_string(), value),
                Found::Long(name, value) => {
                    let short = LONG.iter().find(|(known, short, _)| *known == name && *short != '\0');
                    (short.map_or(name, |(_, short, _)| short.to_string()), value)
                }
                Found::Word(word) => {
                    options.operands.push(word);
                    continue;
                }
                Found::Mistake(why) => return Asked::Wrong(why),
            };
            match name.as_str() {
                "help" => return Asked::Print(HELP),
                "v" => return Asked::Print("GNU patch 2.7.6 (tollhouse)\n"),
                name => {
                    if let Err(why) = options.set(name, value.unwrap_or_default()) {
                        return Asked::Wrong(why);
                    }
                }
            }
        }
        if options.operands.len() > 2 {
            return Asked::Wrong(format!("{}: extra operand", options.operands[2]));
        }
        Asked::Run(Box::new(options))
    }

    fn set(&mut self, name: &str, value: String) -> std::result::Result<(), String> {
        let number = |what: &str| value.parse().map_err(|_| format!("**** {what} {value} is not a number"));
        match name {
            "b" => self.backup = true,
            "d" => self.directory = Some(value),
            "E" => self.remove_empty = true,
            "f" => self.force = true,
            "F" => self.fuzz = number("fuzz factor")?,
            "i" => self.input = Some(value),
            "l" => self.loose = true,
            "N" => self.forward = true,
            "o" => self.output = Some(value),
            "p" => self.strip = Some(number("strip count")?),
            "r" => self.rejects = Some(value),
            "R" => self.reverse = true,
            "s" => self.silent = true,
            "t" => self.batch = true,
            "z" => self.suffix = value,
            "dry-run" => self.dry_run = true,
            "backup-if-mismatch" => self.backup_mismatch = true,
            "no-backup-if-mismatch" | "posix" => self.backup_mismatch = false,
            // The form of a diff is seen; backups have one form.
            "u" | "n" => {}
            other => return Err(format!("option '-{other}' is not supported here")),
        }
        Ok(())
    }
}

/// The command `patch`.
pub(crate) struct Patch;

#[async_trait]
impl Command for Patch {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let options = match Options::read(context.args) {
            Asked::Run(options) => options,
            Asked::Print(text) => {
                context.stdout.write_text(text).await?;
                return Ok(CommandStatus::success());
            }
            Asked::Wrong(why) => {
                let text = format!("patch: {why}\npatch: Try 'patch --help' for more information.\n");
                context.stderr.write_text(&text).await?;
                return Ok(CommandStatus::with_code(TROUBLE));
            }
        };
        let mut run =
            Run { context: &context, options: &options, directory: context.cwd.to_path_buf(), told: String::new() };
        let done = run.run().await?;
        context.stdout.write_all(run.told.as_bytes()).await?;
        match done {
            Ok(status) => Ok(CommandStatus::with_code(status)),
            Err(why) => {
                context.stderr.write_text(&format!("patch: **** {why}\n")).await?;
                Ok(CommandStatus::with_code(TROUBLE))
            }
        }
    }
}

/// End of a step: a status, or why nothing more is done.
type Done<T> = Result<std::result::Result<T, String>>;

/// One execution.
struct Run<'a, 'c> {
    context: &'a CommandContext<'c>,
    options: &'a Options,
    directory: PathBuf,
    told: String,
}

/// What becomes of one file.
struct Patched {
    text: Vec<u8>,
    /// Hunks that did not fit.
    rejected: Vec<Hunk>,
    /// They were not tried.
    skipped: bool,
    /// Some hunk did not fit exactly.
    mismatch: bool,
}

impl Run<'_, '_> {
    async fn run(&mut self) -> Done<i32> {
        if let Some(directory) = &self.options.directory {
            self.directory = vfs_join(self.context.cwd, Path::new(directory));
            if !self.context.fs.exists(&self.directory).await? {
                return Ok(Err(format!("Can't change to directory {directory} : No such file or directory")));
            }
        }
        let input = self.options.input.as_ref().or(self.options.operands.get(1)).filter(|name| *name != "-");
        let text = match input {
            None => {
                let mut bytes = Vec::new();
                while let Some(chunk) = self.context.stdin.read_chunk().await? {
                    bytes.extend(chunk);
                }
                bytes
            }
            Some(name) => match self.context.fs.read_file(&vfs_join(&self.directory, Path::new(name))).await {
                Ok(bytes) => bytes,
                Err(why) => {
                    let why = crate::commands::files::reason(&why);
                    return Ok(Err(format!("Can't open patch file {name} : {why}")));
                }
            },
        };
        let diffs = match diff::read(&text) {
            Ok(diffs) => diffs,
            Err(why) => return Ok(Err(why)),
        };
        if diffs.is_empty() && !text.is_empty() {
            return Ok(Err("Only garbage was found in the patch input.".to_owned()));
        }
        let mut status = 0;
        for mut diff in diffs {
            clock::burn(1);
            if self.options.reverse {
                diff.reverse();
            }
            match self.one(diff).await? {
                Ok(one) => status = status.max(one),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(status))
    }

    /// The changes of one file: their status.
    async fn one(&mut self, diff: FileDiff) -> Done<i32> {
        let Some(name) = self.choose(&diff).await else {
            self.not_found(&diff);
            return Ok(Ok(1));
        };
        let path = vfs_join(&self.directory, Path::new(&name));
        let old = match self.context.fs.exists(&path).await? {
            false => None,
            true => match self.context.fs.read_file(&path).await {
                Ok(bytes) => Some(bytes),
                Err(why) => {
                    return Ok(Err(format!("Can't open file {name} : {}", crate::commands::files::reason(&why))));
                }
            },
        };
        let (read, renamed) = (name.clone(), diff.rename.then(|| self.stripped(diff.new_name.as_deref())).flatten());
        let target = self.options.output.clone().or_else(|| renamed.clone()).unwrap_or(name);
        let empty = old.as_ref().is_none_or(Vec::is_empty);
        let question = match (&old, empty) {
            (_, false) if diff.is_of_nothing() => Some(("create", "already exists")),
            (None, _) if diff.empties() => Some(("delete", "does not exist")),
            (Some(_), true) if diff.empties() => Some(("empty out", "is already empty")),
            _ => None,
        };
        let question = question.filter(|_| !self.options.force);
        let asked = question.is_some();
        let patched = if let Some((would, which)) = question {
            let when = if self.options.reverse { ", when reversed," } else { "" };
            self.refuse(&format!("The next patch{when} would {would} the file {},\nwhich {which}!", shown(&read)));
            let (rejected, text) = (diff.hunks.clone(), Vec::new());
            Patched { text, rejected, skipped: true, mismatch: false }
        } else {
            let verb = if self.options.dry_run { "checking" } else { "patching" };
            let from = match (&self.options.output, &renamed) {
                (Some(_), _) => format!(" (read from {})", shown(&read)),
                (None, Some(_)) => format!(" (renamed from {})", shown(&read)),
                (None, None) => String::new(),
            };
            self.say(&format!("{verb} file {}{from}\n", shown(&target)));
            self.apply(&diff.hunks, old.as_deref().unwrap_or_default())
        };
        let status = i32::from(!patched.rejected.is_empty());
        self.reject(&diff, &patched, &target, asked).await?;
        if self.options.dry_run || patched.skipped {
            return Ok(Ok(status));
        }
        self.write(&diff, &patched, old, &target, renamed.is_some().then_some(&read))
            .await
            .map(|done| done.map(|()| status))
    }

    /// Applies hunks, one after the other.
    fn apply(&mut self, hunks: &[Hunk], old: &[u8]) -> Patched {
        let mut target = Target::new(old, self.options.loose);
        let mut patched = Patched { text: Vec::new(), rejected: Vec::new(), skipped: false, mismatch: false };
        let mut reversed = false;
        for (at, hunk) in hunks.iter().enumerate() {
            let mut hunk = if reversed { hunk.reversed() } else { hunk.clone() };
            let (prefix, suffix) = context(&hunk);
            let most = self.options.fuzz.min(prefix.max(suffix));
            let mut place = None;
            for fuzz in 0..=most {
                place = target.locate(&hunk, fuzz).map(|line| Place { line, fuzz });
                // The first hunk shows whether the patch is one that was applied already.
                let backwards = at == 0 && place.is_none() && !self.options.force;
                if let Some(line) = backwards.then(|| target.locate(&hunk.reversed(), fuzz)).flatten() {
                    if !self.options.batch || self.options.forward {
                        let what = if self.options.reverse { "Unreversed" } else { "Reversed (or previously applied)" };
                        self.refuse(&format!("{what} patch detected!"));
                        patched.rejected = hunks.to_vec();
                        patched.skipped = true;
                        return patched;
                    }
                    self.say("Reversed (or previously applied) patch detected!  Assuming -R.\n");
                    hunk = hunk.reversed();
                    reversed = true;
                    place = Some(Place { line, fuzz });
                }
                if place.is_some() {
                    break;
                }
            }
            let growth = target.growth;
            let Some(place) = place else {
                let line = first(&hunk).checked_add_signed(growth).unwrap_or_default();
                self.say(&format!("Hunk #{} FAILED at {line}.\n", at + 1));
                patched.mismatch = true;
                patched.rejected.push(hunk);
                continue;
            };
            let offset = target.put(&hunk, place);
            if place.fuzz > 0 || offset != 0 {
                patched.mismatch = true;
                self.say_where(at + 1, place, offset, growth);
            }
        }
        patched.text = target.finish();
        patched
    }

    fn say_where(&mut self, number: usize, place: Place, offset: isize, growth: isize) {
        let line = place.line.checked_add_signed(growth).unwrap_or_default();
        let fuzz = if place.fuzz > 0 { format!(" with fuzz {}", place.fuzz) } else { String::new() };
        let lines = if offset == 1 { "line" } else { "lines" };
        let offset = if offset == 0 { String::new() } else { format!(" (offset {offset} {lines})") };
        self.say(&format!("Hunk #{number} succeeded at {line}{fuzz}{offset}.\n"));
    }

    /// Says why a patch is skipped. Nobody is there to be asked.
    fn refuse(&mut self, why: &str) {
        let question = if self.options.reverse { "Ignore" } else { "Assume" };
        let rest = match self.options.forward {
            true => "  Skipping patch.\n".to_owned(),
            false => format!("  {question} -R? [n] \nApply anyway? [n] \n"),
        };
        self.told += &format!("{why}{rest}");
        if !self.options.forward {
            self.say("Skipping patch.\n");
        }
    }

    /// Tells of hunks that did not fit, and writes them into a file.
    async fn reject(&mut self, diff: &FileDiff, patched: &Patched, target: &str, asked: bool) -> Result<()> {
        if patched.rejected.is_empty() {
            return Ok(());
        }
        let count = diff.hunks.len();
        let hunks = if count == 1 { "hunk" } else { "hunks" };
        let word = if patched.skipped { "ignored" } else { "FAILED" };
        self.told += &format!("{} out of {count} {hunks} {word}", patched.rejected.len());
        let file = self.options.rejects.clone().unwrap_or_else(|| format!("{target}.rej"));
        if asked || self.options.dry_run || file == "-" {
            self.told += "\n";
            return Ok(());
        }
        self.told += &format!(" -- saving rejects to file {}\n", shown(&file));
        let path = vfs_join(&self.directory, Path::new(&file));
        self.context.fs.write_file(&path, &rejects(diff, &patched.rejected, target)).await
    }

    /// Writes the result, and what is kept of the file before.
    async fn write(
        &self,
        diff: &FileDiff,
        patched: &Patched,
        old: Option<Vec<u8>>,
        target: &str,
        renamed: Option<&String>,
    ) -> Done<()> {
        let fs = &self.context.fs;
        let path = vfs_join(&self.directory, Path::new(target));
        let keeps = self.options.backup || self.options.backup_mismatch && patched.mismatch;
        if keeps && self.options.output.is_none() {
            let backup = vfs_join(&self.directory, Path::new(&format!("{target}{}", self.options.suffix)));
            fs.write_file(&backup, old.as_deref().unwrap_or_default()).await?;
        }
        let empty = patched.text.is_empty() && patched.rejected.is_empty();
        if empty && (diff.deletes() || self.options.remove_empty) && self.options.output.is_none() {
            if old.is_some() {
                fs.remove(&path, false).await?;
            }
            return Ok(Ok(()));
        }
        if let Some(parent) = path.parent() {
            fs.mkdir(parent, true).await?;
        }
        let source = renamed.map(|name| vfs_join(&self.directory, Path::new(name)));
        let mode = match &source {
            Some(source) => fs.stat(source).await.ok().map(|metadata| metadata.mode & 0o777),
            None => diff.mode.filter(|_| old.is_none()),
        };
        if let Err(why) = fs.write_file(&path, &patched.text).await {
            return Ok(Err(format!("Can't create file {target} : {}", crate::commands::files::reason(&why))));
        }
        if let Some(mode) = mode {
            fs.chmod(&path, mode).await?;
        }
        if let Some(source) = source.filter(|source| *source != path) {
            fs.remove(&source, false).await?;
        }
        Ok(Ok(()))
    }

    /// The file that a diff is about.
    async fn choose(&self, diff: &FileDiff) -> Option<String> {
        if let Some(name) = self.options.operands.first() {
            return Some(name.clone());
        }
        let (old, new) = (self.stripped(diff.old_name.as_deref()), self.stripped(diff.new_name.as_deref()));
        let mut there = Vec::new();
        for name in [&old, &new].into_iter().flatten() {
            if self.context.fs.exists(&vfs_join(&self.directory, Path::new(name))).await.unwrap_or_default() {
                there.push(name.clone());
            }
        }
        if diff.rename {
            return there.into_iter().find(|name| Some(name) == old.as_ref());
        }
        let base = |name: &String| name.rsplit('/').next().unwrap_or_default().len();
        // The first one of the best.
        let best = there.into_iter().min_by_key(|name| (name.matches('/').count(), base(name), name.len()));
        best.or_else(|| if diff.creates() { new.or(old) } else { None })
    }

    /// A name without the parts that are left out; none for what is no file, or none that may be written.
    fn stripped(&self, name: Option<&str>) -> Option<String> {
        let name = name.filter(|name| *name != "/dev/null")?;
        let stripped = match self.options.strip {
            None => name.rsplit('/').next().unwrap_or_default().to_owned(),
            Some(count) => {
                let mut rest = name;
                for _ in 0..count {
                    let (_, after) = rest.split_once('/')?;
                    rest = after.trim_start_matches('/');
                }
                rest.to_owned()
            }
        };
        let leads_out = stripped.starts_with('/') || stripped.split('/').any(|part| part == "..");
        (!stripped.is_empty() && !leads_out).then_some(stripped)
    }

    fn not_found(&mut self, diff: &FileDiff) {
        let advice = if self.options.strip.is_some() { "used the wrong" } else { "should have used the" };
        self.told += &format!(
            "can't find file to patch at input line {}\nPerhaps you {advice} -p or --strip option?\n\
             The text leading up to this was:\n--------------------------\n",
            diff.line
        );
        for line in &diff.header {
            self.told += &format!("|{}\n", String::from_utf8_lossy(line).trim_end_matches('\n'));
        }
        let count = diff.hunks.len();
        let hunks = if count == 1 { "hunk" } else { "hunks" };
        self.told += &format!(
            "--------------------------\nFile to patch: \nSkip this patch? [y] \nSkipping patch.\n\
             {count} out of {count} {hunks} ignored\n"
        );
    }

    fn say(&mut self, text: &str) {
        if !self.options.silent {
            self.told += text;
        }
    }
}

/// A name in messages: in quotes if a shell would need them.
fn shown(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/+@%:,=~".contains(&byte);
    if name.bytes().all(plain) { name.to_owned() } else { quote(name) }
}

/// Rejected hunks as a unified diff.
fn rejects(diff: &FileDiff, rejected: &[Hunk], target: &str) -> Vec<u8> {
    let pair = diff.header.iter().filter(|line| line.starts_with(b"--- ") || line.starts_with(b"+++ "));
    let mut text: Vec<u8> = pair.flatten().copied().collect();
    if text.is_empty() {
        text = format!("--- {target}\n+++ {target}\n").into_bytes();
    }
    for hunk in rejected {
        let side = |start: usize, length: usize| match length {
            1 => start.to_string(),
            length => format!("{start},{length}"),
        };
        let old = side(hunk.old_start, hunk.old().len());
        text.extend(format!("@@ -{old} +{} @@\n", side(hunk.new_start, hunk.new_length())).into_bytes());
        for line in &hunk.lines {
            text.push(match line.kind {
                Kind::Same => b' ',
                Kind::Old => b'-',
                Kind::New => b'+',
            });
            text.extend(&line.text);
            if line.text.last() != Some(&b'\n') {
                text.extend(b"\n\\ No newline at end of file\n");
            }
        }
    }
    text
}
