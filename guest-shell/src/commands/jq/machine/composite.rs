//! Evaluation of objects, strings and arguments of native functions, part by part.

use std::rc::Rc;

use super::state::{Closure, Frame, Tracker};
use super::{Machine, Outcome, Task};
use crate::commands::jq::term::{Chain, NativeFn, Piece, Term};
use crate::commands::jq::value::{Members, Val};

impl Machine<'_> {
    pub(super) fn run_member(
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

    pub(super) fn run_value(
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

    /// Evaluates the pieces of a string, the last one first.
    pub(super) fn interpolate(
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
    pub(super) fn run_argument(
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
}
