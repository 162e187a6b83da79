use crate::commands::testing::run;

/// Directories and files that scripts search.
const TREE: &str = "mkdir -p a/b/c e; echo 1 > a/x.txt; : > a/b/y.md; ln -s b a/l; echo 12345 > a/b/c/z.txt; ";

/// Compares what scripts print that search [`TREE`].
async fn check(cases: &[(&str, &str)]) {
    for (script, output) in cases {
        let result = run(&format!("{TREE}{script}")).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (*output, "", 0), "{script}");
    }
}

#[tokio::test]
async fn find_visits_all_files_in_order() {
    check(&[
        ("find a", "a\na/b\na/b/c\na/b/c/z.txt\na/b/y.md\na/l\na/x.txt\n"),
        ("cd a/b; find", ".\n./c\n./c/z.txt\n./y.md\n"),
        ("find a/b/c/ e", "a/b/c/\na/b/c/z.txt\ne\n"),
        ("find a -depth -type d", "a/b/c\na/b\na\n"),
        ("find -L a/l", "a/l\na/l/c\na/l/c/z.txt\na/l/y.md\n"),
        ("find -H a/l -maxdepth 1", "a/l\na/l/c\na/l/y.md\n"),
    ])
    .await;
}

#[tokio::test]
async fn find_limits_its_depth() {
    check(&[
        ("find a -maxdepth 1", "a\na/b\na/l\na/x.txt\n"),
        ("find a -mindepth 1 -type f", "a/b/c/z.txt\na/b/y.md\na/x.txt\n"),
        ("find a -mindepth 1 -type d", "a/b\na/b/c\n"),
        ("find a -mindepth 2 -maxdepth 2", "a/b/c\na/b/y.md\n"),
        ("find a -name b -prune -o -print", "a\na/l\na/x.txt\n"),
        ("find a -name c -quit", ""),
    ])
    .await;
}

#[tokio::test]
async fn find_tests_files() {
    check(&[
        ("find . -name '*.txt'", "./a/b/c/z.txt\n./a/x.txt\n"),
        ("find . -iname X.TXT -o -path '*/b/y*'", "./a/b/y.md\n./a/x.txt\n"),
        ("find . -type l -lname b", "./a/l\n"),
        ("find a -xtype d -name l", "a/l\n"),
        ("find . -empty", "./a/b/y.md\n./e\n"),
        ("find . -type f -size +4c", "./a/b/c/z.txt\n"),
        ("find . -regex '.*[xz]\\.txt' ! -newer a/x.txt -name x.txt", "./a/x.txt\n"),
        ("chmod 640 a/x.txt; find . -perm 640 -o -perm /111 -name x.txt", "./a/x.txt\n"),
        ("touch -d 2001-02-03 a/x.txt; find . ! -newermt 2002-01-01 -mtime +30", "./a/x.txt\n"),
        ("find . -samefile a/x.txt", "./a/x.txt\n"),
        ("find . -name '*.md' -readable -user sandbox -group sandbox -links 1", "./a/b/y.md\n"),
    ])
    .await;
}

#[tokio::test]
async fn find_runs_commands_as_predicates() {
    check(&[
        ("find a -name '*.txt' -exec cat {} ';'", "12345\n1\n"),
        ("find a -type f -exec echo {} +", "a/b/c/z.txt a/b/y.md a/x.txt\n"),
        ("find a -type f -exec grep -q 1 {} ';' -print", "a/b/c/z.txt\na/x.txt\n"),
        ("find a -name z.txt -execdir echo {} ';'", "./z.txt\n"),
        ("find a -name '*.txt' -printf '%f ' -exec cat {} ';'", "z.txt 12345\nx.txt 1\n"),
        ("find a -name y.md -delete; find a -name '*.md'", ""),
        ("find a -name '*.txt' -fprint out -o -name y.md -print; cat out", "a/b/y.md\na/b/c/z.txt\na/x.txt\n"),
    ])
    .await;
    let result = run(&format!("{TREE}printf 'y\\nn\\n' | find a -name '*.txt' -ok echo {{}} ';'")).await;
    assert_eq!(result.stdout, "a/b/c/z.txt\n");
    assert_eq!(result.stderr, "< echo ... a/b/c/z.txt > ? < echo ... a/x.txt > ? ");
}

#[tokio::test]
async fn find_tells_of_what_is_missing_and_of_loops() {
    for (script, output, messages) in [
        ("find gone e", "e\n", "find: 'gone': No such file or directory\n"),
        ("find e -newer gone", "", "find: 'gone': No such file or directory\n"),
        ("find a/b -depth -name b -delete", "", "find: cannot delete 'a/b': Directory not empty\n"),
        (
            "ln -s .. e/up; find -L e",
            "e\n",
            "find: File system loop detected; 'e/up/e' is part of the same file system loop as 'e'.\n",
        ),
    ] {
        let result = run(&format!("{TREE}{script} | grep -v /")).await;
        let failed = run(&format!("{TREE}{script} > out")).await;
        assert_eq!((&*result.stdout, &*failed.stderr, failed.exit_code), (output, messages, 1), "{script}");
    }
}

#[tokio::test]
async fn parts_of_formats_that_mean_nothing_cause_warnings() {
    let result = run(&format!("{TREE}find e -printf '%q\\q%-5f%Tq%%\\n'")).await;
    let warnings = "find: warning: unrecognized format directive `%q'\nfind: warning: unrecognized escape `\\q'\n";
    assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("%q\\qe    %q%\n", warnings, 0));
}
