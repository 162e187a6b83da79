//! Tests of output.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::path::PathBuf;
use std::sync::Arc;

use super::{run_grep, run_grep_on};
use bashkit::fs::{FileSystem, InMemoryFs};

#[tokio::test]
async fn grep_with_options_prints_matches() {
    for (args, stdin, stdout, status) in [
        (&["hello"][..], "hello world\ngoodbye world", "hello world\n", 0),
        (&["xyz"], "hello world\ngoodbye world", "", 1),
        (&["-i", "HELLO"], "Hello World\ngoodbye", "Hello World\n", 0),
        (&["-v", "hello"], "hello\nworld\nhello again", "world\n", 0),
        (&["-n", "world"], "hello\nworld\nfoo", "2:world\n", 0),
        (&["-c", "o"], "hello\nworld\nfoo", "3\n", 0),
        (&["^h.*o$"], "hello\nworld\nhero", "hello\nhero\n", 0),
        (&["-F", "a.b"], "a.b\naxb\na.b.c", "a.b\na.b.c\n", 0),
        (&["-o", "world"], "hello world\n", "world\n", 0),
        (&["-o", "o"], "hello world\nfoo", "o\no\no\no\n", 0),
        (&["-w", "foo"], "foo\nfoobar\nbar foo baz", "foo\nbar foo baz\n", 0),
        (&["-w", "bar"], "foobar\nbarbaz", "", 1),
        (&["-l", "foo"], "foo\nbar", "(standard input)\n", 0),
        (&["--files-without-match", "xyz"], "foo\nbar", "(standard input)\n", 1),
        (&["-lZ", "foo"], "foo\nbar", "(standard input)\0", 0),
        (&["-LZ", "xyz"], "foo\nbar", "(standard input)\0", 1),
        (&["-l", "--null", "foo"], "foo\nbar", "(standard input)\0", 0),
        // Lookahead is unsupported by the default `regex` engine; -P must
        // route to fancy-regex. Match "foo" only when followed by "bar".
        (&["-oP", r"foo(?=bar)"], "foobar\nfoobaz\nfoo", "foo\n", 0),
        // Backreferences are rejected by `regex`; fancy-regex accepts them.
        (&["-P", r"(\w+) \1"], "hello hello\nhello world", "hello hello\n", 0),
        (&["-oP", r"(?<=\$)\d+"], "price $42 and 99", "42\n", 0),
        (&["--perl-regexp", r"\d{3}"], "ab12\nxy345", "xy345\n", 0),
        // -E then -P: perl wins, so the backreference compiles and matches.
        (&["-E", "-P", r"(.)\1"], "aa\nab", "aa\n", 0),
        // -P then -F: fixed wins, so the pattern is matched literally.
        (&["-P", "-F", r"a.b"], "a.b\naxb", "a.b\n", 0),
        (&["--ignore-case", "HELLO"], "Hello World\ngoodbye", "Hello World\n", 0),
        (&["--invert-match", "--line-number", "hello"], "hello\nworld\nhello again", "2:world\n", 0),
        (&["--max-count=2", "o"], "foo\nbar\nboo\nzoo", "foo\nboo\n", 0),
        // Space-separated value form: `--max-count 1`.
        (&["--max-count", "1", "o"], "foo\nboo\nzoo", "foo\n", 0),
        (&["--regexp=foo", "--regexp", "baz"], "foo\nbar\nbaz", "foo\nbaz\n", 0),
        (&["--fixed-strings", "a.b"], "a.b\naxb", "a.b\n", 0),
        (&["--word-regexp", "foo"], "foo\nfoobar\nbar foo", "foo\nbar foo\n", 0),
        // -b with -o reports the byte offset of the match, not the line start.
        (&["-ob", "bar"], "foobar\n", "3:bar\n", 0),
    ] {
        let result = run_grep(args, Some(stdin)).await.unwrap();
        assert_eq!((&*result.stdout, result.exit_code), (stdout, status), "{args:?}");
    }
}

#[tokio::test]
async fn grep_only_matching_max_count_counts_lines() {
    // GNU: -m counts selected lines; -o still prints every match of the
    // last allowed line.
    let result = run_grep(&["-om1", "."], Some("ab\ncd\n")).await.unwrap();

    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "a\nb\n");
}

#[tokio::test]
async fn grep_files_without_match_stdin() {
    let result = run_grep(&["-L", "xyz"], Some("foo\nbar")).await.unwrap();
    // GNU: the name is printed, but no match was found, so the status is 1.
    assert_eq!(result.exit_code, 1);
    assert_eq!(result.stdout, "(standard input)\n");
}

#[tokio::test]
async fn grep_files_without_match_stdin_has_match() {
    let result = run_grep(&["-L", "foo"], Some("foo\nbar")).await.unwrap();
    // GNU: -L prints nothing here, but a match *was* found, so status 0.
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "");
}

#[tokio::test]
async fn grep_null_filename_with_h() {
    let fs = Arc::new(InMemoryFs::new());
    fs.write_file(&PathBuf::from("/a.txt"), b"hello\n").await.unwrap();
    fs.write_file(&PathBuf::from("/b.txt"), b"hello\n").await.unwrap();

    let result = run_grep_on(fs, &["-Z", "hello", "/a.txt", "/b.txt"], None).await.unwrap();
    assert_eq!(result.exit_code, 0);
    // -Z uses \0 after filename instead of :
    assert!(result.stdout.contains("/a.txt\0hello"));
    assert!(result.stdout.contains("/b.txt\0hello"));
}
