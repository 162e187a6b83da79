use crate::commands::testing::run;

/// Compares what scripts print, in an empty directory.
async fn check(cases: &[(&str, &str, &str)]) {
    for (script, output, messages) in cases {
        let result = run(&format!("mkdir /t; cd /t; {script}")).await;
        assert_eq!((&*result.stdout, &*result.stderr), (*output, *messages), "{script}");
    }
}

#[tokio::test]
async fn touch_creates_files_and_sets_their_times() {
    check(&[
        ("touch a b; ls", "a\nb\n", ""),
        ("touch -c a; ls", "", ""),
        ("echo x > a; touch a; cat a", "x\n", ""),
        ("touch -t 202401020304.05 a; date -r a '+%F %T'", "2024-01-02 03:04:05\n", ""),
        ("touch -t 6901020304 a; touch -t6801020304 b; date -r a +%F; date -r b +%F", "1969-01-02\n2068-01-02\n", ""),
        ("touch -d '2024-01-02 03:04' a; touch -r a b; date -r b '+%F %T'", "2024-01-02 03:04:00\n", ""),
        ("TZ=Asia/Tokyo touch --date='2024-01-02 03:04' a; date -r a '+%F %T'", "2024-01-01 18:04:00\n", ""),
        ("touch -d @0 a; touch -a a; touch --time=use a; date -r a +%s", "0\n", ""),
        ("touch -d @0 a; touch -am -d @5 a; date -r a +%s", "5\n", ""),
        ("touch -d @0 a; ln -s a l; touch -d @7 l; date -r a +%s", "7\n", ""),
        ("touch -- -a; ls", "-a\n", ""),
    ])
    .await;
}

#[tokio::test]
async fn touch_tells_of_files_that_it_cannot_set() {
    check(&[
        ("touch no/a b; ls", "b\n", "touch: cannot touch 'no/a': No such file or directory\n"),
        ("touch a/", "", "touch: setting times of 'a/': No such file or directory\n"),
        ("touch a; touch a/", "", "touch: setting times of 'a/': Not a directory\n"),
        ("touch -h a", "", "touch: setting times of 'a': No such file or directory\n"),
        ("ln -s b a; touch -h a; touch -ha a", "", "touch: setting times of 'a': Operation not supported\n"),
        ("touch -r gone a", "", "touch: failed to get attributes of 'gone': No such file or directory\n"),
    ])
    .await;
}

#[tokio::test]
async fn touch_refuses_wrong_calls() {
    check(&[
        ("touch", "", "touch: missing file operand\nTry 'touch --help' for more information.\n"),
        ("touch -d nope a", "", "touch: invalid date format 'nope'\n"),
        ("touch -t 2024010 a", "", "touch: invalid date format '2024010'\n"),
        ("touch -t 202402300304 a", "", "touch: invalid date format '202402300304'\n"),
        ("touch -t 0102030405.6 a", "", "touch: invalid date format '0102030405.6'\n"),
        ("touch -d", "", "touch: option requires an argument -- 'd'\nTry 'touch --help' for more information.\n"),
        ("touch -z a", "", "touch: invalid option -- 'z'\nTry 'touch --help' for more information.\n"),
        ("touch --bad a", "", "touch: unrecognized option '--bad'\nTry 'touch --help' for more information.\n"),
        ("touch --time=x a", "", "touch: invalid argument 'x' for '--time'\nValid arguments are:\n  - 'atime', 'access', 'use'\n  - 'mtime', 'modify'\nTry 'touch --help' for more information.\n"),
        (
            "touch -d now -t 01020304 a",
            "",
            "touch: cannot specify times from more than one source\nTry 'touch --help' for more information.\n",
        ),
    ])
    .await;
}
