//! Tests of directories and files.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;
use std::sync::Arc;

use super::run_grep_on;
use bashkit::fs::{FileSystem, InMemoryFs, OverlayFs};

#[tokio::test]
async fn grep_recursive_include() {
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/dir"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/dir/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/dir/b.log"), b"hello\n").await.unwrap();

    let result = run_grep_on(fs, &["-r", "--include=*.txt", "hello", "/dir"], None).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/dir/a.txt:hello"));
    assert!(!result.stdout.contains("b.log"));
}

#[tokio::test]
async fn grep_recursive_with_a_relative_operand_prints_relative_paths() {
    let script = "mkdir -p /d/src; echo 'fn main() {}' > /d/src/main.rs; cd /d; grep -r main src";
    assert_eq!(crate::commands::testing::run(script).await.stdout, "src/main.rs:fn main() {}\n");
}

#[tokio::test]
async fn grep_recursive_single_file() {
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/data"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/data/test.md"), b"hello world\n").await.unwrap();

    let result = run_grep_on(fs, &["-r", "hello", "/data/test.md"], None).await.unwrap();
    assert_eq!(result.exit_code, 0, "grep -r on a single file should match");
    assert!(result.stdout.contains("hello world"), "expected 'hello world' in stdout, got: {:?}", result.stdout);
}

/// A search with `-r` of a single file finds it where the directory
/// listing of a file is empty and no error.
#[tokio::test]
async fn grep_recursive_single_file_overlay() {
    let base = Arc::new(InMemoryFs::new());
    let fs: Arc<dyn FileSystem> = Arc::new(OverlayFs::new(base));
    fs.mkdir(&PathBuf::from("/data"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/data/test.md"), b"hello world\n").await.unwrap();

    let result = run_grep_on(fs, &["-r", "hello", "/data/test.md"], None).await.unwrap();
    assert_eq!(result.exit_code, 0, "grep -r on single file via OverlayFs");
    assert!(result.stdout.contains("hello world"), "expected 'hello world' in stdout, got: {:?}", result.stdout);
}

#[tokio::test]
async fn grep_recursive_exclude() {
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/dir"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/dir/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/dir/b.log"), b"hello\n").await.unwrap();

    let result = run_grep_on(fs, &["-r", "--exclude=*.log", "hello", "/dir"], None).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/dir/a.txt:hello"));
    assert!(!result.stdout.contains("b.log"));
}

#[tokio::test]
async fn grep_files_without_match_with_files() {
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/dir"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/dir/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/dir/b.txt"), b"world\n").await.unwrap();

    let result = run_grep_on(fs, &["-L", "hello", "/dir/a.txt", "/dir/b.txt"], None).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "/dir/b.txt\n");
}

#[tokio::test]
async fn grep_exclude_dir() {
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/proj/src"), true).await.unwrap();
    fs.mkdir(&PathBuf::from("/proj/vendor"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/proj/src/main.rs"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/proj/vendor/lib.rs"), b"hello\n").await.unwrap();

    let result = run_grep_on(fs, &["-r", "--exclude-dir=vendor", "hello", "/proj"], None).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/proj/src/main.rs:hello"));
    assert!(!result.stdout.contains("vendor"));
}

#[tokio::test]
async fn grep_exclude_dir_glob() {
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/proj/src"), true).await.unwrap();
    fs.mkdir(&PathBuf::from("/proj/.git"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/proj/src/main.rs"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/proj/.git/config"), b"hello\n").await.unwrap();

    let result = run_grep_on(fs, &["-r", "--exclude-dir=.*", "hello", "/proj"], None).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/proj/src/main.rs:hello"));
    assert!(!result.stdout.contains(".git"));
}

#[tokio::test]
async fn grep_suppress_errors() {
    let fs = Arc::new(InMemoryFs::new());

    let result = run_grep_on(fs, &["-s", "hello", "/nonexistent"], None).await.unwrap();
    // GNU grep: -s silences the message but not the status.
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, "");
}

#[tokio::test]
async fn grep_no_suppress_errors() {
    let fs = Arc::new(InMemoryFs::new());

    let result = run_grep_on(fs, &["hello", "/nonexistent"], None).await.unwrap();
    // GNU grep: the diagnostic goes to stderr, never into the data
    // stream, and an unreadable operand is status 2, not "no match".
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, "grep: /nonexistent: No such file or directory\n");
}

#[tokio::test]
async fn grep_suppress_errors_long_flag() {
    let fs = Arc::new(InMemoryFs::new());

    let result = run_grep_on(fs, &["--no-messages", "hello", "/nonexistent"], None).await.unwrap();
    // --no-messages is the long form of -s: same status 2.
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, "");
}
