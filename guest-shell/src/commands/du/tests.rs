//! Scripts with `du`, with what GNU's prints of them on ext4.

use crate::commands::testing::run;

const FILES: &str = "mkdir -p d/a/b d/c; head -c 5000 /dev/zero > d/f1; head -c 100 /dev/zero > d/a/f2; \
                     head -c 20000 /dev/zero > d/a/b/f3; ln -s f1 d/l; ";

async fn check(cases: &[(&str, &str, i32)]) {
    for (script, output, status) in cases {
        let result = run(&format!("{FILES}{script}")).await;
        assert_eq!((&*result.stdout, result.exit_code), (*output, *status), "{script}\n{}", &*result.stderr);
    }
}

#[tokio::test]
async fn du_counts_blocks_of_files_and_directories() {
    check(&[
        ("du d", "24\td/a/b\n32\td/a\n4\td/c\n48\td\n", 0),
        ("du -ah d", "20K\td/a/b/f3\n24K\td/a/b\n4.0K\td/a/f2\n32K\td/a\n4.0K\td/c\n8.0K\td/f1\n0\td/l\n48K\td\n", 0),
        ("du -sh d; du -sm d; du -s --si d; du -sB1 d; du -sBK d", "48K\td\n1\td\n50k\td\n49152\td\n48K\td\n", 0),
        ("touch z; du z; du -b z", "0\tz\n0\tz\n", 0),
        ("cd d && du -sk *", "32\ta\n4\tc\n8\tf1\n0\tl\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn du_apparent_size_is_the_length_of_files() {
    check(&[
        ("du -b d", "24096\td/a/b\n28292\td/a\n4096\td/c\n41486\td\n", 0),
        ("du -s --apparent-size d; du -sb d", "41\td\n41486\td\n", 0),
        ("du -Sb d", "24096\td/a/b\n4196\td/a\n4096\td/c\n9098\td\n", 0),
        ("du -b d/l; du -bL d/l; du -bD d/l", "2\td/l\n5000\td/l\n5000\td/l\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn du_selection_is_as_the_options_say() {
    check(&[
        ("du -d 1 d; du --max-depth=0 d", "32\td/a\n4\td/c\n48\td\n48\td\n", 0),
        ("du -b --exclude=b d", "4196\td/a\n4096\td/c\n17390\td\n", 0),
        ("echo f3 > p; du -sb -X p d", "21486\td\n", 0),
        ("du -b -t 10000 d; du -b -t -10000 d", "24096\td/a/b\n28292\td/a\n41486\td\n4096\td/c\n", 0),
        ("printf 'd/a\\0d/c\\0' | du -scb --files0-from=-", "28292\td/a\n4096\td/c\n32388\ttotal\n", 0),
        ("du --inodes d", "2\td/a/b\n4\td/a\n1\td/c\n8\td\n", 0),
        ("du -0s d | tr '\\0' '!'", "48\td!", 0),
    ])
    .await;
}

#[tokio::test]
async fn du_directory_in_two_operands_counts_once() {
    check(&[
        ("du -b d d/a", "24096\td/a/b\n28292\td/a\n4096\td/c\n41486\td\n", 0),
        ("du -sbc d/a d", "28292\td/a\n13194\td\n41486\ttotal\n", 0),
    ])
    .await;
}

#[tokio::test]
async fn du_time_is_that_of_the_latest_change() {
    let script = "rm d/l; touch -d '2020-01-02 03:04:05' d d/a d/a/b d/c d/f1 d/a/f2; \
                  touch -d '2021-06-07 08:09:10' d/a/b/f3; \
                  du -s --time d; du -s --time --time-style=+%F d/a; du -s --time d/c";
    let result = run(&format!("{FILES}{script}")).await;
    assert_eq!(&*result.stdout, "48\t2021-06-07 08:09\td\n32\t2021-06-07\td/a\n4\t2020-01-02 03:04\td/c\n");
}

#[tokio::test]
async fn du_wrong_call_is_an_error() {
    check(&[
        ("du none 2>&1", "du: cannot access 'none': No such file or directory\n", 1),
        ("du -as d 2>&1 | head -1", "du: cannot both summarize and show all entries\n", 0),
        ("du -sd1 d 2>&1 | head -1", "du: warning: summarizing conflicts with --max-depth=1\n", 0),
        ("du -sd0 d 2>/dev/null", "48\td\n", 0),
        ("du -d x d 2>&1 | head -1", "du: invalid maximum depth 'x'\n", 0),
        ("du --files0-from=none 2>&1", "du: cannot open 'none' for reading: No such file or directory\n", 1),
        ("du --files0-from=none d 2>&1 | head -1", "du: extra operand 'd'\n", 0),
    ])
    .await;
}
