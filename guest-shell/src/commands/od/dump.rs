//! Lines of a dump: for each block of bytes, one line per type. The elements of all types are aligned.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::Result;
use bashkit::limits::{BudgetedString, ExecutionBudget};

use super::element::ElementType;
use super::options::{AddressRadix, OdOptions};
use crate::commands::byte_text::printable_or_dot;

/// Number of bytes of a line, unless the types or an option change it.
const USUAL_WIDTH: usize = 16;

/// Returns the dump of bytes.
pub(super) fn dump(data: &[u8], options: &OdOptions, budget: Option<&ExecutionBudget>) -> Result<String> {
    let data = data.get(options.skip..).unwrap_or_default();
    let data = &data[..data.len().min(options.count.unwrap_or(data.len()))];
    let mut writer = DumpWriter::new(options, budget)?;
    let mut previous: Option<&[u8]> = None;
    let mut in_duplicates = false;
    for (index, block) in data.chunks(writer.block_size).enumerate() {
        writer.consume_work(block.len())?;
        if !options.show_duplicates && block.len() == writer.block_size && previous == Some(block) {
            if !in_duplicates {
                writer.output.try_push_str("*\n")?;
            }
            in_duplicates = true;
            continue;
        }
        (previous, in_duplicates) = (Some(block), false);
        writer.write_block(options.skip + index * writer.block_size, block)?;
    }
    writer.finish(options.skip + data.len())
}

/// Returns the lines of strings of printable characters that a null byte ends, each with its address (`od -S`).
pub(super) fn strings(data: &[u8], options: &OdOptions, shortest: usize) -> String {
    let end = options.count.map_or(data.len(), |count| data.len().min(options.skip.saturating_add(count)));
    let mut output = String::new();
    let mut at = options.skip;
    // What stands behind the last null byte is not ended by one.
    while let Some(length) = data.get(at..end).and_then(|rest| rest.iter().position(|byte| *byte == 0)) {
        let printable = data[at..at + length].iter().rev().take_while(|byte| (b' '..=b'~').contains(*byte)).count();
        if printable >= shortest {
            let start = at + length - printable;
            let text = String::from_utf8_lossy(&data[start..at + length]).into_owned();
            let address = address_text(options.address_radix, start);
            output.push_str(&if address.is_empty() { text + "\n" } else { format!("{address} {text}\n") });
        }
        at += length + 1;
    }
    output
}

/// Writer of a dump. Rows are written into the accounted buffer piece by piece.
struct DumpWriter<'a> {
    options: &'a OdOptions,
    budget: Option<&'a ExecutionBudget>,
    output: BudgetedString,
    block_size: usize,
    /// Characters of the elements of a block, in the widest type.
    line_width: usize,
}

impl<'a> DumpWriter<'a> {
    fn new(options: &'a OdOptions, budget: Option<&'a ExecutionBudget>) -> Result<Self> {
        // Sizes are powers of two, so that the largest is a multiple of the others.
        let element_size = options.types.iter().map(|element| element.size).max().unwrap_or(1);
        let block_size = match options.width {
            Some(width) if width > 0 && width % element_size == 0 => width,
            Some(_) => element_size,
            None => USUAL_WIDTH,
        };
        let line_widths = options.types.iter().map(|element| (element.field_width() + 1) * (block_size / element.size));
        let line_width = line_widths.max().unwrap_or(0);
        Ok(Self { options, budget, output: BudgetedString::new(budget)?, block_size, line_width })
    }

    fn consume_work(&self, amount: usize) -> Result<()> {
        if let Some(budget) = self.budget {
            budget.consume_work(amount as u64)?;
        }
        Ok(())
    }

    fn write_block(&mut self, offset: usize, block: &[u8]) -> Result<()> {
        let address = address_text(self.options.address_radix, offset);
        for (index, element) in self.options.types.iter().enumerate() {
            if index == 0 {
                self.output.try_push_str(&address)?;
            } else {
                self.write_spaces(address_width(self.options.address_radix))?;
            }
            self.write_line(element, block)?;
            self.output.try_push('\n')?;
        }
        Ok(())
    }

    /// Writes the elements of a block as one type. Spaces fill the line, and are distributed between the elements.
    fn write_line(&mut self, element: &ElementType, block: &[u8]) -> Result<()> {
        let count = self.block_size / element.size;
        let blank_count = (self.block_size - block.len()) / element.size;
        let width = element.field_width();
        let padding = self.line_width - width * count;
        // The product may exceed a machine word of the guest.
        let padding_of = |elements: usize| (padding as u64 * elements as u64 / count as u64) as usize;
        for (index, bytes) in block.chunks(element.size).enumerate() {
            self.consume_work(1)?;
            let elements_behind = count - index;
            let indent = padding_of(elements_behind) - padding_of(elements_behind - 1);
            // The last element may be incomplete. Zeros complete it.
            let mut filled = [0u8; 8];
            filled[..bytes.len()].copy_from_slice(bytes);
            let text = element.text(&filled[..element.size], self.options.big_endian);
            self.write_spaces((indent + width).saturating_sub(text.len()))?;
            self.output.try_push_str(&text)?;
        }
        if element.trailer {
            self.write_spaces(blank_count * width + padding_of(blank_count))?;
            self.write_trailer(block)?;
        }
        Ok(())
    }

    fn write_trailer(&mut self, block: &[u8]) -> Result<()> {
        self.output.try_push_str("  >")?;
        for byte in block {
            self.output.try_push(printable_or_dot(*byte))?;
        }
        self.output.try_push('<')?;
        Ok(())
    }

    fn write_spaces(&mut self, mut count: usize) -> Result<()> {
        const SPACES: &str = "                                                                ";
        while count > 0 {
            let length = count.min(SPACES.len());
            self.output.try_push_str(&SPACES[..length])?;
            count -= length;
        }
        Ok(())
    }

    /// Returns the dump with the address after its last byte.
    fn finish(mut self, end: usize) -> Result<String> {
        let address = address_text(self.options.address_radix, end);
        if !address.is_empty() {
            self.output.try_push_str(&address)?;
            self.output.try_push('\n')?;
        }
        Ok(self.output.into_inner())
    }
}

/// Returns an address as it stands at the start of a line.
fn address_text(radix: AddressRadix, offset: usize) -> String {
    let width = address_width(radix);
    match radix {
        AddressRadix::Octal => format!("{offset:0width$o}"),
        AddressRadix::Decimal => format!("{offset:0width$}"),
        AddressRadix::Hexadecimal => format!("{offset:0width$x}"),
        AddressRadix::None => String::new(),
    }
}

/// Returns the minimum number of digits of an address.
fn address_width(radix: AddressRadix) -> usize {
    match radix {
        AddressRadix::Octal | AddressRadix::Decimal => 7,
        AddressRadix::Hexadecimal => 6,
        AddressRadix::None => 0,
    }
}
