//! Compiled programs: what the machine runs, and the persistent lists that it keeps.

use std::cell::OnceCell;
use std::rc::Rc;

use super::ast::Operator;
use super::failure::Failure;
use super::formats::Format;
use super::machine::Host;
use super::value::Val;

/// Compiled query, which several holders share.
pub(crate) type T = Rc<Term>;

/// Function that is implemented in Rust. Parameters: the host, the input, the arguments.
pub(crate) type NativeFn = fn(&mut dyn Host, Val, &[Val]) -> Result<Val, Failure>;

/// Compiled function. The body is set after its compilation, since it may call the function itself.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) body: OnceCell<T>,
}

/// Part of a string.
pub(crate) enum Piece {
    Text(Rc<String>),
    Query(T),
}

/// Step of destructuring a value. Slot 0 holds the value.
pub(crate) enum Step {
    /// The slot that is indexed, and the index. The result goes to the next free slot.
    Index(usize, Val),
    /// The slot that is indexed, and the query for the index. The query runs on the value of the slot.
    Query(usize, T),
    /// The slot, and the variable that gets its value.
    Bind(usize, usize),
}

/// Patterns to be tried in turn; all bind the same variables.
pub(crate) struct Patterns {
    pub(crate) alternatives: Vec<Vec<Step>>,
    pub(crate) variables: usize,
}

/// Compiled query, as a term that the machine runs. Levels count the bindings around it, the outermost first.
pub(crate) enum Term {
    Identity,
    Const(Val),
    Text(Format, Vec<Piece>),
    Format(Format),
    Array(Option<T>),
    Object(Vec<(T, T)>),
    Index(T, T),
    Slice(T, Option<T>, Option<T>),
    Iterate(T),
    Negate(T),
    Pipe(T, T),
    Comma(T, T),
    Binary(Operator, T, T),
    And(T, T),
    Or(T, T),
    Alternative(T, T),
    If(T, T, Option<T>),
    Try(T, Option<T>),
    /// Access whose errors are dropped, except those about paths.
    Attempt(T),
    Reduce(T, Rc<Patterns>, T, T),
    Foreach(T, Rc<Patterns>, T, T, Option<T>),
    Bind(T, Rc<Patterns>, T),
    Variable(usize),
    Label(T),
    Break(usize),
    /// Definition of a function of the query, which the rest can call.
    Define(T),
    /// Call of a function of the program or the library.
    CallGlobal(usize, Vec<T>),
    /// Call of a local function: its level, its number, the arguments.
    CallLocal(usize, usize, Vec<T>),
    /// Call of a parameter.
    CallParameter(usize),
    Native(NativeFn, Vec<T>),
    Path(T),
    /// Update: paths, and the query that replaces the values there.
    Modify(T, T),
    GetPath(T),
    Error(T),
    Empty,
    /// Numbers of a range: from, up to, by.
    Range(T, T, T),
}

/// Persistent list of items. Taking the list apart does not recurse.
pub(crate) struct Chain<I>(Option<Rc<Link<I>>>);

/// Link of a [`Chain`].
pub(crate) struct Link<I> {
    pub(crate) item: I,
    next: Chain<I>,
    length: usize,
}

impl<I> Chain<I> {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |link| link.length)
    }

    /// Puts an item in front.
    pub(crate) fn push(&self, item: I) -> Self {
        Self(Some(Rc::new(Link { item, next: self.clone(), length: self.len() + 1 })))
    }

    /// Puts an item in front of a list that is no longer needed.
    pub(crate) fn pushed(self, item: I) -> Self {
        let length = self.len() + 1;
        Self(Some(Rc::new(Link { item, next: self, length })))
    }

    /// Returns the part of the list that begins with the item of number `level`, in the order of insertion.
    pub(crate) fn down_to(&self, level: usize) -> &Self {
        let mut at = self;
        while let Some(link) = at.0.as_ref().filter(|link| link.length > level + 1) {
            at = &link.next;
        }
        at
    }

    pub(crate) fn head(&self) -> Option<&I> {
        self.0.as_deref().map(|link| &link.item)
    }

    /// Returns the items, the newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &I> {
        let mut at = self;
        std::iter::from_fn(move || {
            let link = at.0.as_deref()?;
            at = &link.next;
            Some(&link.item)
        })
    }
}

impl<I: Clone> Chain<I> {
    /// Removes the first item, without a copy if there is no other holder.
    pub(crate) fn pop(&mut self) -> Option<I> {
        let link = self.0.take()?;
        Some(match Rc::try_unwrap(link) {
            Ok(Link { item, next, .. }) => {
                *self = next;
                item
            }
            Err(shared) => {
                *self = shared.next.clone();
                shared.item.clone()
            }
        })
    }
}

impl<I> Clone for Chain<I> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<I> Drop for Chain<I> {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(link) = next {
            next = Rc::try_unwrap(link).ok().and_then(|mut link| link.next.0.take());
        }
    }
}
