//! Scripts with `cut`, with what GNU's prints of them, and lists of positions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::range_list::{PositionUnit, RangeList};
use crate::commands::testing::run;

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("printf 'a,b,c\\n1,2,3\\n' | cut -d , -f 2", "b\n2\n"),
    ("printf 'a,b,c\\n1,2,3\\n' | cut -d , -f 1,3", "a,c\n1,3\n"),
    ("printf 'a,b,c,d\\n' | cut -d , -f 1-2", "a,b\n"),
    ("printf 'a,b,c,d\\n' | cut -d , --complement -f 2", "a,c,d\n"),
    ("printf 'a,b,c\\nno delim\\nx,y\\n' | cut -d , -f 1 -s", "a\nx\n"),
    ("printf 'hello world\\n' | cut -c 1-5", "hello\n"),
    ("printf 'hello\\n' | cut -b1,3,5", "hlo\n"),
    ("printf 'hello\\n' | cut -b1,3,5 --output-delimiter=:", "h:l:o\n"),
    ("printf 'äöü\\n' | cut -c 1-4", "äö\n"),
    ("printf 'a\\tb\\nc\\n' | cut -sf1", "a\n"),
    ("printf 'a:b\\n' | cut --delimiter=: --fields=2 --complement", "a\n"),
    ("printf 'abc\\n\\nx:y\\n' | cut -d: -f2", "abc\n\ny\n"),
    ("printf 'a:b\\0c:d\\0' | cut -z -d: -f2 | tr '\\0' ,", "b,d,"),
    ("printf 'a\\nb\\nc\\n' | cut -d $'\\n' -f 2-", "b\nc\n"),
    ("printf 'a\\nb\\nc' | cut -d $'\\n' -f 1,3 --output-delimiter=,", "a,c\n"),
];

#[tokio::test]
async fn cut_output_is_gnus() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn cut_failures_have_messages() {
    for (script, message) in [
        ("cut -Q -f1", "cut: invalid option -- 'Q'\nTry 'cut --help' for more information.\n"),
        ("cut -f1 -b1", "cut: only one list may be specified\nTry 'cut --help' for more information.\n"),
        (
            "cut -f 1,18446744073709551615",
            "cut: field number '18446744073709551615' is too large\nTry 'cut --help' for more information.\n",
        ),
        ("cut -f", "cut: option requires an argument -- 'f'\nTry 'cut --help' for more information.\n"),
        ("cut -f1 -d ab", "cut: the delimiter must be a single character\nTry 'cut --help' for more information.\n"),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
    }
}

#[test]
fn range_list_is_sorted_and_merged() {
    let parse = |list: &str| RangeList::parse(list, PositionUnit::Fields);
    assert_eq!(parse("3,1"), Ok(RangeList(vec![(1, 1), (3, 3)])));
    assert_eq!(parse("2-4,3-5"), Ok(RangeList(vec![(2, 5)])));
    assert_eq!(parse("3-"), Ok(RangeList(vec![(3, usize::MAX)])));
    assert_eq!(parse("-3"), Ok(RangeList(vec![(1, 3)])));
    assert_eq!(parse("0"), Err("fields are numbered from 1".to_owned()));
    assert_eq!(parse("3-1"), Err("invalid decreasing range".to_owned()));
    let ranges = RangeList(vec![(2, 3), (5, usize::MAX)]);
    assert_eq!(ranges.complement(), RangeList(vec![(1, 1), (4, 4)]));
}
