//! `unzip` and `zipinfo`: selection of the archive, lists, tests, and output of contents.

use std::path::Path;

use bashkit::{Command, CommandContext, CommandStatus, FileType, Result, async_trait, vfs_join};

use super::entry::{Archive, Damage, Entry};
use super::list::{self, Form};
use super::pattern::matches;
use super::unzip_options::{Action, Mistake, Options};

/// Exit statuses of Info-ZIP.
pub(super) const WARNING: i32 = 1;
pub(super) const ERROR: i32 = 2;
const MEMORY: i32 = 4;
const NOT_FOUND: i32 = 9;
const USAGE: i32 = 10;
const NOT_MATCHED: i32 = 11;
pub(super) const WRITE: i32 = 50;
const UNSUPPORTED: i32 = 81;

const HELP: &str = "\
UnZip 6.00 of 20 April 2009, for Tollhouse.

Usage: unzip [-Z] [-opts] file[.zip] [list] [-x xlist] [-d exdir]
  Default action is to extract files in list, except those in xlist, to exdir.

  -p  extract files to pipe, no messages     -l  list files (short format)
  -f  freshen existing files, create none    -t  test compressed archive data
  -u  update files, create if necessary      -z  display archive comment only
  -v  list verbosely                         -Z1 list names only
  -c  extract files to stdout                -Z  list as zipinfo does
  -x  exclude files that follow (in xlist)   -d  extract files into exdir
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)
  -o  overwrite files WITHOUT prompting      -j  junk paths (do not make directories)
  -C  match filenames case-insensitively
";

/// The commands `unzip` and `zipinfo`.
pub(super) struct Unzip {
    pub(super) info: bool,
}

#[async_trait]
impl Command for Unzip {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        if context.args.is_empty() || context.args.iter().any(|word| word == "--help") {
            context.stdout.write_text(HELP).await?;
            return Ok(CommandStatus::success());
        }
        let options = match Options::read(context.args, self.info) {
            Ok(options) => options,
            Err(mistake) => {
                let name = if self.info { "zipinfo" } else { "unzip" };
                let why = match mistake {
                    Mistake::Usage => String::new(),
                    Mistake::Option(letter) => format!("{name}:  option -{letter} is not supported here\n\n"),
                };
                context.stderr.write_text(&format!("{why}{HELP}")).await?;
                return Ok(CommandStatus::with_code(USAGE));
            }
        };
        let mut run = Run { context: &context, options, stdout: Vec::new(), stderr: String::new(), answers: None };
        let status = run.run().await?;
        run.flush().await?;
        Ok(CommandStatus::with_code(status))
    }
}

/// State of one execution.
pub(super) struct Run<'a, 'c> {
    pub(super) context: &'a CommandContext<'c>,
    pub(super) options: Options,
    stdout: Vec<u8>,
    pub(super) stderr: String,
    /// Lines of standard input that answer questions, in reverse order.
    pub(super) answers: Option<Vec<String>>,
}

/// Entries that the words select, and words that select none.
struct Choice<'e> {
    entries: Vec<&'e Entry>,
    missed: Vec<String>,
    missed_exclusions: Vec<String>,
}

impl Run<'_, '_> {
    async fn run(&mut self) -> Result<i32> {
        let name = self.options.file.clone();
        if self.options.both {
            self.warn("caution:  both -n and -o specified; ignoring -o\n");
        }
        if self.options.directory.is_some() && self.options.action != Action::Extract {
            self.warn("caution:  not extracting; -d ignored\n");
        }
        let Some((name, bytes)) = self.find(&name).await? else {
            if self.options.quiet < 3 && self.options.action != (Action::Pipe { told: false }) {
                let program = self.program();
                self.warn(&format!("{program}:  cannot find or open {name}, {name}.zip or {name}.ZIP.\n"));
            }
            return Ok(NOT_FOUND);
        };
        let quiet = self.options.quiet;
        let named = !self.options.list.is_empty() || !self.options.exclude.is_empty();
        let heads = match self.options.action {
            Action::Pipe { told } => told && quiet == 0,
            Action::List(Form::Names) => false,
            Action::List(Form::Info(info)) => info.shows_head(named),
            _ => quiet == 0,
        };
        if heads {
            self.say(&format!("Archive:  {name}\n"));
        }
        let length = bytes.len();
        let archive = match Archive::read(bytes) {
            Ok(archive) => archive,
            Err(why) => {
                let told = no_archive(self.program(), &name, &why);
                self.warn(&told);
                return Ok(NOT_FOUND);
            }
        };
        self.tell_comment(&archive, heads);
        if self.options.action == Action::Comment {
            return Ok(0);
        }
        if let (true, Action::List(Form::Info(_))) = (heads, self.options.action) {
            self.say(&format!("Zip file size: {length} bytes, number of entries: {}\n", archive.entries.len()));
        }
        let mut status = self.about_bytes(&archive, &name);
        if archive.entries.is_empty() {
            match self.options.action {
                Action::List(Form::Info(_) | Form::Names) => self.say("Empty zipfile.\n"),
                _ => self.warn(&format!("warning [{name}]:  zipfile is empty\n")),
            }
            return Ok(status.max(WARNING));
        }
        status = status.max(self.act(&archive, &name, named).await?);
        Ok(status)
    }

