//! The starter: a process that starts workers for the front process, which may start none itself. It is told nothing but to
//! start one more, and decides nothing.

use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::LINGER;
use super::descriptors::receive;
use super::words::relay_words;

/// Time that a worker may take from the end of its output to its exit, and the interval at which its exit is checked.
const LAST_STEPS: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

/// Starts workers as the process at the other end of the socket asks, until that ends and all workers have ended. `command`
/// returns the command of a worker, whose standard input, output and error are set here; `say` passes on a line that one wrote on
/// standard error.
///
/// A worker that goes on after it was told to end, or after the front process has ended, is killed.
///
/// # Errors
/// If the socket cannot be read.
pub fn start_workers(
    requests: OwnedFd,
    command: impl Fn() -> Command,
    say: impl Fn(&str) + Clone + Send + 'static,
) -> io::Result<()> {
    let mut attended: Vec<thread::JoinHandle<()>> = Vec::new();
    while let Some([connections, life]) = receive_retrying(&requests)? {
        let mut life = UnixStream::from(life);
        match start(command(), connections) {
            Ok((mut child, output)) => {
                if let Some(words) = child.stderr.take() {
                    let (worker, say) = (child.id(), say.clone());
                    // It ends with the worker, or with what that has started.
                    thread::spawn(move || relay_words(worker, words, say));
                }
                attended.push(thread::spawn(move || attend(child, &output, &mut life)));
            }
            Err(error) => report(&mut life, &format!("it cannot be started: {error}")),
        }
        attended.retain(|thread| !thread.is_finished());
    }
    for thread in attended {
        // A thread that panicked has ended too.
        let _ = thread.join();
    }
    Ok(())
}

fn receive_retrying(requests: &OwnedFd) -> io::Result<Option<[OwnedFd; 2]>> {
    loop {
        match receive(requests) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => return received,
        }
    }
}

fn start(mut command: Command, connections: OwnedFd) -> io::Result<(Child, ChildStdout)> {
    let mut child = command.stdin(Stdio::from(connections)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
    Ok((child, output))
}

/// Waits until a worker has ended, and reports how. A worker writes no output: its end is the worker's.
fn attend(mut child: Child, output: &ChildStdout, life: &mut UnixStream) {
    let is_left = wait(output, Some(life), None);
    if is_left {
        wait(output, None, Some(LINGER));
    }
    let told = match end(&mut child, if is_left { Duration::ZERO } else { LAST_STEPS }) {
        Ok(status) => status.to_string(),
        Err(error) => format!("its end cannot be waited for: {error}"),
    };
    report(life, &told);
}

/// Waits for the end of the output, for some time; or until nobody is at the other end of the other socket, and returns true
/// then.
fn wait(output: &ChildStdout, life: Option<&UnixStream>, time: Option<Duration>) -> bool {
    let deadline = time.map(|time| Instant::now() + time);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut watched = vec![PollFd::new(output, PollFlags::IN)];
        watched.extend(life.map(|life| PollFd::from_borrowed_fd(life.as_fd(), PollFlags::empty())));
        match poll(&mut watched, left.as_ref()) {
            Err(Errno::INTR) => {}
            Err(_) | Ok(0) => return false,
            Ok(_) => return watched[0].revents().is_empty(),
        }
    }
}

/// Waits for the exit of a worker for some time, and kills it then.
fn end(child: &mut Child, time: Duration) -> io::Result<std::process::ExitStatus> {
    let until = Instant::now() + time;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            child.kill()?;
            return child.wait();
        }
        thread::sleep(PAUSE);
    }
}

/// Tells the front process how a worker ended. It may have ended itself.
fn report(life: &mut UnixStream, told: &str) {
    let _ = life.write_all(told.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::descriptors::send;
    use super::*;

    /// Starts a shell script as a worker, closes the front's end of its life if `leaves`, and returns what is reported.
    fn ended(script: &'static str, leaves: bool) -> String {
        let (front, requests) = UnixStream::pair().expect("a pair");
        let starter = thread::spawn(move || {
            let command = || {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", script]);
                command
            };
            start_workers(requests.into(), command, |_: &str| ())
        });
        let (connections, theirs) = UnixStream::pair().expect("a pair");
        let (mut life, watched) = UnixStream::pair().expect("a pair");
        send(&front, &[theirs.as_fd(), watched.as_fd()]).expect("the starter is there");
        drop((theirs, watched));
        let mut told = String::new();
        if leaves {
            life.shutdown(std::net::Shutdown::Both).expect("it is open");
            drop(connections);
        } else {
            life.read_to_string(&mut told).expect("it is a text");
        }
        drop((front, life));
        starter.join().expect("it does not panic").expect("it ends in order");
        told
    }

    #[test]
    fn worker_that_ends_is_reported_with_its_status() {
        assert_eq!(ended("exit 7", false), "exit status: 7");
        assert_eq!(ended("kill -9 $$", false), "signal: 9 (SIGKILL)");
    }

    #[test]
    fn worker_that_writes_to_its_output_is_ended() {
        let begun = Instant::now();
        let told = ended("echo x; trap '' TERM; exec sleep 1000", false);
        assert!(told.contains("SIGKILL") && begun.elapsed() < 10 * LAST_STEPS, "{told}");
    }

    #[test]
    fn worker_that_goes_on_without_its_front_process_is_killed() {
        let begun = Instant::now();
        ended("exec sleep 1000", true);
        assert!(begun.elapsed() < 10 * LINGER);
    }
}
