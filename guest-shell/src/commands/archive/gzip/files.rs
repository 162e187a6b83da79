//! Files and directories that are packed or unpacked.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::{Path, PathBuf};

use bashkit::Result;
use bashkit::builtins::{Context, resolve_path};
use bashkit::fs::{FileType, Metadata};

use super::codec::{GzipFrame, pack, saved, seconds};
use super::list::list;
use super::options::GzipOptions;
use super::progress::GzipProgress;
use super::unpack_checked;
use crate::commands::operands::file_error_reason;

/// Packs or unpacks the file, or the files in the directory, of an operand.
pub(super) async fn operand(
    ctx: &Context<'_>,
    options: &GzipOptions,
    file: &str,
    progress: &mut GzipProgress,
) -> Result<()> {
    if file.is_empty() {
        // An empty name would mean the working directory.
        let reason = "No such file or directory";
        match options.unpacks() {
            true => progress.error(&format!("{}: {reason}", options.suffix)),
            false => progress.error(reason),
        }
        return Ok(());
    }
    let mut name = file.to_string();
    let mut found = ctx.fs.lstat(&resolve_path(ctx.cwd, &name)).await;
    if found.is_err() && options.unpacks() && options.known_suffix(&name).is_none() {
        // gzip names the file that it would have created.
        name.push_str(&options.suffix);
        found = ctx.fs.lstat(&resolve_path(ctx.cwd, &name)).await;
    }
    let mut pending = vec![(name, found)];
    while let Some((name, found)) = pending.pop().filter(|_| !progress.given_up) {
        let path = resolve_path(ctx.cwd, &name);
        let follow = options.force || !options.writes_files();
        let found = match found {
            Ok(meta) if meta.file_type == FileType::Symlink && follow => ctx.fs.stat(&path).await,
            found => found,
        };
        match found {
            Ok(meta) if meta.file_type.is_dir() && options.recursive => match entries(ctx, &name, &path).await {
                Ok(entries) => pending.extend(entries),
                Err(error) => progress.error(&format!("{name}: {}", file_error_reason(error)?)),
            },
            Ok(meta) if meta.file_type.is_dir() => {
                progress.warn(options, &format!("{name} is a directory -- ignored"));
            }
            Ok(meta) if meta.file_type == FileType::Symlink => {
                progress.error(&format!("{name}: Too many levels of symbolic links"));
            }
            Ok(meta) => regular_file(ctx, options, &name, &meta, progress).await?,
            Err(error) => {
                let reason = bashkit::error::io_error_reason(&error);
                progress.error(&format!("{name}: {reason}"));
            }
        }
    }
    Ok(())
}

/// Returns the names in a directory, the last one first.
async fn entries(ctx: &Context<'_>, name: &str, path: &Path) -> Result<Vec<(String, Result<Metadata>)>> {
    let mut found = ctx.fs.read_dir(path).await?;
    found.sort_by(|one, other| other.name.cmp(&one.name));
    let folder = name.trim_end_matches('/');
    let mut entries = Vec::with_capacity(found.len());
    for entry in found {
        ctx.consume_budget_work(1)?;
        let meta = ctx.fs.lstat(&path.join(&entry.name)).await;
        entries.push((format!("{folder}/{}", entry.name), meta));
    }
    Ok(entries)
}

/// Returns the name of the output file, or `None` if the input file is skipped.
fn output_name(options: &GzipOptions, name: &str, progress: &mut GzipProgress) -> Option<String> {
    if options.unpacks() {
        let unpacked = options.unpacked_name(name);
        if unpacked.is_none() && options.writes_files() {
            if !options.recursive && !options.quiet {
                progress.warn(options, &format!("{name}: unknown suffix -- ignored"));
            }
            return None;
        }
        return Some(unpacked.unwrap_or_else(|| name.to_string()));
    }
    if let Some(suffix) = options.known_suffix(name)
        && options.writes_files()
        && !options.force
    {
        if options.verbose || (!options.recursive && !options.quiet) {
            let message = format!("gzip: {name} already has {suffix} suffix -- unchanged\n");
            progress.stderr.push_str(&message);
        }
        return None;
    }
    Some(format!("{name}{}", options.suffix))
}

