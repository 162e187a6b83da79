//! File errors that a command returns: they fail the command, and not the script.

use std::io::{Error as IoError, ErrorKind};

use bashkit::{Builtin, BuiltinContext, ExecResult, async_trait};

use super::check;
use crate::commands::testing::builder;

/// Command that fails with an error of the file system, as one does that meets a read-only file system.
struct Failing;

#[async_trait]
impl Builtin for Failing {
    async fn execute(&self, _context: BuiltinContext<'_>) -> bashkit::Result<ExecResult> {
        Err(IoError::new(ErrorKind::PermissionDenied, "Permission denied").into())
    }
}

#[tokio::test]
async fn command_that_returns_a_file_error_fails_and_the_script_goes_on() {
    for (script, output, messages) in [
        ("failing; echo $?", "1\n", "failing: Permission denied\n"),
        ("failing || echo or", "or\n", "failing: Permission denied\n"),
        ("echo a | failing | cat; echo \"${PIPESTATUS[1]}\"", "1\n", "failing: Permission denied\n"),
        ("x=$(failing 2>&1); echo \"$x\"", "failing: Permission denied\n", ""),
    ] {
        let mut shell = builder().builtin("failing", Failing).build();
        let result = shell.exec(script).await.expect("the script goes on");
        assert_eq!((&*result.stdout, &*result.stderr), (output, messages), "{script}");
    }
}

#[tokio::test]
async fn names_in_messages_are_quoted_as_in_coreutils() {
    check(&[
        ("cat 'a b' 'x=1' \"it's\" '{' a{b,} 2>&1", "cat: 'a b': No such file or directory\ncat: 'x=1': No such file or directory\ncat: \"it's\": No such file or directory\ncat: '{': No such file or directory\ncat: ab: No such file or directory\ncat: a: No such file or directory\n", 1),
        ("wc 'a*' 2>&1; sort a:b 2>&1; cut -f1 '#x' 2>&1", "wc: 'a*': No such file or directory\nsort: cannot read: 'a:b': No such file or directory\ncut: '#x': No such file or directory\n", 1),
        ("head \"it's\" 2>&1; tac \"it's\" 2>&1", "head: cannot open \"it's\" for reading: No such file or directory\ntac: failed to open \"it's\" for reading: No such file or directory\n", 1),
        ("echo '0bee89b07a248e27c83fc3d5951213c1  a b' | md5sum -c 2>&1 | head -2", "md5sum: 'a b': No such file or directory\na b: FAILED open or read\n", 0),
        ("hexdump 'a b' 2>&1 | head -1; sed p 'a b' 2>&1", "hexdump: a b: No such file or directory\nsed: can't read a b: No such file or directory\n", 2),
    ])
    .await;
}

#[tokio::test]
async fn empty_name_is_no_file_and_not_the_working_directory() {
    check(&[
        ("touch f; find \"\" -delete 2>&1; echo $?; ls", "find: '': No such file or directory\n1\nf\n", 0),
        ("cat '' 2>&1; head '' 2>&1; sed p '' 2>&1; echo $?", "cat: '': No such file or directory\nhead: cannot open '' for reading: No such file or directory\nsed: can't read : No such file or directory\n2\n", 0),
        ("du '' 2>&1; wc '' 2>&1; stat '' 2>&1", "du: invalid zero-length file name\nwc: invalid zero-length file name\nstat: cannot statx '': No such file or directory\n", 1),
        ("jq . '' 2>&1; date -r '' 2>&1", "jq: error: Could not open file : No such file or directory\ndate: '': No such file or directory\n", 1),
    ])
    .await;
}
