//! Compiled form of a bc program: instructions for a stack machine.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::decimal::Digits;

/// Index of a name in [`Names`].
pub(crate) type NameId = usize;

/// Names by number. Variables, arrays and functions of one name are apart, but share its number.
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

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// A variable of either kind, or one that the language defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A simple variable.
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
    /// A whole array.
    Array(NameId),
}

/// One step of the machine.
#[derive(Clone, Debug)]
pub(crate) enum Instruction {
    /// Pushes a constant, read in the base of the moment.
    Constant(Arc<Digits>),
    /// Pushes 0 or 1.
    Truth(bool),
    /// Pushes a variable. With `keep`, the index of an element stays below it.
    Load { place: Place, keep: bool },
    /// Stores the topmost number and leaves it.
    Store(Place),
    /// Adds 1 or subtracts it, and pushes the value before (`old`) or after.
    Step { place: Place, up: bool, old: bool },
    /// Replaces two numbers by one.
    Binary(Binary),
    /// Negates.
    Negate,
    /// Replaces a number by 1 if it is zero, else by 0.
    Not,
    /// Replaces a number by 1 unless it is zero; a zero keeps its scale.
    Test,
    /// Calls a function of the language.
    Intrinsic(Intrinsic),
    /// Calls a defined function.
    Call { function: NameId, arguments: Arc<[Argument]> },
    /// Goes on elsewhere.
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
    /// Ends bc.
    Halt,
}

/// Instructions that run together.
pub(crate) type Code = Arc<[Instruction]>;

/// A parameter, or a variable that is declared `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    /// Its name.
    pub(crate) name: NameId,
    /// Its kind.
    pub(crate) kind: LocalKind,
}

/// Kinds of parameters and `auto` variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalKind {
    /// A number.
    Simple,
    /// An array, of which a call has its own copy.
    Array,
    /// An array of the caller's.
    Reference,
}

/// A defined function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// What a call must bring.
    pub(crate) parameters: Arc<[Local]>,
    /// What is zero at the start of each call.
    pub(crate) automatic: Arc<[Local]>,
    /// What it does.
    pub(crate) code: Code,
}

/// What a piece of program comes to, once it is compiled.
#[derive(Debug)]
pub(crate) enum Item {
    /// Statements to run.
    Statements(Code),
    /// A definition.
    Definition(NameId, Function),
    /// Nothing: it had errors, which were reported.
    Nothing,
    /// The word `quit`: bc ends, without running what precedes it on the same line.
    Quit,
    /// The end of the program.
    End,
}
