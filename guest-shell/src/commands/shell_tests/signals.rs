//! Background jobs: the signals that they get, and their statuses.

use super::super::testing::builder;
use super::check;

/// Runs a script in a shell whose `sleep` waits.
async fn output_of(script: &str) -> String {
    let result = builder().sleep().build().exec(script).await;
    result.map(|result| result.stdout.text_lossy().into_owned()).expect("the script runs")
}

#[tokio::test]
async fn signal_to_a_job_with_a_trap_runs_the_trap() {
    let worker = "( trap 'echo stopping; exit 5' TERM; while :; do sleep 0.01; done ) & p=$!; sleep 0.05";
    assert_eq!(output_of(&format!("{worker}; kill $p; wait $p; echo $?")).await, "stopping\n5\n");
    assert_eq!(output_of(&format!("{worker}; kill -9 $p; wait $p; echo $?")).await, "137\n");
    assert_eq!(output_of(&format!("{worker}; kill -HUP $p; wait $p; echo $?")).await, "129\n");
    let deaf = "( trap '' TERM; sleep 0.05; echo survived ) & p=$!; sleep 0.01; kill $p; wait $p; echo $?";
    assert_eq!(output_of(deaf).await, "survived\n0\n");
    let waiting =
        "( trap 'echo t; exit 7' TERM; sleep 9 & wait $!; echo no ) & p=$!; sleep 0.02; kill $p; wait $p; echo $?";
    assert!(output_of(waiting).await.starts_with("t\n7\n"));
}

#[tokio::test]
async fn wait_returns_for_a_signal_with_a_trap() {
    let script = "trap 'echo got' USR1; (sleep 0.02; kill -USR1 $$; sleep 0.05) & wait $!; echo $?; wait $!; echo $?";
    assert_eq!(output_of(script).await, "got\n138\n0\n");
}

#[tokio::test]
async fn job_that_was_waited_for_keeps_its_status() {
    check(&[
        ("(exit 3) & p=$!; wait $p; echo $?; wait $p; echo $?; wait; wait $p; echo $?", "3\n3\n3\n", 0),
        ("(exit 4) & p=$!; wait -n; echo $?; wait $p; echo $?", "4\n4\n", 0),
        ("wait 4242 2> /dev/null; echo $?", "127\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn subshell_in_the_background_is_one_subshell() {
    check(&[
        ("( echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL) ) & wait", "1\n2\n", 0),
        ("( echo $BASHPID ) > f & wait; [[ $(cat f) == $! ]] && echo same", "same\n", 0),
    ])
    .await;
}
