//! Differences that `cmp` finds, and its output about them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;

use super::options::CmpOptions;

/// Compares the contents of two files.
pub(super) fn compare(options: &CmpOptions, left: &[u8], right: &[u8]) -> ExecResult {
    let pairs = left.iter().copied().zip(right.iter().copied()).enumerate();
    let mut differences = pairs.filter(|(_, (left, right))| left != right).peekable();
    let has_difference = differences.peek().is_some();
    let mut output = String::new();
    if options.verbose && !options.silent {
        // Numbers are as wide as that of the last byte.
        let width = left.len().min(right.len()).to_string().len();
        for (at, (left, right)) in differences {
            let number = at + 1;
            output += &match options.print_bytes {
                true => format!("{number:width$} {left:3o} {:4} {right:3o} {}\n", printable(left), printable(right)),
                false => format!("{number:width$} {left:3o} {right:3o}\n"),
            };
        }
    } else if let Some((at, bytes)) = differences.next().filter(|_| !options.silent) {
        output = first_difference(options, left, at, bytes);
    }
    let ends_early = left.len() != right.len() && (!has_difference || options.verbose);
    let mut errors = String::new();
    if ends_early && !options.silent {
        let (name, shorter) =
            if left.len() < right.len() { (&options.names[0], left) } else { (&options.names[1], right) };
        errors = end_of_file(name, shorter, options.verbose);
    }
    let exit_code = i32::from(has_difference || ends_early);
    ExecResult { stdout: output.into(), stderr: errors.into(), exit_code, ..Default::default() }
}

fn first_difference(options: &CmpOptions, left_data: &[u8], at: usize, (left, right): (u8, u8)) -> String {
    let [left_name, right_name] = &options.names;
    let line = count_newlines(&left_data[..at]) + 1;
    let mut message = format!("{left_name} {right_name} differ: byte {}, line {line}", at + 1);
    if options.print_bytes {
        message += &format!(" is {left:3o} {} {right:3o} {}", printable(left), printable(right));
    }
    message + "\n"
}

/// Returns the message about the file that ends before the other.
fn end_of_file(name: &str, data: &[u8], verbose: bool) -> String {
    let length = data.len();
    let newlines = count_newlines(data);
    if data.is_empty() {
        format!("cmp: EOF on {name} which is empty\n")
    } else if verbose {
        format!("cmp: EOF on {name} after byte {length}\n")
    } else if data.ends_with(b"\n") {
        format!("cmp: EOF on {name} after byte {length}, line {newlines}\n")
    } else {
        format!("cmp: EOF on {name} after byte {length}, in line {}\n", newlines + 1)
    }
}

fn count_newlines(data: &[u8]) -> usize {
    data.iter().filter(|byte| **byte == b'\n').count()
}

/// Returns a byte as `cat -t` writes it.
fn printable(byte: u8) -> String {
    let ascii = byte & 0x7f;
    let prefix = if byte == ascii { "" } else { "M-" };
    match ascii {
        0..=31 => format!("{prefix}^{}", char::from(ascii + 64)),
        127 => format!("{prefix}^?"),
        _ => format!("{prefix}{}", char::from(ascii)),
    }
}
