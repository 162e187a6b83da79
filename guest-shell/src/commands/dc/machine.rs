//! Virtual machine of dc, with its commands.
//!
//! It runs in slices, as that of `bc` does, and stops when it needs input or a pause.

use std::cmp::Ordering;
use std::sync::Arc;

use super::super::decimal::Decimal;
use super::super::effort::{Effort, Refusal};
use super::reader::{Command, read_command};
use super::registers::{Registers, Value};
use super::source::{Cursor, Short, Source};

/// Largest number of active strings.
const DEPTH: usize = 200_000;
/// Size of the output after which the machine pauses, in bytes.
const OUTPUT: usize = 32 << 10;
/// Default line length.
const LINE_LENGTH: usize = 70;

/// Reason why a machine stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The next part to evaluate.
    Part,
    /// More of the file that is read.
    File,
    /// More of standard input.
    Input,
    /// A pause for other tasks, and for taking the output.
    Pause,
    /// More fuel than is left.
    Fuel,
    /// Nothing, since dc has ended with this status.
    End(i32),
}

/// Reason why a command was not completed.
#[derive(Debug)]
pub(super) enum Stop {
    /// More of the source text is needed.
    Short,
    /// More of standard input is needed; the command is repeated.
    Input,
    /// The operation would take too much time or memory.
    Refused(Refusal),
    /// End of dc with a status.
    End(i32),
}

