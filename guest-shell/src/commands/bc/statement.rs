//! Compiler of bc: statements.

use super::lexer::{Token, Word};
use super::parser::{Inside, Loop, Parsed, Parser, Stop};
use super::program::Instruction;

/// Output of the statement `limits`.
const LIMITS: &str = "\
BC_BASE_MAX     = 2147483647
BC_DIM_MAX      = 16777215
BC_SCALE_MAX    = 2147483647
BC_STRING_MAX   = 2147483647
MAX Exponent    = 9223372036854775807
Number of vars  = 32767
";

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Parsed<()> {
        self.deeper(Self::statement_inside)
    }

    pub(super) fn statement_inside(&mut self) -> Parsed<()> {
        match self.peek()?.clone() {
            Token::Text(text) => {
                self.take()?;
                self.code.push(Instruction::PrintText(text.into()));
                Ok(())
            }
            Token::Mark("{") => {
                self.take()?;
                self.block()
            }
            Token::Word(word) => self.word_statement(word),
            _ => self.expression_statement(),
        }
    }

    pub(super) fn word_statement(&mut self, word: Word) -> Parsed<()> {
        match word {
            Word::Break | Word::Continue | Word::For | Word::Halt | Word::If | Word::Limits => {}
            Word::Print | Word::Quit | Word::Return | Word::Warranty | Word::While => {}
            _ => return self.expression_statement(),
        }
        self.take()?;
        match word {
            Word::Quit => return Err(Stop::Quit),
            Word::Halt => {
                self.code.push(Instruction::Halt);
            }
            Word::Limits => self.notices.push_str(LIMITS),
            Word::Warranty => self.notices.push_str(super::options::WARRANTY),
            Word::Break => self.leave_loop(true),
            Word::Continue => {
                self.extension("Continue statement");
                self.leave_loop(false);
            }
            Word::If => return self.if_statement(),
            Word::While => return self.while_statement(),
            Word::For => return self.for_statement(),
            Word::Print => return self.print_statement(),
            _ => return self.return_statement(),
        }
        Ok(())
    }

    pub(super) fn leave_loop(&mut self, is_break: bool) {
        let at = self.code.len();
        match self.loops.last_mut() {
            Some(around) if is_break => around.breaks.push(at),
            Some(around) => around.continues.push(at),
            None if is_break => return self.report("Break outside a for/while"),
            None => return self.report("Continue outside a for"),
        }
        self.code.push(Instruction::Jump(0));
    }

    pub(super) fn expression_statement(&mut self) -> Parsed<()> {
        let kind = self.expression()?;
        if kind.comparison {
            self.extension("comparison in expression");
        }
        let prints = kind.prints && !kind.void;
        self.code.push(if prints { Instruction::PrintLine } else { Instruction::Drop });
        Ok(())
    }

    /// Parses statements in braces. The opening brace was consumed already.
    pub(super) fn block(&mut self) -> Parsed<()> {
        let mut fresh = true;
        loop {
            if self.accept("}")? {
                return Ok(());
            }
            if self.accept(";")? || self.accept_line()? {
                fresh = true;
                continue;
            }
            let attempt = if fresh && self.begins_statement()? { self.statement() } else { self.syntax_error() };
            match attempt {
                Ok(()) => fresh = false,
                Err(Stop::Error) => {
                    self.recover(false)?;
                    fresh = true;
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Parses a condition in parentheses. Returns the position of the jump for the case that it is zero.
    pub(super) fn condition(&mut self) -> Parsed<usize> {
        self.expect("(")?;
        let kind = self.expression()?;
        self.no_void(kind, "void expression");
        self.expect(")")?;
        Ok(self.jump(Instruction::JumpIfZero(0)))
    }

    /// Adds a jump whose target is set later.
    pub(super) fn jump(&mut self, jump: Instruction) -> usize {
        self.code.push(jump);
        self.code.len() - 1
    }

    /// Sets the target of a jump to the next instruction.
    pub(super) fn land(&mut self, jump: usize) {
        let here = self.code.len();
        self.direct(jump, here);
    }

    pub(super) fn direct(&mut self, jump: usize, to: usize) {
        if let Some(
            Instruction::Jump(target)
            | Instruction::JumpIfZero(target)
            | Instruction::JumpWithZero(target)
            | Instruction::JumpIfNotZero(target),
        ) = self.code.get_mut(jump)
        {
            *target = to;
        }
    }

    pub(super) fn if_statement(&mut self) -> Parsed<()> {
        let over = self.condition()?;
        self.optional_line()?;
        self.statement_here()?;
        if !self.is_word(Word::Else)? {
            self.land(over);
            return Ok(());
        }
        self.take()?;
        self.extension("else clause in if statement");
        let end = self.jump(Instruction::Jump(0));
        self.land(over);
        self.optional_line()?;
        self.statement_here()?;
        self.land(end);
        Ok(())
    }

    /// Parses a statement that is required here.
    pub(super) fn statement_here(&mut self) -> Parsed<()> {
        if self.begins_statement()? { self.statement() } else { self.syntax_error() }
    }

    /// Parses the body of a loop. `continue` jumps to `again`, or its target is set later.
    pub(super) fn body(&mut self, again: usize) -> Parsed<()> {
        self.optional_line()?;
        self.loops.push(Loop::default());
        let end = self.statement_here();
        let around = self.loops.pop().unwrap_or_default();
        end?;
        self.code.push(Instruction::Jump(again));
        for jump in around.breaks {
            self.land(jump);
        }
        for jump in around.continues {
            self.direct(jump, again);
        }
        Ok(())
    }

    pub(super) fn while_statement(&mut self) -> Parsed<()> {
        let start = self.code.len();
        let over = self.condition()?;
        self.body(start)?;
        self.land(over);
        Ok(())
    }

    pub(super) fn for_statement(&mut self) -> Parsed<()> {
        self.expect("(")?;
        self.for_clause(";")?;
        self.code.push(Instruction::Drop);
        let start = self.code.len();
        self.for_clause(";")?;
        let over = self.jump(Instruction::JumpIfZero(0));
        let into = self.jump(Instruction::Jump(0));
        let step = self.code.len();
        self.for_clause(")")?;
        self.code.push(Instruction::Drop);
        self.code.push(Instruction::Jump(start));
        self.land(into);
        self.body(step)?;
        self.land(over);
        Ok(())
    }

    /// Parses one of the three expressions of `for`; a missing one is 1.
    pub(super) fn for_clause(&mut self, end: &str) -> Parsed<()> {
        if self.is(end)? {
            self.extension("Missing expression in for statement");
            self.code.push(Instruction::Truth(true));
        } else {
            let kind = self.expression()?;
            self.no_void(kind, "void expression");
            if kind.comparison && end == ")" {
                self.extension("comparison in expression");
            }
        }
        self.expect(end)
    }

    pub(super) fn print_statement(&mut self) -> Parsed<()> {
        self.extension("print statement");
        loop {
            if let Token::Text(text) = self.peek()?.clone() {
                self.take()?;
                self.code.push(Instruction::PrintEscaped(text.into()));
            } else {
                let kind = self.expression()?;
                self.no_void(kind, "void expression in print");
                self.code.push(Instruction::PrintNumber);
            }
            if !self.accept(",")? {
                return Ok(());
            }
        }
    }

    pub(super) fn return_statement(&mut self) -> Parsed<()> {
        let is_bare =
            matches!(self.peek()?, Token::Line | Token::End | Token::Mark(";" | "}") | Token::Word(Word::Else));
        if is_bare {
            self.code.push(Instruction::Truth(false));
        } else {
            if !self.is("(")? {
                self.extension("return expression without parenthesis");
            }
            let kind = self.expression()?;
            self.no_void(kind, "return of a void expression");
            if kind.comparison {
                self.extension("comparison in return expresion");
            }
            if self.inside == Inside::VoidFunction {
                self.report("Return expression in a void function.");
            }
        }
        if self.inside == Inside::Nothing {
            self.report("Return outside of a function.");
        }
        self.code.push(Instruction::Return);
        Ok(())
    }
}
