//! Threads for programs: each program has one to itself from its start to its end, and a thread that has served waits a
//! while for the next one.
//!
//! **Invariant:** no more jobs are queued than threads wait, so none waits for another's end.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread waits for work.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many threads wait at most.
const MOST_IDLE: usize = 32;

type Job = Box<dyn FnOnce() + Send>;

/// The threads of one host.
#[derive(Clone)]
pub(super) struct Threads(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    news: Condvar,
    stack: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    closed: bool,
}

impl Threads {
    /// None yet; each will have this much stack, in bytes.
    pub(super) fn new(stack: usize) -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), news: Condvar::new(), stack }))
    }

    /// Does a job on a thread that does nothing else meanwhile.
    ///
    /// # Errors
    /// If the system gives no thread. The job is dropped.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut state = self.0.state();
        if state.jobs.len() < state.idle {
            state.jobs.push_back(Box::new(job));
            drop(state);
            self.0.news.notify_one();
            return Ok(());
        }
        drop(state);
        let shared = Arc::clone(&self.0);
        let serve = move || {
            job();
            shared.serve();
        };
        let thread = std::thread::Builder::new().name("tollhouse-program".into()).stack_size(self.0.stack);
        thread.spawn(serve).map(drop)
    }

    /// Lets go of the threads that wait.
    pub(super) fn close(&self) {
        self.0.state().closed = true;
        self.0.news.notify_all();
    }
}

impl Shared {
    /// Each change is whole, so a poisoned lock is still good. Jobs run outside it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does jobs until none has come for a while.
    fn serve(&self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        if state.idle >= MOST_IDLE {
            return None;
        }
        state.idle += 1;
        let nothing = |state: &mut State| state.jobs.is_empty() && !state.closed;
        let (mut state, _) =
            self.news.wait_timeout_while(state, PATIENCE, nothing).unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        // One that came as the time ran out is done: it counted on this thread.
        state.jobs.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Each of a hundred jobs waits for the next one: a job that got no thread of its own would hold them all up.
    #[test]
    fn jobs_that_wait_for_each_other_all_run() {
        let threads = Threads::new(64 << 10);
        for _ in 0..3 {
            let (first, mut received) = channel::<u32>();
            for _ in 0..100 {
                let (sender, receiver) = channel();
                let before = std::mem::replace(&mut received, receiver);
                let pass = move || sender.send(before.recv().expect("it is sent") + 1).expect("it is read");
                threads.run(pass).expect("there are threads");
            }
            first.send(0).expect("the first job waits");
            assert_eq!(received.recv(), Ok(100));
        }
        assert!(threads.0.state().idle <= MOST_IDLE);
    }

    #[test]
    fn a_job_that_panics_takes_only_its_thread() {
        let threads = Threads::new(64 << 10);
        threads.run(|| std::panic::resume_unwind(Box::new("stop"))).expect("there are threads");
        let (sender, receiver) = channel();
        threads.run(move || sender.send(7).expect("it is read")).expect("there are threads");
        assert_eq!(receiver.recv(), Ok(7));
        threads.close();
    }
}
