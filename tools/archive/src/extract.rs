//! Extracts an archive into a directory, after checking all of it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tollhouse_tool_files as files;

use crate::error::{Error, Kind};
use crate::name;
use crate::read::{Bounds, Entry, EntryKind, Format, copy, walk};

/// File that was extracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// Name of the extracted entry.
    pub name: String,
    /// Path of the extracted file.
    pub path: PathBuf,
    /// Size of the file, in bytes.
    pub size: u64,
}

/// Extracts all entries of an archive into a directory.
///
/// # Errors
///
/// Those of [`walk`], `UnsafeName`, `Link`, `Unsupported`, `Exists`, `Denied`, `File`.
pub fn extract(
    bytes: &[u8],
    format: Format,
    bounds: Bounds,
    to: &str,
    overwrite: bool,
) -> Result<Vec<Extracted>, Error> {
    let to = files::absolute(to)?;
    check(bytes, format, bounds, &to, overwrite)?;
    let mut written = Vec::new();
    make_directory(&to, &to)?;
    walk(bytes, format, bounds, &mut |entry, content| {
        let path = to.join(name::relative(&entry.name)?);
        if entry.kind == EntryKind::Directory {
            return make_directory(&path, &to);
        }
        make_directory(path.parent().unwrap_or(&to), &to)?;
        let failed = |error: std::io::Error| of_entry(entry, &path, &error);
        let mut file = File::create(&path).map_err(failed)?;
        let size = copy(entry, bounds, content, |piece| file.write_all(piece).map_err(failed))?;
        written.push(Extracted { name: entry.name.clone(), path, size });
        Ok(())
    })?;
    Ok(written)
}

/// Reads a whole archive without writing, and checks names, kinds, sizes, checksums, and existing files.
fn check(bytes: &[u8], format: Format, bounds: Bounds, to: &Path, overwrite: bool) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    walk(bytes, format, bounds, &mut |entry, content| {
        let relative = name::relative(&entry.name)?;
        let refused = |kind, why: &str| Err(Error::of(&entry.name, kind, why));
        match entry.kind {
            EntryKind::Link => return refused(Kind::Link, "is a link, and links are not extracted"),
            EntryKind::Other => return refused(Kind::Unsupported, "is neither file nor directory"),
            EntryKind::File if relative.as_os_str().is_empty() => {
                return refused(Kind::UnsafeName, "is a file with the name of the directory");
            }
            EntryKind::File | EntryKind::Directory => {}
        }
        no_links(entry, to, &relative)?;
        copy(entry, bounds, content, |_| Ok(()))?;
        if entry.kind == EntryKind::Directory {
            return Ok(());
        }
        if !overwrite && fs::symlink_metadata(to.join(&relative)).is_ok() {
            let path = Some(to.join(&relative).display().to_string());
            let told = Error::of(&entry.name, Kind::Exists, "is there already: pass `overwrite` as true to replace it");
            return Err(Error { path, ..told });
        }
        if !seen.insert(relative) {
            return refused(Kind::UnsafeName, "is in the archive twice");
        }
        Ok(())
    })
}

/// Checks that no file would be written through a link, whatever its target.
fn no_links(entry: &Entry, to: &Path, relative: &Path) -> Result<(), Error> {
    let mut path = to.to_owned();
    for part in relative.components() {
        path.push(part);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
        if is_link {
            let why = format!("would be written through the link `{}`", path.display());
            return Err(Error { path: Some(path.display().to_string()), ..Error::of(&entry.name, Kind::Link, &why) });
        }
    }
    Ok(())
}

fn make_directory(path: &Path, to: &Path) -> Result<(), Error> {
    if path.starts_with(to) && fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(());
    }
    fs::create_dir_all(path).map_err(|error| files::Error::io(path, &error).into())
}

fn of_entry(entry: &Entry, path: &Path, error: &std::io::Error) -> Error {
    Error { entry: Some(entry.name.clone()), ..files::Error::io(path, error).into() }
}

#[cfg(test)]
mod tests;
