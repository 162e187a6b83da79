use std::sync::Arc;

use bashkit::builtins::Builtin;

use super::Tail;
use crate::commands::testing::run;

/// Runs scripts and compares their output and messages.
async fn check(cases: &[(&str, &str, &str)]) {
    for (script, output, messages) in cases {
        let result = run(script).await;
        assert_eq!((&*result.stdout, &*result.stderr), (*output, *messages), "{script}");
        assert_eq!(result.exit_code, i32::from(!messages.is_empty()), "{script}");
    }
}

#[tokio::test]
async fn tail_of_a_pipe_is_its_last_lines_or_bytes() {
    check(&[
        ("seq 12 | tail", "3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", ""),
        ("seq 5 | tail -n 3", "3\n4\n5\n", ""),
        ("seq 5 | tail -n -2", "4\n5\n", ""),
        ("seq 2 | tail -n 10", "1\n2\n", ""),
        ("seq 5 | tail -n +4", "4\n5\n", ""),
        ("seq 3 | tail -n +1", "1\n2\n3\n", ""),
        ("printf abcdef | tail -c 2", "ef", ""),
        ("printf abcdef | tail -c +3", "cdef", ""),
        ("printf 'a\\nb\\n' | tail --bytes=2", "b\n", ""),
        ("printf 'a\\nb' | tail -n 1", "b", ""),
        ("tail < /dev/null", "", ""),
    ])
    .await;
}

#[tokio::test]
async fn tail_reads_obsolete_words_where_at_most_a_file_follows() {
    check(&[
        ("seq 5 | tail -2", "4\n5\n", ""),
        ("seq 5 | tail +4", "4\n5\n", ""),
        ("seq 5 | tail -3c; seq 5 | tail +8c; seq 5 | tail -1l; seq 500 | tail -1b | wc -c", "\n5\n\n5\n5\n512\n", ""),
        ("seq 5 > f; tail -2c f", "5\n", ""),
        ("seq 5 > f; tail -1 f; tail +5 f; tail -1f - < f", "5\n5\n5\n", ""),
        ("seq 5 | tail -q -n -2", "4\n5\n", ""),
        ("seq 5 > f; tail -1 -q f", "", "tail: option used in invalid context -- 1\n"),
        ("seq 5 > f; tail -q f -13", "", "tail: option used in invalid context -- 1\n"),
        ("seq 5 > f; tail -1f -q f", "", "tail: invalid option -- '1'\nTry 'tail --help' for more information.\n"),
    ])
    .await;
}

#[tokio::test]
async fn tail_refuses_wrong_counts_and_options() {
    check(&[
        ("tail -n x", "", "tail: invalid number of lines: 'x'\n"),
        ("tail -Q", "", "tail: invalid option -- 'Q'\nTry 'tail --help' for more information.\n"),
    ])
    .await;
}

#[tokio::test]
async fn tail_warns_of_options_that_mean_nothing_without_following() {
    let retry = "tail: warning: --retry ignored; --retry is useful only when following\n";
    let pid = "tail: warning: PID ignored; --pid=PID is useful only when following\n";
    for (script, messages) in [
        ("seq 2 | tail --retry -n1", retry.to_owned()),
        ("seq 2 > f; tail --retry --pid=7 -n1 f", format!("{retry}{pid}")),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("2\n", &*messages, 0), "{script}");
    }
}

#[tokio::test]
async fn tail_that_follows_names_files_and_ends_when_nothing_writes() {
    let end = "tail: nothing runs any more that could write: following ends\n";
    for (script, output, messages) in [
        ("seq 3 > f; tail -n1 -f f", "3\n", end.to_owned()),
        ("seq 3 > f; tail -n1 -f f f", "==> f <==\n3\n\n==> f <==\n3\n", end.to_owned()),
        ("tail -F f", "", format!("tail: cannot open 'f' for reading: No such file or directory\n{end}")),
        (
            "tail -f gone",
            "",
            "tail: cannot open 'gone' for reading: No such file or directory\ntail: no files remaining\n".to_owned(),
        ),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stdout, &*result.stderr), (output, &*messages), "{script}");
    }
}

// Uses a pointer, as the interpreter does: a method that a pointer does not forward has the default of the trait, which
// is false.
#[test]
fn tail_says_that_it_follows_behind_a_pointer() {
    let tail: Arc<dyn Builtin> = Arc::new(Tail);
    let follows = |args: &[&str]| tail.follows(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert!(follows(&["-f", "log"]) && follows(&["-n", "3", "-F", "log"]));
    assert!(!follows(&["-n", "3", "log"]));
}
