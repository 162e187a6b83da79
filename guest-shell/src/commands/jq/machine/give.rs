//! Delivery of a result to the frame that waits for it.

use std::rc::Rc;

use super::state::{Alternative, Closure, Frame, Then};
use super::{Machine, Outcome, Task};
use crate::commands::jq::failure::{Failure, LONG, SHORT, excerpt};
use crate::commands::jq::formats::Format;
use crate::commands::jq::operators;
use crate::commands::jq::paths::{get_path, set_path};
use crate::commands::jq::term::Term;
use crate::commands::jq::value::Val;

impl Machine<'_> {
    /// Delivers a result to a frame.
    pub(super) fn give(&mut self, frame: Frame, value: Val) -> Outcome {
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

    /// Delivers a part of a composite value to a frame.
    pub(super) fn give_part(&mut self, frame: Frame, value: Val) -> Outcome {
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

    /// Delivers a result to a frame that concerns paths.
    pub(super) fn give_path(&mut self, frame: Frame, value: Val) -> Outcome {
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

    /// Delivers a bound of a range to a frame.
    pub(super) fn give_bound(&mut self, frame: Frame, value: Val) -> Outcome {
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
                let (upto, by) = match value {
                    // Of `range` without a step: the end is where the number is not less, which NaN never is.
                    Val::Null if upto.is_nan() => (f64::INFINITY, 1.0),
                    Val::Null => (upto, 1.0),
                    by => (upto, by.as_f64().ok_or_else(|| Failure::new("Range bounds must be numeric"))?),
                };
                self.leave(Alternative::Range(from, upto, by));
                Ok(Task::Back)
            }
            _ => Ok(Task::Back),
        }
    }
}
