//! Tests of `grep` as a command, by subject.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod directories;
mod mistakes;
mod output;
mod perl;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Grep;
use bashkit::builtins::{Builtin, Context};
use bashkit::fs::{FileSystem, InMemoryFs};
use bashkit::{ExecResult, Result};

/// Runs grep with standard input, or without.
async fn run_grep(args: &[&str], stdin: Option<&str>) -> Result<ExecResult> {
    run_grep_on(Arc::new(InMemoryFs::new()), args, stdin).await
}

/// Runs grep on a file system.
async fn run_grep_on(fs: Arc<dyn FileSystem>, args: &[&str], stdin: Option<&str>) -> Result<ExecResult> {
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
    Grep.execute(ctx).await
}
