use super::count::{CountError, CountSign, parse_count};
use super::selection::{Selection, SelectionUnit, select, take_units};

#[test]
fn count_has_a_sign_and_a_multiplier() {
    for (text, sign, count) in [
        ("10", CountSign::None, 10),
        ("-3", CountSign::Minus, 3),
        ("+2", CountSign::Plus, 2),
        ("1k", CountSign::None, 1024),
        ("2KB", CountSign::None, 2000),
        ("1MiB", CountSign::None, 1 << 20),
        ("3b", CountSign::None, 1536),
        ("1E", CountSign::None, 1 << 60),
        ("18446744073709551615", CountSign::None, usize::MAX),
    ] {
        assert_eq!(parse_count(text), Ok((sign, count)), "{text}");
    }
    for wrong in ["", "-", "+", "abc", "3x", "1KiBB", "k", "1 k", "--1"] {
        assert_eq!(parse_count(wrong), Err(CountError::NotANumber), "{wrong}");
    }
    for large in ["18446744073709551616", "16E", "1Y", "99999999999999999999999"] {
        assert_eq!(parse_count(large), Err(CountError::TooLarge), "{large}");
    }
}

// THREAT[TM-DOS-117]: a boundary in many short lines is found without a list of the lines.
#[test]
fn selection_in_a_million_lines_finds_boundaries() {
    let input = vec![b'\n'; 1_000_000];
    let lines = |selection| select(&input, selection, SelectionUnit::Lines).len();
    assert_eq!(lines(Selection::First(1)), 1);
    assert_eq!(lines(Selection::Last(1)), 1);
    assert_eq!(lines(Selection::AllButLast(1)), 999_999);
    assert_eq!(lines(Selection::From(1)), 1_000_000);
}

#[test]
fn selection_without_a_final_newline_keeps_the_last_line() {
    for (selection, selected) in [
        (Selection::First(1), "a\n"),
        (Selection::First(0), ""),
        (Selection::First(9), "a\nb\nc"),
        (Selection::AllButLast(0), "a\nb\nc"),
        (Selection::AllButLast(1), "a\nb\n"),
        (Selection::AllButLast(3), ""),
        (Selection::Last(0), ""),
        (Selection::Last(2), "b\nc"),
        (Selection::From(0), "a\nb\nc"),
        (Selection::From(3), "c"),
        (Selection::From(4), ""),
    ] {
        assert_eq!(select(b"a\nb\nc", selection, SelectionUnit::Lines), selected.as_bytes(), "{selection:?}");
    }
}

#[test]
fn units_of_a_piece_are_counted_down() {
    for (unit, count, taken, left) in [
        (SelectionUnit::Bytes, 2, "a\n", 0),
        (SelectionUnit::Bytes, 9, "a\nb\0c", 4),
        (SelectionUnit::Lines, 1, "a\n", 0),
        (SelectionUnit::Lines, 2, "a\nb\0c", 1),
        (SelectionUnit::Lines, 0, "", 0),
        (SelectionUnit::Records, 1, "a\nb\0", 0),
    ] {
        let mut still = count;
        assert_eq!(take_units(b"a\nb\0c", &mut still, unit), taken.as_bytes(), "{unit:?} {count}");
        assert_eq!(still, left, "{unit:?} {count}");
    }
}
