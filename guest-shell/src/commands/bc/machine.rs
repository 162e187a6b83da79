//! The virtual machine that runs bc programs: variables, calls and instructions.
//!
//! It runs in slices, and stops where it needs something: more of the program, numbers for `read()`, or a pause. The
//! shell can therefore run other tasks in between, and an endless loop ends with the script's fuel.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::super::decimal::{Decimal, Digits, Fault};
use super::super::effort::{Effort, Refusal};
use super::lexer::Lexer;
use super::mathlib::MathFunction;
use super::options::Options;
use super::output::Output;
use super::parser::{Declared, Dialect, Parse, Parser};
use super::program::{Binary, Code, Function, Instruction, Intrinsic, Item, NameId};
use super::random::Random;

/// Scale that the option `-l` sets.
const MATHLIB_SCALE: usize = 20;
/// Size of the output after which the machine pauses, in bytes.
const OUTPUT: usize = 32 << 10;

pub(super) type Value = Arc<Decimal>;

/// Reason why a machine stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// More text of the program.
    Program,
    /// More bytes for `read()`.
    Numbers,
    /// A pause for other tasks, and for taking the output.
    Pause,
    /// More fuel than is left.
    Fuel,
    /// Nothing, since bc has ended with this status.
    End(i32),
}

/// Reason why a step was not completed.
pub(super) enum Trouble {
    /// An error of the program, with its text.
    Error(String),
    /// The operation would take too much time or memory.
    Refused(Refusal),
    /// `read()` needs more input.
    Numbers,
    /// End by the statement `halt`.
    Halt,
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Target of a call.
#[derive(Clone, Debug)]
pub(super) enum Callable {
    Defined(Function),
    Math(MathFunction),
}

/// Elements of one array.
pub(super) type Array = BTreeMap<u32, Value>;

/// Former value of a variable, which is restored when a call ends.
pub(super) enum Saved {
    Simple(NameId, Option<Value>),
    /// The array that the name referred to, and whether the call's own array is dropped.
    Array(NameId, Option<usize>, bool),
}

/// An active call, or the main program.
pub(super) struct Frame {
    pub(super) code: Code,
    pub(super) at: usize,
    /// Base of the constants in the function: the one at the time of the call. For the main program it changes with
    /// `ibase`.
    pub(super) base: Option<u32>,
    pub(super) saved: Vec<Saved>,
    /// Height of the stack when the frame began.
    pub(super) floor: usize,
    pub(super) name: Option<NameId>,
}

/// Instance of bc with its program and variables.
pub(crate) struct Machine {
    pub(super) lexer: Lexer,
    pub(super) declared: Declared,
    pub(super) options: Options,
    pub(super) functions: HashMap<NameId, Callable>,
    pub(super) simple: Vec<Option<Value>>,
    /// Indexes of the arrays that names refer to.
    pub(super) arrays: Vec<Option<usize>>,
    pub(super) storage: Vec<Array>,
    pub(super) unused: Vec<usize>,
    pub(super) stack: Vec<Value>,
    pub(super) frames: Vec<Frame>,
    pub(super) ibase: u32,
    pub(super) obase: u32,
    pub(super) scale: usize,
    pub(super) last: Value,
    pub(super) history: Value,
    pub(super) random: Random,
    pub(super) numbers: VecDeque<u8>,
    pub(super) numbers_ended: bool,
    pub(super) constants: HashMap<(usize, u32), Value>,
    /// Account of work.
    pub(crate) effort: Effort,
    /// Text for standard output.
    pub(crate) output: Output,
    /// Text for standard error.
    pub(crate) errors: Vec<u8>,
}

impl Machine {
    /// Returns a bc that has not begun; `line_length` is the value of `BC_LINE_LENGTH`.
    pub(crate) fn new(options: Options, line_length: Option<&str>) -> Self {
        let mut declared = Declared::default();
        let mut functions = HashMap::new();
        if options.mathlib {
            for (name, function) in MathFunction::ALL {
                functions.insert(declared.names.id(name), Callable::Math(function));
            }
        }
        let zero = Arc::new(Decimal::zero());
        Self {
            lexer: Lexer::default(),
            declared,
            scale: if options.mathlib { MATHLIB_SCALE } else { 0 },
            options,
            functions,
            simple: Vec::new(),
            arrays: Vec::new(),
            storage: Vec::new(),
            unused: Vec::new(),
            stack: Vec::new(),
            frames: Vec::new(),
            ibase: 10,
            obase: 10,
            last: Arc::clone(&zero),
            history: Arc::new(Decimal::from(-1_i64)),
            random: Random::new(),
            numbers: VecDeque::new(),
            numbers_ended: false,
            constants: HashMap::new(),
            effort: Effort::unlimited(),
            output: Output::new(line_length),
            errors: Vec::new(),
        }
    }

