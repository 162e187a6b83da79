use bashkit::ExecResult;

use crate::commands::testing::{assert_no_leak, builder};

/// Runs a script on Thursday 2026-10-08, 12:00 UTC.
async fn run(script: &str) -> ExecResult {
    let mut shell = builder().fixed_epoch(1_791_460_800).build();
    shell.exec(script).await.expect("a script")
}

/// Compares what scripts print.
async fn check(cases: &[(&str, &str)]) {
    for (script, output) in cases {
        let result = run(script).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (*output, "", 0), "{script}");
    }
}

/// Compares what `date -u -d TEXT '+%F %T.%N'` prints.
async fn check_texts(cases: &[(&str, &str)]) {
    for (text, shown) in cases {
        let result = run(&format!("date -u -d '{text}' '+%F %T.%N'")).await;
        let point = if shown.contains('.') { "" } else { "." };
        let output = format!("{:0<29}\n", format!("{shown}{point}"));
        assert_eq!((&*result.stdout, &*result.stderr), (&*output, ""), "{text}");
    }
}

async fn check_invalid(texts: &[&str]) {
    for text in texts {
        let result = run(&format!("date -d \"{text}\"")).await;
        let message = format!("date: invalid date '{text}'\n");
        assert_eq!((&*result.stderr, result.exit_code), (&*message, 1), "{text}");
    }
}

#[tokio::test]
async fn date_without_a_text_is_now() {
    check(&[
        ("date", "Thu Oct  8 12:00:00 UTC 2026\n"),
        ("TZ=America/New_York date", "Thu Oct  8 08:00:00 EDT 2026\n"),
        ("TZ=Europe/Berlin date -u", "Thu Oct  8 12:00:00 UTC 2026\n"),
        ("TZ=../etc/localtime date +%Z; TZ=:/etc/localtime date +%Z; TZ=No/Where date +%Z", "UTC\nUTC\nUTC\n"),
        ("TZ=:Europe/Berlin date +%Z", "CEST\n"),
        ("date -R", "Thu, 08 Oct 2026 12:00:00 +0000\n"),
        ("date -I; date -Iseconds; date -Im", "2026-10-08\n2026-10-08T12:00:00+00:00\n2026-10-08T12:00+00:00\n"),
        ("date --rfc-3339=ns", "2026-10-08 12:00:00.000000000+00:00\n"),
        ("date +%s.%N", "1791460800.000000000\n"),
        ("date +", "\n"),
        ("date '+Today is %A'", "Today is Thursday\n"),
    ])
    .await;
}

// TM-INT-003
#[tokio::test]
async fn date_copies_what_is_no_conversion() {
    check(&[("date '+%Q %%N %'", "%Q %N %\n")]).await;
}

// Expected times are those of GNU date 9.12.
#[tokio::test]
async fn date_of_a_text_with_times_and_zones() {
    check_texts(&[
        ("@0", "1970-01-01 00:00:00"),
        ("2024-01-15", "2024-01-15 00:00:00"),
        ("2026-10-08 14:30", "2026-10-08 14:30:00"),
        ("2026-10-08T14:30", "2026-10-08 14:30:00"),
        ("2026-10-08 14:30:15.25", "2026-10-08 14:30:15.25"),
        ("2026-10-08 14:30 UTC", "2026-10-08 14:30:00"),
        ("2026-10-08 14:30:15 gmt", "2026-10-08 14:30:15"),
        ("2026-10-08T14:30Z", "2026-10-08 14:30:00"),
        ("2026-10-08 14:30:15 +0200", "2026-10-08 12:30:15"),
        ("2026-10-08 14:30:15+02:00", "2026-10-08 12:30:15"),
        ("2026-10-08 14:30:15 -05", "2026-10-08 19:30:15"),
        ("2026-10-08 UTC", "2026-10-08 00:00:00"),
        ("2024-06-15T12:00:00+00:00", "2024-06-15 12:00:00"),
        ("Mon, 06 Apr 2026 12:00:00 +0000", "2026-04-06 12:00:00"),
        // The weekday is another one.
        ("Thu, 11 Apr 2026 12:00:00 +0000", "2026-04-11 12:00:00"),
    ])
    .await;
}

