//! Unset variables under `set -u`, within operands, expressions and redirections.

use super::check;

/// Checks that each command ends its subshell under `set -u`.
async fn check_refused(commands: &[&str]) {
    for command in commands {
        let script = format!("set -u; u=1 a=(1 2); ({command}; echo no) 2> /dev/null; echo $?");
        check(&[(&*script, "1\n", 0)]).await;
    }
}

#[tokio::test]
async fn unset_variable_in_an_operand_that_is_used_ends_the_command() {
    check_refused(&[
        "echo ${x:-$y}",
        "echo \"${x:-\"a $y\"}\"",
        "b=(\"${x:=\"$y\"}\")",
        "b=${x:=$y}",
        "echo ${u+$y}",
        "echo ${u#$y}",
        "echo \"${u/1/$y}\"",
        "echo \"${u/$y/1}\"",
        "echo \"${u:$y}\"",
        "echo \"${u:0:$y}\"",
        "echo \"${x:-${y%z}}\"",
    ])
    .await;
    check(&[
        ("set -u; u=1; echo ${u:-$y} ${x+$y} ${x:-${y-d}} \"${x:-${y:-}}\"", "1 d \n", 0),
        ("set -u; a=(); echo \"${x:-${a[*]-e}}\" \"${x-$*}\" ${x-$#}", "e  0\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn unset_variable_in_an_expression_ends_the_command() {
    check_refused(&[
        "echo $(( $y + 1 ))",
        "echo $(( ${y} + 1 ))",
        "a[$y]=1",
        "echo $(($1))",
        "for ((i = $y; i < 3; i++)); do break; done",
        "[[ y -eq 0 ]]",
    ])
    .await;
    check(&[("set -u; n=2 a=(5 6); echo $(( $n + ${n} )) ${a[$n-1]} $(( $# ))", "4 6 0\n", 0)]).await;
}

#[tokio::test]
async fn unset_variable_in_a_redirection_ends_what_is_of_the_shell_alone() {
    check_refused(&["read -r x <<< $y", "while read -r l; do :; done <<E\n$y\nE\n:", "{ :; } <<< \"$y\""]).await;
    check(&[
        ("set -u; (cat <<E\n<$y>\nE\necho after) 2> /dev/null; echo $?", "after\n0\n", 0),
        ("set -eu; (cat <<< \"$y\"; echo no) 2> /dev/null; echo end", "", 1),
        ("set -u; y=1; cat <<E\n<$y>${z-}\nE", "<1>\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn word_of_an_unset_parameter_is_its_message() {
    check(&[
        ("(: ${x:?${a[*]}}) 2>&1; (: \"${x:?'d e'\"f\"}\") 2>&1; (: ${x:?}) 2>&1; (: ${x?}) 2>&1; (: \"${x?\"\"}\") 2>&1", "bash: line 1: x: \nbash: line 1: x: d ef\nbash: line 1: x: parameter null or not set\nbash: line 1: x: parameter not set\nbash: line 1: x: \n", 1),
    ])
    .await;
}

#[tokio::test]
async fn parameter_that_no_element_names_is_unset() {
    check(&[(
        "e=(); echo \"[${!e[@]+x}]\" \"[${!e[@]-y}]\"; declare -A m; echo \"[${!m[@]:-z}]\"",
        "[] [y]\n[z]\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn unset_variable_in_the_words_of_a_for_ends_the_script() {
    check(&[
        (
            "(set -u; for i in $zz; do echo $i; done; echo after) 2>&1; echo $?",
            "bash: line 1: zz: unbound variable\n1\n",
            0,
        ),
        ("(for i in a ${zz?none}; do echo $i; done; echo after) 2>&1; echo $?", "bash: line 1: zz: none\n1\n", 0),
    ])
    .await;
}