    /// Adds a part of the program.
    pub(crate) fn feed_program(&mut self, text: &[u8]) {
        self.lexer.feed(text);
    }

    /// Records that the program is complete.
    pub(crate) fn end_program(&mut self) {
        self.lexer.end();
    }

    /// Adds bytes for `read()`; an empty slice marks the end of the input.
    pub(crate) fn feed_numbers(&mut self, bytes: &[u8]) {
        self.numbers.extend(bytes);
        self.numbers_ended = bytes.is_empty();
    }

    /// Runs for about `slice` units of work.
    pub(crate) fn run(&mut self, slice: u64) -> Need {
        let until = self.effort.spent().saturating_add(slice);
        loop {
            if self.effort.spent() >= until || self.output.len() >= OUTPUT {
                return Need::Pause;
            }
            let need = if self.frames.is_empty() { self.next_item() } else { self.steps(until) };
            if let Some(need) = need {
                return need;
            }
        }
    }

    /// Parses the next item and begins to run it.
    fn next_item(&mut self) -> Option<Need> {
        if let Err(refusal) = self.effort.spend(1) {
            return Some(self.refuse(refusal));
        }
        let Parse { item, reports, notices } = Parser::item(&mut self.lexer, &mut self.declared, self.options.dialect);
        self.errors.extend_from_slice(reports.as_bytes());
        self.output.write_plain(notices.as_bytes());
        match item {
            None => return Some(Need::Program),
            Some(Item::End | Item::Quit) => return Some(Need::End(0)),
            Some(Item::Nothing) => {}
            Some(Item::Definition(name, function)) => {
                self.functions.insert(name, Callable::Defined(function));
            }
            Some(Item::Statements(code)) => {
                self.constants.clear();
                let names = self.declared.names.len();
                self.simple.resize(names, None);
                self.arrays.resize(names, None);
                self.frames.push(Frame { code, at: 0, base: None, saved: Vec::new(), floor: 0, name: None });
            }
        }
        None
    }

    /// Runs instructions of the innermost frame until it ends, another frame begins, or the slice is used up.
    fn steps(&mut self, until: u64) -> Option<Need> {
        while let Some(frame) = self.frames.last_mut() {
            let Some(instruction) = frame.code.get(frame.at).cloned() else {
                self.frames.pop();
                return None;
            };
            frame.at += 1;
            let outcome = self.effort.spend(1).map_err(Trouble::from).and_then(|()| self.step(instruction));
            match outcome {
                Ok(()) => {}
                Err(Trouble::Error(text)) => {
                    self.fail(&text);
                    return None;
                }
                Err(Trouble::Refused(refusal)) => return Some(self.refuse(refusal)),
                Err(Trouble::Halt) => return Some(Need::End(0)),
                Err(Trouble::Numbers) => {
                    // The step is repeated once there is input.
                    if let Some(frame) = self.frames.last_mut() {
                        frame.at -= 1;
                    }
                    return Some(Need::Numbers);
                }
            }
            if self.effort.spent() >= until || self.output.len() >= OUTPUT {
                return None;
            }
        }
        None
    }

    fn refuse(&mut self, refusal: Refusal) -> Need {
        match refusal {
            Refusal::Fuel => Need::Fuel,
            Refusal::Memory => {
                self.errors.extend_from_slice(b"Fatal error: Out of memory for malloc.\n");
                Need::End(1)
            }
        }
    }

    /// Returns the name of the running function, and the position in it.
    fn whereabouts(&self) -> String {
        let frame = self.frames.last();
        let name = frame.and_then(|frame| frame.name).map_or("(main)", |name| self.declared.names.name(name));
        format!("(func={name}, adr={})", frame.map_or(0, |frame| frame.at))
    }

    /// Aborts the item with an error, leaving all calls.
    fn fail(&mut self, text: &str) {
        let report = format!("Runtime error {}: {text}\n", self.whereabouts());
        self.errors.extend_from_slice(report.as_bytes());
        while let Some(frame) = self.frames.pop() {
            self.restore(frame.saved);
        }
        self.stack.clear();
    }

