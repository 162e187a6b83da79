//! Results of XZ Utils 5.4.1 for scripts.

use crate::commands::testing::run;

async fn check(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(script).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn xz_and_unxz_round_trip_files() {
    check(&[
        ("seq 200 > f; cp f g; xz f; ls; xzcat f.xz | cmp - g; unxz -k f.xz; ls; cmp f g", "f.xz\ng\nf\nf.xz\ng\n", 0),
        ("seq 200 > f; for l in 0 3 6 9 9e; do xz -c$l f | xz -dc | cmp - f; done; ls", "f\n", 0),
        ("seq 200 > f; xz -k f; cat f.xz f.xz | xz -d | wc -l; xz -t f.xz && echo ok", "400\nok\n", 0),
        ("printf '' | xz | xz -d | wc -c; printf '\\0\\377' | xz -T0 | xzcat | od -An -tx1", "0\n 00 ff\n", 0),
        ("echo a > f; chmod 600 f; xz f; stat -c %a f.xz; xz -d f.xz; cat f", "600\na\n", 0),
        ("seq 9 > f; lzma -k f; rm f; unlzma f.lzma; tail -1 f; xz -F lzma -k f; lzcat f.lzma | tail -1", "9\n9\n", 0),
        ("seq 9000 | xz -0 | xz -d | cmp - <(seq 9000) && echo same", "same\n", 0),
        ("echo plain | xzcat -f", "plain\n", 0),
    ])
    .await;
}

/// `printf 'hello\n' | xz -C sha256 | base64`
const XZ_WITH_SHA256: &str = "/Td6WFoAAArh+wyhAgAhARYAAAB0L+WjAQAFaGVsbG8KAAAAWJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgMAATYGa4H5QBibS5oBAAAAAApZWg==";

/// `printf 'hello\n' | xz -F lzma | base64`
const LZMA: &str = "XQAAgAD//////////wA0GUnujd09Ot///90SAAA=";

/// `seq 120 | xz --x86 --lzma2 -c | base64`
const XZ_WITH_A_FILTER: &str = "/Td6WFoAAATm1rRGAgEEACEBFgANhjUf4AFzAKVdABiCgo8iTvimVffwmaUlDZBFkVpRtJvKrNwFMuyFUp+xSG3v3OhLuWG64JxTf5jIqVQO/D0q0wbXZkQ9VmSmzT3Xxx9E9BjfAgs/4sbGe+Hnf3lEHHm3Qq5luBu1DoThmoIGIzlaf3KqQ/qlmh+SwL5FcXlK1ZPGkAo5rZxlhyq2GjjH4ZMXytA+CeqwUvAQYCbAXl8QkQ25eXh9l0Jg0KY4dIcMQAAAAAC6BfoJ5gNulAABwQH0AgAA4mUBLrHEZ/sCAAAAAARZWg==";

#[tokio::test]
async fn xz_reads_what_xz_utils_wrote() {
    for (data, command, output) in [
        (XZ_WITH_SHA256, "xz -d", "hello\n"),
        (XZ_WITH_SHA256, "xz -dc -F xz", "hello\n"),
        (LZMA, "unlzma", "hello\n"),
        (LZMA, "xzcat", "hello\n"),
        (XZ_WITH_A_FILTER, "xz -dc | tail -1", "120\n"),
    ] {
        check(&[(&format!("echo {data} | base64 -d | {command}"), output, 0)]).await;
    }
}

#[tokio::test]
async fn xz_failures_have_messages_and_a_status() {
    for (script, message, status) in [
        ("xz none", "xz: none: No such file or directory", 1),
        ("mkdir d; xz d", "xz: d: Is a directory, skipping", 2),
        ("touch a.xz; xz a.xz", "xz: a.xz: File already has `.xz' suffix, skipping", 2),
        ("echo a | xz > a; xz -d a", "xz: a: Filename has an unknown suffix, skipping", 2),
        ("echo a > a; xz -d a", "xz: a: File format not recognized", 1),
        ("echo a > a; touch a.xz; xz a", "xz: a.xz: File exists", 1),
        ("echo junk > j.xz; unxz j.xz", "unxz: j.xz: File format not recognized", 1),
        ("seq 99 | xz | head -c 50 | xz -d", "xz: (stdin): Unexpected end of input", 1),
        ("seq 99 > f; xz f; printf xxxx | dd of=f.xz bs=1 seek=40 conv=notrunc 2>&-; xz -t f.xz", CORRUPT, 1),
        ("seq 200 > f; xz -kv f", "f: 280 B / 692 B = 0.405", 0),
        ("xz -F raw", "xz: raw streams are not supported; use --format=xz or lzma", 1),
    ] {
        let result = run(script).await;
        let first = result.stderr.lines().next().unwrap_or_default().to_owned();
        assert_eq!((&*first, result.exit_code), (message, status), "{script}");
    }
}

const CORRUPT: &str = "xz: f.xz: Compressed data is corrupt";

#[tokio::test]
async fn xz_lists_the_sizes_that_an_index_tells() {
    check(&[
        (
            "seq 200 > f; xz -k f; xz -l f.xz",
            "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename\n    1       1        280 B        692 B  0.405  CRC64   f.xz\n",
            0,
        ),
        ("seq 200 > f; xz -k f; cat f.xz f.xz > g.xz; xz -l f.xz g.xz | tail -1", TOTALS, 0),
        ("seq 30 > j.xz; xz -l j.xz 2>&1", "xz: j.xz: File format not recognized\n", 1),
        ("echo a > j.xz; xz -l j.xz 2>&1", "xz: j.xz: Too small to be a valid .xz file\n", 1),
    ])
    .await;
}

const TOTALS: &str = "    3       3        840 B       2076 B  0.405  CRC64   2 files\n";
