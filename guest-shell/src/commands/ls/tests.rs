//! Tests for ls and glob_match.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::list::Ls;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::ls::glob::glob_match;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bashkit::fs::{FileSystem, InMemoryFs};

use crate::commands::testing::{call, home_directory};

#[tokio::test]
async fn test_ls_empty_dir() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Ls::default(), fs.clone(), &cwd, &[]).await;
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "");
}

#[tokio::test]
async fn test_ls_with_files() {
    let (fs, cwd) = home_directory().await;

    // Create some files
    fs.write_file(&cwd.join("file1.txt"), b"content1").await.unwrap();
    fs.write_file(&cwd.join("file2.txt"), b"content2").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &[]).await;
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("file1.txt"));
    assert!(result.stdout.contains("file2.txt"));
}

#[tokio::test]
async fn test_ls_hidden_files() {
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join(".hidden"), b"hidden").await.unwrap();
    fs.write_file(&cwd.join("visible"), b"visible").await.unwrap();

    // Without -a
    let result = call(&Ls::default(), fs.clone(), &cwd, &[]).await;
    assert_eq!(result.exit_code, 0);
    assert!(!result.stdout.contains(".hidden"));
    assert!(result.stdout.contains("visible"));

    // With -a
    let result = call(&Ls::default(), fs.clone(), &cwd, &["-a"]).await;
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains(".hidden"));
    assert!(result.stdout.contains("visible"));
}

#[tokio::test]
async fn test_ls_long_format() {
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join("test.txt"), b"content").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-l"]).await;
    assert_eq!(result.exit_code, 0);
    // Long format should include permissions
    assert!(result.stdout.contains("rw"));
    assert!(result.stdout.contains("test.txt"));
}

#[tokio::test]
async fn test_ls_nonexistent() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Ls::default(), fs.clone(), &cwd, &["nonexistent"]).await;
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("No such file or directory"));
}

#[tokio::test]
async fn test_ls_invalid_option() {
    let (fs, cwd) = home_directory().await;
    let result = call(&Ls::default(), fs.clone(), &cwd, &["-z"]).await;
    assert_eq!(result.exit_code, 2);
    // clap-rendered diagnostic differs from GNU coreutils' wording
    // ("invalid option") but both flag the unknown short flag.
    // `### bash_diff` documents the GNU divergence in spec tests.
    let combined = format!("{}{}", result.stdout, result.stderr);
    assert!(
        combined.contains("unexpected argument") || combined.contains("invalid option"),
        "expected an unknown-flag diagnostic, got: {}",
        combined
    );
}

#[tokio::test]
async fn test_ls_sort_by_time() {
    let (fs, cwd) = home_directory().await;

    // Create files with different modification times
    fs.write_file(&cwd.join("older.txt"), b"older").await.unwrap();
    fs.write_file(&cwd.join("newer.txt"), b"newer").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-t"]).await;
    assert_eq!(result.exit_code, 0);
    // -t should be accepted (not cause an error)
    assert!(result.stdout.contains("older.txt"));
    assert!(result.stdout.contains("newer.txt"));
}

#[tokio::test]
async fn test_ls_file() {
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join("test.txt"), b"content").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["test.txt"]).await;
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("test.txt"));
}

#[tokio::test]
async fn test_ls_recursive() {
    let (fs, cwd) = home_directory().await;

    fs.mkdir(&cwd.join("subdir"), false).await.unwrap();
    fs.write_file(&cwd.join("file.txt"), b"content").await.unwrap();
    fs.write_file(&cwd.join("subdir/nested.txt"), b"nested").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-R"]).await;
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("file.txt"));
    assert!(result.stdout.contains("subdir"));
    assert!(result.stdout.contains("nested.txt"));
}

