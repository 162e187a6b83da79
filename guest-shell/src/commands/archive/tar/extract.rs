//! Files, directories and links from an archive.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::{Path, PathBuf};
use std::result::Result as StdResult;
use std::time::Duration;

use bashkit::builtins::{Context, UMASK_VAR, resolve_path};
use bashkit::limits::{BudgetedBytes, BudgetedString};
use bashkit::time_compat::{SystemTime, UNIX_EPOCH};
use bashkit::{Error, ExecResult, Result};

use super::create::base_directory;
use super::fatal_error;
use super::header::{DIRECTORY, FILE, HARD_LINK, OLD_FILE, SYMBOLIC_LINK};
use super::input::read_archive;
use super::list::ListColumns;
use super::members::MemberFilter;
use super::options::{OldFiles, TarOptions};
use super::plan::{check_contents, check_extraction, leaves};
use super::reader::{TarMember, TarReader};
use super::transform::NameKind;
use crate::commands::budget::{budgeted_bytes, budgeted_string};
use crate::commands::operands::file_error_reason;

/// Extracts the members of an archive that names select.
pub(super) async fn extract(ctx: &Context<'_>, options: &TarOptions<'_>, names: &[&str]) -> Result<ExecResult> {
    let archive = match read_archive(ctx, options).await? {
        Ok(archive) => archive.bytes,
        Err(result) => return Ok(result),
    };
    let mut base = base_directory(ctx, options, if names.is_empty() { usize::MAX } else { 0 });
    if let Some(directory) = options.top_level {
        base = resolve_path(&base, if directory.is_empty() { name_of_archive(options.archive()) } else { directory });
    }
    let checked =
        if options.to_stdout { check_contents(ctx, &archive) } else { check_extraction(ctx, &archive, &base) };
    if let Err(message) = checked {
        return Ok(ExecResult::err(message, 2));
    }
    if (!options.directories.is_empty() || options.top_level.is_some())
        && let Err(error) = ctx.fs.mkdir(&base, true).await
    {
        let reason = file_error_reason(error)?;
        return Ok(fatal_error(&format!("{}: Cannot mkdir: {reason}", base.display())));
    }
    let mut members = MemberFilter::new(names, options.matching);
    let mut extraction = Extraction::new(ctx, options, base)?;
    let mut reader = TarReader::new(&archive);
    while let Some(member) = reader.member() {
        let extracted = match member {
            Ok(member) => extraction.add(member, &archive, &mut members).await?,
            Err(message) => Err(message),
        };
        if let Err(message) = extracted {
            return Ok(ExecResult::err(message, 2));
        }
    }
    extraction.finish(&members.missing()).await
}

/// Returns the name of an archive without directories and suffixes (`--one-top-level`).
fn name_of_archive(archive: &str) -> &str {
    let name = archive.rsplit('/').next().unwrap_or_default();
    let name = match name.rsplit_once('.') {
        Some((stem, "gz" | "bz2" | "tgz" | "taz" | "tbz" | "tbz2" | "tz2" | "xz" | "txz" | "zst" | "tzst" | "tar")) => {
            stem
        }
        _ => name,
    };
    name.strip_suffix(".tar").unwrap_or(name)
}

/// Symbolic link that is made when the files are there.
struct ExtractedLink {
    name: String,
    path: PathBuf,
    target: String,
}

/// Directory whose mode and time are set when its contents are there.
struct ExtractedDirectory {
    name: String,
    path: PathBuf,
    mode: u32,
    modified: SystemTime,
}

/// Extraction of an archive.
struct Extraction<'a> {
    ctx: &'a Context<'a>,
    options: &'a TarOptions<'a>,
    /// Directory of the members.
    base: PathBuf,
    umask: u32,
    stdout: BudgetedBytes,
    stderr: BudgetedString,
    /// Links, which are made last, so that nothing is written through one.
    links: Vec<ExtractedLink>,
    directories: Vec<ExtractedDirectory>,
    /// A member could not be extracted.
    has_failed: bool,
    columns: ListColumns,
}

impl<'a> Extraction<'a> {
    fn new(ctx: &'a Context<'a>, options: &'a TarOptions<'a>, base: PathBuf) -> Result<Self> {
        let umask = ctx.variables.get(UMASK_VAR).and_then(|value| u32::from_str_radix(value, 8).ok());
        Ok(Self {
            ctx,
            options,
            base,
            umask: if options.same_permissions { 0 } else { umask.unwrap_or(0o022) },
            stdout: budgeted_bytes(ctx)?,
            stderr: budgeted_string(ctx)?,
            links: Vec::new(),
            directories: Vec::new(),
            has_failed: false,
            columns: ListColumns::default(),
        })
    }