/// Packs or unpacks one file.
async fn regular_file(
    ctx: &Context<'_>,
    options: &GzipOptions,
    name: &str,
    meta: &Metadata,
    progress: &mut GzipProgress,
) -> Result<()> {
    let Some(mut output) = output_name(options, name, progress) else {
        return Ok(());
    };
    let path = resolve_path(ctx.cwd, name);
    let data = match ctx.fs.read_file(&path).await {
        Ok(data) => data,
        Err(error) => {
            progress.error(&format!("{name}: {}", file_error_reason(error)?));
            return Ok(());
        }
    };
    ctx.consume_budget_input(data.len())?;
    let _lease = ctx.lease_budget_bytes(data.len())?;
    let made = match options.unpacks() {
        true => unpack_checked(ctx, options, name, &data, progress)?,
        false => Some(pack(ctx, options, &data, Some((name, meta)))?),
    };
    let Some(made) = made else {
        return Ok(());
    };
    let work = data.len().max(made.len()).div_ceil(64);
    ctx.consume_budget_work(u64::try_from(work).unwrap_or(u64::MAX))?;
    let frame = GzipFrame::of(if options.unpacks() { &data } else { &made });
    if let (Some(true), true, Some(stored)) = (options.name, options.unpacks(), &frame.name) {
        // Only the last component of a stored name is used.
        let stored = stored.rsplit('/').next().unwrap_or_default();
        let folder = name.rfind('/').map_or("", |slash| &name[..=slash]);
        output = format!("{folder}{stored}");
    }
    if options.list {
        return list(options, progress, &output, &data, &made, seconds(meta));
    }
    let written = match options.writes_files() {
        true => write_file(ctx, options, (&path, meta), &output, &made, progress).await?,
        false => true,
    };
    if options.to_stdout && !options.test {
        progress.stdout.try_extend_from_slice(&made)?;
    }
    if options.verbose && written {
        let (plain, packed) = match options.unpacks() {
            true => (made.len(), data.len()),
            false => (data.len(), made.len()),
        };
        let share = saved(plain, packed, frame.size);
        progress.stderr.push_str(&verbose_line(options, name, &output, &share));
    }
    Ok(())
}

fn verbose_line(options: &GzipOptions, name: &str, output: &str, share: &str) -> String {
    if options.test {
        return format!("{name}:\t OK\n");
    }
    match (options.to_stdout, options.keep) {
        (true, _) => format!("{name}:\t{share} -- replaced with stdout\n"),
        (false, true) => format!("{name}:\t{share} -- created {output}\n"),
        (false, false) => format!("{name}:\t{share} -- replaced with {output}\n"),
    }
}

/// Writes a file in place of another one. Returns false, with a message, if there is one already, or if it cannot be
/// written.
async fn write_file(
    ctx: &Context<'_>,
    options: &GzipOptions,
    (input, meta): (&PathBuf, &Metadata),
    output: &str,
    made: &[u8],
    progress: &mut GzipProgress,
) -> Result<bool> {
    let path = resolve_path(ctx.cwd, output);
    if !options.force && ctx.fs.exists(&path).await.unwrap_or(false) {
        let message = format!("gzip: {output} already exists;\tnot overwritten\n");
        progress.stderr.push_str(&message);
        progress.status = if progress.status == 1 { 1 } else { 2 };
        return Ok(false);
    }
    if let Err(error) = ctx.fs.write_file(&path, made).await {
        progress.error(&format!("{output}: {}", file_error_reason(error)?));
        return Ok(false);
    }
    let _ = ctx.fs.chmod(&path, meta.mode).await;
    let _ = ctx.fs.set_modified_time(&path, meta.modified).await;
    if !options.keep
        && let Err(error) = ctx.fs.remove(input, false).await
    {
        progress.warn(options, &format!("{}: {}", input.display(), file_error_reason(error)?));
    }
    Ok(true)
}
