//! CPU affinity: a thread is woken on the core of the thread that wakes it, if that one then blocks until the job is
//! done. Waking an idle core takes 50 to 130 µs in a virtual machine; a core that has just become free takes 3.

/// Set of cores that a thread may run on.
#[cfg(target_os = "linux")]
pub(super) type CoreSet = rustix::thread::CpuSet;
#[cfg(not(target_os = "linux"))]
pub(super) type CoreSet = std::convert::Infallible;

/// System identifier of a thread.
#[derive(Clone, Copy)]
pub(super) struct SystemThread {
    #[cfg(target_os = "linux")]
    id: rustix::thread::Pid,
}

#[cfg(target_os = "linux")]
impl SystemThread {
    /// Returns the current thread.
    pub(super) fn current() -> Self {
        Self { id: rustix::thread::gettid() }
    }

    /// Pins the thread, which is blocked, to the current core, and returns its previous cores. Once awake, the thread
    /// must call [`restore_affinity`] with them: threads and processes that it starts would be pinned too. Returns
    /// `None` where the system does not support it.
    pub(super) fn pin_to_current_core(self) -> Option<CoreSet> {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

        let cores = sched_getaffinity(Some(self.id)).ok()?;
        let here = sched_getcpu();
        if here >= CpuSet::MAX_CPU || !cores.is_set(here) {
            return None;
        }
        let mut only = CpuSet::new();
        only.set(here);
        sched_setaffinity(Some(self.id), &only).ok().map(|()| cores)
    }
}

/// Allows the current thread to run on these cores again.
#[cfg(target_os = "linux")]
pub(super) fn restore_affinity(cores: &CoreSet) {
    // Cores may have been taken away meanwhile; then the system has made sure that there are others.
    let _ = rustix::thread::sched_setaffinity(None, cores);
}

#[cfg(not(target_os = "linux"))]
impl SystemThread {
    pub(super) fn current() -> Self {
        Self {}
    }

    pub(super) fn pin_to_current_core(self) -> Option<CoreSet> {
        None
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn restore_affinity(cores: &CoreSet) {
    match *cores {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;

    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn thread_affinity_to_one_core_ends_once_it_settles() {
        let (tell, told) = channel();
        let (wake, woken) = channel();
        let sleeper = std::thread::spawn(move || {
            tell.send(SystemThread::current()).expect("it is read");
            let cores = woken.recv().expect("it is sent");
            restore_affinity(&cores);
            sched_getaffinity(None).expect("the system says")
        });
        let thread = told.recv().expect("it is sent");
        let all = sched_getaffinity(Some(thread.id)).expect("the system says");
        let cores = thread.pin_to_current_core().expect("the system does so");
        assert_eq!(cores, all);
        assert_eq!(sched_getaffinity(Some(thread.id)).expect("the system says").count(), 1);
        wake.send(cores).expect("it is read");
        assert_eq!(sleeper.join().expect("it ends"), all);
    }
}
