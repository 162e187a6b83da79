//! Stages of pipelines that write more or less than a pipe holds, before a reader that ends early.

use super::check;

#[tokio::test]
async fn stage_that_wrote_what_fits_into_a_pipe_succeeds_whoever_reads_it() {
    check(&[
        ("{ echo hi; exit 55; } | false; echo ${PIPESTATUS[@]}", "55 1\n", 0),
        ("f() { echo hi; return 5; }; f | true; echo ${PIPESTATUS[@]}", "5 0\n", 0),
        ("for i in 1 2 3; do echo $i; done | true; echo ${PIPESTATUS[@]}", "0 0\n", 0),
        ("seq 3 | true; echo ${PIPESTATUS[@]}", "0 0\n", 0),
        (
            "set -euo pipefail; seq 10000 > f; wc -c < f; cat f | head -1; sort f | head -1; echo on",
            "48894\n1\n1\non\n",
            0,
        ),
    ])
    .await;
}

#[tokio::test]
async fn stage_that_writes_more_than_a_pipe_holds_ends_with_its_reader() {
    check(&[
        ("seq 100000 | head -1; echo ${PIPESTATUS[@]}", "1\n141 0\n", 0),
        ("yes | head -1; echo ${PIPESTATUS[@]}", "y\n141 0\n", 0),
        ("set -o pipefail; seq 100000 | head -1; echo $?", "1\n141\n", 0),
    ])
    .await;
}

/// The loop writes a pipe full in 32,768 commands.
#[tokio::test]
async fn loop_before_a_reader_that_ends_early_runs_few_commands_more() {
    check(&[(
        "while :; do echo $((++n)); echo >> log; done | head -1; [ $(wc -l < log) -lt 1000 ] && echo few",
        "1\nfew\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn first_stage_of_a_pipeline_begins_first() {
    check(&[("{ echo 1 >&2; echo a; } 2> log | { cat; echo 2 >> log; }; cat log", "a\n1\n2\n", 0)]).await;
}
