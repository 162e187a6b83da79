//! Assignment to special variables, which changes how awk works.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::special;
use super::super::io::RecordSeparator;
use super::super::value::Value;
use super::splitter::{Splitter, parse_widths};
use super::{Evaluation, Interpreter};

impl Interpreter {
    /// Assigns to a special variable. What says how records are split holds for the records to come: the current one is
    /// split first, if it is not yet.
    pub(super) fn set_special(&mut self, index: u32, value: Value) -> Evaluation<()> {
        let text = match index {
            special::CONVFMT => value.to_str_fmt("%.6g"),
            special::FS | special::RS | special::OFS | special::ORS | special::SUBSEP => self.text_of(&value),
            special::OFMT | special::FIELDWIDTHS | special::FPAT => self.text_of(&value),
            _ => String::new(),
        };
        let (number, is_true) = (value.to_num(), value.to_bool());
        match index {
            special::FS | special::IGNORECASE | special::FIELDWIDTHS | special::FPAT => self.ensure_split()?,
            // What was stored in fields is joined by the separator it had.
            special::OFS => self.rebuild_record()?,
            _ => {}
        }
        self.put_special(index, value);
        match index {
            special::NF => self.set_field_count(number)?,
            special::NR => self.settings.nr = number,
            special::FNR => self.settings.fnr = number,
            special::FS => self.set_field_separator(&text)?,
            special::RS => self.set_record_separator(&text)?,
            special::OFS => self.settings.ofs = text,
            special::ORS => self.settings.ors = text,
            special::SUBSEP => self.settings.subsep = text,
            special::CONVFMT => self.settings.convfmt = text,
            special::OFMT => self.settings.ofmt = text,
            special::IGNORECASE => self.set_ignorecase(is_true)?,
            special::FIELDWIDTHS => match parse_widths(&text) {
                Ok(widths) => self.settings.splitter = Splitter::Widths(widths),
                Err(message) => return Err(self.fatal_error(&message)),
            },
            special::FPAT => self.settings.splitter = Splitter::Fpat(self.string_regex(&text)?),
            _ => {}
        }
        Ok(())
    }

    fn set_ignorecase(&mut self, on: bool) -> Evaluation<()> {
        if on != self.settings.ignorecase {
            self.settings.ignorecase = on;
            let separator = self.global_text(special::FS);
            self.set_field_separator(&separator)?;
            let separator = self.global_text(special::RS);
            self.set_record_separator(&separator)?;
        }
        Ok(())
    }

    fn set_field_separator(&mut self, separator: &str) -> Evaluation<()> {
        self.settings.single_separator = separator.chars().count() == 1;
        let is_csv = self.settings.csv && separator == ",";
        self.settings.splitter = if is_csv { Splitter::Csv } else { self.splitter_of(separator)? };
        Ok(())
    }

    /// Returns the splitter that a separator means, in `FS` as in `split`.
    pub(super) fn splitter_of(&mut self, separator: &str) -> Evaluation<Splitter> {
        let mut characters = separator.chars();
        Ok(match (characters.next(), characters.next()) {
            (Some(' '), None) => Splitter::Space,
            (None, _) => Splitter::Characters,
            // One character is itself, whatever IGNORECASE says.
            (Some(character), None) => Splitter::Character(character),
            _ => Splitter::Regex(self.string_regex(separator)?),
        })
    }

    fn set_record_separator(&mut self, separator: &str) -> Evaluation<()> {
        let mut characters = separator.chars();
        self.settings.record_separator = match (characters.next(), characters.next()) {
            (None, _) => RecordSeparator::Paragraph,
            (Some('\n'), None) => RecordSeparator::Newline,
            (Some(character), None) => RecordSeparator::Character(character),
            _ => RecordSeparator::Regex(self.string_regex(separator)?),
        };
        Ok(())
    }
}
