//! Scripts with `gzip`, `gunzip` and `zcat`, with what GNU's print of them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::testing::run;

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("echo a > f; gzip f; ls", "f.gz\n"),
    ("echo a > f; gzip f; gzip -d f.gz; ls; cat f", "f\na\n"),
    ("echo a > f; gzip -k f; ls; zcat f.gz", "f\nf.gz\na\n"),
    ("echo a > f; gzip f; gunzip f.gz; cat f", "a\n"),
    ("gzip none 2>&1; echo $?", "gzip: none: No such file or directory\n1\n"),
    ("echo a > f.gz; gzip f.gz 2>&1; echo $?", "gzip: f.gz already has .gz suffix -- unchanged\n0\n"),
    ("mkdir d; gzip d 2>&1; echo $?", "gzip: d is a directory -- ignored\n2\n"),
];

#[tokio::test]
async fn gzip_output_is_gnus() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}
