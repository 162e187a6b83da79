//! The machine that runs programs: it backtracks.
//!
//! A query gives results one at a time. Where it may give another one, a [`Choice`] is left on a stack; what is to be
//! done with a result is a persistent list of [`Frame`]s. So neither deep recursion nor endless generators use the
//! stack of the process, and a call in the last place costs nothing. In a query for paths (`path(…)`, the left side of
//! an assignment), a [`Tracker`] follows the result's place.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::ast::Operator;
use super::failure::{Failure, LONG, SHORT, excerpt};
use super::formats::Format;
use super::operators;
use super::paths::{delete_paths, get_path, index, set_path};
use super::term::{Chain, Function, NativeFn, Patterns, Piece, Step, T, Term};
use super::value::{Members, Val};

/// The surroundings of a program: its inputs, its messages, its limits.
pub(crate) trait Host {
    /// Reads the next input, for `input`.
    fn input(&mut self) -> Option<Result<Val, String>>;
    /// Returns the name of the file that the last input came from.
    fn input_filename(&self) -> Option<String>;
    /// Returns how many lines have been read of the current file.
    fn input_line(&self) -> usize;
    /// Writes to standard error.
    fn message(&mut self, text: &str);
    /// Returns the time in microseconds since 1970.
    fn now(&self) -> i64;
    /// Returns the directories that modules are looked for in.
    fn search_list(&self) -> Val;
    /// Checks whether the program may go on; called every [`STEPS`] steps.
    fn check(&mut self) -> Result<(), String>;
}

/// Steps that are made between two checks of the limits.
const STEPS: u32 = 2_048;

/// A binding at run time.
#[derive(Clone)]
enum Binding {
    Value(Val),
    Closure(T, Env),
    Function,
    /// The number of choices when the label was passed.
    Label(usize),
}

type Env = Chain<Binding>;
type Frames = Chain<Frame>;

/// The place of the current result.
#[derive(Clone)]
struct Tracker {
    path: Chain<Val>,
    /// The value at the path. What is indexed next must be this one.
    at: Val,
}

/// A query in its surroundings.
#[derive(Clone)]
struct Closure {
    term: T,
    env: Env,
}

/// The rest of taking a value apart.
#[derive(Clone)]
struct Matching {
    patterns: Rc<Patterns>,
    alternative: usize,
    step: usize,
    slots: Vec<Val>,
    variables: Vec<Val>,
    env: Env,
    then: Then,
}

/// Continuation once the variables are bound.
#[derive(Clone)]
enum Then {
    Body(T, Val),
    Update(Fold),
}

/// A `reduce` or `foreach` that runs.
#[derive(Clone)]
struct Fold {
    update: T,
    state: Rc<RefCell<Val>>,
    /// Extraction of the fold, which is `None` for `reduce` and `Some(None)` for `foreach` without an extraction.
    extract: Option<Option<T>>,
}

/// An assignment that runs.
struct Modification {
    value: Val,
    deleted: Vec<Val>,
}

/// Frame that says what is done with a result. Frames that take part of a bigger result remember the tracker of the
/// whole.
#[derive(Clone)]
enum Frame {
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
    /// The term of the object, the member, what there is of it, the name.
    Key(Closure, usize, Val, Members, Option<Tracker>),
    Member(Closure, usize, Val, Members, Val, Option<Tracker>),
    /// The term of the string, the piece, the input, the text behind.
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
    /// A value for `reduce` or `foreach`.
    Each(Rc<Patterns>, Env, Fold),
    Updated(Fold, Env),
    PathToModify(Rc<RefCell<Modification>>, Closure, Option<Tracker>),
    Modified(Rc<RefCell<Modification>>, Val, usize),
}

/// Alternative that the next result may come from.
enum Alternative {
    Run(Closure, Val),
    Each(Val, usize),
    Range(f64, f64, f64),
    Collected(Rc<RefCell<Vec<Val>>>),
    Reduced(Rc<RefCell<Val>>),
    Default(Rc<Cell<bool>>, Closure, Val),
    Modified(Rc<RefCell<Modification>>),
    /// The update of this path gave nothing.
    Deleted(Rc<RefCell<Modification>>, Val),
}

/// An alternative with the state of the machine that it needs.
struct Choice {
    alternative: Alternative,
    frames: Frames,
    tracker: Option<Tracker>,
    handler: Option<Rc<Handler>>,
}

/// Handler that catches errors.
struct Handler {
    /// The number of choices outside of it.
    depth: usize,
    catch: Catch,
    frames: Frames,
    tracker: Option<Tracker>,
    outer: Option<Rc<Handler>>,
}

