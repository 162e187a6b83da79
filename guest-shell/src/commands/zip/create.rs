//! `zip`: creates or changes an archive.

use std::path::Path;
use std::time::Duration;

use bashkit::time::UNIX_EPOCH;
use bashkit::{Command, CommandContext, CommandStatus, FileType, Result, async_trait, vfs_join};

use super::entry::{Archive, DIRECTORY, Damage, Entry, FILE, PIPE, SYMLINK, Writer, pack, percent};
use super::finish::trash;
use super::selection::{Selection, Selector, Source};
use super::zip_options::{Action, Options};
use crate::commands::files::reason;

/// Exit statuses of Info-ZIP, and their messages.
const BROKEN: (i32, &str) = (3, "Zip file structure invalid");
pub(super) const TEST: (i32, &str) = (8, "Zip file invalid, could not spawn unzip, or wrong unzip");
const NOTHING: (i32, &str) = (12, "Nothing to do!");
const UNWRITABLE: (i32, &str) = (15, "Could not create output file");
const USAGE: (i32, &str) = (16, "Invalid command arguments");
const MISSING: (i32, &str) = (18, "File not found or no read permission");

const HELP: &str = "\
Usage: zip [-options] zipfile list...
  -r   recurse into directories     -j   junk (don't record) directory names
  -R   files below that patterns name  -y   store symbolic links as the link
  -q   quiet operation              -v   verbose operation
  -u   update: only changed files   -f   freshen: only changed files that are entries
  -d   delete entries in zipfile    -FS  make the zipfile what the files are
  -m   move into zipfile            -D   do not add directory entries
  -0   store only                   -1 to -9   compress faster to better
  -x   exclude the following names  -i   include only the following names
  -@   read names from stdin        -T   test zipfile integrity
  -z   comment of the zipfile       -n   don't compress these suffixes
  -o   make zipfile as old as its latest entry     -sf  show what would be done
";

/// Command that creates archives, as `zip`.
pub(super) struct Zip;

#[async_trait]
impl Command for Zip {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let mut run =
            Run { context: &context, options: Options::default(), told: String::new(), errors: String::new() };
        let mut to_stdout = false;
        let status = match Options::read(context.args) {
            Ok(options) => {
                run.options = options;
                to_stdout = run.to_stdout();
                run.run().await?
            }
            Err(why) => run.fail(USAGE, &why),
        };
        // Messages are not mixed with an archive on standard output.
        let stream = if to_stdout { &context.stderr } else { &context.stdout };
        stream.write_all(run.told.as_bytes()).await?;
        context.stderr.write_all(run.errors.as_bytes()).await?;
        Ok(CommandStatus::with_code(status))
    }
}

/// State of one execution.
pub(super) struct Run<'a, 'c> {
    pub(super) context: &'a CommandContext<'c>,
    pub(super) options: Options,
    /// Messages that are not printed yet.
    pub(super) told: String,
    /// Text for standard error in any case.
    errors: String,
}

/// New archive.
#[derive(Default)]
struct Made {
    writer: Writer,
    /// Files that are now in it, in its order.
    moved: Vec<Source>,
    /// Newest time of its files.
    newest: u64,
    entries: usize,
    size: u64,
    packed: u64,
    /// True if a file could not be read.
    unreadable: bool,
}

/// Result of a step. The error is a status.
type Step<T> = Result<std::result::Result<T, i32>>;

impl Run<'_, '_> {
    fn to_stdout(&self) -> bool {
        self.options.operands.first().is_none_or(|name| name == "-") && !self.options.help
    }

    async fn run(&mut self) -> Result<i32> {
        if self.options.help {
            self.told += HELP;
            return Ok(0);
        }
        // Without a name it is a filter.
        let mut operands = self.options.operands.clone();
        if operands.is_empty() {
            operands.extend(["-".to_owned(), "-".to_owned()]);
        }
        let name = operands.remove(0);
        let base = name.rsplit('/').next().unwrap_or_default();
        let file = if base.contains('.') || name == "-" { name.clone() } else { format!("{name}.zip") };
        if self.to_stdout() && self.options.test {
            self.warn("can't use -T on stdout, -T ignored");
            self.options.test = false;
        }
        let on_archive = self.options.action != Action::Add || self.options.grow;
        self.drop_options_of_adding();
        if self.to_stdout() && on_archive {
            return Ok(self.fail(USAGE, "can't use -d, -f, -u, -U, or -g on stdout\n"));
        }
        if self.options.sync && on_archive {
            return Ok(self.fail(USAGE, "can't use -d, -f, -u, -U, or -g with filesync -FS\n"));
        }
        if let Err(status) = self.read_patterns().await? {
            return Ok(status);
        }
        let path = vfs_join(self.context.cwd, Path::new(&file));
        let archive = match self.open(&file, &path).await? {
            Ok(archive) => archive,
            Err(status) => return Ok(status),
        };
        let entries = archive.as_ref().map(|archive| archive.entries.clone()).unwrap_or_default();
        if entries.is_empty() && on_archive {
            self.warn(&format!("{file} not found or empty"));
        }
        let names = self.names(operands).await?;
        let own = (file != "-").then_some(path.as_path());
        let selector = Selector::new(self.context, &self.options, &entries, own);
        let selection = match selector.select(&names).await? {
            Ok(selection) => selection,
            Err(why) => {
                self.warn(&why);
                return Ok(self.fail(USAGE, "cannot repeat names in zip file"));
            }
        };
        for name in &selection.missed {
            self.warn(&format!("name not matched: {name}"));
        }
        if self.options.show {
            self.show(&entries, &selection, names.is_empty());
            return Ok(0);
        }
        if let Some(status) = self.idle(&file, archive.as_ref(), &selection).await? {
            return Ok(status);
        }
        self.make(&file, &path, archive.as_ref(), &selection).await
    }

