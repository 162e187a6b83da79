//! Records of filters: lines, or texts that end in a NUL with `-z`.

/// Returns the records of a text.
///
/// Empty records are included. The last record may lack a separator. An empty text has no records.
pub(super) fn records(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let body = text.strip_suffix(&[separator]).unwrap_or(text);
    (!text.is_empty()).then(|| body.split(move |byte| *byte == separator)).into_iter().flatten()
}

/// Returns the separator of records: a NUL with `-z`, otherwise a newline.
pub(super) fn separator(zero_terminated: bool) -> u8 {
    if zero_terminated { b'\0' } else { b'\n' }
}
