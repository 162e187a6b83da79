//! Checks of a whole archive before it is extracted, so that a wrong member at its end leaves no part of the files.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use bashkit::builtins::{Context, resolve_path};
use bashkit::{FsLimitExceeded, FsLimits};

use super::header::{DIRECTORY, FILE, OLD_FILE, SYMBOLIC_LINK};
use super::reader::{TarMember, TarReader};

/// Sums of an extraction.
#[derive(Default)]
struct ExtractionPlan {
    bytes: u64,
    files: u64,
    directories: HashSet<PathBuf>,
}

/// Checks that the members are well formed, stay in the directory of the extraction, and fit into the file system.
/// The error is a message.
pub(super) fn check_extraction(ctx: &Context<'_>, archive: &[u8], base: &Path) -> Result<(), String> {
    let limits = ctx.fs.limits();
    let mut plan = ExtractionPlan::default();
    check_members(archive, |member| {
        if leaves(base, &member.name) {
            return Err(format!("tar: {}: path traversal blocked\n", member.name));
        }
        plan.add(member, &limits)
    })?;
    plan.check_sums(ctx, &limits).map_err(|error| format!("tar: {error}\n"))
}

/// Checks that the members are well formed, and that their contents are not too much for standard output.
/// The error is a message.
pub(super) fn check_contents(ctx: &Context<'_>, archive: &[u8]) -> Result<(), String> {
    let limits = ctx.fs.limits();
    let mut bytes = 0u64;
    check_members(archive, |member| {
        if is_file(member) {
            let size = member.size as u64;
            let fits = limits.check_file_size(size).and_then(|()| limits.check_total_bytes(bytes, size));
            fits.map_err(|error| format!("tar: {}: {error}\n", member.name))?;
            bytes = bytes.saturating_add(size);
        }
        Ok(())
    })
}

fn check_members(archive: &[u8], mut check: impl FnMut(&TarMember<'_>) -> Result<(), String>) -> Result<(), String> {
    let mut reader = TarReader::new(archive);
    while let Some(member) = reader.member() {
        let member = member?;
        if member.end > archive.len() {
            return Err(format!("tar: {}: Unexpected end of archive\n", member.name));
        }
        check(&member)?;
    }
    if reader.found_end() { Ok(()) } else { Err("tar: Unexpected end of archive\n".to_owned()) }
}

/// Returns true if a name would be outside of the directory of the extraction.
pub(super) fn leaves(base: &Path, name: &str) -> bool {
    let path = Path::new(name);
    path.has_root()
        || path.components().any(|component| component == Component::ParentDir)
        || !resolve_path(base, name).starts_with(base)
}

fn is_file(member: &TarMember<'_>) -> bool {
    matches!(member.header.kind(), FILE | OLD_FILE) && !member.name.ends_with('/')
}

impl ExtractionPlan {
    fn add(&mut self, member: &TarMember<'_>, limits: &FsLimits) -> Result<(), String> {
        let path = Path::new(&member.name);
        if is_file(member) {
            let size = member.size as u64;
            limits.check_file_size(size).map_err(|error| format!("tar: {}: {error}\n", member.name))?;
            self.bytes = self.bytes.saturating_add(size);
            self.files = self.files.saturating_add(1);
            let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
            self.directories.extend(parents.map(Path::to_path_buf));
        } else if member.header.kind() == SYMBOLIC_LINK {
            self.files = self.files.saturating_add(1);
        } else if matches!(member.header.kind(), DIRECTORY | OLD_FILE) && member.name.ends_with('/') {
            self.directories.insert(path.to_path_buf());
        }
        Ok(())
    }

    fn check_sums(&self, ctx: &Context<'_>, limits: &FsLimits) -> Result<(), FsLimitExceeded> {
        let usage = ctx.fs.usage();
        limits.check_total_bytes(usage.total_bytes, self.bytes)?;
        limits.check_final_file_count(usage.file_count.saturating_add(self.files))?;
        let directories = self.directories.len() as u64;
        if directories > 0 {
            // The root is counted by the usage, and not by the limit.
            limits.check_dir_count(usage.dir_count.saturating_add(directories).saturating_sub(1))?;
        }
        Ok(())
    }
}