    /// Removes options that have no meaning for deletion.
    fn drop_options_of_adding(&mut self) {
        let Options { action, level, remove, recurse, comment, .. } = &self.options;
        if *action == Action::Delete && (*level == 0 || *remove || *recurse || *comment) {
            self.warn("invalid option(s) used with -d; ignored.");
            let options = &mut self.options;
            (options.remove, options.recurse, options.comment) = (false, false, false);
        }
    }

    /// Reads the existing archive.
    async fn open(&mut self, file: &str, path: &Path) -> Step<Option<Archive>> {
        if file == "-" || !self.context.fs.exists(path).await? {
            return Ok(Ok(None));
        }
        let directory = self.context.fs.stat(path).await.is_ok_and(|found| found.file_type == FileType::Directory);
        let bytes = match self.context.fs.read_file(path).await {
            Ok(bytes) => bytes,
            Err(_) if directory => Vec::new(),
            Err(why) => return Ok(Err(self.io_error(UNWRITABLE, file, &reason(&why)))),
        };
        match Archive::read(bytes) {
            Ok(archive) => Ok(Ok(Some(archive))),
            Err(_) => {
                self.warn("missing end signature--probably not a zip file (did you");
                self.warn("remember to use binary mode when you transferred it?)");
                self.warn("(if you are trying to read a damaged archive try -F)");
                Ok(Err(self.fail(BROKEN, file)))
            }
        }
    }

    /// Replaces `-x@FILE` by the lines of the file.
    async fn read_patterns(&mut self) -> Step<()> {
        let lists =
            [(std::mem::take(&mut self.options.exclude), 'x'), (std::mem::take(&mut self.options.include), 'i')];
        for (list, letter) in lists {
            for pattern in list {
                let patterns = match pattern.strip_prefix('@') {
                    None => vec![pattern],
                    Some(file) => match self.context.fs.read_file(&vfs_join(self.context.cwd, Path::new(file))).await {
                        Ok(bytes) => String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect(),
                        Err(why) => {
                            let text = format!("{letter} pattern file '{file}'");
                            return Ok(Err(self.io_error(MISSING, &text, &reason(&why))));
                        }
                    },
                };
                let list = if letter == 'x' { &mut self.options.exclude } else { &mut self.options.include };
                list.extend(patterns.into_iter().filter(|pattern| !pattern.is_empty()));
            }
        }
        Ok(Ok(()))
    }

    /// Returns the names of files: those of standard input, and the words.
    async fn names(&mut self, operands: Vec<String>) -> Result<Vec<String>> {
        let mut names = Vec::new();
        if self.options.names_from_input {
            let input = self.input().await?;
            let text = String::from_utf8_lossy(&input);
            names.extend(text.split(['\n', '\r']).filter(|line| !line.is_empty()).map(str::to_owned));
        }
        names.extend(operands);
        Ok(names)
    }

    /// Handles an execution that has nothing to do. Returns the status.
    async fn idle(&mut self, file: &str, archive: Option<&Archive>, selection: &Selection) -> Result<Option<i32>> {
        let marked = selection.marks.iter().any(|mark| mark.marked);
        let filled = archive.filter(|archive| !archive.entries.is_empty());
        let other = filled.is_some() && (self.options.latest || self.options.comment);
        if self.options.sync && selection.all_current && selection.found.is_empty() && filled.is_some() {
            self.say("Archive is current\n");
            return Ok(Some(0));
        }
        let Options { include, exclude, .. } = &self.options;
        let filters = !include.is_empty() || !exclude.is_empty();
        // If `-i` excludes everything, an archive is empty.
        if marked || !selection.found.is_empty() || other || filled.is_none() && !include.is_empty() {
            return Ok(None);
        }
        if let (true, Some(archive)) = (self.options.test, filled) {
            return Ok(Some(match self.test(file, archive) {
                Ok(()) => {
                    self.remove_moved(&trash(selection)).await?;
                    0
                }
                Err(status) => status,
            }));
        }
        if matches!(self.options.action, Action::Update | Action::Freshen) {
            if self.options.remove {
                self.remove_moved(&trash(selection)).await?;
            }
            return Ok(Some(NOTHING.0));
        }
        let named = !self.options.words.1.is_empty();
        if self.options.recurse && !filters && named {
            let (before, after) = self.options.words.clone();
            let why = format!("try: zip {} . -i {}", before.join(" "), after.join(" "));
            return Ok(Some(self.fail(NOTHING, &why)));
        }
        Ok(Some(self.fail(NOTHING, file)))
    }

