//! New archives, and additions to old ones.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use bashkit::builtins::{Context, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::fs::{Metadata, vfs_join};
use bashkit::limits::{BudgetedBytes, BudgetedString};
use bashkit::{Error, ExecResult, PlacedMessages, Result, StreamData};

use super::append::OldArchive;
use super::attributes::{MemberAttributes, seconds, seconds_of_date};
use super::fatal_error;
use super::header::{BLOCKING_FACTOR, DIRECTORY, FILE, NewMember, SYMBOLIC_LINK, TAR_BLOCK_SIZE};
use super::list::ListColumns;
use super::options::TarOptions;
use super::transform::NameKind;
use crate::commands::archive::codec::ArchiveCompression;
use crate::commands::budget::{budgeted_bytes, budgeted_string, consume_pass, with_execution_budget};
use crate::commands::date::Date;
use crate::commands::operands::file_error_reason;

/// Writes an archive of the members of an old one and of files.
pub(super) async fn create(
    ctx: &Context<'_>,
    clock: &Date,
    options: &TarOptions<'_>,
    compression: ArchiveCompression,
    old: OldArchive,
    files: &[&str],
) -> Result<ExecResult> {
    let (attributes, note) = match options.attributes.resolve(ctx, clock).await {
        Ok(resolved) => resolved,
        Err(message) => return Ok(fatal_error(&message)),
    };
    let newer = match options.newer.map(|date| seconds_of_date(date, ctx, clock)).transpose() {
        Ok(newer) => newer,
        Err(message) => return Ok(fatal_error(&message)),
    };
    let mut writer = TarWriter::new(ctx, options, attributes, old)?;
    writer.newer = newer;
    if options.verbosity > 0 {
        writer.notices.push_str(&note);
    }
    for (index, file) in files.iter().enumerate() {
        writer.base = base_directory(ctx, options, index);
        writer.add_operand(file).await?;
    }
    writer.remove_files().await?;
    writer.finish(compression).await
}

/// Returns the directory that the name of an operand belongs to.
pub(super) fn base_directory(ctx: &Context<'_>, options: &TarOptions<'_>, operand: usize) -> PathBuf {
    let changes = options.directories.iter().filter(|(before, _)| *before <= operand);
    changes.fold(ctx.cwd.clone(), |base, (_, directory)| resolve_path(&base, directory))
}

/// Archive that is written.
struct TarWriter<'a> {
    ctx: &'a Context<'a>,
    options: &'a TarOptions<'a>,
    /// Directory for names of files.
    base: PathBuf,
    attributes: MemberAttributes,
    /// Time in seconds that files must be newer than.
    newer: Option<u64>,
    old: OldArchive,
    /// Path of the archive, which does not go into itself.
    archive: Option<PathBuf>,
    output: BudgetedBytes,
    /// Names of members for `-v`.
    listing: BudgetedString,
    notices: String,
    /// Messages about files that are not there.
    missing: PlacedMessages,
    /// A slash at the beginning of a name was left out.
    has_stripped_slash: bool,
    /// Files that are removed when they are in the archive, each before the directory that it is in.
    removed: Vec<PathBuf>,
    columns: ListColumns,
}

impl<'a> TarWriter<'a> {
    fn new(
        ctx: &'a Context<'a>,
        options: &'a TarOptions<'a>,
        attributes: MemberAttributes,
        old: OldArchive,
    ) -> Result<Self> {
        let mut output = budgeted_bytes(ctx)?;
        output.try_extend_from_slice(&old.members)?;
        Ok(Self {
            ctx,
            options,
            base: ctx.cwd.clone(),
            attributes,
            newer: None,
            old,
            archive: (options.archive() != "-").then(|| resolve_path(ctx.cwd, options.archive())),
            output,
            listing: budgeted_string(ctx)?,
            notices: String::new(),
            missing: PlacedMessages::new(),
            has_stripped_slash: false,
            removed: Vec::new(),
            columns: ListColumns::default(),
        })
    }

    /// Adds a file, or a directory with its contents. One that is not there is left out, as GNU's does.
    async fn add_operand(&mut self, file: &str) -> Result<()> {
        if self.options.exclusion.excludes(file) {
            return Ok(());
        }
        let path = resolve_path(&self.base, file);
        let Ok(metadata) = self.status(&path).await else {
            self.complain(&format!("tar: {file}: Cannot stat: No such file or directory\n"));
            return Ok(());
        };
        // The name of a link with a slash behind it is that of what it leads to.
        let is_directory = metadata.file_type.is_dir()
            || (file.ends_with('/') && self.ctx.fs.stat(&path).await.is_ok_and(|status| status.file_type.is_dir()));
        if is_directory { self.add_directory(&path, file).await } else { self.add_file(&path, file).await }
    }

