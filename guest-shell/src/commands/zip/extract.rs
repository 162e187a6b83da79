//! `unzip`, and `zipinfo`.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use bashkit::time::{SystemTime, UNIX_EPOCH};
use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};

use super::entry::{Archive, Entry};
use super::list::{self, Form};
use super::pattern::matches;
use crate::clock;

/// Exit statuses of Info-ZIP.
const WARNING: i32 = 1;
const BROKEN: i32 = 3;
const NOT_FOUND: i32 = 9;
const USAGE: i32 = 10;
const NOT_MATCHED: i32 = 11;
const WRITE: i32 = 50;

const HELP: &str = "\
UnZip 6.00 of 20 April 2009, for Tollhouse.

Usage: unzip [-Z] [-opts] file[.zip] [list] [-x xlist] [-d exdir]
  Default action is to extract files in list, except those in xlist, to exdir.

  -p  extract files to pipe, no messages     -l  list files (short format)
  -f  freshen existing files, create none    -t  test compressed archive data
  -u  update files, create if necessary      -c  extract files to stdout
  -v  list verbosely                         -Z1 list names only
  -x  exclude files that follow (in xlist)   -d  extract files into exdir
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)
  -o  overwrite files WITHOUT prompting      -j  junk paths (do not make directories)
  -C  match filenames case-insensitively
";

/// The commands `unzip` and `zipinfo`.
pub(super) struct Unzip {
    pub(super) info: bool,
}

/// What is done to entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Extract,
    List(Form),
    Test,
    /// To standard output, with messages or without.
    Pipe {
        told: bool,
    },
}

/// What is done with files that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existing {
    Ask,
    Overwrite,
    Keep,
}

/// Settings of one execution.
#[derive(Debug)]
struct Options {
    action: Action,
    existing: Existing,
    quiet: usize,
    junk: bool,
    fold: bool,
    update: bool,
    freshen: bool,
    directory: Option<String>,
    file: String,
    list: Vec<String>,
    exclude: Vec<String>,
}

impl Options {
    /// Reads the words; none for a mistake.
    fn read(words: &[String], info: bool) -> Option<Self> {
        let action = if info { Action::List(Form::Info) } else { Action::Extract };
        let mut options = Self {
            action,
            existing: Existing::Ask,
            quiet: 0,
            junk: false,
            fold: false,
            update: false,
            freshen: false,
            directory: None,
            file: String::new(),
            list: Vec::new(),
            exclude: Vec::new(),
        };
        let (mut operands, mut excluding, mut info) = (Vec::new(), false, info);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                if excluding { &mut options.exclude } else { &mut operands }.push(word.clone());
                continue;
            };
            for (at, letter) in letters.char_indices() {
                match letter {
                    'd' => {
                        let rest = &letters[at + 1..];
                        let value = if rest.is_empty() { words.next()?.as_str() } else { rest };
                        options.directory = Some(value.to_owned());
                        break;
                    }
                    'x' => excluding = true,
                    'Z' => {
                        info = true;
                        options.action = Action::List(Form::Info);
                    }
                    '1' if info => options.action = Action::List(Form::Names),
                    letter => options.set(letter)?,
                }
            }
        }
        let mut operands = operands.into_iter();
        options.file = operands.next()?;
        options.list = operands.collect();
        Some(options)
    }

    fn set(&mut self, letter: char) -> Option<()> {
        match letter {
            'l' => self.action = Action::List(Form::Short),
            'v' => self.action = Action::List(Form::Long),
            't' => self.action = Action::Test,
            'p' => self.action = Action::Pipe { told: false },
            'c' => self.action = Action::Pipe { told: true },
            'o' => self.existing = Existing::Overwrite,
            'n' => self.existing = Existing::Keep,
            'q' => self.quiet += 1,
            'j' => self.junk = true,
            'C' => self.fold = true,
            'u' => self.update = true,
            'f' => (self.update, self.freshen) = (true, true),
            // Owners are not kept, and names are UTF-8.
            'X' | 'U' | 'K' => {}
            _ => return None,
        }
        Some(())
    }
}