/// `ls -l a.txt` of a file of 2024, with `TIME_STYLE=long-iso` in the virtual environment.
async fn ls_with_virtual_time_style(args: &[&str]) -> String {
    let (fs, mut cwd) = home_directory().await;
    let mut variables = HashMap::new();
    let path = cwd.join("a.txt");
    fs.write_file(&path, b"a").await.unwrap();
    let time = bashkit::time_compat::UNIX_EPOCH + std::time::Duration::from_secs(1_709_208_000);
    fs.set_modified_time(&path, time).await.unwrap();
    let env = HashMap::from([("TIME_STYLE".to_string(), "long-iso".to_string())]);
    let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
    let ctx = Context {
        args: &args,
        env: &env,
        variables: &mut variables,
        cwd: &mut cwd,
        fs: fs.clone(),
        stdin: None,
        shell: None,
    };
    let result = Ls::default().execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0, "stderr: {}", result.stderr);
    result.stdout.to_string()
}

/// Checks, as the counterpart to `ls_ignores_host_time_style_and_tabsize`, that what lives in bashkit's *virtual* env
/// (`ctx.env`) is honoured, and argv overrides it.
#[tokio::test]
async fn ls_honors_virtual_env_time_style() {
    let listed = ls_with_virtual_time_style(&["-l", "--", "a.txt"]).await;
    assert!(listed.ends_with(" 2024-02-29 12:00 a.txt\n"), "{listed}");
    assert_eq!(ls_with_virtual_time_style(&[]).await, "a.txt\n");
}

#[tokio::test]
async fn ls_argv_time_style_overrides_virtual_env() {
    let listed = ls_with_virtual_time_style(&["-l", "--time-style=iso"]).await;
    assert!(listed.ends_with(" 2024-02-29  a.txt\n"), "{listed}");
    let listed = ls_with_virtual_time_style(&["--full-time"]).await;
    let full = " 2024-02-29 12:00:00.000000000 +0000 a.txt\n";
    assert!(listed.ends_with(full), "{listed}");
}

#[tokio::test]
async fn test_ls_recursive_deep() {
    // Test that ls -R descends into all subdirectory levels
    let (fs, cwd) = home_directory().await;

    // Create a deep directory structure: a/b/c/deep.txt
    fs.mkdir(&cwd.join("a"), false).await.unwrap();
    fs.mkdir(&cwd.join("a/b"), false).await.unwrap();
    fs.mkdir(&cwd.join("a/b/c"), false).await.unwrap();
    fs.write_file(&cwd.join("a/b/c/deep.txt"), b"deep content").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-R"]).await;
    assert_eq!(result.exit_code, 0);

    // Should list all directories and their contents
    assert!(result.stdout.contains("a"), "Should list dir a");
    assert!(result.stdout.contains("b"), "Should list dir b under a");
    assert!(result.stdout.contains("c"), "Should list dir c under a/b");
    assert!(result.stdout.contains("deep.txt"), "Should list deep.txt under a/b/c");
}

#[tokio::test]
async fn test_ls_recursive_with_overlay_fs() {
    use bashkit::fs::OverlayFs;

    // Create base filesystem with nested structure
    let base = Arc::new(InMemoryFs::new());
    base.mkdir(Path::new("/home/user"), true).await.unwrap();
    base.mkdir(Path::new("/home/user/dir"), false).await.unwrap();
    base.mkdir(Path::new("/home/user/dir/subdir"), false).await.unwrap();
    base.write_file(Path::new("/home/user/dir/base.txt"), b"base").await.unwrap();
    base.write_file(Path::new("/home/user/dir/subdir/deep.txt"), b"deep").await.unwrap();

    let overlay: Arc<dyn FileSystem> = Arc::new(OverlayFs::new(base));

    let cwd = PathBuf::from("/home/user");

    let result = call(&Ls::default(), overlay, &cwd, &["-R", "dir"]).await;
    assert_eq!(result.exit_code, 0);

    assert!(result.stdout.contains("base.txt"), "Should list base.txt");
    assert!(result.stdout.contains("subdir"), "Should list subdir");
    assert!(result.stdout.contains("deep.txt"), "Should list deep.txt");
}