#[tokio::test]
async fn date_of_a_text_that_is_relative() {
    check_texts(&[
        ("now", "2026-10-08 12:00:00"),
        ("today", "2026-10-08 12:00:00"),
        ("yesterday", "2026-10-07 12:00:00"),
        ("tomorrow", "2026-10-09 12:00:00"),
        ("30 days ago", "2026-09-08 12:00:00"),
        ("2 weeks ago", "2026-09-24 12:00:00"),
        ("+7 days", "2026-10-15 12:00:00"),
        ("yesterday + 12 hours", "2026-10-08 00:00:00"),
        ("2024-06-15 - 30 days", "2024-05-16 00:00:00"),
        ("2024-01-15 + 30 days", "2024-02-14 00:00:00"),
        ("2024-03-15 - 2 months", "2024-01-15 00:00:00"),
        ("thursday", "2026-10-08 00:00:00"),
        ("next thursday", "2026-10-15 00:00:00"),
        ("last thursday", "2026-10-01 00:00:00"),
        ("monday", "2026-10-12 00:00:00"),
        ("next mon", "2026-10-12 00:00:00"),
        ("last  Fri", "2026-10-02 00:00:00"),
    ])
    .await;
}

#[tokio::test]
async fn date_of_a_wrong_text_is_refused() {
    check_invalid(&[
        "not a date",
        "2026-02-30 10:00",
        "2026-10-08 24:00",
        "2026-10-08 12:60",
        "2026-10-08 -05",
        "2026-10-08 14:30 +2500",
        "next blursday",
        "last blah",
        "@1700000000 - 1 day",
        "'",
        "'yesterday'",
        "30000000000000000 years",
        "+9000000000000000000 days",
        "300000000000000000 months ago",
    ])
    .await;
}

// TM-INF-022: messages do not have the shapes of chrono's errors.
#[tokio::test]
async fn date_of_a_wrong_text_does_not_leak() {
    let result = run("date -d 'not a date in any format'").await;
    assert_no_leak(&result, "date_invalid_format", &["chrono::ParseError", "ParseError {"]);
}

#[tokio::test]
async fn date_of_a_file_is_its_time_of_modification() {
    check(&[
        ("touch -d '2024-01-02 03:04:05' f; date -r f '+%F %T'", "2024-01-02 03:04:05\n"),
        ("touch -d '2024-01-02 03:04:05' f; date -u --reference=f +%B%Z", "JanuaryUTC\n"),
        ("printf '2024-01-02\\n@0\\n' > f; date -f f +%F", "2024-01-02\n1970-01-01\n"),
    ])
    .await;
    let result = run("date -r gone").await;
    assert_eq!((&*result.stderr, result.exit_code), ("date: gone: No such file or directory\n", 1));
    let result = run("printf '@0\\nnope\\n@1\\n' | date -f - +%s").await;
    assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), ("0\n1\n", "date: invalid date 'nope'\n", 1));
}

#[tokio::test]
async fn date_refuses_wrong_calls() {
    for (call, message) in [
        ("date -Q", "date: invalid option -- 'Q'\nTry 'date --help' for more information.\n"),
        ("date -s now", "date: cannot set date: Operation not permitted\n"),
        ("date 01021504", "date: cannot set date: Operation not permitted\n"),
        ("date word", "date: invalid date 'word'\n"),
        ("date -R +%F", "date: multiple output formats specified\n"),
        (
            "date -d now -r f",
            "date: the options to specify dates for printing are mutually exclusive\n\
             Try 'date --help' for more information.\n",
        ),
        ("date + x", "date: extra operand 'x'\nTry 'date --help' for more information.\n"),
        (
            "date -Ix",
            "date: invalid argument 'x' for '--iso-8601'\nValid arguments are:\n  - 'hours'\n  - 'minutes'\n  - 'date'\n  \
             - 'seconds'\n  - 'ns'\nTry 'date --help' for more information.\n",
        ),
    ] {
        let result = run(call).await;
        assert_eq!((&*result.stderr, result.exit_code), (message, 1), "{call}");
    }
}
