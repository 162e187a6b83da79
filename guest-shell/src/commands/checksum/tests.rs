//! Scripts with checksums, with what the programs print of them.

use crate::commands::testing::run;

const FILES: &str = "printf 'hello\\n' > a; printf x > 'b c'; printf q > 'n\\m'; sha256sum a 'b c' > S; ";

async fn check(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(&format!("{FILES}{script}")).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn checksum_digests_are_known_ones() {
    check(&[
        ("md5sum a", "b1946ac92492d2347c6235b4d2611184  a\n", 0),
        ("sha1sum < a", "f572d396fae9206628714fb2ce00f72e94f2258f  -\n", 0),
        ("sha256sum - < a", "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  -\n", 0),
        ("printf '' | sha224sum | cut -c 1-56", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f\n", 0),
        ("printf '' | sha384sum | cut -c 1-48", "38b060a751ac96384cd9327eb1b1e36a21fdb71114be0743\n", 0),
        ("printf '' | sha512sum | cut -c 1-40", "cf83e1357eefb8bdf1542850d66d8007d620e405\n", 0),
        ("printf '' | b2sum | cut -c 1-40", "786a02f742015903c6c6fd852552d272912f4740\n", 0),
        ("b2sum -l 128 --tag a", "BLAKE2b-128 (a) = ea41b4de6c03f13a95758b28dd75693e\n", 0),
        ("b2sum -l 256 a | b2sum -c; b2sum -l 256 --tag a | b2sum -c", "a: OK\na: OK\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn checksum_lines_have_the_form_that_is_asked_for() {
    check(&[
        ("md5sum --tag a; md5sum -b a; md5sum -z a | tr '\\0' '!'", FORMS, 0),
        ("md5sum 'n\\m' | cut -c 1,34-", "\\  n\\\\m\n", 0),
        ("sha256sum 'n\\m' > T; sha256sum -c T", "n\\m: OK\n", 0),
        (
            "shasum -a 224 a | cut -c 57-; shasum --tag a",
            "  a\nSHA1 (a) = f572d396fae9206628714fb2ce00f72e94f2258f\n",
            0,
        ),
    ])
    .await;
}

const FORMS: &str = "MD5 (a) = b1946ac92492d2347c6235b4d2611184\nb1946ac92492d2347c6235b4d2611184 *a\n\
                     b1946ac92492d2347c6235b4d2611184  a!";

#[tokio::test]
async fn checksum_lists_are_checked() {
    check(&[
        ("sha256sum -c S; sha256sum --quiet -c S", "a: OK\nb c: OK\n", 0),
        ("echo bad > a; sha256sum -c S 2>&1", CHANGED, 1),
        ("rm a; sha256sum -c --ignore-missing S", "b c: OK\n", 0),
        ("rm a; sha256sum -c S 2>/dev/null", "a: FAILED open or read\nb c: OK\n", 1),
        ("echo junk >> S; sha256sum -c --strict S 2>/dev/null", "a: OK\nb c: OK\n", 1),
        ("md5sum -c S 2>&1", "md5sum: S: no properly formatted checksum lines found\n", 1),
        ("echo junk | md5sum -c 2>&1", "md5sum: 'standard input': no properly formatted checksum lines found\n", 1),
        ("shasum -c S; shasum -a 256 -c S", "a: OK\nb c: OK\na: OK\nb c: OK\n", 0),
        ("echo bad > a; sha256sum --status -c S", "", 1),
    ])
    .await;
}

const CHANGED: &str = "a: FAILED\nb c: OK\nsha256sum: WARNING: 1 computed checksum did NOT match\n";

#[tokio::test]
async fn cksum_algorithm_is_the_one_that_is_named() {
    check(&[
        ("cksum a; cksum < a", "3015617425 6 a\n3015617425 6\n", 0),
        ("cksum -a md5 a; cksum -a md5 --untagged a", CKSUM_MD5, 0),
        ("cksum -a bsd a; cksum -a sysv a; cksum -a crc a", "36979     1 a\n542 1 a\n3015617425 6 a\n", 0),
        ("cksum -a blake2b -l 128 a", "BLAKE2b-128 (a) = ea41b4de6c03f13a95758b28dd75693e\n", 0),
        ("cksum -a sha1 a | cksum -c; cksum -a sha1 a > T; cksum -a sha1 -c T", "a: OK\na: OK\n", 0),
        ("cksum -c S 2>&1", "cksum: S: no properly formatted checksum lines found\n", 1),
        ("cksum -l 8 a 2>&1", "cksum: --length is only supported with --algorithm=blake2b\n", 1),
        ("cksum -a nope a 2>&1 | head -1", "cksum: invalid argument 'nope' for '--algorithm'\n", 0),
    ])
    .await;
}

const CKSUM_MD5: &str = "MD5 (a) = b1946ac92492d2347c6235b4d2611184\nb1946ac92492d2347c6235b4d2611184  a\n";

#[tokio::test]
async fn checksum_wrong_calls_are_errors() {
    for (script, message) in [
        ("sha256sum -q", "sha256sum: invalid option -- 'q'"),
        ("sha256sum --nope", "sha256sum: unrecognized option '--nope'"),
        ("sha256sum --quiet a", "sha256sum: the --quiet option is meaningful only when verifying checksums"),
        ("sha256sum -c --tag a", "sha256sum: the --tag option is meaningless when verifying checksums"),
        ("b2sum -l 7 a", "b2sum: invalid length: '7'"),
        ("b2sum -l 520 a", "b2sum: invalid length: '520'"),
        ("shasum -a 3 a", "shasum: Unrecognized algorithm"),
        ("md5sum none", "md5sum: none: No such file or directory"),
    ] {
        let result = run(script).await;
        assert_eq!((result.stderr.lines().next().unwrap_or_default(), result.exit_code), (message, 1), "{script}");
    }
}