    /// Notes a failure, behind what was listed.
    fn complain(&mut self, message: &str) {
        self.missing.push(message, self.listing.len());
    }

    /// Returns the status of a file, or with `-h` of what a link leads to.
    async fn status(&self, path: &Path) -> Result<Metadata> {
        if self.options.dereference { self.ctx.fs.stat(path).await } else { self.ctx.fs.lstat(path).await }
    }

    fn add_directory<'b>(
        &'b mut self,
        path: &'b Path,
        name: &'b str,
    ) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'b>> {
        Box::pin(async move {
            let metadata = match self.ctx.fs.stat(path).await {
                Ok(metadata) => metadata,
                Err(error) => return self.tell_of_unreadable(name, "Cannot stat", error),
            };
            let directory_name = format!("{}/", name.trim_end_matches('/'));
            if !self.passes_over(path, &directory_name, &metadata) {
                self.add_header(&directory_name, "", DIRECTORY, &metadata, 0)?;
            }
            let mut entries = match self.ctx.fs.read_dir(path).await {
                _ if self.options.no_recursion => Vec::new(),
                Ok(entries) => entries,
                Err(error) => return self.tell_of_unreadable(name, "Cannot open", error),
            };
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            self.note_new_archive(path, &directory_name, entries.iter().map(|entry| &*entry.name));
            for entry in entries {
                let child_path = vfs_join(path, &entry.name);
                let child_name = format!("{directory_name}{}", entry.name);
                if self.options.exclusion.excludes(&child_name) {
                    continue;
                }
                let is_directory = match self.options.dereference {
                    true => self.ctx.fs.stat(&child_path).await.is_ok_and(|status| status.file_type.is_dir()),
                    false => entry.metadata.file_type.is_dir(),
                };
                if is_directory {
                    self.add_directory(&child_path, &child_name).await?;
                } else {
                    self.add_file(&child_path, &child_name).await?;
                }
            }
            self.removed.push(path.to_owned());
            Ok(())
        })
    }

    /// Tells that the archive is in a directory whose contents are added, as GNU's does, which makes the archive first.
    fn note_new_archive<'n>(&mut self, directory: &Path, name: &str, mut entries: impl Iterator<Item = &'n str>) {
        let Some(archive) = self.archive.as_deref().filter(|archive| archive.parent() == Some(directory)) else {
            return;
        };
        let file = archive.file_name().unwrap_or_default().to_string_lossy();
        let member = format!("{name}{file}");
        if !self.options.no_recursion
            && !entries.any(|entry| entry == file)
            && !self.options.exclusion.excludes(&member)
        {
            self.notices.push_str(&format!("tar: {member}: file is the archive; not dumped\n"));
        }
    }

    /// Adds a file or a symbolic link.
    async fn add_file(&mut self, path: &Path, name: &str) -> Result<()> {
        let Ok(metadata) = self.status(path).await else {
            self.complain(&format!("tar: {name}: File removed before we read it\n"));
            return Ok(());
        };
        if self.passes_over(path, name, &metadata) {
            return Ok(());
        }
        let is_link = metadata.file_type.is_symlink();
        let read = match is_link {
            true => self.ctx.fs.read_link(path).await.map(|target| (Vec::new(), target.to_string_lossy().into_owned())),
            false => self.ctx.fs.read_file(path).await.map(|content| (content, String::new())),
        };
        let (content, target) = match read {
            Ok(read) => read,
            Err(error) => {
                let failure = if is_link { "Cannot readlink" } else { "Cannot open" };
                return self.tell_of_unreadable(name, failure, error);
            }
        };
        let kind = if is_link { SYMBOLIC_LINK } else { FILE };
        self.ctx.consume_budget_input(content.len())?;
        consume_pass(self.ctx, content.len())?;
        if !self.add_header(name, &target, kind, &metadata, content.len())? {
            return Ok(());
        }
        self.output.try_extend_from_slice(&content)?;
        let padding = content.len().next_multiple_of(TAR_BLOCK_SIZE) - content.len();
        self.output.try_extend_from_slice(&[0u8; TAR_BLOCK_SIZE][..padding])?;
        self.removed.push(path.to_owned());
        Ok(())
    }

    /// Tells of a file that cannot be read. Errors that are not those of files end the call.
    fn tell_of_unreadable(&mut self, name: &str, failure: &str, error: Error) -> Result<()> {
        let reason = file_error_reason(error)?;
        self.complain(&format!("tar: {name}: {failure}: {reason}\n"));
        Ok(())
    }

    /// Returns true if a file does not go into the archive: it is the archive, it is too old, or the archive has one
    /// that is as new.
    fn passes_over(&mut self, path: &Path, name: &str, metadata: &Metadata) -> bool {
        if self.archive.as_deref() == Some(path) && metadata.file_type.is_file() {
            self.notices.push_str(&format!("tar: {name}: file is the archive; not dumped\n"));
            return true;
        }
        let modified = seconds(metadata.modified);
        if !metadata.file_type.is_dir() && self.newer.is_some_and(|newer| modified < newer) {
            return true;
        }
        let member = self.member_name(name);
        self.old.times.get(&member).is_some_and(|newest| modified <= *newest)
    }

    /// Returns the name of a file as a member, without leading slashes unless they are kept.
    fn member_name(&mut self, name: &str) -> String {
        let Some(member) = self.options.transformed(name, NameKind::Member) else {
            return String::new();
        };
        if self.options.absolute_names || !member.starts_with('/') {
            return member;
        }
        self.has_stripped_slash = true;
        let stripped = member.trim_start_matches('/');
        if stripped.is_empty() { "./".to_owned() } else { stripped.to_owned() }
    }

    /// Adds a header, and lists its name. Returns false, with a message, if the name is too long for the format.
    fn add_header(&mut self, name: &str, target: &str, kind: u8, metadata: &Metadata, size: usize) -> Result<bool> {
        let member_name = self.member_name(name);
        let target = self.options.transformed(target, NameKind::LinkTarget).unwrap_or_default();
        let (user, group) = (&self.attributes.user, &self.attributes.group);
        let (mode, modified) = (self.attributes.mode(metadata), self.attributes.time(metadata));
        let member = NewMember { name: &member_name, target: &target, kind, mode, modified, size, user, group };
        let header = match member.header(self.options.format) {
            Ok(header) => header,
            Err(reason) => {
                self.complain(&format!("tar: {name}: {reason}; not dumped\n"));
                return Ok(false);
            }
        };
        let shown = self.options.shown(name, &member_name);
        match self.options.verbosity {
            0 => {}
            1 => self.listing.try_push_str(&format!("{shown}\n"))?,
            _ => {
                let line = self.columns.new_member_line(&member, shown, seconds(metadata.modified), self.ctx);
                self.listing.try_push_str(&line)?;
            }
        }
        self.output.try_extend_from_slice(&header)?;
        Ok(true)
    }

    /// Removes the files that are in the archive (`--remove-files`).
    async fn remove_files(&mut self) -> Result<()> {
        if self.options.remove_files {
            for path in std::mem::take(&mut self.removed) {
                // A directory in which something was left out stays.
                let _ = self.ctx.fs.remove(&path, false).await;
            }
        }
        Ok(())
    }

    /// Ends the archive, compresses and writes it.
    async fn finish(mut self, compression: ArchiveCompression) -> Result<ExecResult> {
        self.output.try_extend_from_slice(&[0u8; TAR_BLOCK_SIZE * 2])?;
        let record = self.options.blocking_factor.unwrap_or(BLOCKING_FACTOR) * TAR_BLOCK_SIZE;
        while !self.output.len().is_multiple_of(record) {
            self.output.try_extend_from_slice(&[0u8; TAR_BLOCK_SIZE])?;
        }
        if self.has_stripped_slash {
            self.notices.insert_str(0, "tar: Removing leading `/' from member names\n");
        }
        if self.options.totals {
            self.notices.push_str(&format!("Total bytes written: {}\n", self.output.len()));
        }
        let exit_code = if self.missing.is_empty() || self.options.ignore_failed_read { 0 } else { 2 };
        if exit_code != 0 {
            self.complain("tar: Exiting with failure status due to previous errors\n");
        }
        let output = match compression {
            ArchiveCompression::None => self.output,
            _ => with_execution_budget(self.ctx, |budget| compression.compress(&self.output, "tar", budget))?,
        };
        let (output, _output_lease) = output.into_parts();
        let (listing, _listing_lease) = self.listing.into_parts();
        let Some(path) = &self.archive else {
            // The listing goes to standard error, too.
            let messages = self.missing.beside_text(&listing);
            let mut stderr = StreamData::from(self.notices);
            stderr.append(&bashkit::write_order::joined(&listing.into(), &messages));
            return Ok(ExecResult { stdout: output.into(), stderr, exit_code, ..ExecResult::default() });
        };
        if let Err(error) = self.ctx.fs.write_file(path, &output).await {
            let name = self.options.archive();
            return Ok(fatal_error(&format!("{name}: Cannot open: {}", io_error_reason(&error))));
        }
        let mut messages = PlacedMessages::new();
        messages.push(&self.notices, 0);
        messages.push_stream(&self.missing.beside_text(&listing), &listing.as_str().into(), 0);
        Ok(ExecResult { stdout: listing.into(), stderr: messages.into(), exit_code, ..ExecResult::default() })
    }
}