#[async_trait]
impl Command for Unzip {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        if context.args.is_empty() || context.args.iter().any(|word| word == "--help") {
            context.stdout.write_text(HELP).await?;
            return Ok(CommandStatus::success());
        }
        let Some(options) = Options::read(context.args, self.info) else {
            context.stderr.write_text(HELP).await?;
            return Ok(CommandStatus::with_code(USAGE));
        };
        let mut run = Run { context: &context, options, stdout: Vec::new(), stderr: String::new(), answers: None };
        let status = run.run().await?;
        run.flush().await?;
        Ok(CommandStatus::with_code(status))
    }
}

/// One execution.
struct Run<'a, 'c> {
    context: &'a CommandContext<'c>,
    options: Options,
    stdout: Vec<u8>,
    stderr: String,
    /// Lines of standard input that answer questions, the next one last.
    answers: Option<Vec<String>>,
}

impl Run<'_, '_> {
    async fn run(&mut self) -> Result<i32> {
        let name = self.options.file.clone();
        if self.options.directory.is_some() && self.options.action != Action::Extract {
            self.warn("caution:  not extracting; -d ignored\n");
        }
        let Some((name, bytes)) = self.find(&name).await? else {
            self.warn(&format!("unzip:  cannot find or open {name}, {name}.zip or {name}.ZIP.\n"));
            return Ok(NOT_FOUND);
        };
        let quiet = self.options.quiet;
        let heads = match self.options.action {
            Action::Pipe { told } => told,
            Action::List(Form::Names) => false,
            Action::List(_) => quiet < 2,
            Action::Extract | Action::Test => quiet == 0,
        };
        if heads {
            self.say(&format!("Archive:  {}\n", name));
        }
        let length = bytes.len();
        let archive = match Archive::read(bytes) {
            Ok(archive) => archive,
            Err(why) => {
                self.stderr += &format!(
                    "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it \
                     constitutes one disk of a multi-part archive.\nunzip:  cannot find zipfile directory in {name}: {why}.\n"
                );
                return Ok(NOT_FOUND);
            }
        };
        let (chosen, mut status) = self.choose(&archive.entries);
        let done = match self.options.action {
            Action::List(form) => {
                if form == Form::Info {
                    self.say(&format!("Zip file size: {length} bytes, number of entries: {}\n", archive.entries.len()));
                }
                let list = list::list(&chosen, form, quiet);
                self.say(&list);
                0
            }
            Action::Test => self.test(&archive, &chosen, &name, status),
            Action::Pipe { told } => self.pipe(&archive, &chosen, told).await?,
            Action::Extract => self.extract(&archive, &chosen).await?,
        };
        if done != 0 {
            status = done;
        }
        Ok(status)
    }

    /// The archive's name and bytes: those of the file, or of one with `.zip` behind its name.
    async fn find(&self, name: &str) -> Result<Option<(String, Vec<u8>)>> {
        for ending in ["", ".zip", ".ZIP"] {
            let name = format!("{name}{ending}");
            let path = vfs_join(self.context.cwd, Path::new(&name));
            if let Ok(bytes) = self.context.fs.read_file(&path).await {
                return Ok(Some((name, bytes)));
            }
        }
        Ok(None)
    }