#[tokio::test]
async fn test_ls_recursive_with_mountable_fs() {
    use bashkit::fs::MountableFs;

    let root = Arc::new(InMemoryFs::new());
    root.mkdir(Path::new("/home/user"), true).await.unwrap();

    let mounted = Arc::new(InMemoryFs::new());
    mounted.mkdir(Path::new("/a"), false).await.unwrap();
    mounted.mkdir(Path::new("/a/b"), false).await.unwrap();
    mounted.write_file(Path::new("/a/file_a.txt"), b"a").await.unwrap();
    mounted.write_file(Path::new("/a/b/file_b.txt"), b"b").await.unwrap();

    let mountable = MountableFs::new(root);
    mountable.mount("/home/user/mnt", mounted.clone()).unwrap();

    let fs: Arc<dyn FileSystem> = Arc::new(mountable);
    let cwd = PathBuf::from("/home/user");

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-R", "mnt"]).await;
    assert_eq!(result.exit_code, 0);

    assert!(result.stdout.contains("a"), "Should list directory a");
    assert!(result.stdout.contains("b"), "Should list directory b");
    assert!(result.stdout.contains("file_a.txt"), "Should list file_a.txt");
    assert!(result.stdout.contains("file_b.txt"), "Should list file_b.txt");
}

#[tokio::test]
async fn test_ls_root_directory() {
    // Test listing the root directory directly
    let fs = Arc::new(InMemoryFs::new());
    let cwd = PathBuf::from("/home/user");

    // ls / should work
    let result = call(&Ls::default(), fs.clone(), &cwd, &["/"]).await;
    assert_eq!(result.exit_code, 0, "ls / should succeed: {}", result.stderr);
    // Root should contain at least tmp, home, dev
    assert!(result.stdout.contains("tmp"), "Root should contain tmp");
    assert!(result.stdout.contains("home"), "Root should contain home");
    assert!(result.stdout.contains("dev"), "Root should contain dev");
}

#[tokio::test]
async fn test_ls_dot_from_root() {
    // Test: when cwd is /, ls . should list root contents
    let fs = Arc::new(InMemoryFs::new());
    let cwd = PathBuf::from("/");

    // ls . with cwd=/ should work
    let result = call(&Ls::default(), fs.clone(), &cwd, &["."]).await;
    assert_eq!(result.exit_code, 0, "ls . from / should succeed: {}", result.stderr);
    assert!(result.stdout.contains("tmp"), "Root should contain tmp");
    assert!(result.stdout.contains("home"), "Root should contain home");
}

#[tokio::test]
async fn test_ls_default_from_root() {
    // Test: when cwd is /, ls (no args) should list root contents
    let fs = Arc::new(InMemoryFs::new());
    let cwd = PathBuf::from("/");

    // ls with no args and cwd=/ should work
    let result = call(&Ls::default(), fs.clone(), &cwd, &[]).await;
    assert_eq!(result.exit_code, 0, "ls from / should succeed: {}", result.stderr);
    assert!(result.stdout.contains("tmp"), "Root should contain tmp");
    assert!(result.stdout.contains("home"), "Root should contain home");
}

#[tokio::test]
async fn test_ls_root_with_overlay_fs() {
    // Test: ls / with OverlayFs should work
    use bashkit::fs::OverlayFs;

    let base = Arc::new(InMemoryFs::new());
    let overlay: Arc<dyn FileSystem> = Arc::new(OverlayFs::new(base));

    let cwd = PathBuf::from("/");

    // ls / should work with overlay
    let result = call(&Ls::default(), overlay, &cwd, &["/"]).await;
    assert_eq!(result.exit_code, 0, "ls / with overlay should succeed: {}", result.stderr);
    assert!(result.stdout.contains("tmp"), "Root should contain tmp");
    assert!(result.stdout.contains("home"), "Root should contain home");
}

