//! Syntax tree of a program. It can be sent between threads, since the files that it names are read between parsing and
//! running.

use std::ops::Range;

/// Binary operator that evaluates both operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Assignment operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assignment {
    /// Assignment of a value, `=`
    Set,
    /// Update by a query, `|=`
    Update,
    /// Assignment where the value is missing, `//=`
    Default,
    /// Assignment with an operator, such as `+=`.
    Compute(Operator),
}

/// Piece of a string: text, or an interpolated query.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    Query(Ast),
}

/// Destructuring pattern.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Variable(String),
    Array(Vec<Pattern>),
    Object(Vec<Member>),
}

/// Member of an object pattern: a variable for the value itself, its key, and the pattern of its value.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) variable: Option<String>,
    pub(crate) key: Option<Ast>,
    pub(crate) value: Option<Pattern>,
}

/// Definition of a function.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    /// Names of parameters, with `$` for those that are values.
    pub(crate) parameters: Vec<String>,
    pub(crate) body: Ast,
}

/// Query as a syntax tree.
#[derive(Clone, Debug)]
pub(crate) enum Ast {
    Identity,
    Recurse,
    Number(String),
    Text(Option<String>, Vec<Piece>),
    Format(String),
    Array(Option<Box<Ast>>),
    Object(Vec<(Ast, Ast)>),
    /// Access by an index: the value and the index.
    Index(Box<Ast>, Box<Ast>),
    Slice(Box<Ast>, Option<Box<Ast>>, Option<Box<Ast>>),
    Iterate(Box<Ast>),
    Negate(Box<Ast>),
    Pipe(Box<Ast>, Box<Ast>),
    Comma(Box<Ast>, Box<Ast>),
    Binary(Operator, Box<Ast>, Box<Ast>),
    And(Box<Ast>, Box<Ast>),
    Or(Box<Ast>, Box<Ast>),
    Alternative(Box<Ast>, Box<Ast>),
    Assign(Assignment, Box<Ast>, Box<Ast>),
    If(Box<Ast>, Box<Ast>, Option<Box<Ast>>),
    Try(Box<Ast>, Option<Box<Ast>>),
    /// Access followed by `?`.
    Attempt(Box<Ast>),
    /// Reduction: source, patterns, initial value and update.
    Reduce(Box<Ast>, Vec<Pattern>, Box<Ast>, Box<Ast>),
    /// Iteration: source, patterns, initial value, update and extraction.
    Foreach(Box<Ast>, Vec<Pattern>, Box<Ast>, Box<Ast>, Option<Box<Ast>>),
    Define(Box<Definition>, Box<Ast>),
    /// Call of a function: its name and arguments.
    Call(String, Vec<Ast>),
    Variable(String),
    Location(usize),
    Bind(Box<Ast>, Vec<Pattern>, Box<Ast>),
    /// Query with its place in the text, which messages show.
    Placed(Range<usize>, Box<Ast>),
    Label(String, Box<Ast>),
    Break(String),
}

/// Module that a program imports.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) path: String,
    /// Name of the module; `None` for `include`.
    pub(crate) name: Option<String>,
    pub(crate) data: bool,
    pub(crate) meta: Option<Ast>,
}

/// Program or module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    pub(crate) meta: Option<Ast>,
    pub(crate) imports: Vec<Import>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) body: Option<Ast>,
    /// True if the text contains `input` or `inputs`.
    pub(crate) reads_inputs: bool,
    /// True if the text contains `modulemeta`.
    pub(crate) describes_modules: bool,
}