    /// Creates and writes the archive. Returns the status.
    async fn make(&mut self, file: &str, path: &Path, archive: Option<&Archive>, selection: &Selection) -> Result<i32> {
        let to_file = file != "-";
        if to_file && let Some(why) = self.cannot_write(path).await {
            return Ok(self.io_error(UNWRITABLE, file, &why));
        }
        let made = match self.fill(archive, selection).await? {
            Ok(made) => made,
            Err(status) => return Ok(status),
        };
        let comment = self.comment(archive).await?;
        if made.entries == 0 {
            self.warn("zip file empty");
        }
        if self.options.verbose {
            let saved = percent(made.size, made.packed);
            self.say(&format!("total bytes={}, compressed={} -> {saved}% savings\n", made.size, made.packed));
        }
        let bytes = match made.writer.finish(&comment) {
            Ok(bytes) => bytes,
            Err(why) => return Ok(self.fail(UNWRITABLE, &why)),
        };
        if self.options.test {
            let tested = Archive::read(bytes.clone()).map(|archive| self.test(file, &archive));
            match tested {
                Ok(Ok(())) => {}
                Ok(Err(status)) => return Ok(status),
                Err(_) => return Ok(self.fail(BROKEN, file)),
            }
        }
        if to_file {
            if let Err(why) = self.context.fs.write_file(path, &bytes).await {
                return Ok(self.io_error(UNWRITABLE, file, &reason(&why)));
            }
            if self.options.latest && made.newest > 0 {
                let time = UNIX_EPOCH + Duration::from_secs(made.newest);
                // A file system without times ignores this.
                let _ = self.context.fs.set_modified_time(path, time).await;
            }
        } else {
            self.context.stdout.write_all(&bytes).await?;
        }
        if self.options.remove {
            let moved: Vec<Source> = made.moved.into_iter().chain(trash(selection)).collect();
            self.remove_moved(&moved).await?;
        }
        Ok(if made.unreadable { MISSING.0 } else { 0 })
    }

    /// Returns the reason why the archive cannot be written.
    async fn cannot_write(&self, path: &Path) -> Option<String> {
        let fs = &self.context.fs;
        if fs.stat(path).await.is_ok_and(|found| found.file_type == FileType::Directory) {
            return Some("Is a directory".to_owned());
        }
        match fs.stat(path.parent()?).await {
            Ok(found) if found.file_type == FileType::Directory => None,
            Ok(_) => Some("Not a directory".to_owned()),
            Err(why) => Some(reason(&why)),
        }
    }

    /// Puts entries and files into a new archive.
    async fn fill(&mut self, archive: Option<&Archive>, selection: &Selection) -> Step<Made> {
        let mut made = Made::default();
        let entries = archive.map(|archive| &archive.entries[..]).unwrap_or_default();
        for (entry, mark) in entries.iter().zip(&selection.marks) {
            let keeps = match (self.options.action, mark.marked) {
                (Action::Delete, true) => false,
                (Action::Delete, false) => true,
                (_, true) => self.options.sync && mark.current,
                (_, false) => !self.options.sync,
            };
            if !keeps && (!mark.marked || self.options.action == Action::Delete) {
                self.say(&format!("deleting: {}\n", entry.name));
                continue;
            }
            let verb = if self.options.action == Action::Freshen { "freshening" } else { "updating" };
            let put = match (keeps, &mark.source, archive) {
                (false, Some(source), _) => self.put(&mut made, source, verb).await?,
                (_, _, Some(archive)) => {
                    if matches!(archive.refusal(entry), Some(Damage::Offset(_))) {
                        self.warn(&format!("Did not find entry for {}", entry.name));
                        return Ok(Err(self.fail(BROKEN, &format!("was copying {}", entry.name))));
                    }
                    made.count(entry.size, entry.packed, entry);
                    made.writer.keep(archive, entry)
                }
                _ => Ok(()),
            };
            if let Err(why) = put {
                return Ok(Err(self.fail(UNWRITABLE, &why)));
            }
        }
        for source in &selection.found {
            if let Err(why) = self.put(&mut made, source, "  adding").await? {
                return Ok(Err(self.fail(UNWRITABLE, &why)));
            }
        }
        Ok(Ok(made))
    }

