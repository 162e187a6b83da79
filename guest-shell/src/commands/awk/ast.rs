//! Syntax trees of programs.
//!
//! Decisions:
//! - Variables are resolved at parse time to slots: `Global(i)` indexes the
//!   interpreter's global table (special variables first, see `special`),
//!   `Local(i)` a function parameter in the current call frame.
//! - Lvalues are the expression forms `Var`, `Elem` and `Field`; assignment
//!   targets are checked by the parser.
//! - `Elem` keeps one subscript group per `[...]` so gawk arrays of arrays
//!   (`a[i][j]`) work; commas inside one group join with `SUBSEP`.
//! - User function calls hold a function index; definitions may follow use,
//!   undefined functions are reported after parsing (gawk does the same).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::lexer::UnknownEscape;

/// Variable, as the index of its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VarRef {
    Global(u32),
    Local(u32),
}

/// Operator between two numbers, whose result is a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
}

/// Operator between two values, whose result is 1 if they compare so, else 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CmpOp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// Function that awk defines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BuiltinFunction {
    Length,
    Substr,
    Index,
    Split,
    Sub,
    Gsub,
    Gensub,
    Match,
    Sprintf,
    Sin,
    Cos,
    Atan2,
    Exp,
    Log,
    Sqrt,
    Int,
    Rand,
    Srand,
    Tolower,
    Toupper,
    System,
    Close,
    Fflush,
    Strtonum,
    Systime,
    Strftime,
    Mktime,
    Asort,
    Asorti,
    Typeof,
    Isarray,
    And,
    Or,
    Xor,
    Lshift,
    Rshift,
    Compl,
    Patsplit,
}

impl BuiltinFunction {
    /// Returns the function of a name.
    pub(super) fn from_name(name: &str) -> Option<BuiltinFunction> {
        Some(match name {
            "length" => BuiltinFunction::Length,
            "substr" => BuiltinFunction::Substr,
            "index" => BuiltinFunction::Index,
            "split" => BuiltinFunction::Split,
            "sub" => BuiltinFunction::Sub,
            "gsub" => BuiltinFunction::Gsub,
            "gensub" => BuiltinFunction::Gensub,
            "match" => BuiltinFunction::Match,
            "sprintf" => BuiltinFunction::Sprintf,
            "sin" => BuiltinFunction::Sin,
            "cos" => BuiltinFunction::Cos,
            "atan2" => BuiltinFunction::Atan2,
            "exp" => BuiltinFunction::Exp,
            "log" => BuiltinFunction::Log,
            "sqrt" => BuiltinFunction::Sqrt,
            "int" => BuiltinFunction::Int,
            "rand" => BuiltinFunction::Rand,
            "srand" => BuiltinFunction::Srand,
            "tolower" => BuiltinFunction::Tolower,
            "toupper" => BuiltinFunction::Toupper,
            "system" => BuiltinFunction::System,
            "close" => BuiltinFunction::Close,
            "fflush" => BuiltinFunction::Fflush,
            "strtonum" => BuiltinFunction::Strtonum,
            "systime" => BuiltinFunction::Systime,
            "strftime" => BuiltinFunction::Strftime,
            "mktime" => BuiltinFunction::Mktime,
            "asort" => BuiltinFunction::Asort,
            "asorti" => BuiltinFunction::Asorti,
            "typeof" => BuiltinFunction::Typeof,
            "isarray" => BuiltinFunction::Isarray,
            "and" => BuiltinFunction::And,
            "or" => BuiltinFunction::Or,
            "xor" => BuiltinFunction::Xor,
            "lshift" => BuiltinFunction::Lshift,
            "rshift" => BuiltinFunction::Rshift,
            "compl" => BuiltinFunction::Compl,
            "patsplit" => BuiltinFunction::Patsplit,
            _ => return None,
        })
    }

