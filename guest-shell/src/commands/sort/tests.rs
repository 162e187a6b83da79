//! Scripts with `sort`, and the output of GNU's.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::testing::run;

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("printf 'banana\\napple\\ncherry' | sort", "apple\nbanana\ncherry\n"),
    ("printf 'b\\na\\nc\\n' | sort -r", "c\nb\na\n"),
    ("printf '10\\n2\\n-3\\n1\\n' | sort -n", "-3\n1\n2\n10\n"),
    ("printf 'b\\na\\nb\\n' | sort -u", "a\nb\n"),
    ("printf 'Banana\\napple\\nCherry\\n' | sort -f", "apple\nBanana\nCherry\n"),
    ("printf '10K\\n1k\\n100M\\n-1G\\n1023K\\n' | sort -h", "-1G\n1k\n10K\n1023K\n100M\n"),
    ("printf 'mar\\nJan\\nxyz\\n  Feb\\n' | sort -M", "xyz\nJan\n  Feb\nmar\n"),
    ("printf '1e3\\n0x10\\nabc\\nnan\\n10\\n-inf\\n' | sort -g", "abc\nnan\n-inf\n10\n0x10\n1e3\n"),
    (
        "printf '1.10\\n1.2\\na~\\na.~1~\\na.tar.gz\\na2.tar.gz\\n.\\n..\\n.x\\n' | sort -V",
        ".\n..\n.x\n1.2\n1.10\na~\na.~1~\na.tar.gz\na2.tar.gz\n",
    ),
    ("printf '1\\n01\\nb\\na\\n' | sort -nu", "b\n1\n"),
    ("printf 'a 2 z\\nb 10 a\\nc 2 b\\n' | sort -r -k2n", "c 2 b\na 2 z\nb 10 a\n"),
    ("printf 'b:2\\na:1\\nc:3\\n' | sort -t: -k2nr", "c:3\nb:2\na:1\n"),
    ("printf 'a  2\\nb 1\\n' | sort -k2,2", "a  2\nb 1\n"),
    ("printf 'a  2\\nb 1\\n' | sort -k2b,2", "b 1\na  2\n"),
    ("printf 'xb\\nya\\n' | sort -k1.2,1.2", "ya\nxb\n"),
    ("printf 'b-a\\nB a\\nb.c\\n' | sort -dfs", "B a\nb-a\nb.c\n"),
    ("printf 'a\\nb\\n' > f; printf 'a\\nc\\n' | sort -m f -", "a\na\nb\nc\n"),
    ("printf 'b\\0a\\0' | sort -z | tr '\\0' ,", "a,b,"),
    ("printf 'b\\na\\n' > f; sort -o f f; cat f", "a\nb\n"),
    ("printf 'b\\na\\n' | sort -C; echo $?", "1\n"),
    ("printf 'a\\na\\n' | sort -cu 2>&1; echo $?", "sort: -:2: disorder: a\n1\n"),
    ("printf 'a\\nb\\n' | sort -c; echo $?", "0\n"),
    ("sort -k0 f 2>/dev/null; echo $?", "2\n"),
    ("sort -Q 2>/dev/null; echo $?", "2\n"),
    ("printf 'b\\na\\n' | sort --rev --sort=g", "b\na\n"),
];

#[tokio::test]
async fn sort_output_is_gnus() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn sort_messages_about_options_and_outputs_are_gnus() {
    for (script, message) in [
        ("sort --foo=bar", "sort: unrecognized option '--foo=bar'\nTry 'sort --help' for more information.\n"),
        (
            "sort --reverse=x",
            "sort: option '--reverse' doesn't allow an argument\nTry 'sort --help' for more information.\n",
        ),
        (
            "sort --ig",
            "sort: option '--ig' is ambiguous; possibilities: '--ignore-leading-blanks' '--ignore-case' '--ignore-nonprinting'\nTry 'sort --help' for more information.\n",
        ),
        ("mkdir d; echo a | sort -o d", "sort: open failed: d: Is a directory\n"),
        ("echo a | sort -k1.0", "sort: character offset is zero: invalid field specification '1.0'\n"),
        ("echo a | sort -k1x", "sort: stray character in field spec: invalid field specification '1x'\n"),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stderr, result.exit_code), (message, 2), "{script}");
    }
}