    /// Extracts a member if it is selected. The error is a message.
    async fn add(
        &mut self,
        member: TarMember<'_>,
        archive: &[u8],
        members: &mut MemberFilter<'_>,
    ) -> Result<StdResult<(), String>> {
        let selected = members.selects(&member.name) && !self.options.exclusion.excludes(&member.name);
        let transformed = selected.then(|| self.options.transformed(&member.name, NameKind::Member)).flatten();
        let Some(name) = transformed.filter(|name| !name.is_empty()) else {
            return Ok(Ok(()));
        };
        if self.options.verbosity > 0 {
            self.list(&member)?;
        }
        let name = name.trim_start_matches('/').to_owned();
        if !self.options.to_stdout && leaves(&self.base, &name) {
            return Ok(Err(format!("tar: {name}: path traversal blocked\n")));
        }
        let path = resolve_path(&self.base, &name);
        if !self.options.to_stdout && self.spares_old_file(&path, &name, &member).await? {
            return Ok(Ok(()));
        }
        let mode = member.header.mode() & 0o7777 & !self.umask;
        let modified = member_time(member.header.modified());
        match member.header.kind() {
            _ if self.options.to_stdout => return self.add_to_stdout(&name, &member, archive),
            DIRECTORY | OLD_FILE if name.ends_with('/') => {
                if self.make_directories(name.trim_end_matches('/')).await? {
                    self.directories.push(ExtractedDirectory { name, path, mode, modified });
                }
            }
            FILE | OLD_FILE => {
                let content = &archive[member.start..member.start + member.size];
                match self.make_file(&path, &name, content).await {
                    Ok(()) => self.set_attributes(&path, &name, mode, modified).await?,
                    Err(error) => self.tell_of_failure(&name, "Cannot open", error)?,
                }
            }
            SYMBOLIC_LINK => {
                let target = self.options.transformed(&member.target, NameKind::LinkTarget).unwrap_or_default();
                self.links.push(ExtractedLink { name, path, target });
            }
            kind => self.tell_of_skipped(&name, kind)?,
        }
        Ok(Ok(()))
    }

    /// Returns true if the options spare what is there under the name of a member. A directory is always as good as
    /// another.
    async fn spares_old_file(&mut self, path: &Path, name: &str, member: &TarMember<'_>) -> Result<bool> {
        if self.options.old_files == OldFiles::Replace {
            return Ok(false);
        }
        let Ok(old) = self.ctx.fs.lstat(path).await else {
            return Ok(false);
        };
        let (is_link, is_directory) = (member.header.kind() == SYMBOLIC_LINK, name.ends_with('/'));
        if is_directory && old.file_type.is_dir() {
            return Ok(false);
        }
        match self.options.old_files {
            OldFiles::Replace => return Ok(false),
            OldFiles::Skip => {}
            OldFiles::KeepNewer if old.modified < member_time(member.header.modified()) => return Ok(false),
            OldFiles::KeepNewer => {
                self.stderr.try_push_str(&format!("tar: Current '{name}' is newer or same age\n"))?;
            }
            OldFiles::Keep => {
                let failure = match (is_link, is_directory) {
                    (true, _) => format!("Cannot create symlink to '{}'", member.target),
                    (false, true) => "Cannot mkdir".to_owned(),
                    (false, false) => "Cannot open".to_owned(),
                };
                let shown = name.trim_end_matches('/');
                self.stderr.try_push_str(&format!("tar: {shown}: {failure}: File exists\n"))?;
                self.has_failed = true;
            }
        }
        Ok(true)
    }

    /// Lists a name, on standard output unless contents go there.
    fn list(&mut self, member: &TarMember<'_>) -> Result<()> {
        let line = self.columns.entry(member, self.options, self.ctx);
        if self.options.to_stdout {
            self.stderr.try_push_str(&line)?;
        } else {
            self.stdout.try_extend_from_slice(line.as_bytes())?;
        }
        Ok(())
    }

    fn add_to_stdout(&mut self, name: &str, member: &TarMember<'_>, archive: &[u8]) -> Result<StdResult<(), String>> {
        match member.header.kind() {
            SYMBOLIC_LINK => {}
            DIRECTORY | OLD_FILE if name.ends_with('/') => {}
            FILE | OLD_FILE => {
                let content = &archive[member.start..member.start + member.size];
                let limits = self.ctx.fs.limits();
                if let Err(error) = limits.check_total_bytes(self.stdout.len() as u64, content.len() as u64) {
                    return Ok(Err(format!("tar: {name}: {error}\n")));
                }
                self.stdout.try_extend_from_slice(content)?;
            }
            kind => self.tell_of_skipped(name, kind)?,
        }
        Ok(Ok(()))
    }

