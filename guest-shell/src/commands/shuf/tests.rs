//! Input ranges and lists of `shuf`.

use super::*;

#[test]
fn split_separated_drops_trailing_empty() {
    assert_eq!(split_separated("a\nb\nc\n", '\n'), vec!["a".to_string(), "b".into(), "c".into()]);
    assert_eq!(split_separated("a\nb\nc", '\n'), vec!["a".to_string(), "b".into(), "c".into()]);
}

/// The regenerated surface: upstream dropped `.value_parser(parse_range)`,
/// so `-i` stores a plain `String`. Built by hand rather than by
/// regenerating, so the guard holds without a live upstream checkout.
fn head_shaped_cmd() -> bashkit::clap::Command {
    bashkit::clap::Command::new("shuf")
        .no_binary_name(true)
        .arg(bashkit::clap::Arg::new("input-range").short('i').long("input-range").value_name("LO-HI"))
}

/// The pinned surface: clap pre-parses `-i` into a `RangeInclusive<u64>`.
fn pinned_shaped_cmd() -> bashkit::clap::Command {
    bashkit::clap::Command::new("shuf").no_binary_name(true).arg(
        bashkit::clap::Arg::new("input-range")
            .short('i')
            .long("input-range")
            .value_name("LO-HI")
            .value_parser(|s: &str| parse_input_range(s).map_err(|e| e.trim().to_string())),
    )
}

#[test]
fn reads_input_range_under_both_value_types() {
    for cmd in [pinned_shaped_cmd(), head_shaped_cmd()] {
        let m = cmd.try_get_matches_from(["-i", "1-5"]).unwrap();
        assert_eq!(read_input_range(&m), Some(Ok(1..=5)));
    }
}

#[test]
fn absent_input_range_reads_none_under_both_value_types() {
    for cmd in [pinned_shaped_cmd(), head_shaped_cmd()] {
        let m = cmd.try_get_matches_from::<_, &str>([]).unwrap();
        assert_eq!(read_input_range(&m), None);
    }
}

#[test]
fn malformed_range_on_regenerated_surface_reports_like_gnu() {
    let m = head_shaped_cmd().try_get_matches_from(["-i", "1x5"]).unwrap();
    assert_eq!(read_input_range(&m), Some(Err("shuf: invalid input range: '1x5'\n".to_string())));
}

#[test]
fn parse_input_range_accepts_gnu_empty_range() {
    // GNU spells the empty range `LO-HI` with `LO == HI + 1`. Asserted
    // through the bounds rather than a `5..=4` literal, which clippy
    // reads as a reversed-range typo.
    let empty = parse_input_range("5-4").expect("LO == HI + 1 is the empty range");
    assert_eq!((*empty.start(), *empty.end()), (5, 4));
    assert!(empty.is_empty());
    // One further apart is a genuine inversion and is rejected.
    assert!(parse_input_range("6-4").is_err());
}

#[test]
fn parse_input_range_rejects_malformed_input() {
    for raw in ["", "5", "a-b", "1-", "-", "1-2-3"] {
        assert!(parse_input_range(raw).is_err(), "expected '{raw}' to be rejected");
    }
}

#[test]
fn parse_input_range_distinguishes_overflow() {
    let too_big = "1-18446744073709551616";
    assert_eq!(
        parse_input_range(too_big),
        Err(format!("shuf: invalid input range: '{too_big}': Value too large to be stored in data type\n"))
    );
}
