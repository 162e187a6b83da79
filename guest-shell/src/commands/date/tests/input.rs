use crate::commands::date::input::parse;

#[test]
fn dates_are_read_in_many_forms() {
    for text in [
        "Jan 2 2024",
        "2 January 2024",
        "02-Jan-2024",
        "1/2/2024",
        "20240102",
        "2024-01-02 (a comment)",
        "Tue Jan  2 03:04:05 UTC 2024",
    ] {
        let items = parse(text, &[]).unwrap_or_else(|| panic!("{text}"));
        let (year, month, day) = items.date.unwrap();
        assert_eq!((year.unwrap().full(), month, day), (2024, 1, 2), "{text}");
    }
}

#[test]
fn signed_number_behind_a_time_is_its_zone() {
    let items = parse("2024-01-02 12:00 +1 hour", &[]).unwrap();
    assert_eq!(items.zone, Some(3600));
    assert_eq!(items.relative.unwrap().hours, 1);
    assert!(parse("12:00 +90 minutes", &[]).is_none());
}

#[test]
fn two_dates_or_unknown_words_are_refused() {
    for text in ["20240102T030405", "2024-01-02 nonsense", "1/2/3/4", "@x", "12:00 13:00"] {
        assert!(parse(text, &[]).is_none(), "{text}");
    }
}
