//! The persistent records of a session: audit log, ledger, runs.

mod log;
mod session;

/// Tests an audit log if the data begins with `{` or is lines of text; otherwise tests the import of an exported
/// session that is changed as the data says.
///
/// # Panics
///
/// Panics if a manipulation is not detected, or if stored data is not read back as it was written.
pub fn journal(data: &[u8]) {
    match data.split_first() {
        Some((b'"' | b'{' | b'\n', _)) => log::log(data),
        _ => session::session(data),
    }
}