    /// Entries that the patterns name, and the status if one names none.
    fn choose<'e>(&mut self, entries: &'e [Entry]) -> (Vec<&'e Entry>, i32) {
        let Options { list, exclude, fold, action, .. } = &self.options;
        let named = |patterns: &[String], name: &str| patterns.iter().any(|pattern| matches(pattern, name, *fold));
        let chosen: Vec<&Entry> = entries
            .iter()
            .filter(|entry| (list.is_empty() || named(list, &entry.name)) && !named(exclude, &entry.name))
            .collect();
        let missed: Vec<&String> =
            list.iter().filter(|pattern| !entries.iter().any(|entry| matches(pattern, &entry.name, *fold))).collect();
        let status = if missed.is_empty() { 0 } else { NOT_MATCHED };
        if !matches!(action, Action::List(_)) {
            let missed: String =
                missed.iter().map(|pattern| format!("caution: filename not matched:  {pattern}\n")).collect();
            self.warn(&missed);
        }
        (chosen, status)
    }

    fn test(&mut self, archive: &Archive, chosen: &[&Entry], name: &str, missed: i32) -> i32 {
        let mut broken = 0;
        for entry in chosen {
            let good = archive.content(entry);
            let said = good.as_ref().map_or_else(|why| format!("  error: {why}"), |_| "OK".to_owned());
            broken += usize::from(good.is_err());
            if self.options.quiet == 0 {
                self.say(&format!("    testing: {:<22}   {said}\n", entry.name));
            }
        }
        if broken == 0 && missed == 0 {
            self.say(&format!("No errors detected in compressed data of {}.\n", name));
            return 0;
        }
        self.say(&format!("At least one error was detected in {}.\n", name));
        if broken == 0 { missed } else { BROKEN - 1 }
    }

    async fn pipe(&mut self, archive: &Archive, chosen: &[&Entry], told: bool) -> Result<i32> {
        let mut status = 0;
        for entry in chosen.iter().filter(|entry| !entry.directory) {
            if told {
                self.say(&line(entry, &entry.name));
            }
            match archive.content(entry) {
                Ok(content) => self.stdout.extend(content),
                Err(why) => {
                    self.stderr += &format!("  error:  {}: {why}\n", entry.name);
                    status = BROKEN - 1;
                }
            }
            if told {
                self.say("\n");
            }
            self.flush().await?;
        }
        Ok(status)
    }

    async fn extract(&mut self, archive: &Archive, chosen: &[&Entry]) -> Result<i32> {
        let mut status = 0;
        let mut times = Vec::new();
        for entry in chosen {
            clock::burn(1);
            let done = self.extract_one(archive, entry, &mut times).await?;
            if done != 0 {
                status = done;
            }
        }
        // Last, since what is written into a directory changes its time.
        for (path, time) in times.into_iter().rev() {
            // A file system without times keeps its own.
            let _ = self.context.fs.set_modified_time(&path, time).await;
        }
        Ok(status)
    }

    async fn extract_one(
        &mut self,
        archive: &Archive,
        entry: &Entry,
        times: &mut Vec<(PathBuf, SystemTime)>,
    ) -> Result<i32> {
        let Some(inside) = safe(&entry.name, self.options.junk) else {
            if entry.directory {
                return Ok(0);
            }
            self.stderr += &format!("warning:  skipped \"../\" path component(s) in {}\n", entry.name);
            return Ok(WARNING);
        };
        let name = match &self.options.directory {
            Some(directory) => format!("{}/{inside}", directory.trim_end_matches('/')),
            None => inside,
        };
        let path = vfs_join(self.context.cwd, Path::new(&name));
        let fs = &self.context.fs;
        if entry.directory {
            if self.options.junk || self.options.freshen || fs.exists(&path).await? {
                return Ok(0);
            }
            if let Err(why) = fs.mkdir(&path, true).await {
                return Ok(self.cannot(&name, &why));
            }
            // Kept so that what is in it can be written.
            let _ = fs.chmod(&path, entry.mode & 0o777 | 0o700).await;
            times.extend([(path, modified(entry))]);
            if self.options.quiet == 0 {
                self.say(&format!("   creating: {name}/\n"));
            }
            return Ok(0);
        }
        match self.may_write(&path, &name, entry).await? {
            Answer::No => return Ok(0),
            Answer::Ended => return Ok(WARNING),
            Answer::Yes => {}
        }
        let content = match archive.content(entry) {
            Ok(content) => content,
            Err(why) => {
                self.stderr += &format!("  error:  {name}: {why}\n");
                return Ok(BROKEN - 1);
            }
        };
        if self.options.quiet == 0 {
            self.say(&line(entry, &name));
        }
        if let Err(why) = self.put(&path, entry, &content).await {
            return Ok(self.cannot(&name, &why));
        }
        times.extend((!entry.link).then(|| (path, modified(entry))));
        Ok(0)
    }

    async fn put(&self, path: &Path, entry: &Entry, content: &[u8]) -> Result<()> {
        let fs = &self.context.fs;
        if let Some(parent) = path.parent() {
            fs.mkdir(parent, true).await?;
        }
        // What is there makes place: a link would lead elsewhere.
        if fs.lstat(path).await.is_ok_and(|found| found.file_type != bashkit::FileType::Directory) {
            fs.remove(path, false).await?;
        }
        if entry.link {
            return fs.symlink(Path::new(&*String::from_utf8_lossy(content)), path).await;
        }
        fs.write_file(path, content).await?;
        fs.chmod(path, entry.mode & 0o777).await
    }

    /// Whether a file may be written: it is not there, or may be overwritten.
    async fn may_write(&mut self, path: &Path, name: &str, entry: &Entry) -> Result<Answer> {
        let there = self.context.fs.stat(path).await;
        let Ok(there) = there else {
            return Ok(if self.options.freshen { Answer::No } else { Answer::Yes });
        };
        if self.options.update {
            let newer = modified(entry).duration_since(there.modified);
            if newer.map_or(true, |newer| newer.is_zero()) {
                return Ok(Answer::No);
            }
        }
        match self.options.existing {
            Existing::Overwrite => return Ok(Answer::Yes),
            Existing::Keep => return Ok(Answer::No),
            Existing::Ask => {}
        }
        self.stderr += &format!("replace {name}? [y]es, [n]o, [A]ll, [N]one, [r]ename: ");
        if self.answers.is_none() {
            let mut bytes = Vec::new();
            while let Some(chunk) = self.context.stdin.read_chunk().await? {
                bytes.extend(chunk);
            }
            self.answers = Some(String::from_utf8_lossy(&bytes).lines().rev().map(str::to_owned).collect());
        }
        let Some(answer) = self.answers.as_mut().and_then(Vec::pop) else {
            self.stderr += " NULL\n(EOF or read error, treating as \"[N]one\" ...)\n";
            self.options.existing = Existing::Keep;
            return Ok(Answer::Ended);
        };
        Ok(match answer.trim().chars().next() {
            Some('y' | 'Y') => Answer::Yes,
            Some('A') => {
                self.options.existing = Existing::Overwrite;
                Answer::Yes
            }
            Some('N') => {
                self.options.existing = Existing::Keep;
                Answer::No
            }
            _ => Answer::No,
        })
    }

    fn cannot(&mut self, name: &str, why: &bashkit::Error) -> i32 {
        self.stderr += &format!("error:  cannot create {name}\n        {}\n", crate::commands::files::reason(why));
        WRITE
    }

    /// Tells what is wrong; of a test, among what is told of it.
    fn warn(&mut self, text: &str) {
        match self.options.action {
            Action::Test => self.say(text),
            _ => self.stderr += text,
        }
    }

    fn say(&mut self, text: &str) {
        self.stdout.extend(text.as_bytes());
    }

    async fn flush(&mut self) -> Result<()> {
        self.context.stdout.write_all(&std::mem::take(&mut self.stdout)).await?;
        self.context.stderr.write_all(std::mem::take(&mut self.stderr).as_bytes()).await
    }
}

