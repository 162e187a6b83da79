//! Application of one diff to its file: hunks, result and rejects.

use std::path::{Path, PathBuf};

use bashkit::{FileType, Result};

use super::apply::{Place, Target, context, first};
use super::command::{Done, Run, shown};
use super::diff::{FileDiff, Hunk, Presence};
use super::rejects::rejects;
use super::subject::{Subject, Verdict};
use crate::commands::files::reason;

/// Largest number of links in the resolution of a name, as in Linux.
const MAX_LINKS: usize = 40;

/// Result of applying a diff to the lines of one file.
#[derive(Default)]
struct Patched {
    text: Vec<u8>,
    /// Hunks that did not fit.
    rejected: Vec<Hunk>,
    /// True if the hunks were not tried.
    skipped: bool,
    /// True if a hunk did not fit exactly.
    mismatch: bool,
    /// True if the hunks were applied in reverse.
    reversed: bool,
}

/// Current contents of the file.
struct Old {
    bytes: Vec<u8>,
    /// Mode of the file; `None` if it does not exist.
    mode: Option<u32>,
}

impl Run<'_, '_> {
    /// Applies one diff to its file.
    pub(super) async fn one(&mut self, mut diff: FileDiff) -> Done<()> {
        let subject = self.subject(&mut diff).await?;
        let name = match (&subject.name, subject.skipped) {
            (_, true) => return Ok(self.skip(&diff)),
            (None, false) => {
                self.not_found(&diff);
                return Ok(self.skip(&diff));
            }
            (Some(name), false) => name.clone(),
        };
        let moved = (diff.rename || diff.copy).then(|| self.stripped(diff.new_name.as_deref())).flatten();
        let target = self.options.output.clone().or(moved).unwrap_or_else(|| name.clone());
        // This check comes before any reading.
        for place in [&name, &target] {
            if self.options.operands.is_empty() && self.leads_out(place).await {
                self.told += &format!("Invalid file name {} -- skipping patch\n", shown(place));
                self.failed = true;
                return Ok(Ok(()));
            }
        }
        let old = match self.read_old(&name, &subject).await? {
            Ok(old) => old,
            Err(why) => {
                self.told += &why;
                let patched = Patched { rejected: diff.hunks.clone(), skipped: true, ..Patched::default() };
                self.failed = true;
                return self.reject(&diff, &patched, &target).await;
            }
        };
        if diff.binary {
            self.told += &format!("File {}: git binary diffs are not supported.\n", shown(&target));
            self.failed = true;
            return Ok(Ok(()));
        }
        self.tell_file(&diff, &subject, &name, &target);
        let patched = self.apply(&diff, &old.bytes);
        if let Some(why) = diff.broken.take() {
            return Ok(Err(why));
        }
        if patched.reversed {
            diff.reverse();
        }
        self.failed |= !patched.rejected.is_empty();
        if !patched.skipped
            && let Err(why) = self.keep(&diff, &patched, &old, (&name, &target), subject.link).await?
        {
            return Ok(Err(why));
        }
        self.reject(&diff, &patched, &target).await
    }

    /// Skips a diff.
    fn skip(&mut self, diff: &FileDiff) -> std::result::Result<(), String> {
        self.failed = true;
        let count = diff.hunks.len();
        if let Some(why) = &diff.broken {
            return Err(why.clone());
        }
        if count > 0 {
            let hunks = if count == 1 { "hunk" } else { "hunks" };
            self.told += &format!("{count} out of {count} {hunks} ignored\n");
        }
        Ok(())
    }