    fn tell_of_skipped(&mut self, name: &str, kind: u8) -> Result<()> {
        let reason = match kind {
            HARD_LINK => "hard link skipped (not supported in VFS)",
            _ => "unsupported entry type skipped",
        };
        self.stderr.try_push_str(&format!("tar: {name}: {reason}\n"))?;
        Ok(())
    }

    /// Makes a directory and those above it, up to the directory of the extraction. Returns false, with a message, if
    /// one cannot be made.
    async fn make_directories(&mut self, name: &str) -> Result<bool> {
        let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        for end in ends.filter(|end| *end > 0) {
            let path = resolve_path(&self.base, &name[..end]);
            if self.ctx.fs.stat(&path).await.is_ok_and(|metadata| metadata.file_type.is_dir()) {
                continue;
            }
            if let Err(error) = self.ctx.fs.mkdir(&path, false).await {
                self.tell_of_failure(&name[..end], "Cannot mkdir", error)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the directories above a file. The error is that of a file in a directory that is not there.
    async fn make_parents(&mut self, name: &str) -> Result<()> {
        match name.rsplit_once('/') {
            Some((parent, _)) if !self.make_directories(parent).await? => {
                Err(std::io::Error::new(std::io::ErrorKind::NotFound, "No such file or directory").into())
            }
            _ => Ok(()),
        }
    }

    /// Tells of a file error. Other errors end the call.
    fn tell_of_failure(&mut self, name: &str, failure: &str, error: Error) -> Result<()> {
        let reason = file_error_reason(error)?;
        self.stderr.try_push_str(&format!("tar: {name}: {failure}: {reason}\n"))?;
        self.has_failed = true;
        Ok(())
    }

    async fn set_attributes(&mut self, path: &Path, name: &str, mode: u32, modified: SystemTime) -> Result<()> {
        if let Err(error) = self.ctx.fs.chmod(path, mode).await {
            self.tell_of_failure(name, &format!("Cannot change mode to {mode:04o}"), error)?;
        }
        if !self.options.touch
            && let Err(error) = self.ctx.fs.set_modified_time(path, modified).await
        {
            self.tell_of_failure(name, "Cannot utime", error)?;
        }
        Ok(())
    }

    async fn make_file(&mut self, path: &Path, name: &str, content: &[u8]) -> Result<()> {
        self.make_parents(name).await?;
        // As in GNU's, a link is replaced: nothing is written through it.
        if self.ctx.fs.lstat(path).await.is_ok_and(|metadata| metadata.file_type.is_symlink()) {
            self.ctx.fs.remove(path, false).await?;
        }
        self.ctx.fs.write_file(path, content).await
    }

    /// Makes the links, sets modes and times of directories, and adds a message about missing members.
    async fn finish(mut self, missing: &str) -> Result<ExecResult> {
        for link in std::mem::take(&mut self.links) {
            if let Err(error) = self.make_link(&link).await {
                self.tell_of_failure(&link.name, &format!("Cannot create symlink to '{}'", link.target), error)?;
            }
        }
        for directory in std::mem::take(&mut self.directories).iter().rev() {
            let ExtractedDirectory { name, path, mode, modified } = directory;
            self.set_attributes(path, name, *mode, *modified).await?;
        }
        self.stderr.try_push_str(missing)?;
        if self.has_failed && missing.is_empty() {
            self.stderr.try_push_str("tar: Exiting with failure status due to previous errors\n")?;
        }
        let (stdout, _stdout_lease) = self.stdout.into_parts();
        let (stderr, _stderr_lease) = self.stderr.into_parts();
        let exit_code = if missing.is_empty() && !self.has_failed { 0 } else { 2 };
        Ok(ExecResult { stdout: stdout.into(), stderr: stderr.into(), exit_code, ..ExecResult::default() })
    }

    async fn make_link(&mut self, link: &ExtractedLink) -> Result<()> {
        self.make_parents(&link.name).await?;
        if self.ctx.fs.lstat(&link.path).await.is_ok_and(|metadata| !metadata.file_type.is_dir()) {
            self.ctx.fs.remove(&link.path, false).await?;
        }
        self.ctx.fs.symlink(Path::new(&link.target), &link.path).await
    }
}

/// Returns a time of a header, at most the last one that 32 bits of seconds hold.
fn member_time(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds.min(u32::MAX.into()))
}
