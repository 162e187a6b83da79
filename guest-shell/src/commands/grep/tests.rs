//! Tests of `grep` as a command.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::Grep;
use bashkit::builtins::{Builtin, Context};
use bashkit::fs::{FileSystem, InMemoryFs, OverlayFs};
use bashkit::{ExecResult, Result};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

async fn run_grep(args: &[&str], stdin: Option<&str>) -> Result<ExecResult> {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: crate::commands::testing::test_stream_opt(stdin),
        shell: None,
    };

    grep.execute(ctx).await
}

#[tokio::test]
async fn test_grep_basic() {
    let result = run_grep(&["hello"], Some("hello world\ngoodbye world")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "hello world\n");
}

#[tokio::test]
async fn test_grep_invalid_option() {
    let result = run_grep(&["-Q", "hello"], Some("hello world")).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("invalid option -- 'Q'"));
}

#[tokio::test]
async fn test_grep_no_match() {
    let result = run_grep(&["xyz"], Some("hello world\ngoodbye world")).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "");
}

#[tokio::test]
async fn test_grep_case_insensitive() {
    let result = run_grep(&["-i", "HELLO"], Some("Hello World\ngoodbye")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "Hello World\n");
}

#[tokio::test]
async fn test_grep_invert() {
    let result = run_grep(&["-v", "hello"], Some("hello\nworld\nhello again")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "world\n");
}

#[tokio::test]
async fn test_grep_line_numbers() {
    let result = run_grep(&["-n", "world"], Some("hello\nworld\nfoo")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "2:world\n");
}

#[tokio::test]
async fn test_grep_count() {
    let result = run_grep(&["-c", "o"], Some("hello\nworld\nfoo")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "3\n");
}

#[tokio::test]
async fn test_grep_regex() {
    let result = run_grep(&["^h.*o$"], Some("hello\nworld\nhero")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "hello\nhero\n");
}

#[tokio::test]
async fn test_grep_fixed_string() {
    let result = run_grep(&["-F", "a.b"], Some("a.b\naxb\na.b.c")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "a.b\na.b.c\n");
}

#[tokio::test]
async fn test_grep_only_matching() {
    let result = run_grep(&["-o", "world"], Some("hello world\n")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "world\n");
}

#[tokio::test]
async fn test_grep_only_matching_multiple() {
    let result = run_grep(&["-o", "o"], Some("hello world\nfoo")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "o\no\no\no\n");
}

#[tokio::test]
async fn test_grep_only_matching_max_count_counts_lines() {
    // GNU: -m counts selected lines; -o still prints every match of the
    // last allowed line.
    let result = run_grep(&["-om1", "."], Some("ab\ncd\n")).await.unwrap();

    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "a\nb\n");
}

#[tokio::test]
async fn test_grep_word_boundary() {
    let result = run_grep(&["-w", "foo"], Some("foo\nfoobar\nbar foo baz")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "foo\nbar foo baz\n");
}

#[tokio::test]
async fn test_grep_word_boundary_no_match() {
    let result = run_grep(&["-w", "bar"], Some("foobar\nbarbaz")).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "");
}

#[tokio::test]
async fn test_grep_files_with_matches_stdin() {
    let result = run_grep(&["-l", "foo"], Some("foo\nbar")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "(standard input)\n");
}

#[tokio::test]
async fn test_grep_recursive_include() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/dir"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/dir/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/dir/b.log"), b"hello\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-r", "--include=*.txt", "hello", "/dir"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/dir/a.txt:hello"));
    assert!(!result.stdout.contains("b.log"));
}

// Issue #2425: `grep -r` prints the paths it walks, so a relative operand
// resolved against the cwd and every directory entry below it must stay
// `/`-separated even where the host separator is `\`.
#[tokio::test]
async fn windows_containment_grep_recursive_prints_slash_separated_paths() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/d/proj/src"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/d/proj/src/main.rs"), b"fn main() {}\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/d/proj");
    let args: Vec<String> = ["-r", "main", "src"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.starts_with("src/main.rs:"), "match path is not slash-separated:\n{}", result.stdout);
    assert!(!result.stdout.contains('\\'), "output leaked a host separator:\n{}", result.stdout);
}