#[tokio::test]
async fn test_ls_dot_from_root_with_overlay_fs() {
    // Test: cd / && ls . with OverlayFs should work
    use bashkit::fs::OverlayFs;

    let base = Arc::new(InMemoryFs::new());
    let overlay: Arc<dyn FileSystem> = Arc::new(OverlayFs::new(base));

    let cwd = PathBuf::from("/");

    // ls . from / with overlay
    let result = call(&Ls::default(), overlay, &cwd, &["."]).await;
    assert_eq!(result.exit_code, 0, "ls . from / with overlay should succeed: {}", result.stderr);
    assert!(result.stdout.contains("tmp"), "Root should contain tmp");
    assert!(result.stdout.contains("home"), "Root should contain home");
}

#[tokio::test]
async fn test_resolve_path_slash_dot_normalized() {
    // Verify that "/." path (from /join(".")) resolves correctly to root
    let fs = Arc::new(InMemoryFs::new());

    // The path "/." should normalize to "/" and exist
    assert!(fs.exists(Path::new("/.")).await.unwrap(), "/. should exist");
    assert!(fs.exists(Path::new("/")).await.unwrap(), "/ should exist");

    // Both should return the same stat info
    let stat_root = fs.stat(Path::new("/")).await.unwrap();
    let stat_dot = fs.stat(Path::new("/.")).await.unwrap();
    assert!(stat_root.file_type.is_dir());
    assert!(stat_dot.file_type.is_dir());
}

#[tokio::test]
async fn test_ls_nonexistent_path() {
    // Negative test: ls on path that doesn't exist should fail
    let fs = Arc::new(InMemoryFs::new());
    let cwd = PathBuf::from("/home/user");

    let result = call(&Ls::default(), fs.clone(), &cwd, &["/nonexistent/path"]).await;
    assert_eq!(result.exit_code, 2, "ls on nonexistent path should fail");
    assert!(result.stderr.contains("No such file or directory"), "Should report file not found");
}

#[tokio::test]
async fn test_ls_path_traversal_normalized() {
    // Positive test: path traversal with .. should be normalized and work
    let fs = Arc::new(InMemoryFs::new());
    let cwd = PathBuf::from("/home/user");

    // /home/user/../user should normalize to /home/user
    let result = call(&Ls::default(), fs.clone(), &cwd, &["../user"]).await;
    // /home/user is an empty directory by default, so it should succeed with empty output
    assert_eq!(result.exit_code, 0, "ls with .. should succeed after normalization: {}", result.stderr);
}

#[tokio::test]
async fn test_ls_excessive_dotdot_stays_at_root() {
    // Positive test: excessive .. should stay at root
    let fs = Arc::new(InMemoryFs::new());
    let cwd = PathBuf::from("/home/user");

    // ../../../../.. from /home/user should normalize to /
    let result = call(&Ls::default(), fs.clone(), &cwd, &["../../../../.."]).await;
    assert_eq!(result.exit_code, 0, "Excessive .. should normalize to root: {}", result.stderr);
    // Should list root contents
    assert!(result.stdout.contains("tmp"), "Should list root (tmp)");
    assert!(result.stdout.contains("home"), "Should list root (home)");
}

#[tokio::test]
async fn test_ls_dot_in_middle_of_path() {
    // Positive test: . in middle of path should be normalized
    let fs = Arc::new(InMemoryFs::new());
    let cwd = PathBuf::from("/");

    // /./home/./user/. should normalize to /home/user
    let result = call(&Ls::default(), fs.clone(), &cwd, &["./home/./user/."]).await;
    assert_eq!(result.exit_code, 0, "Path with . components should work: {}", result.stderr);
}

#[tokio::test]
async fn test_ls_long_format_shows_correct_file_size() {
    // Positive test: file with known content shows correct size
    let (fs, cwd) = home_directory().await;

    // Create file with exactly 13 bytes: "hello world\n" (11 chars + newline from echo)
    let content = b"hello world\n";
    fs.write_file(&cwd.join("test.txt"), content).await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-l", "test.txt"]).await;
    assert_eq!(result.exit_code, 0);
    // File size should be 12 bytes (content.len())
    assert!(result.stdout.contains("12"), "Expected size 12 in output, got: {}", result.stdout);
}

