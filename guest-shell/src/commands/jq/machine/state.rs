//! State of the machine: bindings, frames, alternatives and handlers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::commands::jq::ast::Operator;
use crate::commands::jq::term::{Chain, Patterns, T};
use crate::commands::jq::value::{Members, Val};

/// Binding of a name at run time.
#[derive(Clone)]
pub(super) enum Binding {
    Value(Val),
    Closure(T, Env),
    Function,
    /// Number of choices at the time when the label was bound.
    Label(usize),
}

/// Bindings of names.
pub(super) type Env = Chain<Binding>;
/// Frames that wait for a result.
pub(super) type Frames = Chain<Frame>;

/// Place of the current result.
#[derive(Clone)]
pub(super) struct Tracker {
    pub(super) path: Chain<Val>,
    /// Value at the path. The next indexed value must be this one.
    pub(super) at: Val,
}

/// Query with its bindings.
#[derive(Clone)]
pub(super) struct Closure {
    pub(super) term: T,
    pub(super) env: Env,
}

/// Rest of a match of a pattern.
#[derive(Clone)]
pub(super) struct Matching {
    pub(super) patterns: Rc<Patterns>,
    pub(super) alternative: usize,
    pub(super) step: usize,
    pub(super) slots: Vec<Val>,
    pub(super) variables: Vec<Val>,
    pub(super) env: Env,
    pub(super) then: Then,
}

/// Continuation once the variables are bound.
#[derive(Clone)]
pub(super) enum Then {
    Body(T, Val),
    Update(Fold),
}

/// Execution of a `reduce` or `foreach`.
#[derive(Clone)]
pub(super) struct Fold {
    pub(super) update: T,
    pub(super) state: Rc<RefCell<Val>>,
    /// Extraction of the fold, which is `None` for `reduce` and `Some(None)` for `foreach` without an extraction.
    pub(super) extract: Option<Option<T>>,
}

/// Execution of an assignment.
pub(super) struct Modification {
    pub(super) value: Val,
    pub(super) deleted: Vec<Val>,
}

/// Continuation of a result. Frames that receive a part of a composite value keep the tracker of the whole.
#[derive(Clone)]
pub(super) enum Frame {
    Then(Closure),
    Restore(Option<Tracker>),
    IndexOf(Closure, Val, Option<Tracker>),
    IndexBy(Val),
    SliceFrom {
        target: T,
        upto: Option<T>,
        env: Env,
        input: Val,
        tracker: Option<Tracker>,
    },
    SliceUpto {
        target: T,
        from: Val,
        env: Env,
        input: Val,
        tracker: Option<Tracker>,
    },
    Iterate,
    Negate(Option<Tracker>),
    Left(Operator, Closure, Val, Option<Tracker>),
    Apply(Operator, Val, Option<Tracker>),
    Logic {
        or: bool,
        right: Closure,
        input: Val,
        tracker: Option<Tracker>,
    },
    Truth(Option<Tracker>),
    Choose(T, Option<T>, Env, Val, Option<Tracker>),
    EndTry(Option<Rc<Handler>>),
    Found(Rc<Cell<bool>>),
    Collect(Rc<RefCell<Vec<Val>>>),
    /// Receives the key of an object's member: the object, the index of the member, the input, the members before it.
    Key(Closure, usize, Val, Members, Option<Tracker>),
    Member(Closure, usize, Val, Members, Val, Option<Tracker>),
    /// Receives an interpolated value: the string, the index of the piece, the input, the text after it.
    Interpolated(Closure, usize, Val, String, Option<Tracker>),
    Argument(Closure, usize, Val, Chain<Val>, Option<Tracker>),
    EndPath(Option<Tracker>),
    GetPath(Val, Option<Tracker>),
    Raise,
    RangeFrom(Closure, Val, Option<Tracker>),
    RangeUpto(Closure, Val, Val, Option<Tracker>),
    RangeBy(Val, Val, Option<Tracker>),
    Match(Rc<Patterns>, Env, Then, Option<Tracker>),
    MatchKey(Box<Matching>, Option<Tracker>),
    StartFold(Closure, Val),
    /// Receives a value for `reduce` or `foreach`.
    Each(Rc<Patterns>, Env, Fold),
    Updated(Fold, Env),
    PathToModify(Rc<RefCell<Modification>>, Closure, Option<Tracker>),
    Modified(Rc<RefCell<Modification>>, Val, usize),
}

/// Alternative that may produce the next result.
pub(super) enum Alternative {
    Run(Closure, Val),
    Each(Val, usize),
    Range(f64, f64, f64),
    Collected(Rc<RefCell<Vec<Val>>>),
    Reduced(Rc<RefCell<Val>>),
    Default(Rc<Cell<bool>>, Closure, Val),
    Modified(Rc<RefCell<Modification>>),
    /// Deletion of a path whose update produced nothing.
    Deleted(Rc<RefCell<Modification>>, Val),
}

/// Alternative with the state of the machine to restore.
pub(super) struct Choice {
    pub(super) alternative: Alternative,
    pub(super) frames: Frames,
    pub(super) tracker: Option<Tracker>,
    pub(super) handler: Option<Rc<Handler>>,
}

/// Handler that catches errors.
pub(super) struct Handler {
    /// Number of choices at the time when the handler was installed.
    pub(super) depth: usize,
    pub(super) catch: Catch,
    pub(super) frames: Frames,
    pub(super) tracker: Option<Tracker>,
    pub(super) outer: Option<Rc<Handler>>,
}

/// Continuation after an error.
pub(super) enum Catch {
    /// Nothing, after an access with `?`.
    Access,
    /// Query after `catch`, or nothing for a `try` without one.
    Run(Option<Closure>),
    /// Next pattern to try.
    Pattern(Rc<Patterns>, usize, Val, Env, Then),
}
