//! Compiled form of a bc program: instructions for a stack machine.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::decimal::Digits;

/// Index of a name in [`Names`].
pub(crate) type NameId = usize;

/// Table of names by number. Variables, arrays and functions of one name are apart, but share its number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: HashMap<String, NameId>,
    names: Vec<String>,
}

impl Names {
    /// Number of a name, new or known.
    pub(crate) fn id(&mut self, name: &str) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len();
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// The name of a number.
    pub(crate) fn name(&self, id: NameId) -> &str {
        self.names.get(id).map_or("", String::as_str)
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// A variable of either kind, or one that the language defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Simple variable of this name.
    Simple(NameId),
    /// An element of an array; its index is on the stack.
    Element(NameId),
    /// Base of numbers that are read.
    Ibase,
    /// Base of numbers that are written.
    Obase,
    /// Digits behind the point of quotients.
    Scale,
    /// The number that was printed last.
    Last,
    /// Number of lines in the history of an interactive bc.
    History,
}

/// An operation on the two topmost numbers.
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

/// A function of the language itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    Length,
    Scale,
    Sqrt,
    Read,
    Random,
}

/// An argument of a call.
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
    /// Pushes a constant, read in the base of the moment.
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
    /// Goes on elsewhere if the number that it takes is zero.
    JumpIfZero(usize),
    /// Goes on elsewhere, with the topmost number, if that is zero; else takes it.
    JumpWithZero(usize),
    /// Goes on elsewhere if the number that it takes is not zero.
    JumpIfNotZero(usize),
    /// Takes a number and drops it.
    Drop,
    /// Takes a number and prints it as a line.
    PrintLine,
    /// Takes a number and prints it.
    PrintNumber,
    /// Prints a string as it is.
    PrintText(Arc<[u8]>),
    /// Prints a string in which backslashes have a meaning.
    PrintEscaped(Arc<[u8]>),
    /// Returns with the number that it takes.
    Return,
    /// Ends bc at once.
    Halt,
}

/// Instructions that run together.
pub(crate) type Code = Arc<[Instruction]>;

/// A parameter, or a variable that is declared `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    /// Name of the local variable.
    pub(crate) name: NameId,
    /// Kind of the local variable.
    pub(crate) kind: LocalKind,
}

/// Kinds of parameters and `auto` variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalKind {
    /// Simple variable, which holds a number.
    Simple,
    /// An array, of which a call has its own copy.
    Array,
    /// An array of the caller's.
    Reference,
}

/// Function that a program defines.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Parameters that a call must bring.
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
    /// Nothing to run, since the piece had errors, which were reported.
    Nothing,
    /// Word `quit`, at which bc ends without running what precedes it on the same line.
    Quit,
    /// The end of the program.
    End,
}