enum Catch {
    /// `?` behind an access.
    Access,
    /// `try` with or without `catch`.
    Run(Option<Closure>),
    /// Another pattern to try.
    Pattern(Rc<Patterns>, usize, Val, Env, Then),
}

/// The next thing to do.
enum Task {
    Run(T, Env, Val),
    Give(Val),
    Back,
}

type Outcome = Result<Task, Failure>;

/// A program that runs.
pub(crate) struct Machine<'a> {
    host: &'a mut dyn Host,
    functions: &'a [Rc<Function>],
    choices: Vec<Choice>,
    frames: Frames,
    tracker: Option<Tracker>,
    handler: Option<Rc<Handler>>,
    steps: u32,
    task: Option<Task>,
}

impl<'a> Machine<'a> {
    /// Makes a machine that runs a query on an input.
    pub(crate) fn new(host: &'a mut dyn Host, functions: &'a [Rc<Function>], main: &T, input: Val) -> Self {
        let task = Some(Task::Run(Rc::clone(main), Env::new(), input));
        Self {
            host,
            functions,
            choices: Vec::new(),
            frames: Frames::new(),
            tracker: None,
            handler: None,
            steps: 0,
            task,
        }
    }

    /// Returns the host that the machine runs in.
    pub(crate) fn host(&mut self) -> &mut dyn Host {
        self.host
    }

    /// Computes the next result. After an error there is none.
    pub(crate) fn next(&mut self) -> Option<Result<Val, Failure>> {
        let mut task = self.task.take()?;
        loop {
            self.steps += 1;
            if self.steps >= STEPS
                && let Err(failure) = self.check()
            {
                return Some(Err(failure));
            }
            let mut outcome = match task {
                Task::Run(term, env, input) => self.run(&term, env, input),
                Task::Give(value) => match self.frames.pop() {
                    Some(frame) => self.give(frame, value),
                    None => {
                        self.task = Some(Task::Back);
                        return Some(Ok(value));
                    }
                },
                Task::Back => match self.choices.pop() {
                    Some(choice) => self.choose(choice),
                    None => return None,
                },
            };
            // What catches an error may fail itself, and be caught further out.
            task = loop {
                match outcome {
                    Ok(task) => break task,
                    Err(failure @ (Failure::Halt(..) | Failure::Fatal(_))) => return Some(Err(failure)),
                    Err(Failure::Error(value)) if self.handler.is_none() => return Some(Err(Failure::Error(value))),
                    Err(failure) => outcome = self.raise(failure),
                }
            };
        }
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.steps = 0;
        self.host.check().map_err(Failure::Fatal)
    }

    fn push(&mut self, frame: Frame) {
        let frames = std::mem::replace(&mut self.frames, Frames::new());
        self.frames = frames.pushed(frame);
    }

    fn leave(&mut self, alternative: Alternative) {
        let (frames, tracker, handler) = (self.frames.clone(), self.tracker.clone(), self.handler.clone());
        self.choices.push(Choice { alternative, frames, tracker, handler });
    }

    /// Passes an error to what catches it.
    fn raise(&mut self, failure: Failure) -> Outcome {
        let (value, no_path) = match failure {
            Failure::Error(value) => (value, false),
            Failure::NoPath(message) => (Val::string(message), true),
            end => return Err(end),
        };
        let passes = |handler: &Rc<Handler>| no_path && matches!(handler.catch, Catch::Access);
        while let Some(handler) = self.handler.take_if(|handler| passes(handler)) {
            self.handler = handler.outer.clone();
        }
        let Some(handler) = self.handler.take() else { return Err(Failure::Error(value)) };
        self.choices.truncate(handler.depth);
        self.frames = handler.frames.clone();
        self.tracker = handler.tracker.clone();
        self.handler = handler.outer.clone();
        match &handler.catch {
            Catch::Access | Catch::Run(None) => Ok(Task::Back),
            Catch::Run(Some(closure)) => Ok(Task::Run(Rc::clone(&closure.term), closure.env.clone(), value)),
            Catch::Pattern(patterns, alternative, value, env, then) => {
                self.begin_match(patterns, *alternative, value.clone(), env, then.clone())
            }
        }
    }

