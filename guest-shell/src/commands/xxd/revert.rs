//! Conversion of a dump to bytes (`-r`).

use super::options::XxdOptions;

/// Largest size of the result: an address may be arbitrary.
const MAX_REVERTED: usize = 64 << 20;

/// Reason why a conversion ended before the end of the dump.
#[derive(Debug, PartialEq)]
pub(super) enum RevertFailure {
    /// An address is before the start of the output, or before what was already written to a pipe.
    Backwards,
    /// An address is beyond [`MAX_REVERTED`].
    TooLarge,
}

impl RevertFailure {
    /// Returns the message and the exit status.
    pub(super) fn report(&self) -> (String, i32) {
        match self {
            Self::Backwards => ("xxd: Sorry, cannot seek backwards.\n".to_owned(), 5),
            Self::TooLarge => (format!("xxd: the result is larger than {MAX_REVERTED} bytes\n"), 3),
        }
    }
}

/// Output of a conversion.
struct RevertedOutput {
    bytes: Vec<u8>,
    position: usize,
    /// True for a file, which is written at any address; false for a pipe, in which gaps are zeros.
    seekable: bool,
}

impl RevertedOutput {
    fn seek(&mut self, target: Option<usize>) -> Result<(), RevertFailure> {
        let target = target.ok_or(RevertFailure::Backwards)?;
        if target < self.position && !self.seekable {
            return Err(RevertFailure::Backwards);
        }
        if target >= MAX_REVERTED {
            return Err(RevertFailure::TooLarge);
        }
        if !self.seekable {
            self.bytes.resize(target, 0);
        }
        self.position = target;
        Ok(())
    }

    fn put(&mut self, byte: u8) -> Result<(), RevertFailure> {
        if self.position >= MAX_REVERTED {
            return Err(RevertFailure::TooLarge);
        }
        if self.bytes.len() <= self.position {
            self.bytes.resize(self.position + 1, 0);
        }
        self.bytes[self.position] = byte;
        self.position += 1;
        Ok(())
    }
}

/// Converts a dump to bytes, which are written over those of a file, or appended to a pipe.
///
/// What is no dump is read as Vim's `xxd` reads it: hexadecimal digits at the start of a line are an address, also
/// without a colon, and pairs of digits after it are bytes until three characters in a row are none. Also returns why
/// the conversion ended early.
pub(super) fn revert(options: &XxdOptions, dump: &[u8], file: Option<Vec<u8>>) -> (Vec<u8>, Option<RevertFailure>) {
    let seekable = file.is_some();
    let mut output = RevertedOutput { bytes: file.unwrap_or_default(), position: 0, seekable };
    let failure = write_dump(options, dump, &mut output).err();
    (output.bytes, failure)
}

fn write_dump(options: &XxdOptions, dump: &[u8], output: &mut RevertedOutput) -> Result<(), RevertFailure> {
    let columns = options.line_columns();
    // Values of the last three characters; `None` is no digit.
    let (mut last, mut before) = (None, Some(0));
    let mut at_start = true;
    let mut in_address = !options.plain;
    let (mut address, mut line_bytes) = (0_usize, 0);
    let mut characters = dump.iter().copied().filter(|byte| *byte != b'\r');
    while let Some(mut character) = characters.next() {
        if options.plain && matches!(character, b' ' | b'\n' | b'\t') {
            continue;
        }
        let earlier = before;
        (before, last) = (last, (character as char).to_digit(16).map(|digit| digit as u8));
        if last.is_none() && at_start {
            continue;
        }
        at_start = false;
        if in_address {
            match last {
                Some(digit) => address = address << 4 | usize::from(digit),
                None => (in_address, line_bytes) = (false, 0),
            }
            continue;
        }
        let target = options.reverted_address(address);
        if target != Some(output.position) {
            output.seek(target)?;
        }
        let mut ends_line = false;
        if let (Some(high), Some(low)) = (before, last) {
            output.put(high << 4 | low)?;
            address = address.wrapping_add(1);
            last = None;
            line_bytes += 1;
            ends_line = !options.plain && line_bytes >= columns;
        } else if last.is_none() && before.is_none() && earlier.is_none() {
            ends_line = true;
        }
        if ends_line && character != b'\n' {
            character = characters.by_ref().find(|byte| *byte == b'\n').unwrap_or(b'\n');
        }
        if character == b'\n' {
            if !options.plain {
                (address, in_address) = (0, true);
            }
            at_start = true;
        }
    }
    Ok(())
}
