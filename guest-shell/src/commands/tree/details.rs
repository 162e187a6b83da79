//! What stands in brackets in front of a name: mode, owners, size and date.

use super::options::{SizeUnit, TreeOptions};
use super::walk::Node;
use crate::commands::file_status::{FmtEnv, HALF_YEAR, mode_string, nanos_of};

const NANOSECONDS: i128 = 1_000_000_000;

/// Returns the details of a file with their brackets; nothing if none are asked for.
pub(super) fn in_brackets(node: &Node, options: &TreeOptions, environment: &FmtEnv) -> String {
    let mut details = String::new();
    if options.modes {
        details.push_str(&format!(" {}", mode_string(&node.status)));
    }
    for _ in [options.user, options.group].into_iter().filter(|shown| *shown) {
        details.push_str(&format!(" {:<8.32}", environment.username));
    }
    if let Some(unit) = options.size {
        details.push_str(&size(node.size(), unit));
    }
    if options.date {
        details.push_str(&format!(" {}", date(node, options, environment)));
    }
    if details.is_empty() {
        return details;
    }
    details.replace_range(..1, "[");
    details + "]"
}

/// Size of a file, with a blank in front of it.
pub(super) fn size(size: u64, unit: SizeUnit) -> String {
    let SizeUnit::Human(base) = unit else {
        return format!(" {size:>11}");
    };
    if size < base {
        return format!(" {size:>4}");
    }
    let letters = if base == 1000 { "dkMGTPEZY" } else { "BKMGTPEZY" };
    let (mut size, mut power) = (size, 1);
    while size >= base * base {
        (size, power) = (size / base, power + 1);
    }
    let letter = letters.chars().nth(power).unwrap_or('?');
    // The size fits a double's mantissa well enough to be rounded to three places, as in C.
    #[expect(clippy::cast_precision_loss, reason = "a number of three places")]
    let scaled = size as f32 / base as f32;
    if size / base >= 10 { format!(" {scaled:>3.0}{letter}") } else { format!(" {scaled:>3.1}{letter}") }
}

/// Date of the last change, with the year instead of the time of day for an old one.
pub(super) fn date(node: &Node, options: &TreeOptions, environment: &FmtEnv) -> String {
    let modified = nanos_of(node.status.modified);
    let format = match &options.time_format {
        Some(format) => format.as_str(),
        None => {
            let (now, modified) = (environment.now() / NANOSECONDS, modified / NANOSECONDS);
            if modified > now || modified + HALF_YEAR < now { "%b %e  %Y" } else { "%b %e %R" }
        }
    };
    environment.strftime(modified, format)
}

/// Class of a file as a letter behind its name (`-F`).
pub(super) fn class(is_directory: bool, mode: u32, is_fifo: bool) -> &'static str {
    match (is_directory, is_fifo) {
        (true, _) => "/",
        (_, true) => "|",
        _ if mode & 0o111 != 0 => "*",
        _ => "",
    }
}
