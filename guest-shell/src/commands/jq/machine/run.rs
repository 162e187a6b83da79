//! Start of the evaluation of a query.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::state::{Alternative, Binding, Catch, Closure, Env, Frame, Modification, Then, Tracker};
use super::{Machine, Outcome, Task};
use crate::commands::jq::term::{Chain, T, Term};
use crate::commands::jq::value::{Members, Val};

impl Machine<'_> {
    /// Begins to evaluate a query.
    pub(super) fn run(&mut self, term: &T, env: Env, input: Val) -> Outcome {
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

    /// Begins to evaluate an operator or a control structure.
    pub(super) fn run_operator(&mut self, term: &T, env: Env, input: Val) -> Outcome {
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

    /// Begins to evaluate a constructor or a call.
    pub(super) fn run_call(&mut self, term: &T, env: Env, input: Val) -> Outcome {
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

    /// Begins to evaluate one of the less frequent queries.
    pub(super) fn run_control(&mut self, term: &T, env: Env, input: Val) -> Outcome {
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

    pub(super) fn run_slice(
        &mut self,
        target: &T,
        from: Option<&T>,
        upto: Option<&T>,
        env: Env,
        input: Val,
    ) -> Outcome {
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

    pub(super) fn call(&self, id: usize, mut callee: Env, arguments: &[T], env: &Env, input: Val) -> Task {
        for argument in arguments {
            // A parameter that is passed on is shared, so that recursion does not build a chain.
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
}
