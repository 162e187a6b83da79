//! Scripts with `od` and the output of GNU's, and tests of its options.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::element::{ElementForm, ElementType};
use super::options::{AddressRadix, OdOptions};
use crate::commands::testing::{assert_no_leak, run};

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("printf AB | od", "0000000 041101\n0000002\n"),
    ("printf AB | od -t x", "0000000 00004241\n0000002\n"),
    ("printf A | od -t d", "0000000          65\n0000001\n"),
    ("printf 'A\\n' | od -t c", "0000000   A  \\n\n0000002\n"),
    ("printf test | od -A x", "000000 062564 072163\n000004\n"),
    ("printf test | od -A d -t x1", "0000000 74 65 73 74\n0000004\n"),
    ("printf AB | od -A n -t x", " 00004241\n"),
    ("printf ABCD | od -N 2 -t x1", "0000000 41 42\n0000002\n"),
    ("printf ABCD | od -j 2 -t x1", "0000002 43 44\n0000004\n"),
    ("printf '' | od", "0000000\n"),
    ("printf AB > f; od -t x1 f f", "0000000 41 42 41 42\n0000004\n"),
    ("printf 'A\\n' | od -An -tx1 -c", "  41  0a\n   A  \\n\n"),
    ("printf abc | od -t x2z", "0000000 6261 0063                                >abc<\n0000003\n"),
    ("printf aaaaaaaaaaaa | od -An -tx1 -w4", " 61 61 61 61\n*\n"),
    ("printf aaaaaaaa | od -An -v -tx1 -w4", " 61 61 61 61\n 61 61 61 61\n"),
    ("printf '\\177 ' | od -An -ta -td1", "  del   sp\n  127   32\n"),
    ("printf '\\1\\2\\3\\4' | od -An -tx2 --endian=big", " 0102 0304\n"),
    ("printf '\\377\\377' | od -An -td2 -tu1", "      -1\n 255 255\n"),
];

#[tokio::test]
async fn od_output_is_gnus() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn od_failures_have_messages() {
    for (script, message) in [
        ("od -tf3 f", "od: invalid type string 'f3';\nthis system doesn't provide a 3-byte floating point type\n"),
        ("od -tx3 f", "od: invalid type string 'x3';\nthis system doesn't provide a 3-byte integral type\n"),
        ("od -tq f", "od: invalid character 'q' in type string 'q'\n"),
        ("od -A q f", "od: invalid output address radix 'q'; it must be one character from [doxn]\n"),
        ("od -N q f", "od: invalid -N argument 'q'\n"),
        ("od -w65537 f", "od: width exceeds maximum of 65536 bytes\n"),
        ("od none", "od: none: No such file or directory\n"),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{script}");
        assert_no_leak(&result, "od", &[]);
    }
}

#[test]
fn od_options_may_be_combined_and_repeated() {
    let words = ["-An", "-t", "x2", "-cc", "--endian=b", "-w8", "-j", "1", "-N", "4", "z"].map(str::to_owned);
    let Ok((options, files)) = OdOptions::parse(&words) else { panic!("the options exist") };
    assert_eq!(files, ["z"]);
    assert_eq!((options.skip, options.count, options.width), (1, Some(4), Some(8)));
    assert!(options.big_endian);
    assert_eq!(options.address_radix, AddressRadix::None);
    let hexadecimal = ElementType { form: ElementForm::Hexadecimal, size: 2, trailer: false };
    let character = || ElementType { form: ElementForm::Character, size: 1, trailer: false };
    assert_eq!(options.types, [hexadecimal, character(), character()]);
}

#[tokio::test]
async fn od_offset_in_the_old_form_is_skipped() {
    for (script, output) in [
        ("printf 0123456789 > f; od -c f +2", "0000002   2   3   4   5   6   7   8   9\n0000012\n"),
        ("printf 0123456789 > f; od -c f 10", "0000010   8   9\n0000012\n"),
        ("printf 0123456789 > f; od -c f +8.", "0000010   8   9\n0000012\n"),
        ("printf 0123456789 | od -c +0x8", "0000010   8   9\n0000012\n"),
        ("printf 0123456789 > f; od -An -c -w2 --traditional f 10", "   8   9\n"),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{script}: {}", &*result.stderr);
    }
    // With an option of the new form it is a file.
    let result = run("printf 0123456789 > f; od -An -c f +2").await;
    assert_eq!((&*result.stderr, result.exit_code), ("od: +2: No such file or directory\n", 1));
}

#[tokio::test]
async fn od_of_floating_point_numbers_shows_the_shortest_text() {
    for (script, output) in [
        (r"printf '\0\0\200\77\0\0\0\300' | od -An -tf4", "               1              -2\n"),
        (
            r"printf '\0\0\0\0\0\0\370\77\0\0\0\0\0\0\360\177' | od -An -tf8",
            "                      1.5                      inf\n",
        ),
        ("printf abcdefgh | od -An -e", "   8.540883223036124e+194\n"),
        ("printf 'no newline' | od -An -tf", "   6.809254394416841e+199              1.2829e-319\n"),
        ("printf 'no ' | od -tfF", "0000000     2.97871e-39\n0000003\n"),
        (r"printf '\0\0\300\177' | od -An -f", "             nan\n"),
    ] {
        let result = run(script).await;
        assert_eq!((&*result.stdout, result.exit_code), (output, 0), "{script}: {}", &*result.stderr);
    }
    let result = run("od -tf2 /dev/null").await;
    assert!(result.stderr.contains("this system doesn't provide a 2-byte floating point type"), "{}", &*result.stderr);
}

#[tokio::test]
async fn od_of_strings_shows_those_that_a_null_byte_ends() {
    let result = run(r"printf 'ab\0abc\0\1defg\0last' | od -A d -S 3").await;
    assert_eq!(&*result.stdout, "0000003 abc\n0000008 defg\n");
}

#[tokio::test]
async fn od_without_one_of_its_files_dumps_the_others() {
    let result = run("printf a > a; printf b > b; od -An -c a nope b").await;
    assert_eq!((&*result.stdout, result.exit_code), ("   a   b\n", 1));
    assert_eq!(&*result.stderr, "od: nope: No such file or directory\n");
    let result = run("printf a | od -j 2").await;
    assert_eq!((&*result.stderr, result.exit_code), ("od: cannot skip past end of combined input\n", 1));
}