#[tokio::test]
async fn test_ls_long_format_empty_file_shows_zero_size() {
    // Negative test: empty file shows size 0
    let (fs, cwd) = home_directory().await;

    fs.write_file(&cwd.join("empty.txt"), b"").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-l", "empty.txt"]).await;
    assert_eq!(result.exit_code, 0);
    // Empty file should show size 0
    assert!(
        result.stdout.to_string().starts_with("-rw-r--r-- 1 sandbox sandbox 0 "),
        "Expected size 0 in output, got: {}",
        result.stdout
    );
}

#[tokio::test]
async fn test_ls_long_format_directory_takes_a_page() {
    let (fs, cwd) = home_directory().await;

    fs.mkdir(&cwd.join("subdir"), false).await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-l"]).await;
    assert_eq!(result.exit_code, 0);
    let lines: Vec<&str> = result.stdout.lines().collect();
    let subdir_line = lines.iter().find(|l| l.contains("subdir")).unwrap();
    assert!(
        subdir_line.starts_with("drwxr-xr-x 2 sandbox sandbox 4096 "),
        "Expected directory size 4096, got: {}",
        subdir_line
    );
}

#[tokio::test]
async fn test_ls_long_format_multiple_files_correct_sizes() {
    // Positive test: multiple files show their respective sizes
    let (fs, cwd) = home_directory().await;

    // Create files with different sizes
    fs.write_file(&cwd.join("small.txt"), b"hi").await.unwrap(); // 2 bytes
    fs.write_file(&cwd.join("medium.txt"), b"hello world").await.unwrap(); // 11 bytes
    fs.write_file(&cwd.join("large.txt"), b"this is a longer content string for testing").await.unwrap(); // 43 bytes

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-l"]).await;
    assert_eq!(result.exit_code, 0);

    let lines: Vec<&str> = result.stdout.lines().collect();

    // Check small.txt has size 2
    let small_line = lines.iter().find(|l| l.contains("small.txt")).unwrap();
    assert!(small_line.contains(" sandbox  2 "), "Expected small.txt size 2, got: {}", small_line);

    // Check medium.txt has size 11
    let medium_line = lines.iter().find(|l| l.contains("medium.txt")).unwrap();
    assert!(medium_line.contains(" sandbox 11 "), "Expected medium.txt size 11, got: {}", medium_line);

    // Check large.txt has size 43
    let large_line = lines.iter().find(|l| l.contains("large.txt")).unwrap();
    assert!(large_line.contains(" sandbox 43 "), "Expected large.txt size 43, got: {}", large_line);
}

#[test]
fn test_glob_match_star() {
    assert!(glob_match("file.txt", "*.txt"));
    assert!(glob_match("test.txt", "*.txt"));
    assert!(!glob_match("file.md", "*.txt"));
}

#[test]
fn test_glob_match_question() {
    assert!(glob_match("ab", "a?"));
    assert!(glob_match("ac", "a?"));
    assert!(!glob_match("abc", "a?"));
}

#[test]
fn test_glob_match_exact() {
    assert!(glob_match("test", "test"));
    assert!(!glob_match("test", "other"));
}

#[test]
fn test_glob_match_star_middle() {
    assert!(glob_match("test.backup.txt", "test*.txt"));
    assert!(glob_match("test.txt", "test*.txt"));
}

/// `ls -d DIR` lists the directory entry itself, not its contents.
#[tokio::test]
async fn test_ls_directory_flag() {
    let (fs, cwd) = home_directory().await;

    fs.mkdir(&cwd.join("subdir"), false).await.unwrap();
    fs.write_file(&cwd.join("subdir/inner.txt"), b"x").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-d", "subdir"]).await;
    assert_eq!(result.exit_code, 0, "stderr: {}", result.stderr);
    assert_eq!(result.stdout, "subdir\n");
    // The directory's contents must NOT be listed.
    assert!(!result.stdout.contains("inner.txt"));
}

