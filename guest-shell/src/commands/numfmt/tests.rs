//! Tests of `numfmt`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::convert_line;
use super::options::{parse_format, parse_options};

/// Returns the output of numfmt for a line such as `a:2000:3` with some options.
fn convert(line: &str, options: &[&str]) -> Option<String> {
    let options: Vec<String> = options.iter().map(|option| (*option).to_string()).collect();
    let (options, _) = parse_options(&options).unwrap();
    convert_line(line, &options, &mut String::new())
}

#[test]
fn number_with_options_is_formatted_as_gnu_does() {
    for (options, number, wanted) in [
        (&["--to=iec"][..], "1048576", "1.0M"),
        (&["--to=si"], "1048576", "1.1M"),
        (&["--to=iec-i"], "1048576", "1.0Mi"),
        (&["--to=iec", "--suffix=B"], "1048576", "1.0MB"),
        (&["--to=iec", "--padding=10"], "1024", "      1.0K"),
        (&["--to=si", "--format=%10.2f"], "12345", "    12.35K"),
        (&["--to=iec", "--format=%.1f"], "1536", "1.5K"),
        (&["--format=%.2f", "--to=iec"], "999", "999.00"),
        (&["--format=%08.2f"], "3.14159", "00003.15"),
        (&["--format=x%-4fy"], "5", "x5   y"),
        (&["--from=si"], "1.234K", "1234"),
        (&["--to=si"], "999999", "1.0M"),
        (&["--to=si"], "9999", "10K"),
        (&[], "1.50", "1.50"),
    ] {
        assert_eq!(convert(number, options).as_deref(), Some(wanted), "{options:?} {number}");
    }
}

#[test]
fn line_with_ranges_of_fields_converts_those() {
    for (options, line, wanted) in [
        (&["-d,", "--field=1,3", "--to=si"][..], "1000,2000,3000", "1.0K,2000,3.0K"),
        (&["-d", ":", "--field", "2", "--to=si"], "a:2000:3", "a:2.0K:3"),
        (&["--field=-", "--to=si"], "1000 2000", "1.0K 2.0K"),
        (&["--field=2-", "--to=iec"], "1024 2048 4096", "1024 2.0K 4.0K"),
        (&["--to=iec"], "  1024 x", "  1.0K x"),
        (&["--field=2", "--to=iec"], "a    2048 b", "a    2.0K b"),
    ] {
        assert_eq!(convert(line, options).as_deref(), Some(wanted), "{options:?} {line}");
    }
}

#[tokio::test]
async fn invalid_number_follows_the_option() {
    for (option, output, status) in
        [("abort", "", 2), ("fail", "x\n3\n", 2), ("warn", "x\n3\n", 0), ("ignore", "x\n3\n", 0)]
    {
        let result = crate::commands::testing::run(&format!("numfmt --invalid={option} x 3")).await;
        assert_eq!((result.stdout.to_string().as_str(), result.exit_code), (output, status), "{option}");
    }
}

#[test]
fn number_is_rounded_as_the_option_says() {
    for (mode, rounded) in [
        ("up", ["2", "-1"]),
        ("down", ["1", "-2"]),
        ("from-zero", ["2", "-2"]),
        ("towards-zero", ["1", "-1"]),
        ("nearest", ["2", "-2"]),
    ] {
        for (number, wanted) in ["1.5", "-1.5"].iter().zip(rounded) {
            let options = [&*format!("--round={mode}"), "--format=%.0f"];
            assert_eq!(convert(number, &options).as_deref(), Some(wanted), "{mode} {number}");
        }
    }
}

#[test]
fn large_number_is_exact_or_refused() {
    assert_eq!(convert("1234567890123456789", &["--suffix=B"]).as_deref(), Some("1234567890123456789B"));
    assert_eq!(convert("12Y", &["--from=si", "--to=si"]).as_deref(), Some("12Y"));
    assert_eq!(convert("999500000000000000000000", &["--to=si"]).as_deref(), Some("1.0Y"));
    assert_eq!(convert("1Zi", &["--from=iec-i", "--to=iec-i"]).as_deref(), Some("1.0Zi"));
    assert_eq!(convert("12345678901234567890", &[]), None);
    assert_eq!(convert("x", &[]), None);
}

#[tokio::test]
async fn option_that_gnu_refuses_is_refused() {
    for script in [
        "numfmt --to=auto 1",
        "numfmt -d ab 1",
        "numfmt --padding=0 1",
        "numfmt --grouping --to=si 1",
        "numfmt --grouping --format=%f 1",
        "numfmt --foo 1",
    ] {
        let result = crate::commands::testing::run(script).await;
        assert_eq!((&*result.stdout, result.exit_code), ("", 1), "{script}");
    }
    let result = crate::commands::testing::run("numfmt --deb --zero 1").await;
    assert_eq!((&*result.stdout, &*result.stderr), ("1\0", "numfmt: no conversion option specified\n"));
}

#[test]
fn parse_options_rejects_oversized_padding() {
    let args = vec!["--padding=2000000".to_string(), "1".to_string()];
    match parse_options(&args) {
        Ok(_) => panic!("expected parse_options to fail for oversized padding"),
        Err(err) => assert!(err.contains("padding too large")),
    }
}

#[test]
fn format_with_oversized_precision_is_refused() {
    let err = parse_format("%.2000000f").unwrap_err();
    assert!(err.contains("format precision too large"));
}

// TM-INF-022: garbage-input stderr must not leak parser Debug shapes.
#[tokio::test]
async fn no_leak_garbage_input() {
    let r = crate::commands::testing::run(r#"echo 'not a number' | numfmt --from=iec"#).await;
    crate::commands::testing::assert_no_leak(&r, "numfmt_garbage", &["ParseFloatError", "ParseIntError"]);
}