    /// Begins with a query.
    fn run(&mut self, term: &T, env: Env, input: Val) -> Outcome {
        let closure = |term: &T| Closure { term: Rc::clone(term), env: env.clone() };
        Ok(match &**term {
            Term::Identity => Task::Give(input),
            Term::Const(value) => Task::Give(value.clone()),
            Term::Pipe(left, right) => {
                self.push(Frame::Then(closure(right)));
                Task::Run(Rc::clone(left), env, input)
            }
            Term::Comma(left, right) => {
                self.leave(Alternative::Run(closure(right), input.clone()));
                Task::Run(Rc::clone(left), env, input)
            }
            Term::Index(target, key) => match &**key {
                Term::Const(key) if matches!(**target, Term::Identity) => Task::Give(self.access(&input, key)?),
                Term::Const(key) => {
                    self.push(Frame::IndexBy(key.clone()));
                    Task::Run(Rc::clone(target), env, input)
                }
                _ => {
                    let tracker = self.tracker.take();
                    self.push(Frame::IndexOf(closure(target), input.clone(), tracker));
                    Task::Run(Rc::clone(key), env, input)
                }
            },
            Term::Slice(target, from, upto) => return self.run_slice(target, from.as_ref(), upto.as_ref(), env, input),
            Term::Iterate(target) => {
                self.push(Frame::Iterate);
                Task::Run(Rc::clone(target), env, input)
            }
            _ => return self.run_operator(term, env, input),
        })
    }

    /// Begins with an operator or what directs the control flow.
    fn run_operator(&mut self, term: &T, env: Env, input: Val) -> Outcome {
        let closure = |term: &T| Closure { term: Rc::clone(term), env: env.clone() };
        Ok(match &**term {
            Term::Negate(operand) => {
                let tracker = self.tracker.take();
                self.push(Frame::Negate(tracker));
                Task::Run(Rc::clone(operand), env, input)
            }
            Term::Binary(operator, left, right) => {
                let tracker = self.tracker.take();
                if let Term::Const(right) = &**right {
                    self.push(Frame::Apply(*operator, right.clone(), tracker));
                    return Ok(Task::Run(Rc::clone(left), env, input));
                }
                self.push(Frame::Left(*operator, closure(left), input.clone(), tracker));
                Task::Run(Rc::clone(right), env, input)
            }
            Term::And(left, right) | Term::Or(left, right) => {
                let tracker = self.tracker.take();
                let or = matches!(**term, Term::Or(..));
                self.push(Frame::Logic { or, right: closure(right), input: input.clone(), tracker });
                Task::Run(Rc::clone(left), env, input)
            }
            Term::Alternative(left, right) => {
                let found = Rc::new(Cell::new(false));
                self.leave(Alternative::Default(Rc::clone(&found), closure(right), input.clone()));
                self.push(Frame::Found(found));
                Task::Run(Rc::clone(left), env, input)
            }
            Term::If(condition, then, other) => {
                let tracker = self.tracker.take();
                self.push(Frame::Choose(Rc::clone(then), other.clone(), env.clone(), input.clone(), tracker));
                Task::Run(Rc::clone(condition), env, input)
            }
            Term::Try(body, catch) => {
                self.catch(Catch::Run(catch.as_ref().map(closure)));
                Task::Run(Rc::clone(body), env, input)
            }
            Term::Attempt(access) => {
                self.catch(Catch::Access);
                Task::Run(Rc::clone(access), env, input)
            }
            Term::Label(body) => {
                let env = env.pushed(Binding::Label(self.choices.len()));
                Task::Run(Rc::clone(body), env, input)
            }
            Term::Break(level) => {
                if let Some(Binding::Label(depth)) = env.down_to(*level).head() {
                    self.choices.truncate(*depth);
                }
                Task::Back
            }
            Term::Empty => Task::Back,
            Term::Variable(level) => match env.down_to(*level).head() {
                Some(Binding::Value(value)) => Task::Give(value.clone()),
                _ => Task::Back,
            },
            _ => return self.run_call(term, env, input),
        })
    }

    /// Begins with what makes a value, or with a call.
    fn run_call(&mut self, term: &T, env: Env, input: Val) -> Outcome {
        let closure = |term: &T| Closure { term: Rc::clone(term), env: env.clone() };
        Ok(match &**term {
            Term::Array(body) => {
                let cell = Rc::new(RefCell::new(Vec::new()));
                self.leave(Alternative::Collected(Rc::clone(&cell)));
                self.push(Frame::Collect(cell));
                match body {
                    Some(body) => Task::Run(Rc::clone(body), env, input),
                    None => Task::Back,
                }
            }
            Term::Object(_) => {
                let tracker = self.tracker.take();
                return self.run_member(&closure(term), 0, input, Members::default(), tracker);
            }
            Term::Text(..) => {
                let tracker = self.tracker.take();
                let count = if let Term::Text(_, pieces) = &**term { pieces.len() } else { 0 };
                return self.interpolate(&closure(term), count, input, String::new(), tracker);
            }
            Term::Format(format) => Task::Give(Val::string(format.apply(&input)?)),
            Term::Define(body) => Task::Run(Rc::clone(body), env.pushed(Binding::Function), input),
            Term::CallParameter(level) => match env.down_to(*level).head() {
                Some(Binding::Closure(term, env)) => Task::Run(Rc::clone(term), env.clone(), input),
                _ => Task::Back,
            },
            Term::CallGlobal(id, arguments) => self.call(*id, Env::new(), arguments, &env, input),
            Term::CallLocal(level, id, arguments) => {
                self.call(*id, env.down_to(*level).clone(), arguments, &env, input)
            }
            Term::Native(native, arguments) => {
                if arguments.is_empty() {
                    return Ok(Task::Give(native(self.host, input, &[])?));
                }
                let tracker = self.tracker.take();
                return self.run_argument(&closure(term), arguments.len(), input, Chain::new(), tracker);
            }
            _ => return self.run_control(term, env, input),
        })
    }

