//! Limit on instances: an engine has a fixed number of slots, and a caller that finds none free waits for one.

use std::io;
use std::time::{Duration, Instant};

use wasmtime::{PoolConcurrencyLimitError, Result};

use super::{Interrupt, Stopped};
use crate::error::Failure;

/// First and longest sleep of a waiting caller between two attempts. Nothing signals that an instance was dropped, and
/// hundreds may wait.
const PAUSE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// Number of further attempts for the first instance of a component while the kernel has the pages of its image in use.
const TRIES: u32 = 20;

/// Error of a caller that found no free slot for an instance in time.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoRoom(String);

impl NoRoom {
    /// Converts to the failure that a run reports, naming `who` as the one that needed the instance.
    pub(crate) fn failure(&self, who: &str) -> Failure {
        let message = format!("{who} does not start: {self}, over all sessions of this process");
        Failure::limit(message, "run fewer sessions at once, or let fewer calls and scripts of each wait")
    }
}

/// Makes an instance. While its engine has no free slot this waits, until the interrupt says stop or for as long as
/// `patience`. While the kernel has the pages of a memory's image in use, it retries up to [`TRIES`] times.
///
/// # Errors
/// [`NoRoom`], [`Stopped::Cancelled`], or any other error of `make`.
pub(crate) fn instantiate<I>(
    interrupt: &Interrupt,
    patience: Duration,
    mut make: impl FnMut() -> Result<I>,
) -> Result<I> {
    let (mut pause, most) = PAUSE;
    let until = Instant::now().checked_add(patience);
    let mut tries = 0;
    loop {
        let error = match make() {
            Err(error) if error.is::<PoolConcurrencyLimitError>() => error,
            Err(error) if is_busy(&error) && tries < TRIES => {
                tries += 1;
                error
            }
            made => return made,
        };
        match interrupt.stopped() {
            Some(Stopped::Cancelled) => return Err(Stopped::Cancelled.into()),
            None if until.is_none_or(|until| Instant::now() < until) => {}
            _ if is_busy(&error) => return Err(error),
            _ => return Err(NoRoom(error.to_string()).into()),
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(most);
    }
}

/// Returns true if the image of a memory could not be sealed for now: under load the kernel may hold on to pages that
/// were just written, and then refuses (`EBUSY` in fcntl(2), `F_SEAL_WRITE`).
fn is_busy(error: &wasmtime::Error) -> bool {
    let is_busy = |error: &io::Error| error.kind() == io::ErrorKind::ResourceBusy;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_busy))
}

#[cfg(test)]
mod tests {
    use wasmtime::component::{Component, Linker};
    use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

    use super::*;

    /// Creates an engine with one slot, and a function that makes an instance in it.
    fn engine() -> (Engine, impl Fn(&mut Store<()>) -> Result<wasmtime::component::Instance>) {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(1);
        let mut config = Config::new();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool)).concurrency_support(false);
        let engine = Engine::new(&config).expect("this machine runs the engine");
        let component = Component::new(&engine, b"\0asm\x0d\0\x01\0").expect("an empty component");
        let pre = Linker::new(&engine).instantiate_pre(&component).expect("it imports nothing");
        (engine, move |store: &mut Store<()>| pre.instantiate(store))
    }

    #[test]
    fn instantiation_without_room_waits_until_there_is_room() {
        let (engine, make) = engine();
        let mut first = Store::new(&engine, ());
        make(&mut first).expect("there is room");
        let mut second = Store::new(&engine, ());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                drop(first);
            });
            instantiate(&Interrupt::default(), Duration::MAX, || make(&mut second)).expect("there was room in the end");
        });
    }

    #[test]
    fn instantiation_of_busy_image_is_retried_a_bounded_number_of_times() {
        let busy = || wasmtime::Error::from(io::Error::from(io::ErrorKind::ResourceBusy)).context("cannot seal");
        let mut left = 3;
        let made = instantiate(&Interrupt::default(), Duration::MAX, || {
            left -= 1;
            if left == 0 { Ok("an instance") } else { Err(busy()) }
        });
        assert_eq!(made.expect("it was busy for a moment only"), "an instance");
        let mut tries = 0;
        let error = instantiate(&Interrupt::default(), Duration::MAX, || {
            tries += 1;
            Err::<(), _>(busy())
        });
        assert!(is_busy(&error.expect_err("it is busy for ever")));
        assert_eq!(tries, TRIES + 1);
    }

    #[test]
    fn instantiation_wait_ends_with_its_time_or_cancellation() {
        let (engine, make) = engine();
        let mut first = Store::new(&engine, ());
        make(&mut first).expect("there is room");
        let wait = |interrupt: &Interrupt, patience| {
            let mut store = Store::new(&engine, ());
            instantiate(interrupt, patience, || make(&mut store)).expect_err("there is no room")
        };
        let full = wait(&Interrupt::default(), Duration::from_millis(5));
        let failure = full.downcast_ref::<NoRoom>().expect("no room").failure("`a/b`");
        assert!(
            failure.message.contains("`a/b` does not start") && failure.message.contains("limit of 1"),
            "{failure}"
        );
        let interrupt = Interrupt::default();
        interrupt.set_deadline(Instant::now() + Duration::from_millis(5));
        assert!(wait(&interrupt, Duration::MAX).is::<NoRoom>());
        interrupt.cancel();
        assert_eq!(wait(&interrupt, Duration::MAX).downcast_ref(), Some(&Stopped::Cancelled));
    }
}
