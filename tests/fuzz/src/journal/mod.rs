//! What is kept of a session: its log, its ledger, its records.

mod log;
mod session;

/// Data that begins with `{`, or is a text of lines, is a log; any other is changes to a session that was exported.
///
/// # Panics
/// If what is read is not what was written, or what somebody has changed is taken for genuine.
pub fn journal(data: &[u8]) {
    match data.split_first() {
        Some((b'"' | b'{' | b'\n', _)) => log::log(data),
        _ => session::session(data),
    }
}