    /// Begins with one of the less frequent queries.
    fn run_control(&mut self, term: &T, env: Env, input: Val) -> Outcome {
        let closure = |term: &T| Closure { term: Rc::clone(term), env: env.clone() };
        Ok(match &**term {
            Term::Path(body) => {
                let tracker = self.tracker.replace(Tracker { path: Chain::new(), at: input.clone() });
                self.push(Frame::EndPath(tracker));
                Task::Run(Rc::clone(body), env, input)
            }
            Term::GetPath(path) => {
                let tracker = self.tracker.take();
                self.push(Frame::GetPath(input.clone(), tracker));
                Task::Run(Rc::clone(path), env, input)
            }
            Term::Error(value) => {
                self.push(Frame::Raise);
                self.tracker = None;
                Task::Run(Rc::clone(value), env, input)
            }
            Term::Modify(paths, update) => {
                let cell = Rc::new(RefCell::new(Modification { value: input.clone(), deleted: Vec::new() }));
                self.leave(Alternative::Modified(Rc::clone(&cell)));
                let tracker = self.tracker.replace(Tracker { path: Chain::new(), at: input.clone() });
                self.push(Frame::PathToModify(cell, closure(update), tracker));
                Task::Run(Rc::clone(paths), env, input)
            }
            Term::Range(from, ..) => {
                let tracker = self.tracker.take();
                self.push(Frame::RangeFrom(closure(term), input.clone(), tracker));
                Task::Run(Rc::clone(from), env, input)
            }
            Term::Bind(source, patterns, body) => {
                let tracker = self.tracker.take();
                let then = Then::Body(Rc::clone(body), input.clone());
                self.push(Frame::Match(Rc::clone(patterns), env.clone(), then, tracker));
                Task::Run(Rc::clone(source), env, input)
            }
            Term::Reduce(_, _, start, _) | Term::Foreach(_, _, start, ..) => {
                self.push(Frame::StartFold(closure(term), input.clone()));
                Task::Run(Rc::clone(start), env, input)
            }
            _ => Task::Back,
        })
    }

    fn catch(&mut self, catch: Catch) {
        let (frames, tracker, outer) = (self.frames.clone(), self.tracker.clone(), self.handler.take());
        let depth = self.choices.len();
        self.push(Frame::EndTry(outer.clone()));
        self.handler = Some(Rc::new(Handler { depth, catch, frames, tracker, outer }));
    }

    fn call(&self, id: usize, mut callee: Env, arguments: &[T], env: &Env, input: Val) -> Task {
        for argument in arguments {
            // A parameter that is passed on is passed as it came, so that recursion does not make it longer.
            let shared = match &**argument {
                Term::CallParameter(level) => env.down_to(*level).head().cloned(),
                _ => None,
            };
            let closure = shared.unwrap_or_else(|| Binding::Closure(Rc::clone(argument), env.clone()));
            callee = callee.pushed(closure);
        }
        match self.functions.get(id).and_then(|function| function.body.get()) {
            Some(body) => Task::Run(Rc::clone(body), callee, input),
            None => Task::Back,
        }
    }

    fn run_slice(&mut self, target: &T, from: Option<&T>, upto: Option<&T>, env: Env, input: Val) -> Outcome {
        let tracker = self.tracker.take();
        let (target, upto) = (Rc::clone(target), upto.cloned());
        let frame = Frame::SliceFrom { target, upto, env: env.clone(), input: input.clone(), tracker };
        match from {
            Some(from) => {
                self.push(frame);
                Ok(Task::Run(Rc::clone(from), env, input))
            }
            None => self.give(frame, Val::Null),
        }
    }

