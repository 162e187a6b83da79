//! What child shells inherit, and what `command`, `[` and `eval` leave behind.

use super::{check, run};

#[tokio::test]
async fn child_shell_inherits_no_separators_and_no_prompts() {
    check(&[
        ("IFS=:; export A=1; bash -c 'x=a:b; echo $x'; x=a:b; echo $x", "a:b\na b\n", 0),
        ("PS4='> '; bash -xc ': a' 2>&1; export PS4; bash -xc ': b' 2>&1", "+ : a\n> : b\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn command_without_a_command_makes_the_files_of_its_redirections() {
    check(&[("command > a; command -p > b; echo * $?; command < missing 2> /dev/null; echo $?", "a b 0\n1\n", 0)])
        .await;
}

#[tokio::test]
async fn bracket_without_its_end_says_what_is_missing() {
    let result = run("[ a; echo $?").await;
    assert_eq!(result.stdout, "2\n");
    assert!(result.stderr.ends_with("[: missing `]'\n"), "{}", &*result.stderr);
}

#[tokio::test]
async fn command_that_failed_is_the_eval_and_not_its_text() {
    check(&[
        ("trap 'echo \"$BASH_COMMAND\"' ERR; eval 'false'", "false\neval 'false'\n", 1),
        ("echo false > f; trap 'echo \"$BASH_COMMAND\"' ERR; . ./f", "false\n. ./f\n", 1),
    ])
    .await;
}
