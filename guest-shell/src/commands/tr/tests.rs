//! Scripts with `tr` and the output of GNU's, and tests of sets.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::set::{SetItem, parse_set};
use crate::commands::testing::run;

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("printf 'hello world' | tr a-z A-Z", "HELLO WORLD"),
    ("printf 'hello world' | tr '[:lower:]' '[:upper:]'", "HELLO WORLD"),
    ("printf 'hello world' | tr -d aeiou", "hll wrld"),
    ("printf 'a:b:c' | tr : -", "a-b-c"),
    ("printf 'heeelllo   wooorld' | tr -s 'eol '", "helo world"),
    ("printf 'hello123\\n' | tr -cd '0-9\\n'", "123\n"),
    ("printf 'hello123\\n' | tr -Cd '0-9\\n'", "123\n"),
    ("printf 'the  quick  fox' | tr -ds aeiou ' '", "th qck fx"),
    ("printf 'hello, world!' | tr -d '[:punct:]'", "hello world"),
    ("printf 'hello   world\\n\\n' | tr -s '[:space:]'", "hello world\n"),
    ("printf 'aabbcc' | tr -s a-z A-Z", "ABC"),
    ("printf 'hello 123 world' | tr -cs '[:alpha:]' '\\n'", "hello\nworld"),
    ("printf 'hällo' | tr ä x", "hxxllo"),
    ("printf abcd | tr -t abcd xy", "xycd"),
    ("printf aabbc | tr --complement -s a", "aabc"),
    ("printf abcd | tr abcd 'x[y*2]z'", "xyyz"),
    ("printf abcd | tr abcd '[x*]z'", "xxxz"),
];

#[tokio::test]
async fn tr_output_is_gnus() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn tr_failures_have_messages() {
    for (script, message) in [
        ("tr -Q a b", "tr: invalid option -- 'Q'\n"),
        ("tr a", "tr: missing operand after 'a'\nTwo strings must be given when translating.\n"),
        ("tr -d a b", "tr: extra operand 'b'\nOnly one string may be given when deleting"),
        ("tr z-a b", "tr: range-endpoints of 'z-a' are in reverse collating sequence order\n"),
        ("tr '[:none:]' b", "tr: invalid character class 'none'\n"),
        ("tr '[a*]' b", "tr: the [c*] repeat construct may not appear in string1\n"),
        ("tr a-z '1[:upper:]'", "tr: misaligned [:upper:] and/or [:lower:] construct\n"),
    ] {
        let result = run(script).await;
        assert!(result.stderr.starts_with(message), "{script}: {}", &*result.stderr);
        assert_eq!(result.exit_code, 1, "{script}");
    }
}

fn expanded(set: &str) -> Vec<u8> {
    parse_set(set).expect("a right set").iter().flat_map(SetItem::bytes).collect()
}

#[test]
fn set_has_the_bytes_of_its_items() {
    for (set, bytes) in [
        ("abc", "abc"),
        ("a-c0-2", "abc012"),
        ("\\101", "A"),
        ("\\1018", "A8"),
        ("\\0-\\2", "\0\x01\x02"),
        ("a\\-", "a-"),
        ("x\\", "x\\"),
        ("[=a=]", "a"),
        ("[a*03]", "aaa"),
        ("[:blank:]", "\t "),
        ("[:space:]", "\t\n\x0b\x0c\r "),
        ("[:digit:]", "0123456789"),
        ("[:xdigit:]", "0123456789ABCDEFabcdef"),
        ("[:upper:]", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        ("[:punct:]", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    ] {
        assert_eq!(expanded(set), bytes.as_bytes(), "{set}");
    }
    for (class, count) in [("lower", 26), ("alpha", 52), ("alnum", 62), ("cntrl", 33), ("graph", 94), ("print", 95)] {
        assert_eq!(expanded(&format!("[:{class}:]")).len(), count, "{class}");
    }
}