    /// Returns the fewest and the most arguments.
    pub(super) fn arity(self) -> (usize, usize) {
        match self {
            BuiltinFunction::Length => (0, 1),
            BuiltinFunction::Substr => (2, 3),
            BuiltinFunction::Index => (2, 2),
            BuiltinFunction::Split => (2, 4),
            BuiltinFunction::Patsplit => (2, 4),
            BuiltinFunction::Sub | BuiltinFunction::Gsub => (2, 3),
            BuiltinFunction::Gensub => (3, 4),
            BuiltinFunction::Match => (2, 3),
            BuiltinFunction::Sprintf => (1, usize::MAX),
            BuiltinFunction::Sin
            | BuiltinFunction::Cos
            | BuiltinFunction::Exp
            | BuiltinFunction::Log
            | BuiltinFunction::Sqrt
            | BuiltinFunction::Int => (1, 1),
            BuiltinFunction::Atan2 => (2, 2),
            BuiltinFunction::Rand | BuiltinFunction::Systime => (0, 0),
            BuiltinFunction::Srand => (0, 1),
            BuiltinFunction::Tolower
            | BuiltinFunction::Toupper
            | BuiltinFunction::System
            | BuiltinFunction::Strtonum
            | BuiltinFunction::Typeof
            | BuiltinFunction::Isarray => (1, 1),
            BuiltinFunction::Close => (1, 2),
            BuiltinFunction::Fflush => (0, 1),
            BuiltinFunction::Strftime => (0, 3),
            BuiltinFunction::Mktime => (1, 2),
            BuiltinFunction::Asort | BuiltinFunction::Asorti => (1, 3),
            BuiltinFunction::And | BuiltinFunction::Or | BuiltinFunction::Xor => (2, usize::MAX),
            BuiltinFunction::Lshift | BuiltinFunction::Rshift => (2, 2),
            BuiltinFunction::Compl => (1, 1),
        }
    }

    /// Returns the positions of arguments that name an array, which is not evaluated as a value.
    pub(super) fn array_args(self) -> &'static [usize] {
        match self {
            BuiltinFunction::Split | BuiltinFunction::Patsplit => &[1, 3],
            BuiltinFunction::Match => &[2],
            BuiltinFunction::Asort | BuiltinFunction::Asorti => &[0, 1],
            _ => &[],
        }
    }
}

/// Input from which a `getline` reads its record.
#[derive(Debug, Clone)]
pub(super) enum GetlineSource {
    /// Main input, of a `getline` alone.
    Main,
    /// File of `getline < file`.
    File(Box<Expr>),
    /// Command of `command | getline`.
    Cmd(Box<Expr>),
}

/// Expression of an awk program.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    Num(f64),
    Str(String),
    /// Regular expression as a value, which is that of `$0 ~ /re/`.
    Regex(u32),
    Var(VarRef),
    Elem(VarRef, Vec<Vec<Expr>>),
    Field(Box<Expr>),
    /// Assignment to a place: `lv = e` or `lv op= e`.
    Assign(Box<Expr>, Option<BinOp>, Box<Expr>),
    Neg(Box<Expr>),
    Plus(Box<Expr>),
    Not(Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    Cmp(CmpOp, Box<Expr>, Box<Expr>),
    /// Match `a ~ b`, or `a !~ b` if the flag is set.
    Match(bool, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Concat(Box<Expr>, Box<Expr>),
    /// Test for an element: `(subs) in array`.
    In(Vec<Expr>, Box<Expr>),
    /// Increment or decrement of a place, by a difference; the flag is set if the operator stands in front.
    IncDec(Box<Expr>, f64, bool),
    Call(u32, Vec<Expr>),
    /// Call of the function that the value of a variable names: `@name(args)`.
    Indirect(Box<Expr>, Vec<Expr>),
    Builtin(BuiltinFunction, Vec<Expr>),
    Getline(GetlineSource, Option<Box<Expr>>),
    /// Expression in parentheses, which have no effect but tell `(a, b) in x` and `print (a) > f` from other forms.
    Group(Box<Expr>),
    /// List in parentheses, which is valid only in front of `in` and as arguments of `print`.
    List(Vec<Expr>),
}

impl Expr {
    /// Returns true if the expression can be assigned to.
    pub(super) fn is_lvalue(&self) -> bool {
        matches!(self, Expr::Var(_) | Expr::Elem(..) | Expr::Field(_))
    }
}

/// Target of the output of `print` and `printf`.
#[derive(Debug, Clone)]
pub(super) enum Redirect {
    File(Expr),
    Append(Expr),
    Pipe(Expr),
}

/// Statement with its place in the program.
#[derive(Debug, Clone)]
pub(super) struct Stmt {
    pub(super) kind: StmtKind,
    /// Index of the statement's place in `Program::locs`.
    pub(super) loc: u32,
}

/// Statements that run one after the other.
pub(super) type Block = Vec<Stmt>;

/// Kind of a statement, with its parts.
#[derive(Debug, Clone)]
pub(super) enum StmtKind {
    Expr(Expr),
    Print(Vec<Expr>, Option<Redirect>),
    Printf(Vec<Expr>, Option<Redirect>),
    If(Expr, Block, Option<Block>),
    While(Expr, Block),
    Do(Block, Expr),
    For(Option<Box<Stmt>>, Option<Expr>, Option<Box<Stmt>>, Block),
    /// Loop over the keys of an array: `for (lv in array)`.
    ForIn(Expr, Expr, Block),
    Block(Block),
    Next,
    NextFile,
    Exit(Option<Expr>),
    Return(Option<Expr>),
    Break,
    Continue,
    /// Deletion of an array or of an element.
    Delete(Expr),
    Switch(Expr, Vec<(CaseLabel, Block)>),
}

/// Label of a case of `switch`.
#[derive(Debug, Clone)]
pub(super) enum CaseLabel {
    Value(Expr),
    Regex(u32),
    Default,
}

/// Pattern that selects records.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    All,
    Expr(Expr),
    /// Range between two patterns, with its index in the table of the ranges' states.
    Range(Expr, Expr, usize),
}

