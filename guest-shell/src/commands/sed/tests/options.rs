//! Tests of options.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::{out, run_sed, run_with};
use bashkit::fs::{FileSystem, InMemoryFs};

#[tokio::test]
async fn short_options_cluster_and_take_arguments() {
    assert_eq!(out(&["-ne", "p"], "a\n").await, "a\n");
    assert_eq!(out(&["-n", "-e", "1p", "-e", "2p"], "a\nb\n").await, "a\nb\n");
    assert_eq!(out(&["-nE", "s/a+/X/p"], "aa\n").await, "X\n");
    assert_eq!(out(&["--quiet", "-e", "p"], "x\n").await, "x\n");
    assert_eq!(out(&["--expression=s/x/y/"], "x\n").await, "y\n");
    assert_eq!(out(&["-n", "--expression", "p"], "x\n").await, "x\n");
}

/// Every long option and every accepted-but-inert short option, so none of
/// them can rot into "silently ignored" without a test noticing.
#[tokio::test]
async fn every_long_option_is_exercised() {
    assert_eq!(out(&["--silent", "-e", "p"], "x\n").await, "x\n");
    assert_eq!(out(&["--quiet", "-e", "p"], "x\n").await, "x\n");
    assert_eq!(out(&["--regexp-extended", "s/a+/X/"], "aa\n").await, "X\n");
    assert_eq!(out(&["--expression=s/x/y/"], "x\n").await, "y\n");
    assert_eq!(out(&["--line-length=5", "-n", "l"], "abcdefgh\n").await, "abcd\\\nefgh$\n");
    // -u / --unbuffered and --follow-symlinks are accepted and inert.
    assert_eq!(out(&["-u", "s/a/b/"], "a\n").await, "b\n");
    assert_eq!(out(&["--unbuffered", "s/a/b/"], "a\n").await, "b\n");
    assert_eq!(out(&["--follow-symlinks", "s/a/b/"], "a\n").await, "b\n");
    assert_eq!(out(&["--posix", "s/a/b/"], "a\n").await, "b\n");
    assert_eq!(out(&["--sandbox", "s/a/b/"], "a\n").await, "b\n");
    // --null-data has two spellings.
    assert_eq!(out(&["--null-data", "s/a/X/g"], "a\0a\0").await, "X\0X\0");
    assert_eq!(out(&["--zero-terminated", "s/a/X/g"], "a\0a\0").await, "X\0X\0");
}

#[tokio::test]
async fn long_option_separate_and_file() {
    let fs = Arc::new(InMemoryFs::new());
    fs.write_file(std::path::Path::new("/f1"), b"a\nb\n").await.unwrap();
    fs.write_file(std::path::Path::new("/f2"), b"c\n").await.unwrap();
    let sep = run_with(fs.clone(), &["--separate", "-n", "$p", "/f1", "/f2"], None).await;
    assert_eq!(sep.stdout, "b\nc\n");

    fs.write_file(std::path::Path::new("/sc.sed"), b"s/a/X/\n").await.unwrap();
    let from_file = run_with(fs, &["--file=/sc.sed"], Some("a\n")).await;
    assert_eq!(from_file.stdout, "X\n");
}

#[tokio::test]
async fn an_empty_script_is_a_passthrough() {
    let result = run_sed(&[""], Some("a\n")).await;
    assert_eq!((result.stdout.to_string(), result.exit_code), ("a\n".to_string(), 0));
}

#[tokio::test]
async fn double_dash_ends_option_parsing() {
    // `-e` is then the script, and `-` is not a valid command.
    let result = run_sed(&["--", "-e", "p"], Some("a\n")).await;
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.contains("unknown command: `-'"), "{}", result.stderr);
}

#[tokio::test]
async fn script_files_are_read_from_the_vfs() {
    let fs = Arc::new(InMemoryFs::new());
    fs.write_file(std::path::Path::new("/sc.sed"), b"s/a/X/\ns/X/Y/\n").await.unwrap();
    assert_eq!(run_with(fs.clone(), &["-f", "/sc.sed"], Some("a\n")).await.stdout, "Y\n");
    let missing = run_with(fs, &["-f", "/nope.sed"], Some("a\n")).await;
    assert_eq!(missing.exit_code, 4);
    assert!(missing.stderr.contains("couldn't open file"), "{}", missing.stderr);
}

#[tokio::test]
async fn unknown_options_are_rejected() {
    let result = run_sed(&["-Q", "s/a/b/"], Some("a\n")).await;
    assert_eq!(result.exit_code, 1);
    assert!(result.stderr.contains("invalid option -- 'Q'"), "{}", result.stderr);
    let long = run_sed(&["--bogus", "p"], Some("a\n")).await;
    assert_eq!(long.exit_code, 1);
    assert!(long.stderr.contains("unrecognized option '--bogus'"), "{}", long.stderr);
}

#[tokio::test]
async fn null_data_splits_on_nul() {
    assert_eq!(out(&["-z", "s/a/X/g"], "a\0a\0").await, "X\0X\0");
}

#[tokio::test]
async fn script_file_ending_in_backslash_newline_inserts_an_empty_line() {
    // `i\` + newline as the last line of a script file is an empty text
    // line in GNU sed; only a bare `i\` at the very end adds nothing.
    let fs = Arc::new(InMemoryFs::new());
    fs.write_file(std::path::Path::new("/in1"), b"/foo/i\\\n").await.unwrap();
    let r = run_with(fs, &["-f", "/in1"], Some("bar\nfoo\n")).await;
    assert_eq!(r.stdout, "bar\n\nfoo\n");
}

#[tokio::test]
async fn null_data_joins_lines_with_nul() {
    assert_eq!(out(&["-z", "N;N;s/^/X/g;s/^/X/mg;s/$/Y/g;s/$/Y/mg"], "a\0b\0c\0").await, "XXaY\0XbY\0XcYY\0");
    assert_eq!(out(&["-z", "H;$!d;x"], "a\0b\0").await, "\0a\0b\0");
}

#[tokio::test]
async fn command_without_its_file_is_an_error() {
    for command in ["r", "R", "w", "W ", "s/a/b/w"] {
        let result = run_sed(&[command], Some("a\n")).await;
        assert_eq!(result.exit_code, 1, "{command}");
        assert!(result.stderr.contains("missing filename in r/R/w/W commands"), "{command}: {}", result.stderr);
    }
}