    pub(super) fn warn(&mut self, text: &str) {
        let report = format!("Runtime warning {}: {text}\n", self.whereabouts());
        self.errors.extend_from_slice(report.as_bytes());
    }

    fn step(&mut self, instruction: Instruction) -> Result<(), Trouble> {
        match instruction {
            Instruction::Constant(digits) => {
                let value = self.constant(&digits)?;
                self.stack.push(value);
            }
            Instruction::Truth(value) => self.push(Decimal::from(value)),
            Instruction::Load { place, keep } => {
                let value = self.load(place, keep)?;
                self.stack.push(value);
            }
            Instruction::Store(place) => self.store(place)?,
            Instruction::Step { place, up, old } => self.increment(place, up, old)?,
            Instruction::Binary(operation) => self.binary(operation)?,
            Instruction::Negate => {
                let value = self.pop().negated();
                self.push(value);
            }
            Instruction::Not => {
                let value = self.pop().is_zero();
                self.push(Decimal::from(value));
            }
            Instruction::Test => {
                let value = self.pop();
                let value = if value.is_zero() { value } else { Arc::new(Decimal::from(true)) };
                self.stack.push(value);
            }
            Instruction::Intrinsic(function) => self.intrinsic(function)?,
            Instruction::Call { function, arguments } => self.call(function, &arguments)?,
            Instruction::Jump(to) => self.jump(to),
            Instruction::JumpIfZero(to) => self.jump_if(true, to),
            Instruction::JumpWithZero(to) => {
                let value = self.pop();
                if value.is_zero() {
                    self.stack.push(value);
                    self.jump(to);
                }
            }
            Instruction::JumpIfNotZero(to) => self.jump_if(false, to),
            Instruction::Drop => {
                self.pop();
            }
            Instruction::PrintLine => {
                self.print_number()?;
                self.output.write(b"\n");
            }
            Instruction::PrintNumber => self.print_number()?,
            // POSIX does not allow line breaks in strings.
            Instruction::PrintText(text) if self.options.dialect == Dialect::Standard => {
                self.output.write_plain(&text);
            }
            Instruction::PrintText(text) => self.output.write(&text),
            Instruction::PrintEscaped(text) => self.output.write(&unescaped(&text)),
            Instruction::Return => self.end_call(),
            Instruction::Halt => return Err(Trouble::Halt),
        }
        Ok(())
    }

    /// Takes a value, and jumps if it is zero, or if it is not.
    fn jump_if(&mut self, zero: bool, to: usize) {
        if self.pop().is_zero() == zero {
            self.jump(to);
        }
    }

    pub(super) fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_else(|| Arc::new(Decimal::zero()))
    }

    pub(super) fn push(&mut self, value: Decimal) {
        self.stack.push(Arc::new(value));
    }

