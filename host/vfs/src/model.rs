//! Property tests of the tree against a reference model (`model/reference.rs`), by random operations.

mod reference;

use std::sync::Arc;

use proptest::prelude::*;

use self::reference::{
    LIMITS, ModelBody, ModelOperation, ReferenceModel, SEALED, apply_to_model, apply_to_tree, changes,
    expected_changes, seen,
};
use super::node::{Name, PathExtent, TreeNode};
use super::*;
use tollhouse_store::{BlobSource, MemoryBlobs};

fn path() -> impl Strategy<Value = String> {
    let place = prop_oneof![8 => Just("/workspace"), 2 => Just("/tmp"), 1 => Just(SEALED), 1 => Just("")];
    (place, tail(), prop::bool::weighted(0.15)).prop_map(|(place, tail, slash)| {
        let path = format!("{place}{}{tail}", if tail.is_empty() { "" } else { "/" });
        if slash || path.is_empty() { format!("{path}/") } else { path }
    })
}

fn tail() -> impl Strategy<Value = String> {
    // `b`, `k` and `q` begin pages.
    let name = prop_oneof![4 => Just("a"), 3 => Just("b"), 2 => Just("c"), 1 => Just("k"), 1 => Just("q"), 1 => Just("."), 1 => Just("..")];
    prop::collection::vec(name, 0..4).prop_map(|names| names.join("/"))
}

fn operation() -> impl Strategy<Value = ModelOperation> {
    let bytes = prop::collection::vec(any::<u8>(), 0..70);
    let mode = prop_oneof![Just(WriteMode::Replace), Just(WriteMode::Append), Just(WriteMode::Create)];
    let target = prop_oneof![path(), tail().prop_map(|tail| if tail.is_empty() { "a/".to_owned() } else { tail })];
    prop_oneof![
        4 => (path(), bytes, mode).prop_map(|(path, bytes, mode)| ModelOperation::Write(path, bytes, mode)),
        1 => (path(), 0..80_u8).prop_map(|(path, size)| ModelOperation::Truncate(path, size)),
        4 => (path(), any::<bool>()).prop_map(|(path, parents)| ModelOperation::CreateDirectory(path, parents)),
        2 => (path(), any::<bool>()).prop_map(|(path, all)| ModelOperation::Remove(path, all)),
        4 => (path(), path()).prop_map(|(from, to)| ModelOperation::Rename(from, to)),
        2 => (path(), path()).prop_map(|(from, to)| ModelOperation::Copy(from, to)),
        3 => (target, path()).prop_map(|(target, path)| ModelOperation::CreateLink(target, path)),
        1 => (path(), 0..0o7777_u32).prop_map(|(path, mode)| ModelOperation::SetMode(path, mode)),
        1 => (path(), any::<u64>()).prop_map(|(path, time)| ModelOperation::SetModified(path, time)),
        1 => Just(ModelOperation::Fork),
        1 => Just(ModelOperation::Reopen),
    ]
}

/// Checks that the sums of directories match their contents.
fn check_sums(node: &TreeNode) -> (Usage, PathExtent) {
    let (mut usage, mut reach) = (Usage::default(), PathExtent::default());
    if let Some(directory) = node.as_directory() {
        for (name, child) in directory.entries().expect("all is there") {
            let (below, far) = check_sums(child);
            usage.bytes += below.bytes;
            usage.entries += below.entries;
            reach.levels = reach.levels.max(far.levels + 1);
            reach.bytes = reach.bytes.max(far.bytes + name.len() + 1);
        }
        assert_eq!(usage, directory.sums().usage);
        assert_eq!(reach, node.reach());
    }
    (if node.as_directory().is_some() { Usage { entries: usage.entries + 1, ..usage } } else { node.usage() }, reach)
}

fn start() -> (Tree, ReferenceModel) {
    let (mut tree, mut model) = (Tree::new(LIMITS, 0), ReferenceModel::new());
    tree.place_file(&format!("{SEALED}/a"), b"sealed", 0o600, 0).expect("within limits");
    let names: Vec<Name> = SEALED.split('/').skip(1).map(Name::from).collect();
    tree.set_writable(&names, false);
    model.make(SEALED, ModelBody::Directory, 0o755, 0);
    model.make(&format!("{SEALED}/a"), ModelBody::File(b"sealed".to_vec()), 0o600, 0);
    (tree, model)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn tree_operations_match_the_reference_model(operations in prop::collection::vec(operation(), 1..60)) {
        let (mut tree, mut model) = start();
        let mut forks = vec![(tree.clone(), model.clone())];
        let blobs = Arc::new(MemoryBlobs::default());
        for (operation, now) in operations.iter().zip(1..) {
            let before = tree.clone();
            let expected = apply_to_model(&mut model, operation, now);
            let result = apply_to_tree(&mut tree, operation, now);
            prop_assert_eq!(result, expected, "{:?}", operation);
            if result.is_err() {
                prop_assert_eq!(changes(&before, &tree), vec![]);
            }
            prop_assert_eq!(&seen(&tree), &model.items, "{:?}", operation);
            prop_assert_eq!(tree.usage(), model.usage());
            check_sums(tree.root());
            match operation {
                ModelOperation::Fork => forks.push((tree.clone(), model.clone())),
                ModelOperation::Reopen => {
                    let id = tree.seal(&mut &*blobs).expect("all is there");
                    let source = Arc::clone(&blobs) as Arc<dyn BlobSource>;
                    tree = Tree::open(id, source, LIMITS).expect("it was just sealed");
                    model.number();
                    prop_assert_eq!(tree.usage(), model.usage());
                }
                _ => {}
            }
        }
        for (fork, then) in forks {
            prop_assert_eq!(&seen(&fork), &then.items);
            prop_assert_eq!(changes(&fork, &tree), expected_changes(&then.items, &model.items));
        }
    }

    #[test]
    fn tree_with_arbitrary_paths_does_not_panic(path in "[/a.\\x00é]{0,12}", other in "\\PC{0,40}") {
        let mut tree = Tree::new(LIMITS, 0);
        for path in [path, other] {
            let inside = format!("/workspace/{path}");
            for path in [path.as_str(), inside.as_str()] {
                let _ = tree.stat(path, false);
                let _ = tree.write(path, b"x", WriteMode::Append, 1);
                let _ = tree.create_directory(path, true, 1);
                let _ = tree.create_link(path, "/tmp/l", 1);
                let _ = tree.read_file("/tmp/l/x");
                let _ = tree.rename(path, "/tmp/m", 1);
                let _ = tree.remove(path, true, 1);
                let _ = tree.place_file(path, b"x", 0o644, 1);
            }
        }
        check_sums(tree.root());
    }
}
