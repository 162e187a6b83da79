//! File errors that a command returns: they fail the command, and not the script.

use std::io::{Error as IoError, ErrorKind};

use bashkit::{Builtin, BuiltinContext, ExecResult, async_trait};

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