    /// Puts one file into the archive. The error is a message.
    async fn put(&mut self, made: &mut Made, source: &Source, verb: &str) -> Result<std::result::Result<(), String>> {
        let name = &source.name;
        let fs = &self.context.fs;
        let read = match source.kind {
            FileType::Fifo => Ok((self.input().await?, 0o600)),
            FileType::Directory => fs.stat(&source.path).await.map(|found| (Vec::new(), found.mode)),
            FileType::Symlink => match fs.read_link(&source.path).await {
                Ok(target) => Ok((target.to_string_lossy().into_owned().into_bytes(), 0o777)),
                Err(why) => Err(why),
            },
            _ => match (fs.read_file(&source.path).await, fs.stat(&source.path).await) {
                (Ok(content), Ok(found)) => Ok((content, found.mode)),
                (Err(why), _) | (_, Err(why)) => Err(why),
            },
        };
        let (content, mode) = match read {
            Ok(read) => read,
            Err(why) => {
                self.say(&format!("{verb}: {name}\n"));
                self.errors += &format!("zip warning: {}\n", reason(&why));
                self.warn(&format!("could not open for reading: {name}"));
                made.unreadable = true;
                return Ok(Ok(()));
            }
        };
        let kind = match source.kind {
            FileType::Directory => DIRECTORY,
            FileType::Symlink => SYMLINK,
            FileType::Fifo => PIPE,
            _ => FILE,
        };
        let stored = source.kind == FileType::Symlink || self.options.stores(name);
        let packed = pack(&content, if stored { 0 } else { self.options.level });
        if let Err(why) = made.writer.add(name, kind | mode & 0o7777, source.time, &content, &packed) {
            return Ok(Err(why));
        }
        let (size, length) = (content.len() as u64, packed.bytes.len() as u64);
        // Streamed data is compressed before its size is known.
        let streamed = source.kind == FileType::Fifo && self.to_stdout();
        let word = if packed.deflated || streamed { "deflated" } else { "stored" };
        let sizes = if self.options.verbose { format!("\t(in={size}) (out={length})") } else { String::new() };
        self.say(&format!("{verb}: {name}{sizes} ({word} {}%)\n", percent(size, length)));
        made.entries += 1;
        (made.size, made.packed) = (made.size + size, made.packed + length);
        if source.kind != FileType::Directory {
            made.newest = made.newest.max(source.time);
        }
        made.moved.push(source.clone());
        Ok(Ok(()))
    }

    /// Returns the comment of the archive: the current one, or the lines of standard input up to one with a dot.
    async fn comment(&mut self, archive: Option<&Archive>) -> Result<Vec<u8>> {
        let old = archive.map(|archive| archive.comment.clone()).unwrap_or_default();
        if !self.options.comment {
            return Ok(old);
        }
        if !old.is_empty() {
            let text = String::from_utf8_lossy(&old);
            self.say(&format!("current zip file comment is:\n{}\n", text.trim_end_matches('\n')));
        }
        self.say("enter new zip file comment (end with .):\n");
        let input = self.input().await?;
        let lines = input.split(|byte| *byte == b'\n').take_while(|line| *line != b".");
        let lines: Vec<&[u8]> = lines.collect();
        let comment = lines.join(&b"\r\n"[..]);
        Ok(comment.strip_suffix(b"\r\n").map_or(comment.clone(), <[u8]>::to_vec))
    }

    async fn input(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.context.stdin.read_chunk().await? {
            bytes.extend(chunk);
        }
        Ok(bytes)
    }

    pub(super) fn say(&mut self, text: &str) {
        if !self.options.quiet {
            self.told += text;
        }
    }

    pub(super) fn warn(&mut self, text: &str) {
        self.say(&format!("\tzip warning: {text}\n"));
    }

    pub(super) fn fail(&mut self, (status, words): (i32, &str), text: &str) -> i32 {
        self.told += &format!("\nzip error: {words} ({text})\n");
        status
    }

    /// Reports an error with a reason from the system.
    fn io_error(&mut self, (status, words): (i32, &str), text: &str, why: &str) -> i32 {
        self.told += &format!("zip I/O error: {why}\nzip error: {words} ({text})\n");
        status
    }
}

impl Made {
    /// Counts an entry that remains.
    fn count(&mut self, size: u64, packed: u64, entry: &Entry) {
        self.entries += 1;
        (self.size, self.packed) = (self.size + size, self.packed + packed);
        if !entry.directory {
            self.newest = self.newest.max(entry.time);
        }
    }
}