#[tokio::test]
async fn test_grep_recursive_single_file() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/data"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/data/test.md"), b"hello world\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-r", "hello", "/data/test.md"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0, "grep -r on a single file should match");
    assert!(
        result.stdout.contains("hello world"),
        "expected 'hello world' in stdout, got: {:?}", // debug-ok: assert-failure message
        result.stdout
    );
}

/// Regression: grep -r on a single file with OverlayFs returned empty
/// because OverlayFs::read_dir returned Ok(vec![]) for files instead of Err.
#[tokio::test]
async fn test_grep_recursive_single_file_overlay() {
    let grep = Grep;
    let base = Arc::new(InMemoryFs::new());
    let fs: Arc<dyn FileSystem> = Arc::new(OverlayFs::new(base));
    fs.mkdir(&PathBuf::from("/data"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/data/test.md"), b"hello world\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-r", "hello", "/data/test.md"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0, "grep -r on single file via OverlayFs");
    assert!(
        result.stdout.contains("hello world"),
        "expected 'hello world' in stdout, got: {:?}", // debug-ok: assert-failure message
        result.stdout
    );
}

#[tokio::test]
async fn test_grep_recursive_exclude() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/dir"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/dir/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/dir/b.log"), b"hello\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-r", "--exclude=*.log", "hello", "/dir"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/dir/a.txt:hello"));
    assert!(!result.stdout.contains("b.log"));
}

// -L (--files-without-match) tests

#[tokio::test]
async fn test_grep_files_without_match_stdin() {
    let result = run_grep(&["-L", "xyz"], Some("foo\nbar")).await.unwrap();
    // GNU: the name is printed, but no match was found, so the status is 1.
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "(standard input)\n");
}

#[tokio::test]
async fn test_grep_files_without_match_stdin_has_match() {
    let result = run_grep(&["-L", "foo"], Some("foo\nbar")).await.unwrap();
    // GNU: -L prints nothing here, but a match *was* found, so status 0.
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "");
}

#[tokio::test]
async fn test_grep_files_without_match_long_flag() {
    let result = run_grep(&["--files-without-match", "xyz"], Some("foo\nbar")).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "(standard input)\n");
}

#[tokio::test]
async fn test_grep_files_without_match_with_files() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/dir"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/dir/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/dir/b.txt"), b"world\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-L", "hello", "/dir/a.txt", "/dir/b.txt"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "/dir/b.txt\n");
}

// --exclude-dir tests

#[tokio::test]
async fn test_grep_exclude_dir() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/proj/src"), true).await.unwrap();
    fs.mkdir(&PathBuf::from("/proj/vendor"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/proj/src/main.rs"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/proj/vendor/lib.rs"), b"hello\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-r", "--exclude-dir=vendor", "hello", "/proj"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/proj/src/main.rs:hello"));
    assert!(!result.stdout.contains("vendor"));
}

#[tokio::test]
async fn test_grep_exclude_dir_glob() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.mkdir(&PathBuf::from("/proj/src"), true).await.unwrap();
    fs.mkdir(&PathBuf::from("/proj/.git"), true).await.unwrap();
    fs.write_file(&PathBuf::from("/proj/src/main.rs"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/proj/.git/config"), b"hello\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-r", "--exclude-dir=.*", "hello", "/proj"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert!(result.stdout.contains("/proj/src/main.rs:hello"));
    assert!(!result.stdout.contains(".git"));
}

// -s (--no-messages) tests

#[tokio::test]
async fn test_grep_suppress_errors() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-s", "hello", "/nonexistent"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    // GNU grep: -s silences the message but not the status.
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, "");
}

#[tokio::test]
async fn test_grep_no_suppress_errors() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["hello", "/nonexistent"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    // GNU grep: the diagnostic goes to stderr, never into the data
    // stream, and an unreadable operand is status 2, not "no match".
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, "grep: /nonexistent: No such file or directory\n");
}

