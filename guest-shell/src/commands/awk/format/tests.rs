//! Tests of `printf` and of numbers as text.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::*;

fn f(fmt: &str, args: &[Value]) -> String {
    sprintf(fmt, args, "%.6g").unwrap()
}
fn n(x: f64) -> Value {
    Value::Num(x)
}
fn s(x: &str) -> Value {
    Value::Str(x.to_string())
}

#[test]
fn number_to_string() {
    assert_eq!(format_number(3.0, "%.6g"), "3");
    assert_eq!(format_number(1.23456789, "%.6g"), "1.23457");
    assert_eq!(format_number(1e16, "%.6g"), "10000000000000000");
    assert_eq!(format_number(2f64.powi(70), "%.6g"), "1180591620717411303424");
    assert_eq!(format_number(0.1, "%.2f"), "0.10");
    assert_eq!(format_number(1e-5, "%.6g"), "1e-05");
    assert_eq!(format_number(f64::INFINITY, "%.6g"), "+inf");
    assert_eq!(format_number(-f64::NAN, "%.6g"), "-nan");
    assert_eq!(format_number(-0.0, "%.6g"), "0");
}

#[test]
fn conversions() {
    assert_eq!(f("%c %c", &[n(65.0), s("hello")]), "A h");
    assert_eq!(f("%c%c", &[n(225.0), n(8364.0)]), "á€");
    assert_eq!(f("%d %x %X", &[n(10.0), n(255.0), n(255.0)]), "10 ff FF");
    assert_eq!(f("%e", &[n(1234.5)]), "1.234500e+03");
    assert_eq!(f("%E", &[n(0.000123)]), "1.230000E-04");
    assert_eq!(f("%g %g", &[n(1234567.0), n(0.0001)]), "1.23457e+06 0.0001");
    assert_eq!(
        f("%g %g %g %g %.3g", &[n(1e5), n(1e6), n(1e-4), n(1e-5), n(1.23456)]),
        "100000 1e+06 0.0001 1e-05 1.23"
    );
    assert_eq!(f("%5.1f|%-5s|", &[n(1.23456), s("ab")]), "  1.2|ab   |");
}

#[test]
fn flags_and_star() {
    assert_eq!(
        f("%05d|%+d|% d|%05.1f|%-5d|%#o|%#x", &[n(42.0), n(42.0), n(42.0), n(1.23), n(7.0), n(8.0), n(255.0)]),
        "00042|+42| 42|001.2|7    |010|0xff"
    );
    assert_eq!(f("%*d|%-*s|%.*f", &[n(5.0), n(42.0), n(4.0), s("ab"), n(2.0), n(1.23456)]), "   42|ab  |1.23");
    assert_eq!(f("%2$s %1$s", &[s("world"), s("hello")]), "hello world");
}

#[test]
fn precision_without_digits_is_none() {
    assert_eq!(f("%.f|%5.d|%.s|%.e", &[n(2.5), n(3.0), s("abc"), n(1234.0)]), "2|    3||1e+03");
}

#[test]
fn integers() {
    assert_eq!(f("%d", &[n(2f64.powi(64))]), "18446744073709551616");
    assert_eq!(f("%d", &[n(-9223372036854775808.0)]), "-9223372036854775808");
    assert_eq!(f("%d %d", &[s("12abc"), s("abc")]), "12 0");
    assert_eq!(f("%x", &[n(-1.0)]), "ffffffffffffffff");
    assert_eq!(f("%.3d", &[n(7.0)]), "007");
    assert_eq!(f("%d", &[n(-3.9)]), "-3");
}

#[test]
fn not_enough_args() {
    let e = sprintf("%s %s\n", &[s("a")], "%.6g").unwrap_err();
    assert!(e.msg.contains("not enough arguments"), "{}", e.msg);
    assert!(
        e.msg.ends_with("\t    ^ ran out for this one"),
        "{:?}", // debug-ok: assert-failure message
        e.msg
    );
}

#[test]
fn special_values() {
    assert_eq!(f("%f %d", &[n(f64::INFINITY), n(-f64::NAN)]), "inf -nan");
    assert_eq!(f("%5.1f%%", &[n(99.25)]), " 99.2%");
}

#[test]
fn huge_width_is_an_error() {
    let e = sprintf("%1048577s", &[s("x")], "%.6g").unwrap_err();
    assert_eq!(e.msg, "format width 1048577 exceeds maximum (1048576)");
    let e = sprintf("%.1048577s", &[s("x")], "%.6g").unwrap_err();
    assert_eq!(e.msg, "format precision 1048577 exceeds maximum (1048576)");
    assert!(sprintf(&"%1000000s".repeat(20), &vec![s("x"); 20], "%.6g").is_err());
    assert_eq!(f("%1000000s", &[s("x")]).len(), 1_000_000);
    assert_eq!(f("%.100000f", &[n(0.5)]).len(), 100_002);
    assert_eq!(f("%.100000e", &[n(0.5)]).len(), 100_006);
}
