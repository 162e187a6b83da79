//! Dry runs on the terminal: notes of the examples that answer calls, and results that a human types.

use std::io;

use serde_json::Value;
use tollhouse::error::Failure;
use tollhouse::tool::{DryRunHandler, UnansweredCall, UsedExample};

use super::device::TerminalDevice;
use super::question::{self, CallPages};
use super::view;
use crate::stdio;

/// Handler of a dry run at the controlling terminal, wherever standard input and output lead. Without a terminal, a call
/// that no example answers has no result.
pub(crate) struct TerminalDryRun {
    /// False if nobody is to be asked.
    pub(crate) asks: bool,
}

impl DryRunHandler for TerminalDryRun {
    fn example_used(&self, used: &UsedExample<'_>) {
        note!("dry run: {used}");
    }

    fn answer(&self, call: &UnansweredCall<'_>) -> Result<Option<Value>, Failure> {
        if !self.asks {
            return Ok(None);
        }
        // One question at a time, whoever asks; nothing else is written meanwhile.
        let _held = stdio::hold();
        let Ok(mut device) = TerminalDevice::open() else { return Ok(None) };
        typed(&mut device, call)
            .map_err(|error| Failure::host(format!("`{}`: nobody can be asked for its result: {error}", call.method())))
    }
}

/// Asks for a result until one is typed that the method may return. Returns `None` if there is none.
fn typed(device: &mut TerminalDevice, call: &UnansweredCall<'_>) -> io::Result<Option<Value>> {
    let Some(size) = device.prepare()? else { return Ok(None) };
    let mut problem: Option<String> = None;
    loop {
        let text = question::result_text(call, problem.as_deref(), size);
        device.show(&text)?;
        // Ctrl-C ends the run.
        let Some(line) = device.line()? else { return Ok(None) };
        let line = line.trim();
        if line.eq_ignore_ascii_case("v") {
            view(device, CallPages::of_unanswered(call, size))?;
            continue;
        }
        if line.is_empty() {
            device.leave(&text, "-- no result")?;
            return Ok(None);
        }
        let value = serde_json::from_str::<Value>(line).map_err(|error| error.to_string());
        match value.and_then(|value| call.check(value.clone()).map(|_| value).map_err(|error| error.to_string())) {
            Ok(value) => {
                device.leave(&text, "-- answered")?;
                return Ok(Some(value));
            }
            Err(why) => problem = Some(why),
        }
    }
}