#[tokio::test]
async fn test_grep_suppress_errors_long_flag() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["--no-messages", "hello", "/nonexistent"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    // --no-messages is the long form of -s: same status 2.
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, "");
}

// -Z (--null) tests

#[tokio::test]
async fn test_grep_null_filename_with_l() {
    let result = run_grep(&["-lZ", "foo"], Some("foo\nbar")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "(standard input)\0");
}

#[tokio::test]
async fn test_grep_null_filename_with_big_l() {
    let result = run_grep(&["-LZ", "xyz"], Some("foo\nbar")).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "(standard input)\0");
}

#[tokio::test]
async fn test_grep_null_filename_with_h() {
    let grep = Grep;
    let fs = Arc::new(InMemoryFs::new());
    fs.write_file(&PathBuf::from("/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/b.txt"), b"hello\n").await.unwrap();

    let mut vars = HashMap::new();
    let mut cwd = PathBuf::from("/");
    let args: Vec<String> = ["-Z", "hello", "/a.txt", "/b.txt"].iter().map(|s| s.to_string()).collect();

    let ctx = Context {
        args: &args,
        env: &HashMap::new(),
        variables: &mut vars,
        cwd: &mut cwd,
        fs,
        stdin: None,
        shell: None,
    };

    let result = grep.execute(ctx).await.unwrap();
    assert_eq!(result.exit_code, 0);
    // -Z uses \0 after filename instead of :
    assert!(result.stdout.contains("/a.txt\0hello"));
    assert!(result.stdout.contains("/b.txt\0hello"));
}

#[tokio::test]
async fn test_grep_null_filename_long_flag() {
    let result = run_grep(&["-l", "--null", "foo"], Some("foo\nbar")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "(standard input)\0");
}

// TM-INF-022: malformed-regex stderr must not leak `regex` crate Debug.
#[tokio::test]
async fn no_leak_invalid_regex() {
    let r = crate::commands::testing::run(r"echo 1 | grep -E '['").await;
    crate::commands::testing::assert_no_leak(&r, "grep_invalid_regex", &["regex::Error", "ParseError {"]);
}

// -P (PCRE via fancy-regex) capability tests.

#[tokio::test]
async fn test_grep_perl_lookahead() {
    // Lookahead is unsupported by the default `regex` engine; -P must
    // route to fancy-regex. Match "foo" only when followed by "bar".
    let result = run_grep(&["-oP", r"foo(?=bar)"], Some("foobar\nfoobaz\nfoo")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "foo\n");
}

#[tokio::test]
async fn test_grep_perl_backreference() {
    // Backreferences are rejected by `regex`; fancy-regex accepts them.
    let result = run_grep(&["-P", r"(\w+) \1"], Some("hello hello\nhello world")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "hello hello\n");
}

#[tokio::test]
async fn test_grep_perl_lookbehind() {
    let result = run_grep(&["-oP", r"(?<=\$)\d+"], Some("price $42 and 99")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "42\n");
}

#[tokio::test]
async fn test_grep_perl_long_flag() {
    let result = run_grep(&["--perl-regexp", r"\d{3}"], Some("ab12\nxy345")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "xy345\n");
}

#[tokio::test]
async fn test_grep_pattern_type_extended_then_perl_last_wins() {
    // -E then -P: perl wins, so the backreference compiles and matches.
    let result = run_grep(&["-E", "-P", r"(.)\1"], Some("aa\nab")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "aa\n");
}

#[tokio::test]
async fn test_grep_pattern_type_perl_then_extended_last_wins() {
    // -P then -E: extended wins. GNU ERE supports back-references too,
    // but `\d` would be a literal `d`, not a digit.
    let result = run_grep(&["-P", "-E", r"\d"], Some("d\n1\n")).await.unwrap();
    assert_eq!(result.stdout, "d\n");
}

#[tokio::test]
async fn test_grep_pattern_type_long_options_last_wins() {
    // --perl-regexp then --extended-regexp: extended wins -> `\d` is `d`.
    let result = run_grep(&["--perl-regexp", "--extended-regexp", r"\d"], Some("d\n1\n")).await.unwrap();
    assert_eq!(result.stdout, "d\n");
}