/// Pattern with its action.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) pattern: Pattern,
    /// Action; none stands for `print $0`.
    pub(super) body: Option<Block>,
}

/// Function that the program defines.
#[derive(Debug, Clone, Default)]
pub(super) struct UserFunction {
    pub(super) name: String,
    pub(super) params: Vec<String>,
    pub(super) body: Block,
    /// Marks of the parameters that the body uses as arrays, directly or by passing them on. An untyped argument for
    /// such a parameter becomes an array in the caller.
    pub(super) array_params: Vec<bool>,
    pub(super) defined: bool,
}

/// Part of the program's text (`-f file`, `-e text`, an operand).
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Name of the source in messages: `cmd. line`, or the name of the file.
    pub(super) name: String,
    /// Byte offset of the source in the text of all sources.
    pub(super) start: usize,
}

/// Program whose names are indices.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) begin: Vec<Block>,
    pub(super) end: Vec<Block>,
    pub(super) beginfile: Vec<Block>,
    pub(super) endfile: Vec<Block>,
    pub(super) rules: Vec<Rule>,
    pub(super) funcs: Vec<UserFunction>,
    /// Names of global variables, by the index of [`VarRef::Global`].
    pub(super) globals: Vec<String>,
    /// Texts of regular expressions, by the index of [`Expr::Regex`].
    pub(super) regexes: Vec<String>,
    /// Places of statements, each with the name of the source and the line.
    pub(super) locs: Vec<(String, u32)>,
    pub(super) ranges: usize,
    /// Escapes in strings and regular expressions that mean nothing, of which the call warns.
    pub(super) unknown_escapes: Vec<UnknownEscape>,
}

/// Special variables, in the order of their slots.
pub(super) mod special {
    pub(crate) const NAMES: &[&str] = &[
        "NR",
        "NF",
        "FNR",
        "FS",
        "OFS",
        "ORS",
        "RS",
        "FILENAME",
        "SUBSEP",
        "RSTART",
        "RLENGTH",
        "CONVFMT",
        "OFMT",
        "ENVIRON",
        "ARGC",
        "ARGV",
        "RT",
        "IGNORECASE",
        "FIELDWIDTHS",
        "FPAT",
        "PROCINFO",
        "ERRNO",
        "SYMTAB",
    ];
    pub(crate) const NR: u32 = 0;
    pub(crate) const NF: u32 = 1;
    pub(crate) const FNR: u32 = 2;
    pub(crate) const FS: u32 = 3;
    pub(crate) const OFS: u32 = 4;
    pub(crate) const ORS: u32 = 5;
    pub(crate) const RS: u32 = 6;
    pub(crate) const FILENAME: u32 = 7;
    pub(crate) const SUBSEP: u32 = 8;
    pub(crate) const RSTART: u32 = 9;
    pub(crate) const RLENGTH: u32 = 10;
    pub(crate) const CONVFMT: u32 = 11;
    pub(crate) const OFMT: u32 = 12;
    pub(crate) const ENVIRON: u32 = 13;
    pub(crate) const ARGC: u32 = 14;
    pub(crate) const ARGV: u32 = 15;
    pub(crate) const RT: u32 = 16;
    pub(crate) const IGNORECASE: u32 = 17;
    pub(crate) const FIELDWIDTHS: u32 = 18;
    pub(crate) const FPAT: u32 = 19;
    pub(crate) const PROCINFO: u32 = 20;
    pub(crate) const ERRNO: u32 = 21;
    pub(crate) const SYMTAB: u32 = 22;
    pub(crate) const COUNT: u32 = 23;
}
