//! Ctrl-C while toolchains and tools run: the running processes are ended, and then the command.

use std::io;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

use super::super::signals::{self, SignalListener};
use super::{CliError, Result};

/// Handler of Ctrl-C: whether it was pressed, and the operation that it ends.
#[derive(Default)]
pub(crate) struct CtrlCHandler {
    stopped: AtomicBool,
    at_once: AtomicBool,
    end: Mutex<Option<Box<dyn Fn() + Send>>>,
    listener: Mutex<Option<SignalListener>>,
}

impl CtrlCHandler {
    /// Handles Ctrl-C from now on.
    pub(crate) fn listen() -> Arc<Self> {
        let stop = Arc::new(Self::default());
        stop.hear();
        stop
    }

    fn hear(self: &Arc<Self>) {
        let told = Arc::clone(self);
        let listener = signals::on_first(move || told.now());
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = listener;
    }

    /// Calls `wall`, which confines this process, while no thread waits for Ctrl-C: a thread that began before would not
    /// be confined. A Ctrl-C meanwhile counts.
    ///
    /// # Errors
    /// Those of `wall`; if Ctrl-C was pressed, or would no longer be heard.
    pub(crate) fn behind(self: &Arc<Self>, wall: impl FnOnce() -> Result<()>) -> Result<()> {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(listener) = listener else {
            wall()?;
            return self.check();
        };
        let gap = signals::SignalGap::begin();
        listener.end();
        wall()?;
        self.hear();
        if self.listener.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            let cause = io::Error::other("no handler could be registered");
            return Err(CliError::because("cannot wait for Ctrl-C once this process is confined", &cause));
        }
        if gap.end() {
            self.stopped.store(true, Ordering::SeqCst);
        }
        self.check()
    }

    fn now(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        if self.at_once.load(Ordering::SeqCst) {
            std::process::exit(i32::from(signals::CANCELLED));
        }
        if let Some(end) = &*self.end.lock().unwrap_or_else(PoisonError::into_inner) {
            end();
        }
    }

    /// Returns true once Ctrl-C was pressed.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Runs `what`; Ctrl-C calls `end` meanwhile.
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

    /// Runs a program and captures its output. Ctrl-C ends it, and all processes that it started.
    pub(crate) fn capture(&self, mut command: Command) -> io::Result<Output> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.run(command, Child::wait_with_output)
    }

    /// Runs a program until `wait` returns. Ctrl-C ends it, and all processes that it started.
    pub(super) fn run<T>(&self, mut command: Command, wait: impl FnOnce(Child) -> io::Result<T>) -> io::Result<T> {
        // A process group of its own: npm, cargo and make start other processes.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        let group = Pid::from_child(&child);
        let end = move || {
            // A group that no longer exists has ended.
            let _ = kill_process_group(group, Signal::TERM);
        };
        self.during(end, || wait(child))
    }

    /// Makes Ctrl-C end this process at once from now on: the remaining work may be interrupted anywhere.
    ///
    /// # Errors
    /// If Ctrl-C was pressed already.
    pub(crate) fn end_at_once(&self) -> Result<()> {
        self.at_once.store(true, Ordering::SeqCst);
        self.check()
    }

    /// Returns an error if Ctrl-C was pressed.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() { Err(CliError::usage("interrupted").status(signals::CANCELLED)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_c_handler_ends_work_even_if_signalled_before_it_began() {
        let stop = CtrlCHandler::default();
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
