//! Stages of pipelines that write more or less than a pipe holds, before a reader that ends early.

use super::{check, check_live};

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

#[tokio::test]
async fn errors_of_stages_are_joined_with_output_in_their_order() {
    check_live(&[
        ("exec 2>&1\ntrue | { echo a; ls /missing; }\n(exit 2) | { echo; declare -p zz; echo b; }", "a\nls: cannot access '/missing': No such file or directory\n\nbash: line 3: declare: zz: not found\nb\n", 0),
        ("exec 2>&1\nls /missing | cat\nls /missing | { cat; echo a; }\n{ ls /missing; echo x; } | while read -r l; do echo \"<$l>\"; done", "ls: cannot access '/missing': No such file or directory\nls: cannot access '/missing': No such file or directory\na\nls: cannot access '/missing': No such file or directory\n<x>\n", 0),
        ("{ ls /missing; echo x; } 2>&1 | { cat; echo a; }\nx=$(ls /missing 2>&1 | { cat; ls /missing2; } 2>&1); echo \"$x\"", "ls: cannot access '/missing': No such file or directory\nx\na\nls: cannot access '/missing': No such file or directory\nls: cannot access '/missing2': No such file or directory\n", 0),
        ("exec > log 2>&1\nls /missing | { cat; echo a; }\ntrue | { echo b; ls /missing2; }\nexec > /dev/stdout", "", 0),
    ])
    .await;
}

#[tokio::test]
async fn errors_of_words_come_before_the_output_of_the_command() {
    check_live(&[
        ("exec 2>&1\ng() { echo in; echo more; }\ng \"x\"$(ls /missing)\ng \"x\"$(ls /missing) | cat\nx=$(ls /missing) g\neval \"echo $(ls /missing)\" ev\n. /dev/stdin <<< \"echo sourced $(ls /missing)\"\necho end", "ls: cannot access '/missing': No such file or directory\nin\nmore\nls: cannot access '/missing': No such file or directory\nin\nmore\nls: cannot access '/missing': No such file or directory\nin\nmore\nls: cannot access '/missing': No such file or directory\nev\nls: cannot access '/missing': No such file or directory\nsourced\nend\n", 0),
        ("exec 2>&1\nf() [[ 08 -eq 1 ]]\nf $(ls /missing)\nf() { 1; } 2> /dev/null\nf \"${a[-1]}\"", "ls: cannot access '/missing': No such file or directory\nenvironment: line 2: [[: 08: value too great for base (error token is \"08\")\nbash: line 5: a: bad array subscript\n", 127),
    ])
    .await;
}
