//! Tests of redirected output, and of limits on output.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::{run_awk, run_awk_on, run_awk_with_fs};
use crate::commands::awk::bounds::{MAX_OUTPUT_BYTES, MAX_OUTPUT_TARGETS};
use bashkit::fs::{FileSystem, InMemoryFs};

#[tokio::test]
async fn awk_print_redirect_truncate() {
    // print ... > file should create file with content
    let (result, fs) = run_awk_with_fs(&[r#"BEGIN{print "hello" > "/tmp/out"}"#], None).await;
    let result = result.unwrap();
    assert_eq!(result.exit_code, 0);
    // stdout should be empty (output went to file)
    assert_eq!(result.stdout, "");
    let content = fs.read_file(std::path::Path::new("/tmp/out")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&content), "hello\n");
}

#[tokio::test]
async fn awk_printf_redirect_truncate() {
    // printf ... > file should create file with content
    let (result, fs) = run_awk_with_fs(&[r#"BEGIN{printf "hello" > "/tmp/out"}"#], None).await;
    let result = result.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "");
    let content = fs.read_file(std::path::Path::new("/tmp/out")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&content), "hello");
}

#[tokio::test]
async fn awk_print_redirect_append() {
    // print ... >> file should append
    let (result, fs) = run_awk_with_fs(&[r#"BEGIN{print "a" > "/tmp/out"; print "b" >> "/tmp/out"}"#], None).await;
    let result = result.unwrap();
    assert_eq!(result.exit_code, 0);
    let content = fs.read_file(std::path::Path::new("/tmp/out")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&content), "a\nb\n");
}

#[tokio::test]
async fn awk_print_redirect_multiple_to_same_file() {
    // Multiple prints to same file with > should accumulate (AWK keeps file open)
    let (result, fs) =
        run_awk_with_fs(&[r#"BEGIN{print "line1" > "/tmp/out"; print "line2" > "/tmp/out"}"#], None).await;
    let result = result.unwrap();
    assert_eq!(result.exit_code, 0);
    let content = fs.read_file(std::path::Path::new("/tmp/out")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&content), "line1\nline2\n");
}

#[tokio::test]
async fn awk_print_redirect_pipe_needs_plan_driver() {
    // Direct `execute` has no shell to run commands: clear message, and
    // the output pipe's command reports 127. The shell path goes through
    // the plan driver (see the spec tests).
    let (result, _fs) = run_awk_with_fs(&[r#"BEGIN{print "hello" | "cat"; print close("cat")}"#], None).await;
    let result = result.unwrap();
    assert_eq!(result.stdout, "127\n");
    assert!(result.stderr.contains("running commands is not supported"), "got: {}", result.stderr);
}

#[tokio::test]
async fn awk_output_limit_exceeded() {
    // Each iteration prints a 1000-char line. 100k iters = ~100MB >> 10MB limit.
    let result =
        run_awk(&[r#"BEGIN { s = sprintf("%1000s", "x"); for(i=0;i<100000;i++) print s }"#], None).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("output limit exceeded"), "stderr should mention output limit: {}", result.stderr);
    assert!(result.stdout.len() <= 11_000_000, "stdout should be bounded: {} bytes", result.stdout.len());
}

#[tokio::test]
async fn awk_single_write_over_limit_rejected() {
    // One oversized record must be rejected before buffering stdout.
    // Use MAX_OUTPUT_BYTES + 1 with printf (no ORS) so the write is
    // unambiguously over the cap regardless of newline/ORS behavior.
    let input = "x".repeat(MAX_OUTPUT_BYTES + 1);
    let result = run_awk(&[r#"{ printf "%s", $0 }"#], Some(&input)).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("output limit exceeded"), "stderr should mention output limit: {}", result.stderr);
    assert_eq!(result.stdout.len(), 0);
}

#[tokio::test]
async fn awk_output_under_limit_ok() {
    // Small output well under 10MB should succeed normally
    let result = run_awk(&[r#"BEGIN { for(i=0;i<100;i++) print "hello" }"#], None).await.unwrap();
    assert_eq!(result.exit_code, 0);
    let lines: Vec<&str> = result.stdout.trim().split('\n').collect();
    assert_eq!(lines.len(), 100);
}

#[tokio::test]
async fn awk_file_redirect_output_limit() {
    // File redirect output should also be bounded
    let result =
        run_awk(&[r#"BEGIN { s = sprintf("%1000s", "x"); for(i=0;i<100000;i++) print s > "/tmp/out" }"#], None)
            .await
            .unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(result.stderr.contains("output limit exceeded"), "stderr should mention output limit: {}", result.stderr);
}

#[tokio::test]
async fn awk_file_redirect_target_limit() {
    // Many tiny writes to unique paths must be capped by the distinct-target guard.
    let program = format!(r#"BEGIN {{ for(i=0;i<{};i++) print "x" > ("/tmp/out" i) }}"#, MAX_OUTPUT_TARGETS + 1);
    let result = run_awk(&[&program], None).await.unwrap();
    assert_eq!(result.exit_code, 2);
    assert!(
        result.stderr.contains("too many output redirection targets"),
        "stderr should mention target limit: {}",
        result.stderr
    );
}

#[tokio::test]
async fn awk_file_redirect_streams_vfs_file_size_limit() {
    // Redirected output must hit VFS quotas while AWK is still executing,
    // not after collecting an oversized in-memory buffer.
    use bashkit::fs::FsLimits;

    let limits = FsLimits { max_file_size: 100, ..FsLimits::unlimited() };
    let fs = Arc::new(InMemoryFs::with_limits(limits));
    let result =
        run_awk_on(&[r#"BEGIN { for(i=0;i<20;i++) print "abcdef" > "/tmp/out" }"#], None, fs.clone()).await.unwrap();

    assert_eq!(result.exit_code, 2);
    assert!(
        result.stderr.contains("cannot write /tmp/out"),
        "stderr should mention redirected write failure: {}",
        result.stderr
    );
    let content = fs.read_file(std::path::Path::new("/tmp/out")).await.unwrap();
    assert!(content.len() <= 100, "VFS file limit should be enforced incrementally: {} bytes", content.len());
}

#[tokio::test]
async fn awk_many_redirected_writes_reuse_single_writer() {
    // A tight redirect loop streams every line through the one reusable writer
    // thread (no thread/runtime per write). Verify the appends all land.
    let fs = Arc::new(InMemoryFs::new());
    let result =
        run_awk_on(&[r#"BEGIN { for (i = 0; i < 500; i++) print i >> "/tmp/log" }"#], None, fs.clone()).await.unwrap();

    assert_eq!(result.exit_code, 0, "stderr: {}", result.stderr);
    let content = fs.read_file(std::path::Path::new("/tmp/log")).await.unwrap();
    let lines = String::from_utf8(content).unwrap();
    assert_eq!(lines.lines().count(), 500);
    assert_eq!(lines.lines().next(), Some("0"));
    assert_eq!(lines.lines().last(), Some("499"));
}

#[tokio::test]
async fn awk_dev_null_redirect_does_not_count_against_output_limit() {
    // /dev/null is discarded before any AWK-side redirect buffering.
    let result = run_awk(
        // 15 MB through /dev/null, with every loop under the iteration cap.
        &[r#"BEGIN { s = sprintf("%1000s", "x"); for(j=0;j<3;j++) for(i=0;i<5000;i++) print s > "/dev/null"; print "done" }"#],
        None,
    )
    .await
    .unwrap();

    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, "done\n");
    assert_eq!(result.stderr, "");
}
