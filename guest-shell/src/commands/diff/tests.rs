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