    /// Reads the file, or the target of a link. The error is the reason for skipping it.
    async fn read_old(&self, name: &str, subject: &Subject) -> Done<Old> {
        let (fs, path) = (&self.context.fs, self.path(name));
        let Ok(found) = fs.lstat(&path).await else { return Ok(Ok(Old { bytes: Vec::new(), mode: None })) };
        let (wanted, kind) =
            if subject.link { (FileType::Symlink, "symbolic link") } else { (FileType::File, "regular file") };
        if found.file_type != wanted {
            return Ok(Err(format!("File {} is not a {kind} -- refusing to patch\n", shown(name))));
        }
        let bytes = match subject.link {
            true => fs.read_link(&path).await?.to_string_lossy().into_owned().into_bytes(),
            false => match fs.read_file(&path).await {
                Ok(bytes) => bytes,
                Err(why) => return Ok(Err(format!("Can't open file {} : {}\n", shown(name), reason(&why)))),
            },
        };
        Ok(Ok(Old { bytes, mode: Some(found.mode & 0o777) }))
    }

    /// Returns true if the directories of a name lead out of the working directory, through a link or a chain of links.
    async fn leads_out(&self, name: &str) -> bool {
        let parts = |path: &Path| -> Vec<String> {
            path.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
        };
        let Some(parent) = Path::new(name).parent() else { return false };
        let (mut left, mut reached, mut links) = (parts(parent), PathBuf::new(), 0);
        while let Some(part) = left.pop() {
            if part == ".." {
                return true;
            }
            let next = reached.join(&part);
            match self.context.fs.read_link(&self.path(&next.to_string_lossy())).await {
                Ok(target) => {
                    links += 1;
                    if target.is_absolute() || links > MAX_LINKS {
                        return true;
                    }
                    left.extend(parts(&target));
                }
                Err(_) => reached = next,
            }
        }
        false
    }

    /// Removes a link at the path of a file that is about to be written: its target does not belong to this patch.
    async fn make_way(&self, path: &Path) -> Result<()> {
        let fs = &self.context.fs;
        let is_link = fs.lstat(path).await.is_ok_and(|found| found.file_type == FileType::Symlink);
        if is_link { fs.remove(path, false).await } else { Ok(()) }
    }

    /// Reports which file is patched.
    fn tell_file(&mut self, diff: &FileDiff, subject: &Subject, name: &str, target: &str) {
        let verb = if self.options.dry_run { "checking" } else { "patching" };
        let kind = if subject.link { "symbolic link" } else { "file" };
        let how = match (diff.copy, diff.rename) {
            (true, _) => "copied",
            (false, true) => "renamed",
            (false, false) => "read",
        };
        let from = if name != target {
            format!(" ({how} from {})", shown(name))
        } else if diff.rename {
            let old = self.stripped(diff.old_name.as_deref()).unwrap_or_default();
            format!(" (already {how} from {})", shown(&old))
        } else {
            String::new()
        };
        self.say(&format!("{verb} {kind} {}{from}\n", shown(target)));
    }

