//! Files of the session. A refused operation throws its POSIX error code as a string, from which the prelude makes an
//! `Error`.

use rquickjs::{Ctx, IntoJs, Object, Result, Value};

use super::{add_all, count, number};
use crate::bindings::files::{self, ErrorCode, Kind, Metadata, WriteMode};
use crate::convert;
use crate::text::{Bytes, Text};

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "stat" => stat,
        "readBytes" => read_bytes,
        "readPart" => read_part,
        "readText" => read_text,
        "writeBytes" => write_bytes,
        "writeText" => write_text,
        "truncate" => truncate,
        "readDirectory" => read_directory,
        "createDirectory" => create_directory,
        "remove" => remove,
        "rename" => rename,
        "copy" => copy,
        "createLink" => create_link,
        "readLink" => read_link,
        "setMode" => set_mode,
        "setModified" => set_modified,
    )
}

/// Returns the POSIX name of an error.
fn code(error: ErrorCode) -> &'static str {
    match error {
        ErrorCode::Access => "EACCES",
        ErrorCode::Exists => "EEXIST",
        ErrorCode::TooLarge => "EFBIG",
        ErrorCode::Invalid => "EINVAL",
        ErrorCode::IsDirectory => "EISDIR",
        ErrorCode::TooManyLinks => "ELOOP",
        ErrorCode::NameTooLong => "ENAMETOOLONG",
        ErrorCode::NoEntry => "ENOENT",
        ErrorCode::NotDirectory => "ENOTDIR",
        ErrorCode::NotEmpty => "ENOTEMPTY",
        ErrorCode::Quota => "EDQUOT",
        ErrorCode::Busy => "EBUSY",
        ErrorCode::Io => "EIO",
    }
}

/// Throws the error code of a refused operation.
fn granted<T>(ctx: &Ctx<'_>, result: std::result::Result<T, ErrorCode>) -> Result<T> {
    result.or_else(|error| {
        let code = code(error).into_js(ctx)?;
        Err(ctx.throw(code))
    })
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Link => "link",
    }
}

/// Returns `{kind, size, mode, modified, id}`, with the time in milliseconds.
fn stat<'js>(ctx: Ctx<'js>, path: Text, follow: bool) -> Result<Object<'js>> {
    let Metadata { kind: what, size, mode, modified, id } = granted(&ctx, files::stat(&path.0, follow))?;
    let record = Object::new_proto(ctx, None)?;
    record.set("kind", kind(what))?;
    record.set("size", number(size))?;
    record.set("mode", mode)?;
    record.set("modified", number(modified / NANOS) + number(modified % NANOS) / number(NANOS))?;
    record.set("id", number(id))?;
    Ok(record)
}

/// Reads a whole file. The host returns less than requested only at the end.
fn read_all(ctx: &Ctx<'_>, path: &str) -> Result<Vec<u8>> {
    granted(ctx, files::read(path, 0, u64::MAX))
}

fn read_bytes<'js>(ctx: Ctx<'js>, path: Text) -> Result<Value<'js>> {
    let bytes = read_all(&ctx, &path.0)?;
    convert::bytes_value(&ctx, bytes)
}

/// Reads at most `length` bytes of a file from `offset`; fewer at its end.
fn read_part<'js>(ctx: Ctx<'js>, path: Text, offset: f64, length: f64) -> Result<Value<'js>> {
    let bytes = granted(&ctx, files::read(&path.0, count(offset), count(length)))?;
    convert::bytes_value(&ctx, bytes)
}

/// Reads a file as text. Returns null if it is not UTF-8.
fn read_text(ctx: Ctx<'_>, path: Text) -> Result<Option<String>> {
    read_all(&ctx, &path.0).map(|bytes| String::from_utf8(bytes).ok())
}

/// Parses a write mode as the prelude spells it.
fn mode(name: &str) -> WriteMode {
    match name {
        "append" => WriteMode::Append,
        "create" => WriteMode::Create,
        _ => WriteMode::Replace,
    }
}

fn write_bytes(ctx: Ctx<'_>, path: Text, contents: Bytes, how: Text) -> Result<()> {
    granted(&ctx, files::write(&path.0, &contents.0, mode(&how.0)))
}

fn write_text(ctx: Ctx<'_>, path: Text, contents: Text, how: Text) -> Result<()> {
    granted(&ctx, files::write(&path.0, contents.0.as_bytes(), mode(&how.0)))
}

fn truncate(ctx: Ctx<'_>, path: Text, size: f64) -> Result<()> {
    granted(&ctx, files::truncate(&path.0, count(size)))
}

/// Returns the names and kinds of the entries, alternating.
fn read_directory(ctx: Ctx<'_>, path: Text) -> Result<Vec<String>> {
    let entries = granted(&ctx, files::read_directory(&path.0))?;
    Ok(entries.into_iter().flat_map(|entry| [entry.name, kind(entry.kind).to_owned()]).collect())
}

fn create_directory(ctx: Ctx<'_>, path: Text, parents: bool) -> Result<()> {
    granted(&ctx, files::create_directory(&path.0, parents))
}

fn remove(ctx: Ctx<'_>, path: Text, all: bool) -> Result<()> {
    granted(&ctx, files::remove(&path.0, all))
}

fn rename(ctx: Ctx<'_>, from: Text, to: Text) -> Result<()> {
    granted(&ctx, files::rename(&from.0, &to.0))
}

fn copy(ctx: Ctx<'_>, from: Text, to: Text) -> Result<()> {
    granted(&ctx, files::copy(&from.0, &to.0))
}

fn create_link(ctx: Ctx<'_>, target: Text, path: Text) -> Result<()> {
    granted(&ctx, files::create_link(&target.0, &path.0))
}

fn read_link(ctx: Ctx<'_>, path: Text) -> Result<String> {
    granted(&ctx, files::read_link(&path.0))
}

fn set_mode(ctx: Ctx<'_>, path: Text, bits: u32) -> Result<()> {
    granted(&ctx, files::set_mode(&path.0, bits))
}

/// Sets the time of the last change, in milliseconds.
fn set_modified(ctx: Ctx<'_>, path: Text, millis: f64) -> Result<()> {
    granted(&ctx, files::set_modified(&path.0, count(millis).saturating_mul(NANOS)))
}
