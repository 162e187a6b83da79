//! Thread pool for programs and host functions: each job has a thread to itself, and an idle thread waits a while for
//! the next job.
//!
//! **Invariant:** an idle thread is given one job, so no job waits for another's end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use std::{fmt, io};

use super::cpu_affinity::{self, CoreSet};

/// Time that an idle thread waits for a job.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Most idle threads.
const MAX_IDLE: usize = 32;

type Job = Box<dyn FnOnce() + Send>;

/// Wrapper of a thread's whole life, from its first job to its last: it must call the given function exactly once. With
/// it, an embedding program keeps per-thread state that its functions would otherwise create and drop at each call.
#[derive(Clone)]
pub struct Around(Arc<Wrapper>);

type Wrapper = dyn Fn(&mut (dyn FnMut() + Send)) + Send + Sync;

impl Around {
    /// Creates a wrapper, for example one that keeps an interpreter's state for the thread.
    pub fn new(around: impl Fn(&mut (dyn FnMut() + Send)) + Send + Sync + 'static) -> Self {
        Self(Arc::new(around))
    }
}

impl fmt::Debug for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Around(…)")
    }
}

/// Threads of one host.
#[derive(Clone)]
pub(super) struct ThreadPool(Arc<PoolShared>);

struct PoolShared {
    state: Mutex<PoolState>,
    name: &'static str,
    stack: usize,
    around: Option<Around>,
}

#[derive(Default)]
struct PoolState {
    /// Number of threads.
    alive: usize,
    /// Idle threads. The last one has been idle for the shortest time and is the next to serve: its caches are warm.
    idle: Vec<Arc<Worker>>,
    closed: bool,
}

/// Idle thread, with the slot in which it receives its next job.
struct Worker {
    thread: Thread,
    system_thread: cpu_affinity::SystemThread,
    assignment: Mutex<Option<Assignment>>,
}

/// Assignment of an idle thread. Whoever removes a worker from the idle list must assign something to it.
enum Assignment {
    /// Job, and the cores of the thread if it is pinned until it wakes.
    Job(Job, Option<CoreSet>),
    /// Request to end the thread.
    Exit,
}

/// Behavior of the submitting thread while the job runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallerWait {
    /// Blocks: the worker may use its core.
    Block,
    /// Continues to run.
    Continue,
}

impl ThreadPool {
    /// Creates an empty pool whose threads will have this much stack, in bytes.
    pub(super) fn new(name: &'static str, stack: usize, around: Option<Around>) -> Self {
        Self(Arc::new(PoolShared { state: Mutex::default(), name, stack, around }))
    }

    /// Runs a job on a thread that does nothing else meanwhile.
    ///
    /// # Errors
    /// If the system provides no thread. The job is dropped.
    pub(super) fn run(&self, caller_wait: CallerWait, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut state = self.0.state();
        if let Some(worker) = state.idle.pop() {
            drop(state);
            let cores =
                if caller_wait == CallerWait::Block { worker.system_thread.pin_to_current_core() } else { None };
            worker.assign(Assignment::Job(Box::new(job), cores));
            return Ok(());
        }
        state.alive += 1;
        drop(state);
        let alive = LiveThread(Arc::clone(&self.0));
        let around = self.0.around.clone();
        let thread = thread::Builder::new().name(self.0.name.into()).stack_size(self.0.stack);
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

    /// Returns true if there are at least `minimum` threads, none of them idle.
    pub(super) fn is_full(&self, minimum: usize) -> bool {
        let state = self.0.state();
        state.alive >= minimum && state.idle.is_empty()
    }

    /// Releases the idle threads.
    pub(super) fn close(&self) {
        let mut state = self.0.state();
        state.closed = true;
        state.idle.drain(..).for_each(|worker| worker.assign(Assignment::Exit));
    }
}

/// Guard that counts a thread until it ends, also if its job panics or it never started.
struct LiveThread(Arc<PoolShared>);

impl Drop for LiveThread {
    fn drop(&mut self) {
        self.0.state().alive -= 1;
    }
}

impl PoolShared {
    /// Locks the state. No change can be seen half done, so a poisoned lock is still good. Jobs run outside the lock.
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until none has come for a while.
    fn serve(&self) {
        let worker = Arc::new(Worker {
            thread: thread::current(),
            system_thread: cpu_affinity::SystemThread::current(),
            assignment: Mutex::default(),
        });
        while let Some(job) = self.next(&worker) {
            job();
        }
    }

