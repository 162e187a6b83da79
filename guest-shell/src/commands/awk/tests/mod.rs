//! Tests of awk, by subject.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod csv;
mod getline;
mod in_place;
mod language;
mod limits;
mod output;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Awk;
use bashkit::builtins::{Builtin, Context};
use bashkit::fs::{FileSystem, InMemoryFs};
use bashkit::{ExecResult, Result};

/// Runs awk with standard input, or without.
async fn run_awk(args: &[&str], stdin: Option<&str>) -> Result<ExecResult> {
    run_awk_on(args, stdin, Arc::new(InMemoryFs::new())).await
}

/// Runs awk on a file system.
async fn run_awk_on(args: &[&str], stdin: Option<&str>, fs: Arc<InMemoryFs>) -> Result<ExecResult> {
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
    Awk::default().execute(ctx).await
}

/// Runs awk on a file system with one file.
async fn run_awk_with_file(args: &[&str], stdin: Option<&str>, path: &str, content: &str) -> Result<ExecResult> {
    let fs = Arc::new(InMemoryFs::new());
    fs.write_file(Path::new(path), content.as_bytes()).await?;
    run_awk_on(args, stdin, fs).await
}

/// Runs awk. Returns the result with the file system, for tests of what is written to files.
async fn run_awk_with_fs(args: &[&str], stdin: Option<&str>) -> (Result<ExecResult>, Arc<InMemoryFs>) {
    let fs = Arc::new(InMemoryFs::new());
    (run_awk_on(args, stdin, fs.clone()).await, fs)
}

/// Checks what awk prints, case by case: arguments, standard input, standard output.
async fn check(cases: &[(&[&str], &str, &str)]) {
    for (args, stdin, stdout) in cases {
        let result = run_awk(args, Some(stdin)).await.unwrap();
        assert_eq!((&*result.stdout, result.exit_code), (*stdout, 0), "{args:?}");
    }
}
