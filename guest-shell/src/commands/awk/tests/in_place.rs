//! Tests of files that are edited in place.

use crate::commands::testing::run;

#[tokio::test]
async fn in_place_edit_replaces_each_file_with_what_was_printed_for_it() {
    for (script, expected) in [
        ("echo abc > f; gawk -i inplace '{print toupper($0)}' f; cat f", "ABC\n"),
        ("echo 1 > f; echo 2 > g; awk -i inplace 'FNR==1{print FILENAME}1' f g; cat f g", "f\n1\ng\n2\n"),
        ("echo a > f; awk -i inplace 'BEGIN{print \"b\"} {print \"x\"} END{print \"e\"}' f; cat f", "b\ne\nx\n"),
        ("echo a > f; awk -i inplace -v inplace::suffix=.bak '{sub(/a/,\"x\")}1' f; cat f f.bak", "x\na\n"),
        ("echo a > f; awk --include=inplace -v INPLACE_SUFFIX=.o '{printf \"%s\", NR}' f; cat f f.o", "1a\n"),
        ("printf 'a\\nb\\n' > f; awk -i inplace '{print NR; exit} END{print \"e\"}' f; cat f", "e\n1\n"),
        ("echo a > f; awk -i inplace -v inplace::enable=0 '{print \"out\"}' f; cat f", "out\na\n"),
        ("echo in | awk -i inplace '{print \"<\" $0}'", "<in\n"),
    ] {
        let result = run(script).await;
        assert_eq!(&*result.stdout, expected, "{script}: {}", &*result.stderr);
    }
}

#[tokio::test]
async fn library_comes_before_the_program() {
    let script = "echo 'function f(x) { return 2 * x }' > lib.awk; awk -i lib.awk 'BEGIN { print f(4) }'";
    assert_eq!(run(script).await.stdout, "8\n");
}
