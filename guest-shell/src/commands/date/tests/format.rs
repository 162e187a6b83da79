use chrono::DateTime;

use crate::commands::date::format::{Dialect, ShownTime};

fn shown(dialect: Dialect) -> ShownTime {
    let at = DateTime::from_timestamp(1_704_164_645, 678_000_000).expect("a second of our time");
    ShownTime::new(at, 0, "UTC".to_string(), dialect)
}

#[test]
fn format_of_date_is_as_gnu() {
    for (format, text) in [
        ("%1d %3d %_3d %+6Y", "2 002   2 +02024"),
        ("%_N|%12N|%3N", "678      |678000000000|678"),
        ("%F %12F %010D", "2024-01-02 002024-01-02 0001/02/24"),
        ("%06p %^a %#p %#Z", "0000AM TUE am utc"),
        ("%z %_z %:z %:::z %-:z", "+0000    +0 +00:00 +00 +0:00"),
        ("%5% %5i %Ed %", "   %5%   %5i %Ed %"),
        ("%q %U %W %V %j", "1 00 01 01 002"),
    ] {
        assert_eq!(shown(Dialect::Date).format(format), text, "{format}");
    }
}

#[test]
fn format_of_the_library_has_fewer_conversions() {
    for (format, text) in [
        ("%1d %+5Y %N %:z", "02 %+5Y %N %:z"),
        ("%6z|%_z|%3%", "     +000000|+   0|  %"),
        ("%012F %-6p", "002024-01-02     AM"),
    ] {
        assert_eq!(shown(Dialect::Library).format(format), text, "{format}");
    }
}
