//! Threads for programs and for host functions: each has one to itself from its start to its end, and a thread that has
//! served waits a while for the next one.
//!
//! **Invariant:** no more jobs are queued than threads wait, so none waits for another's end.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use super::glance::Glance;

/// How long a thread waits for work.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many threads wait at most.
const MOST_IDLE: usize = 32;

type Job = Box<dyn FnOnce() + Send>;

/// What the life of a thread goes on in, from its first job to its last: it is given that life, and calls it once. An
/// embedding program keeps so, for each thread, what its functions would otherwise make and drop at each call.
#[derive(Clone)]
pub struct Around(Arc<Wrapper>);

type Wrapper = dyn Fn(&mut (dyn FnMut() + Send)) + Send + Sync;

impl Around {
    /// For example the state that an interpreter has for a thread.
    pub fn new(around: impl Fn(&mut (dyn FnMut() + Send)) + Send + Sync + 'static) -> Self {
        Self(Arc::new(around))
    }
}

impl fmt::Debug for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Around(…)")
    }
}

/// The threads of one host.
#[derive(Clone)]
pub(super) struct Threads(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    news: Condvar,
    /// Jobs that wait, for those that look without the lock.
    queued: AtomicUsize,
    glance: Glance,
    name: &'static str,
    stack: usize,
    around: Option<Around>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that there are, those of them that wait, and those of these that sleep.
    alive: usize,
    idle: usize,
    asleep: usize,
    closed: bool,
}

impl Threads {
    /// None yet; each will have this much stack, in bytes.
    pub(super) fn new(name: &'static str, stack: usize, around: Option<Around>) -> Self {
        let (state, news, queued) = Default::default();
        Self(Arc::new(Shared { state, news, queued, glance: Glance::new(), name, stack, around }))
    }

    /// Does a job on a thread that does nothing else meanwhile.
    ///
    /// # Errors
    /// If the system gives no thread. The job is dropped.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut state = self.0.state();
        if state.jobs.len() < state.idle {
            state.jobs.push_back(Box::new(job));
            self.0.queued.store(state.jobs.len(), Ordering::Release);
            // Those that are awake see it.
            let wake = state.jobs.len() > state.idle - state.asleep;
            drop(state);
            if wake {
                self.0.news.notify_one();
            }
            return Ok(());
        }
        state.alive += 1;
        drop(state);
        let alive = Alive(Arc::clone(&self.0));
        let around = self.0.around.clone();
        let thread = std::thread::Builder::new().name(self.0.name.into()).stack_size(self.0.stack);
        let mut first = Some(job);
        let mut live = move || {
            first.take().into_iter().for_each(|job| job());
            alive.0.serve();
        };
        let start = move || match around {
            Some(Around(around)) => around(&mut live),
            None => live(),
        };
        thread.spawn(start).map(drop)
    }

    /// Whether there are as many as that, or more, and none waits.
    pub(super) fn is_full(&self, most: usize) -> bool {
        let state = self.0.state();
        state.alive >= most && state.jobs.len() >= state.idle
    }

    /// Lets go of the threads that wait.
    pub(super) fn close(&self) {
        self.0.state().closed = true;
        self.0.news.notify_all();
    }
}

/// A thread: counted until it ends, also if its job panics or it never began.
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.state().alive -= 1;
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
        drop(state);
        self.glance.at(|| (self.queued.load(Ordering::Acquire) > 0).then_some(()));
        let mut state = self.state();
        let nothing = |state: &mut State| state.jobs.is_empty() && !state.closed;
        if nothing(&mut state) {
            state.asleep += 1;
            let woken = self.news.wait_timeout_while(state, PATIENCE, nothing);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            state.asleep -= 1;
        }
        state.idle -= 1;
        // One that came as the time ran out is done: it counted on this thread.
        let job = state.jobs.pop_front();
        self.queued.store(state.jobs.len(), Ordering::Release);
        job
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Each of a hundred jobs waits for the next one: a job that got no thread of its own would hold them all up.
    #[test]
    fn jobs_that_wait_for_each_other_all_run() {
        let threads = Threads::new("test", 64 << 10, None);
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
    fn a_thread_lives_within_what_is_around_it() {
        let (sender, receiver) = channel();
        let around = Around::new(move |live| {
            sender.send("begun").expect("it is read");
            live();
            sender.send("over").expect("it is read");
        });
        let threads = Threads::new("test", 64 << 10, Some(around));
        for _ in 0..2 {
            let (done, wait) = channel();
            threads.run(move || done.send(()).expect("it is read")).expect("there are threads");
            wait.recv().expect("it ran");
            // One that waits takes the next job.
            while threads.0.state().idle == 0 {
                std::thread::yield_now();
            }
        }
        threads.close();
        let told: Vec<_> = receiver.iter().take(2).collect();
        assert_eq!(told, ["begun", "over"]);
        drop(threads);
        assert_eq!(receiver.iter().count(), 0, "one thread did both");
    }

    #[test]
    fn threads_are_counted_until_they_end() {
        let threads = Threads::new("test", 64 << 10, None);
        let mut held = Vec::new();
        for _ in 0..3 {
            assert!(!threads.is_full(3));
            let (release, wait) = channel::<()>();
            let job = move || {
                let _ = wait.recv();
            };
            threads.run(job).expect("there are threads");
            held.push(release);
        }
        assert!(threads.is_full(3) && !threads.is_full(4));
        threads.close();
        drop(held);
        while threads.0.state().alive > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_job_that_panics_takes_only_its_thread() {
        let threads = Threads::new("test", 64 << 10, None);
        threads.run(|| std::panic::resume_unwind(Box::new("stop"))).expect("there are threads");
        let (sender, receiver) = channel();
        threads.run(move || sender.send(7).expect("it is read")).expect("there are threads");
        assert_eq!(receiver.recv(), Ok(7));
        threads.close();
    }
}
