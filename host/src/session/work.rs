//! What a run waits for, performed beside its guest: calls on a pool of threads, timers, input.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::pool::{MAX_TOOL_THREADS, Pool};
use super::threads::{Meanwhile, Threads};
use crate::code::{Interrupt, Stopped, max_sleep};
use crate::error::Failure;
use crate::gate::Admission;
use crate::guest::{Completion, OperationId, Value};
use crate::tool::{CallContext, CallEffects, OnComplete, ProgramStart, WriteError};

/// The most bytes of input that one operation reads.
const READ_LIMIT: u32 = 1 << 20;

/// Where a script's standard input comes from.
pub(super) type Input = Arc<Mutex<Box<dyn Read + Send>>>;

/// News for a run.
pub(super) enum News {
    /// A call ended, and left a thread free.
    Called(Completion, CallEffects),
    /// A call that was made on the run's own thread ended.
    Made(Completion, CallEffects),
    /// A program ended.
    Exited(Completion, CallEffects),
    /// Something happened to a program's stream.
    Streamed(Completion),
    /// Another operation ended.
    Done(Completion),
    /// The run is to end.
    Cancelled,
    /// A deadline passed.
    Timeout,
}

/// A call that has not started.
struct Job {
    id: OperationId,
    admission: Admission,
    context: CallContext,
}

/// The operations of one run that are under way.
pub(super) struct Work {
    pool: Pool,
    threads: Threads,
    /// Those that call host functions.
    callers: Threads,
    sender: Sender<News>,
    receiver: Receiver<News>,
    timers: BinaryHeap<Reverse<(Instant, OperationId)>>,
    /// Whether the last news was that of a timer.
    timed: bool,
    waiting: VecDeque<Job>,
    /// Programs that have not started.
    starting: Vec<(Job, ProgramStart)>,
    running: u32,
    /// Reads that have not ended.
    reads: u32,
    /// Programs that have not ended.
    programs: u32,
    concurrency: u32,
}

impl Work {
    pub(super) fn new(pool: Pool, threads: Threads, callers: Threads, concurrency: u32) -> Self {
        let (sender, receiver) = channel();
        Self {
            pool,
            threads,
            callers,
            sender,
            receiver,
            timers: BinaryHeap::new(),
            timed: false,
            waiting: VecDeque::new(),
            starting: Vec::new(),
            running: 0,
            reads: 0,
            programs: 0,
            concurrency,
        }
    }

    /// A way to send the run news from elsewhere.
    pub(super) fn sender(&self) -> Sender<News> {
        self.sender.clone()
    }

    /// Calls a tool, when the run next waits or goes on, and a thread is free.
    pub(super) fn call(&mut self, id: OperationId, admission: Admission, context: CallContext) {
        self.waiting.push_back(Job { id, admission, context });
    }

    /// The call that a run waits for and for nothing else: it is made on the run's own thread, since handing it to another
    /// and waiting would take longer than many a call. Its own switch stops it, unless it first had to be compiled.
    fn alone(&mut self) -> Option<Job> {
        let nothing_else = self.running == 0 && self.reads == 0 && self.programs == 0 && self.timers.is_empty();
        match self.waiting.front() {
            Some(job) if nothing_else && self.waiting.len() == 1 && job.admission.is_ready() => {
                self.waiting.pop_front()
            }
            _ => None,
        }
    }

    /// Starts what waits for a thread, as far as there are some; the guest goes on.
    pub(super) fn start_waiting(&mut self) {
        self.start_all(Meanwhile::GoOn);
    }

    /// What this thread does while that goes on which it starts to wait for now: if it is one thing alone, it sleeps until
    /// that is done or waits itself.
    fn meanwhile(&self) -> Meanwhile {
        let goes_on = self.running > 0 || self.programs as usize > self.starting.len();
        match self.waiting.len() + self.starting.len() {
            1 if !goes_on => Meanwhile::Sleep,
            _ => Meanwhile::GoOn,
        }
    }

    fn start_all(&mut self, meanwhile: Meanwhile) {
        for (job, started) in std::mem::take(&mut self.starting) {
            self.start(meanwhile, job, started);
        }
        while self.running < self.concurrency {
            let Some(job) = self.waiting.pop_front() else { return };
            self.running += 1;
            let (id, sender, is_host_function) = (job.id, self.sender.clone(), job.admission.is_host_function());
            let call = move || {
                let result = job.admission.invoke(&job.context).map(Value::Json);
                // Nobody listens once the run has ended.
                let _ = sender.send(News::Called(Completion { id, result }, job.context.effects()));
            };
            // Where there are too many already, calls wait for each other, as those of tools do.
            let started = if !is_host_function || self.callers.is_full(MAX_TOOL_THREADS) {
                self.pool.run(call)
            } else {
                self.callers.run(meanwhile, call)
            };
            if let Err(error) = started {
                let failure = Failure::host(format!("a tool cannot be called: {error}"));
                let _ = self.sender.send(News::Called(Completion { id, result: Err(failure) }, CallEffects::default()));
            }
        }
    }

    /// Runs a program, when the run next waits or goes on: then whoever reads its streams does, and what it writes to two of
    /// them is read in the order in which it wrote.
    pub(super) fn run(&mut self, id: OperationId, admission: Admission, context: CallContext, started: ProgramStart) {
        self.programs += 1;
        self.starting.push((Job { id, admission, context }, started));
    }