#[tokio::test]
async fn test_grep_pattern_type_perl_then_fixed_last_wins() {
    // -P then -F: fixed wins, so the pattern is matched literally.
    let result = run_grep(&["-P", "-F", r"a.b"], Some("a.b\naxb")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "a.b\n");
}

#[tokio::test]
async fn test_grep_perl_invalid_pattern_errors() {
    // Unbalanced group: fancy-regex rejects it; we surface an error, not a
    // panic, and must not leak the engine's Debug shape.
    let result = run_grep(&["-P", "(foo"], Some("foo")).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.starts_with("grep: "));
    assert!(!result.stderr.contains("Error {"));
}

// GNU long-option alias capability tests.

#[tokio::test]
async fn test_grep_long_ignore_case() {
    let result = run_grep(&["--ignore-case", "HELLO"], Some("Hello World\ngoodbye")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "Hello World\n");
}

#[tokio::test]
async fn test_grep_long_invert_and_line_number() {
    let result =
        run_grep(&["--invert-match", "--line-number", "hello"], Some("hello\nworld\nhello again")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "2:world\n");
}

#[tokio::test]
async fn test_grep_long_max_count_inline() {
    let result = run_grep(&["--max-count=2", "o"], Some("foo\nbar\nboo\nzoo")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "foo\nboo\n");
}

#[tokio::test]
async fn test_grep_long_max_count_separate_arg() {
    // Space-separated value form: `--max-count 1`.
    let result = run_grep(&["--max-count", "1", "o"], Some("foo\nboo\nzoo")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "foo\n");
}

#[tokio::test]
async fn test_grep_long_regexp_multiple() {
    let result = run_grep(&["--regexp=foo", "--regexp", "baz"], Some("foo\nbar\nbaz")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "foo\nbaz\n");
}

#[tokio::test]
async fn test_grep_long_fixed_strings() {
    let result = run_grep(&["--fixed-strings", "a.b"], Some("a.b\naxb")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "a.b\n");
}

#[tokio::test]
async fn test_grep_long_word_regexp() {
    let result = run_grep(&["--word-regexp", "foo"], Some("foo\nfoobar\nbar foo")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "foo\nbar foo\n");
}

#[tokio::test]
async fn test_grep_long_missing_value_errors() {
    let result = run_grep(&["--max-count"], Some("foo")).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.starts_with("grep: option '--max-count' requires an argument\n"));
}

#[tokio::test]
async fn test_grep_only_matching_byte_offset() {
    // -b with -o reports the byte offset of the match, not the line start.
    let result = run_grep(&["-ob", "bar"], Some("foobar\n")).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "3:bar\n");
}

#[tokio::test]
async fn test_grep_perl_catastrophic_backtrack_is_bounded() {
    // TM-DOS-025: a classic catastrophic-backtracking pattern against a
    // long non-matching line must terminate (here without backtracking)
    // rather than hang the sandbox.
    let haystack = format!("{}!", "a".repeat(40));
    let result = run_grep(&["-P", r"(a+)+$"], Some(&haystack)).await.unwrap();
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "");
}

#[tokio::test]
async fn test_grep_bre_backreference_backtracking_is_bounded() {
    // TM-DOS-025: BRE back-references run on the backtracking engine;
    // a pathological pattern must still terminate.
    let haystack = format!("{}!", "a".repeat(40));
    let result = run_grep(&[r"\(a*\)*\1b$"], Some(&haystack)).await.unwrap();
    assert_eq!(result.exit_code, 2);
}

#[tokio::test]
async fn test_grep_invalid_pattern_messages_have_no_debug_shape() {
    for (flag, pat) in [("-G", r"\("), ("-E", "["), ("-G", r"a\{1"), ("-E", "a{2,1}")] {
        let result = run_grep(&[flag, pat], Some("a")).await.unwrap();
        assert_eq!(result.exit_code, 2, "{pat}");
        assert!(result.stderr.starts_with("grep: "), "{pat}");
        assert!(!result.stderr.contains("Error"), "{pat}");
        assert!(result.stderr.len() < 1024);
    }
}
