//! Output, messages and sums of a call.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::limits::BudgetedBytes;

use super::codec::END_OF_FILE;
use super::options::GzipOptions;

/// Output, messages and sums of a call so far.
pub(super) struct GzipProgress {
    pub(super) stdout: BudgetedBytes,
    pub(super) stderr: String,
    /// Status: 1 for an error, 2 for warnings alone.
    pub(super) status: i32,
    /// True after truncated data, at which gzip stops processing further files.
    pub(super) given_up: bool,
    pub(super) listed: usize,
    /// Sums of what was listed: compressed, uncompressed, and the size of the last frame.
    pub(super) totals: (usize, usize, usize),
}

impl GzipProgress {
    /// Adds a message about an error, which outranks a warning.
    pub(super) fn error(&mut self, message: &str) {
        self.stderr.push_str(&format!("gzip: {message}\n"));
        self.status = 1;
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, options: &GzipOptions, message: &str) {
        if !options.quiet {
            self.stderr.push_str(&format!("gzip: {message}\n"));
        }
        if self.status == 0 {
            self.status = 2;
        }
    }

    /// Adds a message about wrong data, which starts on a line of its own.
    pub(super) fn data_error(&mut self, name: &str, problem: &str) {
        self.stderr.push_str(&format!("\ngzip: {name}: {problem}\n"));
        self.status = 1;
        self.given_up |= problem == END_OF_FILE;
    }
}