    /// Applies hunks one after the other.
    fn apply(&mut self, diff: &FileDiff, old: &[u8]) -> Patched {
        let hunks = &diff.hunks;
        let mut target = Target::new(old, self.options.loose);
        let mut patched = Patched::default();
        let mut anyway = false;
        for (at, hunk) in hunks.iter().enumerate() {
            let mut hunk = if patched.reversed { hunk.reversed() } else { hunk.clone() };
            let (prefix, suffix) = context(&hunk);
            let most = self.options.fuzz.min(prefix.max(suffix));
            let (mut place, mut fuzz) = (None, 0);
            while place.is_none() && fuzz <= most {
                place = target.locate(&hunk, fuzz).map(|line| Place { line, fuzz });
                // The first hunk shows whether the patch was already applied.
                let backwards = at == 0 && place.is_none() && !self.options.force && !anyway;
                if let Some(line) = backwards.then(|| target.locate(&hunk.reversed(), fuzz)).flatten() {
                    let what = if self.options.reverse { "Unreversed" } else { "Reversed (or previously applied)" };
                    match self.ask_reversed(&format!("{what} patch detected!")) {
                        Verdict::Skip => {
                            return Patched { rejected: hunks.clone(), skipped: true, ..Patched::default() };
                        }
                        Verdict::Anyway => anyway = true,
                        Verdict::Reversed => {
                            hunk = hunk.reversed();
                            (patched.reversed, patched.mismatch) = (true, true);
                            place = Some(Place { line, fuzz });
                        }
                    }
                }
                fuzz += 1;
            }
            // A file that the diff creates must not exist.
            let occupied = diff.before == Presence::Absent && !patched.reversed && !old.is_empty();
            let place = place.filter(|place| !(occupied && place.line == 1));
            let growth = target.growth;
            let Some(place) = place else {
                self.say(&format!("Hunk #{} FAILED at {}.\n", at + 1, first(&hunk) + growth));
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

    fn say_where(&mut self, number: usize, place: Place, offset: i64, growth: i64) {
        let line = i64::try_from(place.line).unwrap_or(i64::MAX).saturating_add(growth);
        let fuzz = if place.fuzz > 0 { format!(" with fuzz {}", place.fuzz) } else { String::new() };
        let lines = if offset == 1 { "line" } else { "lines" };
        let offset = if offset == 0 { String::new() } else { format!(" (offset {offset} {lines})") };
        self.say(&format!("Hunk #{number} succeeded at {line}{fuzz}{offset}.\n"));
    }

    /// Writes the result or removes the file, after a backup if requested.
    async fn keep(
        &mut self,
        diff: &FileDiff,
        patched: &Patched,
        old: &Old,
        (name, target): (&str, &str),
        link: bool,
    ) -> Done<()> {
        let options = self.options;
        let to_output = options.output.is_some();
        let backs_up = (options.backup || options.backup_mismatch && patched.mismatch) && !to_output;
        let gone = diff.after == Presence::Absent && !to_output;
        let removes = patched.text.is_empty() && !to_output && (options.remove_empty || gone && !options.posix || link);
        if !removes && gone && !patched.text.is_empty() && (options.remove_empty || !options.posix) {
            self.failed = true;
            self.say(&format!("Not deleting file {} as content differs from patch\n", shown(target)));
        }
        if options.dry_run {
            return Ok(Ok(()));
        }
        // The output of an earlier diff is not backed up.
        if backs_up
            && !self.written.iter().any(|name| name == target)
            && let Err(why) = self.back_up(target).await
        {
            return Ok(Err(cannot("create", &format!("{target}{}", options.suffix), &why)));
        }
        self.written.push(target.to_owned());
        let fs = &self.context.fs;
        if removes {
            if fs.lstat(&self.path(target)).await.is_ok() {
                if let Err(why) = fs.remove(&self.path(target), false).await {
                    return Ok(Err(cannot("remove", target, &why)));
                }
                self.remove_empty_parents(target).await;
            }
            return Ok(Ok(()));
        }
        let mode = diff.new_mode.filter(|mode| diff.old_mode != Some(*mode)).map(|mode| mode & 0o777);
        let changes = patched.rejected.len() < diff.hunks.len() || mode.is_some() || diff.copy || diff.rename;
        if !changes && !to_output {
            return Ok(Ok(()));
        }
        let mode = match to_output {
            // GNU's moves a temporary file there, which only its owner may read.
            true => Some(fs.stat(&self.path(target)).await.map_or(0o600, |found| found.mode & 0o777)),
            false => mode.or(old.mode),
        };
        let written = self.write(target, &patched.text, mode, link).await?;
        if written.is_err() {
            return Ok(written);
        }
        if diff.rename && name != target && !to_output {
            if backs_up && let Err(why) = self.back_up(name).await {
                return Ok(Err(cannot("create", &format!("{name}{}", options.suffix), &why)));
            }
            if let Err(why) = self.context.fs.remove(&self.path(name), false).await {
                return Ok(Err(cannot("remove", name, &why)));
            }
            self.remove_empty_parents(name).await;
        }
        Ok(Ok(()))
    }

    /// Removes empty directories of the name.
    async fn remove_empty_parents(&self, name: &str) {
        let fs = &self.context.fs;
        for parent in Path::new(name).ancestors().skip(1).filter_map(Path::to_str).filter(|parent| !parent.is_empty()) {
            let path = self.path(parent);
            let empty = fs.read_dir(&path).await.is_ok_and(|children| children.is_empty());
            if !empty || fs.remove(&path, false).await.is_err() {
                return;
            }
        }
    }

    /// Backs up the existing file, or an empty one if it is missing.
    async fn back_up(&self, target: &str) -> Result<()> {
        let fs = &self.context.fs;
        let path = self.path(target);
        let backup = self.path(&format!("{target}{}", self.options.suffix));
        let found = fs.lstat(&path).await;
        self.make_way(&backup).await?;
        if let Ok(found) = &found
            && found.file_type == FileType::Symlink
        {
            return fs.symlink(&fs.read_link(&path).await?, &backup).await;
        }
        let bytes = if found.is_ok() { fs.read_file(&path).await? } else { Vec::new() };
        fs.write_file(&backup, &bytes).await?;
        match found {
            Ok(found) => fs.chmod(&backup, found.mode & 0o777).await,
            Err(_) => Ok(()),
        }
    }

    /// Writes a file or creates a link, in place of an existing one.
    async fn write(&self, target: &str, text: &[u8], mode: Option<u32>, link: bool) -> Done<()> {
        let (fs, path) = (&self.context.fs, self.path(target));
        let made = async {
            if let Some(parent) = path.parent() {
                fs.mkdir(parent, true).await?;
            }
            self.make_way(&path).await?;
            match link {
                true => fs.symlink(Path::new(&*String::from_utf8_lossy(text)), &path).await,
                false => fs.write_file(&path, text).await,
            }
        };
        if let Err(why) = made.await {
            return Ok(Err(cannot("create", target, &why)));
        }
        if let (Some(mode), false) = (mode, link) {
            fs.chmod(&path, mode).await?;
        }
        Ok(Ok(()))
    }

    /// Returns the lines with the names of a diff, for the beginning of rejects.
    fn names(&self, diff: &FileDiff, target: &str) -> String {
        let line = |mark: &str, name: Option<&str>| {
            let name = match (self.stripped(name), diff.header.is_empty()) {
                (Some(name), _) => name,
                (None, true) => target.to_owned(),
                (None, false) => "/dev/null".to_owned(),
            };
            let own = diff.header.iter().rev().find(|line| line.starts_with(mark.as_bytes()));
            let own = own.map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default();
            let time = own.trim_end().split_once('\t').map(|(_, time)| format!("\t{time}")).unwrap_or_default();
            format!("{mark}{name}{time}\n")
        };
        line("--- ", diff.old_name.as_deref()) + &line("+++ ", diff.new_name.as_deref())
    }

    /// Reports rejected hunks, and writes them into a file.
    async fn reject(&mut self, diff: &FileDiff, patched: &Patched, target: &str) -> Done<()> {
        if patched.rejected.is_empty() {
            return Ok(Ok(()));
        }
        let count = diff.hunks.len();
        let hunks = if count == 1 { "hunk" } else { "hunks" };
        let word = if patched.skipped { "ignored" } else { "FAILED" };
        self.told += &format!("{} out of {count} {hunks} {word}", patched.rejected.len());
        let file = self.options.rejects.clone().unwrap_or_else(|| format!("{target}.rej"));
        if self.options.dry_run || file == "-" {
            self.told += "\n";
            return Ok(Ok(()));
        }
        self.told += &format!(" -- saving rejects to file {}\n", shown(&file));
        let (path, text) = (self.path(&file), rejects(&self.names(diff, target), &patched.rejected));
        // Rejects of several diffs are appended to one file.
        let written = if self.rejected.contains(&file) {
            self.context.fs.append_file(&path, &text).await
        } else {
            match self.make_way(&path).await {
                Ok(()) => self.context.fs.write_file(&path, &text).await,
                Err(why) => Err(why),
            }
        };
        if let Err(why) = written {
            return Ok(Err(cannot("create", &file, &why)));
        }
        self.rejected.push(file);
        Ok(Ok(()))
    }
}

fn cannot(what: &str, name: &str, why: &bashkit::Error) -> String {
    format!("Can't {what} file {} : {}", shown(name), reason(why))
}