impl From<Short> for Stop {
    fn from(_: Short) -> Self {
        Self::Short
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// String that is being executed.
struct Frame {
    text: Arc<[u8]>,
    at: usize,
    /// Number of levels that the frame counts for: itself, and strings whose last command executed it.
    levels: usize,
}

/// Source of the commands outside of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Nothing,
    File,
    Input,
}

/// Instance of dc with its stack and registers.
pub(crate) struct Machine {
    pub(super) stack: Vec<Value>,
    registers: Registers,
    frames: Vec<Frame>,
    base: Base,
    file: Source,
    input: Source,
    ibase: u32,
    obase: u32,
    pub(super) scale: usize,
    line_length: Option<usize>,
    /// Account of work.
    pub(crate) effort: Effort,
    /// Text for standard output.
    pub(crate) output: Vec<u8>,
    /// Text for standard error.
    pub(crate) errors: Vec<u8>,
}

impl Machine {
    /// Returns a dc that has not begun; `line_length` is the value of `DC_LINE_LENGTH`.
    pub(crate) fn new(line_length: Option<&str>) -> Self {
        let line_length = match line_length.map(str::parse::<usize>) {
            Some(Ok(0)) => None,
            Some(Ok(length)) if length > 1 => Some(length),
            _ => Some(LINE_LENGTH),
        };
        Self {
            stack: Vec::new(),
            registers: Registers::new(),
            frames: Vec::new(),
            base: Base::Nothing,
            file: Source::default(),
            input: Source::default(),
            ibase: 10,
            obase: 10,
            scale: 0,
            line_length,
            effort: Effort::unlimited(),
            output: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Begins a text of the command line.
    pub(crate) fn begin_expression(&mut self, text: &str) {
        self.base = Base::Nothing;
        self.frames.push(Frame { text: (&*bashkit::bytes_of(text)).into(), at: 0, levels: 1 });
    }

    /// Begins a file as the source of commands.
    pub(crate) fn begin_file(&mut self) {
        self.base = Base::File;
        self.file = Source::default();
    }

    /// Begins standard input as the source of commands.
    pub(crate) fn begin_input(&mut self) {
        self.base = Base::Input;
    }

    /// Adds text of the file; an empty text marks its end.
    pub(crate) fn feed_file(&mut self, text: &[u8]) {
        self.file.feed(text);
    }

    /// Adds text of standard input; an empty text marks its end.
    pub(crate) fn feed_input(&mut self, text: &[u8]) {
        self.input.feed(text);
    }

    /// Runs for about `slice` units of work.
    pub(crate) fn run(&mut self, slice: u64) -> Need {
        let until = self.effort.spent().saturating_add(slice);
        loop {
            if self.effort.spent() >= until || self.output.len() >= OUTPUT {
                return Need::Pause;
            }
            let outcome = self.effort.spend(1).map_err(Stop::from).and_then(|()| self.one_command());
            match outcome {
                Ok(true) => {}
                Ok(false) => {
                    self.base = Base::Nothing;
                    return Need::Part;
                }
                Err(Stop::Short) if self.base == Base::File => return Need::File,
                Err(Stop::Short | Stop::Input) => return Need::Input,
                Err(Stop::End(status)) => return Need::End(status),
                Err(Stop::Refused(Refusal::Fuel)) => return Need::Fuel,
                Err(Stop::Refused(Refusal::Memory)) => {
                    self.report("out of memory");
                    return Need::End(1);
                }
            }
        }
    }

    /// Reads and executes one command. Returns false at the end of the part.
    fn one_command(&mut self) -> Result<bool, Stop> {
        let mut cursor = match (self.frames.last(), self.base) {
            (Some(frame), _) => Cursor::of_string(&frame.text, frame.at),
            (None, Base::File) => Cursor::of_source(&self.file),
            (None, Base::Input) => Cursor::of_source(&self.input),
            (None, Base::Nothing) => return Ok(false),
        };
        let before = cursor.at();
        let command = read_command(&mut cursor)?;
        let at = cursor.at();
        self.go_to(at);
        let Some(command) = command else {
            return Ok(self.frames.pop().is_some());
        };
        let outcome = self.execute(command);
        if matches!(outcome, Err(Stop::Input)) {
            self.go_to(before);
        }
        outcome.map(|()| true)
    }

    /// Moves to a position in the source text.
    fn go_to(&mut self, at: usize) {
        match (self.frames.last_mut(), self.base) {
            (Some(frame), _) => frame.at = at,
            (None, Base::File) => self.file.pass(at),
            (None, Base::Input) => self.input.pass(at),
            (None, Base::Nothing) => {}
        }
    }

    /// Writes to standard error.
    pub(super) fn report(&mut self, what: &str) {
        self.errors.extend_from_slice(format!("dc: {what}\n").as_bytes());
    }

    pub(super) fn warn(&mut self, what: &str) {
        self.errors.extend_from_slice(format!("Runtime warning: {what}\n").as_bytes());
    }

    /// Pops the topmost value, and reports an error if the stack is empty.
    pub(super) fn pop(&mut self) -> Option<Value> {
        let value = self.stack.pop();
        if value.is_none() {
            self.report("stack empty");
        }
        value
    }

    fn execute(&mut self, command: Command) -> Result<(), Stop> {
        match command {
            Command::Number(digits, negative) => {
                let number = digits.polynomial(self.ibase, &mut self.effort)?;
                self.stack.push(if negative { number.negated() } else { number }.into());
            }
            Command::Text(text) => self.stack.push(Value::Text(text.into())),
            Command::Register(command, register) => self.register_command(command, register),
            Command::Comparison(operator, turned, register) => self.compare(operator, turned, register)?,
            Command::System => self.report("commands of the system are not run: `!` is refused here"),
            Command::Incomplete if self.frames.is_empty() => {
                self.report("unexpected EOF");
                return Err(Stop::End(1));
            }
            Command::Incomplete => self.report("unexpected EOS"),
            Command::Plain(command) => self.plain_command(command)?,
        }
        Ok(())
    }

    fn plain_command(&mut self, command: u8) -> Result<(), Stop> {
        match command {
            b'+' | b'-' | b'*' | b'/' | b'%' | b'~' | b'^' => self.binary(command)?,
            b'|' => self.modular_power()?,
            b'v' => self.square_root()?,
            b'Z' => self.measure(false)?,
            b'X' => self.measure(true)?,
            b'p' | b'n' | b'P' | b'f' => self.print_command(command)?,
            b'a' => self.make_character(),
            b'c' => self.stack.clear(),
            b'd' => {
                if let Some(value) = self.pop() {
                    self.stack.extend([value.clone(), value]);
                }
            }
            b'r' => {
                if let [.., one, other] = &mut self.stack[..] {
                    std::mem::swap(one, other);
                }
            }
            b'R' => self.rotate(),
            b'z' => self.push_size(self.stack.len()),
            b'i' | b'o' | b'k' => self.set(command),
            b'I' => self.stack.push(Decimal::from(u64::from(self.ibase)).into()),
            b'O' => self.stack.push(Decimal::from(u64::from(self.obase)).into()),
            b'K' => self.push_size(self.scale),
            b'x' => match self.pop() {
                Some(Value::Text(text)) => self.enter(text)?,
                Some(number) => self.stack.push(number),
                None => {}
            },
            b'?' => {
                let line = self.input.line().map_err(|_| Stop::Input)?;
                self.enter(line.into())?;
            }
            b'q' => self.leave(2, true)?,
            b'Q' => self.leave_counted()?,
            _ => self.unimplemented(command),
        }
        Ok(())
    }

    fn push_size(&mut self, size: usize) {
        self.stack.push(Decimal::from(u64::try_from(size).unwrap_or(u64::MAX)).into());
    }

    /// Writes GNU's message about a byte that is not a command. Its second half goes to standard output.
    fn unimplemented(&mut self, command: u8) {
        self.errors.extend_from_slice(b"dc: ");
        if command.is_ascii_graphic() {
            self.output.extend([b'\'', command]);
            self.output.extend_from_slice(b"' (");
            self.output.extend_from_slice(format!("0{command:o}) unimplemented\n").as_bytes());
        } else {
            let zero = if command == 0 { "" } else { "0" };
            self.output.extend_from_slice(format!("{zero}{command:o} unimplemented\n").as_bytes());
        }
    }

    // ---- Strings that are executed ----

    fn enter(&mut self, text: Arc<[u8]>) -> Result<(), Stop> {
        if let Some(frame) = self.frames.last_mut()
            && frame.at == frame.text.len()
        {
            // Tail call: the string has ended, but still counts as a level for `q` and `Q`.
            *frame = Frame { text, at: 0, levels: frame.levels + 1 };
            return Ok(());
        }
        if self.frames.len() == DEPTH {
            return Err(Stop::Refused(Refusal::Memory));
        }
        self.frames.push(Frame { text, at: 0, levels: 1 });
        Ok(())
    }

    /// Leaves a number of strings. `q` ends dc if there are fewer: with status 1, or with 0 in a text of the command
    /// line.
    fn leave(&mut self, mut levels: usize, ends: bool) -> Result<(), Stop> {
        while levels > 0 {
            let Some(frame) = self.frames.pop() else {
                if ends {
                    return Err(Stop::End(i32::from(self.base != Base::Nothing)));
                }
                self.report("Q command argument exceeded string execution depth");
                return Ok(());
            };
            levels = levels.saturating_sub(frame.levels);
        }
        Ok(())
    }

    fn leave_counted(&mut self) -> Result<(), Stop> {
        let Some(value) = self.pop() else { return Ok(()) };
        let count = match &value {
            Value::Number(number) => self.integer(number),
            Value::Text(_) => 0,
        };
        match usize::try_from(count) {
            Ok(count) if count > 0 => self.leave(count, false),
            _ => {
                self.report("Q command requires a number >= 1");
                Ok(())
            }
        }
    }

    // ---- Registers ----

    /// Returns the value of a register: zero if it was never used, or `None` with a message if it only has an array.
    fn register(&mut self, name: u8) -> Option<Value> {
        let value = self.registers.get(name);
        if value.is_none() && !self.registers.is_unused(name) {
            let shown = char::from(name);
            self.report(&format!("register '{shown}' (0{name:o}) exists but is uninitialized"));
            return None;
        }
        Some(value.unwrap_or_else(|| Decimal::zero().into()))
    }

    fn register_command(&mut self, command: u8, register: u8) {
        match command {
            b's' | b'S' => {
                let Some(value) = self.pop() else { return };
                match command {
                    b's' => self.registers.set(register, value),
                    _ => self.registers.push(register, value),
                }
            }
            b'l' => {
                let value = self.register(register);
                self.stack.extend(value);
            }
            b'L' => match self.registers.pop(register) {
                Some(value) => self.stack.push(value),
                None => {
                    let shown = char::from(register);
                    self.report(&format!("stack register '{shown}' (0{register:o}) is empty"));
                }
            },
            _ => self.array_command(command, register),
        }
    }

    /// Executes `:` and `;`.
    fn array_command(&mut self, command: u8, register: u8) {
        let Some(index) = self.pop() else { return };
        let index = match &index {
            Value::Number(number) => self.integer(number),
            Value::Text(_) => -1,
        };
        if command == b';' {
            let Ok(index) = u32::try_from(index) else {
                return self.report("array index must be a nonnegative integer");
            };
            let value = self.registers.element(register, index).unwrap_or_else(|| Decimal::zero().into());
            return self.stack.push(value);
        }
        let Some(value) = self.pop() else { return };
        match u32::try_from(index) {
            Ok(index) => self.registers.set_element(register, index, value),
            Err(_) => self.report("array index must be a nonnegative integer"),
        }
    }

    /// Executes a register if the two topmost numbers, the topmost first, satisfy a comparison.
    fn compare(&mut self, operator: u8, turned: bool, register: u8) -> Result<(), Stop> {
        let order = self.order()?;
        let holds = match operator {
            b'<' => order == Ordering::Less,
            b'>' => order == Ordering::Greater,
            _ => order == Ordering::Equal,
        };
        if holds == turned {
            return Ok(());
        }
        match self.register(register) {
            Some(Value::Text(text)) => self.enter(text),
            number => {
                self.stack.extend(number);
                Ok(())
            }
        }
    }

    /// Pops the two topmost numbers and compares them, the topmost first. Operands that cannot be compared stay, and
    /// count as equal.
    fn order(&mut self) -> Result<Ordering, Refusal> {
        let [.., second, top] = &self.stack[..] else {
            self.report("stack empty");
            return Ok(Ordering::Equal);
        };
        let (Value::Number(top), Value::Number(second)) = (top, second) else {
            self.report("non-numeric value");
            return Ok(Ordering::Equal);
        };
        self.effort.spend(1 + (top.bits() + second.bits()) / 4_096)?;
        let order = top.compare(second);
        self.stack.truncate(self.stack.len() - 2);
        Ok(order)
    }

    // ---- Numbers ----

    /// Returns the integer part as a machine number, or -1 with a message if it is too large.
    fn integer(&mut self, number: &Decimal) -> i32 {
        // As in GNU's, a number with a fraction that is too small counts as too large.
        let Some(whole) = number.to_i64().filter(|whole| *whole != 0 || number.is_zero()) else {
            self.report("value overflows simple integer; punting...");
            return -1;
        };
        // The last two numbers of the range wrap around.
        i32::try_from(whole).unwrap_or(if whole > 0 { i32::MIN } else { i32::MAX })
    }

    fn set(&mut self, command: u8) {
        let Some(value) = self.pop() else { return };
        let number = match &value {
            Value::Number(number) => self.integer(number),
            Value::Text(_) => -1,
        };
        match (command, u32::try_from(number)) {
            (b'k', Ok(scale)) => self.scale = usize::try_from(scale).unwrap_or(usize::MAX),
            (b'k', Err(_)) => self.report("scale must be a nonnegative number"),
            (b'i', Ok(base @ 2..=16)) => self.ibase = base,
            (b'i', _) => self.report("input base must be a number between 2 and 16 (inclusive)"),
            (_, Ok(base @ 2..)) => self.obase = base,
            _ => self.report("output base must be a number greater than 1"),
        }
    }

    /// Rotates the topmost values (the command `R`).
    fn rotate(&mut self) {
        let Some(value) = self.pop() else { return };
        let Value::Number(number) = &value else { return };
        let count = self.integer(number);
        let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX).min(self.stack.len());
        let from = self.stack.len() - size;
        let top = &mut self.stack[from..];
        if size < 2 {
            return;
        }
        if count > 0 { top.rotate_left(1) } else { top.rotate_right(1) }
    }

    /// Pushes the character of a number, or the first one of a string (the command `a`).
    fn make_character(&mut self) {
        let Some(value) = self.pop() else { return };
        let byte = match &value {
            Value::Number(number) => self.integer(number).to_le_bytes()[0],
            Value::Text(text) => text.first().copied().unwrap_or_default(),
        };
        self.stack.push(Value::Text([byte].into()));
    }

    // ---- Output ----

    fn print_command(&mut self, command: u8) -> Result<(), Stop> {
        if command == b'f' {
            for value in self.stack.clone().iter().rev() {
                self.print(value)?;
                self.output.push(b'\n');
            }
            return Ok(());
        }
        let Some(value) = self.pop() else { return Ok(()) };
        match (&value, command) {
            (Value::Number(number), b'P') => {
                self.effort.spend(1 + number.bits() / 64)?;
                self.output.extend_from_slice(&number.whole().to_bytes_be());
            }
            _ => self.print(&value)?,
        }
        if command == b'p' {
            self.output.push(b'\n');
            self.stack.push(value);
        }
        Ok(())
    }

    fn print(&mut self, value: &Value) -> Result<(), Refusal> {
        match value {
            Value::Text(text) => self.output.extend_from_slice(text),
            Value::Number(number) => {
                let text = number.text(self.obase, &mut self.effort)?;
                let line = self.line_length.map_or(usize::MAX, |length| length - 1);
                for (at, part) in text.as_bytes().chunks(line).enumerate() {
                    if at > 0 {
                        self.output.extend_from_slice(b"\\\n");
                    }
                    self.output.extend_from_slice(part);
                }
            }
        }
        Ok(())
    }
}
