//! Numbers in bases other than ten, as `Number.prototype.toString` writes them in V8.
//!
//! The language leaves the last digits to the implementation. V8 writes the digits of a fraction until what is left is less
//! than half the distance to the next number, and zeros for the last digits of an integer as long as those before them take
//! more than 53 bits: see `DoubleToRadixCString` in
//! <https://source.chromium.org/chromium/chromium/src/+/main:v8/src/numbers/conversions.cc>.
#![expect(unsafe_code, reason = "a function that C calls by its name")]

/// Smallest power of two above which some integers are no numbers: 2^53.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// Maximum number of bytes, as `RADIX_BYTES_MAX` in `patches/36-digits-in-other-bases.patch`: a sign, a zero, a point, and
/// the 1,074 digits of the smallest number in base 2.
const MAX_BYTES: usize = 1_100;

/// Writes a finite number in a base from 2 to 36 to a buffer of [`MAX_BYTES`], and returns the number of bytes.
///
/// # Safety
/// The buffer is writable and has that size.
#[unsafe(no_mangle)]
unsafe extern "C" fn tollhouse_number_to_radix(value: f64, radix: i32, buffer: *mut u8) -> i32 {
    let text = to_radix(value, radix);
    assert!(text.len() <= MAX_BYTES, "no number is longer");
    // SAFETY: the caller's buffer has room for `MAX_BYTES`.
    unsafe { buffer.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    i32::try_from(text.len()).expect("it is short")
}

/// Returns a finite number in a base from 2 to 36.
fn to_radix(value: f64, radix: i32) -> Vec<u8> {
    let base = f64::from(radix);
    let size = value.abs();
    let (fraction, carry) = fraction_digits(size, base);
    let mut text = integer_digits(size.floor() + carry, base);
    if value < 0.0 {
        text.push(b'-');
    }
    text.reverse();
    if !fraction.is_empty() {
        text.push(b'.');
        text.extend(fraction.into_iter().map(character));
    }
    text
}

/// Returns the digits after the point, and 1.0 if they were rounded up to the next integer, else 0.0.
fn fraction_digits(size: f64, base: f64) -> (Vec<u8>, f64) {
    let mut rest = size.fract();
    // What is less than this does not tell the number from its neighbour.
    let mut tolerance = (0.5 * (size.next_up() - size)).max(f64::from_bits(1));
    let mut digits = Vec::new();
    while rest >= tolerance {
        rest *= base;
        tolerance *= base;
        let digit = rest.trunc();
        rest -= digit;
        digits.push(digit as u8);
        let rounds_up = rest > 0.5 || (rest == 0.5 && digit % 2.0 == 1.0);
        if rounds_up && rest + tolerance > 1.0 {
            return round_up(digits, base);
        }
    }
    (digits, 0.0)
}

/// Adds one to the last digit. Digits that become zero are dropped.
fn round_up(mut digits: Vec<u8>, base: f64) -> (Vec<u8>, f64) {
    while let Some(digit) = digits.pop() {
        if f64::from(digit) + 1.0 < base {
            digits.push(digit + 1);
            return (digits, 0.0);
        }
    }
    (digits, 1.0)
}

/// Returns the digits of an integer, the last one first.
fn integer_digits(mut integer: f64, base: f64) -> Vec<u8> {
    let mut text = Vec::new();
    while integer / base >= INEXACT {
        integer /= base;
        text.push(b'0');
    }
    loop {
        let digit = integer % base;
        text.push(character(digit as u8));
        integer = (integer - digit) / base;
        if integer <= 0.0 {
            return text;
        }
    }
}

fn character(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }
}
