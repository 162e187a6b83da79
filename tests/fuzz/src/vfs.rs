//! Operations on a tree of files, compared with the reference model of the tree's own property tests.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use tollhouse::store::{BlobSource, MemoryBlobs};
use tollhouse::vfs::{ChangeKind, Errno, Kind, Limits, MAX_LINKS, Tree, Usage, WriteMode, changed_paths};

#[path = "../../../host/vfs/src/model/reference.rs"]
mod reference;

use self::reference::{
    LIMITS, ModelOperation, ReferenceModel, apply_to_model, apply_to_tree, changes, expected_changes, seen,
};

/// Largest number of operations in one input. After each operation the whole tree is compared.
const OPERATIONS: usize = 64;

/// Few names, so that paths collide. `b`, `k` and `q` start new pages of a directory.
const NAMES: [&str; 10] = ["a", "a", "a", "b", "b", "c", "k", "q", ".", ".."];

/// Directories in which paths begin.
const PLACES: [&str; 6] = ["/workspace", "/workspace", "/workspace", "/workspace", "/tmp", ""];

/// Largest write, in bytes: slightly more than the size limit of a file.
const WRITTEN: usize = 70;

/// Runs data as operations on a tree. The tree must behave like the reference model, a failing operation must change
/// nothing, and no operation may affect a clone that was made before.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn vfs(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let (mut tree, mut model) = (Tree::new(LIMITS, 0), ReferenceModel::new());
    let mut forks = vec![(tree.clone(), model.clone())];
    let blobs = Arc::new(MemoryBlobs::default());
    for now in 1..=OPERATIONS as u64 {
        if choices.is_empty() {
            break;
        }
        let Ok(operation) = operation(&mut choices) else { break };
        let before = tree.clone();
        let expected = apply_to_model(&mut model, &operation, now);
        let result = apply_to_tree(&mut tree, &operation, now);
        assert_eq!(result, expected, "{operation:?}");
        if result.is_err() {
            assert_eq!(changes(&before, &tree), vec![], "{operation:?} failed, and changed something");
        }
        assert_eq!(seen(&tree), model.items, "{operation:?}");
        assert_eq!(tree.usage(), model.usage(), "{operation:?}");
        match operation {
            ModelOperation::Fork => forks.push((tree.clone(), model.clone())),
            ModelOperation::Reopen => {
                let id = tree.seal(&mut &*blobs).expect("all is there");
                let source = Arc::clone(&blobs) as Arc<dyn BlobSource>;
                tree = Tree::open(id, source, LIMITS).expect("it was just sealed");
                model.number();
            }
            _ => {}
        }
    }
    for (fork, then) in forks {
        assert_eq!(seen(&fork), then.items, "a clone has changed");
        assert_eq!(changes(&fork, &tree), expected_changes(&then.items, &model.items));
    }
}

fn operation(choices: &mut Unstructured<'_>) -> arbitrary::Result<ModelOperation> {
    Ok(match choices.int_in_range(0..=10)? {
        0 => {
            let mode = *choices.choose(&[WriteMode::Replace, WriteMode::Append, WriteMode::Create])?;
            let length = choices.int_in_range(0..=WRITTEN)?;
            // Only whether files differ matters, not what their bytes are.
            ModelOperation::Write(path(choices)?, vec![u8::arbitrary(choices)?; length], mode)
        }
        1 => ModelOperation::Truncate(path(choices)?, choices.int_in_range(0..=80)?),
        2 => ModelOperation::CreateDirectory(path(choices)?, bool::arbitrary(choices)?),
        3 => ModelOperation::Remove(path(choices)?, bool::arbitrary(choices)?),
        4 => ModelOperation::Rename(path(choices)?, path(choices)?),
        5 => ModelOperation::Copy(path(choices)?, path(choices)?),
        6 => ModelOperation::CreateLink(target(choices)?, path(choices)?),
        7 => ModelOperation::SetMode(path(choices)?, choices.int_in_range(0..=0o7777)?),
        8 => ModelOperation::SetModified(path(choices)?, u64::arbitrary(choices)?),
        9 => ModelOperation::Fork,
        _ => ModelOperation::Reopen,
    })
}

fn path(choices: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut path = (*choices.choose(&PLACES)?).to_owned();
    for _ in 0..choices.int_in_range(0..=3)? {
        path.push('/');
        path.push_str(choices.choose(&NAMES)?);
    }
    if path.is_empty() || choices.ratio(1, 8)? {
        path.push('/');
    }
    Ok(path)
}

/// Generates the target of a link: an absolute path, or one relative to the link.
fn target(choices: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let path = path(choices)?;
    let relative = path.trim_start_matches("/workspace/").to_owned();
    Ok(if choices.ratio(1, 2)? { path } else { relative })
}
