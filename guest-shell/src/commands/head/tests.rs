use crate::commands::testing::run;

/// Runs scripts and compares their output and messages.
async fn check(cases: &[(&str, &str, &str)]) {
    for (script, output, messages) in cases {
        let result = run(script).await;
        assert_eq!((&*result.stdout, &*result.stderr), (*output, *messages), "{script}");
        assert_eq!(result.exit_code, i32::from(!messages.is_empty()), "{script}");
    }
}

#[tokio::test]
async fn head_of_a_pipe_is_its_first_lines_or_bytes() {
    check(&[
        ("seq 12 | head", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", ""),
        ("seq 5 | head -n 3", "1\n2\n3\n", ""),
        ("seq 5 | head -2", "1\n2\n", ""),
        ("seq 5 | head -2q", "1\n2\n", ""),
        ("seq 5 | head -1v", "==> standard input <==\n1\n", ""),
        ("seq 5 | head -3c", "1\n2", ""),
        ("seq 1000 | head -1k | wc -c; seq 1000 | head -1b | wc -c", "1024\n512\n", ""),
        ("seq 5 | head --lines 1", "1\n", ""),
        ("seq 5 | head --s -n1", "1\n", ""),
        ("seq 5 | head -n -1", "1\n2\n3\n4\n", ""),
        ("seq 5 | head -n-3", "1\n2\n", ""),
        ("seq 5 | head -n -9", "", ""),
        ("printf abcdef | head -c -2", "abcd", ""),
        ("printf abc | head -c -10", "", ""),
        ("printf éX | head -c 2", "é", ""),
        ("printf éX | head -c 1 | od -An -tx1", " c3\n", ""),
        ("printf 'a\\nb' | head -n 5", "a\nb", ""),
        ("printf 'a\\0b\\0' | head -zn1 | od -An -c", "   a  \\0\n", ""),
        ("seq 2 | head -vn1", "==> standard input <==\n1\n", ""),
        ("head < /dev/null", "", ""),
    ])
    .await;
}

#[tokio::test]
async fn head_of_files_names_them_and_leaves_out_the_missing() {
    check(&[
        ("seq 3 > f; head -n1 f f", "==> f <==\n1\n\n==> f <==\n1\n", ""),
        ("seq 3 > f; head -qn1 f f", "1\n1\n", ""),
        (
            "seq 3 > f; head -n1 f gone /",
            "==> f <==\n1\n\n==> / <==\n",
            "head: cannot open 'gone' for reading: No such file or directory\n\
             head: error reading '/': Is a directory\n",
        ),
    ])
    .await;
}

#[tokio::test]
async fn head_leaves_the_rest_of_a_file_to_the_next_command() {
    check(&[
        ("seq 4 > f; { head -n1; head -n1; cat; } < f", "1\n2\n3\n4\n", ""),
        ("seq 4 > f; { head -n -2; cat; } < f", "1\n2\n3\n4\n", ""),
        ("printf abcd | { head -c1; echo; cat; }", "a\nbcd", ""),
    ])
    .await;
}

#[tokio::test]
async fn head_refuses_wrong_counts_and_options() {
    check(&[
        ("head -n abc", "", "head: invalid number of lines: 'abc'\n"),
        ("head -c -x", "", "head: invalid number of bytes: '-x'\n"),
        ("head -Q", "", "head: invalid option -- 'Q'\nTry 'head --help' for more information.\n"),
        ("head -q -5", "", "head: invalid trailing option -- 5\nTry 'head --help' for more information.\n"),
        ("head -5x", "", "head: invalid trailing option -- x\nTry 'head --help' for more information.\n"),
        ("head --follow f", "", "head: unrecognized option '--follow'\nTry 'head --help' for more information.\n"),
    ])
    .await;
}
