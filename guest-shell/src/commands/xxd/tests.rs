//! Scripts with `xxd`, and the output of Vim's.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::testing::run;

/// Scripts and their output.
const SCRIPTS: &[(&str, &str)] = &[
    ("printf Hello | xxd", "00000000: 4865 6c6c 6f                             Hello\n"),
    ("printf Hi | xxd -p", "4869\n"),
    ("printf 'Hello World' | xxd -l 3 -p", "48656c\n"),
    ("printf Hello | xxd -s 2 -p", "6c6c6f\n"),
    ("printf ABCDEFGH | xxd -c 4", "00000000: 4142 4344  ABCD\n00000004: 4546 4748  EFGH\n"),
    ("printf '' | xxd", ""),
    ("printf AB | xxd -g 1 -c 3", "00000000: 41 42     AB\n"),
    ("printf AB | xxd -b", "00000000: 01000001 01000010                                      AB\n"),
    ("printf 'abcde' | xxd -e -c 8", "00000000: 64636261       65  abcde\n"),
    ("printf '\\0\\1' | xxd -u -d -c 2", "00000000: 0001  ..\n"),
    (
        "printf 'Hi' > 1.txt; xxd -i 1.txt",
        "unsigned char __1_txt[] = {\n  0x48, 0x69\n};\nunsigned int __1_txt_len = 2;\n",
    ),
    ("printf 48656c6c6f | xxd -r -p", "Hello"),
    ("printf '4865 6c6c\\n6f' | xxd -r -p", "Hello"),
    ("printf '00000000: 4865 6c6c 6f                             Hello' | xxd -r", "Hello"),
    ("printf '2: 41' | xxd -r | xxd -p", "000041\n"),
    ("printf AB > f; xxd -p f o; cat o; xxd -p f f; cat f", "4142\n"),
];

#[tokio::test]
async fn xxd_output_is_vims() {
    for (script, output) in SCRIPTS {
        let result = run(script).await;
        assert_eq!(&*result.stdout, *output, "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn reverted_text_that_is_no_dump_gives_what_vims_does() {
    for (script, output) in [
        ("printf '0: 61\\n0: 62\\n' | xxd -r; echo \" $?\"", "a 5\n"),
        ("printf 'b hello\\n0: 62\\n' | xxd -r | xxd -p; echo ${PIPESTATUS[1]}", "0000000000000000000000\n5\n"),
        ("printf '0x41 0x42' | xxd -r -p", "AB"),
        ("printf '4x1 4' | xxd -r -p", "\u{14}"),
        ("printf 0123456789 > u; printf '4: 41\\n2: 42\\n' | xxd -r - u; cat u", "01B3A56789"),
        ("xxd -r -b <<< '0: 01100001  a'; echo $?", "255\n"),
        ("mkdir d; printf '0: 61\\n' | xxd -r - d 2>&1; echo $?", "xxd: d: Is a directory\n3\n"),
        ("printf '0: 61\\n' | xxd -r - new; cat new; printf '0: 62\\n' | xxd -r - /dev/stdout; echo \" $?\"", "ab 0\n"),
    ] {
        assert_eq!(&*run(script).await.stdout, output, "{script}");
    }
}

#[tokio::test]
async fn xxd_failures_have_messages() {
    let usage = "Usage:\n       xxd [options] [infile [outfile]]\n";
    for (script, message, status) in [
        ("xxd -Q", usage, 1),
        ("xxd a b c", usage, 1),
        ("xxd -c x", usage, 1),
        ("xxd -c 257", "xxd: invalid number of columns (max. 256).\n", 1),
        ("xxd none", "xxd: none: No such file or directory\n", 2),
        ("mkdir d; printf a | xxd - d", "xxd: d: Is a directory\n", 3),
    ] {
        let result = run(script).await;
        assert!(result.stderr.starts_with(message), "{script}: {}", &*result.stderr);
        assert_eq!(result.exit_code, status, "{script}");
    }
}

#[tokio::test]
async fn xxd_with_offsets_and_zeros_prints_as_the_real_one() {
    let zeros = "0000 0000 0000 0000 0000 0000 0000 0000  ................";
    for (script, output) in [
        ("xxd -s -3 f", format!("00000007: 696e 65{}ine\n", " ".repeat(34))),
        ("xxd -o 16 -s 2 -l 2 -c 2 f", "00000012: 206e   n\n".to_owned()),
        ("xxd -o -3 -l 1 -c 1 f", "fffffffffffffffd: 6e  n\n".to_owned()),
        ("head -c 64 /dev/zero | xxd -a", format!("00000000: {zeros}\n*\n00000030: {zeros}\n")),
        ("head -c 32 /dev/zero | xxd -a", format!("00000000: {zeros}\n00000010: {zeros}\n")),
        ("xxd -C -i -l 1 f", "unsigned char F[] = {\n  0x6e\n};\nunsigned int F_LEN = 1;\n".to_owned()),
        ("xxd -r -s 2 <<< '0: 61' | xxd -p", "000061\n".to_owned()),
        ("xxd -r -s -2 <<< '00000002: 61'", "a".to_owned()),
    ] {
        let result = run(&format!("printf 'no newline' > f; {script}")).await;
        assert_eq!((&*result.stdout, result.exit_code), (&*output, 0), "{script}");
    }
    for script in ["xxd -s -30 f", "cat f | xxd -s -3"] {
        let result = run(&format!("printf 'no newline' > f; {script}")).await;
        assert_eq!((&*result.stderr, result.exit_code), ("xxd: Sorry, cannot seek.\n", 4), "{script}");
    }
}
