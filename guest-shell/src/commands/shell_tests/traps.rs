//! Handlers of EXIT, ERR and DEBUG, and `set -e`.

use super::{check, run};

#[tokio::test]
async fn err_trap_that_exits_or_returns_does_so() {
    check(&[
        ("set -E; trap 'echo \"trap $?\"; exit 9' ERR; f() { false; echo no; }; f; echo no", "trap 1\n", 9),
        (
            "set -euo pipefail; trap 'echo \"exit $?\"' EXIT; trap 'echo error; exit 9' ERR; false | true; echo no",
            "error\nexit 9\n",
            9,
        ),
        ("set -E; trap 'return 5' ERR; f() { false; echo no; }; f 2> /dev/null; echo \"f=$?\"", "f=5\n", 0),
        ("trap 'echo E' ERR; set -eE; eval 'false'", "E\n", 1),
        ("set -e; trap 'echo T' ERR; if true; then (false); fi; echo no", "T\n", 1),
        ("trap 'echo E' ERR; env false; find . -maxdepth 0 -exec false \\; ; echo done", "E\ndone\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn exit_trap_decides_the_status_and_runs_in_jobs_and_stages() {
    check(&[
        ("set -e; cleanup() { [[ -f nofile ]] && rm nofile; }; trap 'cleanup; echo no' EXIT; echo body; exit 0", "body\n", 1),
        ("{ trap 'echo bye; exit 4' EXIT; echo x; } & wait $!; echo $?; { trap 'echo bye2' EXIT; echo y; } | cat; echo z | { trap 'echo bye3' EXIT; cat; }; (trap 'exit 3' EXIT; true); echo $?; v=$(trap 'exit 6' EXIT; true); echo $?", "x\nbye\n4\ny\nbye2\nz\nbye3\n3\n6\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn errexit_set_within_a_substitution_ends_it() {
    check(&[
        ("x=$(set -e; false; echo no); echo \"$? [$x]\"; cat <(set -e; echo a; false; echo no); cat <(false; echo \"in $?\")", "1 []\na\nin 1\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn exit_trap_that_repeats_the_one_outside_runs() {
    check(&[
        ("trap 'echo T' EXIT; (trap 'echo T' EXIT; echo in); { trap 'echo T' EXIT; echo in2; } | cat; x=$(trap 'echo T' EXIT); echo \"[$x]\"; (echo none)", "in\nT\nin2\nT\n[T]\nnone\nT\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn exit_trap_of_a_function_in_a_stage_runs_and_of_a_loop_does_not() {
    check(&[
        ("f() { trap 'echo T' EXIT; echo in; exit 3; }; f | cat; x=$(f); echo \"$x $?\"; echo l | while read -r l; do trap 'echo no' EXIT; done; case x in x) trap 'echo no' EXIT ;; esac | cat; eval 'trap \"echo E\" EXIT' | cat", "in\nT\nin\nT 3\nE\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn err_trap_does_not_run_for_a_negated_compound() {
    check(&[
        ("trap 'echo E' ERR; ! (exit 1); ! ((0)); ! [[ a ]]; ! [[ '' ]]; echo -; ! { false; }; echo -; f() { false; true; }; ! f; ! (false; true); echo -; ! for i in 1; do false; done; (exit 2)", "-\nE\n-\n-\nE\nE\n", 2),
    ])
    .await;
}

#[tokio::test]
async fn err_trap_names_a_subshell_and_an_assignment_whole() {
    let trap = "trap 'echo \"err: $BASH_COMMAND\"' ERR";
    for (script, output) in [
        ("(exit 3)", "err: ( exit 3 )\n"),
        ("(echo a; exit 2)", "a\nerr: ( echo a; exit 2 )\n"),
        ("x=$(false)", "err: x=$(false)\n"),
        ("false", "err: false\n"),
        ("[[ a == b ]]", "err: [[ a == b ]]\n"),
    ] {
        let result = run(&format!("{trap}; {script}")).await;
        assert_eq!(&*result.stdout, output, "{script}");
    }
}

#[tokio::test]
async fn exit_trap_behind_a_signal_has_the_status_of_the_last_command() {
    check(&[("trap 'echo X$?' EXIT; false; kill -TERM $$; echo no", "X0\n", 143)]).await;
}

#[tokio::test]
async fn return_trap_does_not_run_at_exit() {
    check(&[("f() { trap 'echo R' RETURN; exit 1; }; (f); (f) | cat; f", "", 1)]).await;
}

#[tokio::test]
async fn debug_trap_runs_for_the_commands_of_other_handlers() {
    check(&[
        ("trap 'echo D:$BASH_COMMAND' DEBUG\ntrap 'echo E1; echo E2' EXIT\ntrap 'echo U' USR1\ntrap 'echo ERR; :' ERR\nkill -USR1 $$\nfalse\nf() { trap 'echo R' RETURN; :; }\nf\n. /dev/null", "D:trap 'echo E1; echo E2' EXIT\nD:trap 'echo U' USR1\nD:trap 'echo ERR; :' ERR\nD:kill -USR1 $$\nD:kill -USR1 $$\nU\nD:false\nD:false\nERR\nD:false\nD:f\nR\nD:. /dev/null\nR\nD:. /dev/null\nE1\nD:. /dev/null\nE2\n", 0),
    ])
    .await;
}
