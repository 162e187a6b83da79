//! Results of zstd 1.5.4 for scripts.

use crate::commands::testing::run;

async fn check(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(script).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn zstd_and_unzstd_round_trip_files() {
    check(&[
        ("seq 200 > f; cp f g; zstd -q f; ls; zstdcat f.zst | cmp - g; unzstd -qf f.zst; cmp f g", "f\nf.zst\ng\n", 0),
        ("seq 200 > f; zstd -q --rm f; ls; zstd -dq --rm f.zst; ls", "f.zst\nf\n", 0),
        ("seq 9 | zstd -19 -T0 | zstd -d | tail -1; seq 9 | zstd -o x -q; zstd -dc x | head -1", "9\n1\n", 0),
        ("seq 9 > f; zstd -q f -o out; zstd -dcq out f.zst 2> /dev/null | wc -l", "9\n", 0),
        ("seq 9 > f; zstd -q f; cat f.zst f.zst | zstd -d | wc -l; zstd -tq f.zst && echo ok", "18\nok\n", 0),
        ("printf '' | zstd | zstd -d | wc -c; echo plain | zstdcat", "0\nplain\n", 0),
        ("seq 30000 | zstd | zstd -d | cmp - <(seq 30000) && echo same", "same\n", 0),
    ])
    .await;
}

/// `seq 120 | zstd -19 -c | base64`
const SEQUENCE: &str = "KLUv/QRoVQUARpcpCbDrJEmIcFKYdSMAJwAnAEsccWPGEF+3Xp36dOnR29mhHzdenPhw4cHLyYHfdk3PctwZDy100KVJA32zzTXTPLPMMXfmDPPJJpdM8sgih1yZMsgXW1wxxRMB0z233HH35g332WaXTfbYYoddmzbYV1tdNdVTSx11a9ZQH2100UQBQ/mRG3mRE/mQC3mQl5zkQH7ADXgBJ+ADXIAH8AIncAB+t911AQCZa+ca";

#[tokio::test]
async fn zstd_reads_what_the_c_library_wrote() {
    check(&[(&format!("echo {SEQUENCE} | base64 -d | zstd -d | cmp - <(seq 120) && echo same"), "same\n", 0)]).await;
}

#[tokio::test]
async fn zstd_tells_of_files_and_failures() {
    for (script, message, status) in [
        ("seq 200 > f; zstd -d < f", "zstd: /*stdin*\\: unsupported format ", 1),
        ("zstd none", "zstd: can't stat none : No such file or directory -- ignored ", 1),
        ("mkdir d; zstd d", "zstd: d is a directory -- ignored ", 1),
        ("echo a > a; touch a.zst; zstd a", "zstd: a.zst already exists; overwrite (y/n) ? Not overwritten  ", 1),
        ("seq 99 | zstd | head -c 50 | zstd -d", "/*stdin*\\ : Read error (39) : premature end ", 1),
        ("printf '' > e; zstd e", "e                    :  (     0 B =>     13 B, e.zst) ", 0),
        ("seq 200 > f; zstd -q f; zstd -df f.zst", "f.zst               : 692 bytes ", 0),
        ("seq 200 > f; zstd -q f; zstd -t f.zst", "f.zst               : 692 bytes ", 0),
        ("echo a > f; zstd --format=gzip f", "zstd: --format=gzip: only zstd is written; use `gzip` or `xz`", 1),
        ("zstd --nope", "Incorrect parameters ", 1),
    ] {
        let result = run(script).await;
        let first = result.stderr.lines().next().unwrap_or_default().to_owned();
        assert_eq!((&*first, result.exit_code), (message, status), "{script}");
    }
}
