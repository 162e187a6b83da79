//! Execution of a run's operations beside its guest: calls on a pool of threads, timers, input.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::operation_queue::OperationQueue;
use super::run_input::{self, SharedStdin};
use super::thread_pool::{CallerWait, ThreadPool};
use super::tool_pool::{MAX_TOOL_THREADS, ToolPool};
use crate::code::{Interrupt, Stopped, max_sleep};
use crate::error::Failure;
use crate::gate::AdmittedCall;
use crate::guest::{Completion, OperationId, Value};
use crate::tool::{CallEffects, OnComplete, ProgramStart, WriteError};

/// Event that a run receives while it waits.
pub(super) enum RunEvent {
    /// A call ended, and its thread is free.
    Called(Completion, CallEffects),
    /// A call ended that was made on the run's own thread.
    CalledInline(Completion, CallEffects),
    /// A program ended.
    Exited(Completion, CallEffects),
    /// An operation on a program's stream ended.
    Streamed(Completion),
    /// Another operation ended.
    Done(Completion),
    /// The run must end.
    Cancelled,
    /// A deadline passed.
    Timeout,
}

/// Call that has not started.
struct PendingCall {
    id: OperationId,
    call: AdmittedCall,
}

/// Operations of one run that are in progress.
pub(super) struct OperationExecutor {
    pool: ToolPool,
    threads: ThreadPool,
    /// Threads that call host functions.
    callers: ThreadPool,
    sender: Sender<RunEvent>,
    receiver: Receiver<RunEvent>,
    /// Timers, by the time at which they end.
    timers: OperationQueue<Instant, ()>,
    /// True if the last event came from a timer.
    last_was_timer: bool,
    /// Calls that have not started, by their turn.
    waiting: OperationQueue<u64, AdmittedCall>,
    /// Turn of the next call.
    turn: u64,
    /// Programs that have not started.
    starting: Vec<(PendingCall, ProgramStart)>,
    running: u32,
    /// Number of reads that have not ended.
    reads: u32,
    /// Number of programs that have not ended.
    programs: u32,
    concurrency: u32,
}

impl OperationExecutor {
    pub(super) fn new(pool: ToolPool, threads: ThreadPool, callers: ThreadPool, concurrency: u32) -> Self {
        let (sender, receiver) = channel();
        Self {
            pool,
            threads,
            callers,
            sender,
            receiver,
            timers: OperationQueue::new(),
            last_was_timer: false,
            waiting: OperationQueue::new(),
            turn: 0,
            starting: Vec::new(),
            running: 0,
            reads: 0,
            programs: 0,
            concurrency,
        }
    }

    /// Returns a sender of events for the run.
    pub(super) fn sender(&self) -> Sender<RunEvent> {
        self.sender.clone()
    }

    /// Queues a call of a tool, which starts when the run next waits or continues, and a thread is free.
    pub(super) fn call(&mut self, id: OperationId, call: AdmittedCall) {
        self.turn += 1;
        self.waiting.insert(self.turn, id, call);
    }

    /// Takes the call that is all that a run waits for. It is made on the run's own thread, since handing it to another
    /// thread and waiting would take longer than many a call. Its own interrupt stops it. A call whose tool must first
    /// be compiled is not taken.
    fn take_only_call(&mut self) -> Option<PendingCall> {
        let nothing_else = self.running == 0 && self.reads == 0 && self.programs == 0 && self.timers.is_empty();
        match self.waiting.first() {
            Some((_, _, call)) if nothing_else && self.waiting.len() == 1 && call.is_ready() => {
                self.waiting.pop().map(|(id, call)| PendingCall { id, call })
            }
            _ => None,
        }
    }

    /// Starts queued calls as far as there are threads; the guest continues.
    pub(super) fn start_waiting(&mut self) {
        self.start_all(CallerWait::Continue);
    }

    /// Returns how this thread waits for the operation that it is about to start: it blocks if that is the only one.
    fn caller_wait(&self) -> CallerWait {
        let goes_on = self.running > 0 || self.programs as usize > self.starting.len();
        match self.waiting.len() + self.starting.len() {
            1 if !goes_on => CallerWait::Block,
            _ => CallerWait::Continue,
        }
    }

