//! Tests of `getline`, and of its limits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::{check, run_awk_on, run_awk_with_file};
use crate::commands::awk::bounds::{MAX_GETLINE_CACHE_BYTES, MAX_GETLINE_CACHED_FILES, MAX_GETLINE_FILE_BYTES};
use bashkit::fs::{FileSystem, InMemoryFs};

#[tokio::test]
async fn getline_reads_the_next_record() {
    check(&[
        (&["{getline; print}"], "line1\nline2", "line2\n"),
        (&["{getline; print $1}"], "a b\nc d", "c\n"),
        // getline at EOF should keep current $0
        (&["{getline; print}"], "only", "only\n"),
        // getline from non-existent file should not crash (returns -1 / empty)
        (&[r#"BEGIN{getline x < "/no/such/file"; print "ok"}"#], "", "ok\n"),
    ])
    .await;
}

#[tokio::test]
async fn awk_getline_file_into_var() {
    // getline var < "file" reads lines one at a time
    let result = run_awk_with_file(
        &[r#"BEGIN{while((getline line < "/tmp/data.txt") > 0) print line}"#],
        None,
        "/tmp/data.txt",
        "alpha\nbeta\ngamma",
    )
    .await
    .unwrap();
    assert_eq!(result.stdout, "alpha\nbeta\ngamma\n");
}

#[tokio::test]
async fn awk_getline_file_no_var() {
    // getline < "file" without variable updates $0
    let result =
        run_awk_with_file(&[r#"BEGIN{getline < "/tmp/data.txt"; print}"#], None, "/tmp/data.txt", "first\nsecond")
            .await
            .unwrap();
    assert_eq!(result.stdout, "first\n");
}

#[tokio::test]
async fn awk_getline_file_eof() {
    // getline at EOF keeps variable unchanged
    let result = run_awk_with_file(
        &[r#"BEGIN{getline x < "/tmp/f.txt"; getline x < "/tmp/f.txt"; print x}"#],
        None,
        "/tmp/f.txt",
        "only",
    )
    .await
    .unwrap();
    assert_eq!(result.stdout, "only\n");
}

#[tokio::test]
async fn awk_getline_file_cache_limit_exceeded() {
    // Opening more than MAX_GETLINE_CACHED_FILES distinct files must fail
    // gracefully (getline returns -1 for new files beyond the limit).
    use bashkit::fs::FsLimits;

    let limits = FsLimits { max_file_count: 200_000, max_total_bytes: 200_000_000, ..FsLimits::default() };
    let fs = Arc::new(InMemoryFs::with_limits(limits));
    let count = MAX_GETLINE_CACHED_FILES + 5;
    for i in 0..count {
        fs.write_file(std::path::Path::new(&format!("/tmp/f{i}.txt")), format!("line{i}").as_bytes()).await.unwrap();
    }

    // AWK program: read one line from each file, count successes
    let program = format!(
        r#"BEGIN{{ ok=0; for(i=0;i<{count};i++) {{ f="/tmp/f"i".txt"; if((getline x < f)>0) ok++ }} print ok }}"#,
    );
    let result = run_awk_on(&[&program], None, fs.clone()).await.unwrap();
    // Opening one file past the cap is fatal, not a silent -1.
    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert_eq!(result.stderr, format!("awk: fatal: getline open file limit ({MAX_GETLINE_CACHED_FILES}) exceeded\n"));

    // close() releases each input, so the same loop stays under the cap.
    let program = format!(
        r#"BEGIN{{ ok=0; for(i=0;i<{count};i++) {{ f="/tmp/f"i".txt"; if((getline x < f)>0) ok++; close(f) }} print ok }}"#,
    );
    let result = run_awk_on(&[&program], None, fs).await.unwrap();
    assert_eq!(result.exit_code, 0);
    assert_eq!(result.stdout, format!("{count}\n"));
}

#[tokio::test]
async fn awk_getline_file_cache_within_limit() {
    // Opening a reasonable number of files should all succeed.
    let fs = Arc::new(InMemoryFs::new());
    let count = 10;
    for i in 0..count {
        fs.write_file(std::path::Path::new(&format!("/tmp/f{i}.txt")), format!("data{i}").as_bytes()).await.unwrap();
    }

    let program = format!(
        r#"BEGIN{{ ok=0; for(i=0;i<{count};i++) {{ f="/tmp/f"i".txt"; if((getline x < f)>0) ok++ }} print ok }}"#,
    );
    let result = run_awk_on(&[&program], None, fs).await.unwrap();
    let ok: usize = result.stdout.trim().parse().unwrap();
    assert_eq!(ok, count);
}

#[tokio::test]
async fn awk_getline_file_size_limit() {
    // A file exceeding FsLimits::max_file_size is rejected by getline.
    // Defense-in-depth: VFS also enforces limits, so a file at exactly
    // the boundary is accepted while one over is rejected at VFS level.
    use bashkit::fs::FsLimits;

    let limits = FsLimits { max_file_size: 100, ..FsLimits::unlimited() };
    let fs = Arc::new(InMemoryFs::with_limits(limits));
    // Write a file within limits -- should be readable via getline.
    fs.write_file(std::path::Path::new("/tmp/ok.txt"), &[b'a'; 100]).await.unwrap();
    // Attempt to write an oversized file -- VFS rejects it, so getline
    // returns -1 (file not found).
    let _ = fs.write_file(std::path::Path::new("/tmp/big.txt"), &[b'x'; 101]).await;

    // Within-limit file succeeds
    let result = run_awk_on(&[r#"BEGIN{r=(getline x < "/tmp/ok.txt"); print r}"#], None, fs.clone()).await.unwrap();
    assert_eq!(result.stdout, "1\n");

    // Over-limit file fails (not stored by VFS)
    let result = run_awk_on(&[r#"BEGIN{r=(getline x < "/tmp/big.txt"); print r}"#], None, fs).await.unwrap();
    assert_eq!(result.stdout, "-1\n");
}

#[tokio::test]
async fn awk_getline_streams_are_keyed_by_name() {
    let fs = Arc::new(InMemoryFs::new());
    fs.write_file(std::path::Path::new("/tmp/data.txt"), b"one\ntwo\n").await.unwrap();

    let result = run_awk_on(
        &[r#"BEGIN{
            r1=(getline a < "/tmp/data.txt");
            r2=(getline b < "/tmp/./data.txt");
            r3=(getline c < "/tmp/././data.txt");
            print r1, a; print r2, b; print r3
        }"#],
        None,
        fs,
    )
    .await
    .unwrap();

    // gawk keys redirections by the name as written: each spelling is its
    // own stream (each still counts toward the open-file and byte caps).
    assert_eq!(result.stdout, "1 one\n1 one\n1\n");
}

#[tokio::test]
async fn awk_getline_file_builtin_size_limit() {
    let fs = Arc::new(InMemoryFs::with_limits(bashkit::fs::FsLimits::unlimited()));
    fs.write_file(std::path::Path::new("/tmp/big.txt"), &vec![b'x'; MAX_GETLINE_FILE_BYTES + 1]).await.unwrap();

    let result = run_awk_on(&[r#"BEGIN{r=(getline x < "/tmp/big.txt"); print r}"#], None, fs).await.unwrap();

    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert!(result.stderr.contains("getline input file size limit (10000000 bytes) exceeded"));
}

#[tokio::test]
async fn awk_getline_file_total_cache_byte_limit() {
    let fs = Arc::new(InMemoryFs::with_limits(bashkit::fs::FsLimits::unlimited()));
    let chunk = MAX_GETLINE_CACHE_BYTES / 2 + 1;
    fs.write_file(std::path::Path::new("/tmp/a.txt"), &vec![b'a'; chunk]).await.unwrap();
    fs.write_file(std::path::Path::new("/tmp/b.txt"), &vec![b'b'; chunk]).await.unwrap();

    let result = run_awk_on(
        &[r#"BEGIN{r1=(getline a < "/tmp/a.txt"); r2=(getline b < "/tmp/b.txt"); print r1, r2}"#],
        None,
        fs.clone(),
    )
    .await
    .unwrap();

    assert_eq!(result.exit_code, 2);
    assert_eq!(result.stdout, "");
    assert!(result.stderr.contains("getline total input limit (10000000 bytes) exceeded"));

    // Closing the first input frees its bytes for the second.
    let result = run_awk_on(
        &[r#"BEGIN{r1=(getline a < "/tmp/a.txt"); close("/tmp/a.txt"); r2=(getline b < "/tmp/b.txt"); print r1, r2}"#],
        None,
        fs,
    )
    .await
    .unwrap();
    assert_eq!(result.stdout, "1 1\n");
}