    /// Does with a result what is to be done with it.
    fn give(&mut self, frame: Frame, value: Val) -> Outcome {
        Ok(match frame {
            Frame::Then(Closure { term, env }) => Task::Run(term, env, value),
            Frame::IndexBy(key) => Task::Give(self.access(&value, &key)?),
            Frame::IndexOf(Closure { term, env }, input, tracker) => {
                self.tracker = tracker;
                self.push(Frame::IndexBy(value));
                Task::Run(term, env, input)
            }
            Frame::Iterate => return self.iterate(value),
            Frame::Negate(tracker) => {
                self.tracker = tracker;
                Task::Give(operators::negate(&value)?)
            }
            Frame::Left(operator, Closure { term, env }, input, tracker) => {
                self.push(Frame::Apply(operator, value, tracker));
                Task::Run(term, env, input)
            }
            Frame::Apply(operator, right, tracker) => {
                self.tracker = tracker;
                Task::Give(operators::binary(operator, value, right)?)
            }
            Frame::Logic { or, right, input, tracker } => {
                if value.is_true() == or {
                    self.tracker = tracker;
                    return Ok(Task::Give(Val::Bool(or)));
                }
                self.push(Frame::Truth(tracker));
                Task::Run(right.term, right.env, input)
            }
            Frame::Truth(tracker) => {
                self.tracker = tracker;
                Task::Give(Val::Bool(value.is_true()))
            }
            Frame::Choose(then, other, env, input, tracker) => {
                self.tracker = tracker;
                match (value.is_true(), other) {
                    (true, _) => Task::Run(then, env, input),
                    (false, Some(other)) => Task::Run(other, env, input),
                    (false, None) => Task::Give(input),
                }
            }
            Frame::EndTry(handler) => {
                self.handler = handler;
                Task::Give(value)
            }
            Frame::Found(_) if !value.is_true() => Task::Back,
            Frame::Found(found) => {
                found.set(true);
                Task::Give(value)
            }
            Frame::Collect(cell) => {
                cell.borrow_mut().push(value);
                Task::Back
            }
            _ => return self.give_part(frame, value),
        })
    }

    /// Does with a part of something bigger what is to be done with it.
    fn give_part(&mut self, frame: Frame, value: Val) -> Outcome {
        match frame {
            Frame::SliceFrom { target, upto, env, input, tracker } => {
                let upto_term = upto.clone();
                let frame = Frame::SliceUpto { target, from: value, env: env.clone(), input: input.clone(), tracker };
                match upto_term {
                    Some(upto) => {
                        self.push(frame);
                        Ok(Task::Run(upto, env, input))
                    }
                    None => self.give_part(frame, Val::Null),
                }
            }
            Frame::SliceUpto { target, from, env, input, tracker } => {
                self.tracker = tracker;
                self.push(Frame::IndexBy(Val::record([("start", from), ("end", value)])));
                Ok(Task::Run(target, env, input))
            }
            Frame::Key(object, member, input, members, tracker) => {
                self.run_value(object, member, input, members, value, tracker)
            }
            Frame::Member(object, member, input, mut members, name, tracker) => {
                let Val::Str(name) = name else {
                    let text = excerpt(&name, SHORT);
                    return Err(Failure::new(format!("Cannot use {} ({text}) as object key", name.kind())));
                };
                members.insert(Rc::from(name.as_str()), value);
                self.run_member(&object, member + 1, input, members, tracker)
            }
            Frame::Interpolated(text, piece, input, behind, tracker) => {
                let format = if let Term::Text(format, _) = &*text.term { format.clone() } else { Format::TEXT };
                let rendered = format.apply(&value)? + &behind;
                self.interpolate(&text, piece, input, rendered, tracker)
            }
            Frame::Argument(native, argument, input, arguments, tracker) => {
                self.run_argument(&native, argument, input, arguments.pushed(value), tracker)
            }
            Frame::Raise => Err(Failure::Error(value)),
            Frame::Match(patterns, env, then, tracker) => {
                self.tracker = tracker;
                self.begin_match(&patterns, 0, value, &env, then)
            }
            Frame::MatchKey(mut matching, tracker) => {
                self.tracker = tracker;
                self.index_slot(&mut matching, value)?;
                self.go_on_matching(*matching)
            }
            Frame::Each(patterns, env, fold) => self.begin_match(&patterns, 0, value, &env, Then::Update(fold)),
            Frame::StartFold(Closure { term, env }, input) => self.start_fold(&term, env, input, value),
            Frame::Updated(fold, env) => self.updated(fold, env, value),
            _ => self.give_path(frame, value),
        }
    }

