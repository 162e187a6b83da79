//! Where the errors of substitutions and stages go after `exec` of descriptor 2.

use super::check;

#[tokio::test]
async fn input_substitution_behind_exec_of_stderr_leaves_its_errors_to_the_shell() {
    check(&[
        ("exec 2>&1; while read -r l; do echo \"<$l>\"; done < <(echo e >&2; echo o)", "e\n<o>\n", 0),
        (
            "exec 2>&1; mapfile -t a < <(declare -p none; echo o); echo \"${a[@]}\"",
            "bash: line 1: declare: none: not found\no\n",
            0,
        ),
        ("exec 2>&1; cat <(echo e >&2; echo o) | tr a-z A-Z", "e\nO\n", 0),
        ("exec 2> log; read -r l < <(echo e >&2; echo o); echo \"$l\"; cat log", "o\ne\n", 0),
        ("cat <(exec > f; echo x; echo y); cat f", "x\ny\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn stage_behind_exec_of_stderr_follows_its_own_redirections() {
    check(&[
        ("exec 2>&1; { echo e >&2; } 2>&1 > /dev/null | sed 's/^/p:/'", "p:e\n", 0),
        ("exec 2>&1; f() { echo o; echo e >&2; }; { f; } 2>&1 > /dev/null | sed 's/^/p:/'", "p:e\n", 0),
        ("exec 2>&1; for i in 1; do echo e >&2; done 3>&1 1>&2 2>&3 | sed 's/^/p:/'", "p:e\n", 0),
        ("exec 2> log; { echo o; echo e >&2; } | sed 's/^/p:/'; cat log", "p:o\ne\n", 0),
    ])
    .await;
}
