//! Extraction of files by `unzip`: their paths, existing files, and links.
//!
//! **Invariant:** nothing is written through a link from the archive. As with Info-ZIP, a link is a file with its
//! target as text until everything else is written, so that it cannot serve as a directory for other entries.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bashkit::time::{SystemTime, UNIX_EPOCH};
use bashkit::{FileType, Result, vfs_join};

use super::entry::{Archive, Entry};
use super::extract::{ERROR, Run, WARNING, WRITE, verb};
use super::unzip_options::Existing;
use crate::clock;
use crate::commands::files::reason;

/// Work that is deferred until all files are written.
#[derive(Default)]
struct Deferred {
    links: Vec<Link>,
    /// Files with their times.
    files: Vec<(PathBuf, SystemTime)>,
    /// Directories with their times and modes.
    directories: Vec<(PathBuf, SystemTime, u32)>,
}

/// Link that will replace the file with its target.
struct Link {
    path: PathBuf,
    shown: String,
    target: Vec<u8>,
}

/// Destination of an entry.
enum Place {
    /// A path, and its form in messages.
    File(PathBuf, String),
    /// A directory, which now exists.
    Directory(PathBuf),
    /// Nothing is written.
    Nowhere,
}

/// Answer to the question whether a file may be written.
enum Answer {
    Yes,
    No,
    /// Yes, under another name.
    Renamed(String),
}

impl Run<'_, '_> {
    /// Extracts entries and returns the status.
    pub(super) async fn extract(&mut self, archive: &Archive, chosen: &[&Entry]) -> Result<i32> {
        if let Some(directory) = self.options.directory.clone()
            && let Some(why) = self.make_root(directory.trim_end_matches('/')).await?
        {
            self.stderr += &format!("checkdir:  cannot create extraction directory: {directory}\n           {why}\n");
            return Ok(ERROR);
        }
        let mut status = 0;
        let mut deferred = Deferred::default();
        for (at, entry) in chosen.iter().enumerate() {
            clock::burn(1);
            let one = match self.refused(archive, entry, at + 1) {
                Some(status) => status,
                None => self.extract_one(archive, entry, &mut deferred).await?,
            };
            status = status.max(one);
        }
        self.make_links(&deferred.links).await?;
        let fs = &self.context.fs;
        // A file system without times ignores this. Writing into a directory changes its time.
        for (path, time) in &deferred.files {
            let _ = fs.set_modified_time(path, *time).await;
        }
        for (path, time, mode) in deferred.directories.iter().rev() {
            let _ = fs.set_modified_time(path, *time).await;
            let _ = fs.chmod(path, *mode).await;
        }
        Ok(status)
    }

    /// Creates the directory of the option `-d`. Returns the reason for a failure.
    async fn make_root(&self, directory: &str) -> Result<Option<String>> {
        let path = vfs_join(self.context.cwd, Path::new(if directory.is_empty() { "/" } else { directory }));
        let fs = &self.context.fs;
        if self.options.freshen || fs.stat(&path).await.is_ok_and(|found| found.file_type == FileType::Directory) {
            return Ok(None);
        }
        Ok(fs.mkdir(&path, false).await.err().map(|why| reason(&why)))
    }

    async fn extract_one(&mut self, archive: &Archive, entry: &Entry, deferred: &mut Deferred) -> Result<i32> {
        let (mut name, mut status) = (entry.name.clone(), 0);
        if name.starts_with('/') {
            self.stderr += &format!("warning:  stripped absolute path spec from {name}\n");
            status = WARNING;
            name = name.trim_start_matches('/').to_owned();
        }
        let mut renamed = false;
        loop {
            let (place, worse) = self.place(&name, renamed).await?;
            status = status.max(worse);
            let (path, shown) = match place {
                Place::Nowhere => return Ok(status),
                Place::Directory(path) => {
                    // The mode allows writing into it; its own mode is set at the end.
                    let _ = self.context.fs.chmod(&path, self.mode(entry) | 0o700).await;
                    deferred.directories.push((path, modified(entry), self.mode(entry)));
                    return Ok(status);
                }
                Place::File(path, shown) => (path, shown),
            };
            let (answer, worse) = self.may_write(&path, &shown, entry, renamed).await?;
            status = status.max(worse);
            match answer {
                Answer::No => return Ok(status),
                Answer::Yes => return Ok(status.max(self.write(archive, entry, path, &shown, deferred).await?)),
                Answer::Renamed(other) => (name, renamed) = (other, true),
            }
        }
    }