    /// Prints the comment of the archive, if a head is printed or nothing else is requested.
    fn tell_comment(&mut self, archive: &Archive, heads: bool) {
        let comment = match self.options.action {
            Action::Comment => true,
            Action::List(Form::Info(_) | Form::Names) => false,
            _ => heads,
        };
        if comment && !archive.comment.is_empty() {
            self.stdout.extend(&archive.comment);
            if archive.comment.last() != Some(&b'\n') {
                self.say("\n");
            }
        }
    }

    /// Returns the name of the program for messages.
    fn program(&self) -> &'static str {
        if matches!(self.options.action, Action::List(Form::Info(_) | Form::Names)) { "zipinfo" } else { "unzip" }
    }

    /// Reports bytes before the archive. Returns the status.
    fn about_bytes(&mut self, archive: &Archive, name: &str) -> i32 {
        let before = archive.before;
        if before == 0 {
            return 0;
        }
        let ending = if before == 1 { "" } else { "s" };
        self.warn(&format!(
            "warning [{name}]:  {before} extra byte{ending} at beginning or within zipfile\n  \
             (attempting to process anyway)\n"
        ));
        WARNING
    }

    /// Performs the requested action on the entries. Returns the status.
    async fn act(&mut self, archive: &Archive, name: &str, named: bool) -> Result<i32> {
        let Choice { entries, missed, missed_exclusions } = self.choose(&archive.entries);
        let mut status = match self.options.action {
            Action::List(form) => {
                let list = list::list(&entries, form, self.options.quiet, named);
                self.say(&list);
                if matches!(form, Form::Info(_) | Form::Names) {
                    self.tell_missed(&missed, &missed_exclusions);
                }
                return Ok(if entries.is_empty() { NOT_MATCHED } else { 0 });
            }
            Action::Comment => 0,
            Action::Test => self.test(archive, &entries),
            Action::Pipe { told } => self.pipe(archive, &entries, told).await?,
            Action::Extract => self.extract(archive, &entries).await?,
        };
        self.tell_missed(&missed, &missed_exclusions);
        if status <= WARNING && (!missed.is_empty() || entries.is_empty()) {
            status = NOT_MATCHED;
        }
        if self.options.action == Action::Test {
            self.sum_up(name, &entries, status, named);
        }
        Ok(status)
    }

    /// Reports patterns without a match.
    fn tell_missed(&mut self, missed: &[String], exclusions: &[String]) {
        for pattern in missed {
            self.warn(&format!("caution: filename not matched:  {pattern}\n"));
        }
        for pattern in exclusions {
            self.warn(&format!("caution: excluded filename not matched:  {pattern}\n"));
        }
    }

    /// Returns the name and bytes of the archive, to whose name `.zip` is appended if necessary.
    async fn find(&self, name: &str) -> Result<Option<(String, Vec<u8>)>> {
        for ending in ["", ".zip", ".ZIP"] {
            let name = format!("{name}{ending}");
            let path = vfs_join(self.context.cwd, Path::new(&name));
            if self.context.fs.stat(&path).await.is_ok_and(|found| found.file_type == FileType::Directory) {
                continue;
            }
            if let Ok(bytes) = self.context.fs.read_file(&path).await {
                return Ok(Some((name, bytes)));
            }
        }
        Ok(None)
    }

    fn choose<'e>(&self, entries: &'e [Entry]) -> Choice<'e> {
        let Options { list, exclude, fold, .. } = &self.options;
        let named = |patterns: &[String], name: &str| patterns.iter().any(|pattern| matches(pattern, name, *fold));
        let listed: Vec<&Entry> = entries.iter().filter(|entry| list.is_empty() || named(list, &entry.name)).collect();
        // A pattern is matched only with entries that earlier patterns left undecided.
        let missed = |patterns: &[String], entries: &[&Entry]| -> Vec<String> {
            let first = |entry: &&Entry| patterns.iter().position(|pattern| matches(pattern, &entry.name, *fold));
            let used: Vec<usize> = entries.iter().filter_map(first).collect();
            let unused = patterns.iter().enumerate().filter(|(at, _)| !used.contains(at));
            unused.map(|(_, pattern)| pattern.clone()).collect()
        };
        Choice {
            missed: missed(list, &entries.iter().collect::<Vec<_>>()),
            missed_exclusions: missed(exclude, &listed),
            entries: listed.into_iter().filter(|entry| !named(exclude, &entry.name)).collect(),
        }
    }

    fn test(&mut self, archive: &Archive, chosen: &[&Entry]) -> i32 {
        let mut status = 0;
        for (at, entry) in chosen.iter().enumerate() {
            if let Some(refused) = self.refused(archive, entry, at + 1) {
                status = status.max(refused);
                continue;
            }
            let (_, damage) = archive.content(entry);
            if self.options.quiet == 0 {
                let good = if damage.is_none() { " OK\n" } else { "" };
                self.say(&format!("    testing: {:<22}  {good}", entry.name));
            }
            if let Some(damage) = damage {
                status = status.max(self.tell_damage(damage, &entry.name));
            }
        }
        status
    }

    /// Ends a test with a summary.
    fn sum_up(&mut self, name: &str, entries: &[&Entry], status: i32, named: bool) {
        if self.options.quiet > 1 {
            return;
        }
        let count = entries.len();
        let ending = if count == 1 { "" } else { "s" };
        let warning = if status == WARNING { "warning-" } else { "" };
        self.say(&match (status, count, named) {
            (0, 0, _) => format!("Caution:  zero files tested in {name}.\n"),
            (0, _, false) => format!("No errors detected in compressed data of {name}.\n"),
            (0, _, true) => format!("No errors detected in {name} for the {count} file{ending} tested.\n"),
            _ => format!("At least one {warning}error was detected in {name}.\n"),
        });
    }

    async fn pipe(&mut self, archive: &Archive, chosen: &[&Entry], told: bool) -> Result<i32> {
        let mut status = 0;
        for (at, entry) in chosen.iter().enumerate() {
            if let Some(refused) = self.refused(archive, entry, at + 1) {
                status = status.max(refused);
                continue;
            }
            let (content, damage) = archive.content(entry);
            let told = told && self.options.quiet == 0;
            if told {
                let verb = if entry.stored { " extracting" } else { "  inflating" };
                self.say(&format!("{verb}: {:<22}  \n", entry.name));
            }
            self.stdout.extend(content);
            match damage {
                Some(damage) => status = status.max(self.tell_damage(damage, &entry.name)),
                None if told => self.say("\n"),
                None => {}
            }
            self.flush().await?;
        }
        Ok(status)
    }

    /// Reports an entry that cannot be read at all. Returns the status. `number` is its index among the selected ones.
    pub(super) fn refused(&mut self, archive: &Archive, entry: &Entry, number: usize) -> Option<i32> {
        let name = &entry.name;
        let (text, status) = match archive.refusal(entry)? {
            Damage::Encrypted => (format!("   skipping: {name:<22}  encrypted (not supported)\n"), UNSUPPORTED),
            Damage::Method(method) => {
                (format!("   skipping: {name:<22}  unsupported compression method {method}\n"), UNSUPPORTED)
            }
            Damage::Offset(at) => (format!("file #{number}:  bad zipfile offset (local header sig):  {at}\n"), ERROR),
            Damage::Invalid | Damage::Memory(_) | Damage::Sum { .. } => return None,
        };
        self.warn(&text);
        Some(status)
    }

    /// Reports damage of content. Returns the status.
    pub(super) fn tell_damage(&mut self, damage: Damage, name: &str) -> i32 {
        let messages = match self.options.action {
            Action::Pipe { told } => told && self.options.quiet == 0,
            _ => self.options.quiet == 0,
        };
        let text = match (damage, messages) {
            (Damage::Sum { found, expected }, messages) => {
                let name = if messages { String::new() } else { format!("{name:<22} ") };
                format!("{name} bad CRC {found:08x}  (should be {expected:08x})\n")
            }
            (Damage::Memory(size), _) => {
                self.warn(&format!("\n  error:  {name} does not fit into memory: {size} bytes\n"));
                return MEMORY;
            }
            (_, true) => "\n  error:  invalid compressed data to inflate\n".to_owned(),
            (_, false) => format!("  error:  invalid compressed data to inflate {name}\n"),
        };
        self.warn(&text);
        ERROR
    }

    /// Prints a warning. In a test, and in a list of `zipinfo` with totals, it belongs to the regular output.
    fn warn(&mut self, text: &str) {
        let named = !self.options.list.is_empty() || !self.options.exclude.is_empty();
        match self.options.action {
            Action::Test => self.say(text),
            Action::List(Form::Info(info)) if info.shows_total(named) => self.say(text),
            _ => self.stderr += text,
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        self.stdout.extend(text.as_bytes());
    }

    async fn flush(&mut self) -> Result<()> {
        self.context.stdout.write_all(&std::mem::take(&mut self.stdout)).await?;
        self.context.stderr.write_all(std::mem::take(&mut self.stderr).as_bytes()).await
    }
}

/// Returns the verb for the extraction of an entry.
pub(super) fn verb(entry: &Entry) -> &'static str {
    match (entry.link, entry.stored) {
        (true, _) => "    linking",
        (false, true) => " extracting",
        (false, false) => "  inflating",
    }
}

/// Returns the message about a file that is not an archive.
fn no_archive(program: &str, name: &str, why: &str) -> String {
    format!(
        "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it constitutes one \
         disk of a multi-part archive.  In the\n  latter case the central directory and zipfile comment will be found \
         on\n  the last disk(s) of this archive.\n{program}:  cannot find zipfile directory in one of {name} or\n        \
         {name}.zip, and cannot find {name}.ZIP, period: {why}.\n"
    )
}
