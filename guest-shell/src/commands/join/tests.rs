//! Results of GNU's `join` for scripts.

use crate::commands::testing::run;

async fn check(cases: &[(&str, &str, i32)]) {
    let files = "printf 'a 1\\nb 2\\nc 3\\n' > x; printf 'a x\\nc y z\\nd w\\n' > y; ";
    for (script, output, status) in cases {
        let result = run(&format!("{files}{script}")).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn join_prints_pairs_and_lines_without_a_partner() {
    check(&[
        ("join x y", "a 1 x\nc 3 y z\n", 0),
        ("join -a1 -a 2 x y", "a 1 x\nb 2\nc 3 y z\nd w\n", 0),
        ("join -v1 x y; join -v 2 x y", "b 2\nd w\n", 0),
        ("printf 'a 1\\na 2\\n' > g; join g g", "a 1 1\na 1 2\na 2 1\na 2 2\n", 0),
        ("printf 'A 1\\n' | join -i - y", "A 1 x\n", 0),
        ("join --header x y", "a 1 x\nc 3 y z\n", 0),
        ("printf 'K v\\na 1\\n' > h; printf 'K w\\na 2\\n' > i; join --header h i", "K v w\na 1 2\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn join_of_a_line_with_a_blank_at_its_end_keeps_the_empty_field() {
    check(&[
        ("printf 'a b \\n' > e; printf 'a 1 \\n' > f; join e f | cat -A", "a b  1 $\n", 0),
        ("printf ' a  b\\n' | join - x", "a b 1\n", 0),
        ("printf '   \\n' > b; join b b | cat -A", "$\n", 0),
        ("printf 'a,,b\\n' > c; join -t, c c", "a,,b,,b\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn join_prints_the_fields_of_a_format() {
    check(&[
        ("join -o 2.2,0,1.2 x y", "x a 1\ny c 3\n", 0),
        ("join -a1 -e NONE -o 0,2.2 x y", "a x\nb NONE\nc y\n", 0),
        ("join -a1 -e- -o auto x y", "a 1 x\nb 2 -\nc 3 y\n", 0),
        ("join -o 1.1 2.2 x y", "a x\nc y\n", 0),
        ("join -j1 1 -j2 1 x y", "a 1 x\nc 3 y z\n", 0),
        ("join -1 2 -2 1 -t ' ' <(echo 'v a') y", "a v x\n", 0),
        ("join -t → <(echo a→b) <(echo a→c)", "a→b→c\n", 0),
        ("x=$'\\xff'; join -t $x <(echo a${x}b) <(echo a${x}c) | od -An -tx1", " 61 ff 62 ff 63 0a\n", 0),
        ("x=$'\\xff'; join -a1 -e $x -o 0,2.2 x y | head -2 | od -An -tx1", " 61 20 78 0a 62 20 ff 0a\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn join_of_lines_out_of_order_warns_or_fails() {
    let disorder = "join: s:2: is not sorted: a 2\n";
    check(&[
        ("printf 'b 1\\na 2\\n' > s; join s y 2>&1", &format!("{disorder}join: input is not in sorted order\n"), 1),
        ("printf 'b 1\\na 2\\n' > s; join --check-order s y 2>&1", disorder, 1),
        ("printf 'b 1\\na 2\\n' > s; join --nocheck-order s y 2>&1", "", 0),
    ])
    .await;
}

#[tokio::test]
async fn join_with_a_wrong_command_line_says_what_is_wrong() {
    check(&[
        ("join x 2>&1 | head -1", "join: missing operand after 'x'\n", 0),
        ("join x y x 2>&1 | head -1", "join: extra operand 'x'\n", 0),
        ("join - - 2>&1", "join: both files cannot be standard input\n", 1),
        ("join -1 0 x y 2>&1", "join: invalid field number: '0'\n", 1),
        ("join -o 3.1 x y 2>&1", "join: invalid file number in field spec: '3.1'\n", 1),
        ("join -t ab x y 2>&1", "join: multi-character tab 'ab'\n", 1),
        ("join -1 1 -1 2 x y 2>&1", "join: incompatible join fields 1, 2\n", 1),
        ("join x none 2>&1", "join: none: No such file or directory\n", 1),
        ("mkdir d; join x d 2>&1", "join: read error: Is a directory\n", 1),
    ])
    .await;
}
