//! How to run a script: its input, its output, what it finds.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use crate::guest::{OutputSink, Stream};

/// How to run a script.
#[derive(Default)]
pub struct RunOptions {
    /// Takes the output as it comes. None: it is captured in the [`RunResult`](super::RunResult).
    pub output: Option<Box<dyn OutputSink>>,
    /// What the script reads.
    pub stdin: Stdin,
    /// Whether the script finds what the last one of its language left besides files, and leaves that in its turn: in
    /// JavaScript `globalThis.state`, and of an input that a person typed also what it declares at its top level; in bash
    /// the directory, variables, functions and aliases. What a script has that is stopped is not kept. An agent that is a
    /// component leaves nothing.
    pub keep_state: bool,
}

/// Where a script's standard input comes from. It is read only when the script asks.
#[derive(Default)]
pub enum Stdin {
    /// Nowhere: it is at its end.
    #[default]
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// A reader, for example the process's own standard input.
    Reader(Box<dyn Read + Send>),
}

/// Output that nobody else takes.
#[derive(Clone, Default)]
pub(super) struct Captured(Arc<Mutex<(Vec<u8>, Vec<u8>)>>);

impl Captured {
    /// Both streams, so far.
    pub(super) fn take(&self) -> (Vec<u8>, Vec<u8>) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OutputSink for Captured {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            Stream::Stdout => both.0.extend_from_slice(bytes),
            Stream::Stderr => both.1.extend_from_slice(bytes),
        }
        Ok(())
    }
}