    /// Does with a result about paths what is to be done with it.
    fn give_path(&mut self, frame: Frame, value: Val) -> Outcome {
        match frame {
            Frame::EndPath(outer) => {
                let path = self.path_of(&value)?;
                self.tracker = outer;
                Ok(Task::Give(path))
            }
            Frame::GetPath(input, tracker) => {
                self.tracker = tracker;
                self.track(&input, |input| format!("with result {}", excerpt(input, LONG)))?;
                let found = get_path(&input, &value)?;
                if let (Some(tracker), Val::Arr(keys)) = (&mut self.tracker, &value) {
                    for key in &keys.0 {
                        tracker.path = tracker.path.push(key.clone());
                    }
                    tracker.at = found.clone();
                }
                Ok(Task::Give(found))
            }
            Frame::PathToModify(cell, update, outer) => {
                let path = self.path_of(&value)?;
                self.tracker = None;
                let current = get_path(&cell.borrow().value, &path)?;
                let depth = self.choices.len();
                self.leave(Alternative::Deleted(Rc::clone(&cell), path.clone()));
                self.push(Frame::Restore(outer));
                self.push(Frame::Modified(cell, path, depth));
                Ok(Task::Run(update.term, update.env, current))
            }
            Frame::Modified(cell, path, depth) => {
                self.choices.truncate(depth);
                let whole = std::mem::take(&mut cell.borrow_mut().value);
                let changed = set_path(whole, &path, value)?;
                cell.borrow_mut().value = changed;
                Ok(Task::Back)
            }
            Frame::Restore(tracker) => {
                self.tracker = tracker;
                Ok(Task::Give(value))
            }
            _ => self.give_bound(frame, value),
        }
    }

    /// Does with a bound of a range what is to be done with it.
    fn give_bound(&mut self, frame: Frame, value: Val) -> Outcome {
        match frame {
            Frame::RangeFrom(range, input, tracker) => {
                let Term::Range(_, upto, _) = &*range.term else { return Ok(Task::Back) };
                let (upto, env) = (Rc::clone(upto), range.env.clone());
                self.push(Frame::RangeUpto(range, input.clone(), value, tracker));
                Ok(Task::Run(upto, env, input))
            }
            Frame::RangeUpto(range, input, from, tracker) => {
                let Term::Range(_, _, by) = &*range.term else { return Ok(Task::Back) };
                self.push(Frame::RangeBy(from, value, tracker));
                Ok(Task::Run(Rc::clone(by), range.env.clone(), input))
            }
            Frame::RangeBy(from, upto, tracker) => {
                self.tracker = tracker;
                let (Some(from), Some(upto)) = (from.as_f64(), upto.as_f64()) else {
                    return Err(Failure::new("Range bounds must be numeric"));
                };
                let by = value.as_f64().ok_or_else(|| Failure::new("Range bounds must be numeric"))?;
                self.leave(Alternative::Range(from, upto, by));
                Ok(Task::Back)
            }
            _ => Ok(Task::Back),
        }
    }

    /// Goes on where a result may come from.
    fn choose(&mut self, choice: Choice) -> Outcome {
        let Choice { alternative, frames, tracker, handler } = choice;
        (self.frames, self.tracker, self.handler) = (frames, tracker, handler);
        Ok(match alternative {
            Alternative::Run(Closure { term, env }, input) => Task::Run(term, env, input),
            Alternative::Each(container, at) => self.next_child(container, at),
            Alternative::Range(from, upto, by) => {
                let inside = if by > 0.0 { from < upto } else { by < 0.0 && from > upto };
                if !inside {
                    return Ok(Task::Back);
                }
                self.leave(Alternative::Range(from + by, upto, by));
                Task::Give(Val::from(from))
            }
            Alternative::Collected(cell) => Task::Give(Val::array(std::mem::take(&mut *cell.borrow_mut()))),
            Alternative::Reduced(state) => Task::Give(std::mem::take(&mut *state.borrow_mut())),
            Alternative::Default(found, ..) if found.get() => Task::Back,
            Alternative::Default(_, Closure { term, env }, input) => Task::Run(term, env, input),
            Alternative::Modified(cell) => {
                let mut state = cell.borrow_mut();
                let (value, deleted) = (std::mem::take(&mut state.value), std::mem::take(&mut state.deleted));
                if self.tracker.is_some() {
                    // No path, also where nothing was changed. jq takes the value out of an array of these two.
                    let both: Val = [value, Val::array(deleted)].into_iter().collect();
                    let text = excerpt(&both, LONG);
                    let message = format!("Invalid path expression near attempt to access element 0 of {text}");
                    return Err(Failure::NoPath(message));
                }
                Task::Give(delete_paths(value, deleted)?)
            }
            Alternative::Deleted(cell, path) => {
                cell.borrow_mut().deleted.push(path);
                Task::Back
            }
        })
    }

