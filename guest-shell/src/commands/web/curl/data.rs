//! Data of a POST request or of a query.

use super::codes::{Problem, READ};
use super::options::Data;
use crate::commands::web::files::Files;

/// Joins the data options into one body.
pub(super) async fn join(given: &[Data], files: &Files<'_, '_>) -> bashkit::Result<Result<Vec<u8>, Problem>> {
    let mut all = Vec::new();
    for (at, data) in given.iter().enumerate() {
        // `--json` may specify one document in parts.
        if at > 0 && !matches!(data, Data::Json(_)) {
            all.push(b'&');
        }
        match one(data, files).await? {
            Ok(bytes) => all.extend(bytes),
            Err(problem) => return Ok(Err(problem)),
        }
    }
    Ok(Ok(all))
}

async fn one(data: &Data, files: &Files<'_, '_>) -> bashkit::Result<Result<Vec<u8>, Problem>> {
    let file = match data {
        Data::Ascii(text) | Data::Binary(text) | Data::Json(text) => text.strip_prefix('@'),
        Data::Raw(_) => None,
        Data::Encoded(text) => return encoded(text, files).await,
    };
    let (Data::Ascii(text) | Data::Binary(text) | Data::Json(text) | Data::Raw(text) | Data::Encoded(text)) = data;
    let Some(name) = file else { return Ok(Ok(bashkit::bytes_of(text).into_owned())) };
    let bytes = match read(name, files).await? {
        Ok(bytes) => bytes,
        Err(problem) => return Ok(Err(problem)),
    };
    let lines = matches!(data, Data::Ascii(_));
    Ok(Ok(bytes.into_iter().filter(|byte| !(lines && matches!(byte, b'\r' | b'\n' | 0))).collect()))
}

/// Returns the data of `text`, `=text`, `name=text`, `@file` or `name@file`, in which the part after the sign is
/// encoded.
async fn encoded(text: &str, files: &Files<'_, '_>) -> bashkit::Result<Result<Vec<u8>, Problem>> {
    let Some(at) = text.find(['=', '@']) else { return Ok(Ok(encode(&bashkit::bytes_of(text)).into_bytes())) };
    let (name, rest) = (&text[..at], &text[at + 1..]);
    let bytes = match text.as_bytes()[at] {
        b'=' => bashkit::bytes_of(rest).into_owned(),
        _ => match read(rest, files).await? {
            Ok(bytes) => bytes,
            Err(problem) => return Ok(Err(problem)),
        },
    };
    let sign = if name.is_empty() { "" } else { "=" };
    Ok(Ok([&bashkit::bytes_of(name)[..], sign.as_bytes(), encode(&bytes).as_bytes()].concat()))
}

/// Reads a file that is sent.
pub(super) async fn read(name: &str, files: &Files<'_, '_>) -> bashkit::Result<Result<Vec<u8>, Problem>> {
    Ok(opened(name, files.read_for_all(name).await?))
}

/// Returns the content of a file to be sent, or the problem of reading it.
pub(super) fn opened(name: &str, read: Result<Vec<u8>, String>) -> Result<Vec<u8>, Problem> {
    read.map_err(|why| Problem::told(READ, format!("Failed to open {name}: {why}")))
}

/// Encodes bytes: everything except letters, digits and four signs is escaped, and a space becomes `+`.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            b' ' => text.push('+'),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded() {
        assert_eq!(encode("a b&é-._~".as_bytes()), "a+b%26%C3%A9-._~");
    }
}
