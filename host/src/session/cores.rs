//! The core that a thread wakes on: that of who wakes it, if he then sleeps until it is done. A core that sleeps is woken in 50
//! to 130 µs in a virtual machine, and one that has just become free is there in 3.

/// The cores that a thread may run on.
#[cfg(target_os = "linux")]
pub(super) type Cores = rustix::thread::CpuSet;
#[cfg(not(target_os = "linux"))]
pub(super) type Cores = std::convert::Infallible;

/// A thread, as the system knows it.
#[derive(Clone, Copy)]
pub(super) struct Thread {
    #[cfg(target_os = "linux")]
    id: rustix::thread::Pid,
}

#[cfg(target_os = "linux")]
impl Thread {
    /// This one.
    pub(super) fn current() -> Self {
        Self { id: rustix::thread::gettid() }
    }

    /// Has it, which sleeps, wake on the core of this thread. Once awake it must [`settle`] with what this gives: a thread
    /// that it starts, or a process, would be kept to that core too. None where the system does not do so.
    pub(super) fn bring_here(self) -> Option<Cores> {
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

/// Lets this thread run on these cores again.
#[cfg(target_os = "linux")]
pub(super) fn settle(cores: &Cores) {
    // They may have been taken away meanwhile; then the system has seen to it that there are others.
    let _ = rustix::thread::sched_setaffinity(None, cores);
}

#[cfg(not(target_os = "linux"))]
impl Thread {
    pub(super) fn current() -> Self {
        Self {}
    }

    pub(super) fn bring_here(self) -> Option<Cores> {
        None
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn settle(cores: &Cores) {
    match *cores {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;

    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn a_thread_is_kept_to_one_core_only_until_it_settles() {
        let (tell, told) = channel();
        let (wake, woken) = channel();
        let sleeper = std::thread::spawn(move || {
            tell.send(Thread::current()).expect("it is read");
            let cores = woken.recv().expect("it is sent");
            settle(&cores);
            sched_getaffinity(None).expect("the system says")
        });
        let thread = told.recv().expect("it is sent");
        let all = sched_getaffinity(Some(thread.id)).expect("the system says");
        let cores = thread.bring_here().expect("the system does so");
        assert_eq!(cores, all);
        assert_eq!(sched_getaffinity(Some(thread.id)).expect("the system says").count(), 1);
        wake.send(cores).expect("it is read");
        assert_eq!(sleeper.join().expect("it ends"), all);
    }
}