    /// Determines the path for a name, and creates its parent directories. Also returns the status.
    async fn place(&mut self, name: &str, renamed: bool) -> Result<(Place, i32)> {
        let inner = if self.options.junk { name.rsplit('/').next().unwrap_or_default() } else { name };
        let root = match &self.options.directory {
            _ if renamed && inner.starts_with('/') => "/".to_owned(),
            Some(directory) => format!("{}/", directory.trim_end_matches('/')),
            None => String::new(),
        };
        let (mut path, mut shown) = (vfs_join(self.context.cwd, Path::new(&root)), root);
        let mut parts: Vec<String> = inner.split('/').map(printable).collect();
        let last = parts.pop().unwrap_or_default();
        let (mut made, mut above) = (false, false);
        for part in parts {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    above = true;
                    continue;
                }
                _ => {}
            }
            path.push(&part);
            shown += &part;
            match self.context.fs.stat(&path).await {
                Ok(found) if found.file_type == FileType::Directory => {}
                Ok(_) => {
                    let why = format!("{shown} exists but is not directory");
                    return Ok((self.cannot_place(&why, name), ERROR));
                }
                Err(_) if self.options.freshen && !renamed => return Ok((Place::Nowhere, 0)),
                Err(_) => {
                    if let Err(why) = self.context.fs.mkdir(&path, false).await {
                        let why = format!("cannot create {shown}\n                 {}", reason(&why));
                        return Ok((self.cannot_place(&why, name), ERROR));
                    }
                    made = true;
                }
            }
            shown.push('/');
        }
        let mut status = 0;
        if above && self.options.quiet == 0 {
            self.say(&format!("warning:  skipped \"../\" path component(s) in {name}\n"));
            status = WARNING;
        }
        if name.ends_with('/') {
            if made && self.options.quiet == 0 {
                self.say(&format!("   creating: {shown}\n"));
            }
            return Ok((if made { Place::Directory(path) } else { Place::Nowhere }, status));
        }
        if last.is_empty() {
            self.stderr += &format!("mapname:  conversion of {name} failed\n");
            return Ok((Place::Nowhere, ERROR));
        }
        let last = if matches!(last.as_str(), "." | "..") { "_".repeat(last.len()) } else { last };
        path.push(&last);
        Ok((Place::File(path, shown + &last), status))
    }

    fn cannot_place(&mut self, why: &str, name: &str) -> Place {
        self.stderr += &format!("checkdir error:  {why}\n                 unable to process {name}.\n");
        Place::Nowhere
    }

    /// Returns whether a file may be written, and the status of the question.
    async fn may_write(&mut self, path: &Path, shown: &str, entry: &Entry, renamed: bool) -> Result<(Answer, i32)> {
        let fs = &self.context.fs;
        let found = fs.stat(path).await;
        let is_link = fs.lstat(path).await.is_ok_and(|found| found.file_type == FileType::Symlink);
        if is_link && self.options.quiet == 0 && self.options.existing != Existing::Overwrite {
            let nowhere = if found.is_err() { " with no real file" } else { "" };
            self.say(&format!("{shown} exists and is a symbolic link{nowhere}.\n"));
        }
        let older = match found {
            Ok(found) => whole_seconds(found.modified) < entry.time,
            Err(_) if is_link => true,
            Err(_) if self.options.freshen && !renamed => return Ok((Answer::No, 0)),
            Err(_) => return Ok((Answer::Yes, 0)),
        };
        match self.options.existing {
            Existing::Keep => return Ok((Answer::No, 0)),
            _ if self.options.update && !renamed && !older => return Ok((Answer::No, 0)),
            Existing::Overwrite => return Ok((Answer::Yes, 0)),
            Existing::Ask => {}
        }
        self.ask(shown).await
    }

    /// Asks whether a file is to be replaced.
    async fn ask(&mut self, shown: &str) -> Result<(Answer, i32)> {
        loop {
            self.stderr += &format!("replace {shown}? [y]es, [n]o, [A]ll, [N]one, [r]ename: ");
            let Some(answer) = self.answer().await? else {
                self.stderr += " NULL\n(EOF or read error, treating as \"[N]one\" ...)\n";
                self.options.existing = Existing::Keep;
                return Ok((Answer::No, WARNING));
            };
            let answer = match answer.bytes().next() {
                Some(b'y' | b'Y') => Answer::Yes,
                Some(b'n') => Answer::No,
                Some(b'A') => {
                    self.options.existing = Existing::Overwrite;
                    Answer::Yes
                }
                Some(b'N') => {
                    self.options.existing = Existing::Keep;
                    Answer::No
                }
                Some(b'r' | b'R') => {
                    let mut name = String::new();
                    while name.is_empty() {
                        self.stderr += "new name: ";
                        match self.answer().await? {
                            Some(answer) => name = answer,
                            None => return Ok((Answer::No, WARNING)),
                        }
                    }
                    Answer::Renamed(name)
                }
                first => {
                    let answer = if first.is_none() { "{ENTER}" } else { &answer };
                    self.stderr += &format!("error:  invalid response [{answer}]\n");
                    continue;
                }
            };
            return Ok((answer, 0));
        }
    }

    /// Returns the next line of standard input.
    async fn answer(&mut self) -> Result<Option<String>> {
        if self.answers.is_none() {
            let mut bytes = Vec::new();
            while let Some(chunk) = self.context.stdin.read_chunk().await? {
                bytes.extend(chunk);
            }
            self.answers = Some(String::from_utf8_lossy(&bytes).lines().rev().map(str::to_owned).collect());
        }
        Ok(self.answers.as_mut().and_then(Vec::pop))
    }

    /// Writes a file, which may represent a link. Returns the status.
    async fn write(
        &mut self,
        archive: &Archive,
        entry: &Entry,
        path: PathBuf,
        shown: &str,
        deferred: &mut Deferred,
    ) -> Result<i32> {
        let (content, damage) = archive.content(entry);
        let fs = &self.context.fs;
        // An existing file is removed first: a link would lead elsewhere.
        if fs.lstat(&path).await.is_ok() {
            let removed = match fs.lstat(&path).await {
                Ok(found) if found.file_type == FileType::Directory => Err("Is a directory".to_owned()),
                _ => fs.remove(&path, false).await.map_err(|why| reason(&why)),
            };
            if let Err(why) = removed {
                self.stderr += &format!("error:  cannot delete old {shown}\n        {why}\n");
                return Ok(WRITE);
            }
        }
        if let Err(why) = fs.write_file(&path, &content).await {
            self.stderr += &format!("error:  cannot create {shown}\n        {}\n", reason(&why));
            return Ok(WRITE);
        }
        let link = entry.link && !content.is_empty();
        if self.options.quiet == 0 {
            let target = String::from_utf8_lossy(&content);
            let arrow = if link { format!("-> {target} ") } else { String::new() };
            let end = if damage.is_none() { "\n" } else { "" };
            self.say(&format!("{}: {shown:<22}  {arrow}{end}", verb(entry)));
        }
        if link {
            deferred.links.push(Link { path, shown: shown.to_owned(), target: content });
        } else {
            fs.chmod(&path, self.mode(entry)).await?;
            deferred.files.push((path, modified(entry)));
        }
        Ok(damage.map_or(0, |damage| self.tell_damage(damage, shown)))
    }

    /// Returns the permissions of a file for its entry.
    fn mode(&self, entry: &Entry) -> u32 {
        entry.mode & if self.options.special_bits { 0o7777 } else { 0o777 }
    }

    /// Creates links in place of the files that represent them.
    async fn make_links(&mut self, links: &[Link]) -> Result<()> {
        if !links.is_empty() && self.options.quiet == 0 {
            self.say("finishing deferred symbolic links:\n");
        }
        for Link { path, shown, target } in links {
            let fs = &self.context.fs;
            let file = fs.lstat(path).await.is_ok_and(|found| found.file_type == FileType::File);
            if !file || fs.read_file(path).await.is_ok_and(|content| content != *target) {
                self.stderr +=
                    &format!("warning:  deferred symlink ({shown}) failed:\n          invalid placeholder file\n");
                continue;
            }
            let target = String::from_utf8_lossy(target);
            if self.options.quiet == 0 {
                self.say(&format!("  {shown:<22} -> {target}\n"));
            }
            let fs = &self.context.fs;
            fs.remove(path, false).await?;
            if let Err(why) = fs.symlink(Path::new(&*target), path).await {
                self.stderr += &format!("symlink error: {}\n", reason(&why));
            }
        }
        Ok(())
    }
}

/// Returns a part of a name without control characters, as Info-ZIP does.
fn printable(part: &str) -> String {
    part.chars().filter(|letter| !letter.is_ascii_control()).collect()
}

/// Returns the modification time of an entry.
fn modified(entry: &Entry) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(entry.time)
}

/// Returns the seconds since the Unix epoch.
fn whole_seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}
