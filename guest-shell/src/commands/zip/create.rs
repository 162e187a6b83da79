//! `zip`.

use std::path::{Path, PathBuf};

use bashkit::time::{SystemTime, UNIX_EPOCH};
use bashkit::{Command, CommandContext, CommandStatus, FileType, Result, async_trait, vfs_join};

use super::entry::{Archive, DIRECTORY, Entry, FILE, SYMLINK, Writer, pack, percent};
use super::pattern::matches;
use crate::clock;

/// Exit statuses of Info-ZIP.
const NOTHING: i32 = 12;
const USAGE: i32 = 16;
const BROKEN: i32 = 3;
const UNWRITABLE: i32 = 15;

const HELP: &str = "\
Usage: zip [-options] zipfile list...
  -r   recurse into directories     -j   junk (don't record) directory names
  -q   quiet operation              -y   store symbolic links as the link
  -u   update: only changed files   -d   delete entries in zipfile
  -m   move into zipfile            -D   do not add directory entries
  -0   store only                   -1 to -9   compress faster to better
  -x   exclude the following names  -i   include only the following names
  -@   read names from stdin        -T   test zipfile integrity
";

/// The command `zip`.
pub(super) struct Zip;

/// Settings of one execution.
#[derive(Debug)]
struct Options {
    recurse: bool,
    junk: bool,
    quiet: bool,
    links: bool,
    update: bool,
    freshen: bool,
    delete: bool,
    remove: bool,
    no_directories: bool,
    names_from_input: bool,
    test: bool,
    level: u32,
    exclude: Vec<String>,
    include: Vec<String>,
    operands: Vec<String>,
    help: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            recurse: false,
            junk: false,
            quiet: false,
            links: false,
            update: false,
            freshen: false,
            delete: false,
            remove: false,
            no_directories: false,
            names_from_input: false,
            test: false,
            level: 6,
            exclude: Vec::new(),
            include: Vec::new(),
            operands: Vec::new(),
            help: false,
        }
    }
}

impl Options {
    /// Reads the words. The error is a text.
    fn read(words: &[String]) -> std::result::Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                options.operands.extend(words.by_ref().cloned());
                break;
            }
            let letters = match word.strip_prefix("--") {
                Some(name) => letter_of(name).ok_or_else(|| format!("long option '{name}' not supported"))?,
                None if word.len() > 1 && word.starts_with('-') => &word[1..],
                None => {
                    options.operands.push(word.clone());
                    continue;
                }
            };
            for (at, letter) in letters.char_indices() {
                if !matches!(letter, 'x' | 'i') {
                    options.set(letter)?;
                    continue;
                }
                // The rest of the word, and the words up to the next option or `@`, are patterns.
                let list = if letter == 'x' { &mut options.exclude } else { &mut options.include };
                let rest = &letters[at + 1..];
                list.extend((!rest.is_empty()).then(|| rest.to_owned()));
                while let Some(pattern) = words.next_if(|word| !word.starts_with('-')) {
                    if pattern == "@" {
                        break;
                    }
                    list.push(pattern.clone());
                }
                break;
            }
        }
        Ok(options)
    }

    fn set(&mut self, letter: char) -> std::result::Result<(), String> {
        match letter {
            'r' => self.recurse = true,
            'j' => self.junk = true,
            'q' => self.quiet = true,
            'y' => self.links = true,
            'u' => self.update = true,
            'f' => self.freshen = true,
            'd' => self.delete = true,
            'm' => self.remove = true,
            'D' => self.no_directories = true,
            '@' => self.names_from_input = true,
            'T' => self.test = true,
            'h' => self.help = true,
            '0'..='9' => self.level = letter.to_digit(10).unwrap_or_default(),
            // What is kept of a file is what there is: no owners, no times but one.
            'X' | 'o' | 'v' | 'g' => {}
            other => return Err(format!("short option '{other}' not supported")),
        }
        Ok(())
    }
}

