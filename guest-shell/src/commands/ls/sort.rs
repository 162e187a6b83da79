//! Order of a listing.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::{Ordering, Reverse};

use super::file::File;
use super::options::{Options, Sort};
use super::print::width_of;
use crate::commands::sort::filevercmp;

/// Returns the last dot and the text after it.
fn extension(name: &str) -> &str {
    name.rfind('.').map_or("", |dot| &name[dot..])
}

fn by_key(a: &File, b: &File, opts: &Options) -> Ordering {
    match opts.sort {
        Sort::Name | Sort::None => Ordering::Equal,
        Sort::Size => Reverse(a.size()).cmp(&Reverse(b.size())),
        Sort::Time => Reverse(a.time(opts)).cmp(&Reverse(b.time(opts))),
        Sort::Version => filevercmp(a.name.as_bytes(), b.name.as_bytes()),
        Sort::Extension => extension(&a.name).cmp(extension(&b.name)),
        Sort::Width => width_of(&a.name).cmp(&width_of(&b.name)),
    }
}

/// Sorts files by the keys of the options. Names are compared as bytes where the keys are equal. `-r` reverses everything except the grouping of
/// directories.
pub(super) fn sort(files: &mut [File], opts: &Options) {
    if opts.sort == Sort::None {
        return;
    }
    files.sort_by(|a, b| {
        let order = by_key(a, b, opts).then_with(|| a.name.cmp(&b.name));
        let order = if opts.reverse { order.reverse() } else { order };
        if opts.directories_first {
            return b.leads_to_directory().cmp(&a.leads_to_directory()).then(order);
        }
        order
    });
}
