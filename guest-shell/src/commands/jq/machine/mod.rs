//! Backtracking virtual machine that runs programs.
//!
//! A query produces results one at a time. Where it may produce another one, a [`Choice`] is pushed onto a stack; the
//! continuation of a result is a persistent list of [`Frame`]s. Neither deep recursion nor endless generators therefore
//! use the stack of the process, and tail calls are free. In a query for paths (`path(…)`, the left side of an
//! assignment), a [`Tracker`] follows the path of the result.
//!
//! | module | contents |
//! | --- | --- |
//! | [`state`] | bindings, frames, choices and handlers |
//! | [`run`] | start of queries |
//! | [`give`] | delivery of results to the frames that wait for them |
//! | [`choose`] | search for further results |
//! | [`composite`] | objects, strings and calls of native functions, part by part |
//! | [`destructure`] | variables of patterns, `reduce` and `foreach` |
//! | [`tracking`] | paths of results |

mod choose;
mod composite;
mod destructure;
mod give;
mod run;
mod state;
mod tracking;

use std::rc::Rc;

use self::state::{Alternative, Catch, Choice, Env, Frame, Frames, Handler, Tracker};
use super::failure::Failure;
use super::term::{Function, T};
use super::value::Val;
use crate::commands::date::SandboxTimezone;

/// Environment of a program: inputs, messages and limits.
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
    /// Returns the metadata of a module, or `None` if it has to be read first: the run then ends, and begins again.
    fn module(&mut self, name: &str) -> Option<Result<Val, String>>;
    /// Returns the zone of local time.
    fn time_zone(&self) -> &SandboxTimezone;
    /// Returns the directories that modules are looked for in.
    fn search_list(&self) -> Val;
    /// Checks whether the program may continue; called every [`STEPS`] steps.
    fn check(&mut self) -> Result<(), String>;
}

/// Number of steps between two checks of the limits.
const STEPS: u32 = 2_048;

/// Next task of the machine.
enum Task {
    Run(T, Env, Val),
    Give(Val),
    Back,
}

/// Outcome of a step.
type Outcome = Result<Task, Failure>;

/// Running program.
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
    /// Creates a machine that runs a query on an input.
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

    /// Returns the environment of the program.
    pub(crate) fn host(&mut self) -> &mut dyn Host {
        self.host
    }

    /// Computes the next result. After an error there are no more results.
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
            // A handler may fail itself, which an outer handler catches.
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

    /// Passes an error to the innermost handler.
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

    fn catch(&mut self, catch: Catch) {
        let (frames, tracker, outer) = (self.frames.clone(), self.tracker.clone(), self.handler.take());
        let depth = self.choices.len();
        self.push(Frame::EndTry(outer.clone()));
        self.handler = Some(Rc::new(Handler { depth, catch, frames, tracker, outer }));
    }
}
