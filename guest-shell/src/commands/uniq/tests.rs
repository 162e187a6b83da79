//! Scripts with `uniq`, and the output of GNU's.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::testing::run;

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("printf 'a\\na\\nb\\nb\\nb\\nc' | uniq", "a\nb\nc\n"),
    ("printf 'a\\na\\nb\\n' | uniq -c", "      2 a\n      1 b\n"),
    ("printf 'a\\na\\nb\\n' | uniq -d", "a\n"),
    ("printf 'a\\na\\nb\\n' | uniq -u", "b\n"),
    ("printf 'a\\nA\\nb\\n' | uniq -i", "a\nb\n"),
    ("printf 'x a\\ny a\\nx b\\n' | uniq -f1", "x a\nx b\n"),
    ("printf 'xa\\nya\\nxb\\n' | uniq -s 1", "xa\nxb\n"),
    ("printf 'aab\\naac\\nb\\n' | uniq -w2", "aab\nb\n"),
    ("printf 'a\\na\\nb\\nc\\nc\\nc\\n' | uniq -D --all-repeated=separate", "a\na\n\nc\nc\nc\n"),
    ("printf 'a\\na\\nc\\nc\\n' | uniq -D --all-repeated=prepend", "\na\na\n\nc\nc\n"),
    ("printf 'a\\na\\nc\\nc\\nc\\n' | uniq -Du", "a\nc\nc\n"),
    ("printf 'a\\na\\nc\\n' | uniq --group=both", "\na\na\n\nc\n\n"),
    ("printf 'a\\na\\nc\\n' | uniq --group", "a\na\n\nc\n"),
    ("printf 'a\\na\\nc\\n' | uniq --group=append", "a\na\n\nc\n\n"),
    ("printf 'a\\0a\\0b' | uniq -z | tr '\\0' ,", "a,b,"),
    ("printf 'a\\na\\n' > f; uniq f o; cat o", "a\n"),
    ("printf 'a\\na\\n' > f; uniq f f; wc -c < f", "0\n"),
    ("printf 'a\\n' | uniq -c --group 2>/dev/null; echo $?", "1\n"),
    ("uniq -Q 2>/dev/null; echo $?", "1\n"),
    ("uniq -f x 2>/dev/null; echo $?", "1\n"),
    ("uniq a b c 2>/dev/null; echo $?", "1\n"),
];

#[tokio::test]
async fn uniq_output_is_gnus() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}
