//! `column`: util-linux's columns and tables.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | the words of the command line |
//! | [`table`] | tables of `-t` and `-J` |
//! | [`list`] | lines side by side |
//! | [`command`] | the shell's command |

pub(super) mod command;
mod list;
pub(super) mod options;
mod table;

pub(super) use list::fill;
pub(super) use table::table;

/// Returns the width of a text on a screen; control characters have no width.
fn width(text: &str) -> usize {
    text.chars().filter_map(unicode_width::UnicodeWidthChar::width).sum()
}