    fn jump(&mut self, to: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = to;
        }
    }

    /// Returns the value of a constant, in the current base; within a function, in the base at the time of its call.
    fn constant(&mut self, digits: &Arc<Digits>) -> Result<Value, Refusal> {
        /// Number of cached constants. Only a program with more distinct constants would need more.
        const KEPT: usize = 4_096;
        let base = self.frames.last().and_then(|frame| frame.base).unwrap_or(self.ibase);
        let key = (Arc::as_ptr(digits).addr(), base);
        if let Some(value) = self.constants.get(&key) {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(digits.constant(base, &mut self.effort)?);
        if self.constants.len() < KEPT {
            self.constants.insert(key, Arc::clone(&value));
        }
        Ok(value)
    }

    fn binary(&mut self, operation: Binary) -> Result<(), Trouble> {
        let (right, left) = (self.pop(), self.pop());
        let (scale, effort) = (self.scale, &mut self.effort);
        let truth = |yes: bool| Ok(Decimal::from(yes));
        let order = |effort: &mut Effort| {
            effort.spend(1 + (left.bits() + right.bits()) / 4_096)?;
            Ok::<_, Refusal>(left.compare(&right))
        };
        let result = match operation {
            Binary::Add => left.add(&right, effort).map_err(Fault::from),
            Binary::Subtract => left.subtract(&right, effort).map_err(Fault::from),
            Binary::Multiply => left.multiply(&right, scale, effort).map_err(Fault::from),
            Binary::Divide => left.divide(&right, scale, effort),
            Binary::Remainder => left.divide_remainder(&right, scale, effort).map(|(_, remainder)| remainder),
            Binary::Power => {
                if right.scale() != 0 {
                    self.warn("non-zero scale in exponent");
                }
                match left.is_zero() && right.is_negative() {
                    true => Err(Fault::ZeroDivisor),
                    false => left.raise(&right, scale, &mut self.effort),
                }
            }
            Binary::Equal => truth(order(effort)? == Ordering::Equal),
            Binary::Unequal => truth(order(effort)? != Ordering::Equal),
            Binary::Less => truth(order(effort)? == Ordering::Less),
            Binary::LessOrEqual => truth(order(effort)? != Ordering::Greater),
            Binary::Greater => truth(order(effort)? == Ordering::Greater),
            Binary::GreaterOrEqual => truth(order(effort)? != Ordering::Less),
        };
        let value = result.map_err(|fault| Trouble::of(fault, operation == Binary::Remainder))?;
        self.push(value);
        Ok(())
    }

    fn intrinsic(&mut self, function: Intrinsic) -> Result<(), Trouble> {
        let value = match function {
            Intrinsic::Read => self.read_number()?,
            Intrinsic::Random => Decimal::from(u64::from(self.random.next())),
            Intrinsic::Length => {
                let value = self.pop();
                self.effort.spend_product(value.bits(), value.bits())?;
                Decimal::from(u64::try_from(value.length()).unwrap_or(u64::MAX))
            }
            Intrinsic::Scale => Decimal::from(u64::try_from(self.pop().scale()).unwrap_or(u64::MAX)),
            Intrinsic::Sqrt => {
                let value = self.pop();
                value.square_root(self.scale, &mut self.effort).map_err(|fault| Trouble::of(fault, false))?
            }
        };
        self.push(value);
        Ok(())
    }

    fn print_number(&mut self) -> Result<(), Refusal> {
        let value = self.pop();
        let text = value.text(self.obase, &mut self.effort)?;
        self.output.write(text.as_bytes());
        self.last = value;
        Ok(())
    }

    /// Reads a number from the input: digits, up to and including the first other character.
    fn read_number(&mut self) -> Result<Decimal, Trouble> {
        let mut at = 0;
        let mut negative = false;
        let mut digits = Digits::default();
        let (mut begun, mut point) = (false, false);
        loop {
            let Some(byte) = self.numbers.get(at).copied() else {
                if self.numbers_ended {
                    break;
                }
                return Err(Trouble::Numbers);
            };
            at += 1;
            if byte == b'\\' && self.numbers.get(at) == Some(&b'\n') {
                at += 1;
                continue;
            }
            match byte {
                0..=b' ' if !begun => continue,
                b'+' | b'-' if !begun => negative = byte == b'-',
                b'.' if !point => point = true,
                _ => match char::from(byte).to_digit(36).and_then(|digit| u8::try_from(digit).ok()) {
                    Some(digit) if point => digits.fraction.push(digit),
                    Some(digit) => digits.whole.push(digit),
                    None => break,
                },
            }
            begun = true;
        }
        self.numbers.drain(..at);
        let value = digits.value(self.ibase, &mut self.effort)?;
        Ok(if negative { value.negated() } else { value })
    }
}

impl Trouble {
    pub(super) fn of(fault: Fault, remainder: bool) -> Self {
        Self::Error(
            match fault {
                Fault::Refused(refusal) => return Self::Refused(refusal),
                Fault::ZeroDivisor if remainder => "Modulo by zero",
                Fault::ZeroDivisor => "Divide by zero",
                Fault::HugeExponent => "exponent too large in raise",
                Fault::NegativeRoot => "Square root of a negative number",
            }
            .to_owned(),
        )
    }
}

/// Resolves the backslash escapes in the text of a `print` statement.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            plain.push(*byte);
            continue;
        }
        match bytes.next() {
            Some(b'a') => plain.push(7),
            Some(b'b') => plain.push(8),
            Some(b'f') => plain.push(12),
            Some(b'n') => plain.push(b'\n'),
            Some(b'q') => plain.push(b'"'),
            Some(b'r') => plain.push(b'\r'),
            Some(b't') => plain.push(b'\t'),
            Some(b'\\') => plain.push(b'\\'),
            // Other escapes produce nothing.
            _ => {}
        }
    }
    plain
}