    fn start_all(&mut self, caller_wait: CallerWait) {
        for (pending_call, started) in std::mem::take(&mut self.starting) {
            self.start(caller_wait, pending_call, started);
        }
        while self.running < self.concurrency {
            let Some((id, call)) = self.waiting.pop() else { return };
            self.running += 1;
            let (sender, is_host_function) = (self.sender.clone(), call.admission().is_host_function());
            let call = move || {
                let result = call.invoke().map(Value::Json);
                // The receiver is gone once the run has ended.
                let _ = sender.send(RunEvent::Called(Completion { id, result }, call.effects()));
            };
            // Where there are too many threads already, calls wait for each other, as those of tools do.
            let started = if !is_host_function || self.callers.is_full(MAX_TOOL_THREADS) {
                self.pool.run(call)
            } else {
                self.callers.run(caller_wait, call)
            };
            if let Err(error) = started {
                let failure = Failure::host(format!("a tool cannot be called: {error}"));
                let _ =
                    self.sender.send(RunEvent::Called(Completion { id, result: Err(failure) }, CallEffects::default()));
            }
        }
    }

    /// Queues a program, which starts when the run next waits or continues: by then its streams have readers, and
    /// output to two streams is read in the order in which it was written.
    pub(super) fn run(&mut self, id: OperationId, call: AdmittedCall, started: ProgramStart) {
        self.programs += 1;
        self.starting.push((PendingCall { id, call }, started));
    }

    /// Starts a program on a thread of its own: the stages of a pipeline wait for each other, so none may wait for a
    /// thread. The program ends at the latest when it is interrupted.
    fn start(&self, caller_wait: CallerWait, PendingCall { id, call }: PendingCall, started: ProgramStart) {
        let sender = self.sender.clone();
        let run = move || {
            let result = call.run(&started).map(Value::Exited);
            // The streams end before the program does.
            drop(started);
            let _ = sender.send(RunEvent::Exited(Completion { id, result }, call.effects()));
        };
        if let Err(error) = self.threads.run(caller_wait, run) {
            let failure = Failure::host(format!("a program cannot start: {error}"));
            let _ = self.sender.send(RunEvent::Exited(Completion { id, result: Err(failure) }, CallEffects::default()));
        }
    }

