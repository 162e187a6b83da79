//! Binding of the logic to WIT: converts arguments and results. This module holds no rules.

use bindings::exports::tollhouse::archive::archive as wit;
use tollhouse_tool_files as files;

use crate::create::{Content, collect, format_of, pack};
use crate::error::{Error, Kind};
use crate::extract::extract;
use crate::read::{Bounds, EntryKind, Format, MAX_ARCHIVE, content, detect, list};

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn list(
        path: Option<String>,
        bytes: Option<Vec<u8>>,
        format: Option<wit::Format>,
        bounds: Option<wit::Bounds>,
    ) -> Result<Vec<wit::Entry>, wit::Error> {
        let (bytes, format, bounds) = opened(path, bytes, format, bounds)?;
        let entry = |entry: crate::read::Entry| wit::Entry {
            name: entry.name,
            kind: entry.kind.into(),
            size: entry.size.unwrap_or_default(),
            packed: entry.packed,
        };
        Ok(list(&bytes, format, bounds)?.into_iter().map(entry).collect())
    }

    fn read(
        path: Option<String>,
        bytes: Option<Vec<u8>>,
        name: String,
        format: Option<wit::Format>,
        bounds: Option<wit::Bounds>,
    ) -> Result<Vec<u8>, wit::Error> {
        let (bytes, format, bounds) = opened(path, bytes, format, bounds)?;
        Ok(content(&bytes, format, bounds, &name)?)
    }

    fn extract(
        path: Option<String>,
        bytes: Option<Vec<u8>>,
        to: String,
        overwrite: Option<bool>,
        format: Option<wit::Format>,
        bounds: Option<wit::Bounds>,
    ) -> Result<Vec<wit::Extracted>, wit::Error> {
        let (bytes, format, bounds) = opened(path, bytes, format, bounds)?;
        let written = extract(&bytes, format, bounds, &to, overwrite.unwrap_or(false))?.into_iter();
        Ok(written
            .map(|one| wit::Extracted { name: one.name, path: one.path.display().to_string(), size: one.size })
            .collect())
    }

    fn create(
        to: String,
        paths: Vec<String>,
        format: Option<wit::Format>,
        overwrite: Option<bool>,
    ) -> Result<wit::Created, wit::Error> {
        let format = format.map_or_else(|| format_of(&to), |format| Ok(format.into()))?;
        files::target(Some(&to)).map_err(Error::from)?;
        let contents = collect(&paths)?;
        let bytes = pack(format, &contents)?;
        files::write(&to, &bytes, overwrite.unwrap_or(false)).map_err(Error::from)?;
        let count = u32::try_from(contents.len()).unwrap_or(u32::MAX);
        Ok(wit::Created { files: count, size: bytes.len() as u64 })
    }

    fn pack(format: wit::Format, entries: Vec<wit::Content>) -> Result<Vec<u8>, wit::Error> {
        let contents = entries.into_iter().map(given).collect::<Result<Vec<_>, Error>>()?;
        Ok(pack(format.into(), &contents)?)
    }
}

fn given(content: wit::Content) -> Result<Content, Error> {
    let bytes = match (content.text, content.bytes) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(bytes)) => bytes,
        _ => return Err(Error::of(&content.name, Kind::Parameter, "needs either `text` or `bytes`")),
    };
    Ok(Content { name: content.name, bytes })
}

fn opened(
    path: Option<String>,
    bytes: Option<Vec<u8>>,
    format: Option<wit::Format>,
    bounds: Option<wit::Bounds>,
) -> Result<(Vec<u8>, Format, Bounds), Error> {
    let bounds = bounds.map_or_else(|| Ok(Bounds::default()), |given| Bounds::checked(given.entries, given.bytes))?;
    let bytes = files::source(path.as_deref(), bytes, MAX_ARCHIVE)?;
    let format = format.map_or_else(|| detect(&bytes), |format| Ok(format.into()))?;
    Ok((bytes, format, bounds))
}

impl From<wit::Format> for Format {
    fn from(format: wit::Format) -> Self {
        match format {
            wit::Format::Zip => Self::Zip,
            wit::Format::Tar => Self::Tar,
            wit::Format::TarGz => Self::TarGz,
            wit::Format::Gzip => Self::Gzip,
        }
    }
}

impl From<EntryKind> for wit::EntryKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Directory => Self::Directory,
            EntryKind::Link => Self::Link,
            EntryKind::Other => Self::Other,
        }
    }
}

impl From<Kind> for wit::ErrorKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Denied => Self::Denied,
            Kind::NotFound => Self::NotFound,
            Kind::Exists => Self::Exists,
            Kind::Parameter => Self::Parameter,
            Kind::Format => Self::Format,
            Kind::Damaged => Self::Damaged,
            Kind::UnsafeName => Self::UnsafeName,
            Kind::Link => Self::Link,
            Kind::Unsupported => Self::Unsupported,
            Kind::TooLarge => Self::TooLarge,
            Kind::File => Self::File,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(Error { kind, message, entry, path }: Error) -> Self {
        Self { kind: kind.into(), message, entry, path }
    }
}
