//! Compiler of bc: expressions.
//!
//! Precedence, lowest first: `||`, `&&`, `!`, comparisons, assignments, `+ -`, `* / %`, `^`, negation, `++ --`. An
//! operator before its operand (`!`, an assignment) extends as far as its own precedence allows, in any position.

use std::sync::Arc;

use super::lexer::{Token, Word};
use super::parser::{Parsed, Parser};
use super::program::{Argument, Binary, Instruction, Intrinsic, NameId, Place};

/// Properties of an expression that determine how it may be used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kind {
    /// True if the value is printed when the expression is a statement. The values of assignments are not printed.
    pub(super) prints: bool,
    /// True if the expression is a comparison.
    pub(super) comparison: bool,
    /// True if the expression calls a function without a value.
    pub(super) void: bool,
}

impl Kind {
    const VALUE: Self = Self { prints: true, comparison: false, void: false };

    fn or(self, other: Self) -> Self {
        Self { prints: self.prints || other.prints, comparison: self.comparison || other.comparison, void: false }
    }
}

/// Precedences of binary operators.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const ASSIGNMENT: u8 = 5;
const NEGATION: u8 = 9;

/// Returns the operation and the precedence of a binary operator.
fn binary(mark: &str) -> Option<(Binary, u8)> {
    Some(match mark {
        "==" => (Binary::Equal, COMPARISON),
        "!=" => (Binary::Unequal, COMPARISON),
        "<" => (Binary::Less, COMPARISON),
        "<=" => (Binary::LessOrEqual, COMPARISON),
        ">" => (Binary::Greater, COMPARISON),
        ">=" => (Binary::GreaterOrEqual, COMPARISON),
        "+" => (Binary::Add, 6),
        "-" => (Binary::Subtract, 6),
        "*" => (Binary::Multiply, 7),
        "/" => (Binary::Divide, 7),
        "%" => (Binary::Remainder, 7),
        "^" => (Binary::Power, 8),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Parses an expression of any precedence.
    pub(super) fn expression(&mut self) -> Parsed<Kind> {
        self.deeper(|parser| parser.operators(OR))
    }

    /// Parses operands and operators of at least this precedence.
    fn operators(&mut self, lowest: u8) -> Parsed<Kind> {
        let kind = self.operand()?;
        self.operators_from(kind, lowest)
    }

    /// Parses operators and their right operands, after a first operand that was parsed already.
    fn operators_from(&mut self, mut kind: Kind, lowest: u8) -> Parsed<Kind> {
        loop {
            let Token::Mark(mark) = *self.peek()? else { return Ok(kind) };
            let precedence = match mark {
                "||" => OR,
                "&&" => AND,
                _ => match binary(mark) {
                    Some((_, precedence)) => precedence,
                    None => return Ok(kind),
                },
            };
            if precedence < lowest {
                return Ok(kind);
            }
            self.take()?;
            kind = match binary(mark) {
                Some((operation, _)) => self.binary_operator(kind, mark, operation, precedence)?,
                None => self.logical_operator(kind, mark, precedence)?,
            };
        }
    }

    fn binary_operator(&mut self, left: Kind, mark: &str, operation: Binary, precedence: u8) -> Parsed<Kind> {
        // `^` is right-associative.
        let lowest = if operation == Binary::Power { precedence } else { precedence + 1 };
        let right = self.deeper(|parser| parser.operators(lowest))?;
        if left.void || right.void {
            self.report(&format!("void expression with {mark}"));
        }
        self.code.push(Instruction::Binary(operation));
        Ok(match precedence {
            COMPARISON => Kind { prints: true, comparison: true, void: false },
            _ => left.or(right),
        })
    }

    /// Parses the rest of `&&` or `||`. The right side is not evaluated if the left one decides.
    fn logical_operator(&mut self, left: Kind, mark: &str, precedence: u8) -> Parsed<Kind> {
        self.extension(&format!("{mark} operator"));
        let is_and = mark == "&&";
        let decided = match is_and {
            true => self.jump(Instruction::JumpWithZero(0)),
            false => self.jump(Instruction::JumpIfNotZero(0)),
        };
        let right = self.deeper(|parser| parser.operators(precedence + 1))?;
        if left.void || right.void {
            self.report(&format!("void expression with {mark}"));
        }
        if is_and {
            self.code.push(Instruction::Test);
            self.land(decided);
        } else {
            self.code.extend([Instruction::Not, Instruction::Not]);
            let end = self.jump(Instruction::Jump(0));
            self.land(decided);
            self.code.push(Instruction::Truth(true));
            self.land(end);
        }
        Ok(left.or(right))
    }

    fn operand(&mut self) -> Parsed<Kind> {
        match self.peeked()? {
            Token::Mark("!") => {
                self.take()?;
                self.extension("! operator");
                let kind = self.deeper(|parser| parser.operators(NOT + 1))?;
                self.no_void(kind, "void expression with !");
                self.code.push(Instruction::Not);
                Ok(kind)
            }
            Token::Mark("-") => {
                self.take()?;
                let kind = self.deeper(|parser| parser.operators(NEGATION))?;
                self.no_void(kind, "void expression with -");
                self.code.push(Instruction::Negate);
                Ok(kind)
            }
            Token::Mark("(") => {
                self.take()?;
                let kind = self.expression()?;
                self.no_void(kind, "void expression in parenthesis");
                self.expect(")")?;
                Ok(Kind { prints: true, ..kind })
            }
            Token::Mark(mark @ ("++" | "--")) => {
                self.take()?;
                let place = self.place()?;
                self.code.push(Instruction::Step { place, up: mark == "++", old: false });
                Ok(Kind::VALUE)
            }
            Token::Number(digits) => {
                self.take()?;
                self.code.push(Instruction::Constant(Arc::new(digits)));
                Ok(Kind::VALUE)
            }
            Token::Name(_) => self.named(),
            Token::Word(word) => self.word_operand(word),
            _ => self.syntax_error(),
        }
    }

    /// Reports the use of a function that returns no value.
    pub(super) fn no_void(&mut self, kind: Kind, what: &str) {
        if kind.void {
            self.report(what);
        }
    }

    /// Parses an expression that begins with a name: of a variable, of an array's element, or of a called function.
    fn named(&mut self) -> Parsed<Kind> {
        let Token::Name(name) = self.take()? else { return self.syntax_error() };
        let id = self.declared.names.id(&name);
        if self.accept("(")? {
            return self.call(id);
        }
        let place = self.element(id)?;
        self.variable(place)
    }

    /// Parses the subscript of an array element, if one follows the name.
    fn element(&mut self, id: NameId) -> Parsed<Place> {
        if !self.accept("[")? {
            return Ok(Place::Simple(id));
        }
        let kind = self.expression()?;
        self.no_void(kind, "void expression as subscript");
        self.expect("]")?;
        Ok(Place::Element(id))
    }

    /// Parses a variable after `++` or `--`.
    fn place(&mut self) -> Parsed<Place> {
        match self.peeked()? {
            Token::Name(name) => {
                self.take()?;
                let id = self.declared.names.id(&name);
                self.element(id)
            }
            Token::Word(word) => match Self::special(word) {
                Some(place) => {
                    self.take()?;
                    Ok(place)
                }
                None => self.syntax_error(),
            },
            _ => self.syntax_error(),
        }
    }

    /// Parses the use of a variable: an assignment, an increment or decrement, or a read.
    fn variable(&mut self, place: Place) -> Parsed<Kind> {
        match self.peeked()? {
            Token::Assign(operator) => {
                self.take()?;
                self.assignment(place, operator)
            }
            Token::Mark(mark @ ("++" | "--")) => {
                self.take()?;
                self.code.push(Instruction::Step { place, up: mark == "++", old: true });
                Ok(Kind::VALUE)
            }
            _ => {
                self.code.push(Instruction::Load { place, keep: false });
                Ok(Kind::VALUE)
            }
        }
    }

    fn assignment(&mut self, place: Place, operator: u8) -> Parsed<Kind> {
        if operator != b'=' {
            self.code.push(Instruction::Load { place, keep: true });
        }
        let kind = self.deeper(|parser| parser.operators(ASSIGNMENT))?;
        self.no_void(kind, "Assignment of a void expression");
        let operation = match operator {
            b'+' => Some(Binary::Add),
            b'-' => Some(Binary::Subtract),
            b'*' => Some(Binary::Multiply),
            b'/' => Some(Binary::Divide),
            b'%' => Some(Binary::Remainder),
            b'^' => Some(Binary::Power),
            _ => None,
        };
        self.code.extend(operation.map(Instruction::Binary));
        self.code.push(Instruction::Store(place));
        Ok(Kind::default())
    }

    /// Parses an operand that begins with a keyword.
    fn word_operand(&mut self, word: Word) -> Parsed<Kind> {
        let function = match word {
            Word::Length => Intrinsic::Length,
            Word::Sqrt => Intrinsic::Sqrt,
            Word::Read => Intrinsic::Read,
            Word::Random => Intrinsic::Random,
            Word::Scale => {
                self.take()?;
                if self.accept("(")? {
                    return self.intrinsic(Intrinsic::Scale);
                }
                return self.variable(Place::Scale);
            }
            _ => {
                let Some(place) = Self::special(word) else { return self.syntax_error() };
                self.take()?;
                return self.variable(place);
            }
        };
        self.take()?;
        self.expect("(")?;
        self.intrinsic(function)
    }

    /// Parses the arguments of a function that is part of the language.
    fn intrinsic(&mut self, function: Intrinsic) -> Parsed<Kind> {
        match function {
            Intrinsic::Read => self.extension("read function"),
            Intrinsic::Random => self.extension("random function"),
            _ => {
                let kind = self.expression()?;
                self.no_void(kind, "void expression as an argument");
            }
        }
        self.expect(")")?;
        self.code.push(Instruction::Intrinsic(function));
        Ok(Kind::VALUE)
    }

    /// Parses the arguments of a call.
    fn call(&mut self, function: NameId) -> Parsed<Kind> {
        let mut arguments = Vec::new();
        if !self.accept(")")? {
            loop {
                arguments.push(self.argument()?);
                if !self.accept(",")? {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.code.push(Instruction::Call { function, arguments: arguments.into() });
        Ok(Kind { void: self.declared.void.contains(&function), ..Kind::VALUE })
    }

    /// Parses one argument of a call: an expression, or a whole array, `name[]`.
    fn argument(&mut self) -> Parsed<Argument> {
        if let Token::Name(name) = self.peeked()? {
            // `name [` may begin an element or a whole array; two tokens decide, so the name is taken first.
            self.take()?;
            let id = self.declared.names.id(&name);
            if self.accept("[")? {
                if self.accept("]")? {
                    return Ok(Argument::Array(id));
                }
                let kind = self.expression()?;
                self.no_void(kind, "void expression as subscript");
                self.expect("]")?;
                return self.variable_argument(Place::Element(id));
            }
            if self.accept("(")? {
                let kind = self.call(id)?;
                self.no_void(kind, "void argument");
                self.operators_from(kind, OR)?;
                return Ok(Argument::Number);
            }
            return self.variable_argument(Place::Simple(id));
        }
        let kind = self.expression()?;
        self.no_void(kind, "void argument");
        Ok(Argument::Number)
    }

    /// Parses an argument that begins with a variable.
    fn variable_argument(&mut self, place: Place) -> Parsed<Argument> {
        let kind = self.variable(place)?;
        self.operators_from(kind, OR)?;
        Ok(Argument::Number)
    }
}