    /// Returns the callback that completes a stream operation.
    pub(super) fn on_stream<T: 'static>(
        &self,
        id: OperationId,
        value: fn(T) -> Value,
    ) -> OnComplete<Result<T, WriteError>> {
        let sender = self.sender();
        Box::new(move |outcome| {
            let result = outcome.map(value).map_err(|error| Failure::tool(error.to_string()));
            let _ = sender.send(RunEvent::Streamed(Completion { id, result }));
        })
    }

    /// Completes an operation after a time.
    pub(super) fn sleep(&mut self, id: OperationId, duration: Duration) {
        // A time past the end of the clock never comes; a century is as good.
        let far = Duration::from_secs(100 * 365 * 86_400);
        let now = Instant::now();
        self.timers.insert(now.checked_add(duration).unwrap_or(now + far), id, ());
    }

    /// Reads input. The thread that waits for it may outlive the run, since nothing can interrupt a read.
    pub(super) fn read(&mut self, id: OperationId, input: SharedStdin, limit: u32) {
        self.reads += 1;
        let sender = self.sender.clone();
        let read = move || {
            let result = run_input::lock(&input).read(limit).map(Value::Bytes);
            let _ = sender.send(RunEvent::Done(Completion { id, result }));
        };
        // Not on the pool: a terminal may never answer, and would keep the process from ending.
        if let Err(error) = std::thread::Builder::new().name("tollhouse-stdin".into()).spawn(read) {
            let failure = Failure::host(format!("cannot read standard input: {error}"));
            let _ = self.sender.send(RunEvent::Done(Completion { id, result: Err(failure) }));
        }
    }

    /// Cancels a timer, or a call that has not started. A running call is stopped by its own interrupt.
    pub(super) fn forget(&mut self, id: OperationId) {
        self.timers.remove(id);
        if let Some(call) = self.waiting.remove(id) {
            // A call that has not started releases its reservation.
            call.release();
        }
    }

    /// Cancels everything that has not started, and releases its reservations.
    pub(super) fn end(&mut self) {
        while let Some((_, call)) = self.waiting.pop() {
            call.release();
        }
        self.starting.drain(..).for_each(|(pending_call, _)| pending_call.call.release());
    }

    /// Waits for an event, at most until the interrupt's deadline.
    pub(super) fn wait(&mut self, interrupt: &Interrupt) -> RunEvent {
        if let Some(pending_call) = self.take_only_call() {
            let PendingCall { id, call } = pending_call;
            let result = call.invoke().map(Value::Json);
            let made = RunEvent::CalledInline(Completion { id, result }, call.effects());
            return unless_stopped(interrupt, made);
        }
        self.start_all(self.caller_wait());
        loop {
            if let Some(event) = self.next(interrupt, None) {
                return self.counted(interrupt, event);
            }
        }
    }

    /// Waits for an event, at most for this time.
    pub(super) fn wait_at_most(&mut self, interrupt: &Interrupt, patience: Duration) -> Option<RunEvent> {
        self.start_all(self.caller_wait());
        let event = self.next(interrupt, Instant::now().checked_add(patience))?;
        Some(self.counted(interrupt, event))
    }

    /// Counts what has ended with an event.
    fn counted(&mut self, interrupt: &Interrupt, event: RunEvent) -> RunEvent {
        match event {
            RunEvent::Called(..) => {
                self.running = self.running.saturating_sub(1);
                self.start_waiting();
            }
            RunEvent::Exited(..) => self.programs = self.programs.saturating_sub(1),
            _ => {}
        }
        unless_stopped(interrupt, event)
    }

    /// Returns true if nothing is in progress except timers.
    pub(super) fn is_idle(&self) -> bool {
        self.has_only_programs() && self.programs == 0
    }

    /// Returns true if nothing is in progress except timers and programs.
    pub(super) fn has_only_programs(&self) -> bool {
        self.running == 0 && self.reads == 0 && self.waiting.is_empty() && self.starting.is_empty()
    }

    /// Returns an event that has already happened.
    pub(super) fn poll(&mut self, interrupt: &Interrupt) -> Option<RunEvent> {
        let event = self.receiver.try_recv().ok()?;
        let event = self.count_read(event);
        Some(self.counted(interrupt, event))
    }

    fn count_read(&mut self, event: RunEvent) -> RunEvent {
        if matches!(event, RunEvent::Done(_)) {
            self.reads = self.reads.saturating_sub(1);
        }
        event
    }

    /// Returns the next event, or `None` if there is none until then.
    fn next(&mut self, interrupt: &Interrupt, until: Option<Instant>) -> Option<RunEvent> {
        loop {
            // Read again each time: a pause moves the deadline. The wait lasts slightly longer than to the deadline,
            // which keeps a pause shortly before it from spinning.
            let deadline = interrupt.deadline();
            let now = Instant::now();
            if let Some((at, id, ())) = self.timers.first()
                && at <= now
            {
                // Alternates with other events: a timer that is always due must not hold them up.
                if std::mem::replace(&mut self.last_was_timer, true)
                    && let Ok(event) = self.receiver.try_recv()
                {
                    self.last_was_timer = false;
                    return Some(self.count_read(event));
                }
                self.timers.pop();
                return Some(RunEvent::Done(Completion { id, result: Ok(Value::Nothing) }));
            }
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Some(RunEvent::Timeout);
            }
            if until.is_some_and(|until| until <= now) {
                return None;
            }
            let timer = self.timers.first().map(|(at, ..)| at);
            let past_deadline = deadline.and_then(|deadline| deadline.checked_add(Duration::from_millis(1)));
            let next_poll = max_sleep().map(|most| now + most);
            let event = match [timer, past_deadline, next_poll, until].into_iter().flatten().min() {
                Some(until) => self.receiver.recv_timeout(until - now),
                // This run holds a sender, so the channel never closes.
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(event) => return Some(self.count_read(event)),
                Err(RecvTimeoutError::Timeout) if interrupt.stopped() == Some(Stopped::Cancelled) => {
                    return Some(RunEvent::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(RunEvent::Cancelled),
            }
        }
    }
}

/// Replaces an event that arrives when the run must end: a tool that the run's own deadline stopped reports a failure,
/// perhaps before the run has checked the time.
fn unless_stopped(interrupt: &Interrupt, event: RunEvent) -> RunEvent {
    match interrupt.stopped() {
        Some(Stopped::Cancelled) => RunEvent::Cancelled,
        Some(_) => RunEvent::Timeout,
        None => event,
    }
}
