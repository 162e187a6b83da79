//! Words within substitutions, and what jobs leave to their shell.

use super::check;

#[tokio::test]
async fn case_in_a_substitution_takes_a_subject_with_quotes_of_its_own() {
    check(&[
        ("echo $(case \"${a:-\"b c\"}\" in *) echo 1;; b) echo 2;; esac)", "1\n", 0),
        ("cat <(case ${a:-b c} in 'b c') echo 1;; b) echo 2;; esac)", "1\n", 0),
        ("x=a; echo \"$(case x in \"${x%'}'}\") echo 1;; x) echo 2;; esac)\"", "2\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn compound_job_runs_no_debug_trap_of_its_shell() {
    check(&[(
        "trap 'echo \"D$BASH_COMMAND\"' DEBUG; { for i in 1; do echo $i; done; } > f & wait; cat f",
        "Dwait\nDcat f\n1\n",
        0,
    )])
    .await;
}

#[tokio::test]
async fn backquotes_take_continued_lines_and_a_backslash_at_their_end() {
    check(&[
        ("x=`echo a \\\n b`\necho \"$x\" \"`echo foo\\\nbar`\" `echo 'a\\\nb'`", "a b foobar ab\n", 0),
        (
            "echo `echo \\\\`; echo \"`echo \\\\`\" `echo \\\\\\\\`; x=`echo \"\\$HOME\" \\`echo a\\``; echo ${x#* }",
            "\\\n\\ \\\na\n",
            0,
        ),
    ])
    .await;
}
