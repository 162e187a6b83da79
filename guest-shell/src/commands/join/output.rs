//! Fields of a joined line.

use bashkit::Result;
use bashkit::limits::BudgetedBytes;

use super::line::Line;
use super::options::{JoinOptions, OutputField, OutputFields};

/// Writer of joined lines.
pub(super) struct JoinedOutput<'a> {
    options: &'a JoinOptions,
    /// Numbers of fields of a line of each file, if the first lines say so (`-o auto`).
    field_counts: Option<[usize; 2]>,
    pub(super) bytes: BudgetedBytes,
}

impl<'a> JoinedOutput<'a> {
    pub(super) fn new(options: &'a JoinOptions, files: [&[Line<'_>]; 2], bytes: BudgetedBytes) -> Self {
        let is_automatic = matches!(options.output, OutputFields::Automatic);
        let field_counts = is_automatic.then(|| files.map(|lines| lines.first().map_or(0, |line| line.fields.len())));
        Self { options, field_counts, bytes }
    }

    /// Writes the join of a line of each file, or of one and nothing.
    pub(super) fn push(&mut self, pair: [Option<&Line<'_>>; 2]) -> Result<()> {
        let keyed = usize::from(pair[0].is_none());
        let key = pair[keyed].map_or(&[][..], |line| line.field(self.options.join_fields[keyed]));
        if let OutputFields::Listed(fields) = &self.options.output {
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    self.bytes.try_extend_from_slice(&self.options.output_separator)?;
                }
                self.push_field(match field {
                    OutputField::Key => key,
                    OutputField::OfFile(file, field) => pair[*file].map_or(&[][..], |line| line.field(*field)),
                })?;
            }
        } else {
            self.push_field(key)?;
            for (file, line) in pair.into_iter().enumerate() {
                self.push_others(file, line)?;
            }
        }
        self.bytes.try_extend_from_slice(&[self.options.line_end])?;
        Ok(())
    }

    /// Writes the fields of a line but for its key.
    fn push_others(&mut self, file: usize, line: Option<&Line<'_>>) -> Result<()> {
        let count = match self.field_counts {
            Some(counts) => counts[file],
            None => line.map_or(0, |line| line.fields.len()),
        };
        for index in (0..count).filter(|index| *index != self.options.join_fields[file]) {
            self.bytes.try_extend_from_slice(&self.options.output_separator)?;
            self.push_field(line.map_or(&[][..], |line| line.field(index)))?;
        }
        Ok(())
    }

    fn push_field(&mut self, field: &[u8]) -> Result<()> {
        let field = if field.is_empty() { &self.options.filler } else { field };
        Ok(self.bytes.try_extend_from_slice(field)?)
    }
}
