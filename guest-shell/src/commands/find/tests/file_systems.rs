use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::commands::find::run::MAX_OUTPUT_BYTES;
use bashkit::ExecResult;
use bashkit::builtins::{Builtin, Context};
use bashkit::fs::{FileSystem, InMemoryFs, MountableFs, OverlayFs};

use crate::commands::date::Date;
use crate::commands::find::Find;

/// Runs `find` in `/home` of a file system.
async fn find(fs: Arc<dyn FileSystem>, words: &[&str]) -> ExecResult {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let (env, mut variables, mut cwd) = (HashMap::new(), HashMap::new(), PathBuf::from("/home"));
    let ctx = Context::new_for_test(&words, &env, &mut variables, &mut cwd, fs, None);
    Find::new(Date::new(), "sandbox").execute(ctx).await.expect("a run")
}

async fn make(fs: &dyn FileSystem, directory: &str, file: &str) {
    fs.mkdir(Path::new(directory), true).await.expect("a directory");
    fs.write_file(&Path::new(directory).join(file), b"x").await.expect("a file");
}

#[tokio::test]
async fn find_in_an_overlay_visits_both_layers() {
    let lower = InMemoryFs::new();
    make(&lower, "/home/base/sub", "low").await;
    let overlay = OverlayFs::new(Arc::new(lower));
    make(&overlay, "/home/base/upper", "high").await;
    let result = find(Arc::new(overlay), &["base"]).await;
    assert_eq!(result.stdout, "base\nbase/sub\nbase/sub/low\nbase/upper\nbase/upper/high\n");
}

#[tokio::test]
async fn find_descends_into_mounts() {
    let (root, mounted) = (InMemoryFs::new(), InMemoryFs::new());
    make(&root, "/home", "own").await;
    make(&mounted, "/one/two", "deep").await;
    let fs = MountableFs::new(Arc::new(root));
    fs.mount("/home/mounted", Arc::new(mounted)).expect("a mount");
    let result = find(Arc::new(fs), &["-type", "f", "!", "-path", "*/dev/*"]).await;
    assert_eq!(result.stdout, "./mounted/one/two/deep\n./own\n");
}

// THREAT[TM-DOS-121]
#[tokio::test]
async fn find_that_prints_too_much_ends() {
    for length in [MAX_OUTPUT_BYTES + 1, MAX_OUTPUT_BYTES / 2 + 1] {
        let fs = InMemoryFs::new();
        make(&fs, "/home", "file").await;
        let result = find(Arc::new(fs), &["-printf", &"x".repeat(length)]).await;
        assert_eq!((&*result.stderr, result.exit_code), ("find: output size limit exceeded\n", 1));
        assert!(result.stdout.len() <= MAX_OUTPUT_BYTES);
    }
}