/// When an entry was changed.
fn modified(entry: &Entry) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(entry.time)
}

/// Whether a file may be written.
enum Answer {
    Yes,
    No,
    /// Nobody is there to be asked.
    Ended,
}

/// The line that tells of an entry that is taken out.
fn line(entry: &Entry, name: &str) -> String {
    let verb = match (entry.link, entry.stored) {
        (true, _) => "    linking",
        (false, true) => " extracting",
        (false, false) => "  inflating",
    };
    format!("{verb}: {name:<22}  \n")
}

/// The path of an entry below the directory of extraction; none if it leads out of it or is empty.
fn safe(name: &str, junk: bool) -> Option<String> {
    let name = name.trim_start_matches('/');
    if junk {
        let base = name.rsplit('/').next().unwrap_or_default();
        return (!base.is_empty() && base != "..").then(|| base.to_owned());
    }
    let path = Path::new(name.trim_end_matches('/'));
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let text = path.to_string_lossy().into_owned();
    (inside && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_below_the_directory() {
        assert_eq!(safe("a/b", false).as_deref(), Some("a/b"));
        assert_eq!(safe("/a/b/", false).as_deref(), Some("a/b"));
        assert_eq!(safe("../a", false), None);
        assert_eq!(safe("a/../../b", false), None);
        assert_eq!(safe("a/../b", true).as_deref(), Some("b"));
        assert_eq!(safe("a/..", true), None);
    }

    #[test]
    fn words_are_those_of_unzip() {
        let read = |text: &str| Options::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>(), false);
        let options = read("-oq a.zip x -x y -d out").expect("words");
        assert_eq!(
            (options.existing, options.quiet, options.directory.as_deref()),
            (Existing::Overwrite, 1, Some("out"))
        );
        assert_eq!((options.list, options.exclude), (vec!["x".to_owned()], vec!["y".to_owned()]));
        assert_eq!(read("-Z1 a").map(|options| options.action), Some(Action::List(Form::Names)));
        assert!(read("-Q a").is_none() && read("-l").is_none());
    }
}