    /// Checks that in a query for paths the value is the one at the path.
    fn track(&self, value: &Val, told: impl Fn(&Val) -> String) -> Result<(), Failure> {
        match &self.tracker {
            Some(tracker) if !tracker.at.identical(value) => {
                Err(Failure::NoPath(format!("Invalid path expression {}", told(value))))
            }
            _ => Ok(()),
        }
    }

    fn path_of(&self, value: &Val) -> Result<Val, Failure> {
        self.track(value, |value| format!("with result {}", excerpt(value, LONG)))?;
        let mut path: Vec<Val> = self.tracker.iter().flat_map(|it| it.path.iter().cloned()).collect();
        path.reverse();
        Ok(Val::array(path))
    }

    fn access(&mut self, value: &Val, key: &Val) -> Result<Val, Failure> {
        self.track(value, |value| {
            format!("near attempt to access element {} of {}", excerpt(key, SHORT), excerpt(value, LONG))
        })?;
        let found = index(value, key)?;
        if let Some(tracker) = &mut self.tracker {
            tracker.path = tracker.path.push(key.clone());
            tracker.at = found.clone();
        }
        Ok(found)
    }

    fn iterate(&mut self, value: Val) -> Outcome {
        self.track(&value, |value| format!("near attempt to iterate through {}", excerpt(value, LONG)))?;
        if !matches!(value, Val::Arr(_) | Val::Obj(_)) {
            let text = excerpt(&value, SHORT);
            return Err(Failure::new(format!("Cannot iterate over {} ({text})", value.kind())));
        }
        Ok(self.next_child(value, 0))
    }

    fn next_child(&mut self, container: Val, at: usize) -> Task {
        let (child, key, last) = match &container {
            Val::Arr(array) => match array.0.get(at) {
                Some(child) => (child.clone(), None, at + 1 == array.0.len()),
                None => return Task::Back,
            },
            Val::Obj(object) => match object.0.get_index(at) {
                Some((name, child)) => (child.clone(), Some(Rc::clone(name)), at + 1 == object.0.len()),
                None => return Task::Back,
            },
            _ => return Task::Back,
        };
        if !last {
            self.leave(Alternative::Each(container, at + 1));
        }
        if let Some(tracker) = &mut self.tracker {
            let key = key.map_or_else(|| Val::from(at), |name| Val::from(&*name));
            tracker.path = tracker.path.push(key);
            tracker.at = child.clone();
        }
        Task::Give(child)
    }

    fn run_member(
        &mut self,
        object: &Closure,
        member: usize,
        input: Val,
        members: Members,
        tracker: Option<Tracker>,
    ) -> Outcome {
        let Term::Object(terms) = &*object.term else { return Ok(Task::Back) };
        let Some((key, _)) = terms.get(member) else {
            self.tracker = tracker;
            return Ok(Task::Give(Val::object(members)));
        };
        if let Term::Const(name) = &**key {
            let name = name.clone();
            return self.run_value(object.clone(), member, input, members, name, tracker);
        }
        let (key, env) = (Rc::clone(key), object.env.clone());
        self.push(Frame::Key(object.clone(), member, input.clone(), members, tracker));
        self.tracker = None;
        Ok(Task::Run(key, env, input))
    }

    fn run_value(
        &mut self,
        object: Closure,
        member: usize,
        input: Val,
        members: Members,
        name: Val,
        tracker: Option<Tracker>,
    ) -> Outcome {
        let Term::Object(terms) = &*object.term else { return Ok(Task::Back) };
        let (value, env) = (Rc::clone(&terms[member].1), object.env.clone());
        self.push(Frame::Member(object.clone(), member, input.clone(), members, name, tracker));
        self.tracker = None;
        Ok(Task::Run(value, env, input))
    }

    /// Puts the pieces of a string together, the last one first.
    fn interpolate(
        &mut self,
        text: &Closure,
        count: usize,
        input: Val,
        behind: String,
        tracker: Option<Tracker>,
    ) -> Outcome {
        let Term::Text(_, pieces) = &*text.term else { return Ok(Task::Back) };
        let mut behind = behind;
        for at in (0..count).rev() {
            match &pieces[at] {
                Piece::Text(piece) => behind.insert_str(0, piece),
                Piece::Query(query) => {
                    let query = Rc::clone(query);
                    self.push(Frame::Interpolated(text.clone(), at, input.clone(), behind, tracker));
                    self.tracker = None;
                    return Ok(Task::Run(query, text.env.clone(), input));
                }
            }
        }
        self.tracker = tracker;
        Ok(Task::Give(Val::string(behind)))
    }

