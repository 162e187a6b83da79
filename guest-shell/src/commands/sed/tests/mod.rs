//! Tests of sed, by subject.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod addresses;
mod commands;
mod expressions;
mod files;
mod limits;
mod options;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Sed;
use bashkit::builtins::{Builtin, Context};
use bashkit::fs::InMemoryFs;

/// Runs sed on a file system.
async fn run_with(fs: Arc<InMemoryFs>, args: &[&str], stdin: Option<&str>) -> bashkit::ExecResult {
    let sed = Sed;
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
    sed.execute(ctx).await.expect("sed must not fail the interpreter")
}

/// Runs sed.
async fn run_sed(args: &[&str], stdin: Option<&str>) -> bashkit::ExecResult {
    run_with(Arc::new(InMemoryFs::new()), args, stdin).await
}

/// Returns what sed prints.
async fn out(args: &[&str], stdin: &str) -> String {
    run_sed(args, Some(stdin)).await.stdout.to_string()
}