/// The letter that is the same as a long option.
fn letter_of(name: &str) -> Option<&'static str> {
    let known = [
        ("recurse-paths", "r"),
        ("junk-paths", "j"),
        ("quiet", "q"),
        ("symlinks", "y"),
        ("update", "u"),
        ("freshen", "f"),
        ("delete", "d"),
        ("move", "m"),
        ("no-dir-entries", "D"),
        ("names-stdin", "@"),
        ("test", "T"),
        ("exclude", "x"),
        ("include", "i"),
        ("help", "h"),
        ("verbose", "v"),
        ("no-extra", "X"),
    ];
    known.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter)
}

#[async_trait]
impl Command for Zip {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let mut run = Run { context: &context, options: Options::default(), told: String::new() };
        let status = match Options::read(context.args) {
            Ok(options) => {
                run.options = options;
                run.run().await?
            }
            Err(why) => run.fail(USAGE, &format!("Invalid command arguments ({why})")),
        };
        // Messages are not for an archive that goes to standard output.
        let to_stdout = run.options.operands.first().is_some_and(|name| name == "-");
        let stream = if to_stdout { &context.stderr } else { &context.stdout };
        stream.write_all(run.told.as_bytes()).await?;
        Ok(CommandStatus::with_code(status))
    }
}

/// Something that goes into the archive.
struct Source {
    /// As it is called in the archive; a directory ends with `/`.
    name: String,
    path: PathBuf,
    kind: FileType,
}

/// One execution.
struct Run<'a, 'c> {
    context: &'a CommandContext<'c>,
    options: Options,
    /// Messages.
    told: String,
}

impl Run<'_, '_> {
    async fn run(&mut self) -> Result<i32> {
        let Some(name) = self.options.operands.first().cloned().filter(|_| !self.options.help) else {
            self.told += HELP;
            return Ok(if self.options.help { 0 } else { USAGE });
        };
        let base = name.rsplit('/').next().unwrap_or_default();
        let file = if base.contains('.') || name == "-" { name.clone() } else { format!("{name}.zip") };
        let path = vfs_join(self.context.cwd, Path::new(&file));
        let mut archive = None;
        if name != "-" && self.context.fs.exists(&path).await? {
            let bytes = match self.context.fs.read_file(&path).await {
                Ok(bytes) => bytes,
                Err(why) => {
                    return Ok(self.fail(UNWRITABLE, &format!("{}: {file}", crate::commands::files::reason(&why))));
                }
            };
            match Archive::read(bytes) {
                Ok(found) => archive = Some(found),
                Err(_) => return Ok(self.fail(BROKEN, &format!("Zip file structure invalid ({file})"))),
            }
        }
        if archive.is_none() && (self.options.delete || self.options.update || self.options.freshen) {
            self.say(&format!("\tzip warning: {file} not found or empty\n"));
        }
        let made = if self.options.delete { self.delete(archive).await } else { self.add(archive, &path).await? };
        let (bytes, removed) = match made {
            Ok(made) => made,
            Err(Stop::Nothing) if self.options.update || self.options.freshen => return Ok(NOTHING),
            Err(Stop::Nothing) => return Ok(self.fail(NOTHING, &format!("Nothing to do! ({file})"))),
            Err(Stop::Failed(why)) => return Ok(self.fail(UNWRITABLE, &why)),
        };
        if name == "-" {
            self.context.stdout.write_all(&bytes).await?;
            return Ok(0);
        }
        if let Err(why) = self.context.fs.write_file(&path, &bytes).await {
            let why = crate::commands::files::reason(&why);
            return Ok(self.fail(UNWRITABLE, &format!("Could not create output file ({file}): {why}")));
        }
        if self.options.test {
            self.told += &format!("test of {file} OK\n");
        }
        for path in removed {
            // Directories are left while something is in them.
            let _ = self.context.fs.remove(&path, false).await;
        }
        Ok(0)
    }

