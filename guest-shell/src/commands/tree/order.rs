//! Order of the files in a directory.

use std::cmp::{Ordering, Reverse};

use super::options::{FirstKind, SortKey, TreeOptions};
use super::walk::Node;
use crate::commands::file_status::nanos_of;
use crate::commands::sort::filevercmp;

/// Sorts the files of a directory. `-r` turns the keys, and leaves what comes first.
pub(super) fn sort(nodes: &mut [Node], options: &TreeOptions) {
    if options.sort == SortKey::Unsorted {
        return;
    }
    nodes.sort_by(|one, other| {
        let order = by_key(one, other, options.sort);
        let order = if options.reverse { order.reverse() } else { order };
        match options.first {
            FirstKind::Either => order,
            FirstKind::Directories => other.is_directory.cmp(&one.is_directory).then(order),
            FirstKind::Files => one.is_directory.cmp(&other.is_directory).then(order),
        }
    });
}

fn by_key(one: &Node, other: &Node, key: SortKey) -> Ordering {
    let by_name = one.name.cmp(&other.name);
    match key {
        SortKey::Name | SortKey::Unsorted => by_name,
        SortKey::Version => filevercmp(one.name.as_bytes(), other.name.as_bytes()),
        SortKey::Size => Reverse(one.size()).cmp(&Reverse(other.size())).then(by_name),
        SortKey::Time => seconds(one).cmp(&seconds(other)).then(by_name),
    }
}

/// Time of the last change in whole seconds.
fn seconds(node: &Node) -> i128 {
    nanos_of(node.status.modified).div_euclid(1_000_000_000)
}
