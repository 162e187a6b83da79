//! Expressions of `find`: a tree of tests and actions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use regex::Regex;

/// Comparison that the sign of a number selects: `+3`, `-3` or `3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberComparison {
    Less,
    Equal,
    Greater,
}

impl NumberComparison {
    /// Returns true if a value satisfies the comparison with a number.
    pub(super) fn test<T: PartialOrd>(self, value: T, number: T) -> bool {
        match self {
            Self::Less => value < number,
            Self::Equal => value == number,
            Self::Greater => value > number,
        }
    }
}

/// Time of a file that a test examines. The VFS stores two; the times of the last access and status change equal that
/// of the last modification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeField {
    Modified,
    Created,
}

/// Bits of a mode that must be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PermissionMatch {
    /// Equality with these bits.
    Exact,
    All,
    Any,
}

/// Reference time of `-newer` and the like, which is resolved before any file is visited.
#[derive(Debug)]
pub(super) enum NewerReference {
    File(String),
    /// Text in the syntax of `date -d`.
    Date(String),
    Nanoseconds(i128),
}

/// Unit of the age of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgeUnit {
    Minutes,
    /// Whole days; the fraction is ignored.
    Days,
}

/// Pattern of the shell.
#[derive(Debug)]
pub(super) struct ShellPattern {
    pub(super) pattern: String,
    pub(super) ignore_case: bool,
}

/// Tree of tests and actions.
#[derive(Debug)]
pub(super) enum Expression {
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Comma(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Constant(bool),
    Test(FileTest),
    Action(FileAction),
}

/// Test of a file without an effect.
#[derive(Debug)]
pub(super) enum FileTest {
    Name(ShellPattern),
    Path(ShellPattern),
    LinkTarget(ShellPattern),
    Regex(Regex),
    /// `-type`, or `-xtype`, which examines the target of a link if `-type` examines the link, and vice versa.
    Type {
        letters: Vec<char>,
        of_other_end: bool,
    },
    Size {
        comparison: NumberComparison,
        number: u64,
        unit: u64,
    },
    Empty,
    Age {
        unit: AgeUnit,
        comparison: NumberComparison,
        number: i64,
    },
    Newer {
        field: TimeField,
        reference: NewerReference,
    },
    Permissions {
        mode: u32,
        required: PermissionMatch,
    },
    /// `-readable`, `-writable` or `-executable`: a bit of the owner's permissions, 4, 2 or 1.
    Access(u32),
    Links(NumberComparison, u64),
    Inode(NumberComparison, u64),
    /// `-samefile`: the name of the file, and its inode once it is resolved.
    SameFile {
        name: String,
        inode: u64,
    },
    User(NumberComparison, u64),
    Group(NumberComparison, u64),
}

/// Action on a file.
#[derive(Debug)]
pub(super) enum FileAction {
    /// `-print` or `-print0`: prints the path, followed by this character.
    Print(char),
    Printf(String),
    /// Prints a line like `ls -dils`.
    Ls,
    /// `-fprint` and the like: a printing action, and the index of its file in `FindCommandLine::output_files`.
    ToFile {
        file: usize,
        action: Box<Expression>,
    },
    Delete {
        id: usize,
    },
    Prune,
    Quit,
    Execute(CommandAction),
}

/// `-exec` and the like.
#[derive(Debug)]
pub(super) struct CommandAction {
    /// Number of the action in the expression.
    pub(super) id: usize,
    pub(super) words: Vec<String>,
    /// True if many paths are passed to one command (`+`).
    pub(super) is_batch: bool,
    /// True if the command runs in the directory of the file.
    pub(super) in_directory: bool,
    /// True for `-ok` and `-okdir`, which run the command only if the answer to a question is yes.
    pub(super) asks: bool,
}

impl Expression {
    /// Returns the conjunction of two expressions.
    pub(super) fn and(left: Expression, right: Expression) -> Expression {
        Expression::And(Box::new(left), Box::new(right))
    }

    /// Visits this expression and its subexpressions.
    pub(super) fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        visit(self);
        match self {
            Expression::And(left, right) | Expression::Or(left, right) | Expression::Comma(left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            Expression::Not(inner) | Expression::Action(FileAction::ToFile { action: inner, .. }) => inner.walk(visit),
            Expression::Constant(_) | Expression::Test(_) | Expression::Action(_) => {}
        }
    }

    /// Visits expressions like [`Expression::walk`], with mutable access.
    pub(super) fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expression)) {
        visit(self);
        match self {
            Expression::And(left, right) | Expression::Or(left, right) | Expression::Comma(left, right) => {
                left.walk_mut(visit);
                right.walk_mut(visit);
            }
            Expression::Not(inner) | Expression::Action(FileAction::ToFile { action: inner, .. }) => {
                inner.walk_mut(visit);
            }
            Expression::Constant(_) | Expression::Test(_) | Expression::Action(_) => {}
        }
    }
}