    /// Takes out the entries that the operands name.
    async fn delete(&mut self, archive: Option<Archive>) -> std::result::Result<Made, Stop> {
        let Some(archive) = archive else { return Err(Stop::Nothing) };
        let entries = &archive.entries;
        let patterns = self.options.operands[1..].to_vec();
        let mut writer = Writer::default();
        for pattern in &patterns {
            if !entries.iter().any(|entry| matches(pattern, &entry.name, false)) {
                self.say(&format!("\tzip warning: name not matched: {pattern}\n"));
            }
        }
        let mut deleted = 0;
        for entry in entries {
            if patterns.iter().any(|pattern| matches(pattern, &entry.name, false)) {
                self.say(&format!("deleting: {}\n", entry.name));
                deleted += 1;
            } else {
                writer.keep(&archive, entry).map_err(Stop::Failed)?;
            }
        }
        if deleted == 0 {
            return Err(Stop::Nothing);
        }
        Ok((writer.finish().map_err(Stop::Failed)?, Vec::new()))
    }

    /// Adds what the operands name, in the place of entries of the same names.
    async fn add(&mut self, archive: Option<Archive>, own: &Path) -> Result<std::result::Result<Made, Stop>> {
        let mut sources = self.sources(own).await?;
        let entries = archive.as_ref().map(|archive| &archive.entries[..]).unwrap_or_default();
        self.keep_newer(&mut sources, entries).await?;
        if sources.is_empty() {
            return Ok(Err(Stop::Nothing));
        }
        let mut writer = Writer::default();
        let mut removed = Vec::new();
        if let Some(archive) = &archive {
            for entry in entries {
                let written = match sources.iter().position(|source| source.name == entry.name) {
                    None => writer.keep(archive, entry).map_err(Stop::Failed),
                    Some(at) => {
                        let source = sources.remove(at);
                        self.write(&mut writer, &source, "updating", &mut removed).await?
                    }
                };
                if let Err(stop) = written {
                    return Ok(Err(stop));
                }
            }
        }
        for source in &sources {
            if let Err(stop) = self.write(&mut writer, source, "  adding", &mut removed).await? {
                return Ok(Err(stop));
            }
        }
        Ok(writer.finish().map(|bytes| (bytes, removed)).map_err(Stop::Failed))
    }

    /// What the operands and patterns name.
    async fn sources(&mut self, own: &Path) -> Result<Vec<Source>> {
        let mut names = self.options.operands[1..].to_vec();
        if self.options.names_from_input {
            let input = self.input().await?;
            names.extend(String::from_utf8_lossy(&input).lines().map(str::to_owned));
        }
        let mut sources: Vec<Source> = Vec::new();
        for name in names {
            if name == "-" {
                sources.push(Source { name, path: PathBuf::new(), kind: FileType::Fifo });
                continue;
            }
            let path = vfs_join(self.context.cwd, Path::new(&name));
            if !self.context.fs.exists(&path).await? && self.context.fs.lstat(&path).await.is_err() {
                self.say(&format!("\tzip warning: name not matched: {name}\n"));
                continue;
            }
            self.collect(name.trim_end_matches('/').to_owned(), path, &mut sources).await?;
        }
        let Options { exclude, include, junk, no_directories, .. } = &self.options;
        let named = |patterns: &[String], name: &str| patterns.iter().any(|pattern| matches(pattern, name, false));
        sources.retain(|source| {
            !named(exclude, &source.name)
                && (include.is_empty() || named(include, &source.name))
                && source.path != own
                && !(source.kind == FileType::Directory && (*junk || *no_directories))
        });
        if *junk {
            for source in &mut sources {
                source.name = source.name.rsplit('/').next().unwrap_or_default().to_owned();
            }
        }
        let mut seen = std::collections::HashSet::new();
        sources.retain(|source| seen.insert(source.name.clone()));
        Ok(sources)
    }

