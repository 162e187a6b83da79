//! Pairing of the lines of two files, in their order.

use std::cmp::Ordering;

use bashkit::builtins::Context;
use bashkit::{Result, text_of};

use super::line::{Line, compare_keys};
use super::options::{JoinOptions, OrderCheck};
use super::output::JoinedOutput;

/// Lines of a file, of which those up to a position have been read.
pub(super) struct Sequence<'a> {
    name: &'a str,
    lines: &'a [Line<'a>],
    join_field: usize,
    /// Number of lines that have been read.
    read: usize,
    /// Index of the line that is paired next.
    next: usize,
    /// Line that the next one is compared with for their order.
    previous: Option<usize>,
    /// True once a message said that lines are out of order.
    pub(super) is_disorder_told: bool,
}

impl<'a> Sequence<'a> {
    pub(super) fn new(name: &'a str, lines: &'a [Line<'a>], join_field: usize) -> Self {
        Self { name, lines, join_field, read: 0, next: 0, previous: None, is_disorder_told: false }
    }

    fn key(&self, index: usize) -> &'a [u8] {
        self.lines[index].field(self.join_field)
    }

    /// Returns the line that is paired next, if it has been read.
    fn current(&self) -> Option<&'a Line<'a>> {
        self.lines.get(self.next)
    }
}

/// State of a join.
pub(super) struct Pairing<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) options: &'a JoinOptions,
    pub(super) sequences: [Sequence<'a>; 2],
    pub(super) output: JoinedOutput<'a>,
    /// True once a line had no partner: order is checked from then on.
    pub(super) found_unpaired: bool,
    pub(super) messages: String,
    /// True once lines out of order ended the call (`--check-order`).
    pub(super) is_stopped: bool,
}

impl Pairing<'_> {
    /// Joins all lines.
    pub(super) fn run(&mut self) -> Result<()> {
        self.read(0);
        self.read(1);
        if self.options.has_header {
            self.join_headers()?;
        }
        while !self.is_stopped
            && let (Some(_), Some(_)) = (self.sequences[0].current(), self.sequences[1].current())
        {
            self.ctx.consume_budget_work(1)?;
            match self.compare(self.sequences[0].next, self.sequences[1].next) {
                Ordering::Less => self.skip_unpaired(0)?,
                Ordering::Greater => self.skip_unpaired(1)?,
                Ordering::Equal => self.join_group()?,
            }
        }
        for file in [0, 1] {
            self.drain(file)?;
        }
        Ok(())
    }

    /// Joins the first lines whatever their keys are. Their order does not count.
    fn join_headers(&mut self) -> Result<()> {
        let pair = [0, 1].map(|file| self.sequences[file].current());
        if pair.iter().all(Option::is_none) {
            return Ok(());
        }
        self.output.push(pair)?;
        for file in [0, 1] {
            self.sequences[file].previous = None;
            self.advance(file);
        }
        Ok(())
    }

    fn compare(&self, first: usize, second: usize) -> Ordering {
        compare_keys(self.sequences[0].key(first), self.sequences[1].key(second), self.options.ignores_case)
    }

    fn skip_unpaired(&mut self, file: usize) -> Result<()> {
        self.push_unpaired(file)?;
        self.advance(file);
        self.found_unpaired = true;
        Ok(())
    }

    /// Writes the current line of a file as one without a partner, if such lines are asked for.
    fn push_unpaired(&mut self, file: usize) -> Result<()> {
        if self.options.prints_unpaired[file] {
            let mut pair = [None, None];
            pair[file] = self.sequences[file].current();
            self.output.push(pair)?;
        }
        Ok(())
    }

    /// Joins all lines of one key.
    fn join_group(&mut self) -> Result<()> {
        let starts = [self.sequences[0].next, self.sequences[1].next];
        loop {
            self.advance(0);
            if self.is_stopped {
                return Ok(());
            }
            let next = self.sequences[0].next;
            if next >= self.sequences[0].lines.len() || self.compare(next, starts[1]).is_ne() {
                break;
            }
        }
        loop {
            self.advance(1);
            if self.is_stopped {
                return Ok(());
            }
            let next = self.sequences[1].next;
            if next >= self.sequences[1].lines.len() || self.compare(starts[0], next).is_ne() {
                break;
            }
        }
        if !self.options.prints_paired {
            return Ok(());
        }
        let [first, second] = [0, 1].map(|file| &self.sequences[file].lines[starts[file]..self.sequences[file].next]);
        for one in first {
            for other in second {
                self.ctx.consume_budget_work(1)?;
                self.output.push([Some(one), Some(other)])?;
            }
        }
        Ok(())
    }

    /// Handles the lines of a file that are left when the other one has ended.
    fn drain(&mut self, file: usize) -> Result<()> {
        let prints = self.options.prints_unpaired[file];
        while !self.is_stopped && self.sequences[file].current().is_some() {
            self.push_unpaired(file)?;
            self.advance(file);
            if self.sequences[file].is_disorder_told && !prints {
                break;
            }
        }
        Ok(())
    }

    fn advance(&mut self, file: usize) {
        self.sequences[file].next += 1;
        self.read(file);
    }

    /// Reads the next line of a file, and checks its order.
    fn read(&mut self, file: usize) {
        let sequence = &mut self.sequences[file];
        let index = sequence.read;
        if index >= sequence.lines.len() {
            return;
        }
        sequence.read += 1;
        let Some(previous) = sequence.previous.replace(index) else { return };
        let checks = match self.options.order_check {
            OrderCheck::Never => false,
            OrderCheck::Always => true,
            OrderCheck::BehindUnpaired => self.found_unpaired,
        };
        if !checks || sequence.is_disorder_told {
            return;
        }
        if compare_keys(sequence.key(previous), sequence.key(index), self.options.ignores_case).is_gt() {
            let line = text_of(sequence.lines[index].text);
            self.messages.push_str(&format!("join: {}:{}: is not sorted: {line}\n", sequence.name, index + 1));
            sequence.is_disorder_told = true;
            self.is_stopped = self.options.order_check == OrderCheck::Always;
        }
    }
}
