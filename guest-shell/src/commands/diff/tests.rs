use crate::commands::testing::run;

/// Compares what `diff` prints of two files.
async fn check(options: &str, [one, other]: [&str; 2], output: &str, status: i32) {
    let script =
        format!("touch -d @0 a b; printf '{one}' > a; printf '{other}' > b; touch -d @0 a b; diff {options} a b");
    let result = run(&script).await;
    assert_eq!((&*result.stdout, result.exit_code), (output, status), "{options} {one:?} {other:?}");
}

#[tokio::test]
async fn diff_prints_changes_in_its_styles() {
    let change = ["a\\nb\\nc\\n", "a\\nB\\nc\\n"];
    let heads = |mark: &str, new_mark: &str| {
        let time = "1970-01-01 00:00:00.000000000 +0000";
        format!("{mark} a\t{time}\n{new_mark} b\t{time}\n")
    };
    check("", change, "2c2\n< b\n---\n> B\n", 1).await;
    check("-u", change, &(heads("---", "+++") + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"), 1).await;
    check("-U0 -L x --label y", change, "--- x\n+++ y\n@@ -2 +2 @@\n-b\n+B\n", 1).await;
    let context = "***************\n*** 1,3 ****\n  a\n! b\n  c\n--- 1,3 ----\n  a\n! B\n  c\n";
    check("-c", change, &(heads("***", "---") + context), 1).await;
    check("-e", change, "2c\nB\n.\n", 1).await;
    check("-n", change, "d2 1\na2 1\nB\n", 1).await;
    check("-q", change, "Files a and b differ\n", 1).await;
    check("-i", change, "", 0).await;
    check("-is", change, "Files a and b are identical\n", 0).await;
}

#[tokio::test]
async fn diff_prints_insertions_and_deletions() {
    check("", ["a\\nb\\n", "a\\nb\\nc\\n"], "2a3\n> c\n", 1).await;
    check("", ["a\\nb\\nc\\n", "a\\nb\\n"], "3d2\n< c\n", 1).await;
    check("", ["", "x\\n"], "0a1\n> x\n", 1).await;
    check("", ["x", "x\\n"], "1c1\n< x\n\\ No newline at end of file\n---\n> x\n", 1).await;
    let changes = "2c2\n< b\n---\n> B\n4c4\n< d\n---\n> D\n";
    check("", ["a\\nb\\nc\\nd\\ne\\n", "a\\nB\\nc\\nD\\ne\\n"], changes, 1).await;
    check("-e", ["a\\n", "a\\n.\\nb\\n"], "1a\n..\n.\ns/.//\na\nb\n.\n", 1).await;
}

#[tokio::test]
async fn diff_ignores_spaces_and_blank_lines() {
    for (options, one, other, status) in [
        ("-w", "a b", "ab", 0),
        ("-b", "a  b ", "a b", 0),
        ("-b", "a b", "ab", 1),
        ("-Z", "a \\n", "a\\n", 0),
        ("-Z", " a", "a", 1),
        ("-B", "a\\n\\nb\\n", "a\\nb\\n", 0),
        ("--strip-trailing-cr", "a\\r\\n", "a\\n", 0),
    ] {
        let result = run(&format!("printf '{one}' > a; printf '{other}' > b; diff -q {options} a b")).await;
        assert_eq!(result.exit_code, status, "{options} {one:?} {other:?}");
    }
}

#[tokio::test]
async fn diff_compares_directories() {
    let tree = "mkdir -p a/s b/s; echo 1 > a/f; echo 2 > b/f; echo 1 > a/s/g; echo 3 > b/s/g; echo > a/only; ";
    for (call, output) in [
        ("diff a a; diff -rs a ./a", ""),
        ("diff -F x a/f b/f", "1c1\n< 1\n---\n> 2\n"),
        ("diff a b", "diff a/f b/f\n1c1\n< 1\n---\n> 2\nOnly in a: only\nCommon subdirectories: a/s and b/s\n"),
        ("diff -rq a b", "Files a/f and b/f differ\nOnly in a: only\nFiles a/s/g and b/s/g differ\n"),
        ("diff a b/f", "1c1\n< 1\n---\n> 2\n"),
        ("echo 2 | diff - b/f", ""),
    ] {
        assert_eq!(run(&format!("{tree}{call}")).await.stdout, output, "{call}");
    }
}

#[tokio::test]
async fn diff_refuses_wrong_calls() {
    let hint = "diff: Try 'diff --help' for more information.\n";
    for (call, messages) in [
        ("diff", format!("diff: missing operand after 'diff'\n{hint}")),
        ("diff a", format!("diff: missing operand after 'a'\n{hint}")),
        ("diff a b c", format!("diff: extra operand 'c'\n{hint}")),
        ("diff -Q a b", format!("diff: invalid option -- 'Q'\n{hint}")),
        ("diff -u -c a b", format!("diff: conflicting output style options\n{hint}")),
        ("diff gone /dev/null", "diff: gone: No such file or directory\n".to_owned()),
    ] {
        let result = run(call).await;
        assert_eq!((&*result.stderr, result.exit_code), (&*messages, 2), "{call}");
    }
}

/// Compares what scripts print of two files and two directories.
async fn check_scripts(cases: &[(&str, &str)]) {
    let files = "seq 1 6 > a; printf '1\\n2\\nfive\\n4\\n6\\n' > b; mkdir -p p/s q/s; echo 1 > p/x; echo 2 > q/x; \
                 echo 3 > p/only; echo 4 > q/new; echo s > p/s/f; echo t > q/s/f; \
                 touch -d @0 a b p/* q/* p/s/f q/s/f; ";
    for (script, output) in cases {
        let result = run(&format!("{files}{script}")).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn diff_of_directories_goes_in_the_order_of_names() {
    check_scripts(&[
        ("diff -rq p q", "Only in q: new\nOnly in p: only\nFiles p/s/f and q/s/f differ\nFiles p/x and q/x differ\n"),
        ("diff -r -x 'o*' -x new p q", EXCLUDED),
        ("printf 's\\nx\\n' > pat; diff -rX pat p q", "Only in q: new\nOnly in p: only\n"),
    ])
    .await;
}

const EXCLUDED: &str = "diff -r -x 'o*' -x new p/s/f q/s/f\n1c1\n< s\n---\n> t\n\
                        diff -r -x 'o*' -x new p/x q/x\n1c1\n< 1\n---\n> 2\n";

#[tokio::test]
async fn diff_changes_of_lines_that_match_are_ignored() {
    check_scripts(&[
        ("diff -I '^[3f]' a b", "5d4\n< 5\n"),
        ("diff -I '^[35f]' a b && echo same", "same\n"),
        ("printf 'x\\ty\\n' > c; printf 'x       y\\n' > d; diff -E c d && echo same", "same\n"),
    ])
    .await;
}

#[tokio::test]
async fn diff_output_is_formatted_and_coloured_as_asked_for() {
    check_scripts(&[
        ("diff --changed-group-format='%<' --unchanged-group-format='' a b", "3\n5\n"),
        ("diff --old-line-format='-%L' --new-line-format='+%L' --unchanged-line-format='' a b", "-3\n+five\n-5\n"),
        ("diff --line-format='%dn:%l;' a b", "1:1;2:2;3:3;3:five;4:4;5:5;6:6;"),
        ("diff --old-group-format='%df,%dn%%;' --unchanged-group-format= --new-group-format= a b", "3,1%;5,1%;"),
        ("diff --color=always a b | head -2 | od -An -c | tr -d ' \\n'", "033[36m3c3033[0m\\n033[31m<3033[0m\\n"),
        (
            "diff --color=always -U0 -L x -L y a b | head -4 | tr '\\033' E",
            "E[1m--- xE[0m\nE[1m+++ yE[0m\nE[36m@@ -3 +3 @@E[0m\nE[31m-3E[0m\n",
        ),
        ("diff --color a b | head -1; diff -1 -u a b | tail -4", "3c3\n+five\n 4\n-5\n 6\n"),
        ("diff -T a b | head -2", "3c3\n<\t3\n"),
        ("diff -u1 a b | tail -4; diff -C0 a b | wc -l", "+five\n 4\n-5\n 6\n11\n"),
        (
            "diff -U1 -F '^1' a b | sed -n 3p; diff -U0 -p a b | sed -n 5,6p",
            "@@ -2,5 +2,4 @@ 1\n+five\n@@ -5 +4,0 @@\n",
        ),
        ("diff -U0 -F five b a | sed -n 6p", "@@ -4,0 +5 @@ five\n"),
        ("diff --unchanged-group-format='%q;' a b | tail -1", "%q;"),
    ])
    .await;
}

#[tokio::test]
async fn sdiff_shows_two_columns() {
    check_scripts(&[
        ("sdiff -s -w 40 a b", "3\t\t   |\tfive\n5\t\t   <\n"),
        ("sdiff -lw 20 a b | head -3", "1     (\n2     (\n3     |\tfive\n"),
        (
            "sdiff a 2>&1 | head -1; sdiff -o x a b 2>&1 | head -1",
            "sdiff: missing operand after 'a'\nsdiff: invalid option -- 'o'\n",
        ),
    ])
    .await;
}

#[tokio::test]
async fn link_to_a_directory_is_compared_as_that_directory() {
    let script = "mkdir a b d e; echo x > d/f; echo y > e/f; ln -s ../d a/l; ln -s ../d b/l; diff -r a b; echo $?; \
                  rm b/l; ln -s ../e b/l; diff -r a b";
    let result = run(script).await;
    let output = "0\ndiff -r a/l/f b/l/f\n1c1\n< x\n---\n> y\n";
    assert_eq!((&*result.stdout, result.exit_code, &*result.stderr), (output, 1, ""));
}
