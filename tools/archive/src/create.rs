//! Creates archives. The same files always give the same bytes.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use tollhouse_tool_files as files;
use zip::write::SimpleFileOptions;

use crate::error::{Error, Kind};
use crate::name;
use crate::read::Format;

/// Largest total size of the files, in bytes: they are held in memory.
const MAX_CONTENT: u64 = 64 << 20;
/// Largest number of files in an archive.
const MAX_FILES: usize = 10_000;

/// File that is put into an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Name of the entry.
    pub name: String,
    /// Content of the entry.
    pub bytes: Vec<u8>,
}

/// Returns the bytes of an archive.
///
/// # Errors
///
/// `UnsafeName`, `Parameter`, `TooLarge`.
pub fn pack(format: Format, contents: &[Content]) -> Result<Vec<u8>, Error> {
    let mut names = std::collections::BTreeSet::new();
    for content in contents {
        let relative = name::relative(&content.name)?;
        if relative.as_os_str().is_empty() || content.name.ends_with('/') {
            return Err(Error::of(&content.name, Kind::UnsafeName, "has the name of a directory"));
        }
        if !names.insert(relative) {
            return Err(Error::of(&content.name, Kind::Parameter, "is given twice"));
        }
    }
    match (format, contents) {
        (Format::Zip, _) => zip(contents).map_err(|error| Error::new(Kind::Parameter, error.to_string())),
        (Format::Tar, _) => tar(contents),
        (Format::TarGz, _) => gzip(None, &tar(contents)?),
        (Format::Gzip, [content]) if !content.name.contains('/') => gzip(Some(&content.name), &content.bytes),
        (Format::Gzip, _) => Err(Error::new(Kind::Parameter, "a gzip holds exactly one file, with a name without `/`")),
    }
}

fn zip(contents: &[Content]) -> zip::result::ZipResult<Vec<u8>> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644);
    for Content { name, bytes } in contents {
        writer.start_file(name.as_str(), options)?;
        writer.write_all(bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

fn tar(contents: &[Content]) -> Result<Vec<u8>, Error> {
    let mut builder = tar::Builder::new(Vec::new());
    for Content { name, bytes } in contents {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        let failed = |error: std::io::Error| Error::of(name, Kind::Parameter, &error.to_string());
        builder.append_data(&mut header, name, bytes.as_slice()).map_err(failed)?;
    }
    builder.into_inner().map_err(|error| Error::new(Kind::Parameter, error.to_string()))
}

fn gzip(name: Option<&str>, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let builder = name.map_or_else(GzBuilder::new, |name| GzBuilder::new().filename(name));
    let mut encoder = builder.mtime(0).write(Vec::new(), Compression::default());
    let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
    done.map_err(|error| Error::new(Kind::Parameter, error.to_string()))
}

/// Returns the format for the extension of a file name.
///
/// # Errors
///
/// `Parameter`.
pub fn format_of(path: &str) -> Result<Format, Error> {
    let path = path.to_ascii_lowercase();
    let ends = [
        (".tar.gz", Format::TarGz),
        (".tgz", Format::TarGz),
        (".gz", Format::Gzip),
        (".tar", Format::Tar),
        (".zip", Format::Zip),
    ];
    let found = ends.iter().find(|(end, _)| path.ends_with(end));
    found.map(|(_, format)| *format).ok_or_else(|| {
        Error::new(Kind::Parameter, "the name ends in none of .zip, .tar, .tar.gz, .tgz, .gz: pass `format`")
    })
}

/// Reads the files at and below paths, sorted by name. The name of a file begins with the last segment of its path.
///
/// # Errors
///
/// `NotFound`, `Denied`, `Link`, `TooLarge`, `Parameter`, `File`.
pub fn collect(paths: &[String]) -> Result<Vec<Content>, Error> {
    let mut found = Collected { contents: Vec::new(), left: MAX_CONTENT };
    for path in paths {
        let path = files::absolute(path)?;
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Error::new(Kind::Parameter, "`/` has no name of its own: give what is in it"))?;
        found.add(&path, name)?;
    }
    found.contents.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found.contents)
}

struct Collected {
    contents: Vec<Content>,
    left: u64,
}

impl Collected {
    fn add(&mut self, path: &Path, name: &str) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::from(files::Error::io(path, &error));
        let metadata = fs::symlink_metadata(path).map_err(failed)?;
        if metadata.is_symlink() {
            let message = format!("`{}` is a link: give what it leads to", path.display());
            return Err(Error { path: Some(path.display().to_string()), ..Error::new(Kind::Link, message) });
        }
        if metadata.is_dir() {
            for entry in fs::read_dir(path).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                self.add(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()))?;
            }
            return Ok(());
        }
        let bytes = files::read(&path.display().to_string(), self.left)?;
        self.left -= bytes.len() as u64;
        if self.contents.len() >= MAX_FILES {
            return Err(Error::new(Kind::TooLarge, format!("there are more than {MAX_FILES} files")));
        }
        self.contents.push(Content { name: name.to_owned(), bytes });
        Ok(())
    }
}
