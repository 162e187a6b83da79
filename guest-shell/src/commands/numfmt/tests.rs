//! Tests of `numfmt`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::convert_line;
use super::number::{parse_number, round_value};
use super::options::{RoundMode, Scale, parse_format, parse_options};

#[test]
fn parse_number_plain() {
    assert_eq!(parse_number("1024", Scale::None).unwrap(), 1024.0);
    assert_eq!(parse_number("1048576", Scale::None).unwrap(), 1048576.0);
}

#[test]
fn parse_number_iec() {
    assert_eq!(parse_number("1K", Scale::Iec).unwrap(), 1024.0);
    assert_eq!(parse_number("1M", Scale::Iec).unwrap(), 1_048_576.0);
}

#[test]
fn parse_number_si() {
    assert_eq!(parse_number("1K", Scale::Si).unwrap(), 1000.0);
    assert_eq!(parse_number("1M", Scale::Si).unwrap(), 1_000_000.0);
}

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
fn round_modes() {
    assert_eq!(round_value(1.1, RoundMode::Up), 2.0);
    assert_eq!(round_value(1.9, RoundMode::Down), 1.0);
    assert_eq!(round_value(1.5, RoundMode::Nearest), 2.0);
    assert_eq!(round_value(-1.5, RoundMode::FromZero), -2.0);
    assert_eq!(round_value(-1.5, RoundMode::TowardsZero), -1.0);
}

#[test]
fn invalid_number() {
    assert!(parse_number("abc", Scale::None).is_err());
    assert!(parse_number("", Scale::None).is_err());
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