    /// Starts a program on a thread of its own: the stages of a pipeline wait for each other, so none may wait for a thread.
    /// The program ends when its switch says so at the latest.
    fn start(&self, meanwhile: Meanwhile, Job { id, admission, context }: Job, started: ProgramStart) {
        let sender = self.sender.clone();
        let run = move || {
            let result = admission.run(&started, &context).map(Value::Exited);
            // Before its end, that of its streams.
            drop(started);
            let _ = sender.send(News::Exited(Completion { id, result }, context.effects()));
        };
        if let Err(error) = self.threads.run(meanwhile, run) {
            let failure = Failure::host(format!("a program cannot start: {error}"));
            let _ = self.sender.send(News::Exited(Completion { id, result: Err(failure) }, CallEffects::default()));
        }
    }

    /// What tells the run that something has happened to a stream.
    pub(super) fn told<T: 'static>(&self, id: OperationId, value: fn(T) -> Value) -> OnComplete<Result<T, WriteError>> {
        let sender = self.sender();
        Box::new(move |told| {
            let result = told.map(value).map_err(|error| Failure::tool(error.to_string()));
            let _ = sender.send(News::Streamed(Completion { id, result }));
        })
    }

    /// Completes after a time.
    pub(super) fn sleep(&mut self, id: OperationId, duration: Duration) {
        // A time past the end of the clock never comes; a century is as good.
        let far = Duration::from_secs(100 * 365 * 86_400);
        let now = Instant::now();
        self.timers.push(Reverse((now.checked_add(duration).unwrap_or(now + far), id)));
    }

    /// Reads input. The thread that waits for it may outlive the run, since nothing can interrupt a read.
    pub(super) fn read(&mut self, id: OperationId, input: Input, limit: u32) {
        self.reads += 1;
        let sender = self.sender.clone();
        let read = move || {
            let mut bytes = vec![0; limit.clamp(1, READ_LIMIT) as usize];
            let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
            let result = loop {
                match input.read(&mut bytes) {
                    Ok(count) => {
                        bytes.truncate(count);
                        break Ok(Value::Bytes(bytes));
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => break Err(Failure::host(format!("cannot read standard input: {error}"))),
                }
            };
            let _ = sender.send(News::Done(Completion { id, result }));
        };
        // Not on the pool: a terminal may never answer, and would keep the process from ending.
        if let Err(error) = std::thread::Builder::new().name("tollhouse-stdin".into()).spawn(read) {
            let failure = Failure::host(format!("cannot read standard input: {error}"));
            let _ = self.sender.send(News::Done(Completion { id, result: Err(failure) }));
        }
    }

    /// Forgets a timer, or a call that has not started. A call that runs is interrupted by its own switch.
    pub(super) fn forget(&mut self, id: OperationId) {
        self.timers.retain(|Reverse((_, timer))| *timer != id);
        // A call that has not started gives back what was reserved for it.
        let (withdrawn, waiting): (Vec<Job>, Vec<Job>) = self.waiting.drain(..).partition(|job| job.id == id);
        self.waiting = waiting.into();
        withdrawn.into_iter().for_each(|job| job.admission.release());
    }

    /// Nothing starts any more: calls that have not give back what was reserved for them.
    pub(super) fn end(&mut self) {
        self.waiting.drain(..).for_each(|job| job.admission.release());
        self.starting.drain(..).for_each(|(job, _)| job.admission.release());
    }

    /// Waits for news, until the switch's deadline at most.
    pub(super) fn wait(&mut self, interrupt: &Interrupt) -> News {
        if let Some(job) = self.alone() {
            let result = job.admission.invoke(&job.context).map(Value::Json);
            let made = News::Made(Completion { id: job.id, result }, job.context.effects());
            return unless_stopped(interrupt, made);
        }
        self.start_all(self.meanwhile());
        let news = self.next(interrupt);
        match news {
            News::Called(..) => {
                self.running = self.running.saturating_sub(1);
                self.start_waiting();
            }
            News::Exited(..) => self.programs = self.programs.saturating_sub(1),
            _ => {}
        }
        unless_stopped(interrupt, news)
    }

    fn received(&mut self, news: News) -> News {
        if matches!(news, News::Done(_)) {
            self.reads = self.reads.saturating_sub(1);
        }
        news
    }

    fn next(&mut self, interrupt: &Interrupt) -> News {
        loop {
            // Asked for anew each time: a pause moves it. So the wait lasts a little longer than to it, which also keeps a
            // pause shortly before it from spinning.
            let deadline = interrupt.deadline();
            let now = Instant::now();
            if let Some(Reverse((at, id))) = self.timers.peek().copied()
                && at <= now
            {
                // In turn with what else has happened: a timer that is always due must not hold that up.
                if std::mem::replace(&mut self.timed, true)
                    && let Ok(news) = self.receiver.try_recv()
                {
                    self.timed = false;
                    return self.received(news);
                }
                self.timers.pop();
                return News::Done(Completion { id, result: Ok(Value::Nothing) });
            }
            if deadline.is_some_and(|deadline| deadline <= now) {
                return News::Timeout;
            }
            let timer = self.timers.peek().map(|Reverse((at, _))| *at);
            let lapse = deadline.and_then(|deadline| deadline.checked_add(Duration::from_millis(1)));
            let look = max_sleep().map(|most| now + most);
            let news = match [timer, lapse, look].into_iter().flatten().min() {
                Some(until) => self.receiver.recv_timeout(until - now),
                // This run holds a sender, so the channel never closes.
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match news {
                Ok(news) => return self.received(news),
                Err(RecvTimeoutError::Timeout) if interrupt.stopped() == Some(Stopped::Cancelled) => {
                    return News::Cancelled;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return News::Cancelled,
            }
        }
    }
}

/// News that comes when the run is to end is too late: a tool that the run's own deadline stopped says that it failed, and
/// may say so before the run has looked at the time.
fn unless_stopped(interrupt: &Interrupt, news: News) -> News {
    match interrupt.stopped() {
        Some(Stopped::Cancelled) => News::Cancelled,
        Some(_) => News::Timeout,
        None => news,
    }
}
