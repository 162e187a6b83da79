//! Lines that messages and `$LINENO` name.

use super::check_live;

#[tokio::test]
async fn compound_command_has_the_line_of_its_end() {
    check_live(&[
        ("exec 2>&1\nfor x in a\ndo\n  (( 1 +\n 08 ))\n  echo $LINENO\ndone\n{\n[[ 08 -eq 1 ]]\n} || echo $LINENO", "bash: line 5: ((: 1 +\n 08: value too great for base (error token is \"08\")\n6\nbash: line 9: [[: 08: value too great for base (error token is \"08\")\n10\n", 0),
        ("trap 'echo E $LINENO' ERR\n(\n:\nfalse\n)\n(( 0\n))\n[[ a ||\nb ]]\n{ false\n}\nfalse |\nfalse", "E 5\nE 7\nE 10\nE 13\n", 1),
        ("exec 2>&1\n{ echo a\n} > /missing/x\nf() {\n  :\n} > /missing/x\nf\nfor ((i = 0; i < 1; i++))\ndo :\ndone > /missing/x\n[[ a ||\nb ]] > /missing/x", "bash: line 3: /missing/x: No such file or directory\nenvironment: line 4: /missing/x: No such file or directory\nbash: line 8: /missing/x: No such file or directory\nbash: line 12: /missing/x: No such file or directory\n", 1),
    ])
    .await;
}

#[tokio::test]
async fn simple_command_has_the_line_of_its_second_word() {
    check_live(&[
        ("echo \\\n$LINENO\necho a \\\n$LINENO\necho \"\n\" $LINENO \"\n\" $LINENO\nf() { echo ${BASH_LINENO[0]}; }\nf \\\n a\nf", "2\na 3\n\n 6 \n 6\n10\n11\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn substitution_counts_the_lines_of_its_text_as_bash_prints_it() {
    check_live(&[
        ("x=$(if true\nthen :\nfi; echo $LINENO\nfor i in 1; do echo $LINENO; done)\necho \"$x\"", "6\n9\n", 0),
        ("cat < <(for x in 1; do echo $LINENO; done)\necho \"$(echo $LINENO\n  echo $LINENO; ( echo $LINENO\n  [[ $LINENO ]] ) && case a in a) echo $LINENO;; esac)\" $LINENO", "3\n4\n5\n5\n8 4\n", 0),
        ("f() { x=$( echo  hi ); echo \"a $( if true; then echo b; fi )\" `echo  c` '$( x )' <( sort  x|cat ); }; declare -f f", "f () \n{ \n    x=$(echo hi);\n    echo \"a $(if true; then\n    echo b;\nfi)\" `echo  c` '$( x )' <(sort x | cat)\n}\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn function_keeps_the_lines_of_its_definition() {
    check_live(&[
        ("eval 'f() {\necho $LINENO\n}\n'\nf\ng() {\neval 'f() {\necho $LINENO\n}'\necho $LINENO\n}\ng; f\n$(f)\nx=$(h() {\necho $LINENO\n}\nh); echo $x", "5\n10\n10\n19\n", 0),
    ])
    .await;
}
