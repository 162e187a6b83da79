//! Runs the binary on a terminal, and shows the screen as a person sees it, through a terminal emulator.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rexpect::process::PtyProcess;
use rustix::termios::{Winsize, tcsetwinsize};

use crate::Home;

/// Longest wait for a text to appear. The machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Last line of a question for approval.
const PROMPT: &str = "`v` to see all of it, anything else to refuse:";

/// Program that runs on a terminal.
pub struct TerminalScreen {
    process: PtyProcess,
    terminal: File,
    shown: Arc<Mutex<vt100::Parser>>,
    reader: Option<JoinHandle<()>>,
}

impl TerminalScreen {
    /// Starts the binary in a home, on a terminal of this size.
    #[must_use]
    pub fn start(home: &Home, arguments: &[&str], rows: u16, columns: u16) -> Self {
        let mut command = home.command(arguments);
        command.stdin(Stdio::inherit()).env("TERM", "xterm");
        Self::of(command, rows, columns)
    }

    /// Starts a command on a terminal of this size.
    #[must_use]
    pub fn of(command: Command, rows: u16, columns: u16) -> Self {
        let process = PtyProcess::new(command).expect("the binary is built: run `cargo xtask test`");
        let terminal = process.get_file_handle().expect("it has a terminal");
        let shown = Arc::new(Mutex::new(vt100::Parser::new(size(rows), size(columns), 1_000)));
        let mut output = terminal.try_clone().expect("there are descriptors");
        let parser = Arc::clone(&shown);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 1 << 16];
            // Reading fails once the program has closed its side of the terminal.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                parser.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..count]);
            }
        });
        let screen = Self { process, terminal, shown, reader: Some(reader) };
        screen.resize(rows, columns);
        screen
    }

    /// Resizes the window.
    pub fn resize(&self, rows: u16, columns: u16) {
        let window = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.terminal, window).expect("it is a terminal");
        self.look(|parser| parser.screen_mut().set_size(size(rows), size(columns)));
    }

    /// Calls a function with the emulator.
    pub fn look<T>(&self, look: impl FnOnce(&mut vt100::Parser) -> T) -> T {
        look(&mut self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the visible lines, without blank ones at the end.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let contents = self.look(|parser| parser.screen().contents());
        contents.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Waits until a text is visible, and returns the visible lines.
    #[must_use]
    pub fn sees(&self, text: &str) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let lines = self.lines();
            if lines.iter().any(|line| line.contains(text)) {
                return lines;
            }
            assert!(begun.elapsed() < PATIENCE, "`{text}` is not seen:\n{}", lines.join("\n"));
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for a question, and returns its visible lines.
    #[must_use]
    pub fn asks(&self) -> Vec<String> {
        self.sees(PROMPT)
    }

    /// Types a text.
    pub fn types(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).expect("it reads");
    }

    /// Answers a visible question with the word that it asks for.
    pub fn consents(&mut self, question: &[String]) {
        let word = word(question);
        self.types(&format!("{word}\n"));
    }

    /// Waits for the end, and returns the exit status and the last visible lines.
    #[must_use]
    pub fn ends(mut self) -> (i32, Vec<String>) {
        self.reader.take().expect("it is joined once").join().expect("it does not panic");
        // `rexpect` does not export the type of the status: `Exited(Pid(7), 130)`.
        let ended = format!("{:?}", self.process.wait().expect("it ended"));
        let status = ended.strip_prefix("Exited(").and_then(|rest| rest.trim_end_matches(')').rsplit(' ').next());
        let status = status.and_then(|status| status.parse().ok()).unwrap_or(-1);
        (status, self.lines())
    }
}

fn size(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal has rows and columns")
}

/// Returns the word that a question asks for to allow the call.
#[must_use]
pub fn word(question: &[String]) -> String {
    let line = question.iter().find_map(|line| line.strip_prefix("Type `")).expect("a question has a word");
    line.split('`').next().unwrap_or_default().to_owned()
}