    /// Evaluates the arguments of a native function, the last one first, and calls it.
    fn run_argument(
        &mut self,
        native: &Closure,
        count: usize,
        input: Val,
        arguments: Chain<Val>,
        tracker: Option<Tracker>,
    ) -> Outcome {
        let Term::Native(function, terms) = &*native.term else { return Ok(Task::Back) };
        let mut arguments = arguments;
        for at in (0..count).rev() {
            if let Term::Const(value) = &*terms[at] {
                arguments = arguments.pushed(value.clone());
                continue;
            }
            let argument = Rc::clone(&terms[at]);
            self.push(Frame::Argument(native.clone(), at, input.clone(), arguments, tracker));
            self.tracker = None;
            return Ok(Task::Run(argument, native.env.clone(), input));
        }
        self.tracker = tracker;
        let values: Vec<Val> = arguments.iter().cloned().collect();
        let function: NativeFn = *function;
        Ok(Task::Give(function(self.host, input, &values)?))
    }

    /// Begins with taking a value apart by one of the patterns.
    fn begin_match(
        &mut self,
        patterns: &Rc<Patterns>,
        alternative: usize,
        value: Val,
        env: &Env,
        then: Then,
    ) -> Outcome {
        if alternative + 1 < patterns.alternatives.len() {
            let again = Catch::Pattern(Rc::clone(patterns), alternative + 1, value.clone(), env.clone(), then.clone());
            let (frames, tracker, outer) = (self.frames.clone(), self.tracker.clone(), self.handler.take());
            let depth = self.choices.len();
            self.handler = Some(Rc::new(Handler { depth, catch: again, frames, tracker, outer }));
        }
        self.go_on_matching(Matching {
            variables: vec![Val::Null; patterns.variables],
            patterns: Rc::clone(patterns),
            alternative,
            step: 0,
            slots: vec![value],
            env: env.clone(),
            then,
        })
    }

    fn index_slot(&mut self, matching: &mut Matching, key: Val) -> Result<(), Failure> {
        let steps = &matching.patterns.alternatives[matching.alternative];
        let Step::Query(slot, _) = &steps[matching.step] else { return Ok(()) };
        let found = index(&matching.slots[*slot], &key)?;
        matching.slots.push(found);
        matching.step += 1;
        Ok(())
    }

    fn go_on_matching(&mut self, mut matching: Matching) -> Outcome {
        let patterns = Rc::clone(&matching.patterns);
        let steps = &patterns.alternatives[matching.alternative];
        while let Some(step) = steps.get(matching.step) {
            match step {
                Step::Index(slot, key) => {
                    let found = index(&matching.slots[*slot], key)?;
                    matching.slots.push(found);
                }
                Step::Bind(slot, variable) => matching.variables[*variable] = matching.slots[*slot].clone(),
                Step::Query(slot, key) => {
                    let (input, env) = (matching.slots[*slot].clone(), matching.env.clone());
                    let tracker = self.tracker.take();
                    self.push(Frame::MatchKey(Box::new(matching), tracker));
                    return Ok(Task::Run(Rc::clone(key), env, input));
                }
            }
            matching.step += 1;
        }
        let mut env = matching.env;
        for value in matching.variables {
            env = env.pushed(Binding::Value(value));
        }
        Ok(match matching.then {
            Then::Body(body, input) => Task::Run(body, env, input),
            Then::Update(fold) => {
                let state = std::mem::take(&mut *fold.state.borrow_mut());
                let update = Rc::clone(&fold.update);
                self.push(Frame::Updated(fold, env.clone()));
                Task::Run(update, env, state)
            }
        })
    }

    fn start_fold(&mut self, term: &T, env: Env, input: Val, start: Val) -> Outcome {
        let (source, patterns, update, extract) = match &**term {
            Term::Reduce(source, patterns, _, update) => (source, patterns, update, None),
            Term::Foreach(source, patterns, _, update, extract) => (source, patterns, update, Some(extract.clone())),
            _ => return Ok(Task::Back),
        };
        let state = Rc::new(RefCell::new(start));
        if extract.is_none() {
            self.leave(Alternative::Reduced(Rc::clone(&state)));
        }
        let fold = Fold { update: Rc::clone(update), state, extract };
        self.push(Frame::Each(Rc::clone(patterns), env.clone(), fold));
        Ok(Task::Run(Rc::clone(source), env, input))
    }

    fn updated(&mut self, fold: Fold, env: Env, value: Val) -> Outcome {
        let Some(extract) = fold.extract else {
            *fold.state.borrow_mut() = value;
            return Ok(Task::Back);
        };
        *fold.state.borrow_mut() = value.clone();
        Ok(match extract {
            Some(extract) => Task::Run(extract, env, value),
            None => Task::Give(value),
        })
    }
}