    /// Adds a file, or a directory with what is in it.
    async fn collect(&self, name: String, path: PathBuf, sources: &mut Vec<Source>) -> Result<()> {
        let mut pending = vec![(name, path)];
        while let Some((name, path)) = pending.pop() {
            clock::burn(1);
            let link = self.context.fs.lstat(&path).await?.file_type == FileType::Symlink;
            let kind = match (link && self.options.links, self.context.fs.stat(&path).await) {
                (true, _) => FileType::Symlink,
                (false, Ok(metadata)) => metadata.file_type,
                // A link that leads nowhere is no file.
                (false, Err(_)) => continue,
            };
            let inside = name.trim_start_matches('/');
            let inside = inside.strip_prefix("./").unwrap_or(inside).to_owned();
            if kind != FileType::Directory {
                sources.push(Source { name: inside, path, kind });
                continue;
            }
            if inside != "." && !inside.is_empty() {
                sources.push(Source { name: format!("{inside}/"), path: path.clone(), kind });
            }
            if self.options.recurse {
                let mut children = self.context.fs.read_dir(&path).await?;
                children.sort_by(|one, other| other.name.cmp(&one.name));
                let below = |child: bashkit::DirEntry| (format!("{name}/{}", child.name), path.join(&child.name));
                pending.extend(children.into_iter().map(below));
            }
        }
        Ok(())
    }

    /// With `-u` and `-f`, leaves what is not newer than its entry, and with `-f` what has none.
    async fn keep_newer(&self, sources: &mut Vec<Source>, entries: &[Entry]) -> Result<()> {
        if !self.options.update && !self.options.freshen {
            return Ok(());
        }
        let mut kept = Vec::new();
        for source in sources.drain(..) {
            let old = entries.iter().find(|entry| entry.name == source.name);
            let newer = match old {
                None => !self.options.freshen,
                Some(old) => {
                    let time = self.context.fs.stat(&source.path).await?.modified;
                    // Archives keep whole seconds.
                    time.duration_since(UNIX_EPOCH).is_ok_and(|since| since.as_secs() > old.time)
                }
            };
            kept.extend(newer.then_some(source));
        }
        *sources = kept;
        Ok(())
    }

    async fn write(
        &mut self,
        writer: &mut Writer,
        source: &Source,
        verb: &str,
        removed: &mut Vec<PathBuf>,
    ) -> Result<std::result::Result<(), Stop>> {
        let fs = &self.context.fs;
        let (content, mode, time) = match source.kind {
            FileType::Fifo => (self.input().await?, 0o644, SystemTime::now()),
            kind => {
                let metadata = fs.lstat(&source.path).await?;
                let content = match kind {
                    FileType::Directory => Vec::new(),
                    FileType::Symlink => fs.read_link(&source.path).await?.to_string_lossy().into_owned().into_bytes(),
                    _ => match fs.read_file(&source.path).await {
                        Ok(content) => content,
                        Err(why) => {
                            let why = crate::commands::files::reason(&why);
                            return Ok(Err(Stop::Failed(format!("{}: {why}", source.name))));
                        }
                    },
                };
                (content, metadata.mode & 0o7777, metadata.modified)
            }
        };
        if self.options.remove {
            removed.insert(0, source.path.clone());
        }
        let kind = match source.kind {
            FileType::Directory => DIRECTORY,
            FileType::Symlink => SYMLINK,
            _ => FILE,
        };
        let level = if source.kind == FileType::Symlink { 0 } else { self.options.level };
        let packed = pack(&content, level);
        let time = time.duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default();
        if let Err(why) = writer.add(&source.name, kind | mode, time, &content, &packed) {
            return Ok(Err(Stop::Failed(why)));
        }
        let (size, deflated) = (content.len() as u64, packed.deflated);
        let packed = packed.bytes.len() as u64;
        let word = if deflated { "deflated" } else { "stored" };
        self.say(&format!("{verb}: {} ({word} {}%)\n", source.name, percent(size, packed)));
        Ok(Ok(()))
    }

    async fn input(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.context.stdin.read_chunk().await? {
            bytes.extend(chunk);
        }
        Ok(bytes)
    }

    fn say(&mut self, text: &str) {
        if !self.options.quiet {
            self.told += text;
        }
    }

    fn fail(&mut self, status: i32, text: &str) -> i32 {
        self.told += &format!("\nzip error: {text}\n");
        status
    }
}

/// An archive, and the files that moved into it.
type Made = (Vec<u8>, Vec<PathBuf>);

/// Why no archive was made.
enum Stop {
    Nothing,
    Failed(String),
}
