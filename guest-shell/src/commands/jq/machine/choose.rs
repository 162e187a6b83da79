//! Backtracking: continuing at an alternative to find another result.

use std::rc::Rc;

use super::state::{Alternative, Choice, Closure};
use super::{Machine, Outcome, Task};
use crate::commands::jq::failure::{Failure, LONG, SHORT, excerpt};
use crate::commands::jq::paths::delete_paths;
use crate::commands::jq::value::Val;

impl Machine<'_> {
    /// Continues at an alternative.
    pub(super) fn choose(&mut self, choice: Choice) -> Outcome {
        let Choice { alternative, frames, tracker, handler } = choice;
        (self.frames, self.tracker, self.handler) = (frames, tracker, handler);
        Ok(match alternative {
            Alternative::Run(Closure { term, env }, input) => Task::Run(term, env, input),
            Alternative::Each(container, at) => self.next_child(container, at),
            Alternative::Range(from, upto, by) => {
                // NaN is less than any number.
                let inside = match by > 0.0 {
                    true => from < upto || from.is_nan(),
                    false => by != 0.0 && (from > upto || upto.is_nan()),
                };
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
                    // The result of an assignment is not a path, even if nothing was changed. jq takes the value out
                    // of an array of these two.
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

    pub(super) fn iterate(&mut self, value: Val) -> Outcome {
        self.track(&value, |value| format!("near attempt to iterate through {}", excerpt(value, LONG)))?;
        if !matches!(value, Val::Arr(_) | Val::Obj(_)) {
            let text = excerpt(&value, SHORT);
            return Err(Failure::new(format!("Cannot iterate over {} ({text})", value.kind())));
        }
        Ok(self.next_child(value, 0))
    }

    pub(super) fn next_child(&mut self, container: Val, at: usize) -> Task {
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
}
