//! Pictures that a run has left in /workspace/out, as content that clients show.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{ContentBlock, Resource};
use tollhouse::vfs::{ChangeKind, Kind, Tree, changed_paths};

use crate::resources;

/// Directory whose pictures are shown.
const DIRECTORY: &str = "/workspace/out/";

/// Pictures of one run that are shown, and the size of the largest. Others are linked.
const MAX_IMAGES: usize = 4;
const MAX_BYTES: u64 = 1 << 20;

/// Pictures of one run that are shown or linked.
const MAX_LINKED: usize = 20;

/// Bytes from which the format of a picture is told.
const MAGIC: u64 = 12;

/// Returns the pictures that are new or changed, in the order of their paths.
pub(crate) fn new_ones(session: &str, before: &Tree, after: &Tree) -> Vec<ContentBlock> {
    let changes = changed_paths(before, after).unwrap_or_default();
    let written = changes.into_iter().filter(|change| change.kind != ChangeKind::Removed);
    let mut shown = 0;
    let mut blocks = Vec::new();
    for path in written.map(|change| change.path).filter(|path| path.starts_with(DIRECTORY)) {
        let Some((mime, size)) = picture(after, &path) else { continue };
        if blocks.len() >= MAX_LINKED {
            break;
        }
        if shown < MAX_IMAGES
            && size <= MAX_BYTES
            && let Ok(bytes) = after.read_file(&path)
        {
            shown += 1;
            blocks.push(ContentBlock::image(BASE64_STANDARD.encode(bytes), mime));
        } else {
            let resource = Resource::new(resources::uri(session, &path), path).with_mime_type(mime).with_size(size);
            blocks.push(ContentBlock::resource_link(resource));
        }
    }
    blocks
}

/// Returns the type and size of a file that is a picture.
fn picture(files: &Tree, path: &str) -> Option<(&'static str, u64)> {
    let stat = files.stat_here(path).ok().filter(|stat| stat.kind == Kind::File)?;
    Some((format(&files.read(path, 0, MAGIC).ok()?)?, stat.size))
}

/// Determines the format of a picture by its first bytes.
pub(crate) fn format(magic: &[u8]) -> Option<&'static str> {
    match magic {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tollhouse::vfs::{Limits, WriteMode};

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nxxxx";

    #[test]
    fn new_pictures_are_shown_and_many_are_linked() {
        let before = Tree::new(Limits::default(), 0);
        let mut after = before.clone();
        after.create_directory("/workspace/out", true, 1).expect("there is room");
        for name in ["a.png", "b.png", "c", "d", "e", "f.txt"] {
            let bytes = if name == "f.txt" { b"text" } else { PNG };
            after.write(&format!("/workspace/out/{name}"), bytes, WriteMode::Create, 1).expect("there is room");
        }
        after.write("/workspace/g.png", PNG, WriteMode::Create, 1).expect("there is room");
        let blocks = new_ones("main", &before, &after);
        assert_eq!(blocks.iter().filter(|block| block.as_image().is_some()).count(), MAX_IMAGES);
        let linked: Vec<&str> = blocks.iter().filter_map(|block| Some(&*block.as_resource_link()?.uri)).collect();
        assert_eq!(linked, ["tollhouse://main/workspace/out/e"]);
        assert_eq!(new_ones("main", &after, &after).len(), 0);
    }
}