    fn next(&self, worker: &Arc<Worker>) -> Option<Job> {
        {
            let mut state = self.state();
            if state.closed || state.idle.len() >= MAX_IDLE {
                return None;
            }
            state.idle.push(Arc::clone(worker));
        }
        let until = Instant::now() + IDLE_TIMEOUT;
        loop {
            match worker.assignment().take() {
                Some(Assignment::Job(job, cores)) => {
                    cores.iter().for_each(cpu_affinity::restore_affinity);
                    return Some(job);
                }
                Some(Assignment::Exit) => return None,
                None => {}
            }
            match until.checked_duration_since(Instant::now()) {
                Some(left) => thread::park_timeout(left),
                None if self.remove_idle(worker) => return None,
                // Another thread is about to assign something.
                None => thread::park(),
            }
        }
    }

    /// Removes a worker from the idle list. Returns false if another thread already has.
    fn remove_idle(&self, worker: &Arc<Worker>) -> bool {
        let mut state = self.state();
        let position = state.idle.iter().position(|other| Arc::ptr_eq(other, worker));
        position.map(|position| state.idle.remove(position)).is_some()
    }
}

impl Worker {
    fn assign(&self, assignment: Assignment) {
        *self.assignment() = Some(assignment);
        self.thread.unpark();
    }

    fn assignment(&self) -> MutexGuard<'_, Option<Assignment>> {
        self.assignment.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Makes each of a hundred jobs wait for the next one: a job without a thread of its own would hold them all up.
    #[test]
    fn jobs_that_wait_for_each_other_all_run() {
        let threads = ThreadPool::new("test", 64 << 10, None);
        for _ in 0..3 {
            let (first, mut received) = channel::<u32>();
            for _ in 0..100 {
                let (sender, receiver) = channel();
                let before = std::mem::replace(&mut received, receiver);
                let pass = move || sender.send(before.recv().expect("it is sent") + 1).expect("it is read");
                threads.run(CallerWait::Continue, pass).expect("there are threads");
            }
            first.send(0).expect("the first job waits");
            assert_eq!(received.recv(), Ok(100));
        }
        assert!(threads.0.state().idle.len() <= MAX_IDLE);
    }

    #[test]
    fn pooled_thread_runs_within_its_surrounding_function() {
        let (sender, receiver) = channel();
        let around = Around::new(move |live| {
            sender.send("begun").expect("it is read");
            live();
            sender.send("over").expect("it is read");
        });
        let threads = ThreadPool::new("test", 64 << 10, Some(around));
        for _ in 0..2 {
            let (done, wait) = channel();
            threads.run(CallerWait::Continue, move || done.send(()).expect("it is read")).expect("there are threads");
            wait.recv().expect("it ran");
            // An idle thread takes the next job.
            while threads.0.state().idle.is_empty() {
                std::thread::yield_now();
            }
        }
        threads.close();
        let told: Vec<_> = receiver.iter().take(2).collect();
        assert_eq!(told, ["begun", "over"]);
        drop(threads);
        assert_eq!(receiver.iter().count(), 0, "one thread did both");
    }

    /// A host function's child threads may use all cores.
    #[cfg(target_os = "linux")]
    #[test]
    fn pooled_job_has_the_cores_of_its_thread() {
        let threads = ThreadPool::new("test", 64 << 10, None);
        let cores = |caller_wait| {
            let (sender, receiver) = channel();
            let job = move || sender.send(rustix::thread::sched_getaffinity(None)).expect("it is read");
            threads.run(caller_wait, job).expect("there are threads");
            receiver.recv().expect("it ran").expect("the system says")
        };
        let all = cores(CallerWait::Continue);
        for _ in 0..100 {
            while threads.0.state().idle.is_empty() {
                thread::yield_now();
            }
            assert_eq!(cores(CallerWait::Block), all);
        }
        threads.close();
    }

    #[test]
    fn threads_are_counted_until_they_end() {
        let threads = ThreadPool::new("test", 64 << 10, None);
        let mut held = Vec::new();
        for _ in 0..3 {
            assert!(!threads.is_full(3));
            let (release, wait) = channel::<()>();
            let job = move || {
                let _ = wait.recv();
            };
            threads.run(CallerWait::Continue, job).expect("there are threads");
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
    fn pooled_job_that_panics_ends_only_its_thread() {
        let threads = ThreadPool::new("test", 64 << 10, None);
        threads.run(CallerWait::Continue, || std::panic::resume_unwind(Box::new("stop"))).expect("there are threads");
        let (sender, receiver) = channel();
        threads.run(CallerWait::Continue, move || sender.send(7).expect("it is read")).expect("there are threads");
        assert_eq!(receiver.recv(), Ok(7));
        threads.close();
    }
}
