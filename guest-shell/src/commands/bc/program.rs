//! Compiled form of a bc program: instructions for a stack machine.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::decimal::Digits;

/// Index of a name in [`Names`].
pub(crate) type NameId = usize;

/// Table of names by number. A variable, an array and a function with the same name share its number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: HashMap<String, NameId>,
    names: Vec<String>,
}

impl Names {
    /// Returns the number of a name, which is added if it is new.
    pub(crate) fn id(&mut self, name: &str) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len();
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// Returns the name with a number.
    pub(crate) fn name(&self, id: NameId) -> &str {
        self.names.get(id).map_or("", String::as_str)
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// Variable, array element, or setting of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Simple variable of this name.
    Simple(NameId),
    /// An element of an array; its index is on the stack.
    Element(NameId),
    /// Base of input.
    Ibase,
    /// Base of output.
    Obase,
    /// Number of decimals of quotients.
    Scale,
    /// Number that was printed last.
    Last,
    /// Number of lines in the history of an interactive bc.
    History,
}

/// Operation on the two topmost numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Function of the language itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    Length,
    Scale,
    Sqrt,
    Read,
    Random,
}

/// Argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// A number, on the stack.
    Number,
    /// Whole array of this name.
    Array(NameId),
}

/// Instruction of the stack machine.
#[derive(Clone, Debug)]
pub(crate) enum Instruction {
    /// Pushes a constant, read in the current base.
    Constant(Arc<Digits>),
    /// Pushes 0 or 1.
    Truth(bool),
    /// Pushes the value of a variable. With `keep`, the index of an element stays below it.
    Load { place: Place, keep: bool },
    /// Stores the topmost number and leaves it.
    Store(Place),
    /// Adds 1 or subtracts it, and pushes the value before (`old`) or after.
    Step { place: Place, up: bool, old: bool },
    /// Replaces two numbers by one.
    Binary(Binary),
    /// Negates the topmost value.
    Negate,
    /// Replaces a number by 1 if it is zero, else by 0.
    Not,
    /// Replaces a number by 1 unless it is zero; a zero keeps its scale.
    Test,
    /// Calls a function of the language.
    Intrinsic(Intrinsic),
    /// Calls a defined function.
    Call { function: NameId, arguments: Arc<[Argument]> },
    /// Continues at another instruction.
    Jump(usize),
    /// Pops a number, and jumps if it is zero.
    JumpIfZero(usize),
    /// Jumps and leaves the topmost number if it is zero; otherwise pops it.
    JumpWithZero(usize),
    /// Pops a number, and jumps if it is not zero.
    JumpIfNotZero(usize),
    /// Pops a number.
    Drop,
    /// Pops a number and prints it as a line.
    PrintLine,
    /// Pops a number and prints it.
    PrintNumber,
    /// Prints a string unchanged.
    PrintText(Arc<[u8]>),
    /// Prints a string after resolving backslash escapes.
    PrintEscaped(Arc<[u8]>),
    /// Pops a number and returns it.
    Return,
    /// Ends bc immediately.
    Halt,
}

/// Sequence of instructions.
pub(crate) type Code = Arc<[Instruction]>;

/// Parameter or `auto` variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    /// Name of the local variable.
    pub(crate) name: NameId,
    /// Kind of the local variable.
    pub(crate) kind: LocalKind,
}

/// Kind of a parameter or `auto` variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalKind {
    /// Simple variable, which holds a number.
    Simple,
    /// Array that is copied for each call.
    Array,
    /// Array of the caller.
    Reference,
}

/// Function that a program defines.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Parameters that a call must provide.
    pub(crate) parameters: Arc<[Local]>,
    /// Automatic variables, which are zero at the start of each call.
    pub(crate) automatic: Arc<[Local]>,
    /// Code that a call runs.
    pub(crate) code: Code,
}

/// Result of compiling a piece of a program.
#[derive(Debug)]
pub(crate) enum Item {
    /// Code of statements to run.
    Statements(Code),
    /// Definition of a function.
    Definition(NameId, Function),
    /// Nothing to run, since the piece had errors that were reported.
    Nothing,
    /// The keyword `quit`, at which bc ends without running what precedes it on the same line.
    Quit,
    /// The end of the program.
    End,
}
