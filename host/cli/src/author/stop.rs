//! Ctrl-C, while toolchains and tools run: what runs is ended, and then the command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::signals;
use super::{CliError, Result};

/// Whether the user wants an end, and what is to be ended.
#[derive(Default)]
pub(crate) struct Stop {
    stopped: AtomicBool,
    end: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Stop {
    /// Takes Ctrl-C from now on.
    pub(super) fn listen() -> Arc<Self> {
        let stop = Arc::new(Self::default());
        let told = Arc::clone(&stop);
        signals::on_first(move || told.now());
        stop
    }

    fn now(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        if let Some(end) = &*self.end.lock().unwrap_or_else(PoisonError::into_inner) {
            end();
        }
    }

    /// Whether the user wants an end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Does something that `end` ends.
    pub(crate) fn during<T>(&self, end: impl Fn() + Send + 'static, what: impl FnOnce() -> T) -> T {
        let set = |end| *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
        set(Some(Box::new(end)));
        if self.is_stopped() {
            self.now();
        }
        let done = what();
        set(None);
        done
    }

    /// An error if the user wants an end.
    pub(super) fn check(&self) -> Result<()> {
        const INTERRUPTED: u8 = 130;
        if self.is_stopped() { Err(CliError::usage("interrupted").status(INTERRUPTED)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_ended_also_when_the_wish_came_before() {
        let stop = Stop::default();
        let ended = Arc::new(AtomicBool::new(false));
        let end = |ended: &Arc<AtomicBool>| {
            let ended = Arc::clone(ended);
            move || ended.store(true, Ordering::SeqCst)
        };
        stop.during(end(&ended), || ());
        stop.now();
        assert!(!ended.load(Ordering::SeqCst), "it was over");
        stop.during(end(&ended), || assert!(ended.load(Ordering::SeqCst)));
        assert!(stop.check().is_err());
    }
}
