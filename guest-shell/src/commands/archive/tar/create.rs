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
use bashkit::time_compat::UNIX_EPOCH;
use bashkit::{ExecResult, Result};

use super::append::OldArchive;
use super::fatal_error;
use super::header::{DIRECTORY, FILE, NewMember, SYMBOLIC_LINK, TAR_BLOCK_SIZE};
use super::options::TarOptions;
use crate::commands::archive::budget::{budgeted_bytes, budgeted_string, consume_pass, with_execution_budget};
use crate::commands::archive::codec::ArchiveCompression;

/// Writes an archive of the members of an old one and of files.
pub(super) async fn create(
    ctx: &Context<'_>,
    options: &TarOptions<'_>,
    compression: ArchiveCompression,
    old: OldArchive,
    files: &[&str],
) -> Result<ExecResult> {
    let mut writer = TarWriter::new(ctx, options, old)?;
    for file in files {
        writer.add_operand(file).await?;
    }
    if !options.absolute_names && files.iter().any(|file| file.starts_with('/')) {
        writer.notices.insert_str(0, "tar: Removing leading `/' from member names\n");
    }
    writer.finish(compression).await
}

/// Archive that is written.
struct TarWriter<'a> {
    ctx: &'a Context<'a>,
    options: &'a TarOptions<'a>,
    /// Directory for names of files.
    base: PathBuf,
    old: OldArchive,
    /// Path of the archive, which does not go into itself.
    archive: Option<PathBuf>,
    output: BudgetedBytes,
    /// Names of members for `-v`.
    listing: BudgetedString,
    notices: String,
    /// Messages about files that are not there.
    missing: String,
}

impl<'a> TarWriter<'a> {
    fn new(ctx: &'a Context<'a>, options: &'a TarOptions<'a>, old: OldArchive) -> Result<Self> {
        let mut output = budgeted_bytes(ctx)?;
        output.try_extend_from_slice(&old.members)?;
        Ok(Self {
            ctx,
            options,
            base: options.directory.map_or_else(|| ctx.cwd.clone(), |directory| resolve_path(ctx.cwd, directory)),
            old,
            archive: (options.archive() != "-").then(|| resolve_path(ctx.cwd, options.archive())),
            output,
            listing: budgeted_string(ctx)?,
            notices: String::new(),
            missing: String::new(),
        })
    }

    /// Adds a file, or a directory with its contents. One that is not there is left out, as GNU's does.
    async fn add_operand(&mut self, file: &str) -> Result<()> {
        if self.options.excludes(file) {
            return Ok(());
        }
        let path = resolve_path(&self.base, file);
        if !self.ctx.fs.exists(&path).await.unwrap_or(false) {
            self.missing.push_str(&format!("tar: {file}: Cannot stat: No such file or directory\n"));
            return Ok(());
        }
        if self.ctx.fs.stat(&path).await?.file_type.is_dir() {
            self.add_directory(&path, file).await
        } else {
            self.add_file(&path, file).await
        }
    }

    fn add_directory<'b>(
        &'b mut self,
        path: &'b Path,
        name: &'b str,
    ) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'b>> {
        Box::pin(async move {
            let metadata = self.ctx.fs.stat(path).await?;
            let member = format!("{}/", self.member_name(name.trim_end_matches('/')));
            if !self.passes_over(path, &member, &metadata) {
                self.list(name, "/\n")?;
                self.add_header(&member, "", DIRECTORY, &metadata, 0)?;
            }
            for entry in self.ctx.fs.read_dir(path).await? {
                let child_path = vfs_join(path, &entry.name);
                let child_name = format!("{name}/{}", entry.name);
                if self.options.excludes(&child_name) {
                    continue;
                }
                if entry.metadata.file_type.is_dir() {
                    self.add_directory(&child_path, &child_name).await?;
                } else {
                    self.add_file(&child_path, &child_name).await?;
                }
            }
            Ok(())
        })
    }

    /// Adds a file or a symbolic link.
    async fn add_file(&mut self, path: &Path, name: &str) -> Result<()> {
        let metadata = self.ctx.fs.lstat(path).await?;
        if self.passes_over(path, name, &metadata) {
            return Ok(());
        }
        let (kind, content, target) = if metadata.file_type.is_symlink() {
            let target = self.ctx.fs.read_link(path).await?;
            (SYMBOLIC_LINK, Vec::new(), target.to_string_lossy().into_owned())
        } else {
            (FILE, self.ctx.fs.read_file(path).await?, String::new())
        };
        self.ctx.consume_budget_input(content.len())?;
        consume_pass(self.ctx, content.len())?;
        self.list(name, "\n")?;
        self.add_header(self.member_name(name), &target, kind, &metadata, content.len())?;
        self.output.try_extend_from_slice(&content)?;
        let padding = content.len().next_multiple_of(TAR_BLOCK_SIZE) - content.len();
        self.output.try_extend_from_slice(&[0u8; TAR_BLOCK_SIZE][..padding])?;
        Ok(())
    }

    /// Returns true if a file does not go into the archive: it is the archive, or the archive has one that is as new.
    fn passes_over(&mut self, path: &Path, name: &str, metadata: &Metadata) -> bool {
        if self.archive.as_deref() == Some(path) && metadata.file_type.is_file() {
            self.notices.push_str(&format!("tar: {name}: file is the archive; not dumped\n"));
            return true;
        }
        let modified = metadata.modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.old.times.get(self.member_name(name)).is_some_and(|newest| modified <= *newest)
    }

    /// Returns the name of a file as a member, without leading slashes unless they are kept.
    fn member_name<'n>(&self, name: &'n str) -> &'n str {
        if self.options.absolute_names { name } else { name.trim_start_matches('/') }
    }

    fn list(&mut self, name: &str, end: &str) -> Result<()> {
        if self.options.verbose {
            self.listing.try_push_str(name)?;
            self.listing.try_push_str(end)?;
        }
        Ok(())
    }

    fn add_header(&mut self, name: &str, target: &str, kind: u8, metadata: &Metadata, size: usize) -> Result<()> {
        let user = self.ctx.env.get("USER").map_or("", String::as_str);
        let member = NewMember { name, target, kind, metadata, size, user };
        self.output.try_extend_from_slice(&member.header())?;
        Ok(())
    }

    /// Ends the archive, compresses and writes it.
    async fn finish(mut self, compression: ArchiveCompression) -> Result<ExecResult> {
        self.output.try_extend_from_slice(&[0u8; TAR_BLOCK_SIZE * 2])?;
        let output = match compression {
            ArchiveCompression::None => self.output,
            _ => with_execution_budget(self.ctx, |budget| compression.compress(&self.output, "tar", budget))?,
        };
        let (output, _output_lease) = output.into_parts();
        let (listing, _listing_lease) = self.listing.into_parts();
        let exit_code = if self.missing.is_empty() { 0 } else { 2 };
        if exit_code != 0 {
            self.missing.push_str("tar: Exiting with failure status due to previous errors\n");
        }
        let Some(path) = &self.archive else {
            let stderr = format!("{}{listing}{}", self.notices, self.missing).into();
            return Ok(ExecResult { stdout: output.into(), stderr, exit_code, ..ExecResult::default() });
        };
        if let Err(error) = self.ctx.fs.write_file(path, &output).await {
            let name = self.options.archive();
            return Ok(fatal_error(&format!("{name}: Cannot open: {}", io_error_reason(&error))));
        }
        let stderr = format!("{}{}", self.notices, self.missing).into();
        Ok(ExecResult { stdout: listing.into(), stderr, exit_code, ..ExecResult::default() })
    }
}
