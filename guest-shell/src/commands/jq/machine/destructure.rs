//! Binding of variables by patterns, and the queries `reduce` and `foreach`, which update them.

use std::cell::RefCell;
use std::rc::Rc;

use super::state::{Alternative, Binding, Catch, Env, Fold, Frame, Handler, Matching, Then};
use super::{Machine, Outcome, Task};
use crate::commands::jq::failure::Failure;
use crate::commands::jq::paths::index;
use crate::commands::jq::term::{Patterns, Step, T, Term};
use crate::commands::jq::value::Val;

impl Machine<'_> {
    /// Begins to match a value with one of the patterns.
    pub(super) fn begin_match(
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

    pub(super) fn index_slot(&mut self, matching: &mut Matching, key: Val) -> Result<(), Failure> {
        let steps = &matching.patterns.alternatives[matching.alternative];
        let Step::Query(slot, _) = &steps[matching.step] else { return Ok(()) };
        let found = index(&matching.slots[*slot], &key)?;
        matching.slots.push(found);
        matching.step += 1;
        Ok(())
    }

    pub(super) fn go_on_matching(&mut self, mut matching: Matching) -> Outcome {
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

    pub(super) fn start_fold(&mut self, term: &T, env: Env, input: Val, start: Val) -> Outcome {
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

    pub(super) fn updated(&mut self, fold: Fold, env: Env, value: Val) -> Outcome {
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
