//! Output of a run: captured for its result, and passed on line by line while the run goes on.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::Sender;
use tollhouse::guest::{OutputSink, Stream};

/// Most bytes of a line that is passed on. The result has the whole line.
const MAX_LINE: usize = 4096;

/// Line of output.
#[derive(Debug)]
pub(crate) struct OutputLine {
    pub(crate) is_error: bool,
    pub(crate) text: String,
}

/// Captured output of a run.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<CapturedStreams>>);

#[derive(Default)]
struct CapturedStreams {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Lines that were not passed on, because the client takes them too slowly.
    dropped: u64,
}

impl Captured {
    /// Takes both streams as text, and the number of lines that were not passed on.
    pub(crate) fn take(&self) -> (String, String, u64) {
        let streams = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        (lossy(streams.stdout), lossy(streams.stderr), streams.dropped)
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Sink for the output of a run.
pub(crate) struct LiveOutput {
    captured: Captured,
    lines: Option<Sender<OutputLine>>,
    /// Unfinished lines of standard output and standard error.
    open: [Vec<u8>; 2],
}

impl LiveOutput {
    /// Creates a sink that captures, and passes lines on if anybody takes them.
    pub(crate) fn new(captured: Captured, lines: Option<Sender<OutputLine>>) -> Self {
        Self { captured, lines, open: Default::default() }
    }

    fn pass_on(&mut self, is_error: bool, bytes: &[u8]) {
        let open = &mut self.open[usize::from(is_error)];
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(open.len());
            open.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(open);
                send(self.lines.as_ref(), &self.captured, is_error, &line);
            }
        }
    }
}

/// Sends a line. The script must not wait for a slow client, so a line that finds no room is counted and dropped.
fn send(lines: Option<&Sender<OutputLine>>, captured: &Captured, is_error: bool, line: &[u8]) {
    let Some(lines) = lines else { return };
    let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned();
    if lines.try_send(OutputLine { is_error, text }).is_err() {
        captured.0.lock().unwrap_or_else(PoisonError::into_inner).dropped += 1;
    }
}

impl OutputSink for LiveOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let is_error = matches!(stream, Stream::Stderr);
        {
            let mut streams = self.captured.0.lock().unwrap_or_else(PoisonError::into_inner);
            if is_error { streams.stderr.extend_from_slice(bytes) } else { streams.stdout.extend_from_slice(bytes) }
        }
        if self.lines.is_some() {
            self.pass_on(is_error, bytes);
        }
        Ok(())
    }
}

impl Drop for LiveOutput {
    fn drop(&mut self) {
        for is_error in [false, true] {
            let line = std::mem::take(&mut self.open[usize::from(is_error)]);
            if !line.is_empty() {
                send(self.lines.as_ref(), &self.captured, is_error, &line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_passed_on_whole_and_a_slow_client_stops_nothing() {
        let (sender, mut lines) = tokio::sync::mpsc::channel(3);
        let captured = Captured::default();
        let mut output = LiveOutput::new(captured.clone(), Some(sender));
        for piece in ["on", "e\ntwo\nthr", "ee\nfour\nfive"] {
            output.write(Stream::Stdout, piece.as_bytes()).expect("it is taken");
        }
        drop(output);
        let mut texts = Vec::new();
        while let Some(line) = lines.blocking_recv() {
            texts.push(line.text);
        }
        assert_eq!(texts, ["one", "two", "three"]);
        assert_eq!(captured.take(), ("one\ntwo\nthree\nfour\nfive".to_owned(), String::new(), 2));
    }

    #[test]
    fn live_output_line_without_end_takes_bounded_memory() {
        let (sender, mut lines) = tokio::sync::mpsc::channel(3);
        let mut output = LiveOutput::new(Captured::default(), Some(sender));
        for _ in 0..10 {
            output.write(Stream::Stderr, &[b'x'; 1000]).expect("it is taken");
        }
        assert_eq!(output.open[1].len(), MAX_LINE);
        drop(output);
        let line = lines.blocking_recv().expect("its beginning");
        assert_eq!((line.is_error, line.text.len()), (true, MAX_LINE));
    }
}