/// `--directory` long form behaves like `-d`.
#[tokio::test]
async fn test_ls_directory_long_flag() {
    let (fs, cwd) = home_directory().await;

    fs.mkdir(&cwd.join("d1"), false).await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["--directory", "d1"]).await;
    assert_eq!(result.exit_code, 0, "stderr: {}", result.stderr);
    assert_eq!(result.stdout, "d1\n");
}

/// `ls -d` of multiple directory args (the `ls -d */` idiom, after the
/// shell expands the glob) lists each directory entry, not their contents.
#[tokio::test]
async fn test_ls_directory_multiple() {
    let (fs, cwd) = home_directory().await;

    fs.mkdir(&cwd.join("alpha"), false).await.unwrap();
    fs.mkdir(&cwd.join("beta"), false).await.unwrap();
    fs.write_file(&cwd.join("alpha/inner.txt"), b"x").await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-d", "alpha", "beta"]).await;
    assert_eq!(result.exit_code, 0, "stderr: {}", result.stderr);
    assert!(result.stdout.contains("alpha"));
    assert!(result.stdout.contains("beta"));
    // No header lines and no descent into contents.
    assert!(!result.stdout.contains("alpha:"));
    assert!(!result.stdout.contains("inner.txt"));
}

/// `ls -dF DIR` appends the `/` classify suffix to the directory name.
#[tokio::test]
async fn test_ls_directory_classify() {
    let (fs, cwd) = home_directory().await;

    fs.mkdir(&cwd.join("mydir"), false).await.unwrap();

    let result = call(&Ls::default(), fs.clone(), &cwd, &["-d", "-F", "mydir"]).await;
    assert_eq!(result.exit_code, 0, "stderr: {}", result.stderr);
    assert_eq!(result.stdout, "mydir/\n");
}

/// `ls -l` must render the actual UTC calendar date of the mtime.
/// Regression test for the "approximate date calculation" that ignored
/// leap years (~1 day of drift per 4 years) and used 30-day months
/// (up to ±5 more days depending on the month): by 2026 an mtime of
/// July 5 rendered as `2026-07-20`.
async fn ls_long_date_for(mtime_secs: u64) -> String {
    let (fs, cwd) = home_directory().await;
    let path = cwd.join("dated.txt");
    fs.write_file(&path, b"x").await.unwrap();
    fs.set_modified_time(&path, bashkit::time_compat::UNIX_EPOCH + std::time::Duration::from_secs(mtime_secs))
        .await
        .unwrap();

    let words = ["-l", "--time-style=long-iso", "dated.txt"];
    let result = call(&Ls::default(), fs, &cwd, &words).await;
    assert_eq!(result.exit_code, 0, "stderr: {}", result.stderr);
    result.stdout.to_string()
}

#[tokio::test]
async fn test_ls_long_format_renders_exact_utc_date() {
    // 2026-07-05T20:05:00Z — the drifted code rendered 2026-07-20
    let stdout = ls_long_date_for(1_783_281_900).await;
    assert!(stdout.contains("2026-07-05 20:05"), "expected mtime rendered as 2026-07-05 20:05, got: {}", stdout);
}

#[tokio::test]
async fn test_ls_long_format_date_leap_day() {
    // 2024-02-29T12:00:00Z — a date the 30-day-month math can't produce
    let stdout = ls_long_date_for(1_709_208_000).await;
    assert!(stdout.contains("2024-02-29 12:00"), "expected leap day rendered as 2024-02-29 12:00, got: {}", stdout);
}

#[tokio::test]
async fn test_ls_long_format_date_year_boundary() {
    // 2026-12-31T23:59:00Z — days/365 overshoots into the next year here
    let stdout = ls_long_date_for(1_798_761_540).await;
    assert!(
        stdout.contains("2026-12-31 23:59"),
        "expected year boundary rendered as 2026-12-31 23:59, got: {}",
        stdout
    );
}
